//! The pools of the dual-pool leveler: the pool of each block, and its wear when it joined.

use ssdlab_nand::BlockId;

use ssdlab_policy::blocks::{BlockState, BlockTable};
use ssdlab_policy::columns::{Column, Per};

/// A block that holds data, as the leveler sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// The block.
    pub block: BlockId,
    /// Whether the block is in the cold pool.
    pub is_cold: bool,
    /// P/E cycles of the block.
    pub wear: u32,
    /// P/E cycles since the block joined its pool.
    pub cycles: u32,
}

/// The pools of all blocks.
#[derive(Clone, Debug)]
pub(crate) struct Pools {
    /// By block: 1 if it is in the cold pool, and its P/E cycles when it joined its pool.
    pub(super) is_cold: Vec<u8>,
    pub(super) joined: Vec<u32>,
    /// 1 once every block has joined a pool.
    begun: u8,
}

impl Pools {
    /// Returns the pools of `blocks` blocks that have not joined a pool.
    pub(crate) fn new(blocks: u32) -> Pools {
        let blocks = blocks as usize;
        Pools { is_cold: vec![0; blocks], joined: vec![0; blocks], begun: 0 }
    }

    /// Puts every block into a pool, the first time that the leveler runs. Returns whether this is
    /// the first time.
    pub(crate) fn begin(&mut self, blocks: &BlockTable) -> bool {
        if self.begun == 1 {
            return false;
        }
        self.begun = 1;
        for block in (0..blocks.len() as u32).map(BlockId) {
            self.join(block, blocks.erases(block), blocks.state(block) == BlockState::Closed);
        }
        true
    }

    /// Returns whether a block is in the cold pool.
    pub(crate) fn is_cold(&self, block: BlockId) -> bool {
        self.is_cold[block.index()] == 1
    }

    /// Returns the leveler's view of a block with data that has `wear` P/E cycles.
    pub(crate) fn held(&self, block: BlockId, wear: u32) -> Held {
        // A state file may hold impossible values.
        let cycles = wear.saturating_sub(self.joined[block.index()]);
        Held { block, is_cold: self.is_cold(block), wear, cycles }
    }

    /// Returns the columns of the pools.
    pub(crate) fn columns(&mut self) -> [Column<'_>; 3] {
        [
            Column::new("block_pools", Per::Block, &mut self.is_cold).up_to(1),
            Column::new("block_pool_wear", Per::Block, &mut self.joined),
            Column::new("pools_begun", Per::Drive, &mut self.begun).up_to(1),
        ]
    }

    /// Puts a block into a pool.
    pub(crate) fn join(&mut self, block: BlockId, joined: u32, is_cold: bool) {
        self.is_cold[block.index()] = is_cold.into();
        self.joined[block.index()] = joined;
    }

    /// Moves a misplaced block of each pool into the other pool. A cold block is misplaced if it
    /// was erased more often since it joined than a hot block, by more than `threshold`. A hot
    /// block is misplaced if it is less worn than others by more than twice `threshold`.
    pub(crate) fn sort(&mut self, held: &[Held], worn: u32, threshold: u32) {
        let of = |is_cold| held.iter().filter(move |held| held.is_cold == is_cold);
        let least = of(false).map(|hot| hot.cycles).min().unwrap_or(0);
        let worn_cold = of(true).max_by_key(|cold| cold.cycles);
        let worn_cold = worn_cold.filter(|cold| cold.cycles.saturating_sub(least) > threshold);
        let most = of(false).map(|hot| hot.wear).max().unwrap_or(0).max(worn);
        let young = of(false).min_by_key(|hot| hot.wear);
        let young = young.filter(|hot| most - hot.wear > threshold.saturating_mul(2));
        worn_cold.into_iter().for_each(|cold| self.join(cold.block, cold.wear, false));
        young.into_iter().for_each(|hot| self.join(hot.block, hot.wear, true));
    }
}
