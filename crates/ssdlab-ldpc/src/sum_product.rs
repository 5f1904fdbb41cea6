//! Density evolution of the sum-product decoder, on quantized ratios: Chung, Forney, Richardson,
//! Urbanke, "On the design of low-density parity-check codes within 0.0045 dB of the Shannon
//! limit", 2001. The quantized decoder is a real decoder, so its threshold is a lower bound.

use ssdlab_base::math;

use crate::channel::Symmetric;
use crate::ensemble::{Ensemble, wins};
use crate::fourier::Fourier;

/// Largest magnitude of a ratio, in steps.
const LAST: usize = 383;
/// Nats in a step. Ratios go to 24, where a bit is wrong with probability 4e-11.
const STEP: f64 = 1.0 / 16.0;

/// Probabilities of ratios, by magnitude: of both signs together (`sum`), and of the right sign
/// less the wrong sign (`lead`).
#[derive(Clone, Debug, PartialEq)]
struct Density {
    sum: Vec<f64>,
    lead: Vec<f64>,
}

/// Magnitudes with one result: `a` with each from `from` to below `to` gives `result`.
#[derive(Clone, Copy, Debug)]
struct Range {
    a: usize,
    from: usize,
    to: usize,
    result: usize,
}

/// The sum-product decoder's operations on ratios, as tables.
#[derive(Debug)]
pub struct SumProduct {
    ranges: Vec<Range>,
    fourier: Fourier,
}

impl Default for SumProduct {
    fn default() -> SumProduct {
        SumProduct::new()
    }
}

impl SumProduct {
    /// Builds the tables.
    pub fn new() -> SumProduct {
        let mut ranges: Vec<Range> = Vec::new();
        for a in 0..=LAST {
            for b in a..=LAST {
                let result = both(a, b);
                match ranges.last_mut() {
                    Some(range) if (range.a, range.result) == (a, result) => range.to = b + 1,
                    _ => ranges.push(Range { a, from: b, to: b + 1, result }),
                }
            }
        }
        // The transform adds four ratios, each of either sign.
        SumProduct { ranges, fourier: Fourier::new((8 * LAST).next_power_of_two()) }
    }

    /// Returns whether long codes of the ensemble decode the channel.
    pub fn decodes(&self, ensemble: Ensemble, channel: &Symmetric) -> bool {
        let sent = Density::of(channel);
        let sent_turned = self.turned(&sent);
        let mut bits = sent;
        wins(|| {
            let checks = self.power(&bits, ensemble.check - 1);
            bits = self.added(&sent_turned, &checks, ensemble.bit - 1);
            bits.wrong()
        })
    }

    /// Returns the density of a check's message after `count` other bits.
    fn power(&self, bits: &Density, count: u32) -> Density {
        let mut square = bits.clone();
        let mut product: Option<Density> = None;
        let mut rest = count;
        while rest > 0 {
            if rest % 2 == 1 {
                product = Some(product.map_or(square.clone(), |p| self.checked(&p, &square)));
            }
            rest /= 2;
            if rest > 0 {
                square = self.checked(&square, &square);
            }
        }
        product.unwrap_or(square)
    }

    /// Returns the density of the message of a check on two inputs.
    fn checked(&self, f: &Density, g: &Density) -> Density {
        let lines = |f: &[f64], g: &[f64]| {
            let (of_f, of_g) = (running(f), running(g));
            let mut result = vec![0.0; LAST + 1];
            for range in &self.ranges {
                let Range { a, from, to, result: at } = *range;
                // The pair of `a` with itself counts once.
                let after = from.max(a + 1);
                let after = after.min(to);
                result[at] += f[a] * (of_g[to] - of_g[from]) + g[a] * (of_f[to] - of_f[after]);
            }
            result
        };
        Density { sum: lines(&f.sum, &g.sum), lead: lines(&f.lead, &g.lead) }
    }

    /// Returns the density of a bit's message after the channel and `count` checks.
    fn added(&self, sent: &[(f64, f64)], checks: &Density, count: u32) -> Density {
        let mut values = self.turned(checks);
        for (value, &channel) in values.iter_mut().zip(sent) {
            let one = *value;
            let mut product = channel;
            for _ in 0..count {
                product = times(product, one);
            }
            *value = product;
        }
        self.fourier.transform(&mut values, true);
        let size = values.len();
        let mut sums = vec![0.0; 2 * LAST + 1];
        for (at, value) in values.iter().enumerate() {
            let steps = if at < size / 2 { at as i64 } else { at as i64 - size as i64 };
            let clipped = steps.clamp(-(LAST as i64), LAST as i64);
            // Rounding can leave values below 0.
            sums[(clipped + LAST as i64) as usize] += (value.0 / size as f64).max(0.0);
        }
        Density::from_signed(&sums)
    }

    fn turned(&self, density: &Density) -> Vec<(f64, f64)> {
        let size = (8 * LAST).next_power_of_two();
        let mut values = vec![(0.0, 0.0); size];
        for (at, (sum, lead)) in density.sum.iter().zip(&density.lead).enumerate() {
            values[at].0 += (sum + lead) / 2.0;
            values[(size - at) % size].0 += (sum - lead) / 2.0;
        }
        self.fourier.transform(&mut values, false);
        values
    }
}

fn times(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// Returns the running sums of the values, from none to all.
fn running(values: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let mut sums = vec![0.0];
    sums.extend(values.iter().map(|value| {
        sum += value;
        sum
    }));
    sums
}

/// Returns the magnitude that a check makes of two magnitudes, in steps: 2 atanh(tanh(a/2)
/// tanh(b/2)).
fn both(a: usize, b: usize) -> usize {
    let (x, y) = (a.min(b) as f64 * STEP, a.max(b) as f64 * STEP);
    let more = math::ln_1p(math::exp(-(x + y))) - math::ln_1p(math::exp(-(y - x)));
    ((x + more) / STEP).round().max(0.0) as usize
}

impl Density {
    /// Returns the density of the channel. A ratio between two steps is divided between them.
    fn of(channel: &Symmetric) -> Density {
        let mut signed = vec![0.0; 2 * LAST + 1];
        for point in channel.points() {
            let at = (point.ratio / STEP).clamp(-(LAST as f64), LAST as f64) + LAST as f64;
            let (below, part) = (at.floor() as usize, at - at.floor());
            signed[below] += point.probability * (1.0 - part);
            signed[(below + 1).min(2 * LAST)] += point.probability * part;
        }
        Density::from_signed(&signed)
    }

    fn from_signed(signed: &[f64]) -> Density {
        let (wrong, right) = (|m: usize| signed[LAST - m], |m: usize| signed[LAST + m]);
        let sum = |m: usize| if m == 0 { signed[LAST] } else { right(m) + wrong(m) };
        let lead = |m: usize| if m == 0 { 0.0 } else { right(m) - wrong(m) };
        let whole: f64 = signed.iter().sum();
        Density {
            sum: (0..=LAST).map(|m| sum(m) / whole).collect(),
            lead: (0..=LAST).map(|m| lead(m) / whole).collect(),
        }
    }

    /// Returns the share of bits that are wrong, plus half of those with ratio 0.
    fn wrong(&self) -> f64 {
        let pairs = self.sum.iter().zip(&self.lead);
        pairs.map(|(sum, lead)| (sum - lead) / 2.0).sum()
    }
}
