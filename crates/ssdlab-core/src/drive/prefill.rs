//! Fills a drive with pages that a first pass over the workload finds, one by one.

use ssdlab_nand::{BlockId, Lpn, PageInBlock, PlaneId, Ppn};

use super::Drive;
use super::machine::Machine;
use super::start::age;
use crate::account::{Cause, Priority};
use crate::audit::audit_event;
use crate::ftl::{BlockState, Ftl, Writer};
use crate::policy::PlacementHint;
use crate::policy::allocation::BlockClass;

/// The places of prefilled pages among outdated pages: in the used blocks of each plane in turn. By
/// default the drive has no used blocks.
#[derive(Clone, Debug, Default)]
pub struct Prefill {
    /// The used blocks of each plane and class.
    blocks: Vec<Vec<BlockId>>,
    /// Number of pages filled in on each plane and class.
    filled: Vec<u32>,
    classes: usize,
}

impl Prefill {
    /// Builds the lists. Without `by_class`, all blocks of a plane count as one class.
    fn new(ftl: &Ftl, planes: u32, classes: usize, by_class: bool) -> Prefill {
        let classes = if by_class { classes } else { 1 };
        let used = |at: usize| {
            let pool = ftl.blocks.pool(PlaneId((at / classes) as u32));
            let closed = (0..pool.len()).filter(|&at| pool.state[at] == BlockState::Closed);
            let blocks = closed.map(|at| pool.block(at));
            let class = |block: &BlockId| ftl.blocks.class(*block).index() == at % classes;
            blocks.filter(|block| !by_class || class(block)).collect()
        };
        let parts = planes as usize * classes;
        Prefill { blocks: (0..parts).map(used).collect(), filled: vec![0; parts], classes }
    }

    /// Returns the place of the next page of a plane, if one is left. It takes the requested class,
    /// else the nearest class below it, else the nearest above it.
    fn next(
        &mut self,
        plane: PlaneId,
        hint: Option<BlockClass>,
        pages: u32,
    ) -> Option<(BlockId, PageInBlock)> {
        if self.blocks.is_empty() {
            return None;
        }
        let requested = hint.map_or(0, BlockClass::index).min(self.classes - 1);
        let classes = (requested..self.classes).chain((0..requested).rev());
        let first = plane.index() * self.classes;
        classes.into_iter().find_map(|class| self.next_of(first + class, pages))
    }

    fn next_of(&mut self, part: usize, pages: u32) -> Option<(BlockId, PageInBlock)> {
        let (blocks, filled) = (&self.blocks[part], &mut self.filled[part]);
        let page = *filled / (blocks.len() as u32).max(1);
        let block = blocks.get(*filled as usize % blocks.len().max(1))?;
        (page < pages).then(|| {
            *filled += 1;
            (*block, PageInBlock(page as u16))
        })
    }
}

impl Drive {
    /// Returns the places where [`Drive::prefill_page`] fills pages in.
    pub fn prefill(&self) -> Prefill {
        if self.machine.resolved.config.start.used.get() > 0.0 {
            let classes = self.machine.resolved.classes.count;
            let planes = self.machine.geometry.plane_count();
            Prefill::new(&self.machine.ftl, planes, classes, self.machine.policies.asks_pages)
        } else {
            Prefill::default()
        }
    }

    /// Adds a page as if it had been written before the start, on the plane of static
    /// allocation. Returns false if the plane has no room. Call it only before the first request.
    pub fn prefill_page(&mut self, prefill: &mut Prefill, page: u32) -> bool {
        let lpn = Lpn(page);
        if self.machine.ftl.map.get(lpn).is_some() {
            return true;
        }
        let Some(ppn) = fill(&mut self.machine, prefill, lpn) else { return false };
        let block = self.machine.geometry.block_of(ppn);
        let age = age(&self.machine.resolved, &self.machine.ftl, block);
        let (wear, dwell) =
            (self.machine.ftl.blocks.erases(block), self.machine.resolved.config.start.dwell);
        self.machine.flash.cells.set_start(block, wear, dwell, age);
        self.machine.program_prefilled(lpn);
        self.machine.stats.unwritten_reads += 1;
        true
    }
}

fn fill(machine: &mut Machine, prefill: &mut Prefill, lpn: Lpn) -> Option<Ppn> {
    let plane = machine.planes.home(lpn);
    let mut hint = PlacementHint::default();
    let attrs = machine.of_a_page(Priority::HIGHEST);
    machine.fill_page(lpn, attrs, Cause::Host, &mut hint);
    if let Some((block, page)) = prefill.next(plane, hint.quality, machine.geometry.pages) {
        let ppn = machine.geometry.page(block, page);
        machine.ftl.revive(lpn, ppn);
        audit_event!(machine, revived(lpn, ppn));
        return Some(ppn);
    }
    let ppn = machine.ftl.prepare_write(plane, Writer::Host, hint.request())?;
    audit_event!(machine, page_prefilled(lpn, ppn));
    machine.ftl.commit_write(lpn, ppn);
    Some(ppn)
}
