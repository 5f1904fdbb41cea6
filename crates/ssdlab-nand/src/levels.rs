//! The model of sensing levels: from the raw bit error rate to the lowest level that decodes it.
//!
//! ```text
//! rate = base · wear(cycles) · factors of page type and program mode
//!        + retention(age) + disturb(reads)
//! ```
//!
//! With `retention.scale = proportional`, retention(age) is multiplied by base · wear(cycles) and
//! divided by the mean base.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_base::{Bytes, choice};

use crate::capability;
use crate::conditions::Conditions;
use crate::curve::Curve;
use crate::disturb::DisturbConfig;
use crate::each::Each;
use crate::factors::{bits, factor_index, factors};
use crate::geometry::{BlockId, Geometry};
use crate::ldpc::{BCH_CAPABILITY, LDPC_CAPABILITY, Ladder};
use crate::level::Level;
use crate::program_mode::ProgramModes;
use crate::refusal::Refusal;
use crate::retention::{RetentionConfig, RetentionScale, days_in_a_nano};
use crate::temperature::TemperatureConfig;
use crate::timing::Climb;
use crate::transfer::TransferConfig;
use crate::variation::{Base, BaseConfig, Draws};
use crate::wear::WearConfig;

const KEY: &str = "physics.levels";

choice! {
    /// The error-correcting code that protects pages.
    pub enum CodeChoice {
        /// A soft-decision code: a read that fails tries the next sensing level.
        ldpc => Ldpc(LdpcConfig),
        /// A hard-decision code: a read has only the first level. More errors than it decodes are
        /// uncorrectable.
        bch => Bch(BchConfig),
    } default ldpc
}

/// Settings of `ldpc`: none here. `physics.levels.capability` holds its rates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LdpcConfig {}

/// Settings of `bch`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BchConfig {
    /// Raw bit error rate that the BCH code decodes. Default: 0.0041. Source: PV-read, Table III
    /// (rate 8/9, 4 KB).
    pub capability: f64,
}

impl Default for BchConfig {
    fn default() -> BchConfig {
        BchConfig { capability: BCH_CAPABILITY }
    }
}

/// The sensing of an attempt that follows a failed one at the level below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SensingConfig {
    /// All levels are sensed again. Source: DLV (ruled).
    #[default]
    Restart,
    /// Only the added levels are sensed. Source: PV-read's default start (ruled).
    Incremental,
}

/// The model in which a read tries sensing levels in order. Source: DLV and PV-read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LevelsConfig {
    /// Raw bit error rate that n sensing levels can decode, from 1 level up. The list has one rate
    /// for each level. A name selects a table: `derived` (by `ssdlab ldpc`: 0.00603 0.01174
    /// 0.01418 0.01522 0.01584 0.01619 0.01641) or `paper`. Default: `paper`, 0.0044 0.00644
    /// 0.00809 0.00953 0.01082 0.01209 0.0132. Source: PV-read, Table III for the first and the
    /// last; those between are assumed (the start ages of DLV, Fig. 8, under its retention).
    #[serde(deserialize_with = "capability::read")]
    #[schemars(schema_with = "capability::schema")]
    pub capability: Vec<f64>,
    /// Error-correcting code: `ldpc`, or `bch`, whose reads have only the first level. Set
    /// `timing.decode` to match it. Both codes have the same blocks. Default: `ldpc`. Source:
    /// PV-read, Table III.
    pub code: CodeChoice,
    /// Base raw bit error rate of the blocks. Default: the Gaussian of DLV.
    pub base: BaseConfig,
    /// Factor on the base rate: one value, or one for each page type from the lowest up. Default:
    /// 1. Assumed: neither DLV nor PV-read distinguishes page types.
    pub page_types: Each<f64>,
    /// Growth of the base rate with program/erase cycles. Default: none, cycles add no errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wear: Option<WearConfig>,
    /// Raw bit error rate added by the age of the data. Default: none, age adds no errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<RetentionConfig>,
    /// Raw bit error rate added by reads of the block. Default: none, reads add no errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturb: Option<DisturbConfig>,
    /// The drive's temperature; only with `retention`, which uses it. Default: 30 °C.
    pub temperature: TemperatureConfig,
    /// Share of `timing.read` that sensing with n levels takes, from level 1 up. Default: n/N for n
    /// of N levels. Source: DLV, section II-B and PV-read, equation 1 (in proportion to n).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensing_shares: Option<Vec<Share>>,
    /// Sensing after a failed attempt: `restart` senses all levels again, `incremental` only the
    /// added ones. Default: `restart`. Source: DLV (ruled).
    pub sensing: SensingConfig,
    /// Transfer time at each level: `same`, `bits`, or a `table`. Default: `same`.
    pub transfer: TransferConfig,
    /// Size of a codeword, in which a controller counts bit errors. Default: 4KiB. Source: PV-read.
    pub codeword: Bytes,
}

impl Default for LevelsConfig {
    fn default() -> LevelsConfig {
        LevelsConfig {
            capability: LDPC_CAPABILITY.to_vec(),
            code: CodeChoice::default(),
            base: BaseConfig::default(),
            page_types: Each::same(1.0),
            wear: None,
            retention: None,
            disturb: None,
            temperature: TemperatureConfig::default(),
            sensing_shares: None,
            sensing: SensingConfig::Restart,
            transfer: TransferConfig::Same,
            codeword: Bytes::from_kib(4),
        }
    }
}

