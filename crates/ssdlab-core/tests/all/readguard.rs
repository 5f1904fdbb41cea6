//! Blocks by priority: the owners of blocks, and repairs of blocks that get worse. Source:
//! ReadGuard.

use std::collections::BTreeMap;
use std::ops::Range;

use ssdlab_base::{SimTime, rng};
use ssdlab_core::BlockState;
use ssdlab_core::account::{Cause, OpKind};
use ssdlab_core::policy::background::Job;
use ssdlab_core::policy::event::Action;
use ssdlab_core::{Drive, Op, Resolved, Writer};
use ssdlab_nand::{BlockId, Lpn, PlaneId};

use crate::support::{Repairs, Rig, SPP, config};

/// Chips for these tests: blocks differ most by their initial quality.
const CHIPS: &str = "physics.retries = { fresh_errors = 38.0, wear = { errors = 74.0, worn_exponent = 1.2 }, \
     retention = { errors = 17.0, worn_errors = 10.0 }, spread = { quality = 0.06, wear = 0.05 } }";
/// Four planes of 60 blocks that differ, and three queues with separate blocks.
const SHAPE: &str =
    "geometry = { channels = 2, planes = 2, blocks = 60, pages = 12, cell = \"tlc\" }";
const WORN: &str = "start = { pe_cycles = 2000, pe_spread = 15, dwell = \"1d\" }";
const POOLS: &str = "metadata = { block_class = { predicted = {} }, retry_estimate = \"oracle\" }";
const PLACE: &str = "placement = [{ priority = {} }]\nftl.free_block_policy = \"fewest_retries\"";
const GC: &str = "background = { subpool_gc = true, gc = { threshold = 0, hard_threshold = 0 } }";
const QUEUES: &str = "host.queues = 3\nscheduler = \"strict_priority\"\nftl.overprovisioning = 0.4";
const OWN: [&str; 7] = [SHAPE, CHIPS, WORN, POOLS, PLACE, GC, QUEUES];

fn rig(sets: &[&str]) -> Rig {
    Rig::new(&[&OWN, sets].concat())
}

/// Returns a full drive in which each of three tenants owns a third.
fn full(sets: &[&str]) -> Rig {
    let own = ["start = { fill = 1, age_max = \"90d\" }"];
    Rig::of_thirds(&[&OWN, &own[..], sets].concat())
}

/// Returns the block of a page.
fn block(drive: &Drive, page: u32) -> Option<BlockId> {
    let geometry = drive.resolved().geometry();
    drive.ftl().map.get(Lpn(page)).map(|ppn| geometry.block_of(ppn))
}

/// Returns the queue that owns a page; three queues own a third each.
fn owner(drive: &Drive, page: u32) -> u8 {
    (page / (drive.resolved().logical_pages / 3)).min(2) as u8
}

/// Asserts that all pages lie in blocks of their owners.
fn each_at_home(drive: &Drive) {
    for page in 0..drive.resolved().logical_pages / 3 * 3 {
        if let Some(block) = block(drive, page) {
            assert_eq!(drive.ftl().blocks.class(block).0, owner(drive, page), "page {page}");
        }
    }
}

/// Returns the mean initial error rate of the used blocks of each priority.
fn made(drive: &Drive) -> Vec<f64> {
    let geometry = drive.resolved().geometry();
    let rates = drive.flash().cells.base_rates(geometry);
    let mut of: BTreeMap<u8, Vec<f64>> = BTreeMap::new();
    for block in (0..geometry.block_count()).map(BlockId) {
        if drive.ftl().blocks.written(block) > 0 {
            of.entry(drive.ftl().blocks.class(block).0).or_default().push(rates[block.index()]);
        }
    }
    of.into_values().map(|rates| rates.iter().sum::<f64>() / rates.len() as f64).collect()
}

/// Writes random pages of each queue; `numbers` selects the draws.
fn churn(rig: &mut Rig, numbers: Range<u64>) {
    let third = u64::from(rig.drive.resolved().logical_pages / 3);
    for number in numbers {
        let queue = number % 3;
        let page = queue * third + rng::below(rng::hash(7, number, 0), third);
        rig.offer(Op::Write, page * SPP, SPP, queue as u8).expect("room");
        rig.wait_below(8).unwrap();
    }
    rig.finish();
}

fn repairs(rig: &Rig) -> Repairs {
    Repairs::of(rig)
}

