//! A drive with lookahead behaves exactly like a drive without it.

use proptest::prelude::*;
use ssdlab_core::Op;

use crate::support::{Rig, Step, step};

const SHAPE: &str = "
    geometry = { channels = 2, chips = 2, planes = 2, blocks = 20, cell = \"tlc\", pages = 12 }
    scheduler = \"strict_priority\"
    start = { fill = 0.9, pe_cycles = 2000, age_max = \"90d\" }";
/// Shared blocks, and blocks assigned by priority that repairs move in rounds.
const SHARED: &str = "ftl.overprovisioning = 0.5\nbackground.gc.threshold = 0.5\nhost.queues = 2";
const SUBPOOLS: &str = "
    metadata = { block_class = { predicted = {} }, retry_estimate = \"oracle\" }
    placement = [{ priority = {} }]
    ftl = { free_block_policy = \"fewest_retries\", overprovisioning = 0.5 }
    background = { subpool_gc = true, gc = { threshold = 0, hard_threshold = 0 }, inversion_repair = { interval = \"1min\" } }
    flash.time_scale = 10000
    host.queues = 3";

/// The ways in which a unit holds a page that it reads.
const READS: &[&str] =
    &["hold_until_decoded = true", "hold_until_decoded = false", "cache_read = true"];

/// Plays a stream of requests with at most `depth` in progress, and stops `after` nanoseconds after
/// the last one, with requests still in progress.
fn play(rig: &mut Rig, steps: &[Step], depth: u32, after: u64) -> Result<(), String> {
    for step in steps {
        rig.until(rig.now() + step.gap / 8);
        // The remaining events of this time come after the next request.
        rig.wait_below(depth)?;
        let total = rig.drive.resolved().sectors();
        let lba = (step.place * total) >> 16;
        let sectors = step.sectors.min(total - lba);
        let op = if step.op == Op::Write { Op::Write } else { Op::Read };
        rig.offer(op, lba, sectors, step.queue).map_err(|refused| format!("{refused:?}"))?;
    }
    rig.until(rig.now() + after);
    Ok(())
}

/// Returns the whole observable state of a drive.
fn tell(rig: &Rig) -> String {
    let (drive, now) = (&rig.drive, rig.drive.now());
    let flash = drive.flash();
    let work = (
        flash.counts.ops(),
        flash.error_counts(),
        flash.counts.suspends(),
        flash.busy_counted(now),
    );
    format!("{now:?} {:?} {work:?} {:?}", drive.stats(), drive.ftl().blocks)
}

proptest! {
    #[test]
    fn lookahead_changes_no_completion(
        array in prop::sample::select(vec!["plane", "die", "chip"]),
        blocks in prop::sample::select(vec![SHARED, SUBPOOLS]),
        (reads, preempt) in prop::sample::select(vec![
            (READS, "\"none\""),
            (READS, "{ esra = { reads = false } }\nflash.program_loops = 4"),
            (&READS[..1], "{ esra = {} }\nflash.program_loops = 4"),
        ])
        .prop_flat_map(|(reads, preempt)| (prop::sample::select(reads), Just(preempt))),
        decode in prop::sample::select(vec![0, 5, 10]),
        retries in prop::sample::select(vec![1, 3, 25]),
        depth in prop::sample::select(vec![3u32, 16, 64]),
        before in prop::collection::vec(step(), 0..60),
        steps in prop::collection::vec(step(), 1..300),
        after in 0..200_000u64,
    ) {
        let sets = [
            SHAPE.into(),
            blocks.into(),
            format!("flash = {{ array = \"{array}\", {reads} }}"),
            format!("suspend = {preempt}\ntiming.decode = \"{decode}us\""),
            format!("physics.retries = {{ retries = {retries}, fresh_errors = 200.0 }}"),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let mut plain = Rig::unwatched(&sets, 1).unwrap();
        // As after preconditioning: earlier requests have ended and no longer count.
        play(&mut plain, &before, depth, 0).map_err(TestCaseError::fail)?;
        plain.finish();
        plain.drive.reset_stats();
        let mut fast = plain.clone();
        fast.drive.enable_lookahead();
        for rig in [&mut plain, &mut fast] {
            play(rig, &steps, depth, after).map_err(TestCaseError::fail)?;
        }
        prop_assert_eq!(tell(&plain), tell(&fast));
        for rig in [&mut plain, &mut fast] {
            rig.drive.reset_stats();
            rig.finish();
        }
        prop_assert_eq!(tell(&plain), tell(&fast));
        prop_assert_eq!(&plain.done, &fast.done);
    }
}

#[test]
fn requests_at_time_zero_revoke_no_attempt() {
    // No event has happened yet, so no failed attempt can be taken back.
    let sets = [
        SHAPE,
        SHARED,
        "flash = { array = \"die\", hold_until_decoded = true, program_loops = 4 }",
        "suspend = { esra = {} }\ntiming.decode = \"10us\"",
        "physics.retries = { retries = 25, fresh_errors = 200.0 }",
    ];
    let mut plain = Rig::unwatched(&sets, 1).unwrap();
    let mut fast = plain.clone();
    fast.drive.enable_lookahead();
    for rig in [&mut plain, &mut fast] {
        for number in 0..16u64 {
            rig.offer(Op::Read, number * 8, 8, (number % 2) as u8).expect("room");
        }
        rig.finish();
    }
    assert_eq!(tell(&plain), tell(&fast));
}
