//! Flash translation: the page map, the block table and the allocator. This module only keeps the
//! tables. The policies decide which blocks to collect, which pages to move and when to level wear.

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

pub(crate) use allocate::Allocator;
pub(crate) use check::{check, check_takes};
pub(crate) use map::{Map, Pointers, ReversePart, SavedMap};
pub(crate) use map_cache::{Entry, MapCache, MapShape, Room as MapRoom};
pub use plane_order::PlaneOrder;
pub(crate) use plane_order::WritePlanes;
pub(crate) use saved::SavedOpen;
use ssdlab_base::SimTime;
use ssdlab_nand::page_order::PageOrder;
use ssdlab_nand::{BlockId, Geometry, Lpn, PageInBlock, PageType, PlaneId, Ppn};
use ssdlab_policy::account::Priority;
pub(crate) use ssdlab_policy::allocation::{
    AllocRequest, AllocatorConfig, BlockClass, ClassLayout, FreeBlockPolicy, GcStream,
    PageSequence, Streams,
};
pub use ssdlab_policy::allocation::{StreamId, Writer};
use ssdlab_policy::background::PlaneView;
pub use ssdlab_policy::blocks::BlockState;
pub(crate) use ssdlab_policy::blocks::BlockTable;
use ssdlab_policy::component::Components;

/// Map, block table and allocator, kept consistent.
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
    /// Creates a translation layer from a map, a block table and an allocator.
    pub fn new(geometry: &Geometry, map: Map, blocks: BlockTable, alloc: Allocator) -> Ftl {
        let order = PageOrder::conventional(geometry.cell, geometry.pages);
        Ftl { map, blocks, alloc, geometry: geometry.clone(), order }
    }

    /// Allocates the page nearest to the request for a writer on a plane.
    #[inline]
    pub(crate) fn prepare_write(
        &mut self,
        plane: PlaneId,
        writer: Writer,
        request: AllocRequest,
    ) -> Option<Ppn> {
        let shape = (&self.geometry, &self.order);
        self.alloc.allocate(shape, &mut self.blocks, plane, writer, request)
    }

    /// Returns whether the host has no page of this class to write on a plane until a block is
    /// erased.
    pub fn is_full(&self, plane: PlaneId, class: Option<BlockClass>) -> bool {
        self.next_page(plane, Writer::Host, AllocRequest { class, ..AllocRequest::default() })
            .is_none()
    }

    /// Returns the position in its block of the next page for a writer, if there is one.
    pub fn next_page(
        &self,
        plane: PlaneId,
        writer: Writer,
        request: AllocRequest,
    ) -> Option<PageInBlock> {
        self.alloc.next_page(&self.order, &self.blocks, plane, writer, request)
    }

    /// Counts a program that has ended.
    #[inline(always)]
    fn page_written(&mut self, block: BlockId) {
        self.blocks.page_written(block);
        if self.alloc.rests(block, self.blocks.written(block)) {
            self.blocks.rests(block);
        }
    }

    /// Returns the type of a page.
    pub fn page_type(&self, ppn: Ppn) -> PageType {
        self.order.page_type(self.geometry.page_in_block(ppn))
    }

    /// Returns the free pages of the drive for each page type.
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

    /// Returns the bits that record the progress of each page type of a block in the relaxed order.
    /// Source: PA-SSD, section 4.3 (three bytes a block).
    pub(crate) fn progress_bits(&self) -> u64 {
        let of_a_type = u64::from(self.order.wordlines().ilog2()) + 1;
        let types = self.order.types().count() as u64;
        self.alloc.free_by_type().map_or(0, |_| types * of_a_type)
    }

    /// Maps a logical page to an outdated page, as if it had been written there before the start.
    pub(crate) fn revive(&mut self, lpn: Lpn, ppn: Ppn) {
        self.map.set(lpn, ppn);
        self.blocks.page_valid(self.geometry.block_of(ppn));
    }

    /// Returns whether a job may take a block: it holds data, and no program of it is in progress.
    pub(crate) fn may_empty(&self, block: BlockId) -> bool {
        match self.blocks.state(block) {
            BlockState::Closed | BlockState::Partial => true,
            BlockState::Open => {
                let open = self.alloc.open_list(self.geometry.plane_of(block));
                open.contains(&(block, self.blocks.written(block)))
            }
            _ => false,
        }
    }

    /// Returns a background policy's view of a plane.
    pub(crate) fn plane_view<'a>(
        &'a self,
        plane: PlaneId,
        now: SimTime,
        components: Components<'a>,
    ) -> PlaneView<'a> {
        PlaneView {
            now,
            plane,
            pool: self.blocks.pool(plane),
            free_blocks: self.alloc.free_blocks(plane) as u32,
            open_pages: self.alloc.open_pages(plane, Writer::Gc),
            free_pages: self.alloc.usable_pages(plane),
            components,
        }
    }

    /// Marks a block as a victim of collection; returns its number of pages never programmed.
    pub(crate) fn begin_collection(&mut self, block: BlockId) -> u32 {
        self.blocks.set_state(block, BlockState::Victim);
        self.alloc.leave(&self.blocks, self.geometry.plane_of(block), block)
    }

    /// Ends a host program: maps the page, and returns the block that held the logical page before.
    #[inline(always)]
    pub(crate) fn commit_write(&mut self, lpn: Lpn, ppn: Ppn) -> Option<BlockId> {
        let block = self.geometry.block_of(ppn);
        self.page_written(block);
        self.blocks.page_valid(block);
        let old = self.geometry.block_of(self.map.set(lpn, ppn)?);
        self.blocks.page_invalid(old);
        Some(old)
    }

    /// Ends a host program after that of a newer write of its page: its data is outdated.
    pub(crate) fn commit_outdated(&mut self, ppn: Ppn) {
        self.page_written(self.geometry.block_of(ppn));
    }

    /// Ends the program of a copy; returns true if the copy is still the newest version.
    pub(crate) fn commit_copy(&mut self, lpn: Lpn, from: Ppn, to: Ppn) -> bool {
        if self.map.get(lpn) == Some(from) {
            self.commit_write(lpn, to);
            return true;
        }
        self.page_written(self.geometry.block_of(to));
        false
    }

    /// Unmaps a trimmed logical page; returns the block that held it.
    pub fn trim(&mut self, lpn: Lpn) -> Option<BlockId> {
        let old = self.geometry.block_of(self.map.clear(lpn)?);
        self.blocks.page_invalid(old);
        Some(old)
    }

    /// Returns an erased block to the free blocks. Where subpools exist, that of `gains` grows by
    /// one block.
    pub(crate) fn commit_erase(
        &mut self,
        block: BlockId,
        counts_for: u32,
        gains: Option<Priority>,
    ) {
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
            reserved_classes: 0,
            by_priority: false,
            unowned: false,
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
        // The rest of the block's pages is lost, and the writer continues in another block.
        assert_eq!(ftl.begin_collection(block), SMALL.pages - 1);
        assert!(!ftl.may_empty(block), "being emptied");
        let next = ftl.prepare_write(PlaneId(0), Writer::Cold, AllocRequest::default()).unwrap();
        assert_ne!(SMALL.block_of(next), block);
    }
}
