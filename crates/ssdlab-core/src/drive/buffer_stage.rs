//! Passes page operations through the page buffer.

use ssdlab_nand::Lpn;

use super::machine::Machine;
use super::translation::{Step, Translation};
use crate::account::{Cause, OpKind, RequestAttrs};
use crate::audit::audit_event;
use crate::buffer::{Buffer, Slot, Vacancy};
use crate::config::Resolved;
use crate::flash::{NewTxn, Owner, Room, TxnId};
use crate::policy::event::Event;

/// The panic text of code that only runs on a drive with a buffer.
const HAS_BUFFER: &str = "a drive with a buffer";

/// How a page left the buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// It has nothing to program: its slot is free.
    Clean,
    /// The drive programs it.
    Dirty,
    /// A flush programs it, as the departure of this number.
    Flushing(u64),
}

/// The page buffer, if the drive has one. Page operations of the host reach it first.
#[derive(Clone, Debug)]
pub(super) struct BufferStage {
    pub(super) pages: Option<Buffer>,
}

impl BufferStage {
    /// Returns an empty buffer, if the config has one.
    pub(super) fn new(resolved: &Resolved) -> BufferStage {
        BufferStage { pages: Buffer::new(resolved) }
    }

    pub(super) fn the_buffer(&mut self) -> &mut Buffer {
        self.pages.as_mut().expect(HAS_BUFFER)
    }

    /// Passes a page operation of a host request to the buffer.
    #[inline(never)]
    pub(super) fn enter_buffer(
        &mut self,
        machine: &mut Machine,
        translation: &mut Translation,
        id: TxnId,
    ) -> Step {
        match machine.flash.txns[id].kind {
            OpKind::Read => self.read_through_buffer(machine, translation, id),
            _ => {
                self.write_to_buffer(machine, translation, id);
                Step::InProgress
            }
        }
    }

    fn read_through_buffer(
        &mut self,
        machine: &mut Machine,
        translation: &mut Translation,
        id: TxnId,
    ) -> Step {
        let (lpn, mask) = (machine.flash.txns[id].lpn, machine.flash.txns[id].mask);
        let now = machine.now;
        let buffer = self.the_buffer();
        if let Some(slot) = buffer.find(lpn) {
            let page = buffer.page(slot);
            page.uses.count(false);
            let present = page.present;
            machine.publish(&Event::BufferHit { lpn, slot, written: false });
            if present & mask == mask {
                self.the_buffer().begin_move(now, id);
                audit_event!(machine, hits(id, &machine.flash.txns[id]));
                machine.stats.buffer.read_hits += 1;
                return Step::InProgress;
            }
            audit_event!(machine, overlaid(id, &machine.flash.txns[id], present));
        }
        machine.stats.buffer.read_misses += 1;
        translation.acquire(machine, id)
    }

    fn write_to_buffer(&mut self, machine: &mut Machine, translation: &mut Translation, id: TxnId) {
        let (lpn, mask) = (machine.flash.txns[id].lpn, machine.flash.txns[id].mask);
        audit_event!(machine, buffered(id, &machine.flash.txns[id]));
        let now = machine.now;
        let attrs = machine.attrs(machine.flash.txns[id].owner);
        if let Some(slot) = self.the_buffer().find(lpn) {
            self.the_buffer().page(slot).write(id, mask, attrs);
            machine.stats.buffer.write_hits += 1;
            machine.publish(&Event::BufferHit { lpn, slot, written: true });
            return self.the_buffer().begin_move(now, id);
        }
        machine.stats.buffer.write_misses += 1;
        let must_wait = match self.the_buffer().room() {
            Vacancy::Now => false,
            Vacancy::Coming => {
                self.the_buffer().promise_room(id);
                true
            }
            Vacancy::None => self.make_room(machine, translation, Room::For(id)) != Left::Clean,
        };
        let mut page = Slot::written(lpn, id, mask, attrs);
        page.waits = must_wait;
        let slot = self.the_buffer().insert(page);
        machine.publish(&Event::PageBuffered { lpn, slot, written: true });
        if !must_wait {
            self.the_buffer().begin_move(now, id);
        }
        self.make_room_early(machine, translation);
    }

