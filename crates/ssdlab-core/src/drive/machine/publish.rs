//! Builds the events that the drive publishes to components and policies.

use ssdlab_base::Nanos;
use ssdlab_nand::{BlockId, Lpn, PlaneId, Ppn};

use super::Machine;
use crate::account::{Cause, OpKind};
use crate::buffer::Slot;
use crate::config::RESERVE_BLOCKS;
use crate::flash::TxnId;
use crate::ftl::BlockState;
use crate::policy::allocation::BlockClass;
use crate::policy::event::{
    Action, BlockOpened, Event, EventMask, FreedBlock, Migrated, Probe, Programmed, ReadOutcome,
};

impl Machine {
    /// Passes an event to its listeners.
    #[inline(always)]
    pub(in crate::drive) fn publish(&mut self, event: &Event) {
        self.policies.publish(self.now, event);
    }

    /// Publishes that a flash operation has read, programmed or erased.
    #[inline(always)]
    pub(in crate::drive) fn publish_operation(&mut self, id: TxnId) {
        match self.flash.txns[id].kind {
            OpKind::Read => self.publish_read(id),
            OpKind::Program => self.publish_programmed(id),
            OpKind::Erase => {
                let block = self.geometry.block_of(self.flash.txns[id].ppn);
                self.publish(&Event::BlockErased(block));
            }
        }
    }

    #[inline(never)]
    fn publish_read(&mut self, id: TxnId) {
        let txn = &self.flash.txns[id];
        let block = self.geometry.block_of(txn.ppn);
        let read = ReadOutcome {
            lpn: txn.lpn,
            block,
            page: self.geometry.page_in_block(txn.ppn),
            class: self.ftl.blocks.class(block),
            level: txn.level,
            failed: txn.failed,
            errors: 0,
            mapped: txn.age.is_none(),
            cause: txn.cause,
            pe_cycles: 0,
            age: Nanos::ZERO,
        };
        // Computing errors and ages takes time, so it is done only for subscribers.
        if self.policies.subscribed.has(EventMask::READ_ERRORS.and(EventMask::READ_AGES)) {
            self.publish_measured(id, read);
        } else {
            self.policies.publish_to_all(self.now, &Event::PageRead(&read));
        }
    }

    /// Publishes a read with its errors and the age of its data.
    #[inline(never)]
    fn publish_measured(&mut self, id: TxnId, mut read: ReadOutcome) {
        let txn = &self.flash.txns[id];
        if read.mapped && self.policies.subscribed.has(EventMask::READ_ERRORS) {
            read.errors = self.flash.cells.errors_of(txn, &self.geometry, self.now);
        }
        if self.policies.subscribed.has(EventMask::READ_AGES) {
            read.age = self.flash.cells.age(txn, read.block, self.now);
            read.pe_cycles = self.ftl.blocks.erases(read.block);
        }
        self.policies.publish_to_all(self.now, &Event::PageRead(&read));
    }

    #[inline(never)]
    fn publish_programmed(&mut self, id: TxnId) {
        let txn = &self.flash.txns[id];
        let page = Programmed {
            lpn: txn.lpn,
            block: self.geometry.block_of(txn.ppn),
            page: self.geometry.page_in_block(txn.ppn),
            cause: txn.cause,
        };
        self.policies.publish_to_all(self.now, &Event::PageProgrammed(&page));
    }

    /// Publishes that a block is full, if this page was its last.
    #[inline]
    pub(in crate::drive) fn publish_if_closed(&mut self, ppn: Ppn) {
        if self.policies.subscribed.has(EventMask::BLOCK_CLOSED) {
            let block = self.geometry.block_of(ppn);
            if self.ftl.blocks.state(block) == BlockState::Closed {
                self.publish(&Event::BlockClosed(block));
            }
        }
    }

    /// Publishes that a page has moved to another block.
    #[inline]
    pub(in crate::drive) fn publish_migrated(
        &mut self,
        lpn: Lpn,
        [from, to]: [BlockId; 2],
        cause: Cause,
        alone: bool,
    ) {
        let page = Migrated { lpn, from, to, cause, alone };
        self.publish(&Event::PageMigrated(&page));
    }

    /// Publishes that a page leaves the buffer, or that a flush programs it.
    pub(in crate::drive) fn publish_evicted(&mut self, page: &Slot) {
        self.publish(&Event::PageEvicted { lpn: page.lpn, uses: page.uses });
    }

    /// Publishes the blocks that are open when the drive starts.
    pub(super) fn publish_open_blocks(&mut self) {
        if self.lifetime.streams.is_none() && !self.policies.subscribed.has(EventMask::BLOCK_OPENED)
        {
            return;
        }
        for plane in (0..self.geometry.plane_count()).map(PlaneId) {
            for &writer in self.ftl.alloc.writers() {
                for (stream, block) in self.ftl.alloc.open_blocks(plane, writer) {
                    if let Some(streams) = &mut self.lifetime.streams {
                        streams.opened(block, stream);
                    }
                    let opened = BlockOpened { block, writer, stream };
                    self.publish(&Event::BlockOpened(&opened));
                }
            }
        }
    }

    /// Gives an erased block its class and rank from now on. Its P/E cycles do not count this erase
    /// yet.
    pub(in crate::drive) fn reassess(&mut self, block: BlockId) {
        if self.policies.subscribed.has(EventMask::BLOCK_FREED) {
            self.publish_freed(block);
        }
        if !self.policies.have_reassessments() {
            return;
        }
        let worst = BlockClass(self.resolved.classes.count as u8 - 1);
        for action in self.policies.take_reassessments(block) {
            match action {
                Action::SetClass { block, class } => {
                    self.ftl.blocks.set_class(block, class.min(worst));
                }
                Action::SetFreeRank { block, free_rank } => {
                    self.ftl.blocks.set_free_rank(block, free_rank)
                }
                Action::Relocate(_) | Action::MigratePage { .. } | Action::SetTimer { .. } => {}
            }
        }
    }

    fn publish_freed(&mut self, block: BlockId) {
        let cycles_per_erase = self.resolved.config.flash.cycles_per_erase;
        let cells = &self.flash.cells;
        // A job may have used the block that the plane keeps for jobs. Then this block replaces it.
        let plane = self.geometry.plane_of(block);
        let freed = FreedBlock {
            block,
            class: self.ftl.blocks.class(block),
            pe_cycles: self.ftl.blocks.erases(block) + cycles_per_erase,
            cycles_per_erase,
            has_spare: self.ftl.alloc.free_blocks(plane) >= RESERVE_BLOCKS,
            probe: Probe(&|cycles| cells.probe(block, cycles)),
        };
        self.policies.publish_freed(self.now, &freed);
    }
}
