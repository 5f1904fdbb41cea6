//! `read = known_level`: a read begins at the level at which its block was measured. The paper does not
//! say where its reads begin.

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
pub struct KnownLevel;

impl Answer for KnownLevel {
    type Config = KnownLevelConfig;

    fn check(_: &KnownLevelConfig, setup: &Setup) -> Result<(), Refusal> {
        let expected = "blocks that are measured by the level at which they are read (belief.grade = \"measured\")";
        if setup.measured { Ok(()) } else { Err(Refusal::new("read", "known_level", expected)) }
    }

    fn build(_: &KnownLevelConfig, _: &Setup) -> KnownLevel {
        KnownLevel
    }
}

impl ReadPolicy for KnownLevel {
    #[inline]
    fn start(&mut self, view: &ReadView) -> u8 {
        view.measured
    }

    fn by_one(&self) -> bool {
        true
    }
}
