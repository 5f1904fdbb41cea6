//! What the controller's metadata makes of a block: how it is expected to read, and what it is once erased.

use ssdlab_nand::BlockId;

use super::Drive;
use crate::config::RESERVE_BLOCKS;
use crate::metadata::retry_estimate::Expected;
use crate::policy::event::{Action, Event, EventMask, FreedBlock, Probe};

impl Drive {
    /// A block was erased, which its P/E cycles do not count yet: its class and its turn from now on.
    pub(super) fn reassess(&mut self, block: BlockId) {
        if !self.policies.wants.has(EventMask::BLOCK_FREED) {
            return;
        }
        let cycles_per_erase = self.resolved.config.flash.cycles_per_erase;
        let cells = &self.flash.cells;
        // A job may have used the block that is kept for jobs: then this one takes its place.
        let plane = self.geometry.plane_of(block);
        let freed = FreedBlock {
            block,
            class: self.ftl.blocks.class(block),
            pe_cycles: self.ftl.blocks.erases(block) + cycles_per_erase,
            cycles_per_erase,
            clock: cells.clock(self.now),
            has_spare: self.ftl.alloc.free_blocks(plane) >= RESERVE_BLOCKS,
            probe: Probe(&|cycles| cells.look(block, cycles)),
        };
        self.policies.publish(&Event::BlockFreed(&freed));
        for action in self.policies.take_reassessments() {
            match action {
                Action::SetClass { block, class } => self.ftl.blocks.set_class(block, class),
                Action::SetTurn { block, turn } => self.ftl.blocks.set_turn(block, turn),
                Action::Relocate(_) | Action::MigratePage { .. } => {}
            }
        }
    }

    /// How a block is expected to read now.
    pub(super) fn expected(&self, block: BlockId) -> Expected {
        let Some(estimates) = &self.policies.metadata.retry_estimates else {
            return Expected::default();
        };
        let now = self.flash.cells.clock(self.now);
        let expected = estimates.expected(block, self.ftl.blocks.erases(block), now);
        match estimates.is_oracle() {
            true => Expected { retries: self.flash.cells.retries_of(block, self.now), ..expected },
            false => expected,
        }
    }
}
