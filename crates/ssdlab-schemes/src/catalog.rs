//! The presets and the schemes that ssdlab ships, by name.

/// A named piece of config.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name on the command line.
    pub name: &'static str,
    /// A summary in one line.
    pub summary: &'static str,
    /// The text, in TOML.
    pub toml: &'static str,
    /// The entry that this one is a variant of, by name and text, if any.
    pub over: Option<(&'static str, &'static str)>,
}

impl Entry {
    /// Returns the texts of the entry, each with its name for messages. Later texts override
    /// earlier ones.
    pub fn layers(&self, kind: &str) -> Vec<(String, &'static str)> {
        let of = |(name, toml): (&str, _)| (format!("{kind} {name}"), toml);
        self.over.into_iter().chain([(self.name, self.toml)]).map(of).collect()
    }
}

macro_rules! presets {
    ($($name:literal: $summary:literal $(over $base:literal with $toml:expr)?),+ $(,)?) => {
        &[$(presets!(@ $name, $summary $(, $base, $toml)?)),+]
    };
    (@ $name:literal, $summary:literal) => {
        Entry {
            name: $name,
            summary: $summary,
            toml: include_str!(concat!("presets/", $name, ".toml")),
            over: None,
        }
    };
    (@ $name:literal, $summary:literal, $base:literal, $toml:expr) => {
        Entry {
            name: $name,
            summary: $summary,
            toml: $toml,
            over: Some(($base, include_str!(concat!("presets/", $base, ".toml")))),
        }
    };
}

/// The stages of life of ReadGuard's drive, except the adult one.
macro_rules! young {
    () => {
        "start.pe_cycles = 500\n"
    };
}

/// See `young`.
macro_rules! old {
    () => {
        "start.pe_cycles = 3000\n"
    };
}

/// ReadGuard's other drive sizes. Garbage collection begins at the same number of free blocks of a
/// plane as on the 2 TB drive.
macro_rules! half_tb {
    () => {
        "geometry.blocks = 472\nbackground.gc.threshold = 0.008\n"
    };
}

/// See `half_tb`.
macro_rules! one_tb {
    () => {
        "geometry.blocks = 944\nbackground.gc.threshold = 0.004\n"
    };
}

/// See `half_tb`.
macro_rules! four_tb {
    () => {
        "geometry.blocks = 3776\nbackground.gc.threshold = 0.001\n"
    };
}

/// The presets: the drives that ship.
pub const PRESETS: &[Entry] = presets![
    "generic-mlc-512g": "conventional MLC drive, fixed times: for comparisons and speed",
    "generic-tlc-2t": "conventional TLC drive of 2 TB, fixed times",
    "dlv-mlc-128g": "the MLC drive of the DLV paper: sensing levels, variation, retention",
    "pa-ssd-tlc-288g": "the TLC drive of the PA-SSD paper: page types of unequal times, 70 % used",
    "pa-ssd-tlc-288g-ssdsim": "the same with the chips and the partial writes of SSDSim"
        over "pa-ssd-tlc-288g" with include_str!("presets/pa-ssd-tlc-288g-ssdsim.toml"),
    "pv-read-mlc-128g": "the MLC drive of the PV-read paper: sensing levels, a tenth of the page map cached",
    "hire-mlc-128g": "the MLC drive of the HIRE paper: three threshold voltages, a buffer of 50 MB",
    "readguard-tlc-2t": "the TLC drive of the ReadGuard paper: read retries, three priorities; adult (1000 P/E)",
    "readguard-tlc-2t-young": "the same, young (500 P/E)"
        over "readguard-tlc-2t" with young!(),
    "readguard-tlc-2t-old": "the same, old (3000 P/E)"
        over "readguard-tlc-2t" with old!(),
    "readguard-tlc-500g": "the same of 500 GB, adult"
        over "readguard-tlc-2t" with half_tb!(),
    "readguard-tlc-500g-young": "the same of 500 GB, young"
        over "readguard-tlc-2t" with concat!(half_tb!(), young!()),
    "readguard-tlc-500g-old": "the same of 500 GB, old"
        over "readguard-tlc-2t" with concat!(half_tb!(), old!()),
    "readguard-tlc-1t": "the same of 1 TB, adult"
        over "readguard-tlc-2t" with one_tb!(),
    "readguard-tlc-1t-young": "the same of 1 TB, young"
        over "readguard-tlc-2t" with concat!(one_tb!(), young!()),
    "readguard-tlc-1t-old": "the same of 1 TB, old"
        over "readguard-tlc-2t" with concat!(one_tb!(), old!()),
    "readguard-tlc-4t": "the same of 4 TB, adult"
        over "readguard-tlc-2t" with four_tb!(),
    "readguard-tlc-4t-young": "the same of 4 TB, young"
        over "readguard-tlc-2t" with concat!(four_tb!(), young!()),
    "readguard-tlc-4t-old": "the same of 4 TB, old"
        over "readguard-tlc-2t" with concat!(four_tb!(), old!()),
    "five-tlc-512g": "a TLC drive for all five: ReadGuard's of 500 GB with page types, program modes and a buffer"
        over "readguard-tlc-2t" with include_str!("presets/five-tlc-512g.toml"),
];

