//! What the controller knows of each block.

use serde::de::SeqAccess;
use serde::ser::SerializeTuple;
use ssdlab_base::ahead;
use ssdlab_nand::{BlockId, Geometry, PlaneId};

use crate::allocation::BlockClass;
use crate::kept::{self, Kept, Limits};
pub use crate::pool::{BlockState, Pool};

/// The class of each block.
#[derive(Clone, Debug, Default)]
pub struct BlockClasses {
    /// By block; empty if all are alike.
    pub classes: Vec<BlockClass>,
    /// How many classes are set apart, the best first.
    pub apart: u8,
}

/// The block table, a column for each fact.
#[derive(Clone, Debug)]
pub struct BlockTable {
    pub(crate) state: Vec<BlockState>,
    /// Pages whose program has ended.
    pub(crate) written: Vec<u16>,
    /// Pages that hold the newest copy of a logical page.
    pub(crate) valid: Vec<u16>,
    pub(crate) erases: Vec<u32>,
    /// When the block was closed, on the clock of its plane; of one that is not full, when it was
    /// begun.
    pub(crate) closed: Vec<u32>,
    /// Blocks of each plane that have ever been closed.
    pub(crate) clock: Vec<u32>,
    pub(crate) blocks_per_plane: u32,
    pub(crate) pages_per_block: u16,
    /// Full blocks by the number of their valid pages, of each number plane after plane. It follows
    /// from the rest.
    full: Vec<u32>,
    planes: usize,
    /// The class of each block, 0 the best; empty if all are alike. Not part of what is on a
    /// drive: each drive sorts its blocks by what it knows of them.
    class: Vec<BlockClass>,
    /// In which order free blocks are opened where that goes by what they were measured to be, the
    /// least first; empty where it does not.
    turn: Vec<u32>,
    /// Classes that are set apart, the best first: their blocks are for who asks for them.
    apart: u8,
}

impl Kept for BlockTable {
    const COLUMNS: usize = 6;

    fn write<S: SerializeTuple>(&self, to: &mut S) -> Result<(), S::Error> {
        kept::write(to, &self.state)?;
        kept::write(to, &self.written)?;
        kept::write(to, &self.valid)?;
        kept::write(to, &self.erases)?;
        kept::write(to, &self.closed)?;
        kept::write(to, &self.clock)
    }

