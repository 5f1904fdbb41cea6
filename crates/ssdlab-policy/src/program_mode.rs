//! `program_mode`: with which voltages or step size is a page programmed?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use ssdlab_base::SimTime;
use ssdlab_nand::page_order::PageType;
use ssdlab_nand::{BlockId, Lpn, PageInBlock};

use crate::Hotness;
use crate::account::Cause;
use crate::allocation::BlockClass;
use crate::component::Components;
use crate::{PlacementHint, Policy, PolicyContext};

/// The view of a program-mode policy: a page that is about to be programmed.
#[derive(Clone, Copy, Debug)]
pub struct ProgramModeView<'a> {
    /// The current time.
    pub now: SimTime,
    /// Why the page is written.
    pub cause: Cause,
    /// The logical page.
    pub lpn: Lpn,
    /// The block that gets the page.
    pub block: BlockId,
    /// The page's place in the block.
    pub page: PageInBlock,
    /// The type of the physical page.
    pub page_type: PageType,
    /// P/E cycles of the block.
    pub pe_cycles: u32,
    /// The class of the page's block, 0 the best.
    pub class: BlockClass,
    /// The hotness of the page, if the drive knows it.
    pub hotness: Option<Hotness>,
    /// The metadata components that the drive keeps.
    pub components: Components<'a>,
}

impl ProgramModeView<'_> {
    /// Returns a host write to a new block of this class about which nothing else is known.
    pub fn of_a_class(class: BlockClass) -> ProgramModeView<'static> {
        ProgramModeView {
            now: SimTime::START,
            cause: Cause::Host,
            lpn: Lpn(0),
            block: BlockId(0),
            page: PageInBlock(0),
            page_type: PageType(0),
            pe_cycles: 0,
            class,
            hotness: None,
            components: Components::NONE,
        }
    }
}

/// The needs of a link of the program-mode chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProgramModeNeeds {
    /// Whether the link ever chooses a mode other than the normal one.
    pub chooses: bool,
    /// Whether the link chooses for every page. Then the drive asks no link behind it.
    pub decides_all: bool,
    /// Whether the link uses the hotness of pages.
    pub hotness: bool,
}

/// A link of the program-mode chain.
pub trait ProgramModePolicy: Policy {
    /// Returns the link's needs with these settings.
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

    fn fill(&mut self, _: &ProgramModeView, _: &mut PlacementHint) {}
}
