//! `program`: with which voltages or step is a page programmed?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Setup, Wish};
use crate::account::Cause;
use crate::belief::hotness::Hotness;

/// What is known of a page that is about to be programmed.
#[derive(Clone, Copy, Debug)]
pub struct ProgramView {
    /// What the page is written for.
    pub cause: Cause,
    /// The class of the block that it was given, 0 the best.
    pub class: u8,
    /// What the page is mostly used for, where that is known.
    pub hotness: Option<Hotness>,
}

/// A link of the programming chain.
pub trait ProgramPolicy {
    /// Fills the wish's voltage if it is still open.
    fn wish(&mut self, view: &ProgramView, wish: &mut Wish);
}

/// `normal` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NormalConfig {}

/// Every page with the normal voltages.
#[derive(Clone, Debug)]
pub struct Normal;

impl Answer for Normal {
    type Config = NormalConfig;

    fn build(_: &Self::Config, _: &Setup) -> Normal {
        Normal
    }
}

impl ProgramPolicy for Normal {
    #[inline]
    fn wish(&mut self, _: &ProgramView, _: &mut Wish) {}
}
