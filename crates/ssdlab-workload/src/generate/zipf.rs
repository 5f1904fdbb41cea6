//! Zipf's law: a few addresses get many requests, and most get very few.

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::rng::{Stream, below, stream, unit};
use ssdlab_base::{Fault, math, quantity::finite};

use super::arrivals::Bursts;
use super::scatter::Scatter;
use super::{Addresses, Room};

/// A few addresses very often, most hardly ever. The footprint is cut into granules, each the least
/// common multiple of the request sizes, which are scattered over it. The k-th most popular granule
/// is drawn with a probability proportional to 1/k^theta. A request goes to any place within its
/// granule that is aligned to its own size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ZipfConfig {
    /// The exponent of Zipf's law, 0 (all equally popular) to 10. Default: 0.99.
    /// Source: YCSB (Cooper et al., SoCC '10).
    #[serde(deserialize_with = "finite")]
    pub theta: f64,
}

impl Default for ZipfConfig {
    fn default() -> ZipfConfig {
        ZipfConfig { theta: 0.99 }
    }
}

impl ZipfConfig {
    pub(super) fn places(&self, room: &Room<'_>) -> Result<Places, Fault> {
        if !(0.0..=10.0).contains(&self.theta) {
            let fault = Fault::new("", "workload.kind.zipf.theta");
            return Err(fault.got(self.theta).expected("from 0 to 10"));
        }
        let (granule, count) = room.granules()?;
        Ok(Places {
            granule,
            ranks: Ranks::new(count, self.theta),
            scatter: Scatter::new(count, room.seed),
            stream: stream(room.places, "places"),
        })
    }

    pub(super) fn bursts(&self) -> Option<Bursts> {
        None
    }
}

pub(super) struct Places {
    /// Sectors in a granule.
    granule: u64,
    ranks: Ranks,
    scatter: Scatter,
    stream: Stream,
}

impl Addresses for Places {
    fn next(&mut self, sectors: u32) -> u64 {
        let length = u64::from(sectors);
        let granule = self.scatter.place(self.ranks.draw(&mut self.stream) - 1);
        let within = match self.granule / length {
            1 => 0,
            slots => below(self.stream.next_u64(), slots),
        };
        granule * self.granule + within * length
    }
}

/// Draws ranks 1 to `count` with probability proportional to 1/rank^theta, in constant time.
///
/// Rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from
/// monotone discrete distributions", ACM TOMACS 6(3), 1996).
#[derive(Debug)]
pub(crate) struct Ranks {
    count: f64,
    theta: f64,
    /// The integral of the density up to half a rank past the last rank.
    area_last: f64,
    /// The integral up to half a rank past the first, minus the weight of the first.
    area_first: f64,
    /// A rank at most this far above the drawn point is accepted without the exact test.
    near: f64,
}

impl Ranks {
    pub(crate) fn new(count: u64, theta: f64) -> Ranks {
        let mut ranks =
            Ranks { count: count as f64, theta, area_last: 0.0, area_first: 0.0, near: 0.0 };
        ranks.area_last = ranks.area(ranks.count + 0.5);
        ranks.area_first = ranks.area(1.5) - 1.0;
        ranks.near = 2.0 - ranks.point(ranks.area(2.5) - ranks.weight(2.0));
        ranks
    }

    pub(crate) fn draw(&self, stream: &mut Stream) -> u64 {
        loop {
            let part = unit(stream.next_u64());
            let area = self.area_last + part * (self.area_first - self.area_last);
            let point = self.point(area);
            let rank = (point + 0.5).floor().clamp(1.0, self.count);
            if rank - point <= self.near || area >= self.area(rank + 0.5) - self.weight(rank) {
                return rank as u64;
            }
        }
    }

    /// Returns x^-theta.
    fn weight(&self, x: f64) -> f64 {
        math::exp(-self.theta * math::ln(x))
    }

    /// Returns the integral of the weight from 1 to x: (x^(1-theta) - 1) / (1 - theta), or ln x.
    fn area(&self, x: f64) -> f64 {
        let log = math::ln(x);
        let power = (1.0 - self.theta) * log;
        // Near theta = 1, the quotient loses its digits, so use the series there.
        if power.abs() > 1e-8 {
            math::exp_m1(power) / power * log
        } else {
            (1.0 + power * 0.5) * log
        }
    }

    /// Returns the x that has this area: the inverse of `area`.
    fn point(&self, area: f64) -> f64 {
        let part = (area * (1.0 - self.theta)).max(-1.0);
        let log = if part.abs() > 1e-8 {
            math::ln_1p(part) / part * area
        } else {
            (1.0 - part * 0.5) * area
        };
        math::exp(log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares drawn frequencies with the formula.
    #[test]
    fn ranks_are_drawn_as_the_formula_says() {
        const COUNT: u64 = 1000;
        const DRAWS: u64 = 1_000_000;
        for (seed, theta) in [(1, 0.0), (2, 0.5), (3, 0.99), (4, 1.0), (5, 1.2), (6, 3.0)] {
            let ranks = Ranks::new(COUNT, theta);
            let mut drawn = vec![0u64; COUNT as usize + 1];
            let mut stream = stream(seed, "test");
            (0..DRAWS).for_each(|_| drawn[ranks.draw(&mut stream) as usize] += 1);
            let weight = |rank: u64| math::pow(rank as f64, -theta);
            let all: f64 = (1..=COUNT).map(weight).sum();
            for rank in 1..=COUNT {
                let share = weight(rank) / all;
                let expected = share * DRAWS as f64;
                let deviation = (expected * (1.0 - share)).sqrt();
                let off = (drawn[rank as usize] as f64 - expected).abs();
                // Of 6,000 normal draws, one exceeds 5 deviations about once in 290 runs; the seeds
                // are fixed. The 1 allows for the Poisson tail of rare ranks.
                assert!(off <= 5.0 * deviation + 1.0, "theta {theta}, rank {rank}: off by {off}");
            }
        }
    }

    #[test]
    fn a_single_rank_is_always_drawn() {
        let mut stream = stream(1, "test");
        for theta in [0.0, 0.99, 1.0, 10.0] {
            let ranks = Ranks::new(1, theta);
            assert!((0..1000).all(|_| ranks.draw(&mut stream) == 1), "theta {theta}");
        }
    }
}
