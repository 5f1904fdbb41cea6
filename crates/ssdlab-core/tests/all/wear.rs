//! The spread of wear under wear leveling, over lives long enough for every block to be leveled.

use ssdlab_base::rng;
use ssdlab_core::Pace;
use ssdlab_core::account::{Cause, OpKind, Part};
use ssdlab_core::{Drive, Op};
use ssdlab_nand::PlaneId;

use crate::support::{Rig, SPP};

/// One full plane, with blocks that differ in wear.
const DRIVE: [&str; 4] = [
    "geometry = { channels = 1, planes = 1, blocks = 64, pages = 24, cell = \"tlc\" }",
    "physics.retries = {}",
    "start = { pe_cycles = 1000, pe_spread = 5, fill = 1 }",
    "ftl.overprovisioning = 0.3",
];

/// Returns the spread of wear over a drive's blocks.
fn spread(drive: &Drive) -> u32 {
    let wear: Vec<u32> = drive.ftl().blocks.usable_erases().collect();
    wear.iter().max().unwrap() - wear.iter().min().unwrap()
}

/// Writes random pages, `hot` of a hundred in the first eighth. Returns the largest spread of wear
/// in the second half, and the number of blocks moved for leveling.
fn max_spread(sets: &[&str], hot: u64, writes: u64) -> (u32, u64) {
    let mut rig = Rig::unwatched(&[&DRIVE, sets].concat(), 1).unwrap();
    rig.drive.start_audit(Pace::Every(5_000));
    let pages = u64::from(rig.drive.resolved().logical_pages);
    let mut most = 0;
    for number in 0..writes {
        let hash = rng::hash(3, number, 0);
        let among = if hash % 100 < hot { pages / 8 } else { pages };
        rig.offer(Op::Write, rng::below(hash, among) * SPP, SPP, 0).expect("room");
        rig.wait_below(4).unwrap();
        if number > writes / 2 && number % 500 == 0 {
            most = most.max(spread(&rig.drive));
        }
    }
    rig.finish();
    (most, rig.ops(OpKind::Erase, Cause::Wl))
}

const ORDERS: [&str; 2] = ["ftl.page_order = \"strict\"", "ftl.page_order = \"relaxed\""];
const STATIC: &str = "background.static_wear_leveling = { threshold = 12 }";
const POOLS: &str = "background.dual_pool = { threshold = 12 }";

#[test]
fn wear_stays_within_the_threshold_however_long_the_drive_lives() {
    for order in ORDERS {
        let (without, none) = max_spread(&[order], 97, 100_000);
        assert!(without > 60 && none == 0, "{order}: {without}");
        let (leveled, moved) = max_spread(&[order, STATIC], 97, 100_000);
        assert!(leveled <= 15 && moved > 0, "{order}: {leveled} after {moved}");
        // The hot pool may differ by twice the threshold.
        let (leveled, moved) = max_spread(&[order, POOLS], 97, 100_000);
        assert!(leveled <= 30 && moved > 0, "{order}: {leveled} after {moved}");
    }
}

#[test]
fn all_planes_are_leveled_alike() {
    let planes = ["geometry.planes = 4", "start.pe_spread = 60", STATIC];
    let mut rig = Rig::unwatched(&[&DRIVE[..], &planes].concat(), 1).unwrap();
    let pages = u64::from(rig.drive.resolved().logical_pages);
    let erases = |drive: &Drive| -> [u32; 4] {
        [0, 1, 2, 3].map(|plane| drive.ftl().blocks.pool(PlaneId(plane)).erases.iter().sum())
    };
    let before = erases(&rig.drive);
    for number in 0..6_000 {
        let hash = rng::hash(3, number, 0);
        rig.offer(Op::Write, rng::below(hash, pages) * SPP, SPP, 0).expect("room");
        rig.wait_below(4).unwrap();
    }
    // Collection is equal on all planes; they differ in the pages moved for wear.
    let after = erases(&rig.drive);
    let own = [0, 1, 2, 3].map(|plane| after[plane] - before[plane]);
    let moved = rig.ops(OpKind::Erase, Cause::Wl);
    let distance = own.iter().max().unwrap() - own.iter().min().unwrap();
    assert!(moved > 100 && u64::from(distance) < moved / 10, "{own:?} of {moved}");
}

#[test]
fn a_read_waits_for_an_operation_of_leveling_not_for_all_of_a_block() {
    // Few blocks are free, but the host writes so slowly that it never waits for one.
    let few = ["scheduler = \"read_first\"", "background.gc.threshold = 0.02", STATIC];
    let mut rig = Rig::unwatched(&[&DRIVE[..], &few].concat(), 1).unwrap();
    let pages = u64::from(rig.drive.resolved().logical_pages);
    for number in 0..60_000 {
        let hash = rng::hash(3, number, 0);
        rig.offer(Op::Write, rng::below(hash, pages / 8) * SPP, SPP, 0).expect("room");
        rig.offer(Op::Read, rng::below(hash, pages) * SPP, SPP, 0).expect("room");
        rig.until(rig.now() + 5_000_000);
    }
    rig.finish();
    let moved = u128::from(rig.ops(OpKind::Program, Cause::Wl));
    let reads = &rig.drive.stats().latencies[0][Op::Read as usize];
    let waited = reads.blame_ns[Part::DieWl as usize];
    assert!(moved > 1_000 && waited < moved * 20_000, "{waited} ns for {moved} pages");
}

#[test]
fn a_block_that_is_not_written_on_keeps_its_wear_no_longer_than_others() {
    // The initial differences are leveled once; then all pages are written equally often.
    for (order, level) in ORDERS.iter().flat_map(|order| [(order, STATIC), (order, POOLS)]) {
        let (leveled, moved) = max_spread(&[order, level, "start.pe_spread = 15"], 0, 200_000);
        assert!(leveled <= 30 && moved > 0, "{order}, {level}: {leveled} after {moved}");
    }
}
