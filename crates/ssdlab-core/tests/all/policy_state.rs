//! A state file carries the state of each component and policy.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use ssdlab_base::rng;
use ssdlab_core::{Drive, Op, Resolved};
use ssdlab_nand::BlockId;
use ssdlab_schemes::{
    BackgroundChoice, EvictionChoice, PlacementChoice, ProgramModeChoice, ReadStartChoice,
    SchedulerChoice, SuspendChoice,
};

use crate::source::has_word;
use crate::support::{Rig, SPP, config};

const SHAPE: &str =
    "geometry = { channels = 2, planes = 2, blocks = 60, pages = 12, cell = \"tlc\" }";
const ROOM: &str = "ftl.overprovisioning = 0.4";
const FULL: &str = "start = { fill = 0.6, pe_cycles = 2000, pe_spread = 15 }";
const LEVELS: &str = "physics = { levels = { base = { shares = [1, 1, 1, 1, 1, 1, 1] } } }";
const RETRIES: &str = "physics.retries = { fresh_errors = 38.0, wear = { errors = 74.0, worn_exponent = 1.2 }, \
     retention = { errors = 17.0, worn_errors = 10.0 }, spread = { quality = 0.06, wear = 0.05 } }";
const MODES: &str = "timing.program_modes = [{ name = \"normal\", transfer = \"80us\" }, \
     { name = \"boosted\", transfer = \"40us\" }, { name = \"reduced\", transfer = \"100us\" }]";
const BUFFER: &str = "buffer = { size = \"16KiB\", latency = \"1us\" }";

/// Drives with policies that learn, those of each scheme included.
const DRIVES: &[&[&str]] = &[
    &[
        LEVELS,
        "scheduler.dlv = {}",
        "read_start = \"sl_table\"",
        "metadata.block_class.factory = {}",
    ],
    &[LEVELS, "placement = [\"sepbit\"]", "read_start = \"last_level\""],
    &["ftl.page_order = \"relaxed\"", "placement = [\"us\"]"],
    &["ftl.page_order = \"relaxed\"", "placement = [\"ubs\"]"],
    &[
        LEVELS,
        "metadata.block_class.measured.read_hot_share = 0.3",
        "background.read_hot_migration = true",
        "read_start = \"measured_level\"",
    ],
    &[
        RETRIES,
        "start.dwell = \"1d\"",
        "metadata.block_class.predicted = {}",
        "metadata.retry_estimate.predicted = { age = [0.1, 1e-4, 1e-5, 1e-3, 1e-3], initial = [20.0, 30.0] }",
        "metadata.retry_estimate.predicted = { growth = [40.0, 0.3, 1e-3], thresholds = [72.0, 84.0, 96.0, 120.0] }",
        "placement = [\"priority\"]",
        "ftl.free_block_policy = \"fewest_retries\"",
        "background = { subpool_gc = true, dual_pool = true, inversion_repair = true }",
        "background.gc = { threshold = 0, hard_threshold = 0 }",
        "host.queues = 3",
        "scheduler = \"strict_priority\"",
        "read_start = \"last_vref\"",
        "suspend.esra = {}",
    ],
    &[
        RETRIES,
        "start.dwell = \"1d\"",
        "metadata = { block_class.predicted = {}, retry_estimate = \"last_seen\" }",
        "placement = [\"priority\"]",
        "ftl.free_block_policy = \"fewest_retries\"",
        "host.queues = 3",
        "scheduler = \"strict_priority\"",
    ],
    &[
        BUFFER,
        MODES,
        "metadata.page_hotness.buffer.initial = \"none\"",
        "placement = [\"hotness\"]",
        "program_mode = [\"per_hotness\"]",
    ],
    &[MODES, "program_mode = [{ fixed = { mode = \"boosted\" } }]"],
    &[
        LEVELS,
        MODES,
        "metadata.block_class.factory = {}",
        "placement = [\"small_to_strong\"]",
        "program_mode = [{ per_class = { modes = [\"boosted\"] } }]",
    ],
    &[
        LEVELS,
        "metadata.block_class = { factory = { shares = [0.2, 0.3] } }",
        "placement = [{ oracle_hotness = { by = \"reads\" } }]",
    ],
    &[BUFFER, "eviction = \"pt_lru\""],
    &["background = { static_wear_leveling = true, gc = { victim = \"random\" } }"],
];

