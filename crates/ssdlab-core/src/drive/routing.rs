//! Where a page operation goes: to the plane of its page, or to the one on which its page is to be written.

use ssdlab_nand::PlaneId;

use super::Drive;
use crate::account::{Cause, OpKind};
use crate::config::PartialWrites;
use crate::flash::{Owner, TxnId};

/// What becomes of a page operation that has its turn, its entry and its place in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(super) enum Step {
    /// It waits, or is on its way to the flash.
    UnderWay,
    /// It reads a page that was never written, and ends.
    Unmapped,
    /// It unmaps its page, and ends.
    Trims,
}

impl Drive {
    /// The entry of an operation's page is held.
    #[inline(always)]
    pub(super) fn continue_with_entry(&mut self, id: TxnId) -> Step {
        match self.flash.txns[id].kind {
            OpKind::Read => self.translate_read(id),
            OpKind::Program => {
                self.translate_write(id);
                Step::UnderWay
            }
            OpKind::Erase => Step::Trims,
        }
    }

    #[inline(always)]
    fn translate_read(&mut self, id: TxnId) -> Step {
        let Some(plane) = self.locate(id) else { return Step::Unmapped };
        self.send(id, plane);
        Step::UnderWay
    }

    #[inline(always)]
    fn translate_write(&mut self, id: TxnId) {
        self.make_hint(id);
        let rest = self.rest_to_read(id);
        if rest != 0 {
            let txn = &mut self.flash.txns[id];
            txn.sectors = rest.count_ones() as u16;
            txn.read_first = true;
            txn.kind = OpKind::Read;
            if txn.cause == Cause::Host {
                txn.cause = Cause::Rmw;
            }
            if let Some(plane) = self.locate(id) {
                return self.send(id, plane);
            }
            unreachable!("a page that must be read first lies somewhere");
        }
        let plane = self.plane_for_write(id);
        self.send(id, plane);
    }

    /// Sets where a read's page lies now, and its plane; `None` if it lies nowhere.
    #[inline]
    pub(super) fn locate(&mut self, id: TxnId) -> Option<PlaneId> {
        let lpn = self.flash.txns[id].lpn;
        if let Some(ppn) = self.ftl.map.get(lpn) {
            let block = self.geometry.block_of(ppn);
            self.flash.cells.expect(ppn, block);
            if let Some(estimates) = &self.policies.metadata.retry_estimates {
                estimates.expect(block);
            }
            let txn = &mut self.flash.txns[id];
            (txn.ppn, txn.age) = (ppn, None);
            return Some(self.geometry.plane_of_page(ppn));
        }
        let txn = &self.flash.txns[id];
        if txn.age.is_some() {
            // It was looked up before, and lies where it did: nothing was written there since.
            return Some(txn.plane);
        }
        if !self.counts_as_preloaded(lpn) {
            return None;
        }
        let (ppn, age, plane) = self.preloaded_at(lpn);
        let laid_with = self.program_mode_of_unwritten(lpn, ppn);
        let txn = &mut self.flash.txns[id];
        (txn.ppn, txn.age, txn.laid_with) = (ppn, Some(age), laid_with);
        if !self.is_translation(lpn) {
            self.note_preloaded(lpn);
        }
        Some(plane)
    }

    /// The sectors that a write in part must read before it programs its page.
    #[inline(always)]
    fn rest_to_read(&self, id: TxnId) -> u64 {
        let txn = &self.flash.txns[id];
        let rest = self.geometry.page_mask() & !txn.mask;
        if rest == 0 {
            return 0;
        }
        if matches!(txn.owner, Owner::Map { .. }) {
            // An entry is less than a sector.
            return self.geometry.page_mask();
        }
        let lies = || self.ftl.map.get(txn.lpn).is_some() || self.counts_as_preloaded(txn.lpn);
        match self.resolved.config.ftl.partial_writes {
            PartialWrites::ReadModifyWrite if lies() => rest,
            // A page that lies nowhere has no sectors.
            PartialWrites::SectorBitmap => rest & self.ftl.map.sectors(txn.lpn).unwrap_or(0),
            PartialWrites::ReadModifyWrite | PartialWrites::Pad => 0,
        }
    }

    /// The plane on which the page of a write is written.
    #[inline]
    pub(super) fn plane_for_write(&mut self, id: TxnId) -> PlaneId {
        let txn = &self.flash.txns[id];
        if !self.planes.is_dynamic() {
            return self.planes.home(txn.lpn);
        }
        let class = txn.hint.pick().class;
        let (flash, ftl) = (&self.flash, &self.ftl);
        let is_full = |plane| ftl.is_full(plane, class);
        self.planes.least_loaded(|plane| flash.load(plane), is_full)
    }
}
