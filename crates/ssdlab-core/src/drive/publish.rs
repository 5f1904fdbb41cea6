//! Builds the events that the drive publishes to components and policies.

use ssdlab_nand::{BlockId, Lpn, PlaneId, Ppn};

use super::Drive;
use crate::account::{Cause, OpKind};
use crate::buffer::Slot;
use crate::flash::TxnId;
use crate::ftl::BlockState;
use crate::policy::event::{BlockOpened, Event, EventMask, Migrated, Programmed, ReadOutcome};

impl Drive {
    /// Publishes that a flash operation has read, programmed or erased.
    #[inline(never)]
    pub(super) fn publish_operation(&mut self, id: TxnId) {
        let txn = &self.flash.txns[id];
        let (lpn, ppn, cause) = (txn.lpn, txn.ppn, txn.cause);
        let block = self.geometry.block_of(ppn);
        match txn.kind {
            OpKind::Read => {
                let (level, first_try, mapped) = (txn.level, txn.failed == 0, txn.age.is_none());
                // Only who asks for errors pays for them.
                let errors = if mapped && self.policies.wants.has(EventMask::READ_ERRORS) {
                    self.flash.cells.errors_of(txn, &self.geometry, self.now)
                } else {
                    0
                };
                let view = self.read_view(id);
                let read = ReadOutcome { view, level, first_try, errors, mapped, cause };
                self.policies.publish(&Event::PageRead(&read));
            }
            OpKind::Program => {
                let page = self.geometry.page_in_block(ppn);
                let clock = self.flash.cells.clock(self.now);
                let page = Programmed { lpn, block, page, cause, clock };
                self.policies.publish(&Event::PageProgrammed(&page));
            }
            OpKind::Erase => self.policies.publish(&Event::BlockErased(block)),
        }
    }

    /// Publishes that a block is full, if this page was its last.
    #[inline]
    pub(super) fn publish_if_closed(&mut self, ppn: Ppn) {
        if self.policies.wants.has(EventMask::BLOCK_CLOSED) {
            let block = self.geometry.block_of(ppn);
            if self.ftl.blocks.state(block) == BlockState::Closed {
                self.policies.publish(&Event::BlockClosed(block));
            }
        }
    }

    /// Publishes that a plane, on which a block was opened, is low on space, if it is.
    #[cold]
    pub(super) fn publish_low_space(&mut self, plane: PlaneId) {
        if self.free(plane) < self.background.jobs.contents() {
            let free_blocks = self.ftl.alloc.free_blocks(plane) as u32;
            self.policies.publish(&Event::LowSpace { plane, free_blocks });
        }
    }

    /// Publishes that a page has moved to another block.
    #[inline]
    pub(super) fn publish_migrated(
        &mut self,
        lpn: Lpn,
        [from, to]: [BlockId; 2],
        cause: Cause,
        alone: bool,
    ) {
        let page = Migrated { lpn, from, to, cause, alone };
        self.policies.publish(&Event::PageMigrated(&page));
    }

    /// Publishes that a page leaves the buffer, or that a flush programs it.
    pub(super) fn publish_evicted(&mut self, page: &Slot) {
        self.policies.publish(&Event::PageEvicted { lpn: page.lpn, uses: page.uses });
    }

    /// Publishes the blocks that are open when the drive starts.
    pub(super) fn publish_open_blocks(&mut self) {
        if self.history.streams.is_none() && !self.policies.wants.has(EventMask::BLOCK_OPENED) {
            return;
        }
        for plane in (0..self.geometry.plane_count()).map(PlaneId) {
            for &writer in self.ftl.alloc.writers() {
                for (stream, block) in self.ftl.alloc.open_blocks(plane, writer) {
                    if let Some(streams) = &mut self.history.streams {
                        streams.opened(block, stream);
                    }
                    let opened = BlockOpened { block, writer, stream };
                    self.policies.publish(&Event::BlockOpened(&opened));
                }
            }
        }
    }
}