    /// Evicts pages until as many slots are free, or will be, as the buffer keeps free.
    fn make_room_early(&mut self, machine: &mut Machine, translation: &mut Translation) {
        while self.the_buffer().is_short_of_room() {
            if self.make_room(machine, translation, Room::Early) != Left::Clean {
                self.the_buffer().leaves_early();
            }
        }
    }

    /// Evicts the page that the eviction policy chooses.
    fn make_room(
        &mut self,
        machine: &mut Machine,
        translation: &mut Translation,
        room: Room,
    ) -> Left {
        let full = self.the_buffer().is_full();
        let slot = machine.page_to_evict(room).expect("a buffer without room has a page to give");
        let mut page = self.the_buffer().remove(slot);
        machine.publish(&Event::PageUnbuffered { lpn: page.lpn, slot });
        machine.publish_evicted(&page);
        if page.dirty == 0 && machine.is_rewritten(&page) {
            machine.stats.rewritten += 1;
            page.dirty = page.present;
            self.program_page(machine, translation, page, room, full, Cause::Migration);
            audit_event!(machine, forgets(page.lpn));
            return Left::Dirty;
        }
        if page.dirty == 0 {
            machine.stats.buffer.evicted_clean += 1;
            audit_event!(machine, forgets(page.lpn));
            let Some(number) = page.flushing else { return Left::Clean };
            self.reserve_slot_after_flush(machine, number, room);
            return Left::Flushing(number);
        }
        machine.stats.buffer.evicted_dirty += 1;
        self.program_page(machine, translation, page, room, full, Cause::Host);
        audit_event!(machine, forgets(page.lpn));
        Left::Dirty
    }

    /// Reserves for `room` the slot of a page that has left, once its flush has programmed the
    /// page.
    fn reserve_slot_after_flush(&mut self, machine: &mut Machine, number: u64, room: Room) {
        let program = self.the_buffer().departures.program(number);
        machine.flash.txns.change_owner(program, Owner::Buffer { room, number });
    }

    /// Handles the departure of a page that a flush still programs, when no operation waits for its
    /// slot.
    fn leaves_early(&mut self, machine: &mut Machine, number: u64) {
        self.reserve_slot_after_flush(machine, number, Room::Early);
        self.the_buffer().leaves_early();
    }

    /// Programs the dirty sectors of a page, once they are in the buffer. `full` tells whether the
    /// buffer was full before the page left. The page is placed like the write that waits for its
    /// slot. If none waits, it is placed like its last write. Returns the number of the departure.
    fn program_page(
        &mut self,
        machine: &mut Machine,
        translation: &mut Translation,
        page: Slot,
        room: Room,
        full: bool,
        cause: Cause,
    ) -> u64 {
        let number = self.the_buffer().departures.next_number();
        let owner = Owner::Buffer { room, number };
        let (lpn, kind, mask) = (page.lpn, OpKind::Program, page.dirty);
        let id = machine.flash.txns.begin(
            NewTxn { lpn, owner, kind, cause, mask, sectors: mask.count_ones() },
            machine.now,
        );
        self.the_buffer().departures.begin(lpn, id, page.arriving);
        machine.flash.assign_seq(id);
        let waits = machine.attrs(owner);
        let attrs = match (room, page.written) {
            (Room::For(_), _) | (_, None) => waits,
            (_, Some(written)) => RequestAttrs { priority: waits.priority, ..written },
        };
        let used = machine.hotness_of(page.lpn);
        let hint = machine.hint_of(page.lpn, attrs, cause, full, used);
        machine.flash.txns.set_hint(id, hint);
        audit_event!(machine, writes_back(id, &machine.flash.txns[id]));
        if machine.acquire_page(id, page.arriving.is_none()) {
            let step = self.translate(machine, translation, id);
            debug_assert_eq!(step, Step::InProgress, "a program goes to the flash");
        }
        number
    }

