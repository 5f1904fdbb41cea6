//! Wear: how the raw bit error rate grows with program/erase cycles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::math;

use crate::curve::Curve;
use crate::refusal::{Refusal, at_least_zero, positive};

/// Growth of a block's base rate with its program/erase cycles: (cycles / reference)^exponent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WearConfig {
    /// Exponent of the cycles. Default: 0.66. Source: PV-read, through 0.0041 at 1500 cycles and
    /// 0.0078 at 4000 (ruled).
    pub exponent: f64,
    /// Cycles at which a block has its drawn base rate. Default: 1500. Source: PV-read (BCH's
    /// lifetime, where the rate is 0.0041).
    pub reference_cycles: f64,
}

impl Default for WearConfig {
    fn default() -> WearConfig {
        WearConfig { exponent: 0.66, reference_cycles: 1500.0 }
    }
}

impl WearConfig {
    /// Returns the factor on the base rate as a curve over cycles.
    pub(crate) fn resolve(&self, key: &str) -> Result<Curve, Refusal> {
        at_least_zero(&format!("{key}.exponent"), self.exponent)?;
        let reference = positive(&format!("{key}.reference_cycles"), self.reference_cycles)?;
        Ok(cycle_curve(|cycles| math::pow(cycles / reference, self.exponent)))
    }
}

/// Returns a curve over program/erase cycles, which may be fractions.
pub(crate) fn cycle_curve(function: impl Fn(f64) -> f64) -> Curve {
    Curve::new(-4, 24, function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_passes_through_both_lifetimes_of_pv_read() {
        let growth = WearConfig::default().resolve("wear").unwrap();
        let rate = |cycles: f64| 0.0041 * growth.at(cycles);
        assert!((rate(1500.0) - 0.0041).abs() < 1e-7);
        // 0.0041 · (4000/1500)^0.66
        assert!((rate(4000.0) - 0.0078).abs() < 0.5e-4, "{}", rate(4000.0));
    }

    #[test]
    fn coefficients_that_would_heal_a_block_are_refused() {
        let healing = WearConfig { exponent: -0.1, ..WearConfig::default() };
        assert_eq!(healing.resolve("wear").unwrap_err().key, "wear.exponent");
        let never = WearConfig { reference_cycles: 0.0, ..WearConfig::default() };
        assert_eq!(never.resolve("wear").unwrap_err().key, "wear.reference_cycles");
    }
}
