//! The controller's table of blocks.

use serde::de::SeqAccess;
use serde::ser::SerializeTuple;
use ssdlab_base::prefetch;
use ssdlab_nand::{BlockId, Geometry, PlaneId};

use crate::allocation::BlockClass;
pub use crate::pool::{BlockState, Pool};
use crate::saved::{self, Limits, SavedPart};

/// The class of each block.
#[derive(Clone, Debug, Default)]
pub struct BlockClasses {
    /// The class of each block; empty on a drive without classes.
    pub classes: Vec<BlockClass>,
    /// Number of classes that are reserved, the best first.
    pub reserved_classes: u8,
}

/// The block table, with a column for each fact.
#[derive(Clone, Debug)]
pub struct BlockTable {
    pub(crate) state: Vec<BlockState>,
    /// Number of programmed pages of each block.
    pub(crate) written: Vec<u16>,
    /// Number of pages of each block that hold the newest copy of a logical page.
    pub(crate) valid: Vec<u16>,
    pub(crate) erases: Vec<u32>,
    /// When the block was closed, in ticks of its plane's clock. For a block that is not full, when
    /// it was opened.
    pub(crate) closed: Vec<u32>,
    /// The clock of each plane: it ticks each time that a block of the plane is closed.
    pub(crate) clock: Vec<u32>,
    pub(crate) blocks_per_plane: u32,
    pub(crate) pages_per_block: u16,
    /// Number of full blocks, by their number of valid pages and then by plane. Derived from the
    /// other columns.
    full: Vec<u32>,
    planes: usize,
    /// The class of each block, 0 the best; empty on a drive without classes. State files do not
    /// hold it here: each drive sorts its blocks by its own metadata.
    class: Vec<BlockClass>,
    /// The rank of each block among free blocks, if the drive opens them by measurement; the lowest
    /// first. Empty on other drives.
    free_rank: Vec<u32>,
    /// Number of classes that are reserved, the best first. The drive opens their blocks only on
    /// request.
    reserved_classes: u8,
}

impl SavedPart for BlockTable {
    const COLUMNS: usize = 6;

    fn write<S: SerializeTuple>(&self, to: &mut S) -> Result<(), S::Error> {
        saved::write(to, &self.state)?;
        saved::write(to, &self.written)?;
        saved::write(to, &self.valid)?;
        saved::write(to, &self.erases)?;
        saved::write(to, &self.closed)?;
        saved::write(to, &self.clock)
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
            free_rank: Vec::new(),
            reserved_classes: 0,
        })
    }
}

