//! Each part of the block manager on a drive without the other parts. Source: ReadGuard.

use ssdlab_base::rng;
use ssdlab_core::Pace;
use ssdlab_core::account::{Cause, OpKind, Part};
use ssdlab_core::{BlockState, Drive, Op};
use ssdlab_nand::{BlockId, Lpn};

use crate::support::{Repairs, Rig, SPP};

/// Four planes of 60 blocks that differ, most by their initial quality.
const DRIVE: [&str; 5] = [
    "geometry = { channels = 2, planes = 2, blocks = 60, pages = 12, cell = \"tlc\" }",
    "physics.retries = { fresh_errors = 38.0, wear = { errors = 74.0, worn_exponent = 1.2 }, \
     retention = { errors = 17.0, worn_errors = 10.0 }, spread = { quality = 0.06, wear = 0.05 } }",
    "start = { pe_cycles = 2000, pe_spread = 15, dwell = \"1d\" }",
    "host.queues = 3",
    "ftl.overprovisioning = 0.4",
];
const FULL: &str = "start = { fill = 1, age_max = \"90d\" }";
const POOLS: &str = "metadata.block_class.predicted = {}";
const DAY: u64 = 86_400_000_000_000;

/// Returns a drive in which each of three tenants owns a third, with these settings on top.
fn rig(sets: &[&str]) -> Rig {
    Rig::of_thirds(&[&DRIVE, sets].concat())
}

/// Writes random pages of these queues.
fn churn(rig: &mut Rig, queues: &[u8], writes: u64) {
    let third = u64::from(rig.drive.resolved().logical_pages / 3);
    for number in 0..writes {
        let queue = queues[(number % queues.len() as u64) as usize];
        let page = u64::from(queue) * third + rng::below(rng::hash(7, number, 0), third);
        rig.offer(Op::Write, page * SPP, SPP, queue).expect("room");
        rig.wait_below(8).unwrap();
    }
    rig.finish();
}

/// Returns the mean initial error rate of the blocks with data, from 0 for the best blocks to 1 for
/// the mean of all blocks.
fn worse_than_best(drive: &Drive) -> f64 {
    let geometry = drive.resolved().geometry();
    let mut rates = drive.flash().cells.base_rates(geometry);
    let blocks = (0..geometry.block_count()).map(BlockId);
    let used = blocks.filter(|&block| drive.ftl().blocks.written(block) > 0);
    let used: Vec<f64> = used.map(|block| rates[block.index()]).collect();
    rates.sort_by(f64::total_cmp);
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    let best = mean(&rates[..used.len()]);
    (mean(&used) - best) / (mean(&rates) - best)
}

/// Returns the pages that lie in a block of another queue.
fn strangers(drive: &Drive) -> usize {
    let third = drive.resolved().logical_pages / 3;
    let class = |page: u32| {
        let ppn = drive.ftl().map.get(Lpn(page))?;
        Some(drive.ftl().blocks.class(drive.resolved().geometry().block_of(ppn)).0)
    };
    (0..3 * third)
        .filter(|&page| class(page).is_some_and(|own| u32::from(own) != page / third))
        .count()
}

fn spread(drive: &Drive) -> u32 {
    let wear: Vec<u32> = drive.ftl().blocks.usable_erases().collect();
    wear.iter().max().unwrap() - wear.iter().min().unwrap()
}

#[test]
fn the_estimates_alone_have_the_best_blocks_written_first() {
    let run = |sets: &[&str]| {
        let mut rig = rig(sets);
        churn(&mut rig, &[0, 1, 2], 400);
        worse_than_best(&rig.drive)
    };
    let estimates = run(&[
        "metadata.retry_estimate = \"oracle\"",
        "ftl.free_block_policy = \"fewest_retries\"",
    ]);
    let plain = run(&[]);
    assert!(estimates < 0.1 && plain > 0.8, "{estimates} and {plain}");
}

#[test]
fn subpools_alone_separate_queues_and_plain_collection_does_not_mix_them() {
    let run = |sets: &[&str]| {
        let mut rig = rig(&[&[FULL][..], sets].concat());
        churn(&mut rig, &[0, 1, 2], 3_000);
        assert!(rig.ops(OpKind::Erase, Cause::Gc) > 50);
        strangers(&rig.drive)
    };
    assert_eq!(run(&[POOLS, "placement = [{ priority = {} }]"]), 0);
    assert!(run(&[POOLS]) > 100, "nobody asks for a queue's own blocks");
}

