//! Read disturb: how reads of a block add raw bit errors to its pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::math;

use crate::curve::Curve;
use crate::refusal::{Refusal, at_least_zero, positive};

/// Raw bit error rate added by reads of the block: rate · (e^(reads / scale) − 1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DisturbConfig {
    /// Raw bit error rate added when e^(reads / `scale`) reaches 2. Default: 1e-4. Assumed.
    pub rate: f64,
    /// Page reads of the block that multiply the exponential by e. Default: 100000. Assumed.
    pub scale: f64,
}

impl Default for DisturbConfig {
    fn default() -> DisturbConfig {
        DisturbConfig { rate: 1e-4, scale: 1e5 }
    }
}

impl DisturbConfig {
    /// Returns the added rate as a curve over page reads of the block since its erase.
    pub(crate) fn resolve(&self, key: &str) -> Result<Curve, Refusal> {
        let rate = at_least_zero(&format!("{key}.rate"), self.rate)?;
        let scale = positive(&format!("{key}.scale"), self.scale)?;
        Ok(read_curve(rate, scale))
    }
}

/// Returns the curve `most` · (e^(reads / scale) − 1). Source: ReadGuard, section 4.2 (the form).
pub(crate) fn read_curve(most: f64, scale: f64) -> Curve {
    Curve::new(
        0,
        32,
        |reads| if most == 0.0 { 0.0 } else { most * (math::exp(reads / scale) - 1.0) },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_add_nothing_at_first_and_then_exponentially() {
        let added = DisturbConfig { rate: 2e-4, scale: 1000.0 }.resolve("disturb").unwrap();
        assert_eq!(added.at(0.0), 0.0);
        // e^(ln 2) − 1 = 1.
        assert!((added.at(1000.0 * std::f64::consts::LN_2) / 2e-4 - 1.0).abs() < 1e-4);
        let (early, late) = (added.at(1000.0), added.at(5000.0) - added.at(4000.0));
        assert!((late / early / math::exp(4.0) - 1.0).abs() < 2e-3, "{early} {late}");
    }
}
