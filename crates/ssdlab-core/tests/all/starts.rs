//! A drive begins as full, outdated and worn as configured, in a consistent state.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use ssdlab_core::drive::Start;
use ssdlab_core::{BlockState, Drive, PlaneOrder, Resolved, Writer};
use ssdlab_nand::{BlockId, Lpn, PlaneId};

use crate::support::{Rig, config, play, step};

/// Returns every block of a drive.
fn blocks(rig: &Rig) -> impl Iterator<Item = BlockId> {
    (0..rig.drive.resolved().geometry().block_count()).map(BlockId)
}

fn shape() -> impl Strategy<Value = Vec<String>> {
    (
        (1..=3u32, 1..=2u32, 1..=2u32),
        (24..60u32, 2..12u32),
        prop::sample::select(vec!["0", "0.05"]),
        prop::sample::select(vec!["CWDP", "PDWC"]),
        prop::sample::select(vec!["read_modify_write", "sector_bitmap"]),
        prop::sample::select(vec!["", "background.static_wear_leveling = { threshold = 4 }"]),
        (any::<bool>(), prop::sample::select(vec!["strict", "relaxed"])),
    )
        .prop_map(
            |(
                (channels, dies, planes),
                (blocks, pages),
                bad,
                order,
                partial,
                wear,
                (level, page_order),
            )| {
                vec![
                    format!(
                        "geometry = {{ channels = {channels}, dies = {dies}, planes = {planes} }}"
                    ),
                    format!("geometry = {{ blocks = {blocks}, pages = {pages}, cell = \"slc\" }}"),
                    format!("ftl = {{ bad_blocks = {bad}, overprovisioning = 0.5 }}"),
                    format!(
                        "ftl = {{ allocation_order = \"{order}\", free_block_policy = \"{}\" }}",
                        if level { "least_erased" } else { "longest_free" }
                    ),
                    format!(
                        "ftl = {{ partial_writes = \"{partial}\", page_order = \"{page_order}\" }}"
                    ),
                    "background.gc.threshold = 0.1".into(),
                    "start = { pe_cycles = 50, pe_spread = 5 }".into(),
                    wear.into(),
                ]
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn the_tables_of_a_drawn_drive_agree_and_it_can_be_used(
        sets in shape(),
        fill in prop::sample::select(vec![0.01, 0.3, 0.77, 1.0]),
        used in prop::sample::select(vec!["invalid = 0", "invalid = 0.2", "steady_state = true"]),
        seed in 0..100u64,
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let start = format!("start = {{ fill = {fill}, {used} }}");
        let mut sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        sets.push(&start);
        let Ok(mut rig) = Rig::seeded(&sets, seed) else { return Err(TestCaseError::reject("no such drive")) };
        prop_assert_eq!(rig.drive.audit(), Ok(()));
        let resolved = rig.drive.resolved().clone();
        let (geometry, ftl) = (resolved.geometry(), rig.drive.ftl());
        let filled = (f64::from(resolved.logical_pages) * fill).round() as u32;
        prop_assert_eq!(ftl.map.mapped(), filled);
        let order = PlaneOrder::new(&resolved.config.ftl.allocation_order, geometry);
        for lpn in (0..resolved.logical_pages).map(Lpn) {
            let plane = ftl.map.get(lpn).map(|ppn| geometry.plane_of_page(ppn));
            prop_assert_eq!(plane, (lpn.0 < filled).then(|| order.plane_of(lpn)));
            let (tracked, whole) = (resolved.tracked_sectors() != 0, geometry.page_mask());
            let sectors = if lpn.0 < filled { whole } else { 0 };
            prop_assert_eq!(ftl.map.sectors(lpn), tracked.then_some(sectors));
        }
        for block in blocks(&rig) {
            let (wear, bad) = (ftl.blocks.erases(block), ftl.blocks.state(block) == BlockState::Bad);
            prop_assert!(if bad { wear == 0 } else { (45..=55).contains(&wear) }, "{:?}", block);
        }
        for plane in (0..geometry.plane_count()).map(PlaneId) {
            prop_assert!(ftl.alloc.free_blocks(plane) >= 1, "the reserve");
        }
        play(&mut rig, &steps, 4).map_err(TestCaseError::fail)?;
    }
}

/// Returns the valid pages of a plane's full blocks, in the order in which they were closed.
fn fillings(rig: &Rig, plane: u32) -> Vec<u16> {
    let pool = rig.drive.ftl().blocks.pool(PlaneId(plane));
    let closed = |at: &usize| pool.state[*at] == BlockState::Closed;
    let mut full: Vec<usize> = (0..pool.len()).filter(closed).collect();
    full.sort_by_key(|&at| pool.closed[at]);
    full.into_iter().map(|at| pool.valid[at]).collect()
}

const LARGE: [&str; 2] =
    ["geometry = { channels = 4, blocks = 400, pages = 16 }", "ftl.overprovisioning = 0.25"];

#[test]
fn of_a_drive_written_once_no_page_is_outdated() {
    let rig = Rig::unwatched(&[LARGE[0], LARGE[1], "start.fill = 0.5"], 1).unwrap();
    for plane in 0..4 {
        // The host has 4800 of the 6400 pages of a plane.
        let full = fillings(&rig, plane);
        assert_eq!(full, vec![16; 150]);
        assert_eq!(rig.drive.ftl().alloc.free_blocks(PlaneId(plane)), 250);
    }
}

#[test]
fn a_drive_written_once_goes_on_in_the_block_that_holds_the_rest() {
    // 2405 pages on each plane.
    let rig = Rig::unwatched(&[LARGE[0], LARGE[1], "start.fill = 0.501042"], 1).unwrap();
    for plane in 0..4 {
        assert_eq!(fillings(&rig, plane), vec![16; 150]);
        assert_eq!(rig.drive.ftl().alloc.open_pages(PlaneId(plane), Writer::Host), 11);
    }
}

#[test]
fn a_plane_of_many_blocks_is_as_outdated_as_one_of_few() {
    // 4500 pages of data in 6429 pages, rounded to whole blocks.
    let shape = "geometry = { channels = 2, blocks = 3000, pages = 4 }";
    let start = "start = { fill = 0.5, invalid = 0.3 }";
    let rig = Rig::unwatched(&[shape, LARGE[1], start], 1).unwrap();
    for plane in 0..2 {
        let full = fillings(&rig, plane).len();
        assert!((1600..=1615).contains(&full), "plane {plane} has {full} full blocks");
    }
}

#[test]
fn blocks_begin_as_worn_as_they_are_and_those_with_data_as_old() {
    let blocks_of = |start: &str| {
        let start = format!("start = {{ fill = 0.5, {start} }}");
        let sets = [LARGE[0], LARGE[1], "physics = { retries = {} }", &start];
        let drive = Rig::unwatched(&sets, 1).unwrap().drive;
        let inspected = |block| drive.block(0, block, drive.now()).expect("a good block");
        (0..400).map(|block| (inspected(block).valid > 0, inspected(block).rber)).collect()
    };
    let fresh: Vec<(bool, Option<f64>)> = blocks_of("pe_cycles = 0");
    let (worn, old) =
        (blocks_of("pe_cycles = 1000"), blocks_of("age_min = \"90d\", age_max = \"90d\""));
    assert!(fresh.iter().any(|(data, _)| *data) && fresh.iter().any(|(data, _)| !*data));
    for (block, (data, rate)) in fresh.into_iter().enumerate() {
        assert_eq!(rate.is_some(), data, "block {block} has a rate if it holds data");
        assert_eq!(worn[block].1 > rate, data, "block {block} is worn");
        assert_eq!(old[block].1 > rate, data, "block {block} ages");
    }
}

#[test]
fn of_a_drive_overwritten_at_random_older_blocks_hold_less() {
    let start = "start = { fill = 0.5, invalid = 0.3 }";
    let rig = Rig::unwatched(&[LARGE[0], LARGE[1], start], 1).unwrap();
    for plane in 0..4 {
        let full = fillings(&rig, plane);
        let sum = |part: &[u16]| part.iter().map(|&valid| f64::from(valid)).sum::<f64>();
        let share = sum(&full) / (16 * full.len()) as f64;
        assert!((share - 0.7).abs() < 0.01, "plane {plane}: {share} of the pages are valid");
        let (old, new) = full.split_at(full.len() / 2);
        let (old, new) = (sum(old) / old.len() as f64, sum(new) / new.len() as f64);
        assert!(old < new - 1.0, "plane {plane}: {old} in old blocks, {new} in new ones");
    }
    let other = Rig::unwatched(&[LARGE[0], LARGE[1], start], 2).unwrap();
    assert_ne!(fillings(&rig, 0), fillings(&other, 0));
}

#[test]
fn a_steady_drive_has_as_much_free_as_its_collection_can_reach() {
    // A threshold of 120 blocks cannot be reached: half of the 100 spare blocks are kept free.
    let gc = "background.gc.threshold = 0.3";
    let steady = "start = { fill = 1.0, steady_state = true }";
    let rig = Rig::unwatched(&[LARGE[0], LARGE[1], gc, steady], 1).unwrap();
    for plane in 0..4 {
        let free = rig.drive.ftl().alloc.free_blocks(PlaneId(plane));
        assert!((45..=55).contains(&free), "plane {plane} has {free} free blocks");
    }
}

#[test]
fn in_a_steady_drive_old_blocks_hold_as_much_however_long_it_is_written() {
    let steady = "start = { fill = 1.0, steady_state = true }";
    let shape = "geometry = { channels = 1, blocks = 400, pages = 16 }";
    let mut rig = Rig::unwatched(&[shape, LARGE[1], steady], 1).unwrap();
    let oldest = |rig: &Rig| {
        let full = fillings(rig, 0);
        let quarter = &full[..full.len() / 4];
        quarter.iter().map(|&valid| f64::from(valid)).sum::<f64>() / quarter.len() as f64
    };
    let before = oldest(&rig);
    let pages = u64::from(rig.drive.resolved().logical_pages);
    for n in 0..2 * pages {
        rig.write(ssdlab_base::rng::hash(5, 1, n) % pages);
        rig.wait_below(8).unwrap();
    }
    let after = oldest(&rig);
    assert!((before - after).abs() < 1.25, "{before} of 16 at first, {after} after");
}

#[test]
fn planes_of_a_steady_drive_are_like_one_another_and_not_the_same() {
    let rig =
        Rig::unwatched(&[LARGE[0], LARGE[1], "start = { fill = 1.0, steady_state = true }"], 1)
            .unwrap();
    let planes: Vec<Vec<u16>> = (0..4).map(|plane| fillings(&rig, plane)).collect();
    for plane in 0..4u32 {
        let free = rig.drive.ftl().alloc.free_blocks(PlaneId(plane));
        // Collection begins below a twentieth of the blocks.
        assert!((15..=25).contains(&free), "plane {plane} has {free} free blocks");
        assert_ne!(planes[plane as usize], planes[(plane as usize + 1) % 4]);
    }
}

#[test]
fn a_steady_plane_of_any_size_begins_with_as_many_free_blocks_as_collection_leaves_it() {
    for blocks in [900, 1500, 3000] {
        let shape = format!("geometry = {{ blocks = {blocks}, pages = 4 }}");
        let keeps =
            "ftl.overprovisioning = 0.1\nbackground.gc = { threshold = 0.004, hard_threshold = 0 }";
        let rig = Rig::unwatched(&[&shape, keeps, "start = { fill = 1, steady_state = true }"], 1)
            .unwrap();
        let free = rig.drive.ftl().alloc.free_blocks(PlaneId(0));
        let target = (0.004 * f64::from(blocks)).ceil() as usize;
        assert!(
            (target - 1..=target + 1).contains(&free),
            "{free} of {blocks} are free, {target} should be"
        );
    }
}

/// Settings on which a drawn start does not depend, of each section that has such.
const WITHOUT_PART: &[&str] = &[
    "timing.read = \"60us\"",
    "timing.erase = \"3ms\"",
    "flash.bus_rate = \"100MB/s\"",
    "host.queues = 2",
    "buffer.size = \"64KiB\"",
    "scheduler = \"read_first\"",
    "placement = [{ sepbit = { host = false, gc = false } }]",
    "program_mode = [\"normal\"]",
    "suspend = \"program_erase\"",
    "eviction = \"cflru\"",
    "background.gc.victim = \"fifo\"",
    "background.gc.threshold = 0.2",
    "background.static_wear_leveling = { threshold = 4 }",
];

/// Settings on which a start depends, or may depend as far as policies and components declare.
const WITH_PART: &[&str] = &[
    "start.pe_cycles = 90",
    "start.invalid = 0.3",
    "physics = { retries = {} }",
    "flash.time_scale = 7",
    "metadata.page_hotness.buffer = {}",
    "metadata = { page_hotness.buffer = {} }\nbuffer.size = \"64KiB\"",
    "metadata.page_hotness.buffer = {}\ntiming.erase = \"3ms\"",
    "metadata.block_class = { factory = { shares = [0.5] } }",
    "ftl.bad_blocks = 0.02",
    "ftl.free_block_policy = \"longest_free\"",
    "placement = [\"sepbit\"]",
    "placement = [{ sepbit = { gc = false } }]",
    "start.history.tenants = [{ footprint = \"64KiB\", writes_per_day = \"64KiB\" }]",
];

#[test]
fn drives_of_equal_histories_begin_alike() {
    let tenants = "tenants = [{ footprint = \"4MiB\", writes_per_day = \"1MiB\" }]";
    let drive = |policies: &str, own: &str| {
        let history = format!("start.history = {{ policies = \"{policies}\", {tenants} }}");
        let base = "geometry = { channels = 2, blocks = 96, pages = 16 }\n\
                    ftl.overprovisioning = 0.3\nstart = { fill = 0.8, invalid = 0.1 }";
        Arc::new(Resolved::new(&config(&[base, &history, own]), 1).expect(own))
    };
    for (policies, own, expected) in [
        ("own", "background.static_wear_leveling = { threshold = 4 }", false),
        ("own", "scheduler = \"read_first\"", false),
        ("conventional", "background.static_wear_leveling = { threshold = 4 }", true),
        ("conventional", "scheduler = \"read_first\"", true),
        ("conventional", "background.gc.victim = \"fifo\"", false),
    ] {
        let (plain, other) = (drive(policies, ""), drive(policies, own));
        assert_eq!(plain.begins_as(&other, || true), expected, "{policies}: {own}");
        assert!(!plain.begins_as(&drive("own", "start.pe_cycles = 9"), || true));
        if expected {
            let alone = format!("{:?}", Drive::new(other.clone()));
            let copied = Drive::begin(other, Start::draw(&plain, &[]));
            assert!(format!("{copied:?}") == alone, "{policies}: {own}");
        }
    }
}

#[test]
fn drives_that_begin_alike_begin_in_the_same_state_and_no_policy_without_a_part_counts() {
    const BASE: &str = "geometry = { channels = 2, blocks = 96, pages = 16 }\n\
                        ftl.overprovisioning = 0.3\nstart = { fill = 0.8, invalid = 0.1 }";
    let resolved = |own| Resolved::typed(&config(&[BASE, own]), 1, &|_| false).expect(own);
    let plain = [""].iter().chain(WITHOUT_PART);
    let drives: Vec<(&str, Arc<Resolved>)> =
        plain.chain(WITH_PART).map(|own| (*own, Arc::new(resolved(*own)))).collect();
    let mut alike = BTreeSet::new();
    for (own, resolved) in &drives {
        let alone = format!("{:?}", Drive::new(resolved.clone()));
        for (other, like) in &drives {
            if resolved.begins_as(like, || resolved.start_model() == like.start_model()) {
                let copied = Drive::begin(resolved.clone(), Start::draw(like, &[]));
                assert!(format!("{copied:?}") == alone, "{own}: another start than with {other}");
                alike.insert((*own, *other));
            }
        }
    }
    let among = |settings: &[&'static str]| {
        settings.iter().map(|own| ("", *own)).chain([("", "")]).collect::<BTreeSet<_>>()
    };
    let with_plain = alike.iter().copied().filter(|(own, _)| own.is_empty());
    assert_eq!(with_plain.collect::<BTreeSet<_>>(), among(WITHOUT_PART));
}
