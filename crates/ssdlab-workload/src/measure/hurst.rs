//! The Hurst exponent by wavelets.
//!
//! Requests are counted in bins, and the Haar wavelet compares neighboring bins octave by octave.
//! For a long-range dependent process, the mean energy of octave j grows as 2^(j (2 H - 1)) (Abry
//! and Veitch, "Wavelet analysis of long-range-dependent traffic", IEEE Trans. Inf. Theory 44(1),
//! 1998). The exponent is the slope of a weighted line through the logarithms of the energies.
//!
//! Energies of storage requests may bend from a line: by a rhythm, a pause, or batches. So all
//! octaves get a further variance in common, as in a random-effects regression. It widens the
//! interval, and the finest octaves do not decide alone. Variances from the fourth moments of the
//! octaves are no help: a burst raises all octaves that hold it, so its slope hardly changes.
//!
//! Source: DerSimonian and Laird, "Meta-analysis in clinical trials", Controlled Clinical Trials
//! 7(3), 1986.

use std::f64::consts::LN_2;

use serde::Serialize;
use ssdlab_base::{Nanos, math};

/// The Hurst exponent of the requests over time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Hurst {
    /// The exponent: 0.5 for independent arrivals, toward 1 for bursts at all scales. Above 1 if
    /// the load drifts over the whole span.
    pub exponent: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// Length of the shortest bins compared, in seconds: the shortest with one request on average
    /// that are no shorter than the steps of the time stamps.
    pub from_s: f64,
    /// Length of the longest bins compared, in seconds: at least 16 pairs of them fit into the
    /// span.
    pub to_s: f64,
    /// Number of octaves fitted.
    pub octaves: usize,
}

/// Length of the finest bins, as a power of two of nanoseconds: 65.5 µs.
const FINEST: u32 = 16;
/// The most octaves that a time in nanoseconds has.
const OCTAVES: usize = (u64::BITS - FINEST) as usize;
/// The least number of pairs of bins in an octave.
const MIN_PAIRS: u64 = 16;
/// The least number of octaves for a line with an interval.
const MIN_OCTAVES: usize = 4;
/// The quantile of the normal distribution for an interval of 95 %.
const NORMAL_95: f64 = 1.959_963_984_540_054;

/// The energy of the requests, octave by octave. Empty bins cost nothing: only a bin with a request
/// after it is closed, with all longer bins that end there.
pub(super) struct Octaves {
    /// The open bin of the finest length, and the requests in it.
    open: u64,
    count: u64,
    /// Requests in all complete bins of the finest length.
    complete: u64,
    octaves: [Octave; OCTAVES],
}

/// Pairs of neighboring bins of one length.
#[derive(Clone, Copy, Default)]
struct Octave {
    /// The requests in the two bins of the open pair, as far as they are complete.
    pair: [u64; 2],
    /// The sum over complete pairs of the squared difference between their bins.
    squares: f64,
}

impl Octaves {
    pub(super) fn new() -> Octaves {
        Octaves { open: 0, count: 0, complete: 0, octaves: [Octave::default(); OCTAVES] }
    }

    /// Counts a request at this time since the first one.
    pub(super) fn take(&mut self, since: Nanos) {
        let bin = since.as_ns() >> FINEST;
        if bin != self.open {
            self.close(bin);
        }
        self.count += 1;
    }

    /// Closes all bins that end before bin `next` begins.
    fn close(&mut self, next: u64) {
        let (mut old, mut new) = (self.open, next);
        let mut count = std::mem::take(&mut self.count);
        self.complete += count;
        for octave in &mut self.octaves {
            octave.pair[(old & 1) as usize] = count;
            (old, new) = (old >> 1, new >> 1);
            if old == new {
                break;
            }
            let [left, right] = std::mem::take(&mut octave.pair);
            let difference = left.abs_diff(right) as f64;
            octave.squares += difference * difference;
            count = left + right;
        }
        self.open = next;
    }