#[test]
fn collection_by_subpool_alone_frees_blocks_for_the_one_that_writes() {
    let collect = "background = { subpool_gc = true, gc = { threshold = 0, hard_threshold = 0 } }";
    let mut rig = rig(&[FULL, POOLS, "placement = [{ priority = {} }]", collect]);
    churn(&mut rig, &[2], 3_000);
    assert!(rig.ops(OpKind::Erase, Cause::Gc) > 50);
    assert_eq!(strangers(&rig.drive), 0);
}

#[test]
fn the_quality_monitor_alone_repairs() {
    let mut rig = rig(&[
        FULL,
        POOLS,
        "metadata.retry_estimate = \"oracle\"",
        "background.inversion_repair = { interval = \"7d\", margin = 0, monitor = false }",
    ]);
    rig.until(7 * DAY).finish();
    let repairs = Repairs::of(&rig);
    assert!(repairs.rounds == 1 && repairs.inversions > 20, "{repairs:?}");
    assert_eq!(rig.ops(OpKind::Program, Cause::Gc), 0);
    assert!(rig.ops(OpKind::Erase, Cause::Refresh) > 0);
    // Like all counts, these count since the last reset; the margins stay.
    rig.drive.reset_stats();
    let since = Repairs::of(&rig);
    let Repairs { margins, extra_share, .. } = repairs;
    // The monitor's limit counts from the beginning.
    assert!(extra_share > 0.9, "nobody else moved anything");
    assert_eq!(since, Repairs { margins, extra_share, ..Repairs::default() });
}

#[test]
fn without_the_host_a_round_waits_for_what_the_last_one_wanted() {
    // Some 40 blocks move, which takes longer than the 60 ms to the next round.
    let mut rig = rig(&[
        FULL,
        POOLS,
        "metadata.retry_estimate = \"oracle\"",
        "background.inversion_repair = { interval = \"1min\", margin = 0, monitor = false }",
        "flash.time_scale = 1000",
        "timing.program = [\"3ms\", \"3ms\", \"3ms\"]",
    ]);
    let rounds = |rig: &Rig| Repairs::of(rig).rounds;
    rig.until(60_000_000).finish();
    assert_eq!(rounds(&rig), 1);
    let ended = rig.now();
    assert!(ended > 4 * 60_000_000, "{ended}");
    // A round that became due meanwhile runs when time advances; a missed round does not run again.
    rig.until(ended + 1).finish();
    assert_eq!(rounds(&rig), 2);
}

#[test]
fn wear_is_leveled_by_two_pools_alone() {
    let run = |level: &str| {
        let mut rig = rig(&[FULL, "start.pe_spread = 0", level]);
        churn(&mut rig, &[2], 30_000);
        (spread(&rig.drive), rig.ops(OpKind::Erase, Cause::Wl))
    };
    let (plain, none) = run("background.static_wear_leveling = false");
    let (leveled, moved) =
        run("background.dual_pool = { threshold = 5, cross_priority_threshold = 70 }");
    assert!(none == 0 && moved > 0 && 2 * leveled < plain, "{leveled} and {plain}");
}

/// Returns the class of a page's block.
fn class(drive: &Drive, page: u64) -> u8 {
    let ppn = drive.ftl().map.get(Lpn(page as u32)).expect("a page that was written");
    drive.ftl().blocks.class(drive.resolved().geometry().block_of(ppn)).0
}

/// Placement by read hotness with blocks by priority. Source: PV-read, ReadGuard.
#[test]
fn what_is_read_often_moves_to_the_next_higher_priority_until_it_is_written() {
    for order in ["strict", "relaxed"] {
        let order = format!("ftl.page_order = \"{order}\"");
        let half = "start = { fill = 0.5 }";
        let place = "placement = [{ priority = {} }]";
        let mut rig = rig(&[half, POOLS, place, "background.read_hot_migration = true", &order]);
        let page = u64::from(rig.drive.resolved().logical_pages / 3) * 2;
        rig.offer(Op::Write, page * SPP, SPP, 2).expect("room");
        rig.finish();
        let mut classes = vec![class(&rig.drive, page)];
        for _ in 0..9 {
            rig.offer(Op::Read, page * SPP, SPP, 2).expect("room");
            rig.finish();
            classes.push(class(&rig.drive, page));
        }
        assert_eq!(classes, [2, 2, 2, 1, 1, 1, 0, 0, 0, 0], "{order}");
        assert_eq!(rig.drive.stats().migration.hot, 2);
        rig.offer(Op::Write, page * SPP, SPP, 2).expect("room");
        rig.finish();
        assert_eq!(class(&rig.drive, page), 2, "{order}");
    }
}

