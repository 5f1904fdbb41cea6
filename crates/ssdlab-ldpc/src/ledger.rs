//! All results side by side: the rates that N levels decode, by decoder, beside published figures.

use serde::{Deserialize, Serialize};

use crate::channel::Cell;
use crate::monte_carlo::Measured;

/// The request for a derivation.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The type of the cells.
    pub cell: Cell,
    /// Voltage that the highest state has lost, in distances between neighboring states.
    /// References stay.
    pub shift: f64,
    /// Most frames at each measured point.
    pub frames: Option<u64>,
    /// Seconds of measuring.
    pub seconds: Option<f64>,
    /// Seed of the measurement.
    pub seed: u64,
    /// Number of threads.
    pub jobs: usize,
}

/// The rates up to which a decoder decodes: with long codes, and with ours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Decoded {
    /// Raw bit error rate up to which infinitely long codes decode.
    pub threshold: f64,
    /// Raw bit error rate at which 36,864 bits fail with a probability of 1e-15.
    pub corrected: f64,
}

/// The results for a number of levels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// References at each boundary.
    pub levels: usize,
    /// Bits that a cell's output takes on the bus, ⌈log₂(N + 1)⌉.
    pub transfer_bits: u32,
    /// Distances of the references from a boundary's middle, at the corrected rate of min-sum. The
    /// unit is the distance between neighboring states.
    pub offsets: Vec<f64>,
    /// The limit of all codes of this rate: Shannon's limit, and the limit at this length.
    pub limit: Decoded,
    /// The sum-product decoder.
    pub sum_product: Decoded,
    /// The implemented decoder: min-sum on six bits.
    pub min_sum: Decoded,
    /// The published rate, if there is one.
    pub published: Option<f64>,
    /// Difference of min-sum's corrected rate from the published rate, relative to the published
    /// rate.
    pub difference: Option<f64>,
}

/// The rates that one page of a cell decodes with min-sum.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    /// Number of the page, from the lowest up.
    pub page: usize,
    /// Number of boundaries of the page.
    pub boundaries: usize,
    /// Corrected rates by levels, from one level up.
    pub corrected: Vec<f64>,
}

/// A decoder of hard decisions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hard {
    /// Name of the decoder.
    pub decoder: String,
    /// The rates up to which it decodes.
    #[serde(flatten)]
    pub decoded: Decoded,
    /// Difference of its corrected rate from the published 0.0044, relative to 0.0044.
    pub difference: f64,
}

/// Min-sum that stops early: corrected rates, and their differences relative to the published
/// rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Hurried {
    /// Flooding iterations; a layered decoder needs about half as many.
    pub iterations: u32,
    /// Corrected rate at one level.
    pub hard: f64,
    /// Relative difference from 0.0044.
    pub hard_difference: f64,
    /// Corrected rate at seven levels.
    pub soft: f64,
    /// Relative difference from 0.0132.
    pub soft_difference: f64,
}

/// The BCH code and its rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bch {
    /// Bits that it corrects in a codeword.
    pub corrects: u64,
    /// The raw bit error rate at which it fails with a probability of 1e-15.
    pub rber: f64,
    /// The published rate.
    pub published: f64,
    /// Difference of `rber` from the published rate, relative to the published rate.
    pub difference: f64,
}

/// The data of a figure: the page's voltages at seven levels and their corrected rate. The unit is
/// the distance between neighboring states.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drawn {
    /// The raw bit error rate.
    pub rber: f64,
    /// Standard deviation of a state.
    pub sigma: f64,
    /// Mean of each state, from the erased one up.
    pub means: Vec<f64>,
    /// The page's bit in each state.
    pub bits: Vec<u8>,
    /// The references, ascending.
    pub references: Vec<f64>,
}

/// Measured frame error rates at a number of levels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// References at each boundary.
    pub levels: usize,
    /// Measured points, from the highest rate down.
    pub points: Vec<Measured>,
    /// Frame error rates by the normal approximation at the same rates, with min-sum's threshold.
    pub predicted: Vec<f64>,
    /// Raw bit error rate at which frames fail with probability 1e-15, extrapolated from the
    /// points. Null if too few points have failures.
    pub carried_on: Option<f64>,
}

/// All results of a derivation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ledger {
    /// The type of the cells.
    pub cell: Cell,
    /// Number of the page shown: the one with the most boundaries, which decodes least.
    pub page: usize,
    /// Voltage that the highest state has lost, in distances between neighboring states.
    pub shift: f64,
    /// Bits of a codeword.
    pub bits: usize,
    /// Share of the bits that carry data.
    pub rate: f64,
    /// Probability with which a frame may fail.
    pub failure: f64,
    /// Results by levels, from one level up.
    pub levels: Vec<Level>,
    /// Results by page.
    pub pages: Vec<Page>,
    /// Decoders that use only hard decisions, the lowest rate first.
    pub hard: Vec<Hard>,
    /// The same min-sum decoder with fewer iterations.
    pub hurried: Vec<Hurried>,
    /// The BCH code of the same rate.
    pub bch: Bch,
    /// Voltages and references of the page, for a figure.
    pub voltages: Drawn,
    /// Seed of the measurement.
    pub seed: u64,
    /// Measured frame error rates; empty if none were requested.
    pub measured: Vec<Curve>,
    /// Whether the measurement was stopped early.
    pub partial: bool,
}