    fn read<'de, A: SeqAccess<'de>>(from: &mut A, limits: &Limits<'_>) -> Result<Self, A::Error> {
        let geometry = limits.geometry;
        Ok(BlockTable {
            state: limits.column(from, limits.blocks())?,
            written: limits.column(from, limits.blocks())?,
            valid: limits.column(from, limits.blocks())?,
            erases: limits.column(from, limits.blocks())?,
            closed: limits.column(from, limits.blocks())?,
            clock: limits.column(from, geometry.plane_count() as usize)?,
            blocks_per_plane: geometry.blocks,
            pages_per_block: geometry.pages as u16,
            full: Vec::new(),
            planes: 0,
            class: Vec::new(),
            turn: Vec::new(),
            apart: 0,
        })
    }
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
            clock: vec![0; geometry.plane_count() as usize],
            blocks_per_plane: geometry.blocks,
            pages_per_block: geometry.pages as u16,
            full: vec![0; (geometry.plane_count() * (geometry.pages + 1)) as usize],
            planes: geometry.plane_count() as usize,
            class: Vec::new(),
            turn: Vec::new(),
            apart: 0,
        }
    }

    /// Sorts the blocks into classes.
    pub fn set_classes(&mut self, block_classes: &BlockClasses) {
        self.class.clone_from(&block_classes.classes);
        self.apart = block_classes.apart;
    }

    /// Moves a block to another class, if there are several.
    pub fn set_class(&mut self, block: BlockId, class: BlockClass) {
        if let Some(own) = self.class.get_mut(block.index()) {
            *own = class;
        }
    }

    /// Sets when each block's turn to be opened comes, the least first.
    pub fn set_turns(&mut self, turns: Vec<u32>) {
        self.turn = turns;
    }

    /// Sets when a block's turn to be opened comes, if blocks have turns.
    pub fn set_turn(&mut self, block: BlockId, turn: u32) {
        if let Some(own) = self.turn.get_mut(block.index()) {
            *own = turn;
        }
    }

    /// When a block's turn to be opened comes.
    #[inline]
    pub fn turn(&self, block: BlockId) -> u32 {
        self.turn.get(block.index()).copied().unwrap_or(0)
    }

    /// Whether a block is set apart.
    #[inline]
    pub fn is_apart(&self, block: BlockId) -> bool {
        self.class(block).0 < self.apart
    }

    /// The class of a block, 0 the best.
    #[inline]
    pub fn class(&self, block: BlockId) -> BlockClass {
        self.class.get(block.index()).copied().unwrap_or(BlockClass::BEST)
    }

    /// The plane of a block.
    #[inline]
    pub fn plane_of(&self, block: BlockId) -> PlaneId {
        PlaneId(block.0 / self.blocks_per_plane)
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

    /// Whether a block is being written, or may be written further.
    pub fn is_open(&self, block: BlockId) -> bool {
        matches!(self.state(block), BlockState::Open | BlockState::Partial)
    }

    /// Changes what a block is used for.
    #[inline]
    pub fn set_state(&mut self, block: BlockId, state: BlockState) {
        if self.is_full(block) {
            *self.full_like(block) -= 1;
        }
        self.state[block.index()] = state;
        if self.is_full(block) {
            *self.full_like(block) += 1;
        }
    }

    /// The block is being written; if it was free, it is begun now.
    #[inline]
    pub fn open(&mut self, block: BlockId) {
        if self.state(block) == BlockState::Free {
            self.closed[block.index()] = self.clock[self.plane_of(block).index()];
        }
        self.set_state(block, BlockState::Open);
    }

    #[inline]
    fn is_full(&self, block: BlockId) -> bool {
        self.state[block.index()] == BlockState::Closed
    }

    /// Full blocks of a block's plane with as many valid pages.
    #[inline]
    fn full_like(&mut self, block: BlockId) -> &mut u32 {
        let (valid, plane) = (self.valid[block.index()], self.plane_of(block));
        &mut self.full[usize::from(valid) * self.planes + plane.index()]
    }

    /// Changes how many pages of a block hold the newest copy of a logical page.
    #[inline(always)]
    fn set_valid(&mut self, block: BlockId, valid: u16) {
        let is_full = self.is_full(block);
        if is_full {
            *self.full_like(block) -= 1;
        }
        self.valid[block.index()] = valid;
        if is_full {
            *self.full_like(block) += 1;
        }
    }

    /// Full blocks with so many valid pages, by plane.
    pub fn full(&self, valid: u16) -> &[u32] {
        &self.full[usize::from(valid) * self.planes..][..self.planes]
    }

    /// Counts the full blocks anew, of a table that was kept.
    pub fn count_full(&mut self) {
        self.planes = self.len() / self.blocks_per_plane as usize;
        self.full = vec![0; self.planes * (usize::from(self.pages_per_block) + 1)];
        for block in (0..self.len() as u32).map(BlockId) {
            if self.is_full(block) {
                *self.full_like(block) += 1;
            }
        }
    }

    /// Whether the full blocks are counted as they are.
    pub fn counts_full(&self) -> bool {
        let mut anew = self.clone();
        anew.count_full();
        anew.full == self.full
    }

    /// Asks for what will be changed soon of a block that loses a page.
    #[inline]
    pub fn expect(&self, block: BlockId) {
        ahead::fetch(&self.state, block.index());
        ahead::fetch(&self.valid, block.index());
    }

    /// Asks for what will be changed of a block of which a page begins to be programmed.
    #[inline]
    pub fn expect_written(&self, block: BlockId) {
        ahead::fetch(&self.written, block.index());
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

    /// How often each open or full block of a class was erased.
    pub fn erases_of_class(&self, class: BlockClass) -> impl Iterator<Item = u32> + '_ {
        let blocks = (0..self.erases.len() as u32).map(BlockId);
        let holds = |state: BlockState| matches!(state, BlockState::Open | BlockState::Closed);
        let of_class =
            move |&block: &BlockId| holds(self.state(block)) && self.class(block) == class;
        blocks.filter(of_class).map(|block| self.erases(block))
    }

    /// Counts the end of a page's program; a full block is closed.
    #[inline]
    pub fn page_written(&mut self, block: BlockId) {
        let written = &mut self.written[block.index()];
        *written += 1;
        if *written == self.pages_per_block {
            self.close(block);
        }
    }

    #[inline]
    fn close(&mut self, block: BlockId) {
        let plane = self.plane_of(block).index();
        self.clock[plane] += 1;
        self.closed[block.index()] = self.clock[plane];
        self.set_state(block, BlockState::Closed);
    }

    /// The block is programmed in part, and nothing is under way on it.
    #[inline]
    pub fn rests(&mut self, block: BlockId) {
        if self.state[block.index()] == BlockState::Open {
            self.state[block.index()] = BlockState::Partial;
        }
    }

    /// A page of the block now holds the newest copy of a logical page.
    #[inline]
    pub fn page_valid(&mut self, block: BlockId) {
        self.set_valid(block, self.valid(block) + 1);
    }

    /// A page of the block no longer holds the newest copy.
    #[inline]
    pub fn page_invalid(&mut self, block: BlockId) {
        self.set_valid(block, self.valid(block) - 1);
    }

    /// The block has been erased, which counts for so many P/E cycles, and is free.
    pub fn erased(&mut self, block: BlockId, counts_for: u32) {
        debug_assert_eq!(self.valid(block), 0, "a block with valid pages was erased");
        self.written[block.index()] = 0;
        let erases = &mut self.erases[block.index()];
        *erases = erases.saturating_add(counts_for);
        self.set_state(block, BlockState::Free);
    }

    /// Gives a block the pages with which the drive starts; a full one counts as closed now.
    pub fn lay(&mut self, block: BlockId, written: u16, valid: u16) {
        self.written[block.index()] = written;
        self.set_valid(block, valid);
        if written == self.pages_per_block {
            self.close(block);
        } else {
            self.open(block);
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
            written: &self.written[range.clone()],
            valid: &self.valid[range.clone()],
            erases: &self.erases[range.clone()],
            closed: &self.closed[range.clone()],
            class: self.class.get(range).unwrap_or_default(),
            apart: self.apart,
            clock: self.clock[plane.index()],
        }
    }
}

