//! The model with read retries: from the raw bit errors of a codeword to the retries that it needs.
//!
//! With x the effective cycles of the block, in units of `wear.cycles`:
//!
//! ```text
//! x = cycles · own wear / (1 + dwell_relief · ln(1 + days between erases)) / wear.cycles
//!
//! errors = quality · page · (fresh · factors + wear · x^p
//!          + own loss · (loss + loss_worn · x^q) · ln(1 + days)
//!          + own disturb · (disturb + disturb_worn · x^q) · (e^(reads / scale) − 1))
//! ```
//!
//! Each block draws its quality and its own wear, loss and disturb.
//!
//! The form deliberately differs from ReadGuard's predictor. Wear counts by two powers, at a rate
//! of its own in each block. Disturb has an amplitude of its own. Blocks differ in four ways; the
//! predictor has only one age.

use ssdlab_base::{Nanos, math, rng};

use crate::conditions::Conditions;
use crate::curve::Curve;
use crate::disturb::read_curve;
use crate::factors::{bits, factor_index, factors};
use crate::geometry::{BlockId, Geometry, PageInBlock};
use crate::ldpc::Ladder;
use crate::level::Level;
use crate::pages::Pages;
use crate::program_mode::ProgramModes;
use crate::refusal::Refusal;
use crate::retention::{day_curve, days_in_a_nano};
use crate::retry_config::{KEY, RetriesConfig};
use crate::variation::{Draws, Gaussian};
use crate::wear::cycle_curve;

/// The resolved model.
#[derive(Clone, Debug)]
pub(crate) struct Retries {
    draws: Draws,
    dies: Draws,
    noises: Draws,
    standard: Gaussian,
    spread: Spread,
    blocks_per_die: u32,
    pages: Pages,
    /// `fresh_errors` times the factors, by program mode and page type.
    fresh: Vec<f64>,
    /// Errors that wear adds, and the share of the worn coefficients that applies, by effective
    /// cycles.
    worn: Curve,
    worn_part: Curve,
    loss: (f64, f64),
    disturb: (f64, f64),
    /// ln(1 + days), by days at the reference temperature. The relief by dwell uses it too.
    log_days: Curve,
    days: f64,
    dwell_relief: f64,
    exponential: Curve,
    erase_growth: f64,
    erase_spread: f64,
    noise: f64,
    ladder: Ladder,
    codeword_bits: f64,
}

/// Deviations of the traits that differ from block to block.
#[derive(Clone, Copy, Debug)]
struct Spread {
    die: f64,
    quality: f64,
    wear: f64,
    loss: f64,
    disturb: f64,
}

/// The draws of one block.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// The block's random word. Each trait derives its own word from it.
    word: u64,
    quality: f64,
}

impl Block {
    #[inline]
    fn own_word(&self, which: Trait) -> u64 {
        rng::mix(self.word ^ which as u64)
    }
}

impl Retries {
    pub(crate) fn resolve(
        config: &RetriesConfig,
        geometry: &Geometry,
        program_modes: &ProgramModes,
        seed: u64,
    ) -> Result<Retries, Refusal> {
        let key = |field: &str| format!("{KEY}.{field}");
        config.check()?;
        let limits: Vec<f64> = (0..=config.retries)
            .map(|retry| config.correctable + f64::from(retry) * config.errors_per_retry)
            .collect();
        let factors = factors(&config.page_types, &key("page_types"), geometry, program_modes)?;
        let wear = config.wear.clone();
        let (spread, bound) = (&config.spread, config.spread.bound);
        let draws = Draws::new(seed, b"nandtrue");
        Ok(Retries {
            draws,
            dies: Draws::new(seed, b"nanddies"),
            noises: Draws::new(seed, b"nandnois"),
            standard: Gaussian::standard(-bound, bound),
            spread: Spread {
                die: spread.die.get(),
                quality: spread.quality.get(),
                wear: spread.wear.get(),
                loss: spread.retention.get(),
                disturb: spread.disturb.get(),
            },
            blocks_per_die: geometry.blocks * geometry.planes,
            pages: Pages::new(&config.pages, geometry.pages),
            fresh: factors.iter().map(|factor| factor * config.fresh_errors).collect(),
            worn: cycle_curve(|x| wear.errors * math::pow(x / wear.cycles, wear.exponent)),
            worn_part: cycle_curve(|x| math::pow(x / wear.cycles, wear.worn_exponent)),
            loss: (config.retention.errors, config.retention.worn_errors),
            disturb: (config.disturb.errors, config.disturb.worn_errors),
            log_days: day_curve(math::ln_1p),
            days: days_in_a_nano(config.temperature.resolve(&key("temperature"))?),
            dwell_relief: wear.dwell_relief,
            exponential: read_curve(1.0, config.disturb.scale),
            erase_growth: config.erase.growth / wear.cycles,
            erase_spread: config.erase.spread.get(),
            noise: config.noise.get(),
            ladder: Ladder::new(&key("errors_per_retry"), &limits)?,
            codeword_bits: bits(config.codeword, &key("codeword"))?,
        })
    }

