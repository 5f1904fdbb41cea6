//! An operation ended: the books are brought up to date, whoever asked for it goes on or ends, and those that
//! waited for its page begin.

use ssdlab_base::SimTime;
use ssdlab_nand::{Level, Lpn};

use super::Drive;
use super::routing::Step;
use super::watch::watch;
use crate::account::{Cause, OpKind, Part, Priority, RequestAttrs};
use crate::flash::{Event as FlashEvent, Owner, Room, TxnId, UnitId};
use crate::ftl::Entry;
use crate::host::{Active, Completion};
use crate::policy::event::{Event, EventMask};
use crate::policy::suspend::FailedReadsView;

impl Drive {
    /// Handles the events of the flash.
    #[inline(always)]
    pub(super) fn handle_flash_events(&mut self) {
        let mut events = self.flash.take_events();
        for event in events.drain(..) {
            match event {
                FlashEvent::Done(id) => self.done(id),
                FlashEvent::Failed(unit) if self.may_preempt_read(unit) => {
                    self.flash.set_reads_aside(unit, self.now);
                }
                FlashEvent::Failed(unit) => self.try_again(unit),
                FlashEvent::Sensed(unit) => {
                    self.for_held(unit, |drive, id| {
                        drive.flash.txns[id].level_ahead = drive.next_level(id);
                    });
                    self.flash.sense_ahead(unit, self.now);
                }
                FlashEvent::Again(id) => self.flash.enqueue_again(id, self.now),
                FlashEvent::Began(unit) => {
                    if let Some((plane, read)) = self.flash.waiting_read(unit) {
                        let RequestAttrs { priority, .. } = self.attrs(self.flash.txns[read].owner);
                        self.ask_to_suspend(plane, priority);
                    }
                }
            }
        }
        self.flash.recycle_events(events);
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
            Owner::Job(plane) => self.continue_job(id, plane),
            Owner::Move { from, erases } => self.continue_move(id, from, erases),
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

    /// A read of a page that was never written ends without the flash.
    #[inline(never)]
    fn end_of_unmapped(&mut self, id: TxnId) {
        self.stats.unmapped_reads += 1;
        self.end_of_read(id);
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
            self.policies.publish(&Event::PageInvalidated { lpn, block: old });
            self.leaves(lpn, self.geometry.plane_of(old), plane);
        }
    }

    /// A write's page was read: now it is programmed with what it already held.
    #[inline(never)]
    pub(super) fn write_after_read(&mut self, id: TxnId) {
        let txn = &mut self.flash.txns[id];
        watch!(self, merges(id, txn.mask));
        txn.read_first = false;
        txn.kind = OpKind::Program;
        if txn.cause == Cause::Rmw {
            txn.cause = Cause::Host;
        }
        txn.mask |= self.ftl.map.sectors(txn.lpn).unwrap_or(self.geometry.page_mask());
        txn.sectors = txn.mask.count_ones() as u16;
        // What failed while reading no longer explains what comes.
        txn.failed = 0;
        txn.level = Level::FIRST;
        txn.age = None;
        let plane = self.plane_for_write(id);
        self.send(id, plane);
    }

