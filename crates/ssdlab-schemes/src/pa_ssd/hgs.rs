//! `placement = hgs`: guided by the host, whose hint tells how soon it needs a write. Source:
//! PA-SSD, section 4.2; the hint is NVMe's access latency (idle, typical, low).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::PageType;
use ssdlab_nand::refusal::Refusal;

use super::{is_open, needs_types};
use ssdlab_policy::placement::{PlacementNeeds, PlacementPolicy, PlacementView, Typed};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// `hgs` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HgsConfig {}

/// The hint for a long latency; the shortest is 1.
const LONG: u8 = 3;

/// Asks for the lowest type for a short latency, and for the highest type for a long one.
#[derive(Clone, Debug)]
pub struct Hgs {
    types: u8,
}

impl Policy for Hgs {
    type Config = HgsConfig;

    fn check(_: &HgsConfig, context: &PolicyContext) -> Result<(), Refusal> {
        needs_types("hgs", context)
    }

    fn build(_: &HgsConfig, context: &PolicyContext) -> Hgs {
        Hgs { types: context.geometry.cell.bits() as u8 }
    }
}

impl PlacementPolicy for Hgs {
    fn fill(&mut self, view: &PlacementView, hint: &mut PlacementHint) {
        if is_open(view, hint) && view.hint > 0 {
            // Cells with another number of types than three: the hints are spread over the types.
            let step = (view.hint.min(LONG) - 1) * (self.types - 1) / (LONG - 1);
            hint.page_type = Some(PageType(step));
        }
    }

    fn needs(_: &HgsConfig) -> PlacementNeeds {
        PlacementNeeds { types: Typed::Some, hints: true, ..PlacementNeeds::default() }
    }
}
