//! The input of a decoder, against closed forms.

use ssdlab_base::math;
use ssdlab_ldpc::channel::{Cell, Symmetric, Voltages};
use ssdlab_ldpc::derive::Read;
use ssdlab_ldpc::placement::offsets;

fn tail(z: f64) -> f64 {
    math::normal_cdf(-z)
}

#[test]
fn neighbors_differ_in_one_bit_and_each_page_has_its_boundaries() {
    for (cell, boundaries) in [(Cell::Mlc, &[1, 2][..]), (Cell::Tlc, &[1, 2, 4])] {
        for state in 1..cell.states() {
            let differ = |&page: &usize| cell.bit(page, state - 1) != cell.bit(page, state);
            assert_eq!((0..cell.bits()).filter(differ).count(), 1);
        }
        for (page, &count) in boundaries.iter().enumerate() {
            assert!(cell.bit(page, 0), "an erased cell holds ones");
            assert_eq!(Read::new(cell, page, 0.0).voltages(0.01).boundaries().len(), count);
        }
    }
}

#[test]
fn hard_decisions_err_as_gaussians_do() {
    let sigma = 0.2;
    let of = |page| Voltages { cell: Cell::Mlc, page, sigma, shift: 0.0 };
    // The lower page: two states lie half a distance from its boundary, two lie one and a half.
    let lower = (tail(0.5 / sigma) + tail(1.5 / sigma)) / 2.0;
    assert!((of(0).rber() - lower).abs() < 1e-15);
    // The upper page: a voltage past both boundaries reads right again.
    let outer = tail(0.5 / sigma) - tail(2.5 / sigma);
    let inner = tail(0.5 / sigma) + tail(1.5 / sigma);
    assert!((of(1).rber() - (outer + inner) / 2.0).abs() < 1e-15);
    for rber in [1e-4, 4.4e-3, 2e-2] {
        assert!((of(1).with_rber(rber).rber() / rber - 1.0).abs() < 1e-12);
    }
}

#[test]
fn soft_outputs_are_intervals_of_gaussians() {
    let voltages = Voltages { cell: Cell::Mlc, page: 0, sigma: 0.25, shift: 0.0 };
    let outputs = voltages.outputs(&[-0.1, 0.1]);
    // Ones are states 0 and 1. They lie one and a half and half a distance below the boundary.
    let one = [
        1.0 - (tail(1.4 / 0.25) + tail(0.4 / 0.25)) / 2.0,
        (tail(1.4 / 0.25) - tail(1.6 / 0.25) + tail(0.4 / 0.25) - tail(0.6 / 0.25)) / 2.0,
        (tail(1.6 / 0.25) + tail(0.6 / 0.25)) / 2.0,
    ];
    for (index, expected) in one.into_iter().enumerate() {
        assert!((outputs.one[index] - expected).abs() < 1e-15, "{index}");
        assert!((outputs.zero[2 - index] - expected).abs() < 1e-15, "{index}");
    }
}

#[test]
fn one_level_is_the_binary_symmetric_channel() {
    let p: f64 = 0.0088;
    let (capacity, dispersion) = Symmetric::binary(p).capacity_and_dispersion();
    let log = math::log2((1.0 - p) / p);
    let entropy = -p * math::log2(p) - (1.0 - p) * math::log2(1.0 - p);
    assert!((capacity - (1.0 - entropy)).abs() < 1e-12);
    assert!((dispersion - p * (1.0 - p) * log * log).abs() < 1e-12);
    for page in [0, 1] {
        let read = Read::new(Cell::Mlc, page, 0.0).channel(1, p);
        let found = read.capacity_and_dispersion();
        assert!((found.0 - capacity).abs() < 1e-6 && (found.1 - dispersion).abs() < 1e-5);
    }
}

#[test]
fn probabilities_sum_to_one_and_ratios_are_symmetric() {
    for levels in 1..=7 {
        for shift in [0.0, 0.2] {
            let channel = Read::new(Cell::Tlc, 2, shift).channel(levels, 0.01);
            let whole: f64 = channel.points().iter().map(|point| point.probability).sum();
            assert!((whole - 1.0).abs() < 1e-12);
            for point in channel.points() {
                // The opposite ratio has e^−ratio times the probability.
                let other = channel.points().iter().find(|p| (p.ratio + point.ratio).abs() < 1e-8);
                let mirrored = point.probability * math::exp(-point.ratio);
                assert!((other.unwrap().probability / mirrored - 1.0).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn references_are_symmetric_and_at_the_peak() {
    let voltages = Read::new(Cell::Mlc, 1, 0.0).voltages(0.0132);
    let mut last = 0.0;
    for levels in 1..=7 {
        let found = offsets(&voltages, levels);
        assert_eq!(found.len(), levels);
        assert!(found.is_sorted());
        let pairs = found.iter().zip(found.iter().rev());
        assert!(pairs.into_iter().all(|(a, b)| a == &-b));
        let best = voltages.outputs(&found).information();
        assert!(best > last, "another reference says more");
        last = best;
        for at in 0..levels / 2 {
            for by in [-0.01, 0.01] {
                let mut moved = found.clone();
                moved[at] += by;
                moved[levels - 1 - at] -= by;
                assert!(voltages.outputs(&moved).information() < best);
            }
        }
    }
    assert_eq!(offsets(&voltages, 1), [0.0]);
}

#[test]
fn states_that_lost_charge_are_sensed_with_unmoved_references() {
    let read = Read::new(Cell::Mlc, 1, 0.2);
    let voltages = read.voltages(0.01);
    assert_eq!(voltages.mean(0), 0.0);
    assert!((voltages.mean(3) - 2.8).abs() < 1e-12);
    let outputs = voltages.outputs(&[0.0]);
    // The last boundary of the upper page errs to one side, so that ones and zeros differ.
    assert!((outputs.one[1] / outputs.zero[0] - 1.0).abs() > 0.05);
    assert!(((outputs.one[1] + outputs.zero[0]) / 2.0 / 0.01 - 1.0).abs() < 1e-9);
}
