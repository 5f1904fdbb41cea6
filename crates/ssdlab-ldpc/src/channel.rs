//! The input of a decoder: threshold voltages, sensed with some references, as probabilities and
//! log-likelihood ratios.
//!
//! The states of a cell are evenly spaced Gaussians of equal width. They are Gray-mapped, one page
//! for each bit. Each boundary of a page between two neighboring states has N reference voltages.
//! The output of a cell is the number of references of its boundary that its voltage exceeds. There
//! are therefore N + 1 outputs.

use serde::{Deserialize, Serialize};
use ssdlab_base::math;

/// The number of bits that a cell stores.
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
    /// Returns the bits of a cell, which are also the pages of a word line.
    pub const fn bits(self) -> usize {
        match self {
            Cell::Mlc => 2,
            Cell::Tlc => 3,
        }
    }

    /// Returns the number of states.
    pub const fn states(self) -> usize {
        1 << self.bits()
    }

    /// Returns the bit of a page in a state, by the reflected Gray code. The erased state holds
    /// ones. Page 0 has one boundary, page 1 two, page 2 four.
    pub const fn bit(self, page: usize, state: usize) -> bool {
        let gray = state ^ (state >> 1);
        gray >> (self.bits() - 1 - page) & 1 == 0
    }
}

/// The threshold voltages of a page's cells, in units of the distance between neighboring states.
#[derive(Clone, Debug, PartialEq)]
pub struct Voltages {
    /// The type of the cells.
    pub cell: Cell,
    /// Number of the page that is read, from the lowest up.
    pub page: usize,
    /// Standard deviation of a state.
    pub sigma: f64,
    /// Voltage that the highest state has lost with time. The other states lose in proportion to
    /// their charge (assumed); the erased state loses nothing.
    pub shift: f64,
}

/// Returns the standard normal probability between two deviations, exact in both tails.
fn between(from: f64, to: f64) -> f64 {
    if from > 0.0 {
        math::normal_cdf(-from) - math::normal_cdf(-to)
    } else {
        math::normal_cdf(to) - math::normal_cdf(from)
    }
}

impl Voltages {
    /// Returns the mean voltage of a state.
    pub fn mean(&self, state: usize) -> f64 {
        let charge = state as f64 / (self.cell.states() - 1) as f64;
        state as f64 - self.shift * charge
    }

    /// Returns the state below each boundary of the page.
    pub fn boundaries(&self) -> Vec<usize> {
        let last = self.cell.states() - 1;
        let differ = |&state: &usize| self.bit(state) != self.bit(state + 1);
        (0..last).filter(differ).collect()
    }

    fn bit(&self, state: usize) -> bool {
        self.cell.bit(self.page, state)
    }

    /// Returns the middle of each boundary, before any loss of charge.
    pub(crate) fn middles(&self) -> Vec<f64> {
        self.boundaries().iter().map(|&below| below as f64 + 0.5).collect()
    }

    /// Returns the reference voltages, ascending. `offsets` are distances from each boundary's
    /// middle.
    pub fn references(&self, offsets: &[f64]) -> Vec<f64> {
        let middles = self.middles();
        middles.iter().flat_map(|middle| offsets.iter().map(move |by| middle + by)).collect()
    }

    /// Returns the probability of each of the N + 1 outputs, if a one or a zero was written. Output
    /// 0 is the surest one, output N the surest zero. `offsets` must ascend.
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
                // Boundaries lead from one to zero and from zero to one alternately.
                let (boundary, passed) = (interval / n, interval % n);
                let output = if boundary.is_multiple_of(2) { passed } else { n - passed };
                of[output] += each * between(from, to);
            }
        }
        outputs
    }

    /// Returns the error rate of a hard decision at the middles.
    pub fn rber(&self) -> f64 {
        let outputs = self.outputs(&[0.0]);
        (outputs.one[1] + outputs.zero[0]) / 2.0
    }

    /// Returns these voltages with the width at which a hard decision has the error rate `rber`. It
    /// must be above the rate that the shift alone causes, and below a quarter.
    pub fn with_rber(&self, rber: f64) -> Voltages {
        let (mut least, mut most) = (1e-3, 1.0);
        // These halvings meet the width to 1e-14 of the distance between states.
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
    /// Returns the mutual information of bit and output in bits, for equally likely bits.
    pub fn information(&self) -> f64 {
        let term = |p: f64, other: f64| {
            if p > 0.0 { 0.5 * p * math::log2(2.0 * p / (p + other)) } else { 0.0 }
        };
        let pairs = self.one.iter().zip(&self.zero);
        pairs.map(|(&one, &zero)| term(one, zero) + term(zero, one)).sum()
    }

    /// Returns the channel as decoders see it. Bits are scrambled, so that ones and zeros are
    /// equally likely. The all-zero codeword then represents every codeword of a linear code, on
    /// the channel made symmetric. That channel inverts the bit and the sign of its ratio half the
    /// time (Hou et al., "Capacity-approaching bandwidth-efficient coded modulation schemes",
    /// 2003).
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
    /// The ratio in nats.
    pub ratio: f64,
    /// The probability; that of all points together is 1.
    pub probability: f64,
}

/// A symmetric channel with finitely many outputs, described by its outputs for a zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetric {
    points: Vec<Point>,
}

/// Ratios that differ by less than this differ only by rounding.
const ALIKE: f64 = 1e-9;

impl Symmetric {
    /// Returns a channel of these points, in any order.
    pub fn new(mut points: Vec<Point>) -> Symmetric {
        points.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        points.dedup_by(|next, point| {
            let alike = (next.ratio - point.ratio).abs() < ALIKE;
            point.probability += if alike { next.probability } else { 0.0 };
            alike
        });
        Symmetric { points }
    }

    /// Returns the binary symmetric channel with error rate `p`.
    pub fn binary(p: f64) -> Symmetric {
        let ratio = math::ln((1.0 - p) / p);
        let wrong = Point { ratio: -ratio, probability: p };
        Symmetric::new(vec![wrong, Point { ratio, probability: 1.0 - p }])
    }

    /// Returns the outputs for a zero, by ascending ratio.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Returns the mean and the variance of the information that an output has on its bit, in bits.
    /// They are the capacity and the channel dispersion (Polyanskiy, Poor, Verdú, "Channel coding
    /// rate in the finite blocklength regime", 2010).
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
