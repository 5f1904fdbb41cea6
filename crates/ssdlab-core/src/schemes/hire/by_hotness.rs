//! `place.by_hotness`: pages that are mostly read, mostly written, and both lie in blocks of their own.
//! Source: HIRE, section 3.2 (readActive, writeActive and mixActive blocks).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use crate::policy::place::{PlacePolicy, PlaceView};
use crate::policy::{Answer, Setup, Wish};

/// `by_hotness` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByHotnessConfig {}

/// Wishes for a block of pages that are used alike.
#[derive(Clone, Debug)]
pub struct ByHotness;

impl Answer for ByHotness {
    type Config = ByHotnessConfig;

    fn check(_: &ByHotnessConfig, setup: &Setup) -> Result<(), Refusal> {
        if setup.typed_pages {
            let expected = "ftl.page_order = \"strict\": in the relaxed order all that is written \
                            shares the blocks of a plane";
            return Err(Refusal::new("place", "by_hotness", expected));
        }
        setup.needs_hotness("place")
    }

    fn build(_: &ByHotnessConfig, _: &Setup) -> ByHotness {
        ByHotness
    }
}

impl PlacePolicy for ByHotness {
    #[inline]
    fn wish(&mut self, view: &PlaceView, wish: &mut Wish) {
        wish.hotness = wish.hotness.or(view.hotness);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::hotness::Hotness;

    #[test]
    fn a_page_is_put_beside_those_that_are_used_as_it_is() {
        for hotness in [None, Some(Hotness::Read), Some(Hotness::Mixed), Some(Hotness::Write)] {
            let mut wish = Wish::default();
            ByHotness.wish(&PlaceView { hotness, ..PlaceView::plain() }, &mut wish);
            assert_eq!(wish, Wish { hotness, ..Wish::default() });
        }
    }
}
