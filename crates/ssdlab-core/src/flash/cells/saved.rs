//! Saves and restores the history of the cells, and checks that a saved history is possible.

use serde::de::SeqAccess;
use serde::ser::SerializeTuple;
use ssdlab_base::{CellTime, SimTime};
use ssdlab_nand::program_mode::MAX_PROGRAM_MODES;
use ssdlab_nand::{BlockId, Geometry};

use super::{CellHistory, Cells, Facts, UNBORN, UNKNOWN};
use crate::saved::{self, Limits, SavedPart};

/// The most page reads and P/E cycles of a block in a saved history; the counts continue from
/// there.
pub(super) const MAX_COUNT: u32 = u32::MAX / 2;

impl SavedPart for Facts {
    const COLUMNS: usize = 2;

    fn write<S: SerializeTuple>(&self, to: &mut S) -> Result<(), S::Error> {
        saved::write(to, &self.blocks)?;
        saved::write(to, &self.program_mode)
    }

    fn read<'de, A: SeqAccess<'de>>(from: &mut A, limits: &Limits<'_>) -> Result<Self, A::Error> {
        Ok(Facts {
            blocks: limits.column(from, limits.blocks())?,
            program_mode: limits.column(from, limits.pages())?,
        })
    }
}

impl Cells {
    /// Returns the history of each block, with times relative to `now`.
    pub fn save(self, now: SimTime) -> Facts {
        let now = self.time(now);
        let before = |moment: CellTime| CellTime::from_ns(moment.as_ns() - now.as_ns());
        let mut facts = self.facts;
        for history in &mut facts.blocks {
            history.erased = before(history.erased);
            history.born = history.born().map_or(UNBORN, before);
        }
        facts
    }

    /// Restores the history of each block; returns false if it belongs to another drive.
    pub fn restore(&mut self, facts: Facts) -> bool {
        // With one program mode, before or now, every page must have that mode.
        let modes = self.chip.program_modes().len();
        let fits = facts.blocks.len() == self.facts.blocks.len()
            && facts
                .program_mode
                .iter()
                .all(|&class| class == UNKNOWN || usize::from(class) < modes);
        if fits {
            let program_mode = std::mem::take(&mut self.facts.program_mode);
            self.facts = facts;
            if self.facts.program_mode.len() != program_mode.len() {
                self.facts.program_mode = program_mode;
                for block in 0..self.facts.blocks.len() {
                    if self.facts.blocks[block].born().is_some() {
                        self.hold_normal(block);
                    }
                }
            }
        }
        fits
    }
}

impl Facts {
    /// Checks a saved history for a drive of this shape. `table` returns for a block the number of
    /// its written pages and whether the block is in use.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(
        &self,
        geometry: &Geometry,
        table: impl Fn(BlockId) -> (u16, bool),
    ) -> Result<(), String> {
        let (rows, pages) = (self.blocks.len(), self.program_mode.len());
        let fits = [0, geometry.block_count() as usize].contains(&rows)
            && [0, geometry.page_count() as usize].contains(&pages);
        if !fits {
            return Err(format!("cells of {rows} blocks and {pages} pages"));
        }
        let known = |&class: &u8| class == UNKNOWN || usize::from(class) < MAX_PROGRAM_MODES;
        if let Some(class) = self.program_mode.iter().find(|class| !known(class)) {
            return Err(format!("a page was programmed in mode {class}"));
        }
        let mut rows = (0..).map(BlockId).zip(&self.blocks);
        rows.try_for_each(|(block, history)| history.check(block, table(block)))
    }
}

impl CellHistory {
    fn check(&self, block: BlockId, (written, in_use): (u16, bool)) -> Result<(), String> {
        let earlier = CellTime::EARLIEST..=CellTime::START;
        let fits = self.born().is_none_or(|born| earlier.contains(&born))
            && earlier.contains(&self.erased)
            && self.dwell.as_ns() <= CellTime::LATEST.as_ns() as u64
            && (0.0..=MAX_COUNT as f32).contains(&self.wear)
            && self.reads <= MAX_COUNT;
        if !fits {
            return Err(format!("the cells of block {} have an impossible past", block.0));
        }
        match (self.born(), written) {
            (None, 1..) => Err(format!("block {} holds data that was never written", block.0)),
            (Some(_), 0) if !in_use => {
                Err(format!("block {} holds nothing, and has an age", block.0))
            }
            _ => Ok(()),
        }
    }
}

/// The form of a duration in a state file: the number of its nanoseconds.
pub(super) mod whole_ns {
    use serde::{Deserialize, Deserializer, Serializer};
    use ssdlab_base::Nanos;

    pub(crate) fn serialize<S: Serializer>(span: &Nanos, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(span.as_ns())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Nanos, D::Error> {
        u64::deserialize(from).map(Nanos::from_ns)
    }
}
