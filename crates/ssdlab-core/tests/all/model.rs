//! Every read returns the last written data, whatever else the drive does.
//!
//! The auditor keeps a shadow of every place that can hold data, and checks every invariant after
//! every event.

use proptest::prelude::*;

use ssdlab_core::Op;

use crate::support::{BUS, PROGRAM, READ, Rig, Step, gave_up, play, step};

fn one_of(choices: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(choices)
}

/// A shape with little more over-provisioning than it needs.
fn shape() -> impl Strategy<Value = Vec<String>> {
    (
        (1..=2u32, 1..=2u32, 1..=2u32, 1..=2u32),
        7..16u32,
        (prop::sample::select(vec![("slc", 1), ("mlc", 2), ("tlc", 3), ("qlc", 4)]), 1..5u32),
        one_of(&["512B", "4KiB", "16KiB", "32KiB"]),
        prop::sample::select(vec![0u32, 1, 4]),
        one_of(&["0", "0.1"]),
        0..3u32,
    )
        .prop_map(|(parts, blocks, (cell, wordlines), page, wear, bad, slack)| {
            let (channels, chips, dies, planes) = parts;
            let ((cell, bits), wordlines) = (cell, wordlines);
            let unusable = 3 + u32::from(wear > 0) + slack + if bad == "0" { 0 } else { 2 };
            let share = (f64::from(unusable) / f64::from(blocks) + 1e-6).min(0.95);
            let mut sets = vec![
                format!("geometry = {{ channels = {channels}, chips = {chips}, dies = {dies} }}"),
                format!("geometry = {{ planes = {planes}, blocks = {blocks}, cell = \"{cell}\" }}"),
                format!("geometry = {{ pages = {}, page_size = \"{page}\" }}", bits * wordlines),
                format!("ftl = {{ overprovisioning = {share}, bad_blocks = {bad} }}"),
            ];
            if wear > 0 {
                sets.push(format!("background.static_wear_leveling = {{ threshold = {wear} }}"));
            }
            sets
        })
}

fn back_end() -> impl Strategy<Value = Vec<String>> {
    let physics = prop::sample::select(vec![
        "physics = \"flat\"",
        "physics = { levels = {} }",
        "physics = { retries = {} }",
        "physics = { retries = {} }\nstart = { pe_cycles = 3000, age_max = \"90d\" }",
        "physics = { retries = {} }\nflash.retries.pipelined = { shorter = 0.3 }\nread_start = \"last_vref\"",
    ]);
    let array = one_of(&["plane", "die", "chip"]);
    let transfer = one_of(&["page", "sectors"]);
    let decode = one_of(&["0us", "10us"]);
    let command = one_of(&[
        "command_time = \"0us\"",
        "command_time = \"1us\", bus_order = \"data_out_first\"",
    ]);
    let interrupt = one_of(&[
        "\"none\"",
        "{ program_erase = { min_remaining = \"1us\" } }",
        "\"esra\"",
        "{ esra = { max_aborts = 1 } }\nflash.program_loops = 3",
    ]);
    (array, any::<bool>(), transfer, physics, decode, interrupt, command).prop_map(
        |(array, cache_read, transfer, physics, decode, interrupt, command)| {
            vec![
                format!("flash = {{ array = \"{array}\", cache_read = {cache_read} }}"),
                format!("flash = {{ transfer = \"{transfer}\", {command} }}"),
                format!("timing.decode = \"{decode}\""),
                format!("suspend = {interrupt}"),
                physics.into(),
            ]
        },
    )
}