/// Drives whose order of planes, of free blocks or of victims depends on the past.
const ALSO: &[&[&str]] = &[
    &[],
    &["ftl.allocation = \"dynamic\""],
    &["ftl.page_order = \"relaxed\""],
    &[
        "ftl.free_block_policy = \"longest_free\"",
        "background.gc = { threshold = 0.3, target = 1.0 }",
    ],
    &[
        LEVELS,
        "metadata.block_class.measured = { read_hot_share = 0.3, scope = \"drive\" }",
        "background.read_hot_migration = true",
        "ftl.free_block_policy = \"longest_free\"",
    ],
    &["background.gc.victim = \"d_choices\""],
    &["background = { static_wear_leveling = true, gc = { victim = \"fifo\" } }"],
];

/// The policies and components with state that requests change.
const STATEFUL: &[&str] = &[
    "background/dual_pool",
    "background/gc",
    "background/inversion_repair",
    "background/read_hot_migration",
    "eviction/lru",
    "eviction/pt_lru",
    "metadata/block_class",
    "metadata/page_hotness",
    "metadata/retry_estimate",
    "placement/sepbit/0",
    "placement/ubs/0",
    "placement/us/0",
    "read_start/last_level",
    "read_start/last_vref",
    "read_start/sl_table",
    "scheduler/dlv",
];

/// Those with a part that starts new on the other drive, and the reason.
const BEGIN_ANEW: &[(&str, &str)] = &[
    ("background/inversion_repair", "counts are those of the run"),
    ("eviction/lru", "the buffer begins empty"),
    ("eviction/pt_lru", "the buffer begins empty"),
    ("metadata/page_hotness", "counts are those of the run"),
    ("scheduler/dlv", "nothing is under way"),
];

/// Returns an idle drive after random requests.
fn used(sets: &[&str]) -> Rig {
    let mut rig = Rig::new(sets);
    submit(&mut rig, 0..3000);
    rig
}

/// Submits these random requests, and lets the drive end them.
fn submit(rig: &mut Rig, numbers: Range<u64>) {
    let pages = u64::from(rig.drive.resolved().logical_pages);
    let queues = u64::from(rig.drive.resolved().config.host.queues);
    for n in numbers {
        let chance = |what, of| rng::hash(what, 1, n) % of;
        rig.wait_below(4).expect("a drive that goes on");
        let op = if chance(1, 3) == 0 { Op::Read } else { Op::Write };
        let span = if chance(2, 4) == 0 { pages / 20 } else { pages * 3 / 5 };
        let page = chance(3, span);
        rig.offer(op, page * SPP, SPP, chance(4, queues) as u8).expect("a free place");
    }
    rig.wait_below(4).expect("a drive that goes on");
    rig.offer(Op::Flush, 0, 0, 0).expect("a free place");
    rig.finish();
}

/// Adds the places of the components and policies whose state requests change, and of those that
/// another drive does not continue with the same state.
fn carry(sets: &[&str], changed: &mut BTreeSet<String>, lost: &mut BTreeSet<String>) {
    let sets = [&[SHAPE, ROOM, FULL], sets].concat();
    let fresh = Rig::new(&sets).drive.policy_states();
    let mut before = used(&sets).drive;
    let media = before.clone().media().expect("a drive at rest");
    let resolved = Resolved::new(&config(&sets), 1).expect("a valid drive");
    let mut after = Drive::with_media(Arc::new(resolved), media).expect("the same drive");
    let states = fresh.iter().zip(before.policy_states()).zip(after.policy_states());
    for (((place, fresh), (_, before)), (_, after)) in states {
        if *fresh != before {
            changed.insert(place.clone());
        }
        if before != after {
            lost.insert(place.clone());
        }
    }
}

#[test]
fn columns_of_components_and_policies_are_carried_to_another_drive() {
    let mut changed = BTreeSet::new();
    let mut lost = BTreeSet::new();
    DRIVES.iter().for_each(|sets| carry(sets, &mut changed, &mut lost));
    let set = |places: &[&str]| places.iter().map(|place| (*place).to_owned()).collect();
    assert_eq!(changed, set(STATEFUL));
    assert_eq!(lost, set(&BEGIN_ANEW.iter().map(|(place, _)| *place).collect::<Vec<_>>()));
}

