//! The table that the simulator reads, derived again, and the ledger that holds it.

use std::sync::atomic::AtomicBool;

use ssdlab_ldpc::channel::Cell;
use ssdlab_ldpc::derive::{Read, derive};
use ssdlab_ldpc::ensemble::{FLASH, threshold};
use ssdlab_ldpc::finite::{FAILURE, shifted};
use ssdlab_ldpc::ledger::{Ledger, Order};
use ssdlab_ldpc::min_sum;
use ssdlab_ldpc::monte_carlo::Hooks;
use ssdlab_nand::ldpc::{BCH_CAPABILITY, LDPC_CAPABILITY, LDPC_DERIVED};

fn ledger(stopped: bool) -> Option<Ledger> {
    let order =
        Order { cell: Cell::Mlc, shift: 0.0, frames: None, seconds: None, seed: 1, jobs: 2 };
    let stop = AtomicBool::new(stopped);
    derive(&order, &Hooks { stop: &stop, note: &|_, _| () })
}

#[test]
fn the_simulators_table_is_what_is_derived() {
    let ledger = ledger(false).unwrap();
    let corrected: Vec<f64> = ledger.levels.iter().map(|level| level.min_sum.corrected).collect();
    println!("{corrected:?}");
    for (stored, found) in LDPC_DERIVED.iter().zip(&corrected) {
        assert!((stored - found).abs() < 1e-5, "{stored} for {found}");
    }
    assert!(corrected.is_sorted_by(|a, b| a < b), "another level decodes more");
    for level in &ledger.levels {
        assert!(level.min_sum.threshold < level.sum_product.threshold);
        assert!(level.sum_product.threshold < level.limit.threshold);
        assert!(level.min_sum.corrected < level.min_sum.threshold);
        assert_eq!(level.offsets.len(), level.levels);
    }
    let published = |at: usize| ledger.levels[at - 1].published;
    assert_eq!((published(1), published(7)), (Some(LDPC_CAPABILITY[0]), Some(LDPC_CAPABILITY[6])));
    assert_eq!(ledger.bch.published, BCH_CAPABILITY);
    assert_eq!(ledger.levels.iter().map(|l| l.transfer_bits).max(), Some(3));
    // The page shown decodes least.
    let shown = &ledger.pages[ledger.page].corrected;
    let other = &ledger.pages[0].corrected;
    assert!(shown.iter().zip(other).all(|(shown, other)| *shown <= other * (1.0 + 1e-4)));
    assert!(ledger.hard.is_sorted_by_key(|hard| hard.decoded.corrected));
    assert!(ledger.hurried.is_sorted_by_key(|hurried| hurried.hard));
    assert_eq!(ledger.voltages.references.len(), 14);
    assert!(ledger.measured.is_empty() && !ledger.partial);
}

#[test]
fn a_stop_before_the_table_leaves_nothing() {
    assert_eq!(ledger(true), None);
}

#[test]
fn cells_of_three_bits_decode_the_same_where_every_state_has_a_boundary() {
    let of = |cell, page| Read::new(cell, page, 0.0).min_sum(3).corrected;
    assert!((of(Cell::Tlc, 2) / of(Cell::Mlc, 1) - 1.0).abs() < 1e-3);
    assert!(of(Cell::Tlc, 0) > 1.02 * of(Cell::Tlc, 2), "far states help to tell");
}

#[test]
fn seven_references_evenly_spaced_decode_little_less_unless_they_crowd() {
    // The figures of docs/concepts/ldpc.md on placement.
    let read = Read::new(Cell::Mlc, 1, 0.0);
    let decoded = |spacing: f64| {
        let offsets: Vec<f64> = (-3..=3).map(|k| f64::from(k) * spacing).collect();
        let channel = |rber: f64| read.voltages(rber).outputs(&offsets).symmetric();
        let threshold = threshold(0.01, 0.025, |rber| min_sum::decodes(FLASH, &channel(rber)));
        shifted(threshold, FAILURE, channel)
    };
    let best = LDPC_DERIVED[6];
    for (spacing, rate) in [(0.04, 0.0136), (0.06, 0.0156), (0.1, 0.0164), (0.16, 0.0155)] {
        let found = decoded(spacing);
        assert!((found - rate).abs() < 1e-4 && found < best, "{spacing}: {found}");
    }
}
