//! At which level a read starts, and how it goes on.

use ssdlab_base::Nanos;
use ssdlab_nand::Level;

use super::Drive;
use crate::flash::{TxnId, UnitId};
use crate::policy::read_start::ReadStartView;

impl Drive {
    /// Asks at which level a read starts, or goes on.
    #[inline(always)]
    pub(super) fn set_level(&mut self, id: TxnId) {
        self.flash.txns[id].level = match self.flash.txns[id].failed {
            0 => self.policies.read_start.start(&self.read_view(id)),
            _ => self.next_level(id),
        };
    }

    /// Asks at which level a read goes on whose attempt fails, or will perhaps.
    #[inline(never)]
    pub(super) fn next_level(&mut self, id: TxnId) -> Level {
        let view = self.read_view(id);
        let level = self.flash.txns[id].level;
        self.policies.read_start.climb(&view, level).min(view.last_level())
    }

    /// What a reading policy may know of a read.
    #[inline(always)]
    pub(super) fn read_view(&self, id: TxnId) -> ReadStartView {
        let txn = &self.flash.txns[id];
        let block = self.geometry.block_of(txn.ppn);
        let (mut age, mut pe_cycles) = (Nanos::ZERO, 0);
        // Columns that no one else asks for are not fetched.
        if self.policies.reads.age {
            age = self.flash.cells.age(txn, block, self.now);
            pe_cycles = self.ftl.blocks.erases(block);
        }
        let class = self.ftl.blocks.class(block);
        let groups = self.policies.metadata.block_groups.as_ref();
        let measured = groups.map_or(Level::FIRST, |groups| groups.level(block));
        let levels = self.flash.cells.levels();
        let page = self.geometry.page_in_block(txn.ppn);
        ReadStartView { block, page, lpn: txn.lpn, levels, class, measured, pe_cycles, age }
    }

    /// The reads that a unit holds go on, each at its next level.
    pub(super) fn try_again(&mut self, unit: UnitId) {
        if self.flash.continue_ahead(unit, self.now) {
            return;
        }
        self.for_held(unit, Drive::set_level);
        self.flash.sense_again(unit, self.now);
    }

    /// Calls `act` for the reads that a unit holds.
    #[inline]
    pub(super) fn for_held(&mut self, unit: UnitId, act: impl Fn(&mut Drive, TxnId)) {
        let mut next = self.flash.held(unit).next();
        while let Some(id) = next {
            act(self, id);
            next = self.flash.held_from(id).nth(1);
        }
    }
}