impl LevelsConfig {
    /// Returns the growth of the sensing time with the level.
    pub(crate) fn climb(&self) -> Result<Climb, Refusal> {
        let levels = self.capability.len();
        let shares: Vec<f64> = match &self.sensing_shares {
            None => (1..=levels).map(|n| n as f64 / levels as f64).collect(),
            Some(shares) => shares.iter().map(|share| share.get()).collect(),
        };
        let rises = shares.is_sorted() && shares.first().is_some_and(|&share| share > 0.0);
        if shares.len() == levels && rises {
            Ok(Climb { shares, incremental: self.sensing == SensingConfig::Incremental })
        } else {
            let key = format!("{KEY}.sensing_shares");
            let expected =
                format!("{levels} shares above 0 in non-decreasing order, one for each level");
            Err(Refusal::new(key, format!("{shares:?}"), expected))
        }
    }
}

/// The resolved model.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    draws: Draws,
    base: Base,
    /// Factors on the base rate, by program mode and page type.
    factors: Vec<f64>,
    wear: Option<Curve>,
    retention: Option<Retention>,
    disturb: Option<Curve>,
    ladder: Ladder,
    codeword_bits: f64,
}

#[derive(Clone, Debug)]
struct Retention {
    added: Curve,
    /// Days at the reference temperature that equal one nanosecond at the drive's.
    days: f64,
    /// One over the mean base rate, if retention is in proportion to the block's base rate.
    by_base: Option<f64>,
}

impl Levels {
    pub(crate) fn resolve(
        config: &LevelsConfig,
        geometry: &Geometry,
        program_modes: &ProgramModes,
        seed: u64,
    ) -> Result<Levels, Refusal> {
        let key = |field: &str| format!("{KEY}.{field}");
        let levels = Ladder::of_rates(&key("capability"), &config.capability)?;
        let ladder = match &config.code {
            CodeChoice::Ldpc(_) => levels,
            CodeChoice::Bch(bch) => {
                Ladder::of_rates(&key("code.bch.capability"), &[bch.capability])?
            }
        };
        let base = Base::resolve(&config.base, &config.capability, &key("base"))?;
        let acceleration = config.temperature.resolve(&key("temperature"))?;
        let retention = match &config.retention {
            None if config.temperature != TemperatureConfig::default() => {
                let expected = "no temperature unless physics.levels.retention is set";
                return Err(Refusal::new(key("temperature"), "a temperature", expected));
            }
            None => None,
            Some(retention) => Some(Retention {
                added: retention.resolve(&key("retention"))?,
                days: days_in_a_nano(acceleration),
                by_base: match retention.scale {
                    RetentionScale::Common => None,
                    RetentionScale::Proportional => Some(1.0 / base.mean()),
                },
            }),
        };
        let wear = config.wear.as_ref().map(|wear| wear.resolve(&key("wear")));
        let disturb = config.disturb.as_ref().map(|disturb| disturb.resolve(&key("disturb")));
        Ok(Levels {
            draws: Draws::new(seed, b"nandbase"),
            factors: factors(&config.page_types, &key("page_types"), geometry, program_modes)?,
            wear: wear.transpose()?,
            retention,
            disturb: disturb.transpose()?,
            ladder,
            codeword_bits: bits(config.codeword, &key("codeword"))?,
            base,
        })
    }

    pub(crate) fn levels(&self) -> usize {
        self.ladder.limits().len()
    }

    pub(crate) fn days_in_a_nano(&self) -> f64 {
        self.retention.as_ref().map_or(days_in_a_nano(1.0), |retention| retention.days)
    }

    pub(crate) fn heeds_wear(&self) -> bool {
        self.wear.is_some()
    }

    pub(crate) fn heeds_age(&self) -> bool {
        self.retention.is_some()
    }

    /// Returns the raw bit error rate that each level decodes.
    pub(crate) fn capability(&self) -> Vec<f64> {
        self.ladder.limits().to_vec()
    }

    pub(crate) fn max_errors(&self) -> u32 {
        (self.ladder.last() * self.codeword_bits) as u32
    }

    pub(crate) fn base_rber(&self, block: BlockId) -> f64 {
        self.base.draw(self.draws.word(u64::from(block.0)))
    }

    #[inline]
    pub(crate) fn rber(&self, block: BlockId, c: &Conditions) -> f64 {
        let mut base = self.base_rber(block);
        if let Some(wear) = &self.wear {
            base *= wear.at(f64::from(c.pe_cycles));
        }
        let mut rate = base * self.factors[factor_index(c)];
        if let Some(retention) = &self.retention {
            let added = retention.added.at(c.retention.as_ns() as f64 * retention.days);
            rate += retention.by_base.map_or(added, |by_base| added * (base * by_base));
        }
        if let Some(disturb) = &self.disturb {
            rate += disturb.at(f64::from(c.reads));
        }
        rate.min(0.5)
    }

    pub(crate) fn level_needed(&self, block: BlockId, c: &Conditions) -> Option<Level> {
        self.ladder.level_for(self.rber(block, c))
    }

    pub(crate) fn errors(&self, block: BlockId, c: &Conditions) -> u32 {
        (self.rber(block, c) * self.codeword_bits).round() as u32
    }
}
