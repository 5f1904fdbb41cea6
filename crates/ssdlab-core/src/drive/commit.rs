//! A flash operation ended: the books are brought up to date, and whoever asked for it hears.

use ssdlab_nand::{Lpn, PlaneId, Ppn};

use super::Drive;
use super::watch::watch;
use crate::account::{Cause, OpKind, RequestAttrs};
use crate::flash::{Event, Owner, TxnId, UnitId};
use crate::ftl::BlockState;
use crate::policy::event::{Event as Happened, EventMask, Programmed, ReadOutcome};
use crate::policy::suspend::FailedReadsView;

impl Drive {
    /// Hears what the flash has to tell.
    #[inline(always)]
    pub(super) fn handle_flash_events(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        self.flash.take_events(&mut events);
        for event in events.drain(..) {
            match event {
                Event::Done(id) => self.done(id),
                Event::Failed(unit) if self.may_preempt_read(unit) => {
                    self.flash.set_reads_aside(unit, self.now);
                }
                Event::Failed(unit) => self.try_again(unit),
                Event::Sensed(unit) => {
                    self.for_held(unit, |drive, id| {
                        drive.flash.txns[id].level_ahead = drive.next_level(id);
                    });
                    self.flash.sense_ahead(unit, self.now);
                }
                Event::Again(id) => self.flash.enqueue_again(id, self.now),
                Event::Began(unit) => {
                    if let Some((plane, read)) = self.flash.waiting_read(unit) {
                        let RequestAttrs { priority, .. } = self.attrs(self.flash.txns[read].owner);
                        self.ask_to_suspend(plane, priority);
                    }
                }
            }
        }
        self.events = events;
    }

    /// The reads that a unit holds go on, each at its next level.
    pub(super) fn try_again(&mut self, unit: UnitId) {
        if self.flash.go_on_ahead(unit, self.now) {
            return;
        }
        self.for_held(unit, Drive::set_level);
        self.flash.sense_again(unit, self.now);
    }

    /// Calls `act` for the reads that a unit holds.
    #[inline]
    fn for_held(&mut self, unit: UnitId, act: impl Fn(&mut Drive, TxnId)) {
        let mut next = self.flash.held(unit).next();
        while let Some(id) = next {
            act(self, id);
            next = self.flash.held_from(id).nth(1);
        }
    }

    /// Whether reads that failed are set aside for a host read of a higher priority.
    fn may_preempt_read(&mut self, unit: UnitId) -> bool {
        let Some(aside) = self.flash.overtaken(unit) else { return false };
        self.policies.suspend.may_preempt_read(&FailedReadsView { aside })
    }

    #[inline(always)]
    fn done(&mut self, id: TxnId) {
        if self.policies.wants.has(EventMask::of_operation(self.flash.txns[id].kind)) {
            self.publish_operation(id);
        }
        let txn = &self.flash.txns[id];
        match txn.owner {
            Owner::Job(plane) => self.job_goes_on(id, plane),
            Owner::Move { from, erases } => self.move_goes_on(id, from, erases),
            Owner::Request(_) | Owner::Buffer { .. } | Owner::Map { .. } => match txn.kind {
                OpKind::Read if txn.read_first => self.write_after_read(id),
                OpKind::Read => {
                    if let Owner::Request(slot) = txn.owner {
                        let queue = self.host[slot].request.queue;
                        self.stats.page_read(queue, txn.level, txn.failed);
                        self.flash.count_read(id);
                    }
                    self.end_of_read(id);
                }
                OpKind::Program => self.end_of_program(id),
                OpKind::Erase => unreachable!("the host erases nothing"),
            },
        }
    }

    /// Tells the policies what an operation came to.
    #[inline(never)]
    fn publish_operation(&mut self, id: TxnId) {
        let txn = &self.flash.txns[id];
        let (lpn, ppn, cause) = (txn.lpn, txn.ppn, txn.cause);
        let block = self.geometry.block_of(ppn);
        match txn.kind {
            OpKind::Read => {
                let (level, first_try, mapped) = (txn.level, txn.failed == 0, txn.age.is_none());
                // Only a component that asks for errors pays for them.
                let errors = match mapped && self.policies.counts_errors {
                    true => self.flash.cells.errors_of(txn, &self.geometry, self.now),
                    false => 0,
                };
                let view = self.read_view(id);
                let read = ReadOutcome { view, level, first_try, errors, mapped, cause };
                self.policies.publish(&Happened::PageRead(&read));
            }
            OpKind::Program => {
                let page = self.geometry.page_in_block(ppn);
                let clock = self.flash.cells.clock(self.now);
                let page = Programmed { lpn, block, page, cause, clock };
                self.policies.publish(&Happened::PageProgrammed(&page));
            }
            OpKind::Erase => self.policies.publish(&Happened::BlockErased(block)),
        }
    }

