//! The presets and the schemes that ssdlab ships, by name.

/// A named piece of config.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Its text, in TOML.
    pub toml: &'static str,
}

macro_rules! presets {
    ($($name:literal: $summary:literal),+ $(,)?) => {
        &[$(Entry {
            name: $name,
            summary: $summary,
            toml: include_str!(concat!("presets/", $name, ".toml")),
        }),+]
    };
}

/// The drives.
pub const PRESETS: &[Entry] = presets![
    "generic-mlc-512g": "conventional MLC drive, fixed times: for comparisons and speed",
    "generic-tlc-2t": "conventional TLC drive of 2 TB, fixed times",
    "dlv-mlc-128g": "the MLC drive of the DLV paper: sensing levels, variation, retention",
];

/// What papers say of the blocks of a preset, in TOML, by the preset's name.
pub const ANCHORS: &[(&str, &str)] =
    &[("dlv-mlc-128g", include_str!("presets/dlv-mlc-128g.anchors.toml"))];

macro_rules! schemes {
    ($($name:literal: $summary:literal $(from $folder:literal { $($file:literal),+ })?),+ $(,)?) => {
        &[$(Entry {
            name: $name,
            summary: $summary,
            toml: concat!($($(include_str!(concat!("../schemes/", $folder, "/bundles/", $file, ".toml"))),+)?),
        }),+]
    };
}

/// The schemes: a family's under its name.
pub const SCHEMES: &[Entry] = schemes![
    "conventional": "every slot as the device declares it",
    "dlv/baseline": "DLV's baseline: FIFO, every read with all sensing levels"
        from "dlv" { "baseline", "worst" },
    "dlv/woo": "HWS alone: writes reordered, strong blocks where they help"
        from "dlv" { "woo", "worst", "strong" },
    "dlv/roo": "RRS alone: reads reordered and first, sensing levels learned"
        from "dlv" { "roo", "learned" },
    "dlv/dlv": "HWS and RRS" from "dlv" { "dlv", "learned", "strong" },
    "dlv/pv-reorder": "as woo, all pages of a request that overtakes on strong blocks"
        from "dlv" { "pv_reorder", "worst", "strong" },
    "dlv/pv-allocation": "no reordering, strong blocks for small writes"
        from "dlv" { "pv_allocation", "worst", "strong" },
    "dlv/lv-ldpc": "sensing levels learned, no reordering" from "dlv" { "lv_ldpc", "learned" },
    "dlv/laldpc": "each page's last sensing level remembered, no reordering"
        from "dlv" { "laldpc" },
];
