//! Extrapolation of measured failures to rates that no measurement reaches.
//!
//! The method is the normal approximation with two free parameters. Frames fail with probability
//! Q((C(p) − c) / (k √(V(p)/n))). c is the information that a channel must carry. k says how much
//! wider the fall is than that of the best code. Both come from the measured points, not from any
//! published figure.

use ssdlab_base::math;

use crate::channel::Symmetric;
use crate::code::BITS;
use crate::finite::deviations;
use crate::monte_carlo::Measured;
use crate::tail::root;

/// A point with fewer failures says too little of its rate.
const FAILURES: u64 = 5;

/// Returns the raw bit error rate at which a frame fails with probability `failure`, extrapolated
/// from measured points. Returns `None` if fewer than three points have enough failures. The
/// extrapolation cannot see an error floor.
pub fn carried_on(
    points: &[Measured],
    failure: f64,
    channel: impl Fn(f64) -> Symmetric,
) -> Option<f64> {
    let known = points.iter().filter(|p| p.failures >= FAILURES && p.failures < p.frames);
    // Least squares of z = a·x + b·y. The weight of a point is the precision of its z.
    let (mut xx, mut xy, mut yy, mut xz, mut yz) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let (mut count, mut lowest) = (0, f64::INFINITY);
    for point in known {
        let z = deviations(point.rate);
        let (x, y) = terms(&channel(point.rber));
        let density = math::exp(-z * z / 2.0);
        let weight = point.frames as f64 * density * density / (point.rate * (1.0 - point.rate));
        xx += weight * x * x;
        xy += weight * x * y;
        yy += weight * y * y;
        xz += weight * x * z;
        yz += weight * y * z;
        (count, lowest) = (count + 1, point.rber.min(lowest));
    }
    let whole = xx * yy - xy * xy;
    if count < 3 || whole <= 0.0 {
        return None;
    }
    let (a, b) = ((xz * yy - yz * xy) / whole, (yz * xx - xz * xy) / whole);
    let aim = deviations(failure);
    let z = |p: f64| {
        let (x, y) = terms(&channel(p));
        a * x + b * y
    };
    Some(root(lowest / 10.0, lowest, |p| aim - z(p)))
}

/// Returns C/√(V/n) and 1/√(V/n).
fn terms(channel: &Symmetric) -> (f64, f64) {
    let (capacity, dispersion) = channel.capacity_and_dispersion();
    let width = (dispersion / BITS as f64).sqrt();
    (capacity / width, 1.0 / width)
}
