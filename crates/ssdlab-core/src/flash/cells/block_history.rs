//! The history of a block, carried from one drive to another.

use ssdlab_base::{CellTime, Nanos, SimTime};
use ssdlab_nand::BlockId;

use super::{Cells, UNBORN, saved};

/// The history of a block, with times before the present on the cells' clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BlockHistory {
    /// The age of its data, if it holds any.
    pub age: Option<Nanos>,
    /// The time since its last erase.
    pub erased: Nanos,
    /// The mean time between its erases.
    pub dwell: Nanos,
    /// P/E cycles.
    pub wear: f32,
    /// Page reads since the last erase.
    pub reads: u32,
}

impl Cells {
    /// Returns the history of a block; `None` under flat physics.
    pub(crate) fn block_history(&self, block: BlockId, now: SimTime) -> Option<BlockHistory> {
        let (now, history) = (self.time(now), self.facts.blocks.get(block.index())?);
        let age = history.born().map(|born| now.saturating_since(born));
        // Blocks with data from before the drive's start were erased even earlier.
        let erased = now.saturating_since(history.erased).max(age.unwrap_or(Nanos::ZERO));
        Some(BlockHistory {
            age,
            erased,
            dwell: history.dwell,
            wear: history.wear,
            reads: history.reads,
        })
    }

    /// Sets the history of a block at the start of the drive.
    pub(crate) fn set_block_history(&mut self, block: BlockId, history: &BlockHistory) {
        let before = |span: Nanos| CellTime::from_ns(-(span.as_ns() as i64));
        let Some(own) = self.facts.blocks.get_mut(block.index()) else { return };
        own.born = history.age.map_or(UNBORN, before);
        own.erased = before(history.erased);
        (own.dwell, own.wear) = (history.dwell, history.wear);
        own.reads = history.reads.min(saved::MAX_COUNT);
        if history.age.is_some() {
            self.hold_normal(block.index());
        }
    }

    /// Lets each read of the host stand for this many reads of its block.
    pub(crate) fn count_host_reads_as(&mut self, reads: u32) {
        self.reads_of_host = reads;
    }

    /// Returns the number of reads that each read of the host stands for.
    pub(crate) fn reads_of_host(&self) -> u32 {
        self.reads_of_host
    }
}
