//! `placement = ubs`: by utilization, a random type in proportion to the free pages of each; also
//! for pages that move. Source: PA-SSD, section 4.2.

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::rng;
use ssdlab_nand::PageType;
use ssdlab_nand::refusal::Refusal;

use super::needs_types;
use ssdlab_policy::columns::{Column, Per};
use ssdlab_policy::placement::{PlacementNeeds, PlacementPolicy, PlacementView, Typed};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// `ubs` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UbsConfig {}

/// Asks for each type with a probability equal to its share of the drive's free pages.
#[derive(Clone, Debug)]
pub struct Ubs {
    random: rng::Stream,
}

impl Policy for Ubs {
    type Config = UbsConfig;

    fn check(_: &UbsConfig, context: &PolicyContext) -> Result<(), Refusal> {
        needs_types("ubs", context)
    }

    fn build(_: &UbsConfig, context: &PolicyContext) -> Ubs {
        Ubs { random: rng::stream(context.seed, "place.ubs") }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        // Only the simulator has to draw the same numbers again.
        vec![Column::new("ubs_random", Per::Drive, self.random.words()).uncounted()]
    }
}

impl PlacementPolicy for Ubs {
    fn fill(&mut self, view: &PlacementView, hint: &mut PlacementHint) {
        let all: u64 = view.free.iter().sum();
        if hint.page_type.is_some() || all == 0 {
            return;
        }
        let mut drawn = self.random.random_range(0..all);
        let own = view.free.iter().position(|&free| {
            let inside = drawn < free;
            drawn = drawn.saturating_sub(free);
            inside
        });
        hint.page_type = own.map(|at| PageType(at as u8));
    }

    fn needs(_: &UbsConfig) -> PlacementNeeds {
        PlacementNeeds { types: Typed::All, ..PlacementNeeds::default() }
    }
}
