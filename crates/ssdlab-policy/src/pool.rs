//! The blocks of a plane, as a policy sees them.

use serde::{Deserialize, Serialize};
use ssdlab_nand::BlockId;

use crate::allocation::BlockClass;

/// The state of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum BlockState {
    /// Erased and ready to be opened.
    Free,
    /// In use: the drive writes its pages.
    Open,
    /// Full. Garbage collection may take the block.
    Closed,
    /// A job empties or erases the block.
    Victim,
    /// Unusable: bad when the drive left the factory.
    Bad,
    /// Programmed in part, without an operation under way. In the relaxed order the drive may write
    /// more pages or collect the block.
    Partial,
}

/// The blocks of one plane, with a column for each fact. Index 0 is the plane's first block.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'a> {
    /// The block at index 0.
    pub first: BlockId,
    /// Pages in a block.
    pub pages_per_block: u16,
    /// The state of each block.
    pub state: &'a [BlockState],
    /// Programmed pages of each block.
    pub written: &'a [u16],
    /// Valid pages of each block: those that hold the newest copy of a logical page.
    pub valid: &'a [u16],
    /// Number of erases of each block.
    pub erases: &'a [u32],
    /// When each block was closed, in ticks of `clock`. For a block that is not full, when it was
    /// opened.
    pub closed: &'a [u32],
    /// The class of each block; empty on a drive without classes.
    pub class: &'a [BlockClass],
    /// Number of classes that are reserved, the best first.
    pub reserved_classes: u8,
    /// The plane's clock: it ticks each time that a block of the plane is closed.
    pub clock: u32,
}

impl Pool<'_> {
    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        self.state.len()
    }

    /// Returns whether the pool has no blocks.
    pub fn is_empty(&self) -> bool {
        self.state.is_empty()
    }

    /// Returns whether a block is reserved. Garbage collection leaves such blocks alone.
    pub fn is_reserved(&self, index: usize) -> bool {
        self.class.get(index).is_some_and(|class| class.0 < self.reserved_classes)
    }

    /// Returns whether garbage collection would free a page if it took this block.
    #[inline]
    pub fn reclaimable(&self, index: usize) -> bool {
        if self.is_reserved(index) {
            return false;
        }
        let rests = matches!(self.state[index], BlockState::Closed | BlockState::Partial);
        rests && self.valid[index] < self.written[index]
    }

    /// Returns whether a block has pages that were never programmed and that the relaxed page order
    /// still offers.
    pub fn is_partial(&self, index: usize) -> bool {
        self.state[index] == BlockState::Partial
    }

    /// Returns whether a block holds data that stays. Since such a block was closed or opened, its
    /// plane has closed at least as many blocks as the plane contains.
    pub fn is_cold(&self, index: usize) -> bool {
        let holds = [BlockState::Closed, BlockState::Open, BlockState::Partial];
        holds.contains(&self.state[index]) && self.clock - self.closed[index] >= self.len() as u32
    }

    /// Returns the number of invalid pages of a block, which its collection would free.
    #[inline]
    pub fn invalid(&self, index: usize) -> u16 {
        self.written[index] - self.valid[index]
    }

    /// Returns the number of pages without valid data, in free blocks and in blocks that garbage
    /// collection may take.
    pub fn without_data(&self) -> u32 {
        let counts = |&at: &usize| self.state[at] != BlockState::Bad && !self.is_reserved(at);
        let pages = (0..self.len()).filter(counts);
        pages.map(|at| u32::from(self.pages_per_block - self.valid[at])).sum()
    }

    /// Returns the block at this index.
    pub fn block(&self, index: usize) -> BlockId {
        BlockId(self.first.0 + index as u32)
    }
}
