//! Predicts how many retries a block will need, from facts that a controller can know. Source:
//! ReadGuard, sections 4.1 and 4.2.
//!
//! - age = c0 + c1 · cycles + c2 · erase time + c3 · first errors + c4 · ln(days between erases);
//! - errors = c5 · age + c6 + c7 · (age + c8) · (ln(1 + days) + e^(c9 · reads));
//! - retries = the number of thresholds that the errors exceed.
//!
//! The ten coefficients and the thresholds are fitted to characterized chips (`ssdlab fit`,
//! docs/guides/calibrate.md).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::{Nanos, math};
use ssdlab_nand::refusal::Refusal;

/// Settings of the predictor, as `ssdlab fit` writes them. Days are days at 30 °C.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PredictorConfig {
    /// c0 to c4, for the age: a constant, then per P/E cycle, per microsecond of an erase, and per
    /// raw bit error of the first page right after its program. The last is per unit of the
    /// logarithm of the days between erases. At age 1, a page of the block needs all retries after
    /// 12 months. No default: fitted. Source: ReadGuard, section 4.1.
    pub age: [f64; 5],
    /// c5 and c6, for the errors right after a program: raw bit errors of a codeword per unit of
    /// age, and at age 0. No default: fitted. Source: ReadGuard, section 4.2, eq. 1.
    pub initial: [f64; 2],
    /// c7, c8 and c9, for the errors that follow later. c7 is in raw bit errors of a codeword per
    /// unit of age and of ln(1 + days). c8 is an addend to the age, c9 an exponent per page read of
    /// the block. No default: fitted. Source: ReadGuard, section 4.2, eq. 2.
    pub growth: [f64; 3],
    /// Thresholds of the raw bit errors of a codeword at the first attempt, rising: each adds a
    /// retry. Above the first a page needs one retry, above the last it needs all. No default:
    /// fitted, the first 72 (ruled). Source: ReadGuard, section 4 (Fig. 8).
    pub thresholds: Vec<f64>,
    /// Shortest time between erases that the model uses; a shorter one counts as this. It is the
    /// shortest characterized time. Default: `1d`. Assumed: the logarithm has no lower bound
    /// toward 0.
    #[serde(default = "one_day")]
    pub min_dwell: Nanos,
    /// P/E cycles of a block after which the controller measures its erase time and first errors
    /// again, and updates its age. Default: 100. Source: ReadGuard, section 5.1.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1))]
    pub interval: u32,
}

/// The shortest time between erases in the default characterization.
const fn one_day() -> Nanos {
    Nanos::from_ms(86_400_000)
}

/// The interval of the paper's controller.
const fn hundred() -> u32 {
    100
}

/// The largest coefficient: no sum or product of values up to it overflows to NaN.
const HIGHEST: f64 = 1e12;
/// Largest number of thresholds: a ladder of retries has no more.
const MAX_THRESHOLDS: usize = 63;

/// The predictor with checked settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictor {
    age: [f64; 5],
    initial: [f64; 2],
    growth: [f64; 3],
    thresholds: Box<[f64]>,
    min_dwell_days: f64,
    interval: u32,
}

impl Predictor {
    /// Returns the predictor with these settings, which stand under `key`.
    ///
    /// # Errors
    /// The first impossible setting, by its key.
    pub fn resolve(config: &PredictorConfig, key: &str) -> Result<Predictor, Refusal> {
        let of = |field: &str| format!("{key}.{field}");
        for (field, all) in
            [("age", &config.age[..]), ("initial", &config.initial), ("growth", &config.growth)]
        {
            if let Some(wrong) = all.iter().find(|c| !c.is_finite() || c.abs() > HIGHEST) {
                return Err(Refusal::new(of(field), wrong, "finite numbers, at most 1e12"));
            }
        }
        if config.growth[0] < 0.0 || config.growth[2] < 0.0 {
            let expected = "c7 and c9 from 0 up: neither time nor reads mend a page";
            return Err(Refusal::new(of("growth"), format!("{:?}", config.growth), expected));
        }
        let rising = config.thresholds.windows(2).all(|pair| pair[0] < pair[1]);
        let beyond = |errors: &f64| (0.0..=HIGHEST).contains(errors);
        let count = 1..=MAX_THRESHOLDS;
        if !(count.contains(&config.thresholds.len())
            && rising
            && config.thresholds.iter().all(beyond))
        {
            let expected = format!("1 to {MAX_THRESHOLDS} rising numbers of errors, from 0 up");
            let got = format!("{:?}", config.thresholds);
            return Err(Refusal::new(of("thresholds"), got, expected));
        }
        if config.min_dwell == Nanos::ZERO {
            let expected = "a time above 0";
            return Err(Refusal::new(of("min_dwell"), config.min_dwell, expected));
        }
        if config.interval == 0 {
            return Err(Refusal::new(of("interval"), 0, "at least 1"));
        }
        Ok(Predictor {
            age: config.age,
            initial: config.initial,
            growth: config.growth,
            thresholds: config.thresholds.clone().into(),
            min_dwell_days: config.min_dwell.as_days(),
            interval: config.interval,
        })
    }

    /// Returns the P/E cycles at which a block with `erases` P/E cycles was last probed.
    pub fn probed_at(&self, erases: u32) -> u32 {
        erases - erases % self.interval
    }

