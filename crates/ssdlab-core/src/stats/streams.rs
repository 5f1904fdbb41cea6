//! Counts of the pages and blocks of each stream.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_nand::{BlockId, Geometry, PageInBlock, Ppn};

use crate::account::Cause;
use crate::ftl::{StreamId, Streams};

/// Counts of the blocks of a stream. Serialized in results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StreamCounts {
    /// Pages that the host's writes programmed in these blocks.
    pub host_pages: u64,
    /// Pages that the controller programmed in these blocks: moved pages, and the map's own.
    pub moved_pages: u64,
    /// Blocks that garbage collection emptied. A block that was full at the start may have no known
    /// stream and is not counted.
    pub blocks_collected: u64,
    /// Valid pages of the collected blocks when their collection began.
    pub valid_pages: u64,
}

/// The number of an unknown stream.
const UNKNOWN: u8 = 0;

/// The statistics of a drive with several streams.
#[derive(Clone, Debug)]
pub struct StreamStats {
    streams: Streams,
    /// For each block, the number of its stream counted from 1, or [`UNKNOWN`].
    of_block: Box<[u8]>,
    counts: Box<[StreamCounts]>,
}

impl StreamStats {
    /// Creates the statistics of a drive with `blocks` blocks; `None` if it has one stream.
    pub fn new(streams: Streams, blocks: u32) -> Option<StreamStats> {
        (streams.count > 1).then(|| StreamStats {
            streams,
            of_block: vec![UNKNOWN; blocks as usize].into(),
            counts: vec![StreamCounts::default(); streams.count.into()].into(),
        })
    }

    /// Records that a block is open for a stream.
    pub fn opened(&mut self, block: BlockId, stream: StreamId) {
        self.of_block[block.index()] = stream.0 + 1;
    }

    fn of(&mut self, block: BlockId) -> Option<&mut StreamCounts> {
        let stream = self.of_block[block.index()].checked_sub(1)?;
        Some(&mut self.counts[usize::from(stream)])
    }

    /// Counts a page that is programmed for a stream.
    pub fn programmed(
        &mut self,
        page: Ppn,
        geometry: &Geometry,
        hint: Option<StreamId>,
        cause: Cause,
    ) {
        let block = geometry.block_of(page);
        let is_first = geometry.page_in_block(page) == PageInBlock(0);
        // A block that was open before the start may have no stream until a writer continues with
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

    /// Counts a block that garbage collection begins to empty, with its valid pages.
    pub fn collected(&mut self, block: BlockId, valid: u16) {
        let Some(of) = self.of(block) else { return };
        of.blocks_collected += 1;
        of.valid_pages += u64::from(valid);
    }

    /// Returns the stream of each block, counted from 1, or 0 if unknown. A state file stores this
    /// table.
    pub fn of_blocks(&mut self) -> &mut [u8] {
        &mut self.of_block
    }

    /// Returns the counts of each stream.
    pub fn counts(&self) -> &[StreamCounts] {
        &self.counts
    }

    /// Resets the counts.
    pub fn reset(&mut self) {
        self.counts.fill(StreamCounts::default());
    }
}
