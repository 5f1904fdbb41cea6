//! Retention: how the time since a page was programmed adds raw bit errors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::{Nanos, math};

use crate::curve::Curve;
use crate::refusal::{Refusal, at_least_zero, positive};

/// The dependence of retention errors on the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RetentionScale {
    /// The same for all blocks. Source: DLV, Fig. 8's sensing-level tables, in which classes differ
    /// by about a day (ruled).
    #[default]
    Common,
    /// In proportion to the block's base rate. The mean block has the errors of `common`.
    Proportional,
}

/// Raw bit error rate added by retention: rate · days^exponent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionConfig {
    /// Raw bit error rate added by the first day. Default: 8.448e-4. Source: DLV (ruled): with a
    /// base of 3.7e-4, 0.0044 at 14 days and 0.0132 at 99 days.
    pub rate: f64,
    /// Exponent of the age in days. Default: 0.592. Source: as `rate`.
    pub exponent: f64,
    /// `common` to all blocks, or `proportional` to each block's base rate. Default: `common`.
    /// Source: DLV (ruled).
    pub scale: RetentionScale,
}

impl Default for RetentionConfig {
    fn default() -> RetentionConfig {
        RetentionConfig { rate: 8.448e-4, exponent: 0.592, scale: RetentionScale::Common }
    }
}

impl RetentionConfig {
    /// Returns the added rate as a curve over the age in days at the reference temperature.
    pub(crate) fn resolve(&self, key: &str) -> Result<Curve, Refusal> {
        let rate = at_least_zero(&format!("{key}.rate"), self.rate)?;
        let exponent = positive(&format!("{key}.exponent"), self.exponent)?;
        Ok(day_curve(|days| rate * math::pow(days, exponent)))
    }
}

/// Returns a curve over days, with knots from a tenth of a second to ninety years. Below the first
/// knot the curve is linear.
pub(crate) fn day_curve(function: impl Fn(f64) -> f64) -> Curve {
    Curve::new(-20, 15, function)
}

/// Returns the days that one nanosecond counts for, if time passes faster by `acceleration`.
pub(crate) fn days_in_a_nano(acceleration: f64) -> f64 {
    acceleration * Nanos::from_ns(1).as_days()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: f64 = 3.7e-4;

    #[test]
    fn the_defaults_follow_from_dlvs_two_points() {
        let (young, old) = ((14.0, 0.0044), (99.0, 0.0132));
        let ratio = (old.1 - BASE) / (young.1 - BASE);
        let exponent = math::ln(ratio) / math::ln(old.0 / young.0);
        let rate = (young.1 - BASE) / math::pow(young.0, exponent);
        let default = RetentionConfig::default();
        assert!((default.exponent - exponent).abs() < 1e-4, "exponent {exponent}");
        assert!((default.rate / rate - 1.0).abs() < 1e-3, "rate {rate}");
        assert!((exponent - 0.59).abs() < 0.005);

        let added = default.resolve("retention").unwrap();
        assert!((BASE + added.at(14.0) - 0.0044).abs() < 1e-6);
        assert!((BASE + added.at(99.0) - 0.0132).abs() < 1e-5);
        assert_eq!(added.at(0.0), 0.0);
    }
}
