//! What a decoder is given: threshold voltages, sensed with some references, as probabilities and
//! log-likelihood ratios.
//!
//! The states of a cell are Gaussians of equal width, evenly spaced and Gray-mapped, one page a
//! bit. Each boundary of a page between two neighbouring states has N reference voltages. A cell's
//! answer is how many references of its boundary its voltage is past: N + 1 outputs.

use serde::{Deserialize, Serialize};
use ssdlab_base::math;

/// How many bits a cell holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// Two bits, four states.
    #[default]
    Mlc,
    /// Three bits, eight states.
    Tlc,
}

impl Cell {
    /// Bits, and pages of a word line.
    pub const fn bits(self) -> usize {
        match self {
            Cell::Mlc => 2,
            Cell::Tlc => 3,
        }
    }

    /// States, from the erased one up.
    pub const fn states(self) -> usize {
        1 << self.bits()
    }

    /// The bit of a page in a state. The reflected Gray code, erased all ones: page 0 has one
    /// boundary, page 1 two, page 2 four.
    pub const fn bit(self, page: usize, state: usize) -> bool {
        let gray = state ^ (state >> 1);
        gray >> (self.bits() - 1 - page) & 1 == 0
    }
}

/// The threshold voltages of a page's cells, in units of the distance between neighbouring states.
#[derive(Clone, Debug, PartialEq)]
pub struct Voltages {
    /// How many bits a cell holds.
    pub cell: Cell,
    /// Which of its pages is read, from the lowest up.
    pub page: usize,
    /// Standard deviation of a state.
    pub sigma: f64,
    /// What the highest state has lost of its voltage with time; the others in proportion to their
    /// charge (assumed), the erased state nothing.
    pub shift: f64,
}

/// The standard normal distribution's probability between two deviations, exact in both tails.
fn between(from: f64, to: f64) -> f64 {
    if from > 0.0 {
        math::normal_cdf(-from) - math::normal_cdf(-to)
    } else {
        math::normal_cdf(to) - math::normal_cdf(from)
    }
}

impl Voltages {
    /// The mean of a state.
    pub fn mean(&self, state: usize) -> f64 {
        let charge = state as f64 / (self.cell.states() - 1) as f64;
        state as f64 - self.shift * charge
    }

    /// The states below the boundaries of the page.
    pub fn boundaries(&self) -> Vec<usize> {
        let last = self.cell.states() - 1;
        let differ = |&state: &usize| self.bit(state) != self.bit(state + 1);
        (0..last).filter(differ).collect()
    }

    fn bit(&self, state: usize) -> bool {
        self.cell.bit(self.page, state)
    }

    /// The middle of each boundary as it was programmed.
    pub fn middles(&self) -> Vec<f64> {
        self.boundaries().iter().map(|&below| below as f64 + 0.5).collect()
    }

    /// The reference voltages, ascending: `offsets` from each boundary's middle.
    pub fn references(&self, offsets: &[f64]) -> Vec<f64> {
        let middles = self.middles();
        middles.iter().flat_map(|middle| offsets.iter().map(move |by| middle + by)).collect()
    }

    /// The probability of each of the N + 1 outputs, by the bit that was written (of one, of zero).
    /// Output 0 is the surest one, output N the surest zero. `offsets` are ascending.
    pub fn outputs(&self, offsets: &[f64]) -> Outputs {
        let references = self.references(offsets);
        let n = offsets.len();
        let mut outputs = Outputs { one: vec![0.0; n + 1], zero: vec![0.0; n + 1] };
        let each = 2.0 / self.cell.states() as f64;
        for state in 0..self.cell.states() {
            let mean = self.mean(state);
            let of = if self.bit(state) { &mut outputs.one } else { &mut outputs.zero };
            let at = |index: usize| (references[index] - mean) / self.sigma;
            for interval in 0..=references.len() {
                let from = if interval == 0 { f64::NEG_INFINITY } else { at(interval - 1) };
                let to = if interval == references.len() { f64::INFINITY } else { at(interval) };
                // Boundaries lead from one to zero and back by turns.
                let (boundary, passed) = (interval / n, interval % n);
                let output = if boundary.is_multiple_of(2) { passed } else { n - passed };
                of[output] += each * between(from, to);
            }
        }
        outputs
    }

