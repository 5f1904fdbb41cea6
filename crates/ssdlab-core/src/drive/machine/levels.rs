//! The levels of reads: where a read starts, and which level follows.

use ssdlab_base::Nanos;
use ssdlab_nand::{BlockId, Level};

use super::Machine;
use crate::flash::{TxnId, UnitId};
use crate::policy::component::{Components, Expected};
use crate::policy::read_start::ReadStartView;

impl Machine {
    /// Sets the level at which a read starts or continues.
    #[inline(always)]
    pub(in crate::drive) fn set_level(&mut self, id: TxnId) {
        let level = match self.flash.txns[id].failed {
            0 => self.policies.start_level(self.read_view(id)),
            _ => self.next_level(id),
        };
        self.flash.txns.set_level(id, level);
    }

    /// Returns the next level of a read whose attempt fails, or may fail.
    #[inline(never)]
    pub(in crate::drive) fn next_level(&mut self, id: TxnId) -> Level {
        let txn = &self.flash.txns[id];
        let (level, ahead) = (txn.level, txn.ahead);
        if self.policies.reads.by_one {
            return level.next().min(Level::last_of(self.flash.cells.levels()));
        }
        let view = self.read_view(id);
        let shown = Level(level.0.saturating_add(ahead));
        let next = self.policies.level_after(view, shown).max(shown.next());
        Level(next.0 - ahead).min(view.last_level())
    }

    /// Returns the view of a read for the read-start policy, without the components.
    #[inline(always)]
    pub(in crate::drive) fn read_view(&self, id: TxnId) -> ReadStartView<'static> {
        let txn = &self.flash.txns[id];
        let block = self.geometry.block_of(txn.ppn);
        let (mut age, mut pe_cycles) = (Nanos::ZERO, 0);
        // Ages and P/E cycles are not fetched unless the policy uses them.
        if self.policies.reads.age {
            age = self.flash.cells.age(txn, block, self.now);
            pe_cycles = self.ftl.blocks.erases(block);
        }
        ReadStartView {
            block,
            page: self.geometry.page_in_block(txn.ppn),
            lpn: txn.lpn,
            levels: self.flash.cells.levels(),
            class: self.ftl.blocks.class(block),
            pe_cycles,
            age,
            components: Components::NONE,
        }
    }

    /// Continues the reads that a unit holds, each at its next level.
    pub(in crate::drive) fn try_again(&mut self, unit: UnitId) {
        if self.flash.continue_pipelined(unit, self.now) {
            return;
        }
        self.for_held(unit, Machine::set_level);
        self.flash.sense_again(unit, self.now);
    }

    /// Calls `act` for the reads that a unit holds.
    pub(in crate::drive) fn for_held(&mut self, unit: UnitId, act: impl Fn(&mut Machine, TxnId)) {
        let mut next = self.flash.held(unit).next();
        while let Some(id) = next {
            act(self, id);
            next = self.flash.txns.members(id).nth(1);
        }
    }

    /// Returns how a block is expected to read now.
    pub(in crate::drive) fn expected(&self, block: BlockId) -> Expected {
        let (now, pe_cycles) = (self.flash.cells.time(self.now), self.ftl.blocks.erases(block));
        let true_retries = || self.flash.cells.retries_of(block, self.now);
        let expected = self.policies.metadata.expected(block, pe_cycles, now, &true_retries);
        expected.unwrap_or_default()
    }
}
