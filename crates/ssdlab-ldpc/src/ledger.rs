//! All of it side by side: what N levels decode, by which decoder, next to what papers print.

use serde::{Deserialize, Serialize};

use crate::channel::Cell;
use crate::monte_carlo::Measured;

/// What is to be derived.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The cell.
    pub cell: Cell,
    /// What the highest state has lost, in distances between neighbouring states; references stay.
    pub shift: f64,
    /// Frames at most at each point that is measured.
    pub frames: Option<u64>,
    /// Seconds of measuring.
    pub seconds: Option<f64>,
    /// The seed of the measurement.
    pub seed: u64,
    /// Threads.
    pub jobs: usize,
}

/// A decoder: where it fails on long codes, and on ours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Decoded {
    /// Raw bit error rate up to which infinitely long codes decode.
    pub threshold: f64,
    /// Raw bit error rate at which 36,864 bits fail with a probability of 1e-15.
    pub corrected: f64,
}

/// What a number of levels decodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// References at each boundary.
    pub levels: usize,
    /// Bits that a cell's answer takes on the bus, ⌈log₂(N + 1)⌉.
    pub transfer_bits: u32,
    /// Where the references stand at the corrected rate of min-sum, from a boundary's middle, in
    /// distances between neighbouring states.
    pub offsets: Vec<f64>,
    /// The best of all codes of this rate: Shannon's limit, and at this length.
    pub limit: Decoded,
    /// Sum-product.
    pub sum_product: Decoded,
    /// The decoder that is built: min-sum on six bits.
    pub min_sum: Decoded,
    /// What a paper prints, if it does.
    pub published: Option<f64>,
    /// By how much min-sum's corrected rate is more, over the published one.
    pub difference: Option<f64>,
}

/// What the pages of a cell decode with min-sum.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    /// From the lowest up.
    pub page: usize,
    /// Its boundaries.
    pub boundaries: usize,
    /// Corrected rates by levels, from one up.
    pub corrected: Vec<f64>,
}

/// A decoder of hard decisions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hard {
    /// Its name.
    pub decoder: String,
    /// What it decodes.
    #[serde(flatten)]
    pub decoded: Decoded,
    /// By how much its corrected rate is more than the published 0.0044, over it.
    pub difference: f64,
}

/// Min-sum that is stopped after some iterations: corrected rates, and by how much they are more
/// than the published ones, over these.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Hurried {
    /// Flooding iterations; a layered decoder needs about half as many.
    pub iterations: u32,
    /// At one level.
    pub hard: f64,
    /// Against 0.0044.
    pub hard_difference: f64,
    /// At seven levels.
    pub soft: f64,
    /// Against 0.0132.
    pub soft_difference: f64,
}

/// What BCH corrects.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bch {
    /// Bits in a codeword.
    pub corrects: u64,
    /// The raw bit error rate at which it fails with a probability of 1e-15.
    pub rber: f64,
    /// What a paper prints.
    pub published: f64,
    /// By how much ours is more, over it.
    pub difference: f64,
}

/// The voltages of the page at seven levels and their corrected rate, to be drawn; in distances
/// between neighbouring states.
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

/// Frame error rates at a number of levels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// References at each boundary.
    pub levels: usize,
    /// What was measured, from the highest rate down.
    pub points: Vec<Measured>,
    /// What the normal approximation says at the same rates, with min-sum's threshold.
    pub predicted: Vec<f64>,
    /// The rate at which frames fail with 1e-15 if the fall goes on as measured; null if too little
    /// was.
    pub carried_on: Option<f64>,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ledger {
    /// The cell.
    pub cell: Cell,
    /// The page that is shown: the one with the most boundaries, which decodes least.
    pub page: usize,
    /// What the highest state has lost.
    pub shift: f64,
    /// Bits of a codeword.
    pub bits: usize,
    /// The share of them that carries data.
    pub rate: f64,
    /// The probability at which a frame may fail.
    pub failure: f64,
    /// By levels, from one up.
    pub levels: Vec<Level>,
    /// By page.
    pub pages: Vec<Page>,
    /// Decoders of hard decisions, the least first.
    pub hard: Vec<Hard>,
    /// The same min-sum decoder with fewer iterations.
    pub hurried: Vec<Hurried>,
    /// BCH of the same rate.
    pub bch: Bch,
    /// Voltages and references.
    pub voltages: Drawn,
    /// The seed of the measurement.
    pub seed: u64,
    /// What was measured; empty if nothing was asked for.
    pub measured: Vec<Curve>,
    /// Whether the measurement was stopped.
    pub partial: bool,
}
