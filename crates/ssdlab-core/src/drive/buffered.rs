//! The way of a page operation through the page buffer.

use ssdlab_base::SimTime;
use ssdlab_nand::Lpn;

use super::Drive;
use super::routing::Step;
use super::watch::watch;
use crate::account::{Cause, OpKind, RequestAttrs};
use crate::buffer::{Buffer, Slot, Vacancy};
use crate::flash::{Owner, Room, TxnId};
use crate::metadata::page_hotness::Hotness;
use crate::policy::event::Event;

/// What the drive does only if it has a buffer.
const HAS_BUFFER: &str = "a drive with a buffer";

/// How a page left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// With nothing to program: its slot is free.
    Clean,
    /// It is programmed.
    Dirty,
    /// A flush programs it: the departure of this number.
    Flushing(u64),
}

impl Drive {
    pub(super) fn the_buffer(&mut self) -> &mut Buffer {
        self.buffer.as_mut().expect(HAS_BUFFER)
    }

    /// A page operation of a host request comes to the buffer.
    #[inline(never)]
    pub(super) fn enter_buffer(&mut self, id: TxnId) -> Step {
        match self.flash.txns[id].kind {
            OpKind::Read => self.read_through_buffer(id),
            _ => {
                self.write_to_buffer(id);
                Step::UnderWay
            }
        }
    }

    fn read_through_buffer(&mut self, id: TxnId) -> Step {
        let (lpn, mask) = (self.flash.txns[id].lpn, self.flash.txns[id].mask);
        let now = SimTime::from_ns(self.now);
        let buffer = self.the_buffer();
        if let Some(slot) = buffer.find(lpn) {
            let page = buffer.page(slot);
            page.uses.count(false);
            let present = page.present;
            self.policies.publish(&Event::BufferHit { lpn, slot, written: false });
            if present & mask == mask {
                self.the_buffer().begin_move(now, id);
                watch!(self, hits(id, &self.flash.txns[id]));
                self.stats.buffer.read_hits += 1;
                return Step::UnderWay;
            }
            watch!(self, overlaid(id, &self.flash.txns[id], present));
        }
        self.stats.buffer.read_misses += 1;
        self.acquire(id)
    }

    fn write_to_buffer(&mut self, id: TxnId) {
        let (lpn, mask) = (self.flash.txns[id].lpn, self.flash.txns[id].mask);
        watch!(self, buffered(id, &self.flash.txns[id]));
        let now = SimTime::from_ns(self.now);
        let attrs = self.attrs(self.flash.txns[id].owner);
        if let Some(slot) = self.the_buffer().find(lpn) {
            self.the_buffer().page(slot).write(id, mask, attrs);
            self.stats.buffer.write_hits += 1;
            self.policies.publish(&Event::BufferHit { lpn, slot, written: true });
            return self.the_buffer().begin_move(now, id);
        }
        self.stats.buffer.write_misses += 1;
        let must_wait = match self.the_buffer().room() {
            Vacancy::Now => false,
            Vacancy::Coming => {
                self.the_buffer().promise_room(id);
                true
            }
            Vacancy::None => self.make_room(Room::For(id)) != Left::Clean,
        };
        let mut page = Slot::written(lpn, id, mask, attrs);
        page.waits = must_wait;
        let slot = self.the_buffer().insert(page);
        self.policies.publish(&Event::PageBuffered { lpn, slot, written: true });
        if !must_wait {
            self.the_buffer().begin_move(now, id);
        }
        self.make_room_ahead();
    }

    /// Lets pages leave until as many slots are free, or will be, as the buffer keeps free.
    fn make_room_ahead(&mut self) {
        while self.the_buffer().is_short_of_room() {
            if self.make_room(Room::Ahead) != Left::Clean {
                self.the_buffer().leaves_ahead();
            }
        }
    }

    /// Lets the page leave whose turn it is.
    fn make_room(&mut self, room: Room) -> Left {
        let full = self.the_buffer().is_full();
        let slot =
            self.policies.eviction.victim().expect("a buffer without room has a page to give");
        let mut page = self.the_buffer().remove(slot);
        self.policies.publish(&Event::PageUnbuffered { lpn: page.lpn, slot });
        self.publish_evicted(&page);
        if page.dirty == 0 && self.is_rewritten(&page) {
            self.stats.rewritten += 1;
            page.dirty = page.present;
            self.program_page(page, room, full, Cause::Migration);
            watch!(self, forgets(page.lpn));
            return Left::Dirty;
        }
        if page.dirty == 0 {
            self.stats.buffer.evicted_clean += 1;
            watch!(self, forgets(page.lpn));
            let Some(number) = page.flushing else { return Left::Clean };
            self.gives_room(number, room);
            return Left::Flushing(number);
        }
        self.stats.buffer.evicted_dirty += 1;
        self.program_page(page, room, full, Cause::Host);
        watch!(self, forgets(page.lpn));
        Left::Dirty
    }

    /// Whoever this is gets the slot of a page that has left once its flush has programmed it.
    fn gives_room(&mut self, number: u64, room: Room) {
        let program = self.the_buffer().departures.program(number);
        self.flash.txns[program].owner = Owner::Buffer { room, number };
    }