    /// The error rate of a hard decision at the middles.
    pub fn rber(&self) -> f64 {
        let outputs = self.outputs(&[0.0]);
        (outputs.one[1] + outputs.zero[0]) / 2.0
    }

    /// These voltages with the width at which a hard decision has this error rate, which must be
    /// above what the shift alone causes and below a quarter.
    pub fn with_rber(&self, rber: f64) -> Voltages {
        let (mut least, mut most) = (1e-3, 1.0);
        // Halved until it is met to 1e-14 of a distance between states.
        for _ in 0..46 {
            let sigma = (least + most) / 2.0;
            if (Voltages { sigma, ..self.clone() }).rber() < rber {
                least = sigma;
            } else {
                most = sigma;
            }
        }
        Voltages { sigma: (least + most) / 2.0, ..self.clone() }
    }
}

/// The probability of each output of a cell, by the bit that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Outputs {
    /// If a one was written.
    pub one: Vec<f64>,
    /// If a zero was written.
    pub zero: Vec<f64>,
}

impl Outputs {
    /// The mutual information of bit and output, in bits, for equally likely bits.
    pub fn information(&self) -> f64 {
        let term = |p: f64, other: f64| {
            if p > 0.0 { 0.5 * p * math::log2(2.0 * p / (p + other)) } else { 0.0 }
        };
        let pairs = self.one.iter().zip(&self.zero);
        pairs.map(|(&one, &zero)| term(one, zero) + term(zero, one)).sum()
    }

    /// The channel as decoders see it. Bits are scrambled, so that ones and zeros are equally
    /// likely, and a code that is linear may be judged by the all-zero codeword on the channel made
    /// symmetric: half the time the bit and the sign of its ratio are turned over (Hou et al.,
    /// "Capacity-approaching bandwidth-efficient coded modulation schemes", 2003).
    pub fn symmetric(&self) -> Symmetric {
        let floor = f64::MIN_POSITIVE;
        let mut points = Vec::new();
        for (&one, &zero) in self.one.iter().zip(&self.zero) {
            let ratio = math::ln(zero.max(floor) / one.max(floor));
            points.push(Point { ratio, probability: zero / 2.0 });
            points.push(Point { ratio: -ratio, probability: one / 2.0 });
        }
        Symmetric::new(points)
    }
}

/// A log-likelihood ratio, ln P(y|0)/P(y|1), and its probability if a zero was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// In nats.
    pub ratio: f64,
    /// Of all points together 1.
    pub probability: f64,
}

/// A symmetric channel with some outputs: what it answers to a zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetric {
    points: Vec<Point>,
}

/// Ratios that differ by less are one: what is left of rounding.
const ALIKE: f64 = 1e-9;

impl Symmetric {
    /// A channel of these points, in any order.
    pub fn new(mut points: Vec<Point>) -> Symmetric {
        points.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        points.dedup_by(|next, kept| {
            let alike = (next.ratio - kept.ratio).abs() < ALIKE;
            kept.probability += if alike { next.probability } else { 0.0 };
            alike
        });
        Symmetric { points }
    }

    /// The binary symmetric channel.
    pub fn binary(p: f64) -> Symmetric {
        let ratio = math::ln((1.0 - p) / p);
        let wrong = Point { ratio: -ratio, probability: p };
        Symmetric::new(vec![wrong, Point { ratio, probability: 1.0 - p }])
    }

    /// Its answers to a zero, by ascending ratio.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Mean and variance of the information that an output has on its bit, in bits: capacity and
    /// channel dispersion (Polyanskiy, Poor, Verdú, "Channel coding rate in the finite blocklength
    /// regime", 2010).
    pub fn capacity_and_dispersion(&self) -> (f64, f64) {
        let density = |ratio: f64| 1.0 - math::ln_1p(math::exp(-ratio)) / std::f64::consts::LN_2;
        let moment = |power: i32| -> f64 {
            let points = self.points.iter();
            points.map(|point| point.probability * density(point.ratio).powi(power)).sum()
        };
        let mean = moment(1);
        (mean, moment(2) - mean * mean)
    }
}