#[cfg(test)]
mod tests {

    use ssdlab_nand::Cell;

    use super::*;
    use crate::testing::SMALL;

    /// Two planes of three blocks of four pages.
    fn table() -> BlockTable {
        BlockTable::new(&Geometry { channels: 2, blocks: 3, cell: Cell::Mlc, ..SMALL })
    }

    #[test]
    fn a_block_is_closed_by_its_last_page_and_free_once_it_is_erased() {
        let (mut table, block) = (table(), BlockId(4));
        table.set_state(block, BlockState::Open);
        for written in 1..=3 {
            table.page_written(block);
            assert_eq!((table.written(block), table.state(block)), (written, BlockState::Open));
        }
        assert!(!table.any(BlockState::Closed));
        table.page_written(block);
        assert_eq!(table.state(block), BlockState::Closed);
        assert!(table.any(BlockState::Closed));
        table.set_state(block, BlockState::Victim);
        table.erased(block, 1);
        let facts = (table.written(block), table.erases(block), table.state(block));
        assert_eq!(facts, (0, 1, BlockState::Free));
        assert_eq!(table.erases(BlockId(1)), 0);
    }

    #[test]
    fn blocks_are_numbered_as_they_are_closed() {
        let mut table = table();
        table.lay(BlockId(5), 4, 3);
        table.lay(BlockId(3), 2, 1);
        (0..4).for_each(|_| table.page_written(BlockId(4)));
        (0..2).for_each(|_| table.page_written(BlockId(3)));
        let pool = table.pool(PlaneId(1));
        assert_eq!((pool.closed, pool.clock), (&[3, 2, 1][..], 3));
        assert_eq!((pool.first, pool.len(), pool.pages_per_block), (BlockId(3), 3, 4));
        assert_eq!(pool.valid, [1, 0, 3]);
        assert_eq!([0, 1, 2].map(|at| pool.block(at).0), [3, 4, 5]);
        assert_eq!(table.pool(PlaneId(0)).closed, [0; 3]);
    }

    #[test]
    fn a_block_laid_in_part_is_open_and_a_full_one_can_be_reclaimed_if_a_page_is_outdated() {
        let mut table = table();
        table.lay(BlockId(0), 3, 2);
        table.lay(BlockId(1), 4, 4);
        table.lay(BlockId(2), 4, 4);
        assert_eq!(table.state(BlockId(0)), BlockState::Open);
        table.page_invalid(BlockId(2));
        let pool = table.pool(PlaneId(0));
        assert_eq!([0, 1, 2].map(|at| pool.reclaimable(at)), [false, false, true]);
        table.page_valid(BlockId(2));
        assert_eq!(table.valid(BlockId(2)), 4);
    }

    #[test]
    fn full_blocks_are_counted_by_their_valid_pages() {
        let mut table = table();
        let full = |table: &BlockTable| [0, 1, 2, 3, 4].map(|valid| table.full(valid).to_vec());
        (0..6).map(BlockId).for_each(|block| table.lay(block, 4, 1 + block.0 as u16 / 2));
        let [none, one, two] = [vec![0, 0], vec![1, 0], vec![1, 1]];
        let laid = [none.clone(), vec![2, 0], two.clone(), vec![0, 2], none.clone()];
        assert_eq!(full(&table), laid);
        table.page_invalid(BlockId(0));
        table.set_state(BlockId(1), BlockState::Victim);
        table.page_invalid(BlockId(1));
        table.page_valid(BlockId(5));
        table.lay(BlockId(2), 2, 2);
        let now = [one, none.clone(), vec![0, 1], vec![0, 1], vec![0, 1]];
        assert_eq!(full(&table), now);
        assert!(table.counts_full());
    }

    #[test]
    fn bad_blocks_do_not_count_among_those_that_wear() {
        let mut table = table();
        for (block, erases) in (0..6).map(BlockId).zip([7, 5, 9, 2, 4, 8]) {
            table.set_erases(block, erases);
        }
        for bad in [1, 4] {
            table.set_state(BlockId(bad), BlockState::Bad);
        }
        assert_eq!(table.usable_erases().collect::<Vec<_>>(), [7, 9, 2, 8]);
        assert_eq!(
            (table.len(), table.is_empty(), table.pool(PlaneId(0)).is_empty()),
            (6, false, false)
        );
    }
}
