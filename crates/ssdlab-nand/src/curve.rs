//! A monotone curve as a table, so that no read computes a logarithm or a power.
//!
//! The table has 64 knots in every octave of the argument, and the curve is linear between knots.
//! It meets a power or a logarithm to within one part in 10⁵, and exactly at a knot. It meets an
//! exponential e^u to within (u/64)²/8 of its value. A monotone function stays monotone.

use std::sync::Arc;

/// Binary logarithm of the knots in an octave.
const KNOT_BITS: u32 = 6;
/// Bits of a double's fraction below those that select the knot.
const REST_BITS: u32 = f64::MANTISSA_DIGITS - 1 - KNOT_BITS;
/// Largest magnitude of a value, so that sums and differences of values stay finite.
const HIGHEST: f64 = 1e12;

/// A tabulated function of a number from 0 up.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    /// The first knot above 0. The curve is linear from 0 to it.
    first: f64,
    first_cell: u64,
    at_zero: f64,
    knots: Arc<[f64]>,
}

impl Curve {
    /// Tabulates `function` from 0 to 2^`to`, with knots from 2^`from` up. Beyond 2^`to` the last
    /// value holds.
    pub(crate) fn new(from: i32, to: i32, function: impl Fn(f64) -> f64) -> Curve {
        let first = exp2(from);
        let first_cell = first.to_bits() >> REST_BITS;
        let last_cell = exp2(to).to_bits() >> REST_BITS;
        let bounded = |x: f64| function(x).clamp(-HIGHEST, HIGHEST);
        let knots = (first_cell..=last_cell).map(|cell| bounded(f64::from_bits(cell << REST_BITS)));
        Curve { first, first_cell, at_zero: bounded(0.0), knots: knots.collect() }
    }

    /// Returns the function's value at `x`, which must be 0 or more.
    #[inline]
    pub(crate) fn at(&self, x: f64) -> f64 {
        if x < self.first {
            return self.at_zero + (self.knots[0] - self.at_zero) * (x / self.first);
        }
        // A double's bits grow with its value. The upper bits select the knot below x; the lower
        // bits say how far x lies above it.
        let bits = x.to_bits();
        let cell = ((bits >> REST_BITS) - self.first_cell) as usize;
        let Some(&[below, above]) = self.knots.get(cell..cell + 2) else {
            return self.knots[self.knots.len() - 1];
        };
        let rest = (bits & ((1 << REST_BITS) - 1)) as f64 * (1.0 / (1u64 << REST_BITS) as f64);
        below + (above - below) * rest
    }
}

/// Returns 2 to a whole power, exactly.
const fn exp2(power: i32) -> f64 {
    f64::from_bits(((power + 1023) as u64) << (f64::MANTISSA_DIGITS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ssdlab_base::math;

    #[test]
    fn a_power_is_met_to_one_part_in_a_hundred_thousand() {
        let curve = Curve::new(-20, 15, |days| math::pow(days, 0.592));
        for step in 1..40_000 {
            let days = f64::from(step) * 0.01;
            let exact = math::pow(days, 0.592);
            assert!((curve.at(days) / exact - 1.0).abs() < 1e-5, "at {days} days");
        }
        assert_eq!(curve.at(0.0), 0.0);
        assert_eq!(curve.at(4.0), math::pow(4.0, 0.592));
    }

    #[test]
    fn an_exponential_is_met_within_its_stated_error_and_stays_finite() {
        let curve = Curve::new(0, 32, |reads| math::exp(reads / 50_000.0) - 1.0);
        for reads in (1_000..500_000).step_by(997) {
            let u = f64::from(reads) / 50_000.0;
            let exact = math::exp(u) - 1.0;
            let error = curve.at(f64::from(reads)) - exact;
            assert!(error.abs() <= (u / 64.0) * (u / 64.0) / 8.0 * math::exp(u) * 1.2 + 1e-9);
        }
        assert_eq!(curve.at(1e300), HIGHEST);
        assert!(curve.at(f64::from(u32::MAX)).is_finite());
    }

    proptest! {
        #[test]
        fn a_curve_of_a_rising_function_never_falls(a in 0.0f64..1e6, b in 0.0f64..1e6) {
            let curve = Curve::new(-10, 19, math::ln_1p);
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            prop_assert!(curve.at(low) <= curve.at(high));
        }
    }
}
