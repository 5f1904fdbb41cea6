//! A free array unit gets its next work.

use ssdlab_nand::{PageInBlock, PlaneId};

use super::Drive;
use super::watch::watch;
use crate::account::{OpKind, RequestAttrs};
use crate::flash::{Next, Owner, Txn, TxnId, UnitId};
use crate::ftl::Writer;
use crate::policy::allocation::BlockClass;
use crate::policy::event::{BlockOpened, Event, EventMask};
use crate::policy::program_mode::ProgramModeView;

impl Drive {
    /// Gives work to every unit that is free and has some.
    #[inline]
    pub(super) fn serve_idle(&mut self) {
        loop {
            self.offer();
            while let Some(unit) = self.flash.take_idle() {
                self.ask_order_for(unit);
                if self.flash.has_to_do(unit) {
                    self.serve(unit);
                }
                self.ask_order_for(unit);
            }
            if self.has_to_offer() {
                continue;
            }
            if !self.flash.has_events() {
                return;
            }
            // What was begun may have to be set aside at once.
            self.handle_started();
        }
    }

    /// As [`Drive::handle_flash_events`], which is a part of the event loop: here the flash seldom has an event.
    #[inline(never)]
    fn handle_started(&mut self) {
        self.handle_flash_events();
    }

    #[inline(always)]
    fn serve(&mut self, unit: UnitId) {
        loop {
            match self.flash.next_of(unit) {
                Next::Rest => return,
                Next::Resume => return self.flash.resume(unit, self.now),
                Next::TakeUp => {
                    self.flash.take_up(unit, self.now);
                    return self.try_again(unit);
                }
                Next::Serve(plane, lane) => {
                    let head = self.flash.head(plane, lane);
                    if !self.prepare(head) {
                        // Others may go where this one cannot.
                        self.ask_order_for(unit);
                        continue;
                    }
                    self.flash.pop(plane, lane);
                    if self.flash.is_multi_plane() && self.flash.is_awaited(unit) {
                        self.form_multi_plane(head, lane);
                    }
                    return self.flash.start(unit, head, self.now);
                }
            }
        }
    }

    /// Gives the first of a lane its physical page; false if it is no longer the first there, or
    /// must wait, so that the unit has to look again.
    #[inline(always)]
    fn prepare(&mut self, id: TxnId) -> bool {
        if matches!(self.flash.txns[id].owner, Owner::Move { .. }) && !self.may_move(id) {
            return false;
        }
        let prepared = match self.flash.txns[id].kind {
            OpKind::Read => self.prepare_read(id),
            OpKind::Program => self.prepare_program(id),
            OpKind::Erase => true,
        };
        if prepared {
            watch!(self, prepared(id, &self.flash.txns[id], &self.ftl));
        }
        prepared
    }

    /// Looks up once more where a page lies: it may have moved while the read waited.
    #[inline(always)]
    fn prepare_read(&mut self, id: TxnId) -> bool {
        let Txn { plane, owner, .. } = self.flash.txns[id];
        match owner {
            Owner::Job(_) if !self.job_may_read(id) => return false,
            Owner::Job(_) | Owner::Move { .. } => {}
            _ => {
                let lies_on = self.locate(id);
                let lies_on = lies_on.expect("a page with an operation under way is mapped");
                if lies_on != plane {
                    self.follow(id, lies_on);
                    return false;
                }
            }
        }
        self.set_level(id);
        true
    }

    /// Whether a job may read its page; if that was overwritten meanwhile, the job goes on with the next one.
    #[inline(never)]
    fn job_may_read(&mut self, id: TxnId) -> bool {
        let Txn { plane, lane, lpn, ppn, .. } = self.flash.txns[id];
        let valid = self.ftl.map.valid(ppn) == Some(lpn);
        if !valid {
            self.flash.pop(plane, lane);
            self.next_of_job(id, plane);
        }
        valid
    }