    /// A page was read for the host, or needed no reading.
    #[inline(always)]
    pub(super) fn end_of_read(&mut self, id: TxnId) {
        self.host_has_read(id);
        watch!(self, read_ended(id, &self.flash.txns[id]));
        let txn = &self.flash.txns[id];
        let (lpn, uncorrectable) = (txn.lpn, txn.uncorrectable);
        self.stats.uncorrectable += u64::from(uncorrectable);
        if self.buffer.is_some() && !matches!(self.flash.txns[id].owner, Owner::Map { .. }) {
            self.buffer_read(id);
        }
        self.end_of_operation(id);
        self.release(lpn, false);
    }

    /// A page was written for the host.
    #[inline(always)]
    fn end_of_program(&mut self, id: TxnId) {
        watch!(self, programmed(id, &self.flash.txns[id], &self.ftl));
        let txn = &self.flash.txns[id];
        let (lpn, ppn, plane, mask) = (txn.lpn, txn.ppn, txn.plane, txn.mask);
        let old = self.ftl.commit_write(lpn, ppn);
        self.ftl.map.add_sectors(lpn, mask, old.is_none());
        self.publish_if_closed(ppn);
        self.entry_changed(lpn);
        self.end_of_operation(id);
        self.release(lpn, true);
        self.plane_changed(plane);
        if let Some(old) = old {
            self.policies.publish(&Happened::PageInvalidated { lpn, block: old });
            self.leaves(lpn, self.geometry.plane_of(old), plane);
        }
    }

    /// Tells the policies that a block has no page left, if this was its last.
    #[inline]
    pub(super) fn publish_if_closed(&mut self, ppn: Ppn) {
        if self.policies.wants.has(EventMask::BLOCK_CLOSED) {
            let block = self.geometry.block_of(ppn);
            if self.ftl.blocks.state(block) == BlockState::Closed {
                self.policies.publish(&Happened::BlockClosed(block));
            }
        }
    }

    /// A page became invalid on a plane and lies on another, perhaps, where it was written.
    #[inline]
    pub(super) fn leaves(&mut self, lpn: Lpn, plane: PlaneId, written: PlaneId) {
        if plane != written {
            self.no_longer_holds(plane, lpn);
            self.plane_changed(plane);
        }
    }

    /// A trim's turn has come for one page.
    #[inline(never)]
    pub(super) fn unmap(&mut self, id: TxnId) {
        let lpn = self.flash.txns[id].lpn;
        let old = self.ftl.trim(lpn);
        // Who waited for the trim is placed as after it.
        self.policies.publish(&Happened::PageTrimmed(lpn));
        self.entry_changed(lpn);
        self.end_of_operation(id);
        self.release(lpn, true);
        if let Some(block) = old {
            self.policies.publish(&Happened::PageInvalidated { lpn, block });
            let plane = self.geometry.plane_of(block);
            self.no_longer_holds(plane, lpn);
            self.plane_changed(plane);
        }
    }

    /// Tells the owner of a page operation that it has ended.
    #[inline]
    pub(super) fn end_of_operation(&mut self, id: TxnId) {
        let txn = &self.flash.txns[id];
        debug_assert_eq!(txn.since, self.now, "all of an operation's time is accounted for");
        watch!(self, gone(id));
        match txn.owner {
            Owner::Request(slot) => {
                if self.host.part_ended(slot) {
                    self.end_of_request(slot, id);
                }
                self.flash.txns.remove(id);
            }
            Owner::Buffer { room, number } => {
                self.flash.txns.remove(id);
                self.page_has_left(room, number);
            }
            Owner::Map { page, in_part } => {
                let kind = txn.kind;
                self.flash.txns.remove(id);
                self.map_operation_ended(page, kind, in_part);
            }
            Owner::Job(_) | Owner::Move { .. } => unreachable!("it goes on by itself"),
        }
    }

    /// Pages programmed for every page that the host wrote: write amplification. `None` before
    /// the host wrote any.
    pub fn write_amplification(&self) -> Option<f64> {
        let programs = self.flash.ops()[OpKind::Program as usize];
        let host = programs[Cause::Host as usize];
        (host > 0).then(|| programs.iter().sum::<u64>() as f64 / host as f64)
    }
}