    /// A trim's turn has come for one page.
    #[inline(never)]
    pub(super) fn unmap(&mut self, id: TxnId) {
        let lpn = self.flash.txns[id].lpn;
        let old = self.ftl.trim(lpn);
        // Who waited for the trim is placed as after it.
        self.policies.publish(&Event::PageTrimmed(lpn));
        self.entry_changed(lpn);
        self.end_of_operation(id);
        self.release(lpn, true);
        if let Some(block) = old {
            self.policies.publish(&Event::PageInvalidated { lpn, block });
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

    /// Ends a page operation that has nothing to do on the flash.
    #[inline(always)]
    pub(super) fn finish(&mut self, id: TxnId, step: Step) {
        match step {
            Step::UnderWay => {}
            Step::Unmapped => self.end_of_unmapped(id),
            Step::Trims => self.unmap(id),
        }
    }

    /// Ends a page operation's hold on its page and sends on those that waited for it.
    #[inline(always)]
    pub(super) fn release(&mut self, lpn: Lpn, changes: bool) {
        if !self.host.hazards.release(&mut self.flash.txns, lpn, changes) {
            // One that was sent on has ended at once; the loop below, further out, sees to these.
            return;
        }
        let mut next = 0;
        while let Some(id) = self.host.hazards.ready(next) {
            next += 1;
            self.flash.txns[id].charge(Part::Page, self.now);
            self.flash.txns[id].was_held_up = true;
            let step = self.translate(id);
            self.finish(id, step);
        }
        self.host.hazards.none_ready();
    }

    /// A request's last page operation has ended; where its time went is where that of this one did.
    pub(super) fn end_of_request(&mut self, slot: u32, last: TxnId) {
        let blame = &self.flash.txns[last].blame;
        let Active { request, counted, page_type, .. } = &self.host[slot];
        self.stats.digest(request.tag, self.now);
        if *counted {
            self.stats.record(request, self.now, blame);
            if let Some(slowest) = page_type {
                self.stats.page_types.slowest_page_type[slowest.index()] += 1;
            }
        }
        watch!(self, ended(slot, request, self.now, blame));
        self.policies.publish(&Event::RequestEnded {
            op: request.op,
            priority: Priority::of_queue(request.queue),
            latency: SimTime::from_ns(self.now) - request.arrival,
        });
        debug_assert_eq!(
            blame.iter().sum::<u64>(),
            self.now - request.arrival.as_ns(),
            "the parts of a latency sum to it"
        );
        self.host.completions.push(Completion {
            tag: request.tag,
            arrival: request.arrival,
            end: SimTime::from_ns(self.now),
            queue: request.queue,
            op: request.op,
        });
        self.host.remove(slot);
    }

    /// A request ends that no page operation was waited for: until it began it was in its queue, and then
    /// waited for the buffer.
    #[cold]
    pub(super) fn end_of_no_operation(&mut self, slot: u32, began: u64) {
        let id = self.flash.txns.insert(self.host[slot].request.arrival.as_ns());
        self.flash.txns[id].charge(Part::HostQueue, began);
        self.flash.txns[id].charge(Part::Buffer, self.now);
        self.end_of_request(slot, id);
        self.flash.txns.remove(id);
    }

    /// An operation on a translation page has ended.
    pub(super) fn map_operation_ended(&mut self, page: u32, kind: OpKind, in_part: bool) {
        let mapping = self.mapping.as_mut().expect("a map that is held in part");
        if kind == OpKind::Program {
            if in_part && mapping.cache.paid(page) {
                self.change_on_flash(page);
            }
            return;
        }
        mapping.cache.loaded(page);
        let (first, count) = mapping.cache.entries_of(page);
        self.policies.publish(&Event::EntriesLoaded { first, count });
        let slot = mapping.cache.slot_of(page).expect("it has come");
        let mut waiting = std::mem::take(&mut mapping.waiting[slot]);
        while let Some(id) = waiting.pop(&self.flash.txns) {
            self.waited_for_entry(id);
            let step = self.continue_with_entry(id);
            self.finish(id, step);
        }
        // One of those that could not even begin to load.
        while let Some(mapping) = self.mapping.as_mut().filter(|mapping| mapping.cache.has_room()) {
            let Some(id) = mapping.starved.pop(&self.flash.txns) else { break };
            match mapping.cache.look_up(self.flash.txns[id].lpn) {
                Entry::Here => {
                    self.waited_for_entry(id);
                    let step = self.continue_with_entry(id);
                    self.finish(id, step);
                }
                _ => self.load_for(id),
            }
        }
    }

    fn waited_for_entry(&mut self, id: TxnId) {
        let txn = &mut self.flash.txns[id];
        txn.charge(Part::Map, self.now);
        txn.was_held_up = true;
    }

    /// An operation has moved its page into or out of the buffer.
    #[inline(never)]
    pub(super) fn buffer_fires(&mut self) {
        let id = self.the_buffer().take_moved();
        let txn = &mut self.flash.txns[id];
        txn.charge(Part::Buffer, self.now);
        let (kind, lpn) = (txn.kind, txn.lpn);
        self.end_of_operation(id);
        if kind == OpKind::Program {
            for program in self.the_buffer().has_come(lpn, id) {
                self.flash.txns[program].charge(Part::Buffer, self.now);
                let step = self.translate(program);
                debug_assert_eq!(step, Step::UnderWay, "a program goes to the flash");
            }
        }
    }

    /// A page that left the buffer has been programmed.
    pub(super) fn page_has_left(&mut self, room: Room, number: u64) {
        let now = SimTime::from_ns(self.now);
        let over = self.the_buffer().departed(number);
        let write = match room {
            Room::None => None,
            Room::Ahead => self.the_buffer().left_ahead(),
            Room::For(write) => Some(write),
        };
        if let Some(write) = write {
            let lpn = self.flash.txns[write].lpn;
            self.the_buffer().gets_room(now, lpn, write);
        }
        for slot in over {
            self.end_of_flush_wait(slot);
        }
    }

    /// All that was leaving when a flush came has been programmed.
    fn end_of_flush_wait(&mut self, slot: u32) {
        if self.host.part_ended(slot) {
            self.end_of_no_operation(slot, self.host[slot].transferred_in);
        }
    }
}
