//! Density evolution of bit flipping in its textbook forms: a message is one bit or nothing.
//! Gallager, "Low-Density Parity-Check Codes", 1963; Richardson, Urbanke, "The capacity of
//! low-density parity-check codes under message-passing decoding", 2001.

use crate::ensemble::{Ensemble, wins};

/// Returns whether Gallager's algorithm A decodes error rate `p`. A bit sends the value that was
/// read, unless all other checks disagree.
pub fn decodes_a(ensemble: Ensemble, p: f64) -> bool {
    hard(ensemble, p, |_| ensemble.bit - 1)
}

/// Returns whether Gallager's algorithm B decodes error rate `p`. A bit sends the value that was
/// read, unless enough checks disagree; each iteration uses the best number.
pub fn decodes_b(ensemble: Ensemble, p: f64) -> bool {
    let least = (ensemble.bit - 1) / 2 + 1;
    hard(ensemble, p, |x| {
        let left = |flips: &u32| flipped(ensemble, p, x, *flips);
        let all = least..=ensemble.bit - 1;
        all.min_by(|a, b| left(a).total_cmp(&left(b))).unwrap_or(least)
    })
}

fn hard(ensemble: Ensemble, p: f64, flips: impl Fn(f64) -> u32) -> bool {
    let mut x = p;
    wins(|| {
        x = flipped(ensemble, p, x, flips(x));
        x
    })
}

/// Returns the share of wrong messages in the iteration after share `x`. `flips` checks invert a
/// bit.
fn flipped(ensemble: Ensemble, p: f64, x: f64, flips: u32) -> f64 {
    let wrong = (1.0 - (1.0 - 2.0 * x).powi(ensemble.check as i32 - 1)) / 2.0;
    let others = ensemble.bit - 1;
    p * (1.0 - at_least(others, flips, 1.0 - wrong)) + (1.0 - p) * at_least(others, flips, wrong)
}

/// Returns the probability of at least `least` of `n` events, each of probability `p`.
fn at_least(n: u32, least: u32, p: f64) -> f64 {
    let mut choose = 1.0;
    let mut sum = 0.0;
    for k in 0..=n {
        if k >= least {
            sum += choose * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32);
        }
        choose *= f64::from(n - k) / f64::from(k + 1);
    }
    sum
}

/// Weight of the value that was read, in algorithm E: as much as `first` checks for some
/// iterations, then as much as `later`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Weight in the first iterations.
    pub first: u32,
    /// Number of the first iterations.
    pub iterations: u32,
    /// Weight in all later iterations.
    pub later: u32,
}

impl Weights {
    /// Returns the weights among which the best are searched.
    pub fn all(ensemble: Ensemble) -> impl Iterator<Item = Weights> {
        let weights = 1..ensemble.bit;
        let pairs = weights.clone().flat_map(move |a| weights.clone().map(move |b| (a, b)));
        pairs.flat_map(|(first, later)| {
            (0..=10).map(move |iterations| Weights { first, iterations, later })
        })
    }
}

/// Returns whether algorithm E decodes error rate `p`: a bit or a check may also send nothing.
pub fn decodes_e(ensemble: Ensemble, p: f64, weights: Weights) -> bool {
    let (mut messages, mut iteration) = (Messages { right: 1.0 - p, wrong: p, nothing: 0.0 }, 0);
    wins(|| {
        let is_first = iteration < weights.iterations;
        messages = messages.next(ensemble, p, if is_first { weights.first } else { weights.later });
        iteration += 1;
        messages.errors()
    })
}

/// Shares of right, wrong and empty messages.
#[derive(Clone, Copy, Debug)]
struct Messages {
    right: f64,
    wrong: f64,
    nothing: f64,
}

impl Messages {
    /// Returns the share of wrong messages plus half of the empty ones.
    fn errors(self) -> f64 {
        self.wrong + self.nothing / 2.0
    }

    fn next(self, ensemble: Ensemble, p: f64, weight: u32) -> Messages {
        let votes = self.votes(ensemble);
        let span = ensemble.bit as i64 - 1;
        let mut next = Messages { right: 0.0, wrong: 0.0, nothing: 0.0 };
        for (index, &vote) in votes.iter().enumerate() {
            for (read, part) in [(i64::from(weight), 1.0 - p), (-i64::from(weight), p)] {
                let of = match (index as i64 - span + read).signum() {
                    1 => &mut next.right,
                    -1 => &mut next.wrong,
                    _ => &mut next.nothing,
                };
                *of += vote * part;
            }
        }
        // Without this division, rounding errors would grow a hundredfold in each iteration.
        let whole = next.right + next.wrong + next.nothing;
        Messages {
            right: next.right / whole,
            wrong: next.wrong / whole,
            nothing: next.nothing / whole,
        }
    }

    /// Returns the probability of each balance of a bit's other checks, from all against it to all
    /// for it.
    fn votes(self, ensemble: Ensemble) -> Vec<f64> {
        let others = ensemble.check as i32 - 1;
        let decided = (1.0 - self.nothing).powi(others);
        let lead = (self.right - self.wrong).powi(others);
        let (right, wrong) = ((decided + lead) / 2.0, (decided - lead) / 2.0);
        let span = ensemble.bit as usize - 1;
        let mut votes = vec![0.0; 2 * span + 1];
        votes[span] = 1.0;
        for _ in 0..span {
            let at =
                |index: Option<usize>| index.and_then(|i| votes.get(i)).copied().unwrap_or(0.0);
            let vote = |i: usize| {
                let (up, down) = (at(i.checked_sub(1)), at(Some(i + 1)));
                up * right + down * wrong + at(Some(i)) * (1.0 - decided)
            };
            votes = (0..=2 * span).map(vote).collect();
        }
        votes
    }
}
