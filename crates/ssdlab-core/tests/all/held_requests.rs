//! When a scheduler that holds requests back dispatches them: in parts, as a whole, and beside
//! collection.

use ssdlab_base::rng;
use ssdlab_core::Op;
use ssdlab_core::account::{Cause, OpKind};
use ssdlab_nand::PlaneId;

use crate::support::{BUS, PROGRAM, READ, Rig};

/// Reads keep their order; writes are reordered.
const READS_FIFO: &str = "scheduler = { dlv = { reads = \"fifo\" } }";
const LOOK: u64 = READ + BUS;
const ONE: u64 = BUS + PROGRAM;

#[test]
fn what_waits_for_a_busy_plane_is_held_back_until_it_is_free() {
    let mut rig = Rig::new(&[READS_FIFO]);
    rig.write(0);
    rig.finish();
    for (op, side, one) in [(Op::Read, 0, LOOK), (Op::Write, 1, ONE)] {
        rig.drive.reset_stats();
        let zero = rig.now();
        for page in 0..4 {
            rig.pages(op, if op == Op::Read { 0 } else { page }, 1);
        }
        for gone in 1..=4 {
            assert_eq!(rig.drive.stats().dispatched[side], (gone, 0), "{op:?}");
            rig.until(zero + gone * one);
        }
        rig.finish();
    }
}

#[test]
fn the_shortest_write_goes_alone_where_reads_keep_their_places() {
    let mut rig = Rig::new(&[READS_FIFO]);
    let tags = [rig.write(0), rig.pages(Op::Write, 4, 2), rig.write(8)];
    rig.finish();
    // The last write needs the plane once, the one before it twice.
    assert_eq!(tags.map(|tag| rig.end_of(tag).unwrap()), [ONE, 4 * ONE, 2 * ONE]);
}

#[test]
fn a_read_that_is_held_back_goes_before_collection_in_the_background() {
    let sets = [READS_FIFO, "ftl.overprovisioning = 0.5", "background.gc.threshold = 0.25"];
    let mut rig = Rig::new(&sets);
    rig.write(1);
    rig.finish();
    while rig.ops(OpKind::Erase, Cause::Gc) == 0 {
        let zero = rig.now();
        rig.write(0);
        rig.until(zero + BUS).read(1);
        // The write has ended, and collection of what it invalidated waits beside this read.
        let read = rig.until(zero + ONE + BUS).read(1);
        rig.finish();
        assert_eq!(rig.end_of(read), Some(zero + ONE + 2 * LOOK));
    }
}

#[test]
fn reads_overtake_writes_that_keep_their_places() {
    let mut rig =
        Rig::new(&["geometry.channels = 2", "scheduler = { dlv = { writes = \"fifo\" } }"]);
    rig.pages(Op::Write, 0, 2);
    rig.finish();
    let zero = rig.now();
    // The plane is busy; the first waiting write needs it twice, the other once.
    let tags = [rig.write(4), rig.pages(Op::Write, 6, 3), rig.write(10), rig.read(0)];
    rig.finish();
    let ends = tags.map(|tag| rig.end_of(tag).unwrap() - zero);
    assert_eq!(ends, [ONE, 3 * ONE + LOOK, 4 * ONE + LOOK, ONE + LOOK]);
}

#[test]
fn a_late_write_goes_in_parts_and_on_every_plane_that_is_idle() {
    let order = "scheduler = { dlv = { write_deadline = \"1us\" } }";
    let mut rig = Rig::new(&["geometry.channels = 2", "ftl.overprovisioning = 0.5", order]);
    let mut erased = None;
    while erased.is_none() {
        rig.write(0);
        rig.wait_below(1).unwrap();
        erased = rig.drive.next_event();
    }
    // Plane 0 erases; both pages of the write wait for it.
    let write = rig.pages(Op::Write, 0, 2);
    rig.finish();
    assert_eq!(rig.end_of(write).unwrap(), erased.unwrap().as_ns() + BUS + PROGRAM);
}

#[test]
fn a_read_that_goes_in_parts_keeps_its_place_on_the_planes_where_it_waits() {
    let order = "scheduler = { dlv = { reads = \"fifo\" } }";
    let mut rig = Rig::new(&["geometry.channels = 2", order]);
    rig.pages(Op::Write, 0, 4);
    rig.finish();
    let zero = rig.now();
    let (first, waits) = (rig.write(5), rig.write(7));
    rig.read(0);
    // Page 1 lies on plane 1, where both writes go first; page 2 lies on plane 0.
    let parts = rig.pages(Op::Read, 1, 2);
    rig.finish();
    let ends = [first, waits, parts].map(|tag| rig.end_of(tag).unwrap() - zero);
    let one = BUS + PROGRAM;
    assert_eq!(ends, [one, 2 * one, 2 * one + READ + BUS]);
}

#[test]
fn a_plane_is_collected_as_far_under_an_order_that_holds() {
    let freed = |order: &str| {
        let mut rig = Rig::new(&[order, "background.gc = { threshold = 0.3, target = 1 }"]);
        let step = |n| rng::hash(9, 1, n) % 60;
        let mut free = Vec::new();
        for n in 0..400 {
            rig.pages(Op::Write, step(n), 1 + n % 12);
            rig.finish();
            free.push(rig.drive.ftl().alloc.free_blocks(PlaneId(0)));
        }
        free
    };
    let null = "scheduler = { dlv = { reads = \"fifo\", writes = \"fifo\", avoid_gc = false } }";
    assert_eq!(freed(null), freed("scheduler = \"fifo\""));
}
