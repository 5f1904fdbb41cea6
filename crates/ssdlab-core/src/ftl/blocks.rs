//! What the controller knows of each block.

use serde::{Deserialize, Serialize};
use ssdlab_nand::{BlockId, Geometry, PlaneId};

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
}

/// The block table, a column for each fact.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BlockTable {
    state: Vec<BlockState>,
    /// Pages whose program has ended.
    written: Vec<u16>,
    /// Pages that hold the newest copy of a logical page.
    valid: Vec<u16>,
    erases: Vec<u32>,
    /// When the block was closed, as a number that grows.
    closed: Vec<u32>,
    clock: u32,
    blocks_per_plane: u32,
    pages_per_block: u16,
}

impl BlockTable {
    /// A table of free blocks.
    pub fn new(geometry: &Geometry) -> BlockTable {
        let blocks = geometry.block_count() as usize;
        BlockTable {
            state: vec![BlockState::Free; blocks],
            written: vec![0; blocks],
            valid: vec![0; blocks],
            erases: vec![0; blocks],
            closed: vec![0; blocks],
            clock: 0,
            blocks_per_plane: geometry.blocks,
            pages_per_block: geometry.pages as u16,
        }
    }

    /// Blocks of the drive.
    pub fn len(&self) -> usize {
        self.state.len()
    }

    /// Whether the drive has no blocks.
    pub fn is_empty(&self) -> bool {
        self.state.is_empty()
    }

    /// Whether any block is used for this.
    pub fn any(&self, state: BlockState) -> bool {
        self.state.contains(&state)
    }

    /// What a block is used for.
    #[inline]
    pub fn state(&self, block: BlockId) -> BlockState {
        self.state[block.index()]
    }

    /// Changes what a block is used for.
    #[inline]
    pub fn set_state(&mut self, block: BlockId, state: BlockState) {
        self.state[block.index()] = state;
    }

    /// Pages of a block that hold the newest copy of a logical page.
    #[inline]
    pub fn valid(&self, block: BlockId) -> u16 {
        self.valid[block.index()]
    }

    /// Pages of a block that are programmed.
    #[inline]
    pub fn written(&self, block: BlockId) -> u16 {
        self.written[block.index()]
    }

    /// How often a block was erased.
    #[inline]
    pub fn erases(&self, block: BlockId) -> u32 {
        self.erases[block.index()]
    }

    /// How often each block that is not bad was erased.
    pub fn usable_erases(&self) -> impl Iterator<Item = u32> + '_ {
        let usable = |(_, state): &(&u32, &BlockState)| **state != BlockState::Bad;
        self.erases.iter().zip(&self.state).filter(usable).map(|(&erases, _)| erases)
    }

    /// Counts the end of a page's program; a full block is closed.
    #[inline]
    pub fn page_written(&mut self, block: BlockId) {
        let written = &mut self.written[block.index()];
        *written += 1;
        if *written == self.pages_per_block {
            self.clock += 1;
            self.closed[block.index()] = self.clock;
            self.state[block.index()] = BlockState::Closed;
        }
    }

    /// A page of the block now holds the newest copy of a logical page.
    #[inline]
    pub fn page_valid(&mut self, block: BlockId) {
        self.valid[block.index()] += 1;
    }

    /// A page of the block no longer holds the newest copy.
    #[inline]
    pub fn page_invalid(&mut self, block: BlockId) {
        self.valid[block.index()] -= 1;
    }

    /// The block has been erased and is free.
    pub fn erased(&mut self, block: BlockId) {
        debug_assert_eq!(self.valid(block), 0, "a block with valid pages was erased");
        self.written[block.index()] = 0;
        self.erases[block.index()] += 1;
        self.state[block.index()] = BlockState::Free;
    }

    /// Gives a block the pages with which the drive starts; a full one counts as closed now.
    pub fn lay(&mut self, block: BlockId, written: u16, valid: u16) {
        self.written[block.index()] = written;
        self.valid[block.index()] = valid;
        if written == self.pages_per_block {
            self.clock += 1;
            self.closed[block.index()] = self.clock;
            self.state[block.index()] = BlockState::Closed;
        } else {
            self.state[block.index()] = BlockState::Open;
        }
    }

    /// Gives a block the wear with which the drive starts.
    pub fn set_erases(&mut self, block: BlockId, erases: u32) {
        self.erases[block.index()] = erases;
    }

    /// The blocks of a plane as a policy sees them.
    #[inline]
    pub fn pool(&self, plane: PlaneId) -> Pool<'_> {
        let first = (plane.0 * self.blocks_per_plane) as usize;
        let range = first..first + self.blocks_per_plane as usize;
        Pool {
            first: BlockId(first as u32),
            pages_per_block: self.pages_per_block,
            state: &self.state[range.clone()],
            valid: &self.valid[range.clone()],
            erases: &self.erases[range.clone()],
            closed: &self.closed[range],
            clock: self.clock,
        }
    }
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
    /// Pages of each block that hold the newest copy of a logical page.
    pub valid: &'a [u16],
    /// How often each block was erased.
    pub erases: &'a [u32],
    /// When each block was closed, on the clock of `clock`.
    pub closed: &'a [u32],
    /// How many blocks have ever been closed.
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

    /// Whether collecting this block would free a page.
    #[inline]
    pub fn reclaimable(&self, index: usize) -> bool {
        self.state[index] == BlockState::Closed && self.valid[index] < self.pages_per_block
    }

    /// The block at this index.
    #[inline]
    pub fn block(&self, index: usize) -> BlockId {
        BlockId(self.first.0 + index as u32)
    }
}