#[test]
fn pages_go_to_blocks_of_their_queue_and_the_first_has_the_best() {
    let mut rig = rig(&[]);
    churn(&mut rig, 0..600);
    each_at_home(&rig.drive);
    assert_eq!(rig.drive.stats().missed, 0);
    assert!(made(&rig.drive).is_sorted(), "{:?}", made(&rig.drive));
}

#[test]
fn a_full_drive_begins_with_each_page_in_a_block_of_its_owner() {
    let rig = full(&[]);
    each_at_home(&rig.drive);
    let mapped = rig.drive.ftl().map.mapped();
    assert_eq!(mapped, rig.drive.resolved().logical_pages);
    let made = made(&rig.drive);
    assert!(made.len() == 3 && made.is_sorted(), "{made:?}");
    let free = rig.drive.ftl().alloc.subpools().unwrap();
    assert!(free.iter().max().unwrap() - free.iter().min().unwrap() <= 1, "{free:?}");
}

const STEADY: &str = "start = { fill = 1, steady_state = true }";

#[test]
fn a_steady_drive_begins_with_the_free_blocks_that_collection_leaves_its_subpools() {
    let mut written = Vec::new();
    for parts in [[1, 1, 1], [8, 1, 2], [1, 19, 3]] {
        for threshold in [6, 7, 9] {
            let keeps = format!("background.subpool_gc.threshold = {threshold}");
            let sets = [&OWN[..], &[STEADY, "geometry.pages = 60", &keeps]].concat();
            let rig = Rig::of_tenants(&sets, parts);
            let alloc = &rig.drive.ftl().alloc;
            // Collection begins at `threshold` free blocks; each subpool has one more.
            assert_eq!(alloc.subpools().unwrap(), [threshold + 1; 3], "{parts:?}");
            let planes = (0..4).map(|plane| alloc.free_blocks(PlaneId(plane)));
            let planes: Vec<_> = planes.collect();
            assert!(planes.iter().max().unwrap() - planes.iter().min().unwrap() <= 1, "{planes:?}");
            let table = &rig.drive.ftl().blocks;
            let open = (0..240).map(BlockId).filter(|&it| table.state(it) == BlockState::Open);
            written.extend(open.map(|block| f64::from(table.written(block))));
        }
    }
    // Blocks have sixty pages: the open blocks of no stream are nearly full on all planes.
    let mean = written.iter().sum::<f64>() / written.len() as f64;
    assert!(written.len() > 100 && (25.0..32.0).contains(&mean), "{mean} in {}", written.len());
}

#[test]
fn collected_pages_keep_their_priority_and_every_subpool_keeps_free_blocks() {
    let mut rig = full(&[]);
    churn(&mut rig, 0..6_000);
    assert!(rig.ops(OpKind::Erase, Cause::Gc) > 100);
    each_at_home(&rig.drive);
    let free = rig.drive.ftl().alloc.subpools().unwrap();
    // Collection begins with six.
    assert!(free.iter().all(|&free| free > 6), "{free:?}");
    assert!(made(&rig.drive).is_sorted(), "{:?}", made(&rig.drive));
}

const REPAIRS: &str =
    "background.inversion_repair = { interval = \"7d\", margin = 0, monitor = false }";
const DAY: u64 = 86_400_000_000_000;

#[test]
fn rounds_are_held_by_the_cells_clock_and_keep_no_drive_awake() {
    let mut rig = full(&[REPAIRS, "flash.time_scale = 10"]);
    assert_eq!(rig.drive.next_event(), None);
    rig.until(7 * DAY / 10 - 1);
    assert_eq!(repairs(&rig).rounds, 0);
    rig.until(7 * DAY / 10);
    assert_eq!(repairs(&rig).rounds, 1);
    rig.finish().until(3 * 7 * DAY / 10);
    assert_eq!(repairs(&rig).rounds, 3, "also those that came due while it was idle");
}

#[test]
fn rounds_go_on_where_a_saved_drive_was() {
    let mut before = full(&[REPAIRS, "flash.time_scale = 10"]);
    before.until(5 * DAY / 10);
    let media = before.drive.clone().media().expect("a drive at rest");
    for (interval, days) in [("7d", 2), ("1d", 1)] {
        let repairs = REPAIRS.replace("7d", interval);
        let sets = [&OWN[..], &["start.fill = 1.0", &repairs, "flash.time_scale = 10"]].concat();
        let resolved = Resolved::new(&config(&sets), 1).expect("a valid drive");
        let drive = Drive::with_media(resolved.into(), media.clone()).expect("the same drive");
        let mut rig = Rig { drive, done: Vec::new(), tag: 0 };
        rig.until(days * DAY / 10 - 1);
        assert_eq!(Repairs::of(&rig).rounds, 0, "{interval}");
        rig.until(days * DAY / 10);
        assert_eq!(Repairs::of(&rig).rounds, 1, "{interval}");
    }
}

