//! `place = small_strong`: PV+allocation, which gives strong blocks to small writes and reorders
//! nothing. Source: DLV, section IV-C, after L. Shi et al., "Exploiting process variation for write
//! performance improvement on NAND flash memory storage systems", IEEE TVLSI 24(1), 2016.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use crate::account::Cause;
use crate::policy::place::{PlacePolicy, PlaceView};
use crate::policy::{Answer, Setup, Wish};

/// Settings of `small_strong`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SmallStrongConfig {
    /// The most pages that a small write has. Default: 4. Source: DLV (ruled).
    pub pages: u32,
}

impl Default for SmallStrongConfig {
    fn default() -> SmallStrongConfig {
        SmallStrongConfig { pages: 4 }
    }
}

/// Wishes the best blocks for small writes, the worst for others.
#[derive(Clone, Debug)]
pub struct SmallStrong {
    pages: u32,
    worst: u8,
}

impl Answer for SmallStrong {
    type Config = SmallStrongConfig;

    fn check(_: &SmallStrongConfig, setup: &Setup) -> Result<(), Refusal> {
        match setup.classes {
            0 | 1 => {
                let expected = "classes of blocks to tell apart (belief.grade)";
                Err(Refusal::new("place", "small_strong", expected))
            }
            _ => Ok(()),
        }
    }

    fn build(config: &SmallStrongConfig, setup: &Setup) -> SmallStrong {
        SmallStrong { pages: config.pages, worst: setup.classes - 1 }
    }
}

impl PlacePolicy for SmallStrong {
    #[inline]
    fn wish(&mut self, view: &PlaceView, wish: &mut Wish) {
        let small = view.cause == Cause::Host && view.pages <= self.pages;
        wish.quality.get_or_insert(if small { 0 } else { self.worst });
    }
}