    /// Returns the exponent; `None` if too few octaves can be fitted. `step` is the step of the
    /// time stamps in nanoseconds: shorter bins would measure their rounding.
    pub(super) fn finish(&self, step: u64) -> Option<Hurst> {
        let bins = self.open;
        let has_request = |place: usize| u128::from(self.complete) << place >= u128::from(bins);
        let shows_steps = |place: usize| 1u64 << (FINEST as usize + place) >= step;
        let first = (0..OCTAVES).find(|place| has_request(*place) && shows_steps(*place))?;
        let last = (first..OCTAVES).take_while(|place| bins >> (place + 1) >= MIN_PAIRS).last()?;
        let points: Option<Vec<Point>> = (first..=last)
            .map(|place| self.octaves[place].point(place, bins >> (place + 1)))
            .collect();
        let points = points.filter(|points| points.len() >= MIN_OCTAVES)?;
        let [slope, deviation] = line(&points);
        let bin_s = |place: usize| (1u64 << (FINEST as usize + place)) as f64 / 1e9;
        let exponent = 0.5 * (slope + 1.0);
        let half = 0.5 * NORMAL_95 * deviation;
        Some(Hurst {
            exponent,
            low: exponent - half,
            high: exponent + half,
            from_s: bin_s(first),
            to_s: bin_s(last),
            octaves: points.len(),
        })
    }
}

/// The energy of an octave.
struct Point {
    octave: f64,
    /// Logarithm of the mean energy, to base two.
    energy: f64,
    /// The variance of that logarithm.
    variance: f64,
}

impl Octave {
    /// Returns the energy of this octave over so many pairs; `None` if nothing varies.
    fn point(&self, place: usize, pairs: u64) -> Option<Point> {
        let mean = self.squares / pairs as f64;
        if mean == 0.0 {
            return None;
        }
        // The relative variance of the mean energy of Gaussian differences. Its logarithm is too
        // low by half of that.
        let relative = 2.0 / pairs as f64;
        // The wavelet of an octave is scaled to the norm 1.
        let octave = place as f64;
        Some(Point {
            octave,
            energy: math::log2(mean) - octave + 0.5 * relative / LN_2,
            variance: relative / (LN_2 * LN_2),
        })
    }
}

/// Sums over weighted points: weights, weighted octaves, squares of octaves, energies, products.
fn sums(points: &[Point], weight: impl Fn(&Point) -> f64) -> [f64; 5] {
    points.iter().fold([0.0; 5], |sums, point| {
        let (weight, x, y) = (weight(point), point.octave, point.energy);
        let terms = [1.0, x, x * x, y, x * y];
        std::array::from_fn(|place| sums[place] + weight * terms[place])
    })
}

/// Returns the slope of the line through the points and its standard deviation.
fn line(points: &[Point]) -> [f64; 2] {
    let exact = sums(points, |point| 1.0 / point.variance);
    let [slope, level] = fitted(exact);
    let misfit: f64 = points
        .iter()
        .map(|point| {
            let off = point.energy - level - slope * point.octave;
            off * off / point.variance
        })
        .sum();
    // The moment estimate of the variance that all octaves have in common.
    let [w, wx, wxx, ..] = exact;
    let [v, vx, vxx, ..] = sums(points, |point| 1.0 / (point.variance * point.variance));
    let used = (wxx * v - 2.0 * wx * vx + w * vxx) / (w * wxx - wx * wx);
    let common = ((misfit - (points.len() - 2) as f64) / (w - used)).max(0.0);
    let all = sums(points, |point| 1.0 / (point.variance + common));
    let [slope, _] = fitted(all);
    let [w, wx, wxx, ..] = all;
    [slope, (w / (w * wxx - wx * wx)).sqrt()]
}

/// Returns slope and level of the line with these sums.
fn fitted([w, wx, wxx, wy, wxy]: [f64; 5]) -> [f64; 2] {
    let determinant = w * wxx - wx * wx;
    [(w * wxy - wx * wy) / determinant, (wxx * wy - wx * wxy) / determinant]
}
