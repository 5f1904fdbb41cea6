//! The blocks of a plane as a policy sees them.

use serde::{Deserialize, Serialize};
use ssdlab_nand::BlockId;

use crate::allocation::BlockClass;

/// What a block is used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum BlockState {
    /// Erased, ready to be written.
    Free,
    /// Being written.
    Open,
    /// Full: garbage collection may take it.
    Closed,
    /// Being emptied, or being erased.
    Victim,
    /// Not to be used: bad when the drive left the factory.
    Bad,
    /// Programmed in part, and nothing under way: in the relaxed order it may be written further,
    /// or collected.
    Partial,
}

/// The blocks of one plane, a column for each fact; index 0 is the plane's first block.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'a> {
    /// The block at index 0.
    pub first: BlockId,
    /// Pages in a block.
    pub pages_per_block: u16,
    /// What each block is used for.
    pub state: &'a [BlockState],
    /// Pages of each block that are programmed.
    pub written: &'a [u16],
    /// Pages of each block that hold the newest copy of a logical page.
    pub valid: &'a [u16],
    /// How often each block was erased.
    pub erases: &'a [u32],
    /// When each block was closed, on the clock of `clock`; of one that is not full, when it was
    /// begun.
    pub closed: &'a [u32],
    /// The class of each block; empty if all are alike.
    pub class: &'a [BlockClass],
    /// Classes that are set apart, the best first.
    pub apart: u8,
    /// How many of them have ever been closed.
    pub clock: u32,
}

impl Pool<'_> {
    /// Blocks in the pool.
    pub fn len(&self) -> usize {
        self.state.len()
    }

    /// Whether the pool has no blocks.
    pub fn is_empty(&self) -> bool {
        self.state.is_empty()
    }

    /// Whether a block is set apart, and so none of the collector's business.
    #[inline]
    pub fn is_apart(&self, index: usize) -> bool {
        self.class.get(index).is_some_and(|class| class.0 < self.apart)
    }

    /// Whether collecting this block would free a page.
    #[inline]
    pub fn reclaimable(&self, index: usize) -> bool {
        if self.is_apart(index) {
            return false;
        }
        let rests = matches!(self.state[index], BlockState::Closed | BlockState::Partial);
        rests && self.valid[index] < self.written[index]
    }

    /// Whether a block holds what has come to stay: as many blocks of the plane have been closed
    /// since this one was, or was begun, as it has.
    #[inline]
    pub fn is_settled(&self, index: usize) -> bool {
        let holds = [BlockState::Closed, BlockState::Open, BlockState::Partial];
        holds.contains(&self.state[index]) && self.clock - self.closed[index] >= self.len() as u32
    }

    /// Pages that collecting this block would free: those that are programmed and outdated.
    #[inline]
    pub fn invalid(&self, index: usize) -> u16 {
        self.written[index] - self.valid[index]
    }

    /// Pages that do not hold the newest copy of anything, in blocks that the collector may take
    /// and in free ones.
    pub fn without_data(&self) -> u32 {
        let counts = |&at: &usize| self.state[at] != BlockState::Bad && !self.is_apart(at);
        let pages = (0..self.len()).filter(counts);
        pages.map(|at| u32::from(self.pages_per_block - self.valid[at])).sum()
    }

    /// The block at this index.
    #[inline]
    pub fn block(&self, index: usize) -> BlockId {
        BlockId(self.first.0 + index as u32)
    }
}
