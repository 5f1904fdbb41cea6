//! `program_mode`: with which voltages or step size is a page programmed?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Hotness;
use crate::account::Cause;
use crate::allocation::BlockClass;
use crate::component::Components;
use crate::{PlacementHint, Policy, PolicyContext};

/// The view of a program-mode policy: a page that is about to be programmed.
#[derive(Clone, Copy, Debug)]
pub struct ProgramModeView<'a> {
    /// Why the page is written.
    pub cause: Cause,
    /// The class of the page's block, 0 the best.
    pub class: BlockClass,
    /// The hotness of the page, if the drive knows it.
    pub hotness: Option<Hotness>,
    /// The metadata components that the drive keeps.
    pub components: Components<'a>,
}

impl ProgramModeView<'_> {
    /// Returns a host write to a block of this class about which nothing else is known.
    pub fn of_a_class(class: BlockClass) -> ProgramModeView<'static> {
        let (cause, hotness) = (Cause::Host, None);
        ProgramModeView { cause, class, hotness, components: Components::NONE }
    }
}

/// What a link of the program-mode chain needs from the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProgramModeNeeds {
    /// Whether the link ever chooses a mode other than the normal one.
    pub chooses: bool,
    /// Whether the link chooses for every page. Then the drive asks no link behind it.
    pub answers_all: bool,
    /// Whether the link uses the hotness of pages.
    pub hotness: bool,
}

/// A link of the program-mode chain.
pub trait ProgramModePolicy: Policy {
    /// Returns what the link needs from the drive with these settings.
    fn needs(_: &Self::Config) -> ProgramModeNeeds {
        ProgramModeNeeds { chooses: true, ..ProgramModeNeeds::default() }
    }

    /// Fills in the program mode if no earlier link has.
    fn fill(&mut self, view: &ProgramModeView, hint: &mut PlacementHint);
}

/// `normal` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NormalConfig {}

/// Programs every page with the normal voltages.
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
