//! `program`: with which voltages or step is a page programmed?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Hotness;
use crate::account::Cause;
use crate::allocation::BlockClass;
use crate::component::Components;
use crate::{PlacementHint, Policy, PolicyContext};

/// What is known of a page that is about to be programmed.
#[derive(Clone, Copy, Debug)]
pub struct ProgramModeView<'a> {
    /// What the page is written for.
    pub cause: Cause,
    /// The class of the block that it was given, 0 the best.
    pub class: BlockClass,
    /// What the page is mostly used for, where that is known.
    pub hotness: Option<Hotness>,
    /// The metadata components that the drive keeps.
    pub components: Components<'a>,
}

impl ProgramModeView<'_> {
    /// Returns a write of the host to a block of this class, of which nothing else is known.
    pub fn of_a_class(class: BlockClass) -> ProgramModeView<'static> {
        let (cause, hotness) = (Cause::Host, None);
        ProgramModeView { cause, class, hotness, components: Components::NONE }
    }
}

/// What a link of the programming chain needs of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProgramModeNeeds {
    /// Whether it ever chooses another mode than the normal one.
    pub chooses: bool,
    /// Whether it answers for every page, so that no link behind it is asked.
    pub answers_all: bool,
    /// Whether it goes by what pages are used for.
    pub hotness: bool,
}

/// A link of the programming chain.
pub trait ProgramModePolicy: Policy {
    /// What it needs of the drive, with these settings.
    fn needs(_: &Self::Config) -> ProgramModeNeeds {
        ProgramModeNeeds { chooses: true, ..ProgramModeNeeds::default() }
    }

    /// Fills in the program mode if no link before has.
    fn fill(&mut self, view: &ProgramModeView, hint: &mut PlacementHint);
}

/// `normal` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NormalConfig {}

/// Every page with the normal voltages.
#[derive(Clone, Debug)]
pub struct Normal;

impl Policy for Normal {
    type Config = NormalConfig;

    fn build(_: &Self::Config, _: &PolicyContext) -> Normal {
        Normal
    }
}

impl ProgramModePolicy for Normal {
    fn needs(_: &NormalConfig) -> ProgramModeNeeds {
        ProgramModeNeeds::default()
    }

    #[inline]
    fn fill(&mut self, _: &ProgramModeView, _: &mut PlacementHint) {}
}
