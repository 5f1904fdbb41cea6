//! Flash translation: the page map, the block table, the allocator. It keeps the books and decides
//! nothing: what is collected, moved or leveled is a choice of the policies.

mod allocate;
mod audit;
mod check;
mod map;
mod map_cache;
mod plane_order;
mod pools;
mod relaxed;
mod saved;
mod strict;
mod subpools;

pub use allocate::Allocator;
pub use check::{check, check_takes};
pub use map::{Map, Pointers, ReversePart, SavedMap};
pub use map_cache::{Entry, MapCache, MapShape, Room as MapRoom};
pub use plane_order::{PlaneOrder, WritePlanes};
pub use saved::SavedOpen;
use ssdlab_nand::page_order::PageOrder;
use ssdlab_nand::{BlockId, Geometry, Lpn, PageInBlock, PageType, PlaneId, Ppn};
use ssdlab_policy::account::Priority;
pub use ssdlab_policy::allocation::{
    AllocRequest, AllocatorConfig, BlockClass, FreeBlockPolicy, GcStream, PageSequence, StreamId,
    Streams, Writer,
};
use ssdlab_policy::background::PlaneView;
pub use ssdlab_policy::blocks::{BlockState, BlockTable};
use ssdlab_policy::component::Components;

/// Map, block table and allocator, kept in step.
#[derive(Clone, Debug)]
pub struct Ftl {
    /// The page map.
    pub map: Map,
    /// The block table.
    pub blocks: BlockTable,
    /// Free and open blocks.
    pub alloc: Allocator,
    geometry: Geometry,
    order: PageOrder,
}

impl Ftl {
    /// Books of a drive whose blocks are as in `blocks` and that maps nothing.
    pub fn new(geometry: &Geometry, map: Map, blocks: BlockTable, alloc: Allocator) -> Ftl {
        let order = PageOrder::conventional(geometry.cell, geometry.pages);
        Ftl { map, blocks, alloc, geometry: geometry.clone(), order }
    }

    /// Takes the page that a writer writes next on a plane, the one nearest to the request.
    #[inline]
    pub fn prepare_write(
        &mut self,
        plane: PlaneId,
        writer: Writer,
        pick: AllocRequest,
    ) -> Option<Ppn> {
        let shape = (&self.geometry, &self.order);
        self.alloc.allocate(shape, &mut self.blocks, plane, writer, pick)
    }

    /// Whether the host can write nothing for who asks for this class on a plane until a block is
    /// erased.
    #[inline]
    pub fn is_full(&self, plane: PlaneId, class: Option<BlockClass>) -> bool {
        self.next_page(plane, Writer::Host, AllocRequest { class, ..AllocRequest::default() })
            .is_none()
    }

    /// The place in its block of the next page that a writer would write, if there is one.
    #[inline]
    pub fn next_page(
        &self,
        plane: PlaneId,
        writer: Writer,
        pick: AllocRequest,
    ) -> Option<PageInBlock> {
        self.alloc.next_page(&self.order, &self.blocks, plane, writer, pick)
    }

    /// A program has ended.
    #[inline(always)]
    fn page_written(&mut self, block: BlockId) {
        self.blocks.page_written(block);
        if self.alloc.rests(block, self.blocks.written(block)) {
            self.blocks.rests(block);
        }
    }

    /// The type of a page.
    #[inline]
    pub fn page_type(&self, ppn: Ppn) -> PageType {
        self.order.page_type(self.geometry.page_in_block(ppn))
    }

    /// Free pages on the drive of each type that its cells have.
    pub fn free_by_type(&self) -> Vec<u64> {
        let types = self.order.types().count();
        if let Some(free) = self.alloc.free_by_type() {
            return free[..types].to_vec();
        }
        let mut free = vec![0; types];
        let mut add = |blocks: usize, allocated: u16| {
            let left = self.order.left(allocated).into_iter();
            free.iter_mut().zip(left).for_each(|(sum, one)| *sum += blocks as u64 * u64::from(one));
        };
        for plane in (0..self.geometry.plane_count()).map(PlaneId) {
            add(self.alloc.free_blocks(plane), 0);
            self.alloc.open_list(plane).into_iter().for_each(|(_, allocated)| add(1, allocated));
        }
        free
    }

    /// Bits that say how far each type of a block is programmed, in the relaxed order (PA-SSD,
    /// section 4.3: three bytes a block).
    pub fn progress_bits(&self) -> u64 {
        let of_a_type = u64::from(self.order.wordlines().ilog2()) + 1;
        let types = self.order.types().count() as u64;
        self.alloc.free_by_type().map_or(0, |_| types * of_a_type)
    }

