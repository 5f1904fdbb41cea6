//! `read = known_level`: a read begins at the level at which its block was measured, on the drive or, where
//! each level has a class of its own, at the factory. The paper does not say where its reads begin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use crate::policy::read::{ReadPolicy, ReadView};
use crate::policy::{Answer, Setup};

/// `known_level` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownLevelConfig {}

/// Starts at the level at which the block was measured, and climbs one at a time.
#[derive(Clone, Debug)]
pub struct KnownLevel {
    /// Whether the class of a block is its level.
    by_class: bool,
}

impl Answer for KnownLevel {
    type Config = KnownLevelConfig;

    fn check(_: &KnownLevelConfig, setup: &Setup) -> Result<(), Refusal> {
        let expected = "blocks that are measured by the level at which they are read (belief.grade = \"measured\"), \
            or a class for each level (belief.grade = \"factory\")";
        let shares = setup.class_shares.len();
        let by_class = shares > 0 && shares + 1 == usize::from(setup.rungs);
        match setup.measured || by_class {
            true => Ok(()),
            false => Err(Refusal::new("read", "known_level", expected)),
        }
    }

    fn build(_: &KnownLevelConfig, setup: &Setup) -> KnownLevel {
        KnownLevel { by_class: !setup.measured }
    }
}

impl ReadPolicy for KnownLevel {
    #[inline]
    fn start(&mut self, view: &ReadView) -> u8 {
        if self.by_class { view.class } else { view.measured }
    }

    fn by_one(&self) -> bool {
        true
    }
}
