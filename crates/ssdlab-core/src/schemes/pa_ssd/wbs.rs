//! `place = wbs`: by the write buffer, the lowest type while it is full. Source: PA-SSD, section 4.2,
//! after J. Park et al., "Improving performance and lifetime of NAND storage systems using relaxed
//! program sequence", DAC 2016.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use super::{LSB, is_open, needs_types};
use crate::policy::place::{PlacePolicy, PlaceView, Typed};
use crate::policy::{Answer, Setup, Wish};

/// `wbs` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WbsConfig {}

/// Wishes the lowest type for the host's pages while nothing more fits into the buffer, or if there
/// is none.
#[derive(Clone, Debug)]
pub struct Wbs;

impl Answer for Wbs {
    type Config = WbsConfig;

    fn check(_: &WbsConfig, setup: &Setup) -> Result<(), Refusal> {
        needs_types("wbs", setup)
    }

    fn build(_: &WbsConfig, _: &Setup) -> Wbs {
        Wbs
    }
}

impl PlacePolicy for Wbs {
    fn wish(&mut self, view: &PlaceView, wish: &mut Wish) {
        if is_open(view, wish) && view.buffer_full {
            wish.page_type = Some(LSB);
        }
    }

    fn types(&self) -> Typed {
        Typed::Some
    }
}
