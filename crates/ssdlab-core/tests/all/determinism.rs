//! Equal inputs give bit-identical results.

use proptest::prelude::*;

use crate::support::{Rig, Step, play, step};

/// Every use of random draws: victims and evictions, blocks that differ, and pages written before
/// the start.
const SETS: [&str; 7] = [
    "geometry = { channels = 2, planes = 2, blocks = 20 }",
    "host.queues = 2",
    "background.gc = { victim = \"d_choices\", d = 3, threshold = 0.3 }",
    "physics = { retries = {} }",
    "start = { pe_cycles = 2000, pe_spread = 15, age_max = \"90d\", unwritten_reads = \"lazy\" }",
    "buffer.size = \"64KiB\"",
    "eviction = \"pt_lru\"",
];

fn played(rig: &mut Rig, steps: &[Step]) -> u64 {
    play(rig, steps, 16).unwrap();
    rig.drive.stats().digest
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 16, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn the_same_requests_end_at_the_same_times(
        steps in prop::collection::vec(step(), 50..500),
        more in prop::collection::vec(step(), 200..300),
    ) {
        let rig = || Rig::unwatched(&SETS, 5).unwrap();
        let (mut one, mut two) = (rig(), rig());
        prop_assert_eq!(played(&mut one, &steps), played(&mut two, &steps));
        prop_assert_eq!(&one.done, &two.done);
        // A copy continues like its original: both have the same random state.
        let mut copy = one.clone();
        prop_assert_eq!(played(&mut one, &more), played(&mut copy, &more));
        prop_assert_eq!(played(&mut two, &more), copy.drive.stats().digest);
    }

    #[test]
    fn being_watched_changes_nothing(steps in prop::collection::vec(step(), 50..300)) {
        let mut alone = Rig::unwatched(&SETS, 5).unwrap();
        let mut watched = Rig::seeded(&SETS, 5).unwrap();
        prop_assert_eq!(played(&mut alone, &steps), played(&mut watched, &steps));
    }

    #[test]
    fn how_far_time_is_advanced_at_once_does_not_matter(
        steps in prop::collection::vec(step(), 50..300),
        stops in prop::collection::vec(0..400_000u64, 1..50),
    ) {
        let mut straight = Rig::unwatched(&SETS, 5).unwrap();
        let mut halting = straight.clone();
        let mut at = 0;
        for (step, stop) in steps.iter().zip(stops.iter().cycle()) {
            at += step.gap;
            straight.until(at);
            while halting.now() + stop < at && *stop > 0 {
                let now = halting.now();
                halting.until(now + stop);
            }
            halting.until(at);
            for rig in [&mut straight, &mut halting] {
                rig.pages(ssdlab_core::Op::Write, step.place % 200, 1);
            }
        }
        straight.finish();
        halting.finish();
        prop_assert_eq!(straight.done, halting.done);
    }
}

#[test]
fn another_seed_is_another_drive() {
    let steps: Vec<Step> = (0..400)
        .map(|n| Step {
            gap: 10_000,
            op: if n % 3 == 0 { ssdlab_core::Op::Read } else { ssdlab_core::Op::Write },
            place: n * 9973 % 65536,
            sectors: 8,
            whole: true,
            queue: 0,
        })
        .collect();
    let digest = |seed| played(&mut Rig::unwatched(&SETS, seed).unwrap(), &steps);
    assert_ne!(digest(1), digest(2));
    assert_eq!(digest(1), digest(1));
}
