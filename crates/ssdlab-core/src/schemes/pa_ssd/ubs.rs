//! `place = ubs`: by utilisation, each type by chance in proportion to its free pages; for what is
//! moved, too. Source: PA-SSD, section 4.2.

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::rng;
use ssdlab_nand::PageType;
use ssdlab_nand::refusal::Refusal;

use super::needs_types;
use crate::policy::place::{PlacePolicy, PlaceView, Typed};
use crate::policy::{Answer, Setup, Wish};

/// `ubs` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UbsConfig {}

/// Wishes each type with a chance of its share of the drive's free pages.
#[derive(Clone, Debug)]
pub struct Ubs {
    random: rng::Stream,
}

impl Answer for Ubs {
    type Config = UbsConfig;

    fn check(_: &UbsConfig, setup: &Setup) -> Result<(), Refusal> {
        needs_types("ubs", setup)
    }

    fn build(_: &UbsConfig, setup: &Setup) -> Ubs {
        Ubs { random: rng::stream(setup.seed, "place.ubs") }
    }
}

impl PlacePolicy for Ubs {
    fn wish(&mut self, view: &PlaceView, wish: &mut Wish) {
        let all: u64 = view.free.iter().sum();
        if wish.page_type.is_some() || all == 0 {
            return;
        }
        let mut drawn = self.random.random_range(0..all);
        let own = view.free.iter().position(|&free| {
            let inside = drawn < free;
            drawn = drawn.saturating_sub(free);
            inside
        });
        wish.page_type = own.map(|at| PageType(at as u8));
    }

    fn types(&self) -> Typed {
        Typed::All
    }
}
