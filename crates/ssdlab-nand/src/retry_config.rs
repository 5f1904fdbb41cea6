//! Coefficients of the model with read retries. The module `retry` holds its formula.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Bytes;
use ssdlab_base::quantity::Share;

use crate::each::Each;
use crate::ldpc::MAX_RETRIES;
use crate::pages::PagesConfig;
use crate::refusal::{Refusal, at_least_zero, positive, within};
use crate::temperature::TemperatureConfig;
use crate::timing::Climb;

pub(crate) const KEY: &str = "physics.retries";

/// The model in which a read tries retries in order. Source: ReadGuard for the ladder and the
/// anchor points; the coefficients are assumed, chosen to meet the anchor points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetriesConfig {
    /// Most retries of a read. Default: 25. Source: ReadGuard, section 3 (Fig. 6).
    #[schemars(range(max = MAX_RETRIES))]
    pub retries: u8,
    /// Most raw bit errors of a codeword that decode at the first attempt. Default: 72. Source:
    /// ReadGuard (ruled).
    pub correctable: f64,
    /// Raw bit errors, as of the first attempt, that each further retry corrects. Default: 12.
    /// Assumed.
    pub errors_per_retry: f64,
    /// Result of a read that starts beyond the retry that its page needs. Default: `fails`.
    pub beyond: Beyond,
    /// Size of a codeword. Default: 1KiB. Source: ReadGuard (ruled).
    pub codeword: Bytes,
    /// Raw bit errors of a fresh codeword on the worst page of a new block of mean quality.
    /// Default: 30. Assumed.
    pub fresh_errors: f64,
    /// Factor on `fresh_errors`: one value, or one for each page type from the lowest up. Default:
    /// 1. Assumed.
    pub page_types: Each<f64>,
    /// Errors that program/erase cycles add.
    pub wear: RetryWearConfig,
    /// Errors that the age of the data adds.
    pub retention: RetryRetentionConfig,
    /// Errors that reads of the block add.
    pub disturb: RetryDisturbConfig,
    /// The drive's temperature, which retention and dwell use. Default: 30 °C.
    pub temperature: TemperatureConfig,
    /// How blocks differ.
    pub spread: SpreadConfig,
    /// How the pages of a block differ.
    pub pages: PagesConfig,
    /// How the erase time grows with the wear of a block.
    pub erase: EraseConfig,
    /// Standard deviation of a counted number of errors, as a share of the true number. Default:
    /// 2%. Assumed.
    pub noise: Share,
}

/// The result of a read whose first attempt uses reference voltages beyond those that its page
/// needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Beyond {
    /// The first attempt fails. The read then needs one attempt for each retry that it started too
    /// far, but at most as many as from the first. Source: ReadGuard, section 6.3 (retries counted
    /// from the last good ones; ruled).
    #[default]
    Fails,
    /// The read decodes, like a read that senses more levels than its page needs. Assumed.
    Decodes,
}

/// Effects of program/erase cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetryWearConfig {
    /// Cycles at which the worn coefficients hold. Default: 3000. Source: ReadGuard (the old
    /// stage).
    pub cycles: f64,
    /// Raw bit errors that `cycles` add to a fresh codeword. Default: 98. Assumed.
    pub errors: f64,
    /// Exponent of the cycles in these errors. Default: 0.66. Source: PV-read (ruled).
    pub exponent: f64,
    /// Exponent of the cycles in retention and disturb errors. Default: 1. Assumed.
    pub worn_exponent: f64,
    /// Relief of wear by rest: the model divides the cycles by 1 + this · ln(1 + days between
    /// erases). Default: 0.03. Assumed; that rest heals by its logarithm is ReadGuard's, section
    /// 4.1.
    pub dwell_relief: f64,
}

/// Effects of the age of the data: errors grow with ln(1 + days).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetryRetentionConfig {
    /// Raw bit errors for each unit of ln(1 + days) in a new block. Default: 9.8. Assumed; the
    /// logarithm is ReadGuard's, section 4.2.
    pub errors: f64,
    /// Raw bit errors that `wear.cycles` add to `errors`. Default: 13.4. Assumed.
    pub worn_errors: f64,
}

/// Effects of reads of the block: errors grow with e^(reads / scale) − 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetryDisturbConfig {
    /// Raw bit errors in a new block when e^(reads / `scale`) reaches 2. Default: 9. Assumed; the
    /// exponential is ReadGuard's, section 4.2.
    pub errors: f64,
    /// Raw bit errors that `wear.cycles` add to `errors`. Default: 16. Assumed.
    pub worn_errors: f64,
    /// Page reads of the block that multiply the exponential by e. Default: 100000. Assumed: 100
    /// reads of a whole block of 576 pages (ReadGuard, Fig. 21) then cost one or two retries.
    pub scale: f64,
}

/// The differences between blocks: standard deviations about a mean of 1, of bounded draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SpreadConfig {
    /// Deviation of the errors of a die, shared by its blocks. Default: 1.3%. Assumed.
    pub die: Share,
    /// Deviation of the errors of a block within its die. Default: 3.8%. Assumed.
    pub quality: Share,
    /// Deviation of the wear that a cycle causes in a block. Default: 9%. Assumed.
    pub wear: Share,
    /// Deviation of a block's retention errors. Default: 3%. Assumed.
    pub retention: Share,
    /// Deviation of a block's disturb errors. Default: 3%. Assumed.
    pub disturb: Share,
    /// Number of standard deviations at which each draw is cut off, 0.1 to 8. Default: 3. Assumed.
    pub bound: f64,
}

