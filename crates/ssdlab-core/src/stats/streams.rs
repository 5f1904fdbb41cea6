//! What becomes of the pages of each stream.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_nand::{BlockId, Geometry, PageInBlock, Ppn};

use crate::account::Cause;
use crate::ftl::{StreamId, Streams};

/// What became of the blocks of a stream. Serialised in results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StreamCounts {
    /// Pages that the host's writes programmed there.
    pub host_pages: u64,
    /// Pages that the controller programmed there: what it moved, and the map's own.
    pub moved_pages: u64,
    /// Blocks that garbage collection emptied. A block that was full at the start may have no known
    /// stream; it is not counted.
    pub blocks_collected: u64,
    /// Pages that these blocks still held when that began.
    pub valid_pages: u64,
}

/// Stands for an unknown stream.
const UNKNOWN: u8 = 0;

/// The streams of a drive that has several.
#[derive(Clone, Debug)]
pub struct StreamStats {
    streams: Streams,
    /// For each block the number of its stream, counted from 1, or [`UNKNOWN`].
    of_block: Box<[u8]>,
    counts: Box<[StreamCounts]>,
}

impl StreamStats {
    /// Those of a drive with so many blocks; `None` if there is one stream for all.
    pub fn new(streams: Streams, blocks: u32) -> Option<StreamStats> {
        (streams.count > 1).then(|| StreamStats {
            streams,
            of_block: vec![UNKNOWN; blocks as usize].into(),
            counts: vec![StreamCounts::default(); streams.count.into()].into(),
        })
    }

    /// A block is open for a stream.
    pub fn opened(&mut self, block: BlockId, stream: StreamId) {
        self.of_block[block.index()] = stream.0 + 1;
    }

    fn of(&mut self, block: BlockId) -> Option<&mut StreamCounts> {
        let stream = self.of_block[block.index()].checked_sub(1)?;
        Some(&mut self.counts[usize::from(stream)])
    }

    /// A page of a block is programmed for a stream.
    pub fn programmed(
        &mut self,
        page: Ppn,
        geometry: &Geometry,
        hint: Option<StreamId>,
        cause: Cause,
    ) {
        let block = geometry.block_of(page);
        let is_first = geometry.page_in_block(page) == PageInBlock(0);
        // A block that was open before the start may be of no stream until a writer goes on with
        // it.
        if is_first || self.of_block[block.index()] == UNKNOWN {
            self.opened(block, self.streams.of(hint));
        }
        let Some(of) = self.of(block) else { return };
        match cause {
            Cause::Host => of.host_pages += 1,
            _ => of.moved_pages += 1,
        }
    }

    /// Garbage collection begins to empty a block that holds so many pages.
    pub fn collected(&mut self, block: BlockId, valid: u16) {
        let Some(of) = self.of(block) else { return };
        of.blocks_collected += 1;
        of.valid_pages += u64::from(valid);
    }

    /// For each block the number of its stream, counted from 1, or 0: what a state file carries.
    pub fn of_blocks(&mut self) -> &mut [u8] {
        &mut self.of_block
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
