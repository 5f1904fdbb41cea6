//! The place of a page, and the plane on which it is written.

use ssdlab_base::Nanos;
use ssdlab_nand::{Lpn, PlaneId, Ppn, ProgramMode};

use super::Machine;
use crate::account::Cause;
use crate::buffer::Slot;
use crate::config::{PartialWrites, StartProgramMode, UnwrittenReads};
use crate::flash::{Owner, TxnId};
use crate::media;
use crate::policy::Hotness;

impl Machine {
    /// Looks up the physical page of a read and returns its plane; `None` if the page is not
    /// mapped.
    #[inline]
    pub(in crate::drive) fn locate(&mut self, id: TxnId) -> Option<PlaneId> {
        let lpn = self.flash.txns[id].lpn;
        if let Some(ppn) = self.ftl.map.get(lpn) {
            let block = self.geometry.block_of(ppn);
            self.flash.cells.prefetch(ppn, block);
            self.policies.metadata.prefetch(block);
            self.flash.txns.locate_mapped(id, ppn);
            return Some(self.geometry.plane_of_page(ppn));
        }
        let txn = &self.flash.txns[id];
        if txn.age.is_some() {
            // The page was looked up before and has not been written since, so it has not moved.
            return Some(txn.plane);
        }
        if !self.counts_as_written(lpn) {
            return None;
        }
        let (ppn, age, plane) = self.page_before_start(lpn);
        let unwritten_mode = self.program_mode_of_unwritten(lpn, ppn);
        self.flash.txns.locate_unwritten(id, ppn, age, unwritten_mode);
        if !self.is_translation(lpn) {
            self.note_unwritten_read(lpn);
        }
        Some(plane)
    }

    /// Returns whether the physical page of a transaction still holds its logical page.
    #[inline]
    pub(in crate::drive) fn is_valid(&self, id: TxnId) -> bool {
        let txn = &self.flash.txns[id];
        self.ftl.map.valid(txn.ppn) == Some(txn.lpn)
    }

    /// Returns the sectors that a partial write must read before it programs its page.
    #[inline(always)]
    pub(in crate::drive) fn rest_to_read(&self, id: TxnId) -> u64 {
        let txn = &self.flash.txns[id];
        let rest = self.geometry.page_mask() & !txn.mask;
        if rest == 0 {
            return 0;
        }
        if matches!(txn.owner, Owner::Map { .. }) {
            // An entry is less than a sector.
            return self.geometry.page_mask();
        }
        let lies = || self.ftl.map.get(txn.lpn).is_some() || self.counts_as_written(txn.lpn);
        match self.resolved.config.ftl.partial_writes {
            PartialWrites::ReadModifyWrite if lies() => rest,
            // A page that is not mapped has no sectors.
            PartialWrites::SectorBitmap => rest & self.ftl.map.sectors(txn.lpn).unwrap_or(0),
            PartialWrites::ReadModifyWrite | PartialWrites::Pad => 0,
        }
    }

    /// Returns the plane on which the page of a write is written.
    #[inline]
    pub(in crate::drive) fn plane_for_write(&mut self, id: TxnId) -> PlaneId {
        let txn = &self.flash.txns[id];
        if !self.planes.is_dynamic() {
            return self.planes.home(txn.lpn);
        }
        let class = txn.hint.request().class;
        let (flash, ftl) = (&self.flash, &self.ftl);
        let is_full = |plane| ftl.is_full(plane, class);
        self.planes.least_loaded(|plane| flash.load(plane), is_full)
    }

    /// Returns the place, age and plane of a page that counts as written before the start and has
    /// no table entry.
    #[inline]
    pub(in crate::drive) fn page_before_start(&self, lpn: Lpn) -> (Ppn, Nanos, PlaneId) {
        let plane = self.planes.home(lpn);
        let (ppn, age) = media::unwritten_reads(&self.resolved, lpn, plane);
        (ppn, age, plane)
    }

    /// Returns whether a page that is not mapped counts as written before the start.
    #[inline]
    pub(in crate::drive) fn counts_as_written(&self, lpn: Lpn) -> bool {
        // The map was on the flash from the start.
        self.is_translation(lpn)
            || self.resolved.config.start.unwritten_reads == UnwrittenReads::Lazy
                && !self.ftl.map.was_trimmed(lpn)
    }

    /// Returns whether a logical page is a translation page.
    #[inline]
    pub(in crate::drive) fn is_translation(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.resolved.logical_pages
    }

    /// Counts the first read of a page that counts as written before the start.
    fn note_unwritten_read(&mut self, lpn: Lpn) {
        let first = self.lifetime.is_first_read(lpn, self.resolved.logical_pages);
        self.stats.unwritten_reads += u64::from(first);
    }

    /// Returns the program mode of a page that counts as written before the start.
    #[inline]
    pub(super) fn program_mode_of_unwritten(&mut self, lpn: Lpn, ppn: Ppn) -> ProgramMode {
        match self.resolved.config.start.program_mode {
            StartProgramMode::Normal => ProgramMode::NORMAL,
            StartProgramMode::Policy => {
                let then = self.policies.metadata.hotness_at_start(lpn);
                self.program_mode_for((lpn, then), ppn, Cause::Host)
            }
        }
    }

    /// Returns whether a clean page that leaves the buffer is programmed again: it is mostly read,
    /// and was not programmed as such.
    pub(in crate::drive) fn is_rewritten(&mut self, page: &Slot) -> bool {
        let whole = page.present.count_ones() == self.geometry.sectors_per_page();
        let metadata = &self.policies.metadata;
        if !(metadata.reprograms_read_hot() && whole && page.flushing.is_none()) {
            return false;
        }
        if metadata.hotness(page.lpn) != Some(Hotness::Read) {
            return false;
        }
        let (ppn, was) = match self.ftl.map.get(page.lpn) {
            Some(ppn) => (ppn, self.flash.cells.program_mode(ppn)),
            None if self.counts_as_written(page.lpn) => {
                let (ppn, ..) = self.page_before_start(page.lpn);
                (ppn, self.program_mode_of_unwritten(page.lpn, ppn))
            }
            None => return false,
        };
        let as_read = (page.lpn, Some(Hotness::Read));
        self.program_mode_for(as_read, ppn, Cause::Migration) != was
    }
}
