//! How an answer is made from its config.

use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{Geometry, ProgramMode};

use super::background::Repairs;
use super::columns::Column;
use super::event::{Actions, Event, EventMask};

/// What a policy may know of the drive when it is set up.
#[derive(Clone, Debug)]
pub struct PolicyContext {
    /// The shape of the flash.
    pub geometry: Geometry,
    /// Pages that the buffer holds.
    pub buffer_pages: u32,
    /// Blocks of a plane that hold no data even when the drive is full.
    pub spare_blocks: u32,
    /// The seed of the drive's chance.
    pub seed: u64,
    /// Logical pages: those that the host can address, and those of a map that is held in part.
    pub logical_pages: u32,
    /// Rungs of the ladder that reads climb.
    pub levels: u8,
    /// Classes into which blocks are sorted.
    pub classes: u8,
    /// Shares of all blocks in each class but the last, if classes are known from the factory; else
    /// none.
    pub class_shares: Vec<f64>,
    /// Groups into which blocks are measured; 1 if they are not.
    pub groups: u8,
    /// Whether blocks are measured.
    pub measured: bool,
    /// Priorities whose blocks are kept apart; 1 if none are.
    pub priorities: u8,
    /// Whether there is an estimate of the retries that a block needs.
    pub has_retry_estimate: bool,
    /// Whether pages have the relaxed order, so that their types can be chosen.
    pub typed_pages: bool,
    /// Whether the map is held in part, so that a page that moves may take another for its entry.
    pub map_in_part: bool,
    /// Entries of the page map that are held at a time; of a map that is held whole, all.
    pub held_entries: u32,
    /// Whether it is known what pages are mostly used for.
    pub knows_hotness: bool,
    /// Names of the voltages with which pages can be programmed, the normal ones first.
    pub program_modes: Vec<String>,
}

impl PolicyContext {
    /// That of a drive without a buffer whose blocks are alike.
    #[cfg(any(test, feature = "testing"))]
    pub fn plain(geometry: Geometry, spare_blocks: u32) -> PolicyContext {
        PolicyContext {
            logical_pages: geometry.page_count(),
            held_entries: geometry.page_count(),
            geometry,
            buffer_pages: 0,
            spare_blocks,
            seed: 1,
            levels: 1,
            classes: 1,
            class_shares: Vec::new(),
            groups: 1,
            measured: false,
            priorities: 1,
            has_retry_estimate: false,
            typed_pages: false,
            map_in_part: false,
            knows_hotness: false,
            program_modes: vec!["normal".into()],
        }
    }

    /// Whether it is known what pages are mostly used for, of an answer in this slot that asks.
    ///
    /// # Errors
    /// That it is not.
    pub fn needs_hotness(&self, slot: &str, name: &str) -> Result<(), Refusal> {
        if self.knows_hotness {
            Ok(())
        } else {
            let expected =
                "a buffer that tells what pages are used for (metadata.page_hotness = \"buffer\")";
            Err(Refusal::new(slot, name, expected))
        }
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

    /// What it has counted for results since they began, if it counts anything.
    fn report(&self) -> Option<Repairs> {
        None
    }
}

/// A metadata component: state of the controller that several policies read. It learns from events alone.
pub trait Component {
    /// The kinds of event that it wants to learn of.
    fn events(&self) -> EventMask;

    /// Something happened that it wants to learn of. What it wants done about it goes to `actions`.
    fn on_event(&mut self, event: &Event, actions: &mut Actions);

    /// Returns the columns of its state, in the same order each time.
    fn columns(&mut self) -> Vec<Column<'_>>;
}
