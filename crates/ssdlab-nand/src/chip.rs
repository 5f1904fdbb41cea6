//! The chips of one drive: what any block takes and errs under any conditions.

use ssdlab_base::Nanos;

pub use crate::conditions::Conditions;
use crate::geometry::{BlockId, Geometry, PageInBlock};
use crate::level::Level;
use crate::levels::{Levels, LevelsConfig};
use crate::measured::MeasuredConfig;
use crate::measured_blocks::MeasuredBlocks;
use crate::page_order::PageType;
use crate::program_mode::{ProgramMode, ProgramModes};
use crate::refusal::Refusal;
use crate::retention::days_in_a_nano;
use crate::retry::Retries;
use crate::retry_config::{Beyond, RetriesConfig};
use crate::timing::{Climb, Times, TimingConfig};
use crate::transfer::{TransferConfig, Transfers};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the blocks really are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhysicsConfig {
    /// All blocks alike, no bit errors: fixed times.
    #[default]
    Flat,
    /// A read decodes with a number of sensing levels that grows with the raw bit error rate.
    Levels(Box<LevelsConfig>),
    /// A read decodes after a number of retries that grows with the raw bit errors of a codeword.
    Retries(Box<RetriesConfig>),
    /// A read decodes after as many retries as one of a characterised block did.
    Measured(Box<MeasuredConfig>),
}

/// The chips of one drive, resolved to numbers. Holds nothing that changes: every answer depends
/// on the seed, the block's address and the conditions alone.
#[derive(Clone, Debug)]
pub struct Chip {
    levels: u8,
    fails_beyond: bool,
    times: Times,
    transfers: Transfers,
    program_modes: ProgramModes,
    erase: Nanos,
    model: Model,
}

#[derive(Clone, Debug)]
enum Model {
    Flat,
    Levels(Box<Levels>),
    Retries(Box<Retries>),
    Measured(Box<MeasuredBlocks>),
}

impl Chip {
    /// The chips of a drive of this shape; `seed` decides what each block is.
    ///
    /// # Errors
    /// The first declared value that cannot be, by its key.
    pub fn resolve(
        geometry: &Geometry,
        timing: &TimingConfig,
        physics: &PhysicsConfig,
        seed: u64,
    ) -> Result<Chip, Refusal> {
        let program_modes = ProgramModes::resolve(&timing.program_modes, geometry.cell)?;
        let same = TransferConfig::Same;
        let (model, mut climb, transfer) = match physics {
            PhysicsConfig::Flat => {
                refuse_base_factors(&program_modes, "under flat physics, which has no bit errors")?;
                (Model::Flat, Climb::single(), &same)
            }
            PhysicsConfig::Levels(config) => {
                let model = Levels::resolve(config, geometry, &program_modes, seed)?;
                (Model::Levels(Box::new(model)), config.climb()?, &config.transfer)
            }
            PhysicsConfig::Retries(config) => {
                let model = Retries::resolve(config, geometry, &program_modes, seed)?;
                (Model::Retries(Box::new(model)), config.climb(), &same)
            }
            PhysicsConfig::Measured(config) => {
                refuse_base_factors(
                    &program_modes,
                    "of blocks that were measured as normally programmed",
                )?;
                let model = MeasuredBlocks::resolve(config, geometry, seed)?;
                (Model::Measured(Box::new(model)), config.climb(), &same)
            }
        };
        let levels = climb.shares.len();
        if let Model::Levels(model) = &model {
            climb.shares.truncate(model.levels());
        }
        let climbed = climb.shares.len();
        timing.check(geometry.cell, climbed)?;
        let beyond = match physics {
            PhysicsConfig::Retries(config) => config.beyond,
            PhysicsConfig::Measured(config) => config.beyond,
            PhysicsConfig::Flat | PhysicsConfig::Levels(_) => Beyond::Decodes,
        };
        Ok(Chip {
            levels: climbed as u8,
            fails_beyond: beyond == Beyond::Fails,
            times: Times::resolve(timing, &climb),
            transfers: Transfers::resolve(
                transfer,
                timing,
                (climbed, levels),
                geometry.page_size.get(),
            )?,
            program_modes,
            erase: timing.erase,
            model,
        })
    }

    /// Whether all blocks are alike and every read decodes at once.
    #[inline]
    pub fn is_flat(&self) -> bool {
        matches!(self.model, Model::Flat)
    }

    /// Whether a page reads worse with the time since it was programmed.
    pub fn heeds_age(&self) -> bool {
        match &self.model {
            Model::Flat => false,
            Model::Levels(model) => model.heeds_age(),
            Model::Retries(_) => true,
            Model::Measured(model) => model.heeds_age(),
        }
    }

    /// Whether a read that starts beyond the level that its page needs fails there.
    #[inline]
    pub fn fails_beyond(&self) -> bool {
        self.fails_beyond
    }

    /// Levels of the ladder that a read climbs: sensing levels, or retries and the first attempt.
    #[inline]
    pub fn levels(&self) -> u8 {
        self.levels
    }

    /// Time of one sensing at this level, counted from 0. `continuing`: the page has just been
    /// sensed at the level below, of which this one may make use.
    #[inline]
    pub fn sense_time(
        &self,
        page_type: PageType,
        program_mode: ProgramMode,
        level: Level,
        continuing: bool,
    ) -> Nanos {
        self.times.sense(page_type, program_mode, level, continuing)
    }

    /// Time in which `bytes` of a page sensed at this level move to the controller; `on_bus` is
    /// what they take at the bus's own rate.
    #[inline]
    pub fn transfer_time(
        &self,
        program_mode: ProgramMode,
        level: Level,
        bytes: u64,
        on_bus: Nanos,
    ) -> Nanos {
        self.transfers.time(program_mode, level, bytes, on_bus)
    }

