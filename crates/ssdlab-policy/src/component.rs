//! Metadata components: state of the controller that several policies read.
//!
//! A component learns by events, as policies do, and decides nothing. The drive asks it about
//! blocks and pages ([`BlockMetadata`], [`PageMetadata`]). A policy that needs more of a component
//! finds the component by its type in the view ([`Components`]).

use std::any::{Any, TypeId};
use std::fmt;

use ssdlab_base::{CellTime, Nanos};
use ssdlab_nand::refusal::{IdleKey, Refusal};
use ssdlab_nand::{BlockId, Lpn, PlaneId};

use crate::account::{BlockProbe, Reading};
use crate::allocation::{BlockClass, FreeBlockPolicy};
use crate::{Hotness, Learner, PolicyContext, Toggle};

/// Facts about a drive that decide which settings of a component have an effect.
#[derive(Clone, Copy, Debug)]
pub struct ComponentFacts {
    /// Whether no read ever fails.
    pub is_flat: bool,
    /// Whether the drive has a buffer.
    pub has_buffer: bool,
    /// The order in which free blocks are opened.
    pub free_block_policy: FreeBlockPolicy,
    /// Whether pages migrate when the host reads them.
    pub migrates: bool,
    /// Whether a page's hotness decides its program mode.
    pub by_hotness: bool,
    /// Whether a policy uses the component.
    pub is_used: bool,
}

/// The settings of a component.
pub trait ComponentConfig {
    /// Returns whether a drive with these settings keeps the component. `is_used` tells whether a
    /// policy uses the component.
    fn is_present(&self, _is_used: bool) -> bool {
        true
    }

    /// Checks the settings for a drive whose reads have this number of levels.
    ///
    /// # Errors
    /// The first setting that is out of range, by its key.
    fn check(&self, _levels: u8) -> Result<(), Refusal> {
        Ok(())
    }

    /// Returns the settings that have no effect on some drives. Such a drive refuses them.
    fn idle_keys(&self, _: &ComponentFacts) -> Vec<IdleKey> {
        Vec::new()
    }

    /// Returns the bytes of memory that the component takes for each logical page.
    fn page_bytes(&self) -> u64 {
        0
    }

    /// Returns the number of kinds into which the component sorts pages. Each kind has blocks of
    /// its own.
    fn page_kinds(&self) -> u8 {
        1
    }
}

/// The settings of a component that a config switches on or off.
impl<Config: ComponentConfig> ComponentConfig for Toggle<Config> {
    fn is_present(&self, is_used: bool) -> bool {
        self.get().is_some_and(|config| config.is_present(is_used))
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
    /// The facts that policies get, too.
    pub context: &'a PolicyContext,
    /// Logical pages that the host can address.
    pub host_pages: u32,
    /// The order in which free blocks are opened.
    pub free_block_policy: FreeBlockPolicy,
    /// Blocks of a plane that the drive can reserve and still have room for all data.
    pub max_reserved_blocks: u32,
    /// The most raw bit errors in a codeword of a readable block.
    pub max_errors: u32,
    /// Days at the reference temperature in a nanosecond of the cells' clock.
    pub days_in_a_nano: f64,
    /// The blocks.
    pub blocks: &'a dyn StartBlocks,
}

/// The blocks of a drive at its start, as far as a controller knows or can measure them.
pub trait StartBlocks {
    /// Returns the P/E cycles of a block.
    fn pe_cycles(&self, block: BlockId) -> u32;
    /// Returns the mean time between the erases of a block, on the cells' clock.
    fn dwell(&self, block: BlockId) -> Nanos;
    /// Returns the page reads of a block since its last erase.
    fn reads(&self, block: BlockId) -> u32;
    /// Returns when the first page of a block was programmed after its last erase, if the block
    /// holds data.
    fn programmed(&self, block: BlockId) -> Option<CellTime>;
    /// Measures a block at this number of P/E cycles: erases, programs and reads the block.
    fn probe(&self, block: BlockId, pe_cycles: u32) -> BlockProbe;
    /// Returns the level and errors at which the worst page of a block reads right after its
    /// program.
    fn worst_reading(&self, block: BlockId) -> Reading;
}

/// The free-block policies that need a component's ranks.
#[derive(Clone, Copy, Debug)]
pub struct Ranks {
    /// The policies.
    pub policies: &'static [FreeBlockPolicy],
    /// The setting that a drive with such a policy needs, for an error message.
    pub expected: &'static str,
}

impl Ranks {
    /// No policy.
    pub const NONE: Ranks = Ranks { policies: &[], expected: "" };
}

/// A metadata component, one for each key of the config's section `metadata`.
pub trait Component: Learner + BlockMetadata + PageMetadata + Sized {
    /// The settings of the component.
    type Config: ComponentConfig;

