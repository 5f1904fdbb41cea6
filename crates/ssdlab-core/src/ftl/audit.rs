//! Checks that the tables of the translation layer agree, by a recount from the map.

use ssdlab_base::ensure;
use ssdlab_nand::{BlockId, Lpn, PlaneId};

use super::{BlockState, Ftl};

impl Ftl {
    /// Recounts map, block table and allocator. Returns for each block the allocated pages whose
    /// program has not ended.
    ///
    /// # Errors
    /// The first violation.
    pub fn audit(&self) -> Result<Vec<u16>, String> {
        self.audit_map()?;
        ensure(self.blocks.counts_full(), || "full blocks are not as counted".into())?;
        let mut allocated = vec![None; self.geometry.block_count() as usize];
        let mut free = vec![false; allocated.len()];
        for plane in (0..self.geometry.plane_count()).map(PlaneId) {
            for block in self.alloc.free_list(plane) {
                let once = !std::mem::replace(&mut free[block.index()], true);
                ensure(once, || format!("{block:?} is in a free list twice"))?;
                let own = self.geometry.plane_of(block) == plane;
                ensure(own, || format!("{block:?} is in the free list of {plane:?}"))?;
            }
            for (block, next) in self.alloc.open_list(plane) {
                let once = allocated[block.index()].replace(next).is_none();
                ensure(once, || format!("{block:?} is open twice"))?;
                let own = self.geometry.plane_of(block) == plane;
                ensure(own, || format!("{block:?} is open on {plane:?}"))?;
            }
        }
        let blocks = (0..self.geometry.block_count()).map(BlockId);
        blocks
            .map(|block| self.audit_block(block, free[block.index()], allocated[block.index()]))
            .collect()
    }

    /// Checks the map and the valid counts: each mapped page lies on a written page of its own.
    fn audit_map(&self) -> Result<(), String> {
        let mut valid = vec![0u16; self.geometry.block_count() as usize];
        let mut mapped = 0;
        for lpn in (0..self.map.logical_pages()).map(Lpn) {
            let Some(ppn) = self.map.get(lpn) else { continue };
            mapped += 1;
            let back = self.map.valid(ppn);
            ensure(back == Some(lpn), || format!("{lpn:?} is on {ppn:?}, which holds {back:?}"))?;
            let block = self.geometry.block_of(ppn);
            valid[block.index()] += 1;
            let page = self.geometry.page_in_block(ppn);
            let written =
                self.alloc.is_allocated(&self.order, block, page, self.blocks.written(block));
            ensure(written, || format!("{lpn:?} is on {ppn:?}, which is not written"))?;
        }
        ensure(mapped == self.map.mapped(), || {
            format!("{mapped} pages are mapped, not as counted")
        })?;
        for (block, &count) in (0..).map(BlockId).zip(&valid) {
            let counted = self.blocks.valid(block);
            ensure(count == counted, || {
                format!("{block:?} has {count} valid pages and counts {counted}")
            })?;
        }
        Ok(())
    }

    /// Checks that a block is in the lists that fit its state; returns its pages not yet
    /// programmed.
    fn audit_block(&self, block: BlockId, free: bool, open: Option<u16>) -> Result<u16, String> {
        let (state, written) = (self.blocks.state(block), self.blocks.written(block));
        let pages = self.geometry.pages as u16;
        let fits = match state {
            BlockState::Free | BlockState::Bad => written == 0,
            BlockState::Open => written < pages && written <= open.unwrap_or(pages),
            BlockState::Closed => written == pages,
            BlockState::Partial => written < pages && Some(written) == open,
            BlockState::Victim => true,
        };
        ensure(fits, || format!("{block:?} is {state:?} with {written} written pages"))?;
        let listed = free == (state == BlockState::Free);
        ensure(listed, || format!("{block:?} is {state:?}, and free: {free}"))?;
        let open_so = open.is_none() || matches!(state, BlockState::Open | BlockState::Partial);
        ensure(open_so, || format!("{block:?} is {state:?} and open"))?;
        Ok(match state {
            BlockState::Open => open.unwrap_or(pages) - written,
            _ => 0,
        })
    }
}