    /// Keeps a page that was read from the flash in the buffer, if the buffer keeps such pages.
    #[inline(never)]
    pub(super) fn buffer_read(
        &mut self,
        machine: &mut Machine,
        translation: &mut Translation,
        id: TxnId,
    ) {
        let (lpn, mask) = (machine.flash.txns[id].lpn, machine.flash.txns[id].mask);
        // The old content must not hide newer data that waits for its turn.
        if !self.the_buffer().keeps_reads() || machine.host.hazards.is_awaited(lpn) {
            return;
        }
        if let Some(slot) = self.the_buffer().find(lpn) {
            let page = self.the_buffer().page(slot);
            let new = mask & !page.present;
            page.present |= mask;
            // The read was queued before the page entered the buffer, so it counts now.
            page.uses.count(false);
            audit_event!(machine, keeps(id, &machine.flash.txns[id], new));
            return;
        }
        match self.the_buffer().room() {
            Vacancy::Now => {}
            // Waiting writes have a claim to the slots that become free.
            Vacancy::Coming => return,
            Vacancy::None => {
                if let Left::Flushing(number) = self.make_room(machine, translation, Room::None) {
                    return self.leaves_early(machine, number);
                }
            }
        }
        audit_event!(machine, keeps(id, &machine.flash.txns[id], mask));
        let slot = self.the_buffer().insert(Slot::read(lpn, mask));
        machine.publish(&Event::PageBuffered { lpn, slot, written: false });
        self.make_room_early(machine, translation);
    }

    /// Drops the buffered content of a page that is trimmed.
    pub(super) fn drop_buffered(&mut self, machine: &mut Machine, lpn: Lpn) {
        let Some(buffer) = self.pages.as_mut() else { return };
        let Some(slot) = buffer.find(lpn) else { return };
        let page = buffer.remove(slot);
        machine.publish(&Event::PageUnbuffered { lpn, slot });
        audit_event!(machine, forgets(lpn));
        if let Some(number) = page.flushing {
            self.leaves_early(machine, number);
        }
    }

    /// Programs all dirty pages of the buffer. The flush ends when these and all earlier departures
    /// have ended.
    #[inline(never)]
    pub(super) fn flush(
        &mut self,
        machine: &mut Machine,
        translation: &mut Translation,
        slot: u32,
    ) {
        let Some(buffer) = self.pages.as_mut() else { return };
        let dirty = buffer.pages().filter(|(_, page)| page.dirty != 0);
        let dirty: Vec<(u32, Slot)> = dirty.map(|(at, page)| (at, *page)).collect();
        let full = self.the_buffer().is_full();
        for (at, page) in dirty {
            machine.publish_evicted(&page);
            let number =
                self.program_page(machine, translation, page, Room::None, full, Cause::Host);
            let page = self.the_buffer().page(at);
            page.dirty = 0;
            page.flushing = Some(number);
        }
        machine.publish(&Event::BufferFlushed);
        let waits = self.the_buffer().departures.wait_for_all(slot);
        machine.host[slot].remaining += u32::from(waits);
    }

    /// Sends an operation on to translation. An operation that programs a page of the buffer waits
    /// until the page has been transferred in.
    pub(super) fn translate(
        &mut self,
        machine: &mut Machine,
        translation: &mut Translation,
        id: TxnId,
    ) -> Step {
        if self.is_in_buffer(machine, id) {
            translation.translate(machine, id)
        } else {
            Step::InProgress
        }
    }

    /// Returns whether a write that has its turn on its page may continue. A page that leaves the
    /// buffer before it was transferred in must wait.
    fn is_in_buffer(&mut self, machine: &mut Machine, id: TxnId) -> bool {
        match machine.flash.txns[id].owner {
            Owner::Buffer { number, .. } => {
                self.pages.as_mut().expect("a buffer").departures.may_continue(number)
            }
            _ => true,
        }
    }

    /// Ends the departure of a page that has been programmed.
    pub(super) fn page_has_left(&mut self, machine: &mut Machine, room: Room, number: u64) {
        let now = machine.now;
        let over = self.the_buffer().departed(number);
        let write = match room {
            Room::None => None,
            Room::Early => self.the_buffer().left_early(),
            Room::For(write) => Some(write),
        };
        if let Some(write) = write {
            let lpn = machine.flash.txns[write].lpn;
            self.the_buffer().gets_room(now, lpn, write);
        }
        for slot in over {
            machine.end_of_flush_wait(slot);
        }
    }
}