fn front_end() -> impl Strategy<Value = Vec<String>> {
    let partial = one_of(&["read_modify_write", "pad", "sector_bitmap"]);
    let allocation = one_of(&["static", "dynamic"]);
    let pages = one_of(&["\"strict\"", "\"strict\", gc_stream = \"shared\"", "\"relaxed\""]);
    let planes = one_of(&["CWDP", "PDWC", "DPCW"]);
    let order = one_of(&[
        "\"fifo\"",
        "\"read_first\"",
        "\"write_first\"",
        "\"strict_priority\"",
        "{ fifo = { head_of_line = true } }",
        "\"dlv\"",
        "{ dlv = { reads = \"fifo\", write_deadline = \"1ms\" } }",
        "{ dlv = { writes = \"fifo\", read_deadline = \"200us\" } }",
        "{ dlv = { strong = \"prioritized\", avoid_gc = false } }",
    ]);
    let buffer = one_of(&["0B", "32KiB", "128KiB"]);
    let unwritten = one_of(&["none", "lazy"]);
    let ahead = one_of(&["0.0", "0.3", "1.0"]);
    let same_page = one_of(&["ordered", "superseding"]);
    let evict = one_of(&["lru", "cflru", "lru_wsr", "ccf_lru", "pt_lru"]);
    let buffer = (buffer, any::<bool>(), ahead, evict);
    ((partial, same_page), (allocation, pages), planes, order, buffer, unwritten).prop_map(
        |(
            (partial, same_page),
            (allocation, pages),
            planes,
            order,
            (buffer, keeps, ahead, evict),
            unwritten,
        )| {
            let mut sets = vec![
                format!(
                    "ftl = {{ partial_writes = \"{partial}\", allocation = \"{allocation}\" }}"
                ),
                format!("ftl = {{ allocation_order = \"{planes}\", page_order = {pages} }}"),
                format!("start.unwritten_reads = \"{unwritten}\""),
                format!("scheduler = {order}"),
                format!("host = {{ queues = 2, queue_depth = 8, same_page = \"{same_page}\" }}"),
            ];
            if buffer != "0B" {
                sets.push(format!(
                    "buffer = {{ size = \"{buffer}\", reads = {keeps}, keep_free = {ahead} }}"
                ));
                sets.push(format!("eviction = \"{evict}\""));
            }
            sets
        },
    )
}

fn collector() -> impl Strategy<Value = Vec<String>> {
    let victim = one_of(&["greedy", "random", "d_choices", "cost_benefit", "fifo"]);
    let threshold = one_of(&["0.05", "0.3", "0.8"]);
    let mode = one_of(&["background", "foreground"]);
    let counts = one_of(&["blocks", "pages"]);
    let opens = one_of(&["least_erased", "longest_free", "lowest_rank"]);
    (victim, (threshold, counts), mode, opens).prop_map(|(victim, (threshold, counts), mode, opens)| {
        vec![
            format!("background.gc = {{ victim = \"{victim}\", threshold = {threshold}, unit = \"{counts}\" }}"),
            format!("background.gc.mode = \"{mode}\""),
            format!("ftl.free_block_policy = \"{opens}\""),
        ]
    })
}

/// Classes of blocks on a drive with aging blocks that differ, or page types, with the policies
/// that use them. `share` are the shares of the groups to set apart.
fn classes(share: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    let shares = one_of(&["0.33", "0.2, 0.3", "0.1, 0.2, 0.3"]);
    let place = one_of(&["next_page", "small_to_strong"]);
    let read = one_of(&["lowest_level", "highest_level", "sl_table", "last_level"]);
    let estimates = (shares, place, read).prop_map(|(shares, place, read)| {
        vec![
            "physics = { levels = { retention = {} } }\nstart.age_max = \"90d\"".into(),
            format!("metadata.block_class = {{ factory = {{ shares = [{shares}] }} }}"),
            format!(
                "placement = [\"{place}\"]\nread_start = \"{read}\"\nprogram_mode = [\"per_class\"]"
            ),
            "timing.program_modes = [{ name = \"normal\" }, { name = \"strong\", \
             program = \"100us\", base_factor = 1.3 }]"
                .into(),
        ]
    });
    let types = one_of(&[
        "\"us\", \"ubs\"",
        "\"hgs\", \"ubs\"",
        "\"qds\", \"sbs\", \"lfs\"",
        "\"wbs\", \"us\"",
    ]);
    let typed = types.prop_map(|links| {
        vec![
            "ftl.page_order = \"relaxed\"".into(),
            "timing.wordline_buffer = false".into(),
            format!("placement = [{links}]"),
        ]
    });
    let groups = one_of(&[
        "{ levels = [1] }",
        "{ levels = [1, 4] }",
        "{ levels = [1, 2, 3, 4, 5, 6] }",
        "{ shares = [0.1, 0.4] }",
    ]);
    let scope = one_of(&["plane", "chip", "drive"]);
    let read = one_of(&["measured_level", "lowest_level"]);
    let opens = one_of(&["least_erased", "fewest_errors", "healthiest"]);
    let moves = one_of(&["{ threshold = 1 }", "{ threshold = 3 }", "false"]);
    let share = one_of(share);
    // From too little space to set anything apart, to more than the groups need.
    let room = (24..40u32, 4..20u32, one_of(&["0.0", "0.9"]));
    let measured = ((groups, scope), (read, opens), moves, share, room).prop_map(
        |((by, scope), (read, opens), moves, share, (blocks, free, fill))| {
            let free = f64::from(free) / f64::from(blocks) + 1e-6;
            vec![
                "physics = { levels = { base = { shares = [1, 1, 1, 1, 1, 1, 1] } } }".into(),
                format!("metadata.block_class.measured = {{ boundaries = {by}, scope = \"{scope}\" }}"),
                format!("metadata.block_class.measured = {{ read_hot_share = {share}, interval = 2 }}"),
                format!("read_start = \"{read}\"\nbackground.read_hot_migration = {moves}\nftl.free_block_policy = \"{opens}\""),
                format!("geometry.blocks = {blocks}\nftl.overprovisioning = {free}"),
                format!("start.fill = {fill}"),
            ]
        },
    );
    prop_oneof![
        2 => Just(Vec::new()),
        1 => estimates,
        1 => typed,
        1 => measured,
        1 => prioritized(),
        1 => by_hotness(),
    ]
}

