//! The coefficients of chips whose reads climb by retries (module `retry` says how they act).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Bytes;
use ssdlab_base::quantity::Share;

use crate::each::Each;
use crate::ldpc::LEVELS_MAX;
use crate::pages::PagesConfig;
use crate::refusal::{Refusal, at_least_zero, positive, within};
use crate::temperature::TemperatureConfig;
use crate::timing::Climb;

pub(crate) const KEY: &str = "physics.retries";

/// Chips whose reads climb by retries. Source: ReadGuard for the ladder and the anchor points; the
/// coefficients are assumed, chosen so that the anchor points are met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetriesConfig {
    /// The most retries of a read. Default: 25. Source: ReadGuard, section 3 (Fig. 6).
    pub retries: u8,
    /// Raw bit errors of a codeword that decode at the first attempt. Default: 72. Source:
    /// ReadGuard (ruled).
    pub correctable: f64,
    /// Raw bit errors at the first attempt that one more retry masters. Default: 12. Assumed.
    pub errors_per_retry: f64,
    /// What comes of a read that starts beyond the retry that its page needs. Default: `fails`.
    pub beyond: Beyond,
    /// Size of a codeword. Default: 1KiB. Source: ReadGuard (ruled).
    pub codeword: Bytes,
    /// Raw bit errors of a fresh codeword on the worst page of a new block of mean quality.
    /// Default: 30. Assumed.
    pub fresh_errors: f64,
    /// Factor on `fresh_errors`: one value, or one for each page type from the lowest up. Default:
    /// 1. Assumed.
    pub page_types: Each<f64>,
    /// What program/erase cycles add.
    pub wear: RetryWearConfig,
    /// What the age of the data adds.
    pub retention: RetryRetentionConfig,
    /// What reads of the block add.
    pub disturb: RetryDisturbConfig,
    /// The drive's temperature, which retention and dwell heed. Default: 30 °C.
    pub temperature: TemperatureConfig,
    /// How blocks differ.
    pub spread: SpreadConfig,
    /// How the pages of a block differ.
    pub pages: PagesConfig,
    /// How the time of an erase shows what a block has been through.
    pub erase: EraseConfig,
    /// Standard deviation of a count of errors about the truth, as a part of it. Default: 2%.
    /// Assumed.
    pub noise: Share,
}

/// What comes of a read whose first attempt is at reference voltages beyond those that its page
/// needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Beyond {
    /// It fails there as it would as far before them: as many attempts more as it was too far, at
    /// most as many as from the first. Source: ReadGuard, section 6.3 (retries counted from the
    /// last good ones; ruled).
    #[default]
    Fails,
    /// It decodes, as a read does that senses more levels than its page needs. Assumed.
    Decodes,
}

/// What program/erase cycles do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetryWearConfig {
    /// Cycles for which the worn coefficients are stated. Default: 3000. Source: ReadGuard (the
    /// old stage).
    pub cycles: f64,
    /// Raw bit errors that so many cycles add to a fresh codeword. Default: 98. Assumed.
    pub errors: f64,
    /// Power of the cycles with which these errors grow. Default: 0.66. Source: PV-read (ruled).
    pub exponent: f64,
    /// Power of the cycles with which retention and disturb grow. Default: 1. Assumed.
    pub worn_exponent: f64,
    /// How much cycles count for less in a block that rests: they are divided by 1 + this ·
    /// ln(1 + days between erases). Default: 0.03. Assumed; that rest heals by its logarithm is
    /// ReadGuard's, section 4.1.
    pub dwell_relief: f64,
}

/// What the age of the data does: errors grow by the logarithm of 1 + days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetryRetentionConfig {
    /// Raw bit errors for each unit of ln(1 + days) in a new block. Default: 9.8. Assumed; the
    /// logarithm is ReadGuard's, section 4.2.
    pub errors: f64,
    /// What `wear.cycles` add to them. Default: 13.4. Assumed.
    pub worn_errors: f64,
}

/// What reads of the block do: errors grow by e^(reads / scale) − 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetryDisturbConfig {
    /// Raw bit errors where the exponential reaches 2, in a new block. Default: 9. Assumed; the
    /// exponential is ReadGuard's, section 4.2.
    pub errors: f64,
    /// What `wear.cycles` add to them. Default: 16. Assumed.
    pub worn_errors: f64,
    /// Page reads of the block in which the exponential grows by e. Default: 100000. Assumed: 100
    /// reads of a whole block of 576 pages (ReadGuard, Fig. 21) then cost one or two retries.
    pub scale: f64,
}

/// How blocks differ: standard deviations about a mean of 1, of draws that are cut off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SpreadConfig {
    /// Of the errors of all blocks of a die. Default: 1.3%. Assumed.
    pub die: Share,
    /// Of the errors of a block, in its die. Default: 3.8%. Assumed.
    pub quality: Share,
    /// Of what a cycle does to a block. Default: 9%. Assumed.
    pub wear: Share,
    /// Of a block's retention errors. Default: 3%. Assumed.
    pub retention: Share,
    /// Of a block's disturb errors. Default: 3%. Assumed.
    pub disturb: Share,
    /// Standard deviations at which each draw is cut off, 0.1 to 8. Default: 3. Assumed.
    pub bound: f64,
}

/// How the time of an erase shows what a block has been through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EraseConfig {
    /// Part of `timing.erase` that `wear.cycles` add, in proportion to the cycles. Default: 0.25.
    /// Assumed.
    pub growth: f64,
    /// Standard deviation between blocks of the same wear. Default: 1%. Assumed.
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
    /// Every attempt senses the page in full.
    pub(crate) fn climb(&self) -> Climb {
        Climb { shares: vec![1.0; usize::from(self.retries) + 1], incremental: false }
    }

    /// Refuses coefficients that would heal a block, and spreads that would reach below nothing.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let key = |field: &str| format!("{KEY}.{field}");
        if usize::from(self.retries) >= LEVELS_MAX {
            let expected = format!("at most {}", LEVELS_MAX - 1);
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
                let expected = format!("a deviation of which {bound} (the bound) stay below 1");
                return Err(Refusal::new(format!("{KEY}.{field}"), deviation, expected));
            }
        }
        Ok(())
    }
}
