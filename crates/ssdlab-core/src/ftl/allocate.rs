//! The allocation of pages for writes: free blocks by plane, and open blocks in the strict or the
//! relaxed page order.

use ssdlab_nand::page_order::PageOrder;
use ssdlab_nand::{BlockId, Geometry, PageInBlock, PageType, PlaneId, Ppn};

use super::pools::Pools;
use super::relaxed::Relaxed;
use super::saved::SavedOpen;
use super::strict::Strict;
use ssdlab_policy::account::Priority;
use ssdlab_policy::allocation::{
    AllocRequest, AllocatorConfig, BlockClass, PageSequence, StreamId, Writer,
};
use ssdlab_policy::blocks::BlockTable;

/// Free and open blocks of every plane.
#[derive(Clone, Debug)]
pub struct Allocator {
    pools: Pools,
    opened: OpenBlocks,
    pages_per_block: u32,
}

#[derive(Clone, Debug)]
enum OpenBlocks {
    Strict(Strict),
    Relaxed(Relaxed),
}

impl Allocator {
    /// Creates an allocator with the free blocks of `blocks` and no open block.
    pub fn new(
        geometry: &Geometry,
        blocks: &mut BlockTable,
        allocator_config: AllocatorConfig,
    ) -> Allocator {
        let opened = match allocator_config.order {
            PageSequence::Strict => OpenBlocks::Strict(Strict::new(geometry, allocator_config)),
            PageSequence::Relaxed => {
                OpenBlocks::Relaxed(Relaxed::new(geometry, blocks, allocator_config.classes))
            }
        };
        let pools = Pools::new(geometry, blocks, allocator_config);
        Allocator { pools, opened, pages_per_block: geometry.pages }
    }

    /// Returns the open blocks, to be saved. The block table records which blocks are free.
    pub fn save(&self) -> SavedOpen {
        match &self.opened {
            OpenBlocks::Strict(opened) => {
                let (streams, open) = opened.save();
                SavedOpen::Strict { streams, open }
            }
            OpenBlocks::Relaxed(opened) => SavedOpen::Relaxed(opened.save()),
        }
    }

    /// Restores saved open blocks that were checked, in the classes of `blocks`. Returns `None` if
    /// the config's page order cannot continue the saved order.
    pub fn restore(
        saved: &SavedOpen,
        geometry: &Geometry,
        blocks: &mut BlockTable,
        allocator_config: AllocatorConfig,
    ) -> Option<Allocator> {
        let opened = match (saved, allocator_config.order) {
            (SavedOpen::Strict { streams, open }, PageSequence::Strict) => OpenBlocks::Strict(
                Strict::restore((*streams, open), geometry, blocks, allocator_config),
            ),
            // The relaxed order can continue blocks written in the conventional order.
            (SavedOpen::Strict { open, .. }, PageSequence::Relaxed) => {
                let order = PageOrder::conventional(geometry.cell, geometry.pages);
                let mut relaxed = Relaxed::new(geometry, blocks, allocator_config.classes);
                // Plane by plane, and within a plane in the saved order.
                let mut open: Vec<_> = open.iter().map(|open| (open.block, open.next)).collect();
                open.sort_by_key(|(block, _)| blocks.plane_of(*block));
                for (block, allocated) in open {
                    relaxed.open_at(&order, blocks, (blocks.plane_of(block), block), allocated);
                }
                OpenBlocks::Relaxed(relaxed)
            }
            (SavedOpen::Relaxed(open), PageSequence::Relaxed) => OpenBlocks::Relaxed(
                Relaxed::restore(open, geometry, blocks, allocator_config.classes),
            ),
            (SavedOpen::Relaxed(_), PageSequence::Strict) => return None,
        };
        let pools = Pools::new(geometry, blocks, allocator_config);
        Some(Allocator { pools, opened, pages_per_block: geometry.pages })
    }

    /// Returns the order of the free blocks, to be saved; see [`Pools::free_order`].
    pub(crate) fn free_order(&self, blocks: usize) -> Option<Vec<u32>> {
        self.pools.free_order(blocks)
    }