/// Blocks kept apart by priority, with every source of estimates.
fn prioritized() -> impl Strategy<Value = Vec<String>> {
    let retries = one_of(&[
        "\"oracle\"",
        "\"last_seen\"",
        "{ predicted = { age = [0.1, 1e-4, 1e-5, 1e-3, 1e-3], initial = [20.0, 30.0], \
         growth = [40.0, 0.3, 1e-3], thresholds = [72.0, 84.0, 96.0, 120.0] } }",
    ]);
    let opens = one_of(&["fewest_retries", "least_erased"]);
    let repairs = one_of(&[
        "false",
        "{ interval = \"60s\", margin = 0, monitor = false }",
        "{ interval = \"60s\", margin = 0.1, monitor = { interval = 0.01 } }",
    ]);
    let level = one_of(&[
        "false",
        "{ threshold = 1, cross_priority_threshold = 3 }",
        "{ threshold = 2, cross_priority_threshold = 40 }",
    ]);
    let collect = one_of(&["true", "false", "{ threshold = 1 }"]);
    let moves = (one_of(&["{ threshold = 1 }", "false"]), one_of(&["strict", "relaxed"]));
    let fill = one_of(&["0.0", "0.5", "1.0"]);
    let room = (24..40u32, 0..6u32, 2..4u32);
    (retries, (opens, fill), repairs, level, (collect, moves), room).prop_map(
        |(
            retries,
            (opens, fill),
            repairs,
            level,
            (collect, moves),
            (blocks, slack, priorities),
        )| {
            let (moves, order) = moves;
            // Open blocks of host, collection and leveling for each priority, one free of each, and
            // `slack`.
            let reserved = 4 * priorities + 3 + slack;
            let free = f64::from(reserved) / f64::from(blocks) + 1e-6;
            vec![
                "physics.retries = { disturb = { scale = 50.0 } }".into(),
                "start = { pe_cycles = 2000, pe_spread = 5, age_max = \"90d\" }".into(),
                format!("start.fill = {fill}"),
                format!("metadata.block_class.predicted.priorities = {priorities}"),
                format!("metadata.retry_estimate = {retries}\nftl.free_block_policy = \"{opens}\""),
                format!("ftl.page_order = \"{order}\"\nbackground.read_hot_migration = {moves}"),
                "placement = [{ priority = {} }]".into(),
                format!("background = {{ inversion_repair = {repairs}, dual_pool = {level} }}"),
                format!("background = {{ subpool_gc = {collect}, static_wear_leveling = false }}"),
                // Ten days in the cells for a quarter of an hour.
                "flash.time_scale = 1000".into(),
                format!("geometry.blocks = {blocks}\nftl.overprovisioning = {free}"),
            ]
        },
    )
}

