//! Requests for page types, their grants, and the types that other pages get. Source: PA-SSD.

use ssdlab_base::rng;
use ssdlab_core::account::{Cause, OpKind};
use ssdlab_core::{Op, Request};
use ssdlab_nand::PlaneId;

use crate::support::{Rig, SPP, Step, play};

/// Eight planes of TLC with a channel each.
const SHAPE: &str = "geometry = { channels = 8, blocks = 40, pages = 48, cell = \"tlc\" }";
const TIMES: &str = "timing.program = [\"100us\", \"400us\", \"1ms\"]";
const RELAXED: &str = "ftl = { page_order = \"relaxed\", allocation = \"dynamic\" }";

/// Returns writes of one to six pages, or of `pages` pages, over a part of the drive.
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
fn without_a_hint_the_relaxed_order_is_the_conventional_one() {
    let steps = writes(300, None);
    let of = |order: &str| run(&[SHAPE, TIMES, &format!("ftl.page_order = \"{order}\"")], &steps);
    let (strict, relaxed) = (of("strict"), of("relaxed"));
    assert_eq!(strict.done, relaxed.done);
    assert_eq!(strict.drive.ftl().free_by_type(), relaxed.drive.ftl().free_by_type());
}

#[test]
fn the_conventional_drive_has_one_block_open_a_plane_for_all_that_is_written() {
    let steps = writes(1200, None);
    let open = |copies: &str| {
        let ftl = format!("ftl.gc_stream = \"{copies}\"");
        let rig = run(&[SHAPE, TIMES, &ftl, "start.fill = 1.0"], &steps);
        let moved = rig.drive.flash().counts.ops()[OpKind::Program as usize][Cause::Gc as usize];
        assert!(moved > 200, "{moved} pages were moved");
        let ftl = rig.drive.ftl();
        (0..8).map(|plane| ftl.alloc.open_list(PlaneId(plane)).len()).max().unwrap()
    };
    assert_eq!((open("shared"), open("separate")), (1, 2));
}

#[test]
fn on_the_conventional_drive_large_writes_wait_for_the_slowest_pages() {
    // Single pages on random planes make positions in blocks independent, as the closed form
    // assumes.
    let mut rig = Rig::unwatched(&[SHAPE, TIMES], 1).unwrap();
    play(&mut rig, &writes(3000, Some(1)), 16).unwrap();
    let mut slowest_page_type = [0u64; 3];
    for round in 0..2000 {
        let others = writes(3 + round % 5, Some(1)).into_iter().map(|mut step| {
            step.place = rng::hash(round, 4, step.place) % (1 << 15);
            step
        });
        play(&mut rig, &others.collect::<Vec<_>>(), 16).unwrap();
        rig.drive.reset_stats();
        let first = rng::hash(5, 6, round) % (1 << 12);
        rig.pages(Op::Write, first, 4);
        rig.finish();
        let found = rig.drive.stats().page_types.slowest_page_type;
        slowest_page_type.iter_mut().zip(found).for_each(|(sum, one)| *sum += one);
    }
    assert_eq!(slowest_page_type.iter().sum::<u64>(), 2000);
    // Four standard deviations of each.
    let third = 1.0f64 / 3.0;
    let slow = (2.0 * third).powi(4);
    for (found, expected) in
        slowest_page_type.iter().zip([third.powi(4), slow - third.powi(4), 1.0 - slow])
    {
        let share = *found as f64 / 2000.0;
        let error = 4.0 * (expected * (1.0 - expected) / 2000.0).sqrt();
        assert!((share - expected).abs() < error, "{share} where {expected} ± {error} is expected");
    }
}

#[test]
fn a_chip_without_multi_plane_commands_does_one_thing_at_a_time() {
    let took = |array: &str| {
        let shape =
            "geometry = { channels = 1, planes = 4, blocks = 40, pages = 48, cell = \"tlc\" }";
        let mut rig = Rig::new(&[shape, "timing.program = \"200us\"", array]);
        rig.pages(Op::Write, 0, 4);
        rig.finish();
        rig.now()
    };
    // Four programs of 200 us, and the four transfers of 5 us before them.
    assert_eq!(took("flash.array = \"chip\""), 4 * 5_000 + 200_000);
    assert_eq!(took("flash = { array = \"chip\", multi_plane = false }"), 4 * 205_000);
}

