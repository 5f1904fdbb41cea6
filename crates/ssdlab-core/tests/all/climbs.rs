//! Reads whose levels climb by more than one at a time.

use ssdlab_core::policy::event::EventMask;

use crate::support::Rig;

const DRIVE: [&str; 3] = [
    "geometry = { blocks = 64, pages = 16 }",
    "start = { fill = 0.9, pe_cycles = 3000, age_min = \"1h\", age_max = \"90d\" }",
    "ftl.overprovisioning = 0.3",
];
const LEVELS: &str = "physics = { levels = { retention = {} } }";
const RETRIES: &str = "physics.retries = {}";

/// Returns the failed attempts of a read of each of some pages, from this level by this step.
fn failed_attempts(sets: &[&str], level: u32, step: u32) -> Vec<u32> {
    let read = format!("read_start.fixed_level = {{ level = {level}, step = {step} }}");
    let mut rig = Rig::new(&[&DRIVE, sets, &[&read]].concat());
    rig.drive.record_events(EventMask::PAGE_READ);
    for page in 0..100 {
        rig.read(page * 5);
        rig.finish();
    }
    assert_eq!(rig.drive.stats().uncorrectable, 0, "{read}");
    let events = rig.drive.take_events();
    let failed = events.iter().map(|event| {
        let rest = event.split_once("failed: ").expect("the outcome of a read").1;
        rest.split(',').next().and_then(|number| number.parse().ok()).expect("a number")
    });
    failed.collect()
}

#[test]
fn a_read_that_climbs_by_more_needs_as_many_fewer_attempts() {
    let ways: [&[&str]; 3] =
        [&[], &["flash.hold_until_decoded = false"], &["flash.cache_read = true"]];
    for (physics, fails_beyond) in [(LEVELS, false), (RETRIES, true)] {
        for way in ways {
            let sets = [&[physics], way].concat();
            let needed = failed_attempts(&sets, 1, 1);
            assert!(needed.iter().any(|&needed| needed > 2), "{needed:?}");
            for (level, step) in [(1, 2), (1, 3), (5, 1), (5, 2), (5, 3)] {
                let expected = |&needed: &u32| {
                    let start = level - 1;
                    let from = match needed < start {
                        true if fails_beyond => needed.saturating_sub(start - needed),
                        true => needed,
                        false => start,
                    };
                    (needed - from).div_ceil(step)
                };
                let expected: Vec<u32> = needed.iter().map(expected).collect();
                let found = failed_attempts(&sets, level, step);
                assert_eq!(found, expected, "{sets:?}, from {level} by {step}: {needed:?}");
            }
        }
    }
}
