//! Gives a free array unit its next operation.

use ssdlab_nand::{PageInBlock, PlaneId};

use super::Drive;
use crate::account::OpKind;
use crate::audit::audit_event;
use crate::flash::{Next, Owner, Txn, TxnId, UnitId};
use crate::ftl::Writer;

impl Drive {
    /// Gives work to every free unit that has some.
    #[inline(always)]
    pub(super) fn serve_idle(&mut self) {
        loop {
            self.offer();
            while let Some(unit) = self.machine.flash.units.take_idle() {
                self.translation.dispatch.ask_scheduler(&mut self.machine, unit);
                while self.machine.flash.units[unit].has_to_do() && !self.serve(unit) {
                    // Other groups may be dispatched now that an operation waits.
                    self.translation.dispatch.ask_scheduler(&mut self.machine, unit);
                }
                self.translation.dispatch.ask_scheduler(&mut self.machine, unit);
            }
            if self.translation.dispatch.has_to_offer() {
                continue;
            }
            if self.machine.flash.events.is_empty() {
                return;
            }
            // An operation that has just begun may have to be suspended at once.
            self.handle_started();
        }
    }

    /// Handles the events of operations that have just begun. [`Drive::handle_flash_events`] is
    /// inlined into the event loop; here the flash seldom has an event.
    #[inline(never)]
    fn handle_started(&mut self) {
        self.handle_flash_events();
    }

    /// Gives a free unit its next operation. Returns false if the operation must wait or is no
    /// longer first; the unit then looks again. A loop in here would keep the addresses of the
    /// drive's parts on the stack.
    #[inline(never)]
    fn serve(&mut self, unit: UnitId) -> bool {
        match self.machine.flash.next_of(unit) {
            Next::Nothing => {}
            Next::Resume => self.machine.flash.resume(unit, self.machine.now),
            Next::ResumeReads => {
                self.machine.flash.resume_reads(unit, self.machine.now);
                self.machine.try_again(unit);
            }
            Next::Serve(plane, queue) => {
                let head = self.machine.flash.queues[plane].head(queue);
                if !self.prepare(head) {
                    return false;
                }
                self.machine.flash.pop(plane, queue);
                if self.machine.flash.setup().is_multi_plane()
                    && self.machine.flash.units[unit].is_awaited()
                {
                    self.form_multi_plane(head, queue);
                }
                self.machine.flash.start(unit, head, self.machine.now);
            }
        }
        true
    }

    /// Gives the first operation of a queue its physical page. Returns false if it must wait or is
    /// no longer first; the unit then looks again.
    #[inline(always)]
    fn prepare(&mut self, id: TxnId) -> bool {
        if matches!(self.machine.flash.txns[id].owner, Owner::Move { .. })
            && !self.background.may_move(&mut self.machine, id)
        {
            return false;
        }
        let prepared = match self.machine.flash.txns[id].kind {
            OpKind::Read => self.prepare_read(id),
            OpKind::Program => self.prepare_program(id),
            OpKind::Erase => true,
        };
        if prepared {
            audit_event!(
                self.machine,
                prepared(id, &self.machine.flash.txns[id], &self.machine.ftl)
            );
        }
        prepared
    }

    /// Looks up a page again: it may have moved while the read waited.
    #[inline(always)]
    fn prepare_read(&mut self, id: TxnId) -> bool {
        let Txn { plane, owner, .. } = self.machine.flash.txns[id];
        match owner {
            // A page that was overwritten in the meantime need not move.
            Owner::Job(_) if !self.machine.is_valid(id) => {
                self.background.skip_page(&mut self.machine, id);
                return false;
            }
            Owner::Job(_) | Owner::Move { .. } => {}
            _ => {
                let lies_on = self.machine.locate(id);
                let lies_on = lies_on.expect("a page with an operation under way is mapped");
                if lies_on != plane {
                    self.follow(id, lies_on);
                    return false;
                }
            }
        }
        self.machine.set_level(id);
        true
    }

