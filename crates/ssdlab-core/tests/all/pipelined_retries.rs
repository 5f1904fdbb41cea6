//! Retries sensed during the transfer and decoding of the attempt before; reads that start where
//! the last read of their layer ended.

use ssdlab_core::Op;
use ssdlab_core::UnitId;

use crate::support::{BUS, PROGRAM, READ, Rig, SPP, written};

const US: u64 = 1000;
/// Time to abort a sensing that no read uses.
const RESET: u64 = 5 * US;
const AHEAD: &str = "flash.retries = \"pipelined\"";
const FIRST: &str = "flash.retries.pipelined.first = true";

/// Settings of blocks that do not differ, with `fresh` errors; each level decodes a hundred errors
/// more.
fn errors(fresh: u32, retries: u8) -> String {
    format!(
        "geometry.cell = \"slc\"\nphysics.retries = {{ retries = {retries}, correctable = 100.0, \
         errors_per_retry = 100.0, fresh_errors = {fresh}.0, spread = {{ quality = 0, die = 0 }}, \
         pages = {{ spread = 0, scatter = 0 }} }}"
    )
}

fn rig(fresh: u32, decode: u64, more: &[&str]) -> (Rig, u64) {
    let (errors, decode) = (errors(fresh, 3), format!("timing.decode = \"{decode}us\""));
    written(&[&[errors.as_str(), &decode], more].concat(), 3)
}

/// Returns the ends of a read and of the next read.
fn ends(fresh: u32, decode: u64, more: &[&str]) -> [u64; 2] {
    let (mut rig, zero) = rig(fresh, decode, more);
    let tags = [rig.read(0), rig.read(1)];
    rig.finish();
    tags.map(|tag| rig.end_of(tag).unwrap() - zero)
}

#[test]
fn each_further_retry_costs_what_is_longer_its_sensing_or_its_way_out() {
    for decode in [10, 45, 46, 100] {
        let out = BUS + decode * US;
        let longer = READ.max(out);
        // All four attempts fail. No attempt follows the last, so no sensing is useless.
        let serial = 4 * (READ + out);
        assert_eq!(ends(900, decode, &[]), [serial, 2 * serial]);
        let ahead = 2 * READ + 2 * out + 2 * longer;
        assert_eq!(ends(900, decode, &[AHEAD]), [ahead, 2 * ahead], "{decode}");
        let first = READ + out + 3 * longer;
        assert_eq!(ends(900, decode, &[FIRST]), [first, 2 * first], "{decode}");
    }
}

#[test]
fn an_unneeded_sensing_occupies_the_unit_until_its_reset() {
    let one = READ + BUS + 10 * US;
    // The second attempt decodes while the unit senses the third.
    let two = 2 * one;
    assert_eq!(ends(150, 10, &[]), [two, 2 * two]);
    assert_eq!(ends(150, 10, &[AHEAD]), [two, two + RESET + two]);
    let free = "flash.retries.pipelined.reset_time = \"0us\"";
    assert_eq!(ends(150, 10, &[AHEAD, free]), [two, 2 * two]);
    // A sensing that has ended is given up at once.
    let slow = 2 * (READ + BUS + 100 * US);
    assert_eq!(ends(150, 100, &[AHEAD]), [slow, 2 * slow]);
    // Reads that decode at once sense nothing ahead unless `first` is set.
    assert_eq!(ends(50, 10, &[AHEAD]), [one, 2 * one]);
    assert_eq!(ends(50, 10, &[FIRST]), [one, one + RESET + one]);
    let unused_senses = |fresh: u32, more: &str| {
        let (mut rig, _) = rig(fresh, 10, &[AHEAD, more]);
        rig.read(0);
        rig.finish();
        assert_eq!(
            rig.drive.flash().counts.unused_senses() > 0,
            rig.now() > rig.end_of(3).unwrap()
        );
        rig.drive.flash().counts.unused_senses()
    };
    assert_eq!(
        [
            unused_senses(900, ""),
            unused_senses(150, ""),
            unused_senses(50, ""),
            unused_senses(50, FIRST)
        ],
        [0, 1, 0, 1]
    );
}

#[test]
fn the_gate_of_a_reset_is_tight() {
    let gate = 2 * (READ + BUS + 10 * US) + RESET;
    for (after, waits) in [(gate - 1, 1), (gate, 0)] {
        let (mut rig, zero) = rig(150, 10, &[AHEAD]);
        rig.read(0);
        let write = rig.until(zero + after).write(2);
        rig.finish();
        assert_eq!(rig.end_of(write).unwrap() - zero, after + waits + BUS + PROGRAM);
    }
}

