//! The chips of one drive: times, raw bit errors, and the level that each read needs.

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

/// The model of the flash's physics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhysicsConfig {
    /// All blocks are alike and have no bit errors; times are fixed.
    #[default]
    Flat,
    /// A read decodes with a number of sensing levels that grows with the raw bit error rate.
    Levels(Box<LevelsConfig>),
    /// A read decodes after a number of retries that grows with the raw bit errors of a codeword.
    Retries(Box<RetriesConfig>),
    /// A read needs as many retries as a read of a characterized block did.
    Measured(Box<MeasuredConfig>),
}

/// The chips of one drive, resolved to numbers. A chip never changes: every result depends only on
/// the seed, the block's address and the conditions.
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
    /// Resolves the chips of a drive of this shape. `seed` decides the quality of each block.
    ///
    /// # Errors
    /// Refuses the first invalid value, by its key.
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
                refuse_base_factors(&program_modes, "flat physics has no bit errors")?;
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
                    "physics.measured has blocks in the normal mode only",
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

    /// Returns whether all blocks are alike and every read decodes at the first attempt.
    pub fn is_flat(&self) -> bool {
        matches!(self.model, Model::Flat)
    }

    /// Returns whether raw bit errors grow with the time since a page was programmed.
    pub fn heeds_age(&self) -> bool {
        match &self.model {
            Model::Flat => false,
            Model::Levels(model) => model.heeds_age(),
            Model::Retries(_) => true,
            Model::Measured(model) => model.heeds_age(),
        }
    }

    /// Returns whether a read fails at its first attempt if it starts beyond the level that its
    /// page needs.
    pub fn fails_beyond(&self) -> bool {
        self.fails_beyond
    }

    /// Returns the number of levels: sensing levels, or the first attempt and the retries.
    #[inline]
    pub fn levels(&self) -> u8 {
        self.levels
    }

    /// Returns the time of one sensing at `level`. `continuing` means that the flash has just
    /// sensed the page at the level below; an incremental sensing then takes less.
    pub fn sense_time(
        &self,
        page_type: PageType,
        program_mode: ProgramMode,
        level: Level,
        continuing: bool,
    ) -> Nanos {
        self.times.sense(page_type, program_mode, level, continuing)
    }

    /// Returns the time in which `bytes` of a page sensed at `level` move to the controller.
    /// `on_bus` is the time of these bytes at the bus rate.
    pub fn transfer_time(
        &self,
        program_mode: ProgramMode,
        level: Level,
        bytes: u64,
        on_bus: Nanos,
    ) -> Nanos {
        self.transfers.time(program_mode, level, bytes, on_bus)
    }

    /// Returns the time to decode a page sensed at `level`, whether decoding succeeds or not.
    pub fn decode_time(&self, level: Level) -> Nanos {
        self.times.decode(level)
    }

    /// Returns whether every sensing and every decoding takes more than 0 ns.
    pub fn attempts_take_time(&self) -> bool {
        self.times.attempts_take_time()
    }

    /// Returns the time to program a page.
    pub fn program_time(&self, page_type: PageType, program_mode: ProgramMode) -> Nanos {
        self.times.program(page_type, program_mode)
    }

    /// Returns the time to erase a block after `pe_cycles` program/erase cycles.
    pub fn erase_time(&self, block: BlockId, pe_cycles: f32) -> Nanos {
        match &self.model {
            Model::Retries(model) => model.erase_time(self.erase, block, pe_cycles),
            Model::Measured(model) => model.erase_time(block, pe_cycles),
            Model::Flat | Model::Levels(_) => self.erase,
        }
    }

    /// Returns the lowest level at which a read decodes, or `None` if no level suffices.
    #[inline]
    pub fn level_needed(&self, block: BlockId, c: &Conditions) -> Option<Level> {
        match &self.model {
            Model::Flat => Some(Level::FIRST),
            Model::Levels(model) => model.level_needed(block, c),
            Model::Retries(model) => model.level_needed(block, c),
            Model::Measured(model) => model.level_needed(block, c),
        }
    }

    /// Returns the raw bit errors of a codeword at the first attempt, as a controller counts them.
    /// Under `physics.retries` the count includes noise.
    pub fn errors(&self, block: BlockId, c: &Conditions) -> u32 {
        match &self.model {
            Model::Flat => 0,
            Model::Levels(model) => model.errors(block, c),
            Model::Retries(model) => model.errors_measured(block, c),
            Model::Measured(model) => model.errors_counted(block, c),
        }
    }

    /// Returns the raw bit error rate at the first attempt.
    pub fn rber(&self, block: BlockId, c: &Conditions) -> f64 {
        match &self.model {
            Model::Flat => 0.0,
            Model::Levels(model) => model.rber(block, c),
            Model::Retries(model) => model.rber(block, c),
            Model::Measured(model) => model.rber(block, c),
        }
    }

    /// Returns the base raw bit error rate of a block: worst position, fresh data, normal program
    /// mode. It is lower for strong blocks than for weak ones.
    ///
    /// The rate is that of a new block, with two exceptions. `physics.levels` with wear returns the
    /// rate at `wear.reference_cycles`. `physics.measured` returns the rate at the lowest measured
    /// cycles, age and reads.
    pub fn base_rber(&self, block: BlockId) -> f64 {
        match &self.model {
            Model::Flat => 0.0,
            Model::Levels(model) => model.base_rber(block),
            Model::Retries(model) => model.base_rber(block),
            Model::Measured(model) => model.base_rber(block),
        }
    }

    /// Returns the raw bit error rate that each level decodes, from the first level up; empty under
    /// flat physics.
    pub fn capability(&self) -> Vec<f64> {
        match &self.model {
            Model::Flat => Vec::new(),
            Model::Levels(model) => model.capability(),
            Model::Retries(model) => model.capability(),
            Model::Measured(model) => model.capability(),
        }
    }

    /// Returns whether P/E cycles add bit errors.
    pub fn heeds_wear(&self) -> bool {
        match &self.model {
            Model::Flat => false,
            Model::Levels(model) => model.heeds_wear(),
            Model::Retries(model) => model.heeds_wear(),
            Model::Measured(model) => model.heeds_wear(),
        }
    }

    /// Returns the days at the reference temperature that equal one nanosecond at the drive's
    /// temperature.
    pub fn days_in_a_nano(&self) -> f64 {
        match &self.model {
            Model::Flat => days_in_a_nano(1.0),
            Model::Levels(model) => model.days_in_a_nano(),
            Model::Retries(model) => model.days_in_a_nano(),
            Model::Measured(model) => model.days_in_a_nano(),
        }
    }

    /// Returns the raw bit errors of a codeword that the last level decodes; 0 under flat physics.
    pub fn max_errors(&self) -> u32 {
        match &self.model {
            Model::Flat => 0,
            Model::Levels(model) => model.max_errors(),
            Model::Retries(model) => model.max_errors(),
            Model::Measured(model) => model.max_errors(),
        }
    }

    /// Returns the position with the most raw bit errors in a block. Under flat physics and
    /// `physics.levels` positions have no effect, and this is page 0.
    pub fn worst_page(&self, block: BlockId) -> PageInBlock {
        match &self.model {
            Model::Flat | Model::Levels(_) => PageInBlock(0),
            Model::Retries(model) => model.worst_page(block),
            Model::Measured(model) => model.worst_page(block),
        }
    }

    /// Returns the program modes, the normal one first.
    pub fn program_modes(&self) -> impl ExactSizeIterator<Item = ProgramMode> {
        (0..self.program_modes.names.len() as u8).map(ProgramMode)
    }

    /// Returns the names of the program modes, in their order.
    pub fn program_mode_names(&self) -> impl Iterator<Item = &str> {
        self.program_modes.names.iter().map(String::as_str)
    }

    /// Returns the program mode of this name.
    pub fn program_mode(&self, name: &str) -> Option<ProgramMode> {
        self.program_modes.named(name)
    }

    /// Returns the wear that a program in this mode counts for; 1 in the normal mode.
    pub fn wear_weight(&self, program_mode: ProgramMode) -> f64 {
        self.program_modes.wear[program_mode.index()]
    }
}

fn refuse_base_factors(program_modes: &ProgramModes, why: &str) -> Result<(), Refusal> {
    match program_modes.base_factor.iter().position(|&factor| factor != 1.0) {
        None => Ok(()),
        Some(class) => {
            let key = format!("timing.program_modes[{class}].base_factor");
            let expected = format!("1, or unset: {why}");
            Err(Refusal::new(key, program_modes.base_factor[class], expected))
        }
    }
}
