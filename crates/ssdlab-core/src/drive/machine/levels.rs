//! At which level a read starts, and how it goes on.

use ssdlab_nand::{BlockId, Level};

use super::Machine;
use crate::flash::{TxnId, UnitId};
use crate::policy::component::Expected;

/// What a policy of read starts may know of a read. A macro, since the view borrows the components while the policy
/// beside them is asked.
macro_rules! read_view {
    ($machine:ident, $id:expr) => {{
        let txn = &$machine.flash.txns[$id];
        let block = $machine.geometry.block_of(txn.ppn);
        let (mut age, mut pe_cycles) = (ssdlab_base::Nanos::ZERO, 0);
        // Columns that no one else asks for are not fetched.
        if $machine.policies.reads.age {
            age = $machine.flash.cells.age(txn, block, $machine.now);
            pe_cycles = $machine.ftl.blocks.erases(block);
        }
        $crate::policy::read_start::ReadStartView {
            block,
            page: $machine.geometry.page_in_block(txn.ppn),
            lpn: txn.lpn,
            levels: $machine.flash.cells.levels(),
            class: $machine.ftl.blocks.class(block),
            pe_cycles,
            age,
            components: $crate::policy::component::Components::new(&$machine.policies.metadata),
        }
    }};
}
pub(in crate::drive) use read_view;

impl Machine {
    /// Asks at which level a read starts, or goes on.
    #[inline(always)]
    pub(in crate::drive) fn set_level(&mut self, id: TxnId) {
        self.flash.txns[id].level = match self.flash.txns[id].failed {
            0 => self.policies.read_start.start(&read_view!(self, id)),
            _ => self.next_level(id),
        };
    }

    /// Asks at which level a read goes on whose attempt fails, or will perhaps.
    #[inline(never)]
    pub(in crate::drive) fn next_level(&mut self, id: TxnId) -> Level {
        let level = self.flash.txns[id].level;
        let view = read_view!(self, id);
        self.policies.read_start.climb(&view, level).min(view.last_level())
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
        let (now, pe_cycles) = (self.flash.cells.time(self.now), self.ftl.blocks.erases(block));
        let true_retries = || self.flash.cells.retries_of(block, self.now);
        let expected = self.policies.metadata.expected(block, pe_cycles, now, &true_retries);
        expected.unwrap_or_default()
    }
}
