//! `placement = us`: uniformly specified, each page type in turn. Source: PA-SSD, section 4.2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::PageType;
use ssdlab_nand::refusal::Refusal;

use super::{is_open, needs_types};
use ssdlab_policy::columns::{Column, Per};
use ssdlab_policy::placement::{PlacementNeeds, PlacementPolicy, PlacementView, Typed};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// `us` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsConfig {}

/// Asks for each type in turn for host writes.
#[derive(Clone, Debug)]
pub struct Us {
    types: u8,
    next: u8,
}

impl Policy for Us {
    type Config = UsConfig;

    fn check(_: &UsConfig, context: &PolicyContext) -> Result<(), Refusal> {
        needs_types("us", context)
    }

    fn build(_: &UsConfig, context: &PolicyContext) -> Us {
        Us { types: context.geometry.cell.bits() as u8, next: 0 }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        vec![Column::new("next_type", Per::Drive, &mut self.next).up_to(u64::from(self.types) - 1)]
    }
}

impl PlacementPolicy for Us {
    fn fill(&mut self, view: &PlacementView, hint: &mut PlacementHint) {
        if is_open(view, hint) {
            hint.page_type = Some(PageType(self.next));
            self.next = (self.next + 1) % self.types;
        }
    }

    fn needs(_: &UsConfig) -> PlacementNeeds {
        PlacementNeeds { types: Typed::Host, ..PlacementNeeds::default() }
    }
}
