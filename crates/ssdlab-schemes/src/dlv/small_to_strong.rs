//! `placement = small_to_strong`: PV+allocation, which gives strong blocks to small writes and
//! reorders nothing. Source: DLV, section IV-C, after L. Shi et al., "Exploiting process variation
//! for write performance improvement on NAND flash memory storage systems", IEEE TVLSI 24(1), 2016.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use ssdlab_policy::account::Cause;
use ssdlab_policy::allocation::BlockClass;
use ssdlab_policy::placement::{PlacementPolicy, PlacementView};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// Settings of `small_to_strong`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SmallToStrongConfig {
    /// Largest number of pages of a small write. Default: 4. Source: DLV (ruled).
    pub pages: u32,
}

impl Default for SmallToStrongConfig {
    fn default() -> SmallToStrongConfig {
        SmallToStrongConfig { pages: 4 }
    }
}

/// Asks for the best blocks for small writes, and for the worst blocks for others.
#[derive(Clone, Debug)]
pub struct SmallToStrong {
    pages: u32,
    worst: BlockClass,
}

impl Policy for SmallToStrong {
    type Config = SmallToStrongConfig;

    fn check(_: &SmallToStrongConfig, context: &PolicyContext) -> Result<(), Refusal> {
        match context.classes.count {
            0 | 1 => {
                let expected = "classes of blocks to tell apart (metadata.block_class)";
                Err(Refusal::new("placement", "small_to_strong", expected))
            }
            _ => Ok(()),
        }
    }

    fn build(config: &SmallToStrongConfig, context: &PolicyContext) -> SmallToStrong {
        SmallToStrong { pages: config.pages, worst: BlockClass(context.classes.count - 1) }
    }
}

impl PlacementPolicy for SmallToStrong {
    fn fill(&mut self, view: &PlacementView, hint: &mut PlacementHint) {
        let small = view.cause == Cause::Host && view.pages <= self.pages;
        hint.quality.get_or_insert(if small { BlockClass::BEST } else { self.worst });
    }
}
