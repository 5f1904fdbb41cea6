//! Manufacturing variation of blocks: draws that depend only on the seed and the block.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::{math, rng};

use crate::refusal::{Refusal, at_least_zero, positive, within};

/// The base raw bit error rate of the blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BaseConfig {
    /// A Gaussian, cut off on both sides.
    Gaussian(GaussianConfig),
    /// A level, drawn by the shares of blocks that need it, from level 1 up. The rate is then drawn
    /// evenly from those that this level decodes and the level below does not. Shares are
    /// normalized to a sum of 1. Source: PV-read, Table I (9 12.5 21.3 19.6 17.6 12.9 7).
    Shares(Vec<f64>),
}

impl Default for BaseConfig {
    fn default() -> BaseConfig {
        BaseConfig::Gaussian(GaussianConfig::default())
    }
}

/// A Gaussian of raw bit error rates, cut off at `bound` standard deviations, at 0 and at the
/// capability of the last level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GaussianConfig {
    /// Mean raw bit error rate before the cut. Default: 3.7e-4. Source: DLV, section IV-A;
    /// PV-read's life stages .004 .006 .008 .010 .012 (ruled).
    pub mean: f64,
    /// Standard deviation before the cut. Default: 9e-5. Source: DLV, section IV-A; PV-read's life
    /// stages .005 .004 .003 .002 .001 (ruled).
    pub sigma: f64,
    /// Number of standard deviations at which the distribution is cut, 0.1 to 8. Default: 3.
    /// Source: DLV (ruled).
    pub bound: f64,
}

impl Default for GaussianConfig {
    fn default() -> GaussianConfig {
        GaussianConfig { mean: 3.7e-4, sigma: 9e-5, bound: 3.0 }
    }
}

/// Draws for one purpose. Each address has one well-mixed word, the same at every query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws {
    key: u64,
}

impl Draws {
    pub(crate) fn new(seed: u64, purpose: &[u8; 8]) -> Draws {
        Draws { key: rng::mix(seed ^ rng::mix(u64::from_be_bytes(*purpose))) }
    }

    /// Returns the word of `address`: `rng::hash`, with its first half computed once.
    pub(crate) fn word(self, address: u64) -> u64 {
        rng::mix(self.key ^ address)
    }
}

/// Binary logarithm of the intervals in a Gaussian's table.
const GRID_BITS: u32 = 10;

/// A Gaussian cut off on both sides, tabulated by probability.
#[derive(Clone, Debug)]
pub(crate) struct Gaussian {
    knots: Arc<[f64]>,
}

impl Gaussian {
    /// Returns a Gaussian of mean 0 and deviation 1, cut to `least`..`most`.
    pub(crate) fn standard(least: f64, most: f64) -> Gaussian {
        Gaussian::new(0.0, 1.0, least, most)
    }

    /// Returns a Gaussian cut to `least`..`most` deviations. `mean` and `sigma` hold before the
    /// cut.
    fn new(mean: f64, sigma: f64, least: f64, most: f64) -> Gaussian {
        let (low, high) = (math::normal_cdf(least), math::normal_cdf(most));
        let cells = 1u32 << GRID_BITS;
        let knots = (0..=cells).map(|knot| {
            let below = low + (high - low) * f64::from(knot) / f64::from(cells);
            mean + sigma * quantile(below, least, most)
        });
        Gaussian { knots: knots.collect() }
    }

    /// Returns the value for a well-mixed word. A greater word never gives a lesser value.
    #[inline]
    pub(crate) fn draw(&self, word: u64) -> f64 {
        let cell = (word >> (64 - GRID_BITS)) as usize;
        let rest = rng::unit(word << GRID_BITS);
        let (below, above) = (self.knots[cell], self.knots[cell + 1]);
        below + (above - below) * rest
    }

    fn mean(&self) -> f64 {
        let cells = self.knots.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
        cells.sum::<f64>() / (self.knots.len() - 1) as f64
    }
}

/// Returns the deviation below which a standard Gaussian has the probability `below`. The result
/// lies between `least` and `most`.
fn quantile(below: f64, mut least: f64, mut most: f64) -> f64 {
    // After 64 halvings no double lies between the two bounds.
    for _ in 0..64 {
        let middle = (least + most) / 2.0;
        if math::normal_cdf(middle) < below {
            least = middle;
        } else {
            most = middle;
        }
    }
    (least + most) / 2.0
}

/// The distribution of base rates.
#[derive(Clone, Debug)]
pub(crate) enum Base {
    Gaussian(Gaussian),
    Levels(Arc<[Interval]>),
}

/// The range of base rates of the blocks that need one level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    /// Probability of all levels below (`start`), and of this level and all below (`end`).
    start: f64,
    end: f64,
    /// Lowest and highest rate, and the growth of the rate with the probability (`slope`).
    low: f64,
    high: f64,
    slope: f64,
}

