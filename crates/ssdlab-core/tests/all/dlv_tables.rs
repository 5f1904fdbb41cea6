//! The level at which reads start when they learn from other reads. Source: DLV.

use crate::dlv::{SHAPE, sets};
use crate::support::Rig;

#[test]
fn tables_learn_where_reads_start_and_last_levels_remember() {
    let aged = [
        SHAPE,
        "physics = { levels = { retention = {} } }",
        "start = { age_min = \"60d\", age_max = \"60d\", unwritten_reads = \"lazy\" }",
        "timing.read = \"90us\"",
    ];
    let retries = |read: &str, rounds: u64| {
        let mut rig = Rig::new(&sets(&[&aged, &[read]]));
        let mut before = 0;
        for _ in 0..rounds {
            before = rig.drive.flash().error_counts().0;
            (0..64).for_each(|page| {
                rig.read(page);
            });
            rig.finish();
        }
        rig.drive.flash().error_counts().0 - before
    };
    let (climb, tables) =
        ("read_start = \"fixed_level\"", "read_start = { sl_table = { relax_after = 0 } }");
    assert!(retries(climb, 1) >= 4 * 64, "60 days need five levels or so");
    assert!(retries(tables, 1) < 64, "one read teaches the others");
    assert_eq!(retries(tables, 2), 0);
    let last = "read_start = \"last_level\"";
    assert_eq!(retries(last, 1), retries(climb, 1), "each page is new");
    assert_eq!(retries(last, 2), 0);
}

#[test]
fn a_page_that_was_written_since_is_read_from_the_first_level_again() {
    let aged = [
        "physics = { levels = { retention = {} } }",
        "start = { age_min = \"60d\", age_max = \"60d\", unwritten_reads = \"lazy\" }",
        "timing.read = \"90us\"",
        "read_start = \"last_level\"",
    ];
    let mut rig = Rig::new(&aged);
    rig.read(0);
    rig.finish();
    assert!(rig.drive.flash().error_counts().0 > 0);
    let look = |rig: &mut Rig, page: u64| {
        let began = rig.now();
        let tag = rig.read(page);
        rig.finish();
        rig.end_of(tag).unwrap() - began
    };
    rig.write(0);
    rig.finish();
    rig.write(1);
    rig.finish();
    // The other page was never read before.
    assert_eq!(look(&mut rig, 0), look(&mut rig, 1));
}

#[test]
fn what_is_written_in_blocks_that_were_begun_before_the_start_is_young() {
    let aged = [
        SHAPE,
        "physics = { levels = { retention = {} } }",
        "start = { age_min = \"60d\", age_max = \"60d\", fill = 0.5 }",
    ];
    let mut rig = Rig::new(&aged);
    let error_counts = |rig: &Rig| rig.drive.flash().error_counts().0;
    let read = |rig: &mut Rig, pages: std::ops::Range<u64>| {
        let before = error_counts(rig);
        pages.for_each(|page| {
            rig.read(page);
        });
        rig.finish();
        error_counts(rig) - before
    };
    // Some pages lie in open blocks, so their data is young.
    assert!(read(&mut rig, 0..64) > 4 * 32, "60 days need five levels or so");
    (0..64).for_each(|page| {
        rig.write(page);
    });
    rig.finish();
    assert_eq!(read(&mut rig, 0..64), 0);
}