    /// Time to decode a page sensed at this level, whether that succeeds or not.
    #[inline]
    pub fn decode_time(&self, level: Level) -> Nanos {
        self.times.decode(level)
    }

    /// Whether every sensing and every decoding takes some time.
    pub fn attempts_take_time(&self) -> bool {
        self.times.attempts_take_time()
    }

    /// Time to program a page.
    #[inline]
    pub fn program_time(&self, page_type: PageType, program_mode: ProgramMode) -> Nanos {
        self.times.program(page_type, program_mode)
    }

    /// Time to erase a block of this wear.
    #[inline]
    pub fn erase_time(&self, block: BlockId, pe_cycles: f32) -> Nanos {
        match &self.model {
            Model::Retries(model) => model.erase_time(self.erase, block, pe_cycles),
            Model::Measured(model) => model.erase_time(block, pe_cycles),
            Model::Flat | Model::Levels(_) => self.erase,
        }
    }

    /// The level at which a read decodes; `None` if the last one does not suffice.
    #[inline]
    pub fn level_needed(&self, block: BlockId, c: &Conditions) -> Option<Level> {
        match &self.model {
            Model::Flat => Some(Level::FIRST),
            Model::Levels(model) => model.level_needed(block, c),
            Model::Retries(model) => model.level_needed(block, c),
            Model::Measured(model) => model.level_needed(block, c),
        }
    }

    /// Raw bit errors of a codeword at the first attempt, as a controller counts them.
    pub fn errors(&self, block: BlockId, c: &Conditions) -> u32 {
        match &self.model {
            Model::Flat => 0,
            Model::Levels(model) => model.errors(block, c),
            Model::Retries(model) => model.errors_measured(block, c),
            Model::Measured(model) => model.errors_counted(block, c),
        }
    }

    /// Raw bit error rate at the first attempt.
    pub fn rber(&self, block: BlockId, c: &Conditions) -> f64 {
        match &self.model {
            Model::Flat => 0.0,
            Model::Levels(model) => model.rber(block, c),
            Model::Retries(model) => model.rber(block, c),
            Model::Measured(model) => model.rber(block, c),
        }
    }

    /// Raw bit error rate of a block as it was made: of its worst page, unworn, normally
    /// programmed, fresh. What tells strong blocks from weak ones.
    pub fn base_rber(&self, block: BlockId) -> f64 {
        match &self.model {
            Model::Flat => 0.0,
            Model::Levels(model) => model.base_rber(block),
            Model::Retries(model) => model.base_rber(block),
            Model::Measured(model) => model.base_rber(block),
        }
    }

    /// Raw bit error rate that each level decodes, from the first up; empty under flat physics.
    pub fn capability(&self) -> Vec<f64> {
        match &self.model {
            Model::Flat => Vec::new(),
            Model::Levels(model) => model.capability(),
            Model::Retries(model) => model.capability(),
            Model::Measured(model) => model.capability(),
        }
    }

    /// Whether P/E cycles add bit errors.
    pub fn heeds_wear(&self) -> bool {
        match &self.model {
            Model::Flat => false,
            Model::Levels(model) => model.heeds_wear(),
            Model::Retries(model) => model.heeds_wear(),
            Model::Measured(model) => model.heeds_wear(),
        }
    }

    /// Days at the temperature for which coefficients hold that a nanosecond at the drive's counts
    /// for.
    pub fn days_in_a_nano(&self) -> f64 {
        match &self.model {
            Model::Flat => days_in_a_nano(1.0),
            Model::Levels(model) => model.days_in_a_nano(),
            Model::Retries(model) => model.days_in_a_nano(),
            Model::Measured(model) => model.days_in_a_nano(),
        }
    }

    /// Raw bit errors of a codeword that the last level decodes; 0 under flat physics.
    pub fn most_errors(&self) -> u32 {
        match &self.model {
            Model::Flat => 0,
            Model::Levels(model) => model.most_errors(),
            Model::Retries(model) => model.most_errors(),
            Model::Measured(model) => model.most_errors(),
        }
    }

    /// The page that decides how well its block reads. Where pages of a block are alike, the first.
    pub fn worst_page(&self, block: BlockId) -> PageInBlock {
        match &self.model {
            Model::Flat | Model::Levels(_) => PageInBlock(0),
            Model::Retries(model) => model.worst_page(block),
            Model::Measured(model) => model.worst_page(block),
        }
    }

    /// Voltage classes, the normal one first.
    pub fn program_modes(&self) -> impl ExactSizeIterator<Item = ProgramMode> {
        (0..self.program_modes.names.len() as u8).map(ProgramMode)
    }

    /// Names of the voltage classes, in their order.
    pub fn program_mode_names(&self) -> impl Iterator<Item = &str> {
        self.program_modes.names.iter().map(String::as_str)
    }

    /// The voltage class of this name.
    pub fn program_mode(&self, name: &str) -> Option<ProgramMode> {
        self.program_modes.named(name)
    }

    /// What a program in this class counts for as wear; 1 in the normal class.
    #[inline]
    pub fn wear_weight(&self, program_mode: ProgramMode) -> f64 {
        self.program_modes.wear[program_mode.index()]
    }
}

fn refuse_base_factors(program_modes: &ProgramModes, why: &str) -> Result<(), Refusal> {
    match program_modes.base_factor.iter().position(|&factor| factor != 1.0) {
        None => Ok(()),
        Some(class) => {
            let key = format!("timing.program_modes[{class}].base_factor");
            let expected = format!("none {why}");
            Err(Refusal::new(key, program_modes.base_factor[class], expected))
        }
    }
}