    /// Returns the age of a block. `erase_us` is its last measured erase time. `e0` is the number
    /// of errors of its first page right after the program. `dwell_days` is the mean time between
    /// its erases, in days at 30 °C.
    pub fn age(&self, pe_cycles: f64, erase_us: f64, e0: f64, dwell_days: f64) -> f64 {
        let [constant, by_cycle, by_erase, by_error, by_dwell] = self.age;
        let log_dwell = math::ln(dwell_days.max(self.min_dwell_days));
        constant + by_cycle * pe_cycles + by_erase * erase_us + by_error * e0 + by_dwell * log_dwell
    }

    /// Returns the raw bit errors in a codeword of the worst page at the first attempt. The block
    /// has this age and was programmed `retention_days` days at 30 °C ago; `reads` page reads
    /// followed.
    pub fn errors(&self, age: f64, retention_days: f64, reads: f64) -> f64 {
        let (by_age, constant) = (self.initial[0], self.initial[1]);
        let [scale, offset, by_read] = self.growth;
        let since = math::ln_1p(retention_days) + math::exp(by_read * reads).min(HIGHEST);
        by_age * age + constant + scale * (age + offset) * since
    }

    /// Returns the retries that a page with `errors` raw bit errors in a codeword needs.
    pub fn retries(&self, errors: f64) -> u8 {
        self.thresholds.iter().map(|&beyond| u8::from(errors > beyond)).sum()
    }

    /// Returns the most retries that the predictor can return.
    pub fn most(&self) -> u8 {
        self.thresholds.len() as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> PredictorConfig {
        PredictorConfig {
            age: [0.1, 1e-4, 2e-5, 0.003, -0.02],
            initial: [60.0, 20.0],
            growth: [30.0, 0.25, 1e-5],
            thresholds: vec![72.0, 84.0, 100.0],
            min_dwell: one_day(),
            interval: hundred(),
        }
    }

    fn predictor() -> Predictor {
        Predictor::resolve(&config(), "metadata.retry_estimate.predicted").unwrap()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} for {b}");
    }

    #[test]
    fn an_age_is_the_sum_of_what_is_known() {
        // 0.1 + 0.1 + 0.08 + 0.12; at e days, 0.02 less.
        near(predictor().age(1000.0, 4000.0, 40.0, 1.0), 0.4);
        near(predictor().age(1000.0, 4000.0, 40.0, std::f64::consts::E), 0.38);
        near(predictor().age(0.0, 0.0, 0.0, 1.0), 0.1);
    }

    #[test]
    fn short_rests_count_as_the_shortest_that_was_characterized() {
        let day = predictor().age(1000.0, 4000.0, 40.0, 1.0);
        assert_eq!(predictor().age(1000.0, 4000.0, 40.0, 0.0), day);
        assert_eq!(predictor().age(1000.0, 4000.0, 40.0, 0.9), day);
        let hour = PredictorConfig { min_dwell: Nanos::from_ms(3_600_000), ..config() };
        let hour = Predictor::resolve(&hour, "").unwrap();
        // ln(1/24) = -3.178053830.
        near(hour.age(0.0, 0.0, 0.0, 0.0), 0.1 + 0.02 * 3.178_053_830_347_946);
    }

    #[test]
    fn errors_begin_with_the_age_and_grow_with_days_and_reads() {
        // 60 · 0.5 + 20 = 50, and 30 · 0.75 = 22.5 for each unit of the bracketed sum.
        near(predictor().errors(0.5, 0.0, 0.0), 72.5);
        let e = std::f64::consts::E;
        near(predictor().errors(0.5, e - 1.0, 0.0), 95.0);
        near(predictor().errors(0.5, 0.0, 1e5), 50.0 + 22.5 * e);
        near(predictor().errors(0.5, e * e - 1.0, 1e5), 50.0 + 22.5 * (2.0 + e));
        assert!(predictor().errors(0.5, 1e9, 4e9).is_finite());
    }

    #[test]
    fn retries_are_the_thresholds_that_are_passed() {
        let of = |errors| predictor().retries(errors);
        assert_eq!([of(-5.0), of(72.0), of(72.01), of(84.0)], [0, 0, 1, 1]);
        assert_eq!([of(84.5), of(100.0), of(100.5), of(1e12)], [2, 2, 3, 3]);
        assert_eq!(predictor().most(), 3);
    }

    #[test]
    fn what_is_no_predictor_is_refused() {
        let refused = |change: fn(&mut PredictorConfig)| {
            let mut wrong = config();
            change(&mut wrong);
            Predictor::resolve(&wrong, "p").unwrap_err().key
        };
        assert_eq!(refused(|c| c.age[2] = f64::NAN), "p.age");
        assert_eq!(refused(|c| c.initial[1] = 1e13), "p.initial");
        assert_eq!(refused(|c| c.growth[0] = -1.0), "p.growth");
        assert_eq!(refused(|c| c.growth[2] = -1e-9), "p.growth");
        assert_eq!(refused(|c| c.thresholds.clear()), "p.thresholds");
        assert_eq!(refused(|c| c.thresholds[1] = 72.0), "p.thresholds");
        assert_eq!(refused(|c| c.thresholds = (1..=64).map(f64::from).collect()), "p.thresholds");
        assert_eq!(refused(|c| c.min_dwell = Nanos::ZERO), "p.min_dwell");
    }
}
