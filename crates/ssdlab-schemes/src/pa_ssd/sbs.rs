//! `placement = sbs`: by size, the lowest type for small writes. Source: PA-SSD, section 4.2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Bytes;
use ssdlab_nand::refusal::Refusal;

use super::{LSB, is_open, needs_types};
use ssdlab_policy::placement::{PlacementNeeds, PlacementPolicy, PlacementView, Typed};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// Settings of `sbs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SbsConfig {
    /// Writes below this size are small. Default: writes of one page. Source: PA-SSD (8 KiB, the
    /// size of its pages).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Bytes>,
}

/// Asks for the lowest type for small host writes.
#[derive(Clone, Debug)]
pub struct Sbs {
    below: Option<u64>,
}

impl Policy for Sbs {
    type Config = SbsConfig;

    fn check(config: &SbsConfig, context: &PolicyContext) -> Result<(), Refusal> {
        if let Some(below) = config.below.filter(|below| below.get() == 0) {
            return Err(Refusal::new("placement", format!("sbs below {below}"), "a size above 0B"));
        }
        needs_types("sbs", context)
    }

    fn build(config: &SbsConfig, _: &PolicyContext) -> Sbs {
        Sbs { below: config.below.map(Bytes::get) }
    }
}

impl PlacementPolicy for Sbs {
    fn fill(&mut self, view: &PlacementView, hint: &mut PlacementHint) {
        let small = self.below.map_or(view.pages == 1, |below| view.bytes < below);
        if is_open(view, hint) && small {
            hint.page_type = Some(LSB);
        }
    }

    fn needs(_: &SbsConfig) -> PlacementNeeds {
        PlacementNeeds { types: Typed::Some, ..PlacementNeeds::default() }
    }
}
