//! PA-SSD: page types that are wished, granted, and what becomes of the others.

use ssdlab_base::rng;
use ssdlab_core::Op;
use ssdlab_core::account::{Cause, OpKind};

use crate::support::{Rig, Step, play};

/// Eight planes of TLC with a channel each.
const SHAPE: &str = "geometry = { channels = 8, blocks = 40, pages = 48, cell = \"tlc\" }";
const TIMES: &str = "timing.program = [\"100us\", \"400us\", \"1ms\"]";
const RELAXED: &str = "ftl = { page_order = \"relaxed\", allocation = \"dynamic\" }";

/// Writes of one to six pages, or of as many as are said, over a part of the drive.
fn writes(count: u64, pages: Option<u64>) -> Vec<Step> {
    let draw = |n, purpose| rng::hash(3, purpose, n);
    let step = |n| {
        let sectors = 8 * pages.unwrap_or(1 + draw(n, 1) % 6);
        let (gap, place) = (draw(n, 2) % 400_000, draw(n, 3) % (1 << 15));
        Step { gap, op: Op::Write, place, sectors, whole: true, queue: 0 }
    };
    (0..count).map(step).collect()
}

fn run(sets: &[&str], steps: &[Step]) -> Rig {
    let mut rig = Rig::new(sets);
    play(&mut rig, steps, 16).unwrap_or_else(|error| panic!("{sets:?}: {error}"));
    rig
}

#[test]
fn without_a_wish_the_relaxed_order_is_the_conventional_one() {
    let steps = writes(300, None);
    let of = |order: &str| run(&[SHAPE, TIMES, &format!("ftl.page_order = \"{order}\"")], &steps);
    let (strict, relaxed) = (of("strict"), of("relaxed"));
    assert_eq!(strict.done, relaxed.done);
    assert_eq!(strict.drive.ftl().free_by_type(), relaxed.drive.ftl().free_by_type());
}

#[test]
fn on_the_conventional_drive_large_writes_wait_for_the_slowest_pages() {
    // Each plane gets pages by chance, so that where one is in its blocks tells nothing of the others.
    let mut rig = Rig::new(&[SHAPE, TIMES]);
    play(&mut rig, &writes(3000, Some(1)), 16).unwrap();
    rig.drive.reset_stats();
    play(&mut rig, &writes(1500, Some(4)), 16).unwrap();
    let found = rig.drive.stats().page_types.dominated;
    let all: u64 = found.iter().sum();
    // (1/3)^4, (2/3)^4 - (1/3)^4, 1 - (2/3)^4.
    for (found, expected) in found.iter().zip([0.012, 0.185, 0.802]) {
        let share = *found as f64 / all as f64;
        assert!((share - expected).abs() < 0.05, "{share} where {expected} is expected");
    }
}

#[test]
fn requests_get_pages_of_one_type_and_as_many_of_each() {
    let rig = run(&[SHAPE, TIMES, RELAXED, "place = [\"us\", \"ubs\"]"], &writes(2000, None));
    let types = rig.drive.stats().page_types;
    let all: u64 = types.dominated.iter().sum();
    for (at, &dominated) in types.dominated[..3].iter().enumerate() {
        let share = dominated as f64 / all as f64;
        assert!((share - 1.0 / 3.0).abs() < 0.03, "type {at}: {share}");
        assert!(types.granted[at] as f64 > 0.9 * types.wished[at] as f64, "type {at}: {types:?}");
    }
}

#[test]
fn the_lowest_type_is_used_up_under_lfs_and_blocks_are_collected_before_they_are_full() {
    let steps = writes(4000, None);
    let rig = run(
        &[
            SHAPE,
            TIMES,
            RELAXED,
            "place = [\"lfs\", \"ubs\"]",
            "tend.gc = { threshold = 0.3, counts = \"pages\" }",
        ],
        &steps,
    );
    let types = rig.drive.stats().page_types;
    assert_eq!(types.wished[1..], [0; 3]);
    assert!(types.granted[0] < types.wished[0], "{types:?}");
    assert!(rig.drive.stats().unprogrammed > 0);
    let free = rig.drive.ftl().free_by_type();
    assert!(free[0] < free[2], "{free:?}");
    assert_eq!(rig.drive.audit(), Ok(()));
}

#[test]
fn what_collection_moves_is_typed_too() {
    let sets = [SHAPE, TIMES, RELAXED, "start = { used = 0.5, preload = \"footprint\" }"];
    let done = |place: &str| {
        let mut rig = Rig::new(&[&sets[..], &[place]].concat());
        let pages = rig.drive.resolved().logical_pages;
        (0..pages / 2).for_each(|page| assert!(rig.drive.lay_down(page)));
        play(&mut rig, &writes(3000, None), 16).unwrap();
        let moved = rig.drive.flash().ops()[OpKind::Program as usize][Cause::Gc as usize];
        assert!(moved > 100, "{moved} pages were moved");
        rig.done
    };
    assert_ne!(done("place = [\"us\"]"), done("place = [\"us\", \"ubs\"]"));
}

#[test]
fn a_full_buffer_takes_the_lowest_type_and_one_that_has_room_another() {
    let wished = |sets: &[&str], eighths: u64| {
        let mut steps = writes(1200, Some(1));
        steps.iter_mut().for_each(|step| step.gap = step.gap * eighths / 8);
        let sets = [&[SHAPE, TIMES, RELAXED, "place = [\"wbs\", \"us\", \"ubs\"]"], sets].concat();
        let rig = run(&sets, &steps);
        (rig.drive.stats().page_types.wished, rig.done)
    };
    let (none, without) = wished(&[], 8);
    let lowest =
        run(&[SHAPE, TIMES, RELAXED, "place = [\"lfs\", \"ubs\"]"], &writes(1200, Some(1)));
    assert_eq!((none[1], none[2]), (0, 0));
    assert_eq!(without, lowest.done, "without a buffer it is lfs");
    // A page leaves when another needs its place: the buffer is full.
    let small = "buffer = { size = \"256KiB\", reads = false }";
    let (full, _) = wished(&[small], 8);
    assert!(full[0] > 1000 && full[1] + full[2] == 0, "{full:?}");
    // Pages leave ahead of need, and at this pace that is early enough.
    let ahead = "buffer = { size = \"256KiB\", reads = false, keep_free = 0.25 }";
    let (slow, _) = wished(&[ahead], 80);
    let all: u64 = slow.iter().sum();
    assert!(all > 1000 && slow[..3].iter().all(|&pages| pages.abs_diff(all / 3) <= 1), "{slow:?}");
    // Where writes outrun that at times, some of both.
    let little = "buffer = { size = \"256KiB\", reads = false, keep_free = 0.05 }";
    let (fast, _) = wished(&[little], 2);
    assert!(fast[0] > fast[1] + 100 && fast[1] > 10 && fast[2] > 10, "{fast:?}");
}