    /// Continues a saved order of the free blocks; see [`Pools::resume`].
    pub fn resume(
        &mut self,
        blocks: &mut BlockTable,
        order: Option<&[u32]>,
        sizes: Option<&[usize]>,
    ) {
        self.pools.resume(blocks, order, sizes);
    }

    /// Returns the number of free blocks of a plane, without those that are reserved.
    pub fn free_blocks(&self, plane: PlaneId) -> usize {
        self.pools.count(plane) as usize
    }

    /// Returns the number of pages left in a writer's open blocks, without those that are
    /// reserved.
    pub fn open_pages(&self, plane: PlaneId, writer: Writer) -> u32 {
        self.pools.unreserved().map(|class| self.left(plane, writer, class)).sum()
    }

    fn left(&self, plane: PlaneId, writer: Writer, class: BlockClass) -> u32 {
        match &self.opened {
            OpenBlocks::Strict(opened) => opened.left(plane, writer, class),
            OpenBlocks::Relaxed(opened) => opened.left(plane, class),
        }
    }

    /// Returns the pages of a plane that the host can still write before a block is erased, if no
    /// job uses the reserve. Where each priority writes blocks of its own, returns 0 as soon as one
    /// priority could lack a page.
    pub(crate) fn pages_for_host(&self, plane: PlaneId) -> u32 {
        let clean = self.pools.count(plane).saturating_sub(self.pools.reserve);
        if clean == 0 && self.pools.subpools().is_some() {
            return 0;
        }
        clean * self.pages_per_block + self.open_pages(plane, Writer::Host)
    }