#[test]
fn a_read_that_starts_too_far_needs_as_many_attempts_more_and_at_most_as_many_as_from_the_first() {
    let aged = ["start = { fill = 1, pe_cycles = 3000, age_min = \"60d\", age_max = \"60d\" }"];
    let retries = |start: u64, beyond: &str| {
        let read = format!("read_start = {{ fixed_level = {{ level = {start} }} }}");
        let beyond = format!("physics.retries = {{ beyond = \"{beyond}\" }}");
        let mut rig = rig(&[&aged[..], &[&read, &beyond]].concat());
        rig.read(0);
        rig.finish();
        rig.drive.flash().error_counts().0
    };
    let needed = retries(1, "fails");
    assert!((3..20).contains(&needed), "{needed}");
    assert_eq!([0, 2].map(|far| retries(1 + needed + far, "fails")), [0, 2]);
    assert_eq!(retries(26, "fails"), needed.min(25 - needed));
    assert_eq!(retries(26, "decodes"), 0);
}

#[test]
fn writes_wait_for_an_operation_of_a_repair_not_for_all_of_a_block() {
    let repaired = [
        "metadata.block_class.predicted = {}",
        "metadata.retry_estimate = \"oracle\"",
        "start = { fill = 1, age_max = \"90d\" }",
        "background.inversion_repair = { interval = \"1min\", margin = 0, monitor = false }",
        "flash.time_scale = 50",
        "geometry.pages = 96",
        "background.gc.threshold = 0.02",
        "scheduler = \"strict_priority\"",
    ];
    let mut rig = rig(&repaired);
    rig.drive.start_audit(Pace::Every(50_000));
    let third = u64::from(rig.drive.resolved().logical_pages / 3);
    for number in 0..30_000 {
        let queue = (number % 3) as u8;
        let page = u64::from(queue) * third + rng::below(rng::hash(7, number, 0), third);
        rig.offer(Op::Write, page * SPP, SPP, queue).expect("room");
        rig.until(rig.now() + 2_000_000);
    }
    rig.finish();
    let programs = [Cause::Refresh, Cause::Migration].map(|cause| rig.ops(OpKind::Program, cause));
    let moved = u128::from(programs.iter().sum::<u64>());
    let parts = [Part::DieRefresh, Part::DieMigration].map(|part| part as usize);
    let writes = rig.drive.stats().latencies.iter().map(|of| &of[Op::Write as usize].blame_ns);
    let waited: u128 = writes.map(|blame| parts.map(|part| blame[part]).iter().sum::<u128>()).sum();
    assert!(moved > 100_000 && waited < moved * 15_000, "{waited} ns for {moved} pages");
}

#[test]
fn a_drive_that_collects_for_subpools_alone_starts_as_it_stays() {
    let alone = ["background.gc = false", "background.subpool_gc = {}", POOLS];
    let steady = [&alone[..], &["start = { fill = 1, steady_state = true }"]].concat();
    let mut rig = rig(&steady);
    let free = |drive: &Drive| drive.ftl().alloc.subpools().expect("subpools").iter().sum::<u32>();
    let valid = |drive: &Drive| {
        let blocks = (0..drive.resolved().geometry().block_count()).map(BlockId);
        let blocks = blocks.filter(|&block| drive.ftl().blocks.state(block) == BlockState::Closed);
        let mut valid: Vec<f64> = blocks.map(|b| drive.ftl().blocks.valid(b).into()).collect();
        valid.sort_by(f64::total_cmp);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        (mean(&valid), mean(&valid[..valid.len() / 4]))
    };
    let began = (free(&rig.drive), valid(&rig.drive));
    let pages = u64::from(rig.drive.resolved().logical_pages);
    churn(&mut rig, &[0, 1, 2], 3 * pages);
    rig.drive.audit().expect("tables that agree");
    let later = (free(&rig.drive), valid(&rig.drive));
    assert!(began.0.abs_diff(later.0) <= 4, "free blocks: {began:?}, later {later:?}");
    let near = |a: f64, b: f64| (a - b).abs() < 0.08 * b;
    assert!(near(began.1.0, later.1.0), "valid pages of a block: {began:?}, later {later:?}");
    assert!(near(began.1.1, later.1.1), "in the emptiest quarter: {began:?}, later {later:?}");
}