    /// A read, the first of its lane, goes to the plane to which its page has moved.
    #[cold]
    fn follow(&mut self, id: TxnId, plane: PlaneId) {
        assert!(
            self.background.moves.is_some(),
            "a page with an operation under way stays where it is"
        );
        let txn = &self.flash.txns[id];
        let RequestAttrs { priority, .. } = self.attrs(txn.owner);
        self.flash.pop(txn.plane, txn.lane);
        self.flash.wait_ends(id, self.now);
        self.flash.txns[id].plane = plane;
        self.flash.enqueue_again(id, self.now);
        self.ask_to_suspend(plane, priority);
    }

    #[inline(always)]
    fn prepare_program(&mut self, id: TxnId) -> bool {
        let txn = &self.flash.txns[id];
        let (plane, writer, pick) = (txn.plane, self.writer_of(txn.owner), txn.hint.pick());
        match self.ftl.prepare_write(plane, writer, pick) {
            Some(ppn) => {
                if let Some(old) = self.ftl.map.expect_overwrite(txn.lpn) {
                    self.ftl.blocks.expect(self.geometry.block_of(old));
                }
                self.ftl.blocks.expect_written(self.geometry.block_of(ppn));
                self.flash.txns[id].ppn = ppn;
                self.choose_program(id);
                if self.geometry.page_in_block(ppn) == PageInBlock(0) {
                    self.block_opened(id, writer);
                }
                true
            }
            None => {
                debug_assert_eq!(writer, Writer::Host, "the reserve serves every move");
                if self.on_plane_changed(id) {
                    return false;
                }
                self.flash.block_programs(plane, true);
                self.collect_full_plane(plane);
                false
            }
        }
    }

    /// A block was opened for this page: its subpool may run short.
    #[inline]
    fn block_opened(&mut self, id: TxnId, writer: Writer) {
        if self.policies.wants.has(EventMask::BLOCK_OPENED) {
            let txn = &self.flash.txns[id];
            let block = self.geometry.block_of(txn.ppn);
            let stream = self.resolved.config.streams().of(txn.hint.stream);
            self.policies.publish(&Event::BlockOpened(&BlockOpened { block, writer, stream }));
        }
        if self.policies.wants.has(EventMask::LOW_SPACE) {
            self.publish_low_space(self.flash.txns[id].plane);
        }
        self.start_drive_wide_jobs();
    }

    /// A write found no room on a plane, nor under dynamic allocation on any: the background policies may want
    /// something where it could go.
    fn collect_full_plane(&mut self, plane: PlaneId) {
        if self.planes.is_dynamic() {
            (0..self.geometry.plane_count()).for_each(|p| self.plane_changed(PlaneId(p)))
        } else {
            self.plane_changed(plane);
        }
    }

    /// Asks how the page that a transaction was given is programmed, and counts what it was given.
    #[inline(always)]
    fn choose_program(&mut self, id: TxnId) {
        let txn = &mut self.flash.txns[id];
        let block = self.geometry.block_of(txn.ppn);
        let class = self.ftl.blocks.class(block);
        if let Some(streams) = &mut self.history.streams {
            streams.programmed(txn.ppn, &self.geometry, txn.hint.stream, txn.cause);
        }
        let view = ProgramModeView { cause: txn.cause, class, hotness: txn.hint.hotness };
        let mut hint = txn.hint;
        for link in &mut self.policies.program_mode {
            link.fill(&view, &mut hint);
        }
        if !matches!(txn.owner, Owner::Job(_) | Owner::Move { .. } | Owner::Map { .. }) {
            self.stats.granted(hint.pick().class, class);
            let page_type = self.ftl.page_type(txn.ppn);
            self.stats.typed(hint.page_type, page_type);
            if let Owner::Request(slot) = txn.owner {
                let slowest = &mut self.host[slot].page_type;
                *slowest = (*slowest).max(Some(page_type));
            }
            if self.hold.is_some() {
                let class = hint.quality.unwrap_or(BlockClass::BEST);
                let (plane, arrival) = (txn.plane, txn.began());
                self.policies.publish(&Event::PageAllocated { plane, class, arrival });
            }
        }
        txn.hint = hint;
    }

