//! `placement = qds`: by the depth of the queue, the lowest type while it is long. Source: PA-SSD,
//! section 4.2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use super::{LSB, is_open, needs_types};
use ssdlab_policy::placement::{PlacementNeeds, PlacementPolicy, PlacementView, Typed};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// Settings of `qds`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QdsConfig {
    /// Number of requests in the device queue, including the new one, above which the queue is
    /// long; with 0 every write gets the lowest type. Default: 10. Source: PA-SSD, section 4.2.
    pub threshold: u32,
}

impl Default for QdsConfig {
    fn default() -> QdsConfig {
        QdsConfig { threshold: 10 }
    }
}

/// Asks for the lowest type for host writes that arrive while the queue is long.
#[derive(Clone, Debug)]
pub struct Qds {
    threshold: u32,
}

impl Policy for Qds {
    type Config = QdsConfig;

    fn check(_: &QdsConfig, context: &PolicyContext) -> Result<(), Refusal> {
        needs_types("qds", context)
    }

    fn build(config: &QdsConfig, _: &PolicyContext) -> Qds {
        Qds { threshold: config.threshold }
    }
}

impl PlacementPolicy for Qds {
    fn fill(&mut self, view: &PlacementView, hint: &mut PlacementHint) {
        if is_open(view, hint) && view.unfinished > self.threshold {
            hint.page_type = Some(LSB);
        }
    }

    fn needs(_: &QdsConfig) -> PlacementNeeds {
        PlacementNeeds { types: Typed::Some, ..PlacementNeeds::default() }
    }
}
