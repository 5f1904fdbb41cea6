//! `read`: where does a read start, and how does it climb?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::BlockId;

use super::{Answer, Setup};

/// What a reading policy may look at.
#[derive(Clone, Copy, Debug)]
pub struct ReadView {
    /// The block that is read.
    pub block: BlockId,
    /// Rungs of the ladder: sensing levels, or retries and the first attempt.
    pub rungs: u8,
}

/// How a read starts and climbs.
pub trait ReadPolicy {
    /// The rung of the first attempt.
    fn start(&mut self, view: &ReadView) -> u8;

    /// The rung to try after `failed` did not decode; higher than it.
    fn climb(&mut self, _: &ReadView, failed: u8) -> u8 {
        failed + 1
    }
}

/// Settings of `climb`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClimbConfig {
    /// The rung at which every read starts, counted from 1. Assumed.
    pub start: u8,
}

impl Default for ClimbConfig {
    fn default() -> ClimbConfig {
        ClimbConfig { start: 1 }
    }
}

/// Starts at a fixed rung and climbs one at a time.
#[derive(Clone, Debug)]
pub struct Climb {
    start: u8,
}

impl Answer for Climb {
    type Config = ClimbConfig;

    fn build(config: &ClimbConfig, _: &Setup) -> Climb {
        Climb { start: config.start.saturating_sub(1) }
    }
}

impl ReadPolicy for Climb {
    #[inline]
    fn start(&mut self, view: &ReadView) -> u8 {
        self.start.min(view.rungs - 1)
    }
}

/// `worst` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorstConfig {}

/// Always the last rung: every read costs what the worst one does.
#[derive(Clone, Debug)]
pub struct Worst;

impl Answer for Worst {
    type Config = WorstConfig;

    fn build(_: &WorstConfig, _: &Setup) -> Worst {
        Worst
    }
}

impl ReadPolicy for Worst {
    #[inline]
    fn start(&mut self, view: &ReadView) -> u8 {
        view.rungs - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: ReadView = ReadView { block: BlockId(0), rungs: 5 };

    #[test]
    fn the_worst_is_the_last_rung_at_once() {
        assert_eq!(Worst.start(&VIEW), 4);
        assert_eq!(Worst.start(&ReadView { rungs: 1, ..VIEW }), 0);
    }

    #[test]
    fn a_climb_starts_at_the_rung_that_is_set_and_goes_up_by_one() {
        let climb = |start| {
            let mut climb = Climb { start };
            [climb.start(&VIEW), climb.climb(&VIEW, 2)]
        };
        assert_eq!([climb(0), climb(2), climb(4), climb(9)], [[0, 3], [2, 3], [4, 3], [4, 3]]);
    }
}