    /// A page that a flush still programs has left, and nobody waits for its slot.
    fn leaves_ahead(&mut self, number: u64) {
        self.gives_room(number, Room::Ahead);
        self.the_buffer().leaves_ahead();
    }

    /// Programs what was written of a page, once it is in the buffer, which was full or not before it
    /// left; its departure's number. It is placed as the write that waits for it would be or, if none
    /// does, as the one that wrote it last.
    fn program_page(&mut self, page: Slot, room: Room, full: bool, cause: Cause) -> u64 {
        let id = self.flash.txns.insert(self.now);
        let number = self.the_buffer().departures.begin(page.lpn, id, page.arriving);
        self.flash.comes(id);
        let txn = &mut self.flash.txns[id];
        txn.lpn = page.lpn;
        let owner = Owner::Buffer { room, number };
        txn.owner = owner;
        txn.kind = OpKind::Program;
        txn.cause = cause;
        txn.mask = page.dirty;
        txn.sectors = page.dirty.count_ones() as u16;
        let waits = self.attrs(owner);
        let attrs = match (room, page.written) {
            (Room::For(_), _) | (_, None) => waits,
            (_, Some(written)) => RequestAttrs { priority: waits.priority, ..written },
        };
        let used = self.hotness_of(page.lpn);
        self.flash.txns[id].hint = self.hint_of(attrs, cause, full, used);
        watch!(self, leaves(id, &self.flash.txns[id]));
        let step = self.acquire(id);
        debug_assert_eq!(step, Step::UnderWay, "a program goes to the flash");
        number
    }

    /// A page was read from the flash: it stays in the buffer if such pages do.
    #[inline(never)]
    pub(super) fn buffer_read(&mut self, id: TxnId) {
        let (lpn, mask) = (self.flash.txns[id].lpn, self.flash.txns[id].mask);
        // Newer data that waits for its turn must not be hidden by what was read.
        if !self.the_buffer().keeps_reads() || self.host.hazards.is_awaited(lpn) {
            return;
        }
        if let Some(slot) = self.the_buffer().find(lpn) {
            let page = self.the_buffer().page(slot);
            let new = mask & !page.present;
            page.present |= mask;
            // It came after the page was asked for that it takes.
            page.uses.count(false);
            watch!(self, keeps(id, &self.flash.txns[id], new));
            return;
        }
        match self.the_buffer().room() {
            Vacancy::Now => {}
            // Writes have a claim to what is being cleared.
            Vacancy::Coming => return,
            Vacancy::None => {
                if let Left::Flushing(number) = self.make_room(Room::None) {
                    return self.leaves_ahead(number);
                }
            }
        }
        watch!(self, keeps(id, &self.flash.txns[id], mask));
        let slot = self.the_buffer().insert(Slot::read(lpn, mask));
        self.policies.publish(&Event::PageBuffered { lpn, slot, written: false });
        self.make_room_ahead();
    }

    /// Forgets what the buffer holds of a page that is trimmed.
    pub(super) fn drop_buffered(&mut self, lpn: Lpn) {
        let Some(buffer) = self.buffer.as_mut() else { return };
        let Some(slot) = buffer.find(lpn) else { return };
        let page = buffer.remove(slot);
        self.policies.publish(&Event::PageUnbuffered { lpn, slot });
        watch!(self, forgets(lpn));
        if let Some(number) = page.flushing {
            self.leaves_ahead(number);
        }
    }

    /// Programs everything in the buffer that is not on the flash; the flush ends when that and
    /// all that was leaving already has ended.
    #[inline(never)]
    pub(super) fn flush(&mut self, slot: u32) {
        let Some(buffer) = self.buffer.as_mut() else { return };
        let dirty = buffer.pages().filter(|(_, page)| page.dirty != 0);
        let dirty: Vec<(u32, Slot)> = dirty.map(|(at, page)| (at, *page)).collect();
        let full = self.the_buffer().is_full();
        for (at, page) in dirty {
            self.publish_evicted(&page);
            let number = self.program_page(page, Room::None, full, Cause::Host);
            let page = self.the_buffer().page(at);
            page.dirty = 0;
            page.flushing = Some(number);
        }
        self.policies.publish(&Event::BufferFlushed);
        let waits = self.the_buffer().departures.wait_for_all(slot);
        self.host[slot].remaining += u32::from(waits);
    }

    /// Whether a page that leaves the buffer unwritten is programmed once more: it is mostly read, and was
    /// not programmed as such pages are.
    pub(super) fn is_rewritten(&mut self, page: &Slot) -> bool {
        let whole = page.present.count_ones() == self.geometry.sectors_per_page();
        let Some(hot) =
            self.policies.metadata.page_hotness.as_ref().filter(|hot| hot.rewrites() && whole)
        else {
            return false;
        };
        if hot.of(page.lpn) != Hotness::Read || page.flushing.is_some() {
            return false;
        }
        let (ppn, was) = match self.ftl.map.get(page.lpn) {
            Some(ppn) => (ppn, self.flash.cells.program_mode(ppn)),
            None if self.counts_as_preloaded(page.lpn) => {
                let (ppn, ..) = self.preloaded_at(page.lpn);
                (ppn, self.program_mode_of_unwritten(page.lpn, ppn))
            }
            None => return false,
        };
        self.program_mode_for(Some(Hotness::Read), ppn, Cause::Migration) != was
    }
}