#[test]
fn the_last_retry_or_every_one_is_sensed_shorter_by_a_share() {
    let last = "flash.retries.pipelined.shorter = 0.2";
    let every = "flash.retries.pipelined = { shorter = 0.2, shorter_on = \"every\" }";
    let (out, shorter) = (BUS + 10 * US, READ * 4 / 5);
    assert_eq!(ends(350, 10, &[last])[0], READ + out + 2 * READ + shorter + out);
    assert_eq!(ends(350, 10, &[every])[0], READ + out + 3 * shorter + out);
    // No attempt decodes.
    assert_eq!(ends(900, 10, &[last])[0], READ + out + 3 * READ + out);
    for set in [last, every] {
        assert_eq!(ends(150, 10, &[set])[0], READ + out + shorter + out);
        assert_eq!(ends(50, 10, &[set])[0], READ + out);
    }
}

#[test]
fn planes_that_read_together_sense_ahead_together() {
    let sets = [AHEAD, "geometry.planes = 2\nflash.array = \"die\""];
    let (mut rig, zero) = rig(900, 10, &sets);
    let both = rig.pages(Op::Read, 0, 2);
    rig.finish();
    let out = BUS + 20 * US;
    assert_eq!(rig.end_of(both).unwrap() - zero, 2 * READ + 2 * out + 2 * READ);
}

#[test]
fn a_read_that_lets_another_pass_senses_once_more_what_it_sensed_ahead() {
    let sets = [AHEAD, "scheduler = \"strict_priority\"\nhost.queues = 2\nsuspend = \"esra\""];
    let (mut rig, zero) = rig(900, 10, &sets);
    let out = BUS + 10 * US;
    let low = rig.offer(Op::Read, 0, SPP, 1).unwrap();
    // During its second attempt.
    let high = rig.until(zero + READ + out + 1).read(1);
    let mut levels = Vec::new();
    loop {
        let flash = rig.drive.flash();
        levels
            .extend(flash.held(UnitId(0)).map(|id| (flash.txns[id].lpn.0, flash.txns[id].level.0)));
        let Some(next) = rig.drive.next_event() else { break };
        rig.drive.advance_once(next, &mut rig.done);
    }
    levels.dedup();
    let high_levels = [(1, 0), (1, 1), (1, 2), (1, 3)];
    assert_eq!(levels, [&[(0, 1)], &high_levels[..], &[(0, 2), (0, 3)]].concat());
    let all = 2 * READ + 2 * out + 2 * READ;
    let begun = 2 * (READ + out) + RESET;
    assert_eq!(rig.end_of(high).unwrap() - zero, begun + all);
    assert_eq!(rig.end_of(low).unwrap() - zero, begun + all + READ + READ + out);
    assert_eq!(rig.drive.flash().counts.unused_senses(), 1);
}

#[test]
fn a_read_starts_where_its_layer_was_read_last_until_the_block_is_erased() {
    let layers = "read_start = { last_vref = { layers = 2 } }";
    let (mut rig, zero) =
        rig(150, 10, &["geometry.blocks = 8\nftl.overprovisioning = 0.5", layers]);
    let one = READ + BUS + 10 * US;
    for page in 3..8 {
        rig.write(page);
    }
    rig.finish();
    assert!(rig.now() > zero);
    let took = |rig: &mut Rig, page: u64| {
        let arrival = rig.now();
        let read = rig.read(page);
        rig.finish();
        (rig.end_of(read).unwrap() - arrival) / one
    };
    // Each layer has four pages.
    assert_eq!([0, 1, 3, 4, 7, 0].map(|page| took(&mut rig, page)), [2, 1, 1, 2, 1, 1]);
    // All pages are rewritten to erased blocks: the first read of each layer fails once more.
    for round in 0..6 {
        for page in 0..32 {
            rig.write(page);
        }
        rig.finish();
        let pages: Vec<u64> = (0..32).map(|page| took(&mut rig, page)).collect();
        let twice = pages.iter().filter(|attempts| **attempts == 2).count() as u64;
        assert_eq!(pages.iter().sum::<u64>(), 32 + twice);
        assert!((8..=9).contains(&twice), "{round}: {pages:?}");
    }
    let bytes = rig.drive.metadata_bytes();
    assert!(bytes.contains(&("layer_vrefs", 4)), "{bytes:?}");
}