impl Base {
    pub(crate) fn resolve(
        config: &BaseConfig,
        capability: &[f64],
        key: &str,
    ) -> Result<Base, Refusal> {
        match config {
            BaseConfig::Gaussian(config) => {
                let most = capability[capability.len() - 1];
                config.resolve(most, &format!("{key}.gaussian")).map(Base::Gaussian)
            }
            BaseConfig::Shares(shares) => levels(shares, capability, &format!("{key}.shares")),
        }
    }

    /// Returns the rate for a well-mixed word. A greater word never gives a lesser rate.
    #[inline]
    pub(crate) fn draw(&self, word: u64) -> f64 {
        match self {
            Base::Gaussian(gaussian) => gaussian.draw(word),
            Base::Levels(levels) => {
                let p = rng::unit(word);
                // Counting avoids a branch that the processor must predict.
                let level = levels.iter().map(|level| usize::from(level.end <= p)).sum::<usize>();
                let level = &levels[level.min(levels.len() - 1)];
                (level.low + (p - level.start) * level.slope).min(level.high)
            }
        }
    }

    /// Returns the mean over all blocks.
    pub(crate) fn mean(&self) -> f64 {
        match self {
            Base::Gaussian(gaussian) => gaussian.mean(),
            Base::Levels(levels) => levels
                .iter()
                .map(|level| (level.end - level.start, level))
                .map(|(share, level)| share * (level.low + share * level.slope / 2.0))
                .sum(),
        }
    }
}

impl GaussianConfig {
    fn resolve(&self, most: f64, key: &str) -> Result<Gaussian, Refusal> {
        let mean = within(&format!("{key}.mean"), self.mean, 0.0, most)?;
        let sigma = at_least_zero(&format!("{key}.sigma"), self.sigma)?;
        let bound = within(&format!("{key}.bound"), self.bound, 0.1, 8.0)?;
        if sigma == 0.0 {
            return Ok(Gaussian::new(mean, 0.0, -bound, bound));
        }
        let (least, most) = ((-mean / sigma).max(-bound), ((most - mean) / sigma).min(bound));
        Ok(Gaussian::new(mean, sigma, least, most))
    }
}

/// Returns one interval of rates for each level, with the probability of its share.
fn levels(shares: &[f64], capability: &[f64], key: &str) -> Result<Base, Refusal> {
    if shares.len() != capability.len() {
        let expected = format!("{} shares, one for each level", capability.len());
        return Err(Refusal::new(key, format!("{} shares", shares.len()), expected));
    }
    for &share in shares {
        at_least_zero(key, share)?;
    }
    let whole = positive(key, shares.iter().sum())?;
    let (mut start, mut low, mut levels) = (0.0, 0.0, Vec::new());
    for (&share, &high) in shares.iter().zip(capability) {
        let share = share / whole;
        // No draw can fall into a share that is finer than its resolution.
        if share > f64::EPSILON {
            let slope = (high - low) / share;
            levels.push(Interval { start, end: start + share, low, high, slope });
            start += share;
        }
        low = high;
    }
    Ok(Base::Levels(levels.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_the_shared_hash_of_seed_purpose_and_address() {
        let purpose = u64::from_be_bytes(*b"nandbase");
        let draws = Draws::new(42, b"nandbase");
        assert!((0..1_000).all(|block| draws.word(block) == rng::hash(42, purpose, block)));
    }

    #[test]
    fn the_tabulated_gaussian_has_the_probabilities_of_the_cut_one() {
        let gaussian = Gaussian::standard(-3.0, 3.0);
        assert!(gaussian.mean().abs() < 1e-12);
        assert!((gaussian.draw(0) + 3.0).abs() < 1e-9);
        assert!((gaussian.draw(u64::MAX) - 3.0).abs() < 1e-6);
        let (least, whole) = (math::normal_cdf(-3.0), 1.0 - 2.0 * math::normal_cdf(-3.0));
        for step in 0..4_000u64 {
            let p = (step as f64 + 0.5) / 4_000.0;
            let value = gaussian.draw((p * 2f64.powi(64)) as u64);
            let met = (math::normal_cdf(value) - least) / whole;
            assert!((met - p).abs() < 1e-4, "{met} for {p}");
        }
    }

    #[test]
    fn the_mean_of_intervals_is_that_of_their_draws() {
        let shares = BaseConfig::Shares(vec![1.0, 0.0, 3.0]);
        let base = Base::resolve(&shares, &[0.004, 0.008, 0.010], "base").unwrap();
        // A quarter at 0.002, three quarters at 0.009.
        assert!((base.mean() - (0.25 * 0.002 + 0.75 * 0.009)).abs() < 1e-12);
        let steps = (0..1u64 << 12).map(|step| base.draw(step << 52));
        assert!((steps.sum::<f64>() / 4096.0 - base.mean()).abs() < 1e-5);
    }
}