/// Pages programmed and kept apart by the hotness that the buffer learns.
fn by_hotness() -> impl Strategy<Value = Vec<String>> {
    let initial = one_of(&["none", "rewrite", "classified"]);
    let start = one_of(&["normal", "policy"]);
    let size = one_of(&["16KiB", "64KiB"]);
    let place = one_of(&["hotness", "next_page"]);
    let fill = one_of(&["0.0", "0.6"]);
    let room = (12..24u32, 0..4u32);
    (initial, start, (size, any::<bool>()), place, (fill, room), 0..40u32).prop_map(
        |(initial, start, (size, keeps), place, (fill, (blocks, slack)), above)| {
            let above = 0.5 + f64::from(above) / 100.0;
            // Open blocks of the host, of collection and leveling for each kind, and one free
            // block.
            let free = f64::from(8 + slack) / f64::from(blocks) + 1e-6;
            vec![
                format!("geometry.blocks = {blocks}\nftl.overprovisioning = {free}"),
                "ftl.page_order = \"strict\"".into(),
                "physics = { levels = { wear = {} } }".into(),
                "timing.program_modes = [{ name = \"normal\", volts = [1, 2, 3, 4] }, \
                 { name = \"boosted\", volts = [2, 3, 4, 5], sense = \"20us\" }, \
                 { name = \"reduced\", volts = [0.5, 1, 2, 3], sense = \"99us\" }]"
                    .into(),
                format!(
                    "metadata.page_hotness.buffer = {{ initial = \"{initial}\", threshold = {above} }}"
                ),
                format!("buffer = {{ size = \"{size}\", reads = {keeps} }}"),
                format!("placement = [\"{place}\"]\nprogram_mode = [\"per_hotness\"]"),
                format!("start = {{ program_mode = \"{start}\", fill = {fill} }}"),
            ]
        },
    )
}

/// How long a failing case may be shrunk, in milliseconds: each try of a drive that hangs is long.
const MAX_SHRINK_MS: u32 = 60_000;

/// A random small drive, as settings.
fn drive() -> impl Strategy<Value = Vec<String>> {
    (shape(), back_end(), front_end(), collector(), classes(&["0.1", "0.25", "0.6"])).prop_map(
        |(shape, back, front, collector, classes)| {
            // Physics in the classes replaces the back end's physics.
            let own = classes.iter().any(|set| set.starts_with("physics"));
            let alone = |set: &String| !(own && set.starts_with("physics"));
            let back = back.into_iter().filter(alone).collect();
            [shape, back, front, collector, classes].concat()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_time: MAX_SHRINK_MS, ..ProptestConfig::default() })]

    #[test]
    fn every_read_returns_what_was_written_last(
        sets in drive(),
        seed in 0..1000u64,
        depth in prop::sample::select(vec![1u32, 3, 16]),
        steps in prop::collection::vec(step(), 1..400),
    ) {
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let Ok(mut rig) = Rig::seeded(&sets, seed) else { return Err(TestCaseError::reject("no such drive")) };
        play(&mut rig, &steps, depth).map_err(TestCaseError::fail)?;
    }
}

/// Returns whether an idle drive may never come to rest. A map that is held in part is written as
/// pages move, which takes erases. Leveling of a few erases causes as many again, and collection in
/// the order of closing frees little.
fn may_never_rest(sets: &[&str], maps: &str) -> bool {
    const CAUSES: [&str; 5] = [
        "static_wear_leveling = { threshold = 1 }",
        "static_wear_leveling = { threshold = 2 }",
        "dual_pool = { threshold = 1,",
        "dual_pool = { threshold = 2,",
        "victim = \"fifo\"",
    ];
    maps != "false" && sets.iter().any(|set| CAUSES.iter().any(|cause| set.contains(cause)))
}

