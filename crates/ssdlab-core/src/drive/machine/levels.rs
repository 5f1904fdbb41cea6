//! At which level a read starts, and how it goes on.

use ssdlab_base::Nanos;
use ssdlab_nand::{BlockId, Level};

use super::Machine;
use crate::flash::{TxnId, UnitId};
use crate::policy::background::Expected;
use crate::policy::read_start::ReadStartView;

impl Machine {
    /// Asks at which level a read starts, or goes on.
    #[inline(always)]
    pub(in crate::drive) fn set_level(&mut self, id: TxnId) {
        self.flash.txns[id].level = match self.flash.txns[id].failed {
            0 => self.policies.read_start.start(&self.read_view(id)),
            _ => self.next_level(id),
        };
    }

    /// Asks at which level a read goes on whose attempt fails, or will perhaps.
    #[inline(never)]
    pub(in crate::drive) fn next_level(&mut self, id: TxnId) -> Level {
        let view = self.read_view(id);
        let level = self.flash.txns[id].level;
        self.policies.read_start.climb(&view, level).min(view.last_level())
    }

    /// What a reading policy may know of a read.
    #[inline(always)]
    pub(in crate::drive) fn read_view(&self, id: TxnId) -> ReadStartView {
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
    pub(in crate::drive) fn try_again(&mut self, unit: UnitId) {
        if self.flash.continue_ahead(unit, self.now) {
            return;
        }
        self.for_held(unit, Machine::set_level);
        self.flash.sense_again(unit, self.now);
    }

    /// Calls `act` for the reads that a unit holds.
    #[inline]
    pub(in crate::drive) fn for_held(&mut self, unit: UnitId, act: impl Fn(&mut Machine, TxnId)) {
        let mut next = self.flash.held(unit).next();
        while let Some(id) = next {
            act(self, id);
            next = self.flash.held_from(id).nth(1);
        }
    }

    /// How a block is expected to read now.
    pub(in crate::drive) fn expected(&self, block: BlockId) -> Expected {
        let Some(estimates) = &self.policies.metadata.retry_estimates else {
            return Expected::default();
        };
        let now = self.flash.cells.time(self.now);
        let expected = estimates.expected(block, self.ftl.blocks.erases(block), now);
        if estimates.is_oracle() {
            Expected { retries: self.flash.cells.retries_of(block, self.now), ..expected }
        } else {
            expected
        }
    }
}