    /// Whether the component sorts free blocks into classes
    /// ([`class_of_free`](Component::class_of_free)).
    const CLASSIFIES: bool = false;

    /// The free-block policies that need the component's ranks
    /// ([`free_rank`](BlockMetadata::free_rank)).
    const RANKS: Ranks = Ranks::NONE;

    /// Builds the component with these settings, before the drive holds any data.
    fn build(config: &Self::Config, view: &StartView) -> Self;

    /// Takes note of the data that the drive holds at its start. The run begins next.
    fn begin(&mut self, _: &StartView) {}

    /// Returns the class of a block that is free at the start. `may_join` tells whether the plane
    /// has enough other free blocks, so that the drive may reserve this one.
    fn class_of_free(&mut self, _: BlockId, _may_join: bool) -> Option<BlockClass> {
        None
    }

    /// Counts the blocks that are reserved, after a state file has restored the classes of blocks
    /// and the columns of the component. `reserved_class` returns the class of a block that is
    /// reserved, and `None` for any other block.
    fn classes_restored(&mut self, _reserved_class: &dyn Fn(BlockId) -> Option<BlockClass>) {}
}

/// How a block is expected to read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expected {
    /// Retries that the worst page of the block needs.
    pub retries: u8,
    /// Wear, which no refresh removes: the block's age in a model, for an oracle the error rate
    /// right after programming, otherwise the P/E cycles.
    pub age: f32,
}

/// The answers of a component about blocks.
pub trait BlockMetadata {
    /// Returns the rank of a free block with this number of P/E cycles. The drive opens the free
    /// block of the lowest rank first.
    fn free_rank(&self, _: BlockId, _pe_cycles: u32) -> Option<u32> {
        None
    }

    /// Returns how a block with this number of P/E cycles is expected to read at `now`. Only an
    /// oracle calls `true_retries`.
    fn expected(
        &self,
        _: BlockId,
        _pe_cycles: u32,
        _now: CellTime,
        _true_retries: &dyn Fn() -> u8,
    ) -> Option<Expected> {
        None
    }

    /// Returns the number of blocks of a class that are reserved on a plane.
    fn reserved_blocks(&self, _: PlaneId, _: BlockClass) -> Option<u32> {
        None
    }

    /// Prefetches the entry of a block that is read soon into the processor's cache.
    fn prefetch(&self, _: BlockId) {}
}

/// Whether a component learns from a first pass of the workload through the buffer, before the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstPass {
    /// The component needs no first pass.
    NotNeeded,
    /// The component needs a first pass.
    Needed,
    /// The component would need a first pass, but knows the pages already from earlier requests.
    Learned,
}

/// The answers of a component about pages.
pub trait PageMetadata {
    /// Returns whether a page is mostly read, mostly written, or both.
    fn hotness(&self, _: Lpn) -> Option<Hotness> {
        None
    }

    /// Returns the hotness of a page at the time when the data of the start was programmed.
    fn hotness_at_start(&self, _: Lpn) -> Option<Hotness> {
        None
    }

    /// Returns whether the drive programs a page again that leaves the buffer as mostly read and
    /// was not programmed as such.
    fn reprograms_read_hot(&self) -> bool {
        false
    }

    /// Returns whether the component learns from a first pass of the workload.
    fn first_pass(&self) -> FirstPass {
        FirstPass::NotNeeded
    }

    /// Stores the current hotness of all pages as their hotness at the start. The drive has
    /// programmed the data of the start by it.
    fn start_programmed(&mut self) {}
}

/// The components of a drive, as a policy sees them.
#[derive(Clone, Copy)]
pub struct Components<'a>(&'a dyn Lookup);

/// A list of components, searched by type.
pub trait Lookup {
    /// Returns the component of this type, if the drive keeps it.
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
    /// The components of a drive that keeps none.
    pub const NONE: Components<'static> = Components(&Nothing);

    /// Returns the components of a list.
    pub fn new(all: &'a dyn Lookup) -> Components<'a> {
        Components(all)
    }

    /// Returns the component of this type, if the drive keeps it.
    pub fn get<C: Any>(self) -> Option<&'a C> {
        self.0.find(TypeId::of::<C>())?.downcast_ref()
    }
}