/// Returns the number of inverted pairs of full blocks: the block of the higher priority truly has
/// the higher error rate.
fn inverted(drive: &Drive) -> usize {
    let (geometry, table) = (drive.resolved().geometry(), &drive.ftl().blocks);
    let each = geometry.block_count() / geometry.plane_count();
    let rate = |block: BlockId| {
        let inspected = drive.block(block.0 / each, block.0 % each, drive.now());
        inspected.and_then(|inspected| inspected.rber).map(|rate| (table.class(block).0, rate))
    };
    let blocks = (0..geometry.block_count()).map(BlockId);
    let full = blocks.filter(|&block| table.state(block) == BlockState::Closed);
    let rates: Vec<(u8, f64)> = full.filter_map(rate).collect();
    let pairs = rates.iter().flat_map(|high| rates.iter().map(move |low| (high, low)));
    pairs.filter(|(high, low)| high.0 < low.0 && high.1 > low.1).count()
}

#[test]
fn a_round_mends_blocks_that_are_worse_than_some_of_a_lower_priority() {
    // Ages of up to 90 days do not follow the order of the blocks.
    let mut rig = full(&[REPAIRS]);
    let before = inverted(&rig.drive);
    rig.until(7 * DAY).finish();
    let first = repairs(&rig);
    assert!(first.inversions > 20 && first.refreshed > 0, "{first:?}");
    // A queue that got a block in exchange keeps its bad block until that data is rewritten.
    let after = inverted(&rig.drive);
    assert!(after * 4 < before, "{after} of {before}");
    assert_eq!(first.reassigned + first.refreshed, first.inversions);
    each_at_home(&rig.drive);
    rig.until(14 * DAY).finish();
    let second = repairs(&rig).inversions - first.inversions;
    assert!(second * 5 < first.inversions, "{second} after {first:?}");
    assert_eq!(first.moved, first.moved_by_all, "nobody else had anything to do");
}

#[test]
fn a_wider_margin_leaves_more_as_it_is() {
    let found = |margin: &str| {
        let round =
            format!("background.inversion_repair = {{ margin = {margin}, monitor = false }}");
        let mut rig = full(&[&round]);
        rig.until(7 * DAY).finish();
        repairs(&rig).inversions
    };
    let (none, some, all) = (found("0"), found("0.1"), found("1"));
    assert!(none > some && some > all && all == 0, "{none}, {some}, {all}");
}

#[test]
fn with_the_monitor_repairs_stay_below_its_limit_and_margins_come_back_once_they_are_done() {
    for limit in [0.05, 0.1, 0.3] {
        let monitor = format!(
            "background.inversion_repair = {{ margin = 0, monitor = {{ max_write_share = {limit} }} }}"
        );
        let mut rig = full(&[&monitor]);
        rig.until(7 * DAY).finish();
        let found = repairs(&rig);
        assert!(found.rounds == 1 && found.inversions > 20, "{found:?}");
        assert_eq!(
            (found.reassigned, found.refreshed, found.moved),
            (0, 0, 0),
            "nothing was written"
        );
        let mut widest = 0.0f64;
        for part in 0..60 {
            churn(&mut rig, 500 * part..500 * (part + 1));
            let Repairs { extra_share, margins, .. } = repairs(&rig);
            assert!(extra_share <= limit + 1e-12, "{limit}: {extra_share}");
            widest = widest.max(margins[0]);
        }
        let done = repairs(&rig);
        assert!(done.moved > 0 && done.reassigned + done.refreshed > 0, "{done:?}");
        assert!(done.reassigned + done.refreshed <= found.inversions, "{done:?}");
        assert!(widest > 0.1, "what waited widened them");
        assert_eq!(done.margins, [0.0, 0.0], "{limit}: nothing waits any more");
        each_at_home(&rig.drive);
    }
}

#[test]
fn repairs_that_must_wait_hold_up_no_relocation_of_others() {
    let limited =
        "background.inversion_repair = { margin = 0, monitor = { max_write_share = 0.05 } }";
    let mut rig = full(&[limited]);
    rig.until(7 * DAY).finish();
    assert!(repairs(&rig).inversions > 20 && repairs(&rig).moved == 0, "all of them wait");
    let blocks = &rig.drive.ftl().blocks;
    let each = rig.drive.resolved().geometry().blocks;
    let first = |plane: u32| {
        let mut own = (plane * each..(plane + 1) * each).map(BlockId);
        own.find(|&block| blocks.state(block) == BlockState::Closed).expect("a full block")
    };
    let victims: Vec<BlockId> = (0..4).map(first).collect();
    for block in victims {
        rig.drive.ask(Action::Relocate(Job::new(block, Cause::Wl, Writer::Gc)));
    }
    rig.read(0);
    rig.finish();
    assert_eq!(rig.ops(OpKind::Erase, Cause::Wl), 4);
    assert_eq!(repairs(&rig).moved, 0);
}