#[test]
fn requests_get_pages_of_one_type_and_as_many_of_each() {
    let rig = run(&[SHAPE, TIMES, RELAXED, "placement = [\"us\", \"ubs\"]"], &writes(2000, None));
    let types = rig.drive.stats().page_types;
    let all: u64 = types.slowest_page_type.iter().sum();
    for (at, &slowest_page_type) in types.slowest_page_type[..3].iter().enumerate() {
        let share = slowest_page_type as f64 / all as f64;
        assert!((share - 1.0 / 3.0).abs() < 0.03, "type {at}: {share}");
        assert!(
            types.granted[at] as f64 > 0.9 * types.requested[at] as f64,
            "type {at}: {types:?}"
        );
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
            "placement = [\"lfs\", \"ubs\"]",
            "background.gc = { threshold = 0.3, unit = \"pages\" }",
        ],
        &steps,
    );
    let types = rig.drive.stats().page_types;
    assert_eq!(types.requested[1..], [0; 3]);
    assert!(types.granted[0] < types.requested[0], "{types:?}");
    assert!(rig.drive.stats().unprogrammed > 0);
    let free = rig.drive.ftl().free_by_type();
    assert!(free[0] < free[2], "{free:?}");
    assert_eq!(rig.drive.audit(), Ok(()));
}

#[test]
fn collection_can_spare_blocks_that_still_offer_pages() {
    let steps = writes(4000, None);
    let skipped = |partly: bool| {
        let gc = format!(
            "background.gc = {{ threshold = 0.3, unit = \"pages\", partly_programmed = {partly} }}"
        );
        let sets = [SHAPE, TIMES, RELAXED, "placement = [\"lfs\", \"ubs\"]", &*gc];
        let rig = run(&sets, &steps);
        (rig.drive.stats().unprogrammed, rig.ops(OpKind::Erase, Cause::Gc))
    };
    let ((some, erases), (few, fewer)) = (skipped(true), skipped(false));
    assert!(few < some / 2, "{few} of {some} pages were never programmed");
    assert!(fewer <= erases, "{fewer} of {erases} blocks were collected");
}

#[test]
fn collection_by_pages_does_not_go_round_on_a_drive_that_can_never_be_so_empty() {
    let copies = |counts: &str| {
        let gc = format!("background.gc = {{ threshold = 0.4, unit = \"{counts}\" }}");
        let mut rig = Rig::unwatched(&[SHAPE, TIMES, &gc, "start.fill = 1.0"], 1).unwrap();
        play(&mut rig, &writes(6000, Some(1)), 16).unwrap();
        rig.drive.reset_stats();
        play(&mut rig, &writes(2000, Some(1)), 16).unwrap();
        rig.drive.write_amplification().unwrap()
    };
    let (pages, blocks) = (copies("pages"), copies("blocks"));
    assert!(pages < 1.5 * blocks, "write amplification {pages} by pages, {blocks} by blocks");
}

#[test]
fn what_collection_moves_is_typed_too() {
    let sets = [SHAPE, TIMES, RELAXED, "start = { used = 0.5, unwritten_reads = \"footprint\" }"];
    let done = |place: &str| {
        let mut rig = Rig::new(&[&sets[..], &[place]].concat());
        let pages = rig.drive.resolved().logical_pages;
        let mut prefill = rig.drive.prefill();
        (0..pages / 2).for_each(|page| assert!(rig.drive.prefill_page(&mut prefill, page)));
        play(&mut rig, &writes(3000, None), 16).unwrap();
        let moved = rig.drive.flash().counts.ops()[OpKind::Program as usize][Cause::Gc as usize];
        assert!(moved > 100, "{moved} pages were moved");
        rig.done
    };
    assert_ne!(done("placement = [\"us\"]"), done("placement = [\"us\", \"ubs\"]"));
}