/// Policies that begin anew on another drive, and the reason; those of no drive above.
const ALONE_BEGIN_ANEW: &[(&str, &str)] = &[
    ("eviction/ccf_lru", "the buffer begins empty"),
    ("eviction/cflru", "the buffer begins empty"),
    ("eviction/lru", "the buffer begins empty"),
    ("eviction/lru_wsr", "the buffer begins empty"),
];

/// Policies that need settings of their own stand in the drives above. Any other is tried alone,
/// so that a new one is, too.
#[test]
fn each_policy_declares_all_of_its_state() {
    let mut not_tried = BTreeSet::new();
    let mut lost = BTreeSet::new();
    for (slot, names) in [
        ("scheduler", SchedulerChoice::NAMES),
        ("placement", PlacementChoice::NAMES),
        ("program_mode", ProgramModeChoice::NAMES),
        ("read_start", ReadStartChoice::NAMES),
        ("suspend", SuspendChoice::NAMES),
        ("eviction", EvictionChoice::NAMES),
        ("background", BackgroundChoice::NAMES),
    ] {
        let all = || DRIVES.iter().chain(ALSO).flat_map(|sets| *sets);
        for name in names.iter().filter(|name| !all().any(|set| has_word(set, name))) {
            let alone = match slot {
                "placement" | "program_mode" => format!("{slot} = [\"{name}\"]"),
                "background" => format!("background.{name} = true"),
                _ => format!("{slot} = \"{name}\""),
            };
            let sets = [&alone[..], LEVELS, BUFFER, "host.queues = 2"];
            let works = |sets: &[&str]| {
                Resolved::new(&config(&[&[SHAPE, ROOM, FULL], sets].concat()), 1).is_ok()
            };
            let relaxed = "ftl.page_order = \"relaxed\"";
            match [&sets[..], &[&alone, relaxed, BUFFER]].into_iter().find(|sets| works(sets)) {
                Some(sets) => carry(sets, &mut BTreeSet::new(), &mut lost),
                None => drop(not_tried.insert(*name)),
            }
        }
    }
    assert_eq!(not_tried, BTreeSet::new(), "they need a drive above");
    let known = ALONE_BEGIN_ANEW.iter().map(|(place, _)| (*place).to_owned());
    assert_eq!(lost, known.collect::<BTreeSet<_>>());
}

#[test]
fn every_column_has_a_value_for_each_thing_that_it_describes() {
    for sets in DRIVES.iter().chain(ALSO) {
        let mut rig = Rig::new(&[&[SHAPE, ROOM, FULL], *sets].concat());
        assert_eq!(rig.drive.check_columns(), Ok(()), "{sets:?}");
    }
}

/// The end of each request, and what happened to each block.
type Future = (Vec<(u64, u64)>, Vec<(u32, u16, u16)>);

/// Returns when each of the next requests ends, and wear and contents of all blocks after them.
fn future(rig: &mut Rig) -> Future {
    let (start, first) = (rig.now(), rig.tag);
    rig.done.clear();
    submit(rig, 3000..6000);
    let ends = rig.done.iter().map(|done| (done.tag - first, done.end.as_ns() - start)).collect();
    let blocks = &rig.drive.ftl().blocks;
    let all = (0..blocks.len() as u32).map(BlockId);
    let fates = all.map(|it| (blocks.erases(it), blocks.written(it), blocks.valid(it))).collect();
    (ends, fates)
}

/// The buffer and the cached part of the map begin empty. So does the queue of requests.
#[test]
fn a_drive_that_continues_from_a_state_does_what_the_saved_drive_goes_on_to_do() {
    for sets in DRIVES.iter().chain(ALSO).filter(|sets| !sets.contains(&BUFFER)) {
        let sets = [&[SHAPE, ROOM, FULL], *sets].concat();
        let mut went_on = used(&sets);
        let media = went_on.drive.clone().media().expect("a drive at rest");
        let resolved = went_on.drive.resolved().clone();
        let drive = Drive::with_media(Arc::new(resolved), media).expect("the same drive");
        let mut continued = Rig { drive, done: Vec::new(), tag: 0 };
        let [one, other] = [future(&mut went_on), future(&mut continued)];
        let differs = one.0.iter().zip(&other.0).find(|(one, other)| one != other);
        assert_eq!(differs, None, "{sets:?}");
        assert_eq!(one, other, "{sets:?}");
    }
}
