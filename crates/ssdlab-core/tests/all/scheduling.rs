//! The order of service where several operations wait, and operations that take another plane.

use ssdlab_base::SimTime;
use ssdlab_core::Op;
use ssdlab_core::account::{Cause, OpKind};
use ssdlab_core::{Act, Span};
use ssdlab_nand::{Lpn, PlaneId};

use crate::support::{BUS, PROGRAM, READ, Rig, SPP, written};

const LOOK: u64 = READ + BUS;
const ONE: u64 = BUS + PROGRAM;

/// Returns the ends of requests, counted from `zero`.
fn ends(rig: &mut Rig, zero: u64, tags: &[u64]) -> Vec<u64> {
    rig.finish();
    tags.iter().map(|&tag| rig.end_of(tag).unwrap() - zero).collect()
}

/// Reads a page for a queue.
fn read(rig: &mut Rig, page: u64, queue: u8) -> u64 {
    rig.offer(Op::Read, page * SPP, SPP, queue).unwrap()
}

const THREE: &str = "scheduler = \"strict_priority\"\nhost.queues = 3";

#[test]
fn a_queue_of_higher_priority_goes_first() {
    let (mut rig, zero) = written(&[THREE], 5);
    let tags = [(0, 1), (1, 2), (2, 1), (3, 0), (4, 1)].map(|(page, q)| read(&mut rig, page, q));
    // The first read is in service when the others arrive.
    let places = [1, 5, 3, 2, 4];
    assert_eq!(ends(&mut rig, zero, &tags), places.map(|place| place * LOOK));
}

#[test]
fn a_flushed_page_leaves_the_buffer_after_earlier_requests() {
    let (mut rig, zero) = written(&[THREE, "buffer = { size = \"8KiB\", reads = false }"], 6);
    // The buffer holds pages 4 and 5.
    let before = [0, 1].map(|page| read(&mut rig, page, 2));
    let flush = rig.offer(Op::Flush, 0, 0, 0).unwrap();
    let after = [(2, 2), (3, 1)].map(|(page, queue)| read(&mut rig, page, queue));
    let tags = [before[0], after[1], before[1], flush, after[0]];
    let flushed = 3 * LOOK + 2 * ONE;
    let expected = [LOOK, 2 * LOOK, 3 * LOOK, flushed, flushed + LOOK];
    assert_eq!(ends(&mut rig, zero, &tags), expected);
}

#[test]
fn a_page_leaves_the_buffer_with_the_priority_of_the_write_that_waits() {
    let buffer = "buffer = { size = \"8KiB\", latency = \"1us\", reads = false }";
    let (mut rig, zero) = written(&[THREE, buffer], 6);
    let reads = [0, 1].map(|page| read(&mut rig, page, 1));
    let write = rig.offer(Op::Write, 6 * SPP, SPP, 0).unwrap();
    let low = rig.offer(Op::Write, 7 * SPP, SPP, 2).unwrap();
    let tags = [reads[0], write, reads[1], low];
    let gone = LOOK + ONE;
    let expected = [LOOK, gone + 1000, gone + LOOK, gone + LOOK + ONE + 1000];
    assert_eq!(ends(&mut rig, zero, &tags), expected);
}

/// Planes of a die that share an array unit; page n lies on plane n % 2 at offset n / 2.
const DIE: [&str; 2] = ["geometry.planes = 2", "flash.array = \"die\""];

#[test]
fn planes_of_a_die_are_served_in_the_order_in_which_their_requests_came() {
    // Pages 3 and 0 lie at unequal offsets, so they are not read together.
    for pages in [[0, 3, 0], [0, 0, 3], [1, 2, 1], [1, 1, 2]] {
        let (mut rig, zero) = written(&DIE, 4);
        let tags = pages.map(|page| rig.read(page));
        assert_eq!(ends(&mut rig, zero, &tags), [LOOK, 2 * LOOK, 3 * LOOK], "{pages:?}");
    }
}

#[test]
fn the_more_urgent_operation_goes_first_on_any_plane_of_the_die() {
    for (busy, write, page) in [(0, 4, 1), (1, 5, 0)] {
        let (mut rig, zero) = written(&[DIE[0], DIE[1], "scheduler = \"read_first\""], 4);
        let tags = [rig.read(busy), rig.write(write), rig.read(page)];
        let expected = [LOOK, 2 * LOOK + ONE, 2 * LOOK];
        assert_eq!(ends(&mut rig, zero, &tags), expected, "page {page}");
    }
}

#[test]
fn a_request_moves_its_own_sectors_of_each_page() {
    let moved = |sectors: u64| sectors * BUS / SPP;
    let (mut rig, zero) = written(&["flash.transfer = \"sectors\""], 4);
    // Two sectors of page 0, all of page 1, three of page 2.
    let tag = rig.offer(Op::Read, SPP - 2, SPP + 5, 0).unwrap();
    assert_eq!(ends(&mut rig, zero, &[tag]), [3 * READ + moved(2) + moved(SPP) + moved(3)]);
}

/// Overwrites pages of this plane until both planes are full and an erase is in progress.
fn fill_up(rig: &mut Rig, plane: u32) {
    let pages = rig.drive.resolved().logical_pages;
    let geometry = rig.drive.resolved().geometry().clone();
    for page in 0..pages {
        rig.write(u64::from(page));
    }
    rig.finish();
    for n in 0..4000u64 {
        let lies = |page: &u32| {
            let ppn = rig.drive.ftl().map.get(Lpn(*page)).unwrap();
            geometry.plane_of_page(ppn).0 == plane
        };
        let there: Vec<u32> = (0..pages).filter(lies).collect();
        let page = there[ssdlab_base::rng::hash(3, 1, n) as usize % there.len()];
        rig.write(u64::from(page));
        rig.wait_below(8).unwrap_or_else(|what| panic!("plane {plane}, write {n}: {what}"));
    }
}

