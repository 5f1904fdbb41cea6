//! `place = lfs`: the lowest type first, for all writes. Source: PA-SSD, section 4.2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use super::{LSB, is_open, needs_types};
use crate::policy::place::{PlacePolicy, PlaceView, Typed};
use crate::policy::{Answer, Setup, Wish};

/// `lfs` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LfsConfig {}

/// Wishes the lowest type for every write of the host.
#[derive(Clone, Debug)]
pub struct Lfs;

impl Answer for Lfs {
    type Config = LfsConfig;

    fn check(_: &LfsConfig, setup: &Setup) -> Result<(), Refusal> {
        needs_types("lfs", setup)
    }

    fn build(_: &LfsConfig, _: &Setup) -> Lfs {
        Lfs
    }
}

impl PlacePolicy for Lfs {
    fn wish(&mut self, view: &PlaceView, wish: &mut Wish) {
        if is_open(view, wish) {
            wish.page_type = Some(LSB);
        }
    }

    fn types(&self) -> Typed {
        Typed::Host
    }
}
