//! How an answer is made from its config.

use std::fmt::Debug;

use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{Geometry, ProgramMode};

use super::columns::Column;
use super::counters::Counter;
use super::event::{Actions, Event, EventMask};

/// What a policy may know of the drive when it is set up.
#[derive(Clone, Debug)]
pub struct PolicyContext {
    /// The shape of the flash.
    pub geometry: Geometry,
    /// The seed of the drive's chance.
    pub seed: u64,
    /// Logical pages: those that the host can address, and those of a map that is held in part.
    pub logical_pages: u32,
    /// Blocks of a plane that hold no data even when the drive is full.
    pub spare_blocks: u32,
    /// Pages that the buffer holds.
    pub buffer_pages: u32,
    /// Levels of a read, or attempts of a ladder of retries.
    pub levels: u8,
    /// Whether pages have the relaxed order, so that their types can be chosen.
    pub typed_pages: bool,
    /// The classes of blocks.
    pub classes: ClassFacts,
    /// The page map.
    pub map: MapFacts,
    /// The names of the metadata components that the drive keeps.
    pub components: Vec<&'static str>,
    /// Names of the voltages with which pages can be programmed, the normal ones first.
    pub program_modes: Vec<String>,
}

/// The classes into which blocks are sorted.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassFacts {
    /// How many there are.
    pub count: u8,
    /// Shares of all blocks in each class but the last, if classes are known from the factory; else
    /// none.
    pub shares: Vec<f64>,
    /// Groups into which blocks are measured, if they are.
    pub groups: Option<u8>,
    /// Priorities whose blocks are kept apart; 1 if none are.
    pub priorities: u8,
}

impl Default for ClassFacts {
    /// All blocks are of one class.
    fn default() -> ClassFacts {
        ClassFacts { count: 1, shares: Vec::new(), groups: None, priorities: 1 }
    }
}

/// How much of the page map is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapFacts {
    /// Whether the map is held in part, so that a page that moves may take another for its entry.
    pub in_part: bool,
    /// Entries that are held at a time; of a map that is held whole, all.
    pub held_entries: u32,
}

impl PolicyContext {
    /// That of a drive without a buffer whose blocks are alike.
    pub fn plain(geometry: Geometry, spare_blocks: u32) -> PolicyContext {
        PolicyContext {
            seed: 1,
            logical_pages: geometry.page_count(),
            spare_blocks,
            buffer_pages: 0,
            levels: 1,
            typed_pages: false,
            classes: ClassFacts::default(),
            map: MapFacts { in_part: false, held_entries: geometry.page_count() },
            components: Vec::new(),
            program_modes: vec!["normal".into()],
            geometry,
        }
    }

    /// Returns whether the drive keeps the metadata component of this name.
    pub fn has(&self, component: &str) -> bool {
        self.components.contains(&component)
    }

    /// The voltages of this name.
    ///
    /// # Errors
    /// That there are none, under the key that names them.
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
    /// Its settings.
    type Config;

    /// Whether these settings can work on this drive.
    ///
    /// # Errors
    /// The first that cannot, by its key.
    fn check(_: &Self::Config, _: &PolicyContext) -> Result<(), Refusal> {
        Ok(())
    }

    /// The policy with these settings.
    fn build(config: &Self::Config, setup: &PolicyContext) -> Self;

    /// The kinds of event that it wants to learn of.
    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    /// Something happened that it wants to learn of. What it wants done about it goes to `actions`.
    fn on_event(&mut self, _: &Event, _actions: &mut Actions) {}

    /// Returns the columns of its state, in the same order each time.
    fn columns(&mut self) -> Vec<Column<'_>> {
        Vec::new()
    }

    /// Returns what it counts for results, each by its name.
    fn counters(&self) -> Vec<(&'static str, Counter)> {
        Vec::new()
    }
}

/// What the drive does alike with every policy and metadata component. A component is state of the
/// controller that several policies read; it learns from events alone.
pub trait Learner: Debug {
    /// Its name in a config.
    fn name(&self) -> &'static str;

    /// The kinds of event that it wants to learn of.
    fn events(&self) -> EventMask;

    /// Something happened that it wants to learn of. What it wants done about it goes to `actions`.
    fn on_event(&mut self, event: &Event, actions: &mut Actions);

    /// Returns the columns of its state, in the same order each time.
    fn columns(&mut self) -> Vec<Column<'_>>;

    /// Returns what it counts for results, each by its name.
    fn counters(&self) -> Vec<(&'static str, Counter)> {
        Vec::new()
    }
}