    /// Gives a logical page an outdated page, as if it had been written there before the start.
    pub fn revive(&mut self, lpn: Lpn, ppn: Ppn) {
        self.map.set(lpn, ppn);
        self.blocks.page_valid(self.geometry.block_of(ppn));
    }

    /// Whether a job may take a block: it holds data, and nothing that is being programmed.
    pub fn may_empty(&self, block: BlockId) -> bool {
        match self.blocks.state(block) {
            BlockState::Closed | BlockState::Partial => true,
            BlockState::Open => {
                let open = self.alloc.open_list(self.geometry.plane_of(block));
                open.contains(&(block, self.blocks.written(block)))
            }
            _ => false,
        }
    }

    /// What a background policy sees of a plane.
    pub fn plane_view<'a>(&'a self, plane: PlaneId, components: Components<'a>) -> PlaneView<'a> {
        PlaneView {
            plane,
            pool: self.blocks.pool(plane),
            free_blocks: self.alloc.free_blocks(plane) as u32,
            open_pages: self.alloc.open_pages(plane, Writer::Gc),
            free_pages: self.alloc.usable_pages(plane),
            components,
        }
    }

    /// A block is to be emptied and erased; how many of its pages were never programmed.
    pub fn begin_collection(&mut self, block: BlockId) -> u32 {
        self.blocks.set_state(block, BlockState::Victim);
        self.alloc.leave(&self.blocks, self.geometry.plane_of(block), block)
    }

    /// A program has ended that wrote new data of a logical page: the block that held it before.
    #[inline(always)]
    pub fn commit_write(&mut self, lpn: Lpn, ppn: Ppn) -> Option<BlockId> {
        let block = self.geometry.block_of(ppn);
        self.page_written(block);
        self.blocks.page_valid(block);
        let old = self.geometry.block_of(self.map.set(lpn, ppn)?);
        self.blocks.page_invalid(old);
        Some(old)
    }

    /// A program has ended that copied a logical page: true if the copy is still the newest.
    pub fn commit_copy(&mut self, lpn: Lpn, from: Ppn, to: Ppn) -> bool {
        if self.map.get(lpn) == Some(from) {
            self.commit_write(lpn, to);
            return true;
        }
        self.page_written(self.geometry.block_of(to));
        false
    }

    /// A logical page is no longer wanted: the block that held it.
    pub fn trim(&mut self, lpn: Lpn) -> Option<BlockId> {
        let old = self.geometry.block_of(self.map.clear(lpn)?);
        self.blocks.page_invalid(old);
        Some(old)
    }

    /// A block has been erased; where blocks are dealt out by priority, `gains` is the one whose
    /// subpool has a block more.
    pub fn commit_erase(&mut self, block: BlockId, counts_for: u32, gains: Option<Priority>) {
        self.blocks.erased(block, counts_for);
        let plane = self.geometry.plane_of(block);
        self.alloc.give_back(&mut self.blocks, plane, block, gains);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SMALL;

    #[test]
    fn a_block_that_is_written_in_part_may_be_emptied_once_no_program_is_under_way() {
        let mut blocks = BlockTable::new(&SMALL);
        let allocator_config = AllocatorConfig {
            reserve: 1,
            free_block_policy: FreeBlockPolicy::default(),
            classes: 1,
            order: PageSequence::Strict,
            gc_stream: GcStream::Separate,
            apart: 0,
            by_priority: false,
            streams: Streams::ONE,
        };
        let alloc = Allocator::new(&SMALL, &mut blocks, allocator_config);
        let map = Map::new(8, SMALL.page_count(), 0);
        let mut ftl = Ftl::new(&SMALL, map, blocks, alloc);
        let ppn = ftl.prepare_write(PlaneId(0), Writer::Cold, AllocRequest::default()).unwrap();
        let block = SMALL.block_of(ppn);
        assert!(!ftl.may_empty(block), "being programmed");
        ftl.commit_write(Lpn(3), ppn);
        assert!(ftl.may_empty(block));
        // The pages that were left are gone with it, and the writer goes on elsewhere.
        assert_eq!(ftl.begin_collection(block), SMALL.pages - 1);
        assert!(!ftl.may_empty(block), "being emptied");
        let next = ftl.prepare_write(PlaneId(0), Writer::Cold, AllocRequest::default()).unwrap();
        assert_ne!(SMALL.block_of(next), block);
    }
}
