//! The facts at a policy's set-up, and the traits that all policies implement.

use std::fmt::Debug;

use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{Geometry, ProgramMode};

use super::allocation::FreeBlockPolicy;
use super::columns::Column;
use super::counters::Counter;
use super::event::{Event, EventContext, EventMask};

/// The facts about the drive that a policy gets when it is built.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicyContext {
    /// The shape of the flash.
    pub geometry: Geometry,
    /// The seed of the drive's random numbers.
    pub seed: u64,
    /// The cells' time that passes in a unit of simulated time. Timers count the cells' time.
    pub time_scale: u32,
    /// Number of logical pages: those that the host can address and, if the map is cached in part,
    /// its translation pages.
    pub logical_pages: u32,
    /// Blocks of a plane that hold no data even when the drive is full.
    pub spare_blocks: u32,
    /// Capacity of the buffer, in pages.
    pub buffer_pages: u32,
    /// Number of sensing levels of a read, or of attempts in a ladder of retries.
    pub levels: u8,
    /// Whether pages have the relaxed order, so that a policy can choose their types.
    pub typed_pages: bool,
    /// The classes of blocks.
    pub classes: ClassFacts,
    /// The page map.
    pub map: MapFacts,
    /// The order in which free blocks are opened.
    pub free_block_policy: FreeBlockPolicy,
    /// The names of the metadata components that the drive keeps.
    pub components: Vec<&'static str>,
    /// The names of the program modes, the normal mode first.
    pub program_modes: Vec<String>,
}

/// The classes into which the drive sorts its blocks.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassFacts {
    /// Number of classes.
    pub count: u8,
    /// The share of all blocks in each class but the last, if the factory sorts the blocks;
    /// otherwise empty.
    pub shares: Vec<f64>,
    /// Number of groups into which the drive sorts blocks by measurement, if it measures them.
    pub groups: Option<u8>,
    /// Number of priorities whose blocks the drive separates; 1 if it keeps none separate.
    pub priorities: u8,
}

impl Default for ClassFacts {
    /// Returns a single class of blocks.
    fn default() -> ClassFacts {
        ClassFacts { count: 1, shares: Vec::new(), groups: None, priorities: 1 }
    }
}

/// How much of the page map the drive caches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapFacts {
    /// Whether the drive caches only a part of the map. Then a page that moves may cost a second
    /// page write, for its map entry.
    pub in_part: bool,
    /// Number of map entries that the drive caches at a time; all entries if it holds the whole
    /// map.
    pub held_entries: u32,
}

impl PolicyContext {
    /// Returns the context of a drive without a buffer and with a single class of blocks.
    pub fn plain(geometry: Geometry, spare_blocks: u32) -> PolicyContext {
        PolicyContext {
            time_scale: 1,
            seed: 1,
            logical_pages: geometry.page_count(),
            spare_blocks,
            buffer_pages: 0,
            levels: 1,
            typed_pages: false,
            classes: ClassFacts::default(),
            map: MapFacts { in_part: false, held_entries: geometry.page_count() },
            free_block_policy: FreeBlockPolicy::default(),
            components: Vec::new(),
            program_modes: vec!["normal".into()],
            geometry,
        }
    }

    /// Returns whether the drive keeps the metadata component of this name.
    pub fn has(&self, component: &str) -> bool {
        self.components.contains(&component)
    }

    /// Returns the program mode of this name. `key` is the config key that holds the name.
    ///
    /// # Errors
    /// If the drive has no program mode of this name.
    pub fn program_mode(&self, key: &str, name: &str) -> Result<ProgramMode, Refusal> {
        match self.program_modes.iter().position(|known| known == name) {
            Some(at) => Ok(ProgramMode(at as u8)),
            None => {
                let expected =
                    format!("names in timing.program_modes: {}", self.program_modes.join(", "));
                Err(Refusal::new(key, format!("{name:?}"), expected))
            }
        }
    }
}

/// A policy with a config of its own.
pub trait Policy: Sized {
    /// The settings of the policy.
    type Config;

    /// The metadata components that the policy reads in its views. A drive need not keep a
    /// component that no policy reads. A placement chain without such a link sees no component. A
    /// drawn start has none, so the drive refuses one for a placement with events and a component.
    const COMPONENTS: &'static [&'static str] = &[];

    /// Checks whether these settings can work on this drive.
    ///
    /// # Errors
    /// The first setting that cannot work, by its key.
    fn check(_: &Self::Config, _: &PolicyContext) -> Result<(), Refusal> {
        Ok(())
    }

    /// Builds the policy with these settings.
    fn build(config: &Self::Config, context: &PolicyContext) -> Self;

    /// Returns the kinds of event that the policy subscribes to.
    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    /// Handles an event of a kind that the policy subscribes to. The policy adds the actions that
    /// it wants to `context.actions`.
    fn on_event(&mut self, _: &Event, _context: &mut EventContext) {}

    /// Returns the columns of the policy's state, in the same order each time.
    fn columns(&mut self) -> Vec<Column<'_>> {
        Vec::new()
    }

    /// Returns the counters that the policy adds to results, each with its name.
    fn counters(&self) -> Vec<(&'static str, Counter)> {
        Vec::new()
    }
}

/// The common interface of policies and metadata components. A component is controller state that
/// several policies read; it learns only from events.
pub trait Learner: Debug {
    /// Returns the name in a config.
    fn name(&self) -> &'static str;

    /// Returns the kinds of event that it subscribes to.
    fn events(&self) -> EventMask;

    /// Handles an event of a kind that it subscribes to. It adds the actions that it wants to
    /// `context.actions`.
    fn on_event(&mut self, event: &Event, context: &mut EventContext);

    /// Returns the columns of its state, in the same order each time.
    fn columns(&mut self) -> Vec<Column<'_>>;

    /// Returns its counters for results, each with its name.
    fn counters(&self) -> Vec<(&'static str, Counter)> {
        Vec::new()
    }
}
