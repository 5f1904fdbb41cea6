//! Metadata components: state of the controller that several policies read.
//!
//! A component learns by events, as policies do, and decides nothing. What it knows of blocks and pages reaches
//! the drive by [`BlockMetadata`] and [`PageMetadata`]. A policy that needs more of a component finds it by its type in
//! its view ([`Components`]).

use std::any::{Any, TypeId};
use std::fmt;

use ssdlab_base::CellTime;
use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{BlockId, Lpn, PlaneId};

use crate::account::{BlockProbe, Reading};
use crate::allocation::{BlockClass, FreeBlockPolicy};
use crate::suspend::IdleKey;
use crate::{Hotness, Learner, PolicyContext, Toggle};

/// What of a drive decides which settings of a component have an effect.
#[derive(Clone, Copy, Debug)]
pub struct ComponentFacts {
    /// No read ever fails.
    pub is_flat: bool,
    /// There is a buffer.
    pub has_buffer: bool,
    /// The order in which free blocks are opened.
    pub opens: FreeBlockPolicy,
    /// Pages move as the host reads them.
    pub migrates: bool,
    /// Program modes go by what pages are used for.
    pub by_hotness: bool,
    /// A policy uses the component.
    pub is_used: bool,
}

/// The settings of a component.
pub trait ComponentConfig {
    /// Whether a drive with these settings keeps the component. `is_used`: a policy uses it.
    fn is_kept(&self, _is_used: bool) -> bool {
        true
    }

    /// Refuses settings that cannot be on a drive whose reads have so many levels.
    ///
    /// # Errors
    /// The first of them, by its key.
    fn check(&self, _levels: u8) -> Result<(), Refusal> {
        Ok(())
    }

    /// Settings that may have no effect on a drive, which refuses them then.
    fn idle_keys(&self, _: &ComponentFacts) -> Vec<IdleKey> {
        Vec::new()
    }

    /// Bytes of memory that the component takes for each logical page.
    fn page_bytes(&self) -> u64 {
        0
    }

    /// Kinds of pages that it tells apart and that lie in blocks of their own.
    fn page_kinds(&self) -> u8 {
        1
    }
}

/// A component that is switched on or off.
impl<Config: ComponentConfig> ComponentConfig for Toggle<Config> {
    fn is_kept(&self, is_used: bool) -> bool {
        self.get().is_some_and(|config| config.is_kept(is_used))
    }

    fn check(&self, levels: u8) -> Result<(), Refusal> {
        self.get().map_or(Ok(()), |config| config.check(levels))
    }

    fn idle_keys(&self, facts: &ComponentFacts) -> Vec<IdleKey> {
        self.get().map_or_else(Vec::new, |config| config.idle_keys(facts))
    }

    fn page_bytes(&self) -> u64 {
        self.get().map_or(0, Config::page_bytes)
    }

    fn page_kinds(&self) -> u8 {
        self.get().map_or(1, Config::page_kinds)
    }
}

/// A drive at its start, as a component sees it.
#[derive(Clone, Copy)]
pub struct StartView<'a> {
    /// What policies know of the drive, too.
    pub context: &'a PolicyContext,
    /// Logical pages that the host can address.
    pub host_pages: u32,
    /// The order in which free blocks are opened.
    pub opens: FreeBlockPolicy,
    /// Blocks of a plane that can be set apart and leave room for all data.
    pub most_apart: u32,
    /// Raw bit errors of a codeword with which a block can still be read.
    pub most_errors: u32,
    /// Days at the reference temperature in a nanosecond of the cells' clock.
    pub days_in_a_nano: f64,
    /// The blocks.
    pub blocks: &'a dyn StartBlocks,
}

/// What a controller knows or can find out of the blocks of a drive at its start.
pub trait StartBlocks {
    /// P/E cycles of a block.
    fn pe_cycles(&self, block: BlockId) -> u32;
    /// Mean time between the erases of a block, in nanoseconds of the cells' clock.
    fn dwell(&self, block: BlockId) -> u64;
    /// Page reads of a block since its last erase.
    fn reads(&self, block: BlockId) -> u32;
    /// When the first page of a block was programmed since its last erase, if it holds data.
    fn programmed(&self, block: BlockId) -> Option<CellTime>;
    /// What a controller finds when it erases, programs and reads a block at so many P/E cycles.
    fn probe(&self, block: BlockId, pe_cycles: u32) -> BlockProbe;
    /// How the worst page of a block reads right after it is programmed.
    fn worst_reading(&self, block: BlockId) -> Reading;
}

