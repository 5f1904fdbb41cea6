//! What a threshold, which is that of infinitely long codes, is worth at 36,864 bits: the normal
//! approximation of Polyanskiy, Poor, Verdú, "Channel coding rate in the finite blocklength
//! regime", IEEE Transactions on Information Theory 56(5), 2010, equation 1.
//!
//! n bits of a channel carry nC − √(nV)·Q⁻¹(ε) + ½ log₂ n bits at a failure of ε. A decoder whose
//! threshold is p* needs a channel that carries C(p*) a bit, more than the code's rate. It is taken
//! to need the same at n bits (ruled): its rate p is where n bits carry n·C(p*).

use ssdlab_base::math;

use crate::channel::Symmetric;
use crate::code::BITS;
use crate::tail::root;

/// The probability at which a frame may fail. Source: PV-read, Table III.
pub const FAILURE: f64 = 1e-15;

/// Deviations that a standard Gaussian exceeds with a probability: Q⁻¹.
pub fn deviations(probability: f64) -> f64 {
    root(-40.0, 40.0, |z| probability - math::normal_cdf(-z))
}

/// What a bit of the channel carries at this failure, in bits.
fn carried(channel: &Symmetric, deviations: f64) -> f64 {
    let (capacity, dispersion) = channel.capacity_and_dispersion();
    let n = BITS as f64;
    capacity - (dispersion / n).sqrt() * deviations + math::log2(n) / (2.0 * n)
}

/// The raw bit error rate at which a decoder of this threshold fails with a probability of
/// `failure`.
pub fn shifted(threshold: f64, failure: f64, channel: impl Fn(f64) -> Symmetric) -> f64 {
    let (needed, _) = channel(threshold).capacity_and_dispersion();
    let deviations = deviations(failure);
    root(threshold / 100.0, threshold * 1.2, |p| needed - carried(&channel(p), deviations))
}
