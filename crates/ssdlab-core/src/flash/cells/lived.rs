//! The past of a block, carried from one drive to another.

use ssdlab_base::{CellTime, Nanos, SimTime};
use ssdlab_nand::BlockId;

use super::{Cells, UNBORN, kept};

/// The history of a block, with times before the present on the cells' clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockPast {
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
    /// Returns the past of a block; `None` under flat physics.
    pub fn block_past(&self, block: BlockId, now: SimTime) -> Option<BlockPast> {
        let (now, past) = (self.time(now), self.facts.blocks.get(block.index())?);
        let age = past.born().map(|born| now.saturating_since(born));
        // Blocks with data from before the drive's start were erased even earlier.
        let erased = now.saturating_since(past.erased).max(age.unwrap_or(Nanos::ZERO));
        Some(BlockPast { age, erased, dwell: past.dwell, wear: past.wear, reads: past.reads })
    }

    /// Gives a block its past at the start of the drive.
    pub fn set_block_past(&mut self, block: BlockId, past: &BlockPast) {
        let before = |span: Nanos| CellTime::from_ns(-(span.as_ns() as i64));
        let Some(own) = self.facts.blocks.get_mut(block.index()) else { return };
        own.born = past.age.map_or(UNBORN, before);
        own.erased = before(past.erased);
        (own.dwell, own.wear) = (past.dwell, past.wear);
        own.reads = past.reads.min(kept::COUNT_MOST);
        if past.age.is_some() {
            self.hold_normal(block.index());
        }
    }

    /// Lets each read of the host stand for this many reads of its block.
    pub fn count_host_reads_as(&mut self, reads: u32) {
        self.reads_of_host = reads;
    }
}
