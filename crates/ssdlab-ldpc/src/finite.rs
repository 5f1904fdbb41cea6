//! The step from the threshold of infinitely long codes to the rate at 36,864 bits. It uses the
//! normal approximation of Polyanskiy, Poor, Verdú, "Channel coding rate in the finite blocklength
//! regime", IEEE Transactions on Information Theory 56(5), 2010, equation 1.
//!
//! n bits of a channel carry nC − √(nV)·Q⁻¹(ε) + ½ log₂ n bits at a failure of ε. A decoder with
//! threshold p* needs a channel that carries C(p*) per bit, which is more than the code's rate. The
//! model takes it to need the same at n bits (ruled). The decoder's rate p is then the rate at
//! which n bits carry n·C(p*).

use ssdlab_base::math;

use crate::channel::Symmetric;
use crate::code::BITS;
use crate::tail::root;

/// Probability with which a frame may fail. Source: PV-read, Table III.
pub const FAILURE: f64 = 1e-15;

/// Returns Q⁻¹: the deviations that a standard Gaussian exceeds with this probability.
pub fn deviations(probability: f64) -> f64 {
    root(-40.0, 40.0, |z| probability - math::normal_cdf(-z))
}

/// Returns the information that one bit of the channel carries at this failure, in bits.
fn carried(channel: &Symmetric, deviations: f64) -> f64 {
    let (capacity, dispersion) = channel.capacity_and_dispersion();
    let n = BITS as f64;
    capacity - (dispersion / n).sqrt() * deviations + math::log2(n) / (2.0 * n)
}

/// Returns the raw bit error rate at which a decoder of this threshold fails with probability
/// `failure`.
pub fn shifted(threshold: f64, failure: f64, channel: impl Fn(f64) -> Symmetric) -> f64 {
    let (needed, _) = channel(threshold).capacity_and_dispersion();
    let deviations = deviations(failure);
    root(threshold / 100.0, threshold * 1.2, |p| needed - carried(&channel(p), deviations))
}
