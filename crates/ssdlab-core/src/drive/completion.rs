//! Ends an operation: updates the tables, continues or ends its owner, and begins the operations
//! that waited for its page.

use ssdlab_nand::Lpn;

use super::Drive;
use super::translation::Step;
use crate::account::{OpKind, Part};
use crate::audit::audit_event;
use crate::flash::{Fifo, FlashEvent, Owner, Txn, TxnId};
use crate::host::Programmed;
use crate::policy::background::Trigger;
use crate::policy::event::{Event, EventMask};

impl Drive {
    /// Handles the events of the flash.
    #[inline(always)]
    pub(super) fn handle_flash_events(&mut self) {
        // Later calls handle the events that this one causes.
        let count = self.machine.flash.events.all().len();
        for at in 0..count {
            let event = self.machine.flash.events.all()[at];
            match event {
                FlashEvent::Done(id) => self.done(id),
                FlashEvent::Failed(unit) if self.machine.may_preempt_read(unit) => {
                    self.machine.flash.suspend_reads(unit, self.machine.now);
                }
                FlashEvent::Failed(unit) => self.machine.try_again(unit),
                FlashEvent::Sensed(unit) => {
                    self.machine.for_held(unit, |drive, id| {
                        let next = drive.next_level(id);
                        drive.flash.txns.set_pipelined_level(id, next);
                    });
                    self.machine.flash.sense_pipelined(unit, self.machine.now);
                }
                FlashEvent::Again(id) => self.machine.flash.enqueue_again(id, self.machine.now),
                FlashEvent::Began(unit) => {
                    if let Some(read) = self.machine.flash.waiting_read(unit) {
                        self.machine.ask_to_suspend(read);
                    }
                }
            }
        }
        self.machine.flash.events.handled(count);
    }

    #[inline(always)]
    fn done(&mut self, id: TxnId) {
        if self
            .machine
            .policies
            .subscribed
            .has(EventMask::of_operation(self.machine.flash.txns[id].kind))
        {
            self.machine.publish_operation(id);
        }
        let txn = &self.machine.flash.txns[id];
        match txn.owner {
            Owner::Job(plane) => {
                self.background.continue_job(&mut self.machine, &mut self.translation, id, plane)
            }
            Owner::Move { from, erases } => self.background.continue_move(
                &mut self.machine,
                &mut self.translation,
                id,
                from,
                erases,
            ),
            Owner::Request(_) | Owner::Buffer { .. } | Owner::Map { .. } => match txn.kind {
                OpKind::Read if txn.read_first => {
                    self.translation.write_after_read(&mut self.machine, id)
                }
                OpKind::Read => {
                    if let Owner::Request(slot) = txn.owner {
                        let queue = self.machine.host[slot].request.queue;
                        self.machine.stats.page_read(queue, txn.level, txn.failed);
                        self.machine.flash.cells.count_read(txn);
                    }
                    self.end_of_read(id);
                }
                OpKind::Program => self.end_of_program(id),
                OpKind::Erase => unreachable!("the host erases nothing"),
            },
        }
    }

    /// Ends a host read, or a read that needed no flash operation.
    #[inline(always)]
    fn end_of_read(&mut self, id: TxnId) {
        self.background.host_has_read(&mut self.machine, id);
        audit_event!(self.machine, read_ended(id, &self.machine.flash.txns[id]));
        let txn = &self.machine.flash.txns[id];
        let (lpn, uncorrectable) = (txn.lpn, txn.uncorrectable);
        self.machine.stats.uncorrectable += u64::from(uncorrectable);
        if self.buffer.pages.is_some()
            && !matches!(self.machine.flash.txns[id].owner, Owner::Map { .. })
        {
            self.buffer.buffer_read(&mut self.machine, &mut self.translation, id);
        }
        self.machine.note_page_end(id);
        self.end_of_operation(id);
        self.release(lpn, false);
    }

    /// Ends a read of a page that the flash does not hold. If it was never written, it counts as
    /// such; a page that a write put into the buffer was, though in other sectors.
    #[inline(never)]
    fn end_of_unmapped(&mut self, id: TxnId) {
        let lpn = self.machine.flash.txns[id].lpn;
        let is_buffered = self.buffer.pages.as_ref().is_some_and(|buffer| buffer.has_write(lpn));
        self.machine.stats.unmapped_reads += u64::from(!is_buffered);
        self.end_of_read(id);
    }

    /// Ends the program of a host page.
    #[inline(always)]
    fn end_of_program(&mut self, id: TxnId) {
        let Programmed { outdated, joined } = self.machine.write_ends(id);
        let txn = &self.machine.flash.txns[id];
        audit_event!(self.machine, programmed(id, txn, &self.machine.ftl, outdated));
        let (lpn, ppn, plane, mask) = (txn.lpn, txn.ppn, txn.plane, txn.mask);
        let of_map = matches!(txn.owner, Owner::Map { .. });
        let trigger = if of_map { Trigger::MapChanged } else { Trigger::Changed };
        let mut old = None;
        if outdated {
            self.machine.ftl.commit_outdated(ppn);
            let block = self.machine.geometry.block_of(ppn);
            self.machine.publish(&Event::ProgramOutdated { lpn, block });
        } else {
            old = self.machine.ftl.commit_write(lpn, ppn);
            self.machine.ftl.map.add_sectors(lpn, mask, old.is_none());
        }
        self.machine.publish_if_closed(ppn);
        if !outdated {
            self.translation.entry_changed(&mut self.machine, lpn);
        }
        self.machine.note_page_end(id);
        self.end_of_operation(id);
        if !joined.is_empty() {
            self.end_joined(joined);
        }
        self.release(lpn, true);
        self.background.plane_changed(&mut self.machine, plane, trigger);
        if let Some(old) = old {
            self.machine.publish(&Event::PageInvalidated { lpn, block: old });
            let was = self.machine.geometry.plane_of(old);
            let places = (was, plane);
            self.background.on_page_invalidated(&mut self.machine, lpn, places, trigger);
        }
    }