impl BlockTable {
    /// Returns a table of free blocks.
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
            free_rank: Vec::new(),
            reserved_classes: 0,
        }
    }

    /// Sorts the blocks into classes.
    pub fn set_classes(&mut self, block_classes: &BlockClasses) {
        self.class.clone_from(&block_classes.classes);
        self.reserved_classes = block_classes.reserved_classes;
    }

    /// Moves a block to another class, if the drive has classes.
    pub fn set_class(&mut self, block: BlockId, class: BlockClass) {
        if let Some(own) = self.class.get_mut(block.index()) {
            *own = class;
        }
    }

    /// Sets the rank of each block. The drive opens the free block of the lowest rank first.
    pub fn set_free_ranks(&mut self, free_ranks: Vec<u32>) {
        self.free_rank = free_ranks;
    }

    /// Has policies rank the blocks by actions. Each block begins with rank 0.
    pub fn rank_by_actions(&mut self) {
        self.free_rank.resize(self.state.len(), 0);
    }

    /// Sets the rank of a block, if the drive ranks blocks.
    pub fn set_free_rank(&mut self, block: BlockId, free_rank: u32) {
        if let Some(own) = self.free_rank.get_mut(block.index()) {
            *own = free_rank;
        }
    }

    /// Returns the rank of a block.
    pub fn free_rank(&self, block: BlockId) -> u32 {
        self.free_rank.get(block.index()).copied().unwrap_or(0)
    }

    /// Returns whether a block is reserved.
    pub fn is_reserved(&self, block: BlockId) -> bool {
        self.class(block).0 < self.reserved_classes
    }

    /// Returns the class of a block, 0 the best.
    pub fn class(&self, block: BlockId) -> BlockClass {
        self.class.get(block.index()).copied().unwrap_or(BlockClass::BEST)
    }

    /// Returns the plane of a block.
    #[inline]
    pub fn plane_of(&self, block: BlockId) -> PlaneId {
        PlaneId(block.0 / self.blocks_per_plane)
    }

    /// Returns the number of blocks of the drive.
    pub fn len(&self) -> usize {
        self.state.len()
    }

    /// Returns whether the drive has no blocks.
    pub fn is_empty(&self) -> bool {
        self.state.is_empty()
    }

    /// Returns whether any block has this state.
    pub fn any(&self, state: BlockState) -> bool {
        self.state.contains(&state)
    }

    /// Returns the state of a block.
    pub fn state(&self, block: BlockId) -> BlockState {
        self.state[block.index()]
    }

    /// Returns whether a block is being written, or may be written further.
    pub fn is_open(&self, block: BlockId) -> bool {
        matches!(self.state(block), BlockState::Open | BlockState::Partial)
    }

    /// Sets the state of a block.
    pub fn set_state(&mut self, block: BlockId, state: BlockState) {
        if self.is_full(block) {
            *self.full_like(block) -= 1;
        }
        self.state[block.index()] = state;
        if self.is_full(block) {
            *self.full_like(block) += 1;
        }
    }

    /// Marks a block as being written. A free block is opened now.
    #[inline]
    pub fn open(&mut self, block: BlockId) {
        if self.state(block) == BlockState::Free {
            self.closed[block.index()] = self.clock[self.plane_of(block).index()];
        }
        self.set_state(block, BlockState::Open);
    }

    fn is_full(&self, block: BlockId) -> bool {
        self.state[block.index()] == BlockState::Closed
    }

    /// Returns the counter of the full blocks on the block's plane with the same number of valid
    /// pages.
    #[inline]
    fn full_like(&mut self, block: BlockId) -> &mut u32 {
        let (valid, plane) = (self.valid[block.index()], self.plane_of(block));
        &mut self.full[usize::from(valid) * self.planes + plane.index()]
    }

    /// Sets the number of valid pages of a block.
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

    /// Returns the number of full blocks with `valid` valid pages, by plane.
    pub fn full(&self, valid: u16) -> &[u32] {
        &self.full[usize::from(valid) * self.planes..][..self.planes]
    }

    /// Counts the full blocks again, in a table that was loaded.
    pub fn count_full(&mut self) {
        self.planes = self.len() / self.blocks_per_plane as usize;
        self.full = vec![0; self.planes * (usize::from(self.pages_per_block) + 1)];
        for block in (0..self.len() as u32).map(BlockId) {
            if self.is_full(block) {
                *self.full_like(block) += 1;
            }
        }
    }

    /// Returns whether the counters of full blocks are correct.
    pub fn counts_full(&self) -> bool {
        let mut anew = self.clone();
        anew.count_full();
        anew.full == self.full
    }

    /// Prefetches the entries that change soon, when the block loses a page.
    pub fn prefetch(&self, block: BlockId) {
        prefetch::fetch(&self.state, block.index());
        prefetch::fetch(&self.valid, block.index());
    }

    /// Prefetches the entry that changes when the program of a page begins.
    pub fn prefetch_written(&self, block: BlockId) {
        prefetch::fetch(&self.written, block.index());
    }

    /// Returns the number of pages of a block that hold the newest copy of a logical page.
    pub fn valid(&self, block: BlockId) -> u16 {
        self.valid[block.index()]
    }

    /// Returns the number of programmed pages of a block.
    pub fn written(&self, block: BlockId) -> u16 {
        self.written[block.index()]
    }

    /// Returns the number of erases of a block.
    pub fn erases(&self, block: BlockId) -> u32 {
        self.erases[block.index()]
    }

    /// Returns the number of erases of each block that is not bad.
    pub fn usable_erases(&self) -> impl Iterator<Item = u32> + '_ {
        let usable = |(_, state): &(&u32, &BlockState)| **state != BlockState::Bad;
        self.erases.iter().zip(&self.state).filter(usable).map(|(&erases, _)| erases)
    }

    /// Returns the number of erases of each open or full block of a class.
    pub fn erases_of_class(&self, class: BlockClass) -> impl Iterator<Item = u32> + '_ {
        let blocks = (0..self.erases.len() as u32).map(BlockId);
        let holds = |state: BlockState| matches!(state, BlockState::Open | BlockState::Closed);
        let of_class =
            move |&block: &BlockId| holds(self.state(block)) && self.class(block) == class;
        blocks.filter(of_class).map(|block| self.erases(block))
    }

    /// Counts a page whose program has ended. Closes the block if it is full.
    #[inline]
    pub fn page_written(&mut self, block: BlockId) {
        let written = &mut self.written[block.index()];
        *written += 1;
        if *written == self.pages_per_block {
            self.close(block);
        }
    }

    fn close(&mut self, block: BlockId) {
        let plane = self.plane_of(block).index();
        self.clock[plane] += 1;
        self.closed[block.index()] = self.clock[plane];
        self.set_state(block, BlockState::Closed);
    }

    /// Marks an open block as partial: programmed in part, without an operation under way.
    pub fn rests(&mut self, block: BlockId) {
        if self.state[block.index()] == BlockState::Open {
            self.state[block.index()] = BlockState::Partial;
        }
    }

    /// Counts a page of the block that now holds the newest copy of a logical page.
    #[inline]
    pub fn page_valid(&mut self, block: BlockId) {
        self.set_valid(block, self.valid(block) + 1);
    }

    /// Counts a page of the block that no longer holds the newest copy.
    #[inline]
    pub fn page_invalid(&mut self, block: BlockId) {
        self.set_valid(block, self.valid(block) - 1);
    }

    /// Frees a block that was erased. The erase counts for `counts_for` P/E cycles.
    pub fn erased(&mut self, block: BlockId, counts_for: u32) {
        debug_assert_eq!(self.valid(block), 0, "a block with valid pages was erased");
        self.written[block.index()] = 0;
        let erases = &mut self.erases[block.index()];
        *erases = erases.saturating_add(counts_for);
        self.set_state(block, BlockState::Free);
    }

    /// Gives a block the pages that it holds at the start of the drive. A full block counts as
    /// closed now.
    pub fn prefill(&mut self, block: BlockId, written: u16, valid: u16) {
        self.written[block.index()] = written;
        self.set_valid(block, valid);
        if written == self.pages_per_block {
            self.close(block);
        } else {
            self.open(block);
        }
    }

    /// Gives a block the wear that it has at the start of the drive.
    pub fn set_erases(&mut self, block: BlockId, erases: u32) {
        self.erases[block.index()] = erases;
    }

    /// Returns the blocks of a plane, as a policy sees them.
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
            reserved_classes: self.reserved_classes,
            clock: self.clock[plane.index()],
        }
    }
}

#[cfg(test)]
mod tests {

    use ssdlab_nand::Cell;

    use super::*;
    use crate::testing::SMALL;

    /// Returns the table of two planes of three blocks of four pages.
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
        table.prefill(BlockId(5), 4, 3);
        table.prefill(BlockId(3), 2, 1);
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
    fn a_block_filled_in_part_is_open_and_a_full_one_can_be_reclaimed_if_a_page_is_outdated() {
        let mut table = table();
        table.prefill(BlockId(0), 3, 2);
        table.prefill(BlockId(1), 4, 4);
        table.prefill(BlockId(2), 4, 4);
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
        (0..6).map(BlockId).for_each(|block| table.prefill(block, 4, 1 + block.0 as u16 / 2));
        let [none, one, two] = [vec![0, 0], vec![1, 0], vec![1, 1]];
        let filled = [none.clone(), vec![2, 0], two.clone(), vec![0, 2], none.clone()];
        assert_eq!(full(&table), filled);
        table.page_invalid(BlockId(0));
        table.set_state(BlockId(1), BlockState::Victim);
        table.page_invalid(BlockId(1));
        table.page_valid(BlockId(5));
        table.prefill(BlockId(2), 2, 2);
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