/// Facts of papers about the blocks of a preset, in TOML, by the preset's name.
pub const ANCHORS: &[(&str, &str)] = &[
    ("dlv-mlc-128g", include_str!("presets/dlv-mlc-128g.anchors.toml")),
    ("readguard-tlc-2t", include_str!("presets/readguard-tlc-2t.anchors.toml")),
];

macro_rules! schemes {
    ($($name:literal: $summary:literal $(from $folder:literal { $($file:literal),+ })*),+ $(,)?) => {
        &[$(Entry {
            name: $name,
            summary: $summary,
            toml: concat!($($(include_str!(concat!($folder, "/bundles/", $file, ".toml"))),+),*),
            over: None,
        }),+]
    };
}

/// The schemes that consist of one policy each.
const ALONE: [&[Entry]; 7] = [
    crate::SCHEDULERS,
    crate::PLACEMENTS,
    crate::PROGRAM_MODES,
    crate::READ_STARTS,
    crate::SUSPENDS,
    crate::EVICTIONS,
    crate::BACKGROUNDS,
];

const COUNT: usize = {
    let (mut count, mut slot) = (BUNDLED.len(), 0);
    while slot < ALONE.len() {
        count += ALONE[slot].len();
        slot += 1;
    }
    count
};

/// All schemes; those of a system carry its name as a prefix.
pub const SCHEMES: &[Entry] = &{
    let mut all = [BUNDLED[0]; COUNT];
    let (mut at, mut slot) = (0, 0);
    while at < BUNDLED.len() {
        all[at] = BUNDLED[at];
        at += 1;
    }
    while slot < ALONE.len() {
        let mut of_slot = 0;
        while of_slot < ALONE[slot].len() {
            all[at] = ALONE[slot][of_slot];
            (at, of_slot) = (at + 1, of_slot + 1);
        }
        slot += 1;
    }
    all
};

