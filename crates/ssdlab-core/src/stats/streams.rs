//! What becomes of the pages of each stream.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_nand::BlockId;

use crate::account::Cause;
use crate::ftl::{StreamId, Streams};

/// What became of the blocks of a stream. Serialised in results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StreamCounts {
    /// Pages that the host's writes programmed there.
    pub host_pages: u64,
    /// Pages that the controller programmed there: what it moved, and the map's own.
    pub moved_pages: u64,
    /// Blocks that garbage collection emptied.
    pub blocks_collected: u64,
    /// Pages that these blocks still held when that began.
    pub valid_pages: u64,
}

/// The streams of a drive that has several.
#[derive(Clone, Debug)]
pub struct StreamStats {
    of_block: Box<[StreamId]>,
    counts: Box<[StreamCounts]>,
}

impl StreamStats {
    /// Those of a drive with so many blocks; `None` if there is one stream for all.
    pub fn new(streams: Streams, blocks: u32) -> Option<StreamStats> {
        (streams.count > 1).then(|| StreamStats {
            of_block: vec![streams.default; blocks as usize].into(),
            counts: vec![StreamCounts::default(); streams.count.into()].into(),
        })
    }

    /// A block was opened for a stream.
    pub fn opened(&mut self, block: BlockId, stream: StreamId) {
        self.of_block[block.index()] = stream;
    }

    fn of(&mut self, block: BlockId) -> &mut StreamCounts {
        &mut self.counts[self.of_block[block.index()].index()]
    }

    /// A page of a block is programmed.
    pub fn programmed(&mut self, block: BlockId, cause: Cause) {
        let of = self.of(block);
        match cause {
            Cause::Host => of.host_pages += 1,
            _ => of.moved_pages += 1,
        }
    }

    /// Garbage collection begins to empty a block that holds so many pages.
    pub fn collected(&mut self, block: BlockId, valid: u16) {
        let of = self.of(block);
        of.blocks_collected += 1;
        of.valid_pages += u64::from(valid);
    }

    /// The counts of each stream.
    pub fn counts(&self) -> &[StreamCounts] {
        &self.counts
    }

    /// Counts begin anew.
    pub fn reset(&mut self) {
        self.counts.fill(StreamCounts::default());
    }
}
