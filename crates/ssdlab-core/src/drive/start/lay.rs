//! What a first pass over the workload lays down, page by page.

use ssdlab_nand::{BlockId, Lpn, PageInBlock, PlaneId, Ppn};

use super::age;
use crate::drive::Drive;
use crate::drive::watch::watch;
use crate::ftl::{BlockState, Ftl, Pick, Stream};

/// Where pages are laid down among those that are outdated: the used blocks of each plane by turns.
#[derive(Clone, Debug)]
pub struct Laying {
    /// The used blocks of each plane.
    blocks: Vec<Vec<BlockId>>,
    /// Pages laid down on each plane.
    laid: Vec<u32>,
}

impl Laying {
    fn new(ftl: &Ftl, planes: u32) -> Laying {
        let used = |plane| {
            let pool = ftl.blocks.pool(PlaneId(plane));
            let closed = (0..pool.len()).filter(|&at| pool.state[at] == BlockState::Closed);
            closed.map(|at| pool.block(at)).collect()
        };
        Laying { blocks: (0..planes).map(used).collect(), laid: vec![0; planes as usize] }
    }

    /// The place of the next page of a plane, if it has one left.
    fn next(&mut self, plane: PlaneId, pages: u32) -> Option<(BlockId, PageInBlock)> {
        let (blocks, laid) = (&self.blocks[plane.index()], &mut self.laid[plane.index()]);
        let turn = *laid / (blocks.len() as u32).max(1);
        let block = blocks.get(*laid as usize % blocks.len().max(1))?;
        (turn < pages).then(|| {
            *laid += 1;
            (*block, PageInBlock(turn as u16))
        })
    }
}

impl Drive {
    /// Lays a page down as if it had been written before the start, on the plane of static
    /// allocation; false if the plane has no room. Only before the first request.
    pub fn lay_down(&mut self, page: u32) -> bool {
        let lpn = Lpn(page);
        if self.ftl.map.get(lpn).is_some() {
            return true;
        }
        let Some(ppn) = self.lay(lpn) else { return false };
        self.ftl.map.add_sectors(lpn, u64::MAX);
        let block = self.geometry.block_of(ppn);
        let age = age(&self.resolved, &self.ftl, block);
        let (wear, dwell) = (self.ftl.blocks.erases(block), self.resolved.config.start.dwell);
        self.flash.cells.set_start(block, wear, dwell, age);
        self.stats.preloaded += 1;
        true
    }

    fn lay(&mut self, lpn: Lpn) -> Option<Ppn> {
        let plane = self.order_of_planes.plane_of(lpn);
        if self.resolved.config.start.used.get() > 0.0 {
            let (ftl, geometry) = (&self.ftl, &self.geometry);
            let laying =
                self.laying.get_or_insert_with(|| Laying::new(ftl, geometry.plane_count()));
            if let Some((block, page)) = laying.next(plane, geometry.pages) {
                let ppn = geometry.page(block, page);
                self.ftl.revive(lpn, ppn);
                watch!(self, revived(lpn, ppn));
                return Some(ppn);
            }
        }
        let ppn = self.ftl.prepare_write(plane, Stream::Host, Pick::default())?;
        watch!(self, laid_down(lpn, ppn));
        self.ftl.commit_write(lpn, ppn);
        Some(ppn)
    }
}