/// The schemes that set several keys.
const BUNDLED: &[Entry] = schemes![
    "conventional": "the device's own policies",
    "dlv/baseline": "DLV's baseline: FIFO, every read from one sensing level up"
        from "dlv" { "baseline" },
    "dlv/woo": "HWS alone: reorders writes, uses strong blocks where they help"
        from "dlv" { "woo", "strong" },
    "dlv/roo": "RRS alone: reorders reads, reads first, learns sensing levels"
        from "dlv" { "roo", "learned" },
    "dlv/dlv": "reorders writes (HWS) and reads (RRS)" from "dlv" { "dlv", "learned", "strong" },
    "dlv/pv-reorder": "like woo, but puts all pages of a chosen request on strong blocks"
        from "dlv" { "pv_reorder", "strong" },
    "dlv/pv-allocation": "no reordering, strong blocks for small writes"
        from "dlv" { "pv_allocation", "strong" },
    "dlv/lv-ldpc": "sensing levels learned, no reordering" from "dlv" { "lv_ldpc", "learned" },
    "dlv/laldpc": "each page's last sensing level remembered, no reordering"
        from "dlv" { "laldpc" },
    "pa-ssd/us": "each page type in turn" from "pa_ssd" { "relaxed", "us" },
    "pa-ssd/lfs": "always the lowest page type" from "pa_ssd" { "relaxed", "lfs" },
    "pa-ssd/ubs": "page types by what is free of each" from "pa_ssd" { "relaxed", "ubs" },
    "pa-ssd/hgs": "the page type that the host hints at, else the conventional order" from "pa_ssd" { "relaxed", "hgs" },
    "pa-ssd/hgs+us": "the page type that the host hints at, else each in turn" from "pa_ssd" { "relaxed", "hgs_us" },
    "pa-ssd/hgs+ubs": "the page type that the host hints at, else by what is free" from "pa_ssd" { "relaxed", "hgs_ubs" },
    "pa-ssd/sbs": "the lowest page type for small writes, else the conventional order" from "pa_ssd" { "relaxed", "sbs" },
    "pa-ssd/sbs+us": "the lowest page type for small writes, else each in turn" from "pa_ssd" { "relaxed", "sbs_us" },
    "pa-ssd/sbs+ubs": "the lowest page type for small writes, else by what is free" from "pa_ssd" { "relaxed", "sbs_ubs" },
    "pa-ssd/qds": "the lowest page type while the queue is long, else the conventional order" from "pa_ssd" { "relaxed", "qds" },
    "pa-ssd/qds+us": "the lowest page type while the queue is long, else each in turn" from "pa_ssd" { "relaxed", "qds_us" },
    "pa-ssd/qds+ubs": "the lowest page type while the queue is long, else by what is free" from "pa_ssd" { "relaxed", "qds_ubs" },
    "pa-ssd/wbs": "the lowest page type while the write buffer is full, else the conventional order" from "pa_ssd" { "relaxed", "wbs" },
    "pa-ssd/wbs+us": "the lowest page type while the write buffer is full, else each in turn" from "pa_ssd" { "relaxed", "wbs_us" },
    "pa-ssd/wbs+ubs": "the lowest page type while the write buffer is full, else by what is free" from "pa_ssd" { "relaxed", "wbs_ubs" },
    "pv-read/pv-unaware": "PV-read's baseline: no policy uses the differences between blocks",
    "pv-read/groups-2": "read-hot pages on level 1" from "pv_read" { "moves", "groups_2" },
    "pv-read/pv-read": "read-hot pages group by group: levels 1, 2 to 4, 5 to 7" from "pv_read" { "moves", "pv_read" },
    "pv-read/groups-4": "the same: levels 1, 2 and 3, 4 and 5, 6 and 7" from "pv_read" { "moves", "groups_4" },
    "pv-read/groups-7": "the same: a group for each level" from "pv_read" { "moves", "groups_7" },
    "pv-read/pv-ideal": "the ideal: read-hot pages on the best blocks, both known beforehand"
        from "pv_read" { "known_blocks", "pv_ideal" },
    "pv-read/ideal-wear": "write-hot pages on the best blocks, both known beforehand"
        from "pv_read" { "known_blocks", "ideal_wear" },
    "pv-read/pv-wear-leveling": "wear leveling alone: writes go to the blocks with the fewest errors"
        from "pv_read" { "pv_wear_leveling" },
    "pv-read/health-binning": "wear leveling alone: writes go to the blocks that will last longest"
        from "pv_read" { "health_binning" },
    "readguard/baseline": "priority queues, blocks by queue; reads interrupt programs and erases"
        from "readguard" { "priority", "i_es", "leveled", "frontiers" },
    "readguard/rgftl": "blocks by predicted retries for each priority, repaired; high-priority reads also interrupt low-priority reads"
        from "readguard" { "priority", "esra", "leveled", "placement", "subpools", "repairs", "predictor" },
    "readguard/rgftl-": "rgftl whose reads interrupt no reads"
        from "readguard" { "priority", "i_es", "leveled", "placement", "subpools", "repairs", "predictor" },
    "readguard/rgftl++": "rgftl by the retries last seen instead of the predictor's"
        from "readguard" { "priority", "esra", "leveled", "placement", "subpools", "repairs", "last_seen" },
    "readguard/baseline+": "baseline with fewer and faster retries"
        from "readguard" { "priority", "i_es", "leveled", "frontiers", "retry_plus" },
    "readguard/rgftl+": "rgftl with fewer and faster retries"
        from "readguard" { "priority", "esra", "leveled", "placement", "subpools", "repairs", "predictor", "retry_plus" },
    "readguard/nopftl": "blocks by true quality for each priority (an oracle)"
        from "readguard" { "priority", "i_es", "leveled", "placement", "subpools", "known" },
    "readguard/rorftl": "the same; high-priority reads also interrupt low-priority reads"
        from "readguard" { "priority", "esra", "leveled", "placement", "subpools", "known" },
    "hire/baseline": "every page with the normal voltages" from "hire" { "normal" },
    "hire/hvc": "every page with the boosted voltages" from "hire" { "hvc" },
    "hire/lvc": "every page with the reduced voltages" from "hire" { "lvc" },
    "hire/hire": "program modes by what the buffer learns of pages: boosted for what is read, reduced for what is written"
        from "hire" { "per_hotness", "hotness" },
    "all-five": "all five systems on one drive: DLV's scheduler, page types, subpools, read-hot placement, program modes"
        from "pa_ssd" { "relaxed" }
        from "pv_read" { "moves" }
        from "readguard" { "i_es", "leveled", "subpools", "repairs", "predictor" }
        from "hire" { "per_hotness" }
        from "all_five" { "scheduler", "placement", "start" },
    "all-five/best": "the best subset of their parts in a search on two mixes: page types, reads over reads, program modes"
        from "pa_ssd" { "relaxed", "sbs_ubs" }
        from "readguard" { "priority" }
        from "hire" { "per_hotness" }
        from "all_five" { "reads_over_reads", "start" },
];
