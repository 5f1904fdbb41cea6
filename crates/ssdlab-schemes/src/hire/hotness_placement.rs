//! `placement.hotness`: mostly read, mostly written and mixed pages lie in separate blocks. Source:
//! HIRE, section 3.2 (readActive, writeActive and mixActive blocks).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use ssdlab_policy::Hotness;
use ssdlab_policy::allocation::{StreamId, Streams};
use ssdlab_policy::placement::{PlacementPolicy, PlacementView};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// `hotness` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotnessPlacementConfig {}

/// Asks for a block of pages of the same hotness.
#[derive(Clone, Debug)]
pub struct HotnessPlacement;

impl Policy for HotnessPlacement {
    type Config = HotnessPlacementConfig;

    fn check(_: &HotnessPlacementConfig, context: &PolicyContext) -> Result<(), Refusal> {
        if context.typed_pages {
            let expected = "ftl.page_order = \"strict\": in the relaxed order all that is written \
                            shares the blocks of a plane";
            return Err(Refusal::new("placement", "hotness", expected));
        }
        super::needs_hotness(context, "placement", "hotness")
    }

    fn build(_: &HotnessPlacementConfig, _: &PolicyContext) -> HotnessPlacement {
        HotnessPlacement
    }
}

impl PlacementPolicy for HotnessPlacement {
    fn streams(_: &HotnessPlacementConfig) -> Streams {
        Streams { count: Hotness::COUNT as u8, default: StreamId(Hotness::default() as u8) }
    }

    fn fill(&mut self, view: &PlacementView, hint: &mut PlacementHint) {
        hint.stream = hint.stream.or(view.hotness.map(|hotness| StreamId(hotness as u8)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_put_beside_those_that_are_used_as_it_is() {
        for hotness in [None, Some(Hotness::Read), Some(Hotness::Mixed), Some(Hotness::Write)] {
            let mut hint = PlacementHint::default();
            HotnessPlacement.fill(&PlacementView { hotness, ..PlacementView::plain() }, &mut hint);
            let stream = hotness.map(|hotness| StreamId(hotness as u8));
            assert_eq!(hint, PlacementHint { stream, ..PlacementHint::default() });
        }
    }
}
