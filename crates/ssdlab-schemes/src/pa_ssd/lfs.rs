//! `placement = lfs`: the lowest type first, for all writes. Source: PA-SSD, section 4.2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use super::{LSB, is_open, needs_types};
use ssdlab_policy::placement::{PlacementNeeds, PlacementPolicy, PlacementView, Typed};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// `lfs` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LfsConfig {}

/// Asks for the lowest type for every host write.
#[derive(Clone, Debug)]
pub struct Lfs;

impl Policy for Lfs {
    type Config = LfsConfig;

    fn check(_: &LfsConfig, context: &PolicyContext) -> Result<(), Refusal> {
        needs_types("lfs", context)
    }

    fn build(_: &LfsConfig, _: &PolicyContext) -> Lfs {
        Lfs
    }
}

impl PlacementPolicy for Lfs {
    fn fill(&mut self, view: &PlacementView, hint: &mut PlacementHint) {
        if is_open(view, hint) {
            hint.page_type = Some(LSB);
        }
    }

    fn needs(_: &LfsConfig) -> PlacementNeeds {
        PlacementNeeds { types: Typed::Host, ..PlacementNeeds::default() }
    }
}
