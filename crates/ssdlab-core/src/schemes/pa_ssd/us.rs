//! `place = us`: uniformly specified, each page type in turn. Source: PA-SSD, section 4.2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::PageType;
use ssdlab_nand::refusal::Refusal;

use super::{is_open, needs_types};
use crate::policy::place::{PlacePolicy, PlaceView, Typed};
use crate::policy::{Answer, Setup, Wish};

/// `us` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsConfig {}

/// Wishes each type in turn for the host's writes.
#[derive(Clone, Debug)]
pub struct Us {
    types: u8,
    next: u8,
}

impl Answer for Us {
    type Config = UsConfig;

    fn check(_: &UsConfig, setup: &Setup) -> Result<(), Refusal> {
        needs_types("us", setup)
    }

    fn build(_: &UsConfig, setup: &Setup) -> Us {
        Us { types: setup.geometry.cell.bits() as u8, next: 0 }
    }
}

impl PlacePolicy for Us {
    fn wish(&mut self, view: &PlaceView, wish: &mut Wish) {
        if is_open(view, wish) {
            wish.page_type = Some(PageType(self.next));
            self.next = (self.next + 1) % self.types;
        }
    }

    fn types(&self) -> Typed {
        Typed::Host
    }
}