/// A step that touches one of few pages, and mostly writes.
fn overwrite() -> impl Strategy<Value = Step> {
    let place = (0..6u64).prop_map(|nth| nth * 0x600);
    let sectors = prop_oneof![1..9u64, 1..130u64];
    let gap = prop_oneof![6 => Just(0u64), 2 => 0..300_000u64];
    (step(), place, sectors, gap).prop_map(|(step, place, sectors, gap)| Step {
        place,
        sectors,
        gap,
        ..step
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, max_shrink_time: MAX_SHRINK_MS, ..ProptestConfig::default() })]

    #[test]
    fn so_does_every_read_of_pages_that_are_overwritten_all_the_time(
        sets in drive(),
        maps in one_of(&["false", "false", "{ entry = \"256B\", size = \"4KiB\" }"]),
        same_page in one_of(&["ordered", "superseding"]),
        seed in 0..1000u64,
        steps in prop::collection::vec(overwrite(), 1..200),
    ) {
        let own = [
            format!("host.same_page = \"{same_page}\"\nhost.queue_depth = 32"),
            format!("ftl.map_cache = {maps}"),
        ];
        let sets: Vec<&str> = sets.iter().chain(&own).map(String::as_str).collect();
        let Ok(mut rig) = Rig::seeded(&sets, seed) else { return Err(TestCaseError::reject("no such drive")) };
        let played = play(&mut rig, &steps, 48);
        let is_exempt = may_never_rest(&sets, maps) && rig.drive.unfinished() == 0;
        match played {
            Err(what) if is_exempt && what == gave_up() => {}
            played => played.map_err(TestCaseError::fail)?,
        }
        prop_assert!(same_page == "superseding" || rig.drive.stats().superseded == 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 100, max_shrink_time: MAX_SHRINK_MS, ..ProptestConfig::default() })]

    #[test]
    fn so_does_every_read_of_a_drive_that_holds_a_part_of_its_map(
        front in front_end(),
        // Room to spare: a move of a page may change the map, which takes a page more.
        classes in classes(&["0.1", "0.25"]),
        shape in one_of(&["{ channels = 2, blocks = 40, pages = 12 }", "{ planes = 2, blocks = 40, pages = 24, cell = \"tlc\" }"]),
        maps in one_of(&["{ entry = \"256B\", size = \"4KiB\" }", "{ entry = \"64B\", share = 0.4 }"]),
        seed in 0..1000u64,
        depth in prop::sample::select(vec![1u32, 3, 16]),
        steps in prop::collection::vec(step(), 1..400),
    ) {
        let own = [
            format!("geometry = {shape}"),
            "ftl.overprovisioning = 0.5\nstart.fill = 0.9".into(),
            format!("ftl.map_cache = {maps}"),
        ];
        let shape = |set: &String| !set.starts_with("geometry") && !set.starts_with("start.fill");
        let classes: Vec<String> = classes.into_iter().filter(shape).collect();
        let sets: Vec<String> = [&own[..], &front, &classes].concat();
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let Ok(mut rig) = Rig::seeded(&sets, seed) else { return Err(TestCaseError::reject("no such drive")) };
        play(&mut rig, &steps, depth).map_err(TestCaseError::fail)?;
        // More entries than the controller holds.
        rig.pages(Op::Read, 0, 300);
        rig.finish();
        prop_assert!(rig.drive.stats().map.misses > 0);
    }
}

/// A minimal model of the drive: for each plane, the time at which it becomes free.
struct Naive {
    free_at: Vec<u64>,
}

impl Naive {
    /// Returns when an operation that arrives at `at` ends on a plane.
    fn serve(&mut self, plane: usize, at: u64, span: u64) -> u64 {
        let begin = self.free_at[plane].max(at);
        self.free_at[plane] = begin + span;
        begin + span
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// One plane on each channel, first come first served, no collection: requests share only
    /// planes.
    #[test]
    fn a_drive_without_policies_is_a_row_of_single_servers(
        requests in prop::collection::vec((0..400_000u64, any::<bool>(), 0..60u64, 1..5u64), 1..60),
    ) {
        let mut rig = Rig::new(&["geometry = { channels = 4, blocks = 64 }"]);
        rig.pages(Op::Write, 0, 600);
        rig.finish();
        let mut naive = Naive { free_at: vec![rig.now(); 4] };
        let (mut at, mut expected) = (rig.now(), Vec::new());
        for (number, &(gap, read, place, pages)) in requests.iter().enumerate() {
            at += gap;
            // Each request has its own pages, so that none waits for another's page.
            let first = (number as u64 * 10 + place % 6) % 590;
            rig.until(at);
            let tag = rig.pages(if read { Op::Read } else { Op::Write }, first, pages);
            let span = if read { READ + BUS } else { BUS + PROGRAM };
            let ends = (first..first + pages).map(|page| naive.serve(page as usize % 4, at, span));
            expected.push((tag, ends.max().unwrap()));
        }
        rig.finish();
        for (tag, end) in expected {
            prop_assert_eq!(rig.end_of(tag), Some(end), "request {}", tag);
        }
        prop_assert_eq!(rig.drive.stats().gc.0, 0);
    }
}