    /// Returns the writers that have blocks of their own.
    pub(crate) fn writers(&self) -> &'static [Writer] {
        match &self.opened {
            OpenBlocks::Strict(opened) => opened.writers(),
            OpenBlocks::Relaxed(_) => &[Writer::Host],
        }
    }

    /// Returns the pages of a plane not yet allocated, in free and in open blocks, without those
    /// that are reserved.
    pub fn free_pages(&self, plane: PlaneId) -> u32 {
        let own = self.writers().iter();
        let in_use: u32 = own.map(|&writer| self.open_pages(plane, writer)).sum();
        self.pools.count(plane) * self.pages_per_block + in_use
    }

    /// Returns the same number as [`Allocator::free_pages`], but 0 if the host can write none.
    pub(crate) fn usable_pages(&self, plane: PlaneId) -> u32 {
        if self.pages_for_host(plane) == 0 { 0 } else { self.free_pages(plane) }
    }

    /// Returns the usable free pages of a plane if `all`, else only the pages of its free blocks.
    #[inline]
    pub fn counted(&self, plane: PlaneId, all: bool) -> u32 {
        if all { self.usable_pages(plane) } else { self.pools.count(plane) * self.pages_per_block }
    }

    /// Returns the free pages of each type on the drive; `None` in the strict order, which does not
    /// count.
    pub fn free_by_type(&self) -> Option<[u64; PageType::MAX_COUNT]> {
        match &self.opened {
            OpenBlocks::Strict(_) => None,
            OpenBlocks::Relaxed(opened) => Some(opened.free()),
        }
    }

    /// Returns the pages of a class to which single pages can still move. Such moves and the
    /// plane's
    /// jobs share blocks, except in classes that are reserved. Then it returns 0 when only the
    /// reserve is free, because a job must find room.
    pub(crate) fn pages_to_move_to(&self, plane: PlaneId, class: BlockClass) -> u32 {
        let shares = class.index() >= self.pools.reserved_classes;
        if shares && self.pools.count(plane) <= self.pools.reserve {
            return 0;
        }
        self.pages_for(Writer::Gc, plane, class)
    }

    /// Returns the pages of a class that the host can write on a plane before a block is erased, if
    /// it gets all of them.
    pub fn pages_of(&self, plane: PlaneId, class: BlockClass) -> u32 {
        self.pages_for(Writer::Host, plane, class)
    }

    #[inline]
    fn pages_for(&self, writer: Writer, plane: PlaneId, class: BlockClass) -> u32 {
        let clean = self.pools.for_host(plane, class) * self.pages_per_block;
        self.left(plane, writer, class) + clean
    }

    /// Returns the position in its block of the next page for a writer, if there is one.
    #[inline]
    pub fn next_page(
        &self,
        order: &PageOrder,
        blocks: &BlockTable,
        plane: PlaneId,
        writer: Writer,
        request: AllocRequest,
    ) -> Option<PageInBlock> {
        self.pools.nearest(request.class).find_map(|class| match &self.opened {
            OpenBlocks::Strict(opened) => {
                opened.next_page(&self.pools, blocks, plane, (writer, class, request.stream))
            }
            OpenBlocks::Relaxed(opened) => {
                opened.next_page(order, &self.pools, (plane, writer, class), request.page_type)
            }
        })
    }

    /// Allocates the page for a writer that is nearest to the request; `None` if the plane has
    /// none.
    #[inline(always)]
    pub fn allocate(
        &mut self,
        (geometry, order): (&Geometry, &PageOrder),
        blocks: &mut BlockTable,
        plane: PlaneId,
        writer: Writer,
        request: AllocRequest,
    ) -> Option<Ppn> {
        let pools = &mut self.pools;
        match &mut self.opened {
            OpenBlocks::Strict(opened) => {
                // A loop instead of a closure keeps this part of the event loop in one place.
                for class in pools.nearest(request.class) {
                    let place = (plane, writer, class);
                    let page = opened.allocate(geometry, pools, blocks, place, request.stream);
                    if page.is_some() {
                        return page;
                    }
                }
                None
            }
            OpenBlocks::Relaxed(opened) => pools.nearest(request.class).find_map(|class| {
                let place = (plane, writer, class);
                opened.allocate((geometry, order), pools, blocks, place, request.page_type)
            }),
        }
    }

    /// Returns whether every allocated page of a block is among its `written` pages; false in the
    /// strict order.
    #[inline]
    pub fn rests(&self, block: BlockId, written: u16) -> bool {
        match &self.opened {
            OpenBlocks::Strict(_) => false,
            OpenBlocks::Relaxed(opened) => opened.allocated(block) == u32::from(written),
        }
    }

    /// Stops allocation in a block that is to be erased; returns its number of pages never
    /// programmed.
    pub fn leave(&mut self, blocks: &BlockTable, plane: PlaneId, block: BlockId) -> u32 {
        match &mut self.opened {
            OpenBlocks::Strict(opened) => opened.leave(plane, block),
            OpenBlocks::Relaxed(opened) => opened.leave(blocks, plane, block),
        }
    }

    /// Sets whether wear leveling takes the most worn block of all priorities instead of one of its
    /// own priority.
    pub(crate) fn level_across(&mut self, across: bool) {
        self.pools.level_across(across);
    }

    /// See [`Pools::rerank`].
    pub(crate) fn rerank(
        &mut self,
        blocks: &mut BlockTable,
        block: BlockId,
        free_rank: u32,
    ) -> bool {
        self.pools.rerank(blocks, block, free_rank)
    }

    /// Returns the free blocks of each subpool, if priorities have subpools.
    pub fn subpools(&self) -> Option<Vec<u32>> {
        self.pools.subpools().map(|subpools| subpools.sizes().collect())
    }

    /// Returns an erased block to the free blocks; where subpools exist, that of `gains` grows by
    /// one.
    pub(crate) fn give_back(
        &mut self,
        blocks: &mut BlockTable,
        plane: PlaneId,
        block: BlockId,
        gains: Option<Priority>,
    ) {
        self.pools.give_back(blocks, (plane, block), gains);
        if let OpenBlocks::Relaxed(opened) = &mut self.opened {
            opened.erased(block);
        }
    }

    /// Opens a block, whose first `written` pages are written, for a writer. If the writer already
    /// has an open block, the next writer that opens a block gets it.
    pub(crate) fn open_at(
        &mut self,
        order: &PageOrder,
        blocks: &BlockTable,
        (plane, writer, stream): (PlaneId, Writer, StreamId),
        (block, written): (BlockId, u16),
    ) {
        match &mut self.opened {
            OpenBlocks::Strict(opened) => {
                opened.open_at(blocks, (plane, writer, stream), (block, written))
            }
            OpenBlocks::Relaxed(opened) => opened.open_at(order, blocks, (plane, block), written),
        }
    }

    /// Returns a writer's open blocks with their streams, the best class first; none in the relaxed
    /// order, where writers share blocks.
    pub fn open_blocks(&self, plane: PlaneId, writer: Writer) -> Vec<(StreamId, BlockId)> {
        match &self.opened {
            OpenBlocks::Strict(opened) => opened.open_blocks(plane, writer),
            OpenBlocks::Relaxed(_) => Vec::new(),
        }
    }

    /// Returns the free blocks of a plane, in no order.
    pub(crate) fn free_list(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        self.pools.list(plane)
    }

    /// Returns the open blocks of a plane, each with its number of allocated pages.
    pub fn open_list(&self, plane: PlaneId) -> Vec<(BlockId, u16)> {
        match &self.opened {
            OpenBlocks::Strict(opened) => opened.list(plane).collect(),
            OpenBlocks::Relaxed(opened) => opened.list(plane).collect(),
        }
    }

    /// Returns whether a page is allocated, in a block with `written` pages written.
    pub(crate) fn is_allocated(
        &self,
        order: &PageOrder,
        block: BlockId,
        page: PageInBlock,
        written: u16,
    ) -> bool {
        match &self.opened {
            OpenBlocks::Strict(_) => page.0 < written,
            OpenBlocks::Relaxed(opened) => opened.is_allocated(order, block, page),
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::SMALL;
    use crate::ftl::{BlockState, FreeBlockPolicy, GcStream, Streams};

    /// Returns a plane of six blocks of two pages, with different wear; the fourth block is bad.
    fn plane(free_block_policy: FreeBlockPolicy) -> (Geometry, BlockTable, Allocator) {
        let geometry = Geometry { blocks: 6, pages: 2, ..SMALL };
        let mut blocks = BlockTable::new(&geometry);
        for (block, wear) in (0..).map(BlockId).zip([5, 2, 9, 0, 7, 2]) {
            blocks.set_erases(block, wear);
        }
        blocks.set_free_ranks(vec![3, 4, 1, 0, 5, 2]);
        blocks.set_state(BlockId(3), BlockState::Bad);
        let allocator_config = AllocatorConfig {
            reserve: 1,
            free_block_policy,
            classes: 1,
            order: PageSequence::Strict,
            gc_stream: GcStream::Separate,
            reserved_classes: 0,
            by_priority: false,
            unowned: false,
            streams: Streams::ONE,
        };
        let allocator = Allocator::new(&geometry, &mut blocks, allocator_config);
        (geometry, blocks, allocator)
    }

    const PLANE: PlaneId = PlaneId(0);

    /// Allocates the next page for a writer that requests nothing.
    fn take(
        geometry: &Geometry,
        blocks: &mut BlockTable,
        allocator: &mut Allocator,
        writer: Writer,
    ) -> Option<u32> {
        let order = PageOrder::conventional(geometry.cell, geometry.pages);
        let page =
            allocator.allocate((geometry, &order), blocks, PLANE, writer, AllocRequest::default());
        page.map(|ppn| ppn.0)
    }

    /// Returns the blocks that a writer gets until the plane has no more.
    fn drain(free_block_policy: FreeBlockPolicy, writer: Writer) -> Vec<u32> {
        let (geometry, mut blocks, mut allocator) = plane(free_block_policy);
        let pages = std::iter::from_fn(|| take(&geometry, &mut blocks, &mut allocator, writer));
        let pages: Vec<u32> = pages.collect();
        assert!(pages.chunks(2).all(|pair| pair[0] % 2 == 0 && pair[1] == pair[0] + 1));
        pages.iter().step_by(2).map(|page| page / 2).collect()
    }

    #[test]
    fn the_least_worn_block_is_opened_first_and_the_host_cannot_take_the_reserve() {
        assert_eq!(drain(FreeBlockPolicy::LeastErased, Writer::Host), [1, 5, 0, 4]);
        assert_eq!(drain(FreeBlockPolicy::LeastErased, Writer::Gc), [1, 5, 0, 4, 2]);
        assert_eq!(drain(FreeBlockPolicy::LeastErased, Writer::Cold), [2, 4, 0, 1, 5]);
        assert_eq!(drain(FreeBlockPolicy::LongestFree, Writer::Host), [0, 1, 2, 4]);
    }

    #[test]
    fn by_errors_the_best_block_is_the_hosts_and_what_is_moved_gets_the_worst() {
        for free_block_policy in [FreeBlockPolicy::FewestErrors, FreeBlockPolicy::Healthiest] {
            assert_eq!(drain(free_block_policy, Writer::Host), [2, 5, 0, 1]);
            assert_eq!(drain(free_block_policy, Writer::Gc), [4, 1, 0, 5, 2]);
            assert_eq!(drain(free_block_policy, Writer::Cold), [4, 1, 0, 5, 2]);
        }
    }

    #[test]
    fn the_host_may_write_every_free_page_but_those_of_the_reserve() {
        let (geometry, mut blocks, mut allocator) = plane(FreeBlockPolicy::LeastErased);
        for left in (0..=8).rev() {
            assert_eq!(allocator.pages_of(PLANE, BlockClass::BEST), left);
            let page = take(&geometry, &mut blocks, &mut allocator, Writer::Host);
            assert_eq!(page.is_some(), left > 0);
        }
    }

    #[test]
    fn without_leveling_the_block_freed_first_is_opened_first() {
        let (geometry, mut blocks, mut allocator) = plane(FreeBlockPolicy::LongestFree);
        let write = |blocks: &mut BlockTable, allocator: &mut Allocator| {
            take(&geometry, blocks, allocator, Writer::Gc).map(|page| page / 2)
        };
        (0..10).for_each(|_| assert!(write(&mut blocks, &mut allocator).is_some()));
        assert_eq!(write(&mut blocks, &mut allocator), None);
        for block in [4, 0, 2] {
            allocator.give_back(&mut blocks, PLANE, BlockId(block), None);
        }
        let again = [0, 0, 1, 1, 2, 2].map(|_| write(&mut blocks, &mut allocator));
        assert_eq!(again, [4, 4, 0, 0, 2, 2].map(Some));
    }

    #[test]
    fn each_stream_has_an_open_block_of_its_own() {
        let (geometry, mut blocks, mut allocator) = plane(FreeBlockPolicy::LeastErased);
        let order = PageOrder::conventional(geometry.cell, geometry.pages);
        let next = |allocator: &Allocator, blocks: &BlockTable, writer| {
            allocator.next_page(&order, blocks, PLANE, writer, AllocRequest::default())
        };
        for (writer, block) in [(Writer::Host, 1), (Writer::Gc, 5), (Writer::Cold, 2)] {
            assert_eq!(allocator.open_pages(PLANE, writer), 0);
            assert_eq!(next(&allocator, &blocks, writer), Some(PageInBlock(0)));
            let page = take(&geometry, &mut blocks, &mut allocator, writer).unwrap();
            assert_eq!(page, 2 * block);
            assert_eq!(blocks.state(BlockId(block)), BlockState::Open);
            assert_eq!(allocator.open_pages(PLANE, writer), 1);
            assert_eq!(next(&allocator, &blocks, writer), Some(PageInBlock(1)));
        }
        assert_eq!(allocator.free_blocks(PLANE), 2);
        assert!(next(&allocator, &blocks, Writer::Host).is_some());
        // The open block's last page, then a whole block; after these only the reserve is left.
        for _ in 0..3 {
            take(&geometry, &mut blocks, &mut allocator, Writer::Host).unwrap();
        }
        assert!(next(&allocator, &blocks, Writer::Host).is_none());
        assert_eq!(next(&allocator, &blocks, Writer::Host), None);
        assert_eq!(allocator.free_list(PLANE).collect::<Vec<_>>(), [BlockId(4)]);
    }
}