    /// Ends the writes whose data the program of an earlier write has written.
    #[inline(never)]
    fn end_joined(&mut self, mut joined: Fifo) {
        while let Some(id) = joined.pop(&self.machine.flash.txns) {
            self.machine.note_page_wait(id);
            self.machine.flash.txns.charge(id, Part::Page, self.machine.now);
            self.end_of_operation(id);
        }
    }

    /// Unmaps a page when its trim has its turn.
    #[inline(never)]
    fn unmap(&mut self, id: TxnId) {
        let lpn = self.machine.flash.txns[id].lpn;
        let old = self.machine.ftl.trim(lpn);
        // The placement of waiting writes must already count the page as trimmed.
        self.machine.publish(&Event::PageTrimmed(lpn));
        self.translation.entry_changed(&mut self.machine, lpn);
        self.machine.note_page_end(id);
        self.end_of_operation(id);
        self.release(lpn, true);
        if let Some(block) = old {
            self.machine.publish(&Event::PageInvalidated { lpn, block });
            let plane = self.machine.geometry.plane_of(block);
            self.background.on_page_unmapped(&mut self.machine, plane, lpn);
            self.background.plane_changed(&mut self.machine, plane, Trigger::Changed);
        }
    }

    /// Reports the end of a page operation to its owner.
    #[inline]
    fn end_of_operation(&mut self, id: TxnId) {
        let txn = &self.machine.flash.txns[id];
        debug_assert_eq!(
            txn.since, self.machine.now,
            "all of an operation's time is accounted for"
        );
        audit_event!(self.machine, gone(id));
        match txn.owner {
            Owner::Request(slot) => {
                if self.machine.host.end_part(slot) {
                    self.machine.end_of_request(slot, id);
                }
                self.machine.flash.txns.remove(id);
            }
            Owner::Buffer { room, number } => {
                self.machine.flash.txns.remove(id);
                self.buffer.page_has_left(&mut self.machine, room, number);
            }
            Owner::Map { page, in_part } => {
                let kind = txn.kind;
                self.machine.flash.txns.remove(id);
                self.map_operation_ended(page, kind, in_part);
            }
            Owner::Job(_) | Owner::Move { .. } => unreachable!("it goes on by itself"),
        }
    }

    /// Ends a page operation that needs no flash operation.
    #[inline(always)]
    pub(super) fn end_without_flash(&mut self, id: TxnId, step: Step) {
        match step {
            Step::InProgress => {}
            Step::Unmapped => self.end_of_unmapped(id),
            Step::Trims => self.unmap(id),
        }
    }

    /// Releases a page operation's hold on its page, and continues the operations that waited for
    /// it.
    #[inline(always)]
    fn release(&mut self, lpn: Lpn, changes: bool) {
        let ready = self.machine.host.hazards.ready_count();
        let first = self.machine.host.hazards.release(&mut self.machine.flash.txns, lpn, changes);
        self.machine.note_page_waits(ready);
        if !first {
            // An operation that was continued has ended at once. The outer loop handles the
            // operations that waited for it.
            return;
        }
        let mut next = 0;
        while let Some(id) = self.machine.host.hazards.ready(next) {
            next += 1;
            self.machine.flash.txns.charge(id, Part::Page, self.machine.now);
            self.machine.flash.txns.note_held_up(id);
            let step = self.buffer.translate(&mut self.machine, &mut self.translation, id);
            self.end_without_flash(id, step);
        }
        self.machine.host.hazards.none_ready();
    }

    /// Ends an operation on a translation page.
    fn map_operation_ended(&mut self, page: u32, kind: OpKind, in_part: bool) {
        if kind == OpKind::Program {
            if in_part {
                self.translation.page_written(&mut self.machine, page);
            }
            return;
        }
        let mut waiting = self.translation.page_loaded(&mut self.machine, page);
        while let Some(id) = waiting.pop(&self.machine.flash.txns) {
            self.entry_arrived(id);
        }
        while let Some(id) = self.translation.next_with_entry(&mut self.machine) {
            self.entry_arrived(id);
        }
    }

    /// Continues an operation that waited for its map entry.
    fn entry_arrived(&mut self, id: TxnId) {
        self.machine.waited_for_entry(id);
        let step = self.translation.continue_with_entry(&mut self.machine, id);
        self.end_without_flash(id, step);
    }

    /// Ends a transfer of a page into or out of the buffer.
    #[inline(never)]
    pub(super) fn buffer_fires(&mut self) {
        let id = self.buffer.the_buffer().take_moved();
        self.machine.flash.txns.charge(id, Part::Buffer, self.machine.now);
        let Txn { kind, lpn, .. } = self.machine.flash.txns[id];
        self.end_of_operation(id);
        if kind == OpKind::Program {
            for program in self.buffer.the_buffer().has_come(lpn, id) {
                self.machine.flash.txns.charge(program, Part::Buffer, self.machine.now);
                let step = self.buffer.translate(&mut self.machine, &mut self.translation, program);
                debug_assert_eq!(step, Step::InProgress, "a program goes to the flash");
            }
        }
    }
}