/// A metadata component, one for each key of the config's section `metadata`.
pub trait Component: Learner + BlockMetadata + PageMetadata + Sized {
    /// Its settings.
    type Config: ComponentConfig;

    /// Whether it sorts free blocks into classes ([`class_of_free`](Component::class_of_free)).
    const CLASSIFIES: bool = false;

    /// The component with these settings, before any data lies on the drive.
    fn build(config: &Self::Config, view: &StartView) -> Self;

    /// The data of the start lies on the drive, and the run is about to begin.
    fn begin(&mut self, _: &StartView) {}

    /// The class of a block that is free at the start. `may_join`: its plane keeps enough free blocks without it.
    fn class_of_free(&mut self, _: BlockId, _may_join: bool) -> Option<BlockClass> {
        None
    }

    /// The classes of blocks were restored from a state file, and the columns of the component as well. `class_apart`
    /// returns the class of a block that is set apart, and `None` for any other block.
    fn classes_restored(&mut self, _class_apart: &dyn Fn(BlockId) -> Option<BlockClass>) {}
}

/// How a block is expected to read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expected {
    /// Retries of its worst page.
    pub retries: u8,
    /// Wear, which no refresh mends: the model's age; of the oracle the error rate right after a page is
    /// programmed; else P/E cycles.
    pub age: f32,
}

/// What a component knows of blocks.
pub trait BlockMetadata {
    /// The place of a free block with so many P/E cycles in the order in which free blocks are opened, the least
    /// first.
    fn turn(&self, _: BlockId, _pe_cycles: u32) -> Option<u32> {
        None
    }

    /// How a block with so many P/E cycles is expected to read at `now`. An oracle asks for the true retries.
    fn expected(
        &self,
        _: BlockId,
        _pe_cycles: u32,
        _now: CellTime,
        _true_retries: &dyn Fn() -> u8,
    ) -> Option<Expected> {
        None
    }

    /// The class into which a block falls by what is known of it now, set apart or not.
    fn group(&self, _: BlockId) -> Option<BlockClass> {
        None
    }

    /// Blocks of a class on a plane that are set apart.
    fn blocks_apart(&self, _: PlaneId, _: BlockClass) -> Option<u32> {
        None
    }

    /// Fetches into the processor's cache what will be noted of a block that is read soon.
    fn prefetch(&self, _: BlockId) {}
}

/// Whether a component learns from a first pass of the workload through the buffer, before the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstPass {
    /// It does not.
    Unwanted,
    /// It does.
    Wanted,
    /// It would, but knows its pages already, from what was done with them.
    Learned,
}

/// What a component knows of pages.
pub trait PageMetadata {
    /// What a page is mostly used for.
    fn hotness(&self, _: Lpn) -> Option<Hotness> {
        None
    }

    /// What a page was taken for when the data of the start was programmed.
    fn hotness_at_start(&self, _: Lpn) -> Option<Hotness> {
        None
    }

    /// Whether pages that leave the buffer as mostly read, and were not programmed as such, are programmed once more.
    fn reprograms_read_hot(&self) -> bool {
        false
    }

    /// Whether it learns from a first pass of the workload.
    fn first_pass(&self) -> FirstPass {
        FirstPass::Unwanted
    }

    /// The data of the start was programmed, by what is known of its pages now.
    fn start_programmed(&mut self) {}
}

/// The components of a drive, as a policy sees them.
#[derive(Clone, Copy)]
pub struct Components<'a>(&'a dyn Lookup);

/// Finds a component by its type.
pub trait Lookup {
    /// The component of this type, if the drive keeps it.
    fn find(&self, component: TypeId) -> Option<&dyn Any>;
}

struct Nothing;

impl Lookup for Nothing {
    fn find(&self, _: TypeId) -> Option<&dyn Any> {
        None
    }
}

impl fmt::Debug for Components<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Components")
    }
}

impl<'a> Components<'a> {
    /// No components.
    pub const NONE: Components<'static> = Components(&Nothing);

    /// Those that are found here.
    #[inline]
    pub fn new(all: &'a dyn Lookup) -> Components<'a> {
        Components(all)
    }

    /// The component of this type, if the drive keeps it.
    #[inline]
    pub fn get<C: Any>(self) -> Option<&'a C> {
        self.0.find(TypeId::of::<C>())?.downcast_ref()
    }
}
