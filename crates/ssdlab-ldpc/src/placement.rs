//! The placement of references that maximizes the information of an output on its bit.

use crate::channel::{Outputs, Voltages};

/// Steps of a golden-section search, which leave 1e-5 of the interval. Information is flat at its
/// peak, so that these steps meet it to 1e-9 bits.
const STEPS: u32 = 24;
/// Most rounds over all offsets. A round that gains less than `GAINED` bits is the last.
const ROUNDS: u32 = 40;
const GAINED: f64 = 1e-9;

/// Returns the offsets of `levels` references from a boundary's middle, ascending. They maximize
/// the mutual information of bit and output. They are symmetric, since the states are. With an odd
/// number, one is in the middle.
pub fn offsets(voltages: &Voltages, levels: usize) -> Vec<f64> {
    // A controller places references as it writes data, so the search uses voltages before any
    // shift.
    let fresh = Voltages { shift: 0.0, ..voltages.clone() };
    let pairs = levels / 2;
    // The search stays between the means of the two states.
    let most = 0.5;
    let mut half: Vec<f64> = (1..=pairs).map(|k| most * k as f64 / (pairs + 1) as f64).collect();
    let mut last = 0.0;
    for _ in 0..ROUNDS {
        for at in 0..pairs {
            let least = if at == 0 { 0.0 } else { half[at - 1] };
            let upper = half.get(at + 1).copied().unwrap_or(most);
            half[at] = golden(least, upper, |offset| {
                let mut tried = half.clone();
                tried[at] = offset;
                fresh.outputs(&mirrored(&tried, levels)).information()
            });
        }
        let now = fresh.outputs(&mirrored(&half, levels)).information();
        if now - last < GAINED {
            break;
        }
        last = now;
    }
    mirrored(&half, levels)
}

/// Returns the outputs of `levels` references at the best offsets.
pub fn sensed(voltages: &Voltages, levels: usize) -> Outputs {
    voltages.outputs(&offsets(voltages, levels))
}

fn mirrored(half: &[f64], levels: usize) -> Vec<f64> {
    let below = half.iter().rev().map(|offset| -offset);
    let middle = (levels % 2 == 1).then_some(0.0);
    below.chain(middle).chain(half.iter().copied()).collect()
}

/// Returns the argument at which a function with one peak is highest.
fn golden(mut least: f64, mut most: f64, of: impl Fn(f64) -> f64) -> f64 {
    let part = (5f64.sqrt() - 1.0) / 2.0;
    let (mut a, mut b) = (most - part * (most - least), least + part * (most - least));
    let (mut at_a, mut at_b) = (of(a), of(b));
    for _ in 0..STEPS {
        if at_a > at_b {
            (most, b, at_b) = (b, a, at_a);
            a = most - part * (most - least);
            at_a = of(a);
        } else {
            (least, a, at_a) = (a, b, at_b);
            b = least + part * (most - least);
            at_b = of(b);
        }
    }
    (least + most) / 2.0
}