/// The growth of the erase time with the wear of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EraseConfig {
    /// Share of `timing.erase` that `wear.cycles` add, in proportion to the cycles. Default: 0.25.
    /// Assumed.
    pub growth: f64,
    /// Standard deviation of the erase time between blocks of the same wear. Default: 1%. Assumed.
    pub spread: Share,
}

impl Default for RetriesConfig {
    fn default() -> RetriesConfig {
        RetriesConfig {
            retries: 25,
            correctable: 72.0,
            errors_per_retry: 12.0,
            beyond: Beyond::default(),
            codeword: Bytes::from_kib(1),
            fresh_errors: 30.0,
            page_types: Each::same(1.0),
            wear: RetryWearConfig::default(),
            retention: RetryRetentionConfig::default(),
            disturb: RetryDisturbConfig::default(),
            temperature: TemperatureConfig::default(),
            spread: SpreadConfig::default(),
            pages: PagesConfig::default(),
            erase: EraseConfig::default(),
            noise: Share::new(0.02),
        }
    }
}

impl Default for RetryWearConfig {
    fn default() -> RetryWearConfig {
        RetryWearConfig {
            cycles: 3000.0,
            errors: 98.0,
            exponent: 0.66,
            worn_exponent: 1.0,
            dwell_relief: 0.03,
        }
    }
}

impl Default for RetryRetentionConfig {
    fn default() -> RetryRetentionConfig {
        RetryRetentionConfig { errors: 9.8, worn_errors: 13.4 }
    }
}

impl Default for RetryDisturbConfig {
    fn default() -> RetryDisturbConfig {
        RetryDisturbConfig { errors: 9.0, worn_errors: 16.0, scale: 1e5 }
    }
}

impl Default for SpreadConfig {
    fn default() -> SpreadConfig {
        SpreadConfig {
            die: Share::new(0.013),
            quality: Share::new(0.038),
            wear: Share::new(0.09),
            retention: Share::new(0.03),
            disturb: Share::new(0.03),
            bound: 3.0,
        }
    }
}

impl Default for EraseConfig {
    fn default() -> EraseConfig {
        EraseConfig { growth: 0.25, spread: Share::new(0.01) }
    }
}

impl RetriesConfig {
    /// Returns the ladder of retries: every attempt senses the page in full.
    pub(crate) fn climb(&self) -> Climb {
        Climb { shares: vec![1.0; usize::from(self.retries) + 1], incremental: false }
    }

    /// Refuses coefficients that would heal a block, and spreads whose draws could reach 0.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let key = |field: &str| format!("{KEY}.{field}");
        if self.retries > MAX_RETRIES {
            let expected = format!("at most {MAX_RETRIES}");
            return Err(Refusal::new(key("retries"), self.retries, expected));
        }
        positive(&key("correctable"), self.correctable)?;
        positive(&key("errors_per_retry"), self.errors_per_retry)?;
        at_least_zero(&key("fresh_errors"), self.fresh_errors)?;
        positive(&key("wear.cycles"), self.wear.cycles)?;
        at_least_zero(&key("wear.errors"), self.wear.errors)?;
        at_least_zero(&key("wear.exponent"), self.wear.exponent)?;
        at_least_zero(&key("wear.worn_exponent"), self.wear.worn_exponent)?;
        at_least_zero(&key("wear.dwell_relief"), self.wear.dwell_relief)?;
        at_least_zero(&key("retention.errors"), self.retention.errors)?;
        at_least_zero(&key("retention.worn_errors"), self.retention.worn_errors)?;
        at_least_zero(&key("disturb.errors"), self.disturb.errors)?;
        at_least_zero(&key("disturb.worn_errors"), self.disturb.worn_errors)?;
        positive(&key("disturb.scale"), self.disturb.scale)?;
        at_least_zero(&key("erase.growth"), self.erase.growth)?;
        self.pages.check(&key("pages"))?;
        self.check_spreads()
    }

    fn check_spreads(&self) -> Result<(), Refusal> {
        let spread = &self.spread;
        let bound = within(&format!("{KEY}.spread.bound"), spread.bound, 0.1, 8.0)?;
        let both = spread.die.get() + spread.quality.get();
        let deviations = [
            ("spread.quality", both),
            ("spread.wear", spread.wear.get()),
            ("spread.retention", spread.retention.get()),
            ("spread.disturb", spread.disturb.get()),
            ("erase.spread", self.erase.spread.get()),
            ("noise", self.noise.get()),
        ];
        for (field, deviation) in deviations {
            if deviation * bound >= 1.0 {
                let what = match field {
                    "spread.quality" => "spread.die + spread.quality",
                    _ => "a deviation",
                };
                let expected = format!("{what} below 1/{bound} (1/spread.bound)");
                return Err(Refusal::new(format!("{KEY}.{field}"), deviation, expected));
            }
        }
        Ok(())
    }
}