#[test]
fn what_a_link_alone_does_not_type_goes_in_the_conventional_order() {
    let done = |place: &str| run(&[SHAPE, TIMES, RELAXED, place], &writes(1200, None)).done;
    let never = done("placement = [{ qds = { threshold = 60000 } }]");
    assert_eq!(never, done("placement = [\"next_page\"]"));
    assert_eq!(never, done("placement = [\"hgs\"]"), "nobody hints");
    assert_ne!(never, done("placement = [\"sbs\"]"));
}

#[test]
fn a_full_buffer_takes_the_lowest_type_and_one_that_has_room_another() {
    let requested = |sets: &[&str], eighths: u64| {
        let mut steps = writes(1200, Some(1));
        steps.iter_mut().for_each(|step| step.gap = step.gap * eighths / 8);
        let sets =
            [&[SHAPE, TIMES, RELAXED, "placement = [\"wbs\", \"us\", \"ubs\"]"], sets].concat();
        let rig = run(&sets, &steps);
        (rig.drive.stats().page_types.requested, rig.done)
    };
    let (none, without) = requested(&[], 8);
    let lowest =
        run(&[SHAPE, TIMES, RELAXED, "placement = [\"lfs\", \"ubs\"]"], &writes(1200, Some(1)));
    assert_eq!((none[1], none[2]), (0, 0));
    assert_eq!(without, lowest.done, "without a buffer it is lfs");
    // A page leaves when another needs its slot: the buffer is full.
    let small = "buffer = { size = \"256KiB\", reads = false }";
    let (full, _) = requested(&[small], 8);
    assert!(full[0] > 1000 && full[1] + full[2] == 0, "{full:?}");
    // Pages leave ahead of need, and early enough at this rate.
    let ahead = "buffer = { size = \"256KiB\", reads = false, keep_free = 0.25 }";
    let (slow, _) = requested(&[ahead], 80);
    let all: u64 = slow.iter().sum();
    assert!(all > 1000 && slow[..3].iter().all(|&pages| pages.abs_diff(all / 3) <= 1), "{slow:?}");
    // Where writes are at times faster than that, both cases occur.
    let little = "buffer = { size = \"256KiB\", reads = false, keep_free = 0.05 }";
    let (fast, _) = requested(&[little], 2);
    assert!(fast[0] > fast[1] + 100 && fast[1] > 10 && fast[2] > 10, "{fast:?}");
}

#[test]
fn a_page_that_leaves_the_buffer_ahead_of_need_is_placed_by_the_hint_of_its_writer() {
    let buffer = "buffer = { size = \"256KiB\", reads = false, keep_free = 0.5 }";
    let requested = |links: &str, pages: u64, hint: u8| {
        let place = format!("placement = [{links}, \"us\", \"ubs\"]");
        let mut rig = Rig::new(&[SHAPE, TIMES, RELAXED, buffer, &place]);
        for n in 0..300 {
            let (arrival, lba) = (rig.drive.now(), n * pages * SPP);
            let sectors = (pages * SPP) as u32;
            let op = Op::Write;
            let request = Request { tag: n, arrival, op, lba, sectors, queue: 0, hint };
            rig.drive.submit(arrival, request).unwrap();
            rig.until(rig.now() + 10_000_000);
        }
        rig.finish();
        let [low, middle, high, _] = rig.drive.stats().page_types.requested;
        assert!(low + middle + high > 200);
        (low, middle, high)
    };
    assert_eq!(requested("\"hgs\"", 1, 1), (268, 0, 0));
    assert_eq!(requested("\"hgs\"", 1, 3), (0, 0, 268));
    assert_eq!(requested("\"sbs\"", 1, 0), (268, 0, 0));
    let (low, middle, high) = requested("\"sbs\"", 2, 0);
    assert!(low.abs_diff(high) <= 1 && low.abs_diff(middle) <= 1, "none is small");
}