#[test]
fn blocks_that_are_read_to_death_are_refreshed_by_their_estimates() {
    // All data has the same age: only reads make blocks differ.
    let model = "metadata.retry_estimate = { predicted = { age = [0.0, 0.0, 0.0, 0.0, 0.0], \
                 initial = [0.0, 0.0], growth = [1.0, 1.0, 0.01], thresholds = [2.0, 4.0, 8.0] } }";
    let disturbed = ["start.age_max = \"0ns\"", REPAIRS, model];
    let mut rig = full(&disturbed);
    let victim = block(&rig.drive, 5).unwrap();
    for _ in 0..300 {
        rig.read(5);
        rig.finish();
    }
    rig.until(7 * DAY).finish();
    let repairs = repairs(&rig);
    assert_eq!((repairs.refreshed, repairs.reassigned), (1, 0), "{repairs:?}");
    assert_ne!(block(&rig.drive, 5), Some(victim));
    assert_eq!(rig.ops(OpKind::Erase, Cause::Refresh), 1);
}

#[test]
fn wear_is_leveled_within_priorities_and_across_them_once_it_has_spread() {
    // Only the last queue writes: its blocks wear, and the others' do not.
    let run = |across: u32| {
        let level = format!(
            "background.dual_pool = {{ threshold = 5, cross_priority_threshold = {across} }}"
        );
        let mut rig = full(&[&level, "start.pe_spread = 0", REPAIRS]);
        let third = u64::from(rig.drive.resolved().logical_pages / 3);
        let mut crossed = false;
        for number in 0..40_000 {
            let page = 2 * third + rng::below(rng::hash(9, number, 0), third);
            rig.offer(Op::Write, page * SPP, SPP, 2).expect("room");
            rig.wait_below(8).unwrap();
            crossed |= rig.drive.across_classes();
        }
        rig.finish();
        each_at_home(&rig.drive);
        let wear: Vec<u32> = rig.drive.ftl().blocks.usable_erases().collect();
        (wear.iter().max().unwrap() - wear.iter().min().unwrap(), crossed, rig)
    };
    let (within, never, _) = run(1_000);
    let (across, crossed, mut rig) = run(12);
    assert!(!never && crossed);
    assert!(across < within && across <= 20, "{across} and {within}");
    let is_across = rig.drive.across_classes();
    rig.drive.advance(SimTime::from_ns(rig.now() + 7 * DAY), &mut rig.done);
    assert_eq!(repairs(&rig).left_out > 0, is_across, "no repairs meanwhile");
}

#[test]
fn repairs_that_wait_do_not_begin_while_wear_is_leveled_across() {
    // A round for each minute in the cells, which is 0.6 s of the run. Each round has more jobs
    // than planes; they begin one after the other on each plane.
    let mut rig = full(&[
        "background.dual_pool = { threshold = 5, cross_priority_threshold = 12 }",
        "background.inversion_repair = { interval = \"1min\", margin = 0, monitor = { max_write_share = 0.4 } }",
        "flash.time_scale = 100",
        "start.pe_spread = 0",
    ]);
    let third = u64::from(rig.drive.resolved().logical_pages / 3);
    let planes = u64::from(rig.drive.resolved().geometry().plane_count());
    let done = |rig: &Rig| repairs(rig).reassigned + repairs(rig).refreshed;
    let (mut before, mut times) = (0, 0);
    for number in 0..60_000 {
        let page = 2 * third + rng::below(rng::hash(9, number, 0), third);
        rig.offer(Op::Write, page * SPP, SPP, 2).expect("room");
        rig.wait_below(8).unwrap();
        if rig.drive.across_classes() {
            // The jobs in progress end, one on each plane.
            assert!(done(&rig) - before <= planes, "{:?} after {before}", repairs(&rig));
        } else {
            times += u32::from(done(&rig) > before);
            before = done(&rig);
        }
    }
    let repairs = repairs(&rig);
    assert!(repairs.left_out > 0 && times > 50, "{times} of {repairs:?}");
}