    /// Returns the raw bit errors of a codeword at the first attempt, not rounded.
    #[inline]
    pub(crate) fn errors(&self, block: BlockId, c: &Conditions) -> f64 {
        let this = self.block(block);
        let felt = self.felt(&this, c);
        let mut errors = self.fresh[factor_index(c)] + self.worn.at(felt);
        let aged = c.retention != Nanos::ZERO;
        if aged || c.reads != 0 {
            let part = self.worn_part.at(felt);
            if aged {
                let log = self.log_days.at(c.retention.as_ns() as f64 * self.days);
                let own = self.own(&this, Trait::Loss, self.spread.loss);
                errors += own * (self.loss.0 + self.loss.1 * part) * log;
            }
            if c.reads != 0 {
                let grown = self.exponential.at(f64::from(c.reads));
                let own = self.own(&this, Trait::Disturb, self.spread.disturb);
                errors += own * (self.disturb.0 + self.disturb.1 * part) * grown;
            }
        }
        let page = self.pages.factor(this.own_word(Trait::WorstPage), c.page);
        (errors * this.quality * page).min(self.codeword_bits / 2.0)
    }

    pub(crate) fn level_needed(&self, block: BlockId, c: &Conditions) -> Option<Level> {
        self.ladder.level_for(self.errors(block, c))
    }

    /// Returns the errors that a controller counts: the true number with the noise of one
    /// measurement. The same page under the same conditions gives the same count. Each further read
    /// is a new measurement.
    pub(crate) fn errors_measured(&self, block: BlockId, c: &Conditions) -> u32 {
        let when =
            c.retention.as_ns() ^ (u64::from(c.reads) << 32) ^ u64::from(c.pe_cycles.to_bits());
        let address = u64::from(block.0) << 16 | u64::from(c.page.0);
        let noise = self.standard.draw(self.noises.word(address ^ rng::mix(when)));
        (self.errors(block, c) * (1.0 + self.noise * noise)).round().max(0.0) as u32
    }

    pub(crate) fn rber(&self, block: BlockId, c: &Conditions) -> f64 {
        self.errors(block, c) / self.codeword_bits
    }

    /// Returns the raw bit error rate that each level decodes.
    pub(crate) fn capability(&self) -> Vec<f64> {
        self.ladder.limits().iter().map(|errors| errors / self.codeword_bits).collect()
    }

    pub(crate) fn days_in_a_nano(&self) -> f64 {
        self.days
    }

    pub(crate) fn heeds_wear(&self) -> bool {
        // Any number of cycles shows it, since wear adds errors from the first cycle.
        self.worn.at(1e4) > 0.0 || self.loss.1 > 0.0 || self.disturb.1 > 0.0
    }

    pub(crate) fn max_errors(&self) -> u32 {
        self.ladder.last() as u32
    }

    pub(crate) fn base_rber(&self, block: BlockId) -> f64 {
        self.block(block).quality * self.fresh[0] / self.codeword_bits
    }

    pub(crate) fn worst_page(&self, block: BlockId) -> PageInBlock {
        self.pages.worst(self.block(block).own_word(Trait::WorstPage))
    }

    /// Returns the erase time, which grows with the wear of the block.
    pub(crate) fn erase_time(&self, new: Nanos, block: BlockId, pe_cycles: f32) -> Nanos {
        let this = self.block(block);
        let felt = f64::from(pe_cycles) * self.own(&this, Trait::Wear, self.spread.wear);
        let own = self.own(&this, Trait::Erase, self.erase_spread);
        let factor = own * (1.0 + self.erase_growth * felt);
        Nanos::from_ns((new.as_ns() as f64 * factor).round() as u64)
    }

    /// Returns the effective cycles: fewer in a block that wears slowly or rests between erases.
    #[inline]
    fn felt(&self, this: &Block, c: &Conditions) -> f64 {
        let cycles = f64::from(c.pe_cycles) * self.own(this, Trait::Wear, self.spread.wear);
        if c.dwell == Nanos::ZERO {
            return cycles;
        }
        let log = self.log_days.at(c.dwell.as_ns() as f64 * self.days);
        cycles / (1.0 + self.dwell_relief * log)
    }

    #[inline]
    fn block(&self, block: BlockId) -> Block {
        let word = self.draws.word(u64::from(block.0));
        let die = self.dies.word(u64::from(block.0 / self.blocks_per_die));
        let quality = 1.0
            + self.spread.die * self.standard.draw(die)
            + self.spread.quality * self.standard.draw(word);
        Block { word, quality }
    }

    /// Draws a trait of the block, with a mean of 1 and this deviation.
    fn own(&self, this: &Block, which: Trait, deviation: f64) -> f64 {
        1.0 + deviation * self.standard.draw(this.own_word(which))
    }
}

/// The traits that each block draws besides its quality.
#[derive(Clone, Copy)]
enum Trait {
    Wear = 1,
    Loss,
    Disturb,
    Erase,
    WorstPage,
}
