//! `read_start`: at which level does a read start, and which levels follow?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Nanos;
use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{BlockId, Level, Lpn, PageInBlock};

use crate::allocation::BlockClass;
use crate::component::Components;
use crate::{Policy, PolicyContext};

/// The view of a read-start policy.
#[derive(Clone, Copy, Debug)]
pub struct ReadStartView<'a> {
    /// The block of the page.
    pub block: BlockId,
    /// The page's place in the block.
    pub page: PageInBlock,
    /// The logical page.
    pub lpn: Lpn,
    /// Number of levels: sensing levels, or the first attempt and its retries.
    pub levels: u8,
    /// The class of the block, 0 the best.
    pub class: BlockClass,
    /// P/E cycles of the block, if the policy [needs](ReadStartNeeds::age) them; else zero.
    pub pe_cycles: u32,
    /// Time since the first page of the block was written after its last erase, if the policy needs
    /// it; else zero. A controller knows it if it stamps its blocks.
    pub age: Nanos,
    /// The metadata components that the drive keeps.
    pub components: Components<'a>,
}

impl ReadStartView<'_> {
    /// Returns a read of a fresh block of the best class, with `levels` levels.
    pub fn of_a_block(levels: u8) -> ReadStartView<'static> {
        ReadStartView {
            block: BlockId(0),
            page: PageInBlock(0),
            lpn: Lpn(0),
            levels,
            class: BlockClass::BEST,
            pe_cycles: 0,
            age: Nanos::ZERO,
            components: Components::NONE,
        }
    }

    /// Returns the last level.
    pub fn last_level(&self) -> Level {
        Level::last_of(self.levels)
    }
}

/// The needs of a read-start policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadStartNeeds {
    /// Whether [`climb`](ReadStartPolicy::climb) always returns the next level. The drive then does
    /// not call it, which makes the simulation faster.
    pub by_one: bool,
    /// Whether the policy uses the age of the data and the P/E cycles of the block.
    pub age: bool,
}

/// The levels of a read: where it starts, and which level follows a failed one.
pub trait ReadStartPolicy {
    /// Returns the level of the first attempt.
    fn start(&mut self, view: &ReadStartView) -> Level;

    /// Returns the level to try after `failed` did not decode: a higher one. The drive tries the
    /// next level if it is none, and the last level instead of a higher one.
    fn climb(&mut self, _: &ReadStartView, failed: Level) -> Level {
        failed.next()
    }

    /// Returns the policy's needs.
    fn needs(&self) -> ReadStartNeeds {
        ReadStartNeeds::default()
    }
}

/// `lowest_level` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LowestLevelConfig {}

/// Starts at the lowest level and climbs one level at a time.
#[derive(Clone, Debug)]
pub struct LowestLevel;

impl Policy for LowestLevel {
    type Config = LowestLevelConfig;

    fn build(_: &LowestLevelConfig, _: &PolicyContext) -> LowestLevel {
        LowestLevel
    }
}

impl ReadStartPolicy for LowestLevel {
    fn start(&mut self, _: &ReadStartView) -> Level {
        Level::FIRST
    }

    fn needs(&self) -> ReadStartNeeds {
        ReadStartNeeds { by_one: true, ..ReadStartNeeds::default() }
    }
}

/// Settings of `fixed_level`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FixedLevelConfig {
    /// The level at which every read starts, counted from 1; at most the levels of the drive.
    /// Assumed.
    #[schemars(range(min = 1))]
    pub level: u8,
    /// Levels from one attempt to the next. Default: 1. Assumed.
    #[schemars(range(min = 1))]
    pub step: u8,
}

impl Default for FixedLevelConfig {
    fn default() -> FixedLevelConfig {
        FixedLevelConfig { level: 1, step: 1 }
    }
}

/// Starts at a fixed level and climbs a fixed number of levels at a time.
#[derive(Clone, Debug)]
pub struct FixedLevel {
    level: Level,
    step: u8,
}

impl Policy for FixedLevel {
    type Config = FixedLevelConfig;

    fn check(config: &FixedLevelConfig, context: &PolicyContext) -> Result<(), Refusal> {
        let levels = context.levels;
        if config.step == 0 {
            return Err(Refusal::new("read_start.fixed_level.step", 0, "at least 1"));
        }
        if (1..=levels).contains(&config.level) {
            return Ok(());
        }
        let expected = match levels {
            1 => "1, the only level of this drive".to_owned(),
            _ => format!("1 to {levels}, the levels of this drive"),
        };
        Err(Refusal::new("read_start.fixed_level.level", config.level, expected))
    }

    fn build(config: &FixedLevelConfig, _: &PolicyContext) -> FixedLevel {
        FixedLevel { level: Level(config.level.saturating_sub(1)), step: config.step }
    }
}

impl ReadStartPolicy for FixedLevel {
    fn start(&mut self, view: &ReadStartView) -> Level {
        self.level.min(view.last_level())
    }

    fn climb(&mut self, _: &ReadStartView, failed: Level) -> Level {
        Level(failed.0.saturating_add(self.step))
    }

    fn needs(&self) -> ReadStartNeeds {
        ReadStartNeeds { by_one: self.step == 1, ..ReadStartNeeds::default() }
    }
}

/// `highest_level` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HighestLevelConfig {}

/// Reads at the last level only: every read costs as much as the worst one. A drive whose reads
/// fail beyond the retry that they need refuses it.
#[derive(Clone, Debug)]
pub struct HighestLevel;

impl Policy for HighestLevel {
    type Config = HighestLevelConfig;

    fn build(_: &HighestLevelConfig, _: &PolicyContext) -> HighestLevel {
        HighestLevel
    }
}

impl ReadStartPolicy for HighestLevel {
    fn start(&mut self, view: &ReadStartView) -> Level {
        view.last_level()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(levels: u8) -> ReadStartView<'static> {
        ReadStartView::of_a_block(levels)
    }

    #[test]
    fn the_worst_is_the_last_level_at_once() {
        assert_eq!(HighestLevel.start(&view(5)), Level(4));
        assert_eq!(HighestLevel.start(&view(1)), Level(0));
    }

    #[test]
    fn a_climb_starts_at_the_level_that_is_set_and_goes_up_by_its_step() {
        let climb = |start, step| {
            let mut climb = FixedLevel { level: Level(start), step };
            [climb.start(&view(5)), climb.climb(&view(5), Level(2))].map(|level| level.0)
        };
        let climbs = [climb(0, 1), climb(2, 1), climb(4, 2), climb(9, 255)];
        assert_eq!(climbs, [[0, 3], [2, 3], [4, 4], [4, 255]]);
    }
}