    /// Under dynamic allocation a write, the first of its lane, leaves a plane that has filled up
    /// since it was chosen; false if no other has room either.
    #[inline(never)]
    fn on_plane_changed(&mut self, id: TxnId) -> bool {
        if !self.planes.is_dynamic() {
            return false;
        }
        let other = self.plane_for_write(id);
        if self.ftl.is_full(other, self.flash.txns[id].hint.pick().class) {
            return false;
        }
        let txn = &self.flash.txns[id];
        if self.hold.is_some() && !matches!(txn.owner, Owner::Map { .. }) {
            let (from, to, arrival) = (txn.plane, other, txn.began());
            self.policies.publish(&Event::PlaneChanged { from, to, arrival });
        }
        self.flash.pop(txn.plane, txn.lane);
        self.flash.wait_ends(id, self.now);
        self.enqueue_host(id, other);
        true
    }

    /// Who writes for this owner.
    #[inline]
    fn writer_of(&self, owner: Owner) -> Writer {
        match owner {
            Owner::Job(plane) => self.background.jobs.writer(plane),
            Owner::Move { .. } => Writer::Gc,
            Owner::Request(_) | Owner::Buffer { .. } | Owner::Map { .. } => Writer::Host,
        }
    }

    /// Joins to `head` what the other planes of its die can do at the same time: the same operation
    /// at the same page offset.
    #[inline(never)]
    fn form_multi_plane(&mut self, head: TxnId, lane: u8) {
        let first = &self.flash.txns[head];
        let (kind, own, offset) = (first.kind, first.plane, self.geometry.page_in_block(first.ppn));
        let die = self.geometry.die_of(own).0;
        for plane in (die * self.geometry.planes..(die + 1) * self.geometry.planes).map(PlaneId) {
            let id = self.flash.head(plane, lane);
            if plane == own
                || !id.is_some()
                || self.flash.txns[id].kind != kind
                || !self.can_join(id, plane)
            {
                continue;
            }
            let fits = kind == OpKind::Erase || self.offset_of(id, plane) == Some(offset);
            if fits && self.prepare(id) {
                self.flash.pop(plane, lane);
                self.flash.join(head, id);
            }
        }
    }

    /// The place in its block of the page that a transaction reads or would program.
    fn offset_of(&self, id: TxnId, plane: PlaneId) -> Option<PageInBlock> {
        let txn = &self.flash.txns[id];
        match txn.kind {
            OpKind::Program => {
                self.ftl.next_page(plane, self.writer_of(txn.owner), txn.hint.pick())
            }
            _ => Some(self.geometry.page_in_block(txn.ppn)),
        }
    }

    /// Whether the first of a plane's lane is still what it was enqueued as.
    fn can_join(&mut self, id: TxnId, plane: PlaneId) -> bool {
        let txn = &self.flash.txns[id];
        match (txn.kind, txn.owner) {
            (OpKind::Read, Owner::Job(_) | Owner::Move { .. }) => {
                self.ftl.map.valid(txn.ppn) == Some(txn.lpn)
            }
            (OpKind::Read, _) => self.locate(id) == Some(plane),
            (OpKind::Erase, _) => self.flash.may_start(id),
            _ => true,
        }
    }

    /// Offers what has come to the scheduler.
    #[inline]
    fn offer(&mut self) {
        if self.has_to_offer() {
            self.offer_all();
        }
    }

    #[inline(never)]
    fn offer_all(&mut self) {
        self.offer_entered();
        // Who waited for the end of a job goes before the next one begins.
        while let Some(plane) = self.take_ended() {
            self.ask_order(plane);
            self.next_job(plane);
        }
    }
}