    /// Moves a read, the first of its queue, to the new plane of its page.
    #[cold]
    fn follow(&mut self, id: TxnId, plane: PlaneId) {
        assert!(
            self.background.moves.is_some(),
            "a page with an operation under way stays where it is"
        );
        let txn = &self.machine.flash.txns[id];
        self.machine.flash.pop(txn.plane, txn.plane_queue);
        self.machine.flash.wait_ends(id, self.machine.now);
        self.machine.flash.txns.set_plane(id, plane);
        self.machine.flash.enqueue_again(id, self.machine.now);
        self.machine.ask_to_suspend(id);
    }

    #[inline(always)]
    fn prepare_program(&mut self, id: TxnId) -> bool {
        let txn = &self.machine.flash.txns[id];
        let (plane, writer, request) =
            (txn.plane, self.background.writer_of(txn.owner), txn.hint.request());
        match self.machine.ftl.prepare_write(plane, writer, request) {
            Some(ppn) => {
                if let Some(old) = self.machine.ftl.map.prefetch_overwrite(txn.lpn) {
                    self.machine.ftl.blocks.prefetch(self.machine.geometry.block_of(old));
                }
                self.machine.ftl.blocks.prefetch_written(self.machine.geometry.block_of(ppn));
                self.machine.flash.txns.set_page(id, ppn);
                if writer == Writer::Host && self.machine.host.hazards.supersedes() {
                    self.machine.host.hazards.write_starts(id);
                }
                self.machine.choose_program(id);
                if self.machine.geometry.page_in_block(ppn) == PageInBlock(0) {
                    self.background.block_opened(&mut self.machine, id, writer);
                }
                true
            }
            None => {
                debug_assert_eq!(writer, Writer::Host, "the reserve serves every move");
                if self.machine.on_plane_changed(id) {
                    return false;
                }
                self.machine.flash.block_programs(plane, true);
                self.background.collect_full_plane(&mut self.machine, plane);
                false
            }
        }
    }

    /// Joins to `head` the operations that the other planes of its die can perform at the same
    /// time: the same operation at the same page offset.
    #[inline(never)]
    fn form_multi_plane(&mut self, head: TxnId, queue: u8) {
        let first = &self.machine.flash.txns[head];
        let (kind, own, offset) =
            (first.kind, first.plane, self.machine.geometry.page_in_block(first.ppn));
        let die = self.machine.geometry.die_of(own).0;
        for plane in (die * self.machine.geometry.planes..(die + 1) * self.machine.geometry.planes)
            .map(PlaneId)
        {
            let id = self.machine.flash.queues[plane].head(queue);
            if plane == own
                || !id.is_some()
                || self.machine.flash.txns[id].kind != kind
                || !self.can_join(id, plane)
            {
                continue;
            }
            let fits = kind == OpKind::Erase
                || self.background.offset_of(&self.machine, id, plane) == Some(offset);
            if fits && self.prepare(id) {
                self.machine.flash.pop(plane, queue);
                self.machine.flash.txns.join(head, id);
            }
        }
    }

    /// Returns whether the first operation of a plane's queue can still run as it was enqueued.
    fn can_join(&mut self, id: TxnId, plane: PlaneId) -> bool {
        let txn = &self.machine.flash.txns[id];
        match (txn.kind, txn.owner) {
            (OpKind::Read, Owner::Job(_) | Owner::Move { .. }) => self.machine.is_valid(id),
            (OpKind::Read, _) => self.machine.locate(id) == Some(plane),
            (OpKind::Erase, _) => self.machine.flash.may_start(id),
            _ => true,
        }
    }

    /// Offers new groups and planes to the scheduler.
    #[inline]
    fn offer(&mut self) {
        if self.translation.dispatch.has_to_offer() {
            self.offer_all();
        }
    }

    #[inline(never)]
    fn offer_all(&mut self) {
        self.translation.dispatch.offer_entered(&mut self.machine);
        // Groups that waited for the end of a job are dispatched before the next job begins.
        while let Some(plane) = self.translation.dispatch.offer_ended(&mut self.machine) {
            self.background.next_job(&mut self.machine, plane);
        }
    }
}
