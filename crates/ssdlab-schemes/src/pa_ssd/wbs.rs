//! `placement = wbs`: by the write buffer, the lowest type while it is full. Source: PA-SSD,
//! section 4.2, after J. Park et al., "Improving performance and lifetime of NAND storage systems
//! using relaxed program sequence", DAC 2016.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use super::{LSB, is_open, needs_types};
use ssdlab_policy::placement::{PlacementNeeds, PlacementPolicy, PlacementView, Typed};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// `wbs` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WbsConfig {}

/// Asks for the lowest type for host pages while the buffer is full, or if there is no buffer.
#[derive(Clone, Debug)]
pub struct Wbs;

impl Policy for Wbs {
    type Config = WbsConfig;

    fn check(_: &WbsConfig, context: &PolicyContext) -> Result<(), Refusal> {
        needs_types("wbs", context)
    }

    fn build(_: &WbsConfig, _: &PolicyContext) -> Wbs {
        Wbs
    }
}

impl PlacementPolicy for Wbs {
    fn fill(&mut self, view: &PlacementView, hint: &mut PlacementHint) {
        if is_open(view, hint) && view.buffer_full {
            hint.page_type = Some(LSB);
        }
    }

    fn needs(_: &WbsConfig) -> PlacementNeeds {
        PlacementNeeds { types: Typed::Some, ..PlacementNeeds::default() }
    }
}
