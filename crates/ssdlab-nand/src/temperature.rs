//! Warm flash ages faster: Arrhenius' law.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::math;

use crate::refusal::{Refusal, at_least_zero, within};

/// Boltzmann's constant in electronvolts per kelvin (CODATA 2018, exact).
const BOLTZMANN_EV: f64 = 8.617_333_262e-5;
/// 0 °C in kelvin.
const ZERO_CELSIUS: f64 = 273.15;

/// The drive's temperature, constant over a run, and the law by which it accelerates time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TemperatureConfig {
    /// The drive's temperature in degrees Celsius, −40 to 125. Default: 30. Source: ReadGuard
    /// (ruled).
    pub celsius: f64,
    /// The temperature at which the coefficients of retention hold, in degrees Celsius. Default:
    /// 30. Source: ReadGuard, section 4.2.
    pub reference_celsius: f64,
    /// Activation energy of charge loss in electronvolts. Default: 1.0827, with which an hour at
    /// 50 °C counts as 13 h at 30 °C. Source: ReadGuard, footnote 6.
    pub activation_ev: f64,
}

impl Default for TemperatureConfig {
    fn default() -> TemperatureConfig {
        TemperatureConfig { celsius: 30.0, reference_celsius: 30.0, activation_ev: 1.0827 }
    }
}

impl TemperatureConfig {
    /// Returns the time at the reference temperature that equals one unit of time at the drive's.
    pub(crate) fn resolve(&self, key: &str) -> Result<f64, Refusal> {
        within(&format!("{key}.celsius"), self.celsius, -40.0, 125.0)?;
        within(&format!("{key}.reference_celsius"), self.reference_celsius, -40.0, 125.0)?;
        at_least_zero(&format!("{key}.activation_ev"), self.activation_ev)?;
        Ok(acceleration(self.celsius, self.reference_celsius, self.activation_ev))
    }
}

/// Returns the time at `reference_celsius` that equals one unit of time at `celsius` (Arrhenius).
pub fn acceleration(celsius: f64, reference_celsius: f64, activation_ev: f64) -> f64 {
    let (warm, reference) = (celsius + ZERO_CELSIUS, reference_celsius + ZERO_CELSIUS);
    math::exp(activation_ev / BOLTZMANN_EV * (1.0 / reference - 1.0 / warm))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_at_50_degrees_counts_as_13_at_30() {
        let warm = TemperatureConfig { celsius: 50.0, ..TemperatureConfig::default() };
        assert!((warm.resolve("temperature").unwrap() - 13.0).abs() < 0.005);
        assert_eq!(TemperatureConfig::default().resolve("temperature"), Ok(1.0));
        let cold = TemperatureConfig { celsius: 0.0, ..TemperatureConfig::default() };
        assert!(cold.resolve("temperature").unwrap() < 0.05);
    }

    #[test]
    fn a_temperature_at_which_no_drive_works_is_refused() {
        let kelvin = TemperatureConfig { celsius: 303.15, ..TemperatureConfig::default() };
        let refusal = kelvin.resolve("temperature").unwrap_err();
        assert_eq!((refusal.key.as_str(), refusal.got.as_str()), ("temperature.celsius", "303.15"));
    }
}