#[test]
fn a_write_that_waits_on_a_full_plane_goes_where_a_block_is_erased() {
    // One plane fills with pages that are never overwritten: no block is ever erased there.
    let sets =
        ["geometry.planes = 2", "ftl.allocation = \"dynamic\"", "background.gc.threshold = 0.3"];
    for plane in 0..2 {
        let mut rig = Rig::unwatched(&sets, 1).unwrap();
        fill_up(&mut rig, plane);
        rig.finish();
        let other = ssdlab_nand::PlaneId(1 - plane);
        assert!(rig.drive.ftl().is_full(other, None), "plane {}", other.0);
    }
}

/// Returns two planes: the first is written page by page while the other stays busy, until `left`
/// blocks of the first are free. All written data is valid.
fn lopsided(sets: &[&str], left: usize) -> (Rig, u64) {
    let shape = ["geometry.channels = 2", "ftl.allocation = \"dynamic\""];
    let (mut rig, _) = written(&[&shape[..], sets].concat(), 2);
    let mut page = 2;
    while rig.drive.ftl().alloc.free_blocks(PlaneId(0)) > left {
        (0..2).for_each(|_| _ = rig.read(1));
        rig.write(page);
        rig.finish();
        page += 1;
    }
    assert_eq!(planes_of(&rig, 0..2), [0, 1]);
    (rig, page)
}

#[test]
fn a_plane_whose_pages_were_outdated_from_elsewhere_is_collected() {
    let (mut rig, _) = lopsided(&["background.gc = { threshold = 0.2, target = 1 }"], 3);
    assert_eq!(rig.ops(OpKind::Erase, Cause::Gc), 0, "there was nothing to gain");
    rig.read(0);
    // The first plane is busy: page 2 goes to the other one.
    rig.write(2);
    rig.finish();
    assert_eq!(planes_of(&rig, 2..3), [1]);
    assert_eq!(rig.ops(OpKind::Erase, Cause::Gc), 1);
}

#[test]
fn a_write_rather_waits_for_a_busy_plane_than_for_a_full_one() {
    let (mut rig, mut page) = lopsided(&["ftl.overprovisioning = 0.2"], 1);
    while !rig.drive.ftl().is_full(PlaneId(0), None) {
        rig.read(1);
        rig.write(page);
        rig.finish();
        page += 1;
    }
    let zero = rig.now();
    (0..4).for_each(|_| _ = rig.read(1));
    let write = rig.write(page);
    assert_eq!(ends(&mut rig, zero, &[write]), [4 * LOOK + ONE]);
}

#[test]
fn planes_of_a_die_are_collected_together() {
    let mut rig = Rig::new(&DIE);
    rig.drive.record(SimTime::NEVER);
    let pairs = u64::from(rig.drive.resolved().logical_pages / 2);
    for n in 0..4 * pairs {
        let pair = if n < pairs { n } else { ssdlab_base::rng::hash(3, 1, n) % pairs };
        rig.pages(Op::Write, 2 * pair, 2);
        rig.finish();
    }
    let collects = |span: &Span| (span.act, span.cause) == (Act::Sense, Cause::Gc);
    let sensed = rig.drive.flash().timeline.spans(rig.drive.now()).filter(collects).count() as u64;
    assert!(sensed > 0);
    assert_eq!(rig.ops(OpKind::Read, Cause::Gc), 2 * sensed);
}

/// Returns the planes on which pages were written last.
fn planes_of(rig: &Rig, pages: std::ops::Range<u32>) -> Vec<u32> {
    let geometry = rig.drive.resolved().geometry();
    let plane = |page| geometry.plane_of_page(rig.drive.ftl().map.get(Lpn(page)).unwrap()).0;
    pages.map(plane).collect()
}

#[test]
fn under_dynamic_allocation_writes_go_round_and_to_the_plane_with_least_to_do() {
    let sets = ["geometry = { channels = 4 }", "ftl.allocation = \"dynamic\""];
    let (mut rig, _) = written(&sets, 6);
    assert_eq!(planes_of(&rig, 0..6), [0, 1, 2, 3, 0, 1]);
    // Plane 2 is next but reads; planes 3, 0 and 1 are free; then plane 2 has the least work.
    rig.read(2);
    for page in 6..9 {
        rig.write(page);
    }
    rig.until(rig.now() + LOOK);
    rig.write(9);
    rig.finish();
    assert_eq!(planes_of(&rig, 6..10), [3, 0, 1, 2]);
    // With equal work on all planes, plane 3 is next.
    for page in 10..18 {
        rig.write(page);
    }
    rig.finish();
    assert_eq!(planes_of(&rig, 10..18), [3, 0, 1, 2, 3, 0, 1, 2]);
    // A plane with twice as much work as the others gets no write.
    rig.read(10);
    rig.read(14);
    for page in 18..24 {
        rig.write(page);
    }
    rig.finish();
    assert_eq!(planes_of(&rig, 18..24), [0, 1, 2, 0, 1, 2]);
}

#[test]
fn planes_of_another_die_are_not_programmed_along() {
    let mut rig = Rig::new(&["geometry = { dies = 2, planes = 2 }", "flash.array = \"die\""]);
    // Even pages lie on the first die; the other die is one page ahead.
    rig.write(1);
    rig.finish();
    for page in [0, 1, 4] {
        rig.write(page);
    }
    let (first, other) = (rig.write(8), rig.write(5));
    rig.finish();
    // Both begin at the same offset of their blocks, each on its die.
    let (first, other) = (rig.end_of(first).unwrap(), rig.end_of(other).unwrap());
    assert!(first >= other + PROGRAM / 2, "{first} and {other}");
}
