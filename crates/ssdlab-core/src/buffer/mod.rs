//! The page buffer in the drive's DRAM: a write-back buffer of a fixed number of pages.
//!
//! The buffer records its pages and which of their sectors it holds. ⟨eviction⟩ selects the page
//! that leaves a full buffer. A leaving page with written sectors is programmed. The request that
//! takes its slot waits for that program, so a slow flash slows its writers. A buffer that keeps
//! slots free lets pages leave ahead of need. Then writes wait only if they are faster than the
//! flash.
//!
//! A page keeps its slot until its program has ended, even if a flush started the program and the
//! page has left since. No page is programmed before its data has moved in.

mod departures;

use std::collections::VecDeque;

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::Lpn;

use crate::account::{RequestAttrs, Uses};
use crate::config::Resolved;
use crate::flash::TxnId;
pub(crate) use departures::Departures;

/// A page in the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The logical page.
    pub lpn: Lpn,
    /// The sectors that are in the buffer, a bit each.
    pub present: u64,
    /// The written sectors that no program in progress carries to the flash, a bit each.
    pub dirty: u64,
    /// The last write that still moves into the slot; `None` when all have moved in.
    pub arriving: Option<TxnId>,
    /// Whether that write waits for the slot.
    pub waits: bool,
    /// The departure by which a flush programs the page, until that departure has ended.
    pub flushing: Option<u64>,
    /// The attributes of the request that wrote the page last.
    pub written: Option<RequestAttrs>,
    /// How often requests used the page since it entered the buffer.
    pub uses: Uses,
}

impl Slot {
    /// Returns the slot content for a page that was read.
    pub(crate) fn read(lpn: Lpn, present: u64) -> Slot {
        Slot {
            lpn,
            present,
            dirty: 0,
            arriving: None,
            waits: false,
            flushing: None,
            written: None,
            uses: Uses { reads: 1, writes: 0 },
        }
    }

    /// Returns the slot content for a page that is written for the first time.
    pub(crate) fn written(lpn: Lpn, write: TxnId, sectors: u64, by: RequestAttrs) -> Slot {
        let mut page = Slot { uses: Uses::default(), ..Slot::read(lpn, 0) };
        page.write(write, sectors, by);
        page
    }

    /// Records a write of these sectors by a request.
    pub(crate) fn write(&mut self, write: TxnId, sectors: u64, by: RequestAttrs) {
        self.written = Some(by);
        self.uses.count(true);
        self.present |= sectors;
        self.dirty |= sectors;
        // A write that waits for the slot moves in after this one.
        if !self.waits {
            self.arriving = Some(write);
        }
    }
}

/// Whether the buffer has room for one more page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vacancy {
    /// A slot is free.
    Now,
    /// A page that leaves ahead of need still occupies the slot.
    Coming,
    /// No slot is free or becomes free by itself.
    None,
}

/// The pages in the buffer, and the operations that move pages in or out.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// The slot of each logical page, plus one; 0 for none.
    slot_of: Vec<u32>,
    latency: Nanos,
    keeps_reads: bool,
    /// Slots to keep free, those of pages that leave ahead of need included.
    keep_free: u32,
    /// Free slots that pages leaving ahead of need still occupy, and that no write was promised.
    leaving_early: u32,
    /// Writes with promised slots, in the order in which they get them.
    promised: VecDeque<TxnId>,
    /// Operations that end with a move into or out of the buffer, in the order of their ends.
    moving: VecDeque<(SimTime, TxnId)>,
    /// Departures of pages whose programs have not ended.
    pub departures: Departures,
}

impl Buffer {
    /// Creates the buffer of a drive, if the drive has one.
    pub(crate) fn new(resolved: &Resolved) -> Option<Buffer> {
        let pages = resolved.buffer_pages;
        (pages > 0).then(|| Buffer {
            slots: vec![Slot::read(Lpn(0), 0); pages as usize],
            free: (0..pages).rev().collect(),
            slot_of: vec![0; resolved.logical_pages as usize],
            latency: resolved.buffer_latency,
            keeps_reads: resolved.buffer_reads,
            keep_free: resolved.buffer_keep_free,
            leaving_early: 0,
            promised: VecDeque::new(),
            moving: VecDeque::new(),
            departures: Departures::default(),
        })
    }

    /// Returns the time at which the next move ends.
    pub(crate) fn next_event(&self) -> SimTime {
        self.moving.front().map_or(SimTime::NEVER, |&(end, _)| end)
    }

    /// Takes the operation whose move ends at [`Buffer::next_event`].
    pub(crate) fn take_moved(&mut self) -> TxnId {
        self.moving.pop_front().expect("a moment was announced").1
    }

    /// Starts to move an operation's page into or out of the buffer at `now`.
    pub(crate) fn begin_move(&mut self, now: SimTime, id: TxnId) {
        self.moving.push_back((now + self.latency, id));
    }

    /// Starts the move of a write that had to wait for its slot.
    pub(crate) fn gets_room(&mut self, now: SimTime, lpn: Lpn, write: TxnId) {
        if let Some(page) = self.page_of(lpn).filter(|page| page.arriving == Some(write)) {
            page.waits = false;
        }
        self.begin_move(now, write);
    }

    /// Records that a write has moved in; returns the programs that waited only for it.
    pub(crate) fn has_come(&mut self, lpn: Lpn, write: TxnId) -> Vec<TxnId> {
        if let Some(page) = self.page_of(lpn).filter(|page| page.arriving == Some(write)) {
            page.arriving = None;
        }
        self.departures.has_come(write)
    }

    /// Ends a departure; returns the flushes that wait for no other one.
    pub(crate) fn departed(&mut self, number: u64) -> Vec<u32> {
        let (lpn, flushes) = self.departures.end(number);
        if let Some(page) = self.page_of(lpn).filter(|page| page.flushing == Some(number)) {
            page.flushing = None;
        }
        flushes
    }

    /// Returns whether pages that were read stay in the buffer.
    pub(crate) fn keeps_reads(&self) -> bool {
        self.keeps_reads
    }

    /// Returns the slot that holds a page.
    pub(crate) fn find(&self, lpn: Lpn) -> Option<u32> {
        self.slot_of[lpn.index()].checked_sub(1)
    }

    /// Returns whether a write put this page into the buffer, or added to it there.
    pub(crate) fn has_write(&self, lpn: Lpn) -> bool {
        self.find(lpn).is_some_and(|slot| self.slots[slot as usize].written.is_some())
    }

    /// Returns the page in a slot.
    pub(crate) fn page(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }

    fn page_of(&mut self, lpn: Lpn) -> Option<&mut Slot> {
        self.find(lpn).map(|slot| self.page(slot))
    }

    /// Returns whether the buffer has room for one more page.
    pub(crate) fn room(&self) -> Vacancy {
        match (self.free.len() as u32, self.leaving_early) {
            (free, leaving_early) if free > leaving_early => Vacancy::Now,
            (0, _) => Vacancy::None,
            _ => Vacancy::Coming,
        }
    }

    /// Returns whether the next page would have to wait.
    pub(crate) fn is_full(&self) -> bool {
        self.room() != Vacancy::Now
    }

    /// Returns whether fewer slots are free, or about to be free, than the buffer keeps free.
    pub(crate) fn is_short_of_room(&self) -> bool {
        (self.free.len() as u32) < self.keep_free
    }

    /// Counts a removed page that occupies its slot until its program has ended.
    pub(crate) fn leaves_early(&mut self) {
        self.leaving_early += 1;
    }

    /// Promises a write the slot of a page that leaves ahead of need.
    pub(crate) fn promise_room(&mut self, write: TxnId) {
        self.leaving_early -= 1;
        self.promised.push_back(write);
    }

    /// Frees the slot of a page that left ahead of need; returns the write that was promised it.
    pub(crate) fn left_early(&mut self) -> Option<TxnId> {
        let write = self.promised.pop_front();
        self.leaving_early -= u32::from(write.is_none());
        write
    }

    /// Returns the writes that wait for promised slots.
    pub(crate) fn promised(&self) -> impl Iterator<Item = TxnId> + '_ {
        self.promised.iter().copied()
    }

    /// Puts a page into a free slot; returns the slot.
    pub(crate) fn insert(&mut self, page: Slot) -> u32 {
        let slot = self.free.pop().expect("a free slot");
        self.slots[slot as usize] = page;
        self.slot_of[page.lpn.index()] = slot + 1;
        slot
    }

    /// Empties a slot; returns its page.
    pub(crate) fn remove(&mut self, slot: u32) -> Slot {
        let page = self.slots[slot as usize];
        self.slot_of[page.lpn.index()] = 0;
        self.free.push(slot);
        page
    }

    /// Returns every page in the buffer with its slot.
    pub(crate) fn pages(&self) -> impl Iterator<Item = (u32, &Slot)> {
        let taken = |(slot, page): &(u32, &Slot)| self.find(page.lpn) == Some(*slot);
        (0..).zip(&self.slots).filter(taken)
    }

    /// Returns the operations that end with a move, each with its end.
    pub(crate) fn moving(&self) -> impl Iterator<Item = (SimTime, TxnId)> + '_ {
        self.moving.iter().copied()
    }

    /// Checks that every page is in its own slot and holds its written sectors.
    ///
    /// # Errors
    /// The first violation.
    pub(crate) fn audit(&self) -> Result<(), String> {
        let (taken, free) = (self.pages().count(), self.free.len());
        if taken + free != self.slots.len() {
            let slots = self.slots.len();
            return Err(format!(
                "the buffer holds {taken} pages and has {free} of {slots} slots free"
            ));
        }
        if self.leaving_early as usize > free {
            return Err(format!(
                "{} pages leave ahead of need from {free} free slots",
                self.leaving_early
            ));
        }
        match self.pages().find(|(_, page)| page.dirty & !page.present != 0) {
            Some((_, page)) => Err(format!("{:?} is dirty in sectors that are not here", page.lpn)),
            None => Ok(()),
        }
    }

    /// Counts the marks of all logical pages, and checks that only pages in the buffer have one.
    ///
    /// # Errors
    /// Both counts, if they differ.
    pub(crate) fn recount(&self) -> Result<(), String> {
        let taken = self.pages().count();
        let marked = self.slot_of.iter().filter(|slot| **slot != 0).count();
        if taken == marked {
            Ok(())
        } else {
            Err(format!("the buffer holds {taken} pages, and {marked} are marked"))
        }
    }

    /// Returns the number of pages that the buffer can hold.
    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a buffer of three pages.
    fn buffer() -> Buffer {
        let config = "buffer = { size = \"12KiB\", latency = \"2us\" }\n\
            geometry = { channels = 1, chips = 1, dies = 1, planes = 1, blocks = 16, pages = 8, \
            page_size = \"4KiB\", cell = \"mlc\" }\n\
            timing = { read = \"50us\", program = \"200us\", erase = \"1ms\" }\n\
            ftl.overprovisioning = 0.3\n";
        let resolved = Resolved::new(&toml::from_str(config).unwrap(), 1).unwrap();
        Buffer::new(&resolved).unwrap()
    }

    fn page(lpn: u32) -> Slot {
        Slot { dirty: 0b01, ..Slot::read(Lpn(lpn), 0b11) }
    }

    fn held(buffer: &Buffer) -> Vec<u32> {
        buffer.pages().map(|(_, page)| page.lpn.0).collect()
    }

    #[test]
    fn pages_are_found_until_they_are_taken_out() {
        let mut buffer = buffer();
        let slots = [7, 0, 9].map(|lpn| {
            assert_eq!(buffer.room(), Vacancy::Now);
            assert_eq!(buffer.find(Lpn(lpn)), None);
            buffer.insert(page(lpn))
        });
        assert_eq!(buffer.room(), Vacancy::None);
        assert_eq!([7, 0, 9].map(|lpn| buffer.find(Lpn(lpn)).unwrap()), slots);
        assert_eq!(buffer.page(slots[1]).lpn, Lpn(0));
        assert_eq!(held(&buffer), [7, 0, 9]);
        assert_eq!(buffer.remove(slots[0]).lpn, Lpn(7));
        assert_eq!((buffer.find(Lpn(7)), buffer.room()), (None, Vacancy::Now));
        assert_eq!(held(&buffer), [0, 9]);
        assert_eq!(buffer.insert(page(8)), slots[0]);
        assert_eq!(buffer.audit(), Ok(()));
    }

    #[test]
    fn a_slot_that_is_freed_ahead_of_need_is_free_once_its_page_is_programmed() {
        let mut buffer = buffer();
        let slots = [7, 0, 9].map(|lpn| buffer.insert(page(lpn)));
        for slot in &slots[..2] {
            buffer.remove(*slot);
            buffer.leaves_early();
            assert_eq!(buffer.room(), Vacancy::Coming);
        }
        // A write takes the first slot to become free; any page can take the other.
        buffer.promise_room(TxnId(5));
        buffer.insert(page(8));
        assert_eq!((buffer.room(), buffer.promised().collect()), (Vacancy::Coming, vec![TxnId(5)]));
        assert_eq!(buffer.left_early(), Some(TxnId(5)));
        assert_eq!((buffer.room(), buffer.promised().count()), (Vacancy::Coming, 0));
        assert_eq!(buffer.left_early(), None);
        assert_eq!(buffer.room(), Vacancy::Now);
        assert_eq!(buffer.audit(), Ok(()));
    }

    #[test]
    fn operations_that_move_end_after_the_latency_in_the_order_in_which_they_began() {
        let (mut buffer, at) = (buffer(), SimTime::from_ns);
        assert_eq!(buffer.next_event(), SimTime::NEVER);
        buffer.begin_move(at(10), TxnId(4));
        buffer.begin_move(at(15), TxnId(3));
        let moving: Vec<_> = buffer.moving().collect();
        assert_eq!(moving, [(at(2010), TxnId(4)), (at(2015), TxnId(3))]);
        for (end, id) in moving {
            assert_eq!((buffer.next_event(), buffer.take_moved()), (end, id));
        }
        assert_eq!(buffer.next_event(), SimTime::NEVER);
    }

    #[test]
    fn an_audit_finds_pages_out_of_place_and_sectors_that_are_not_there() {
        let full = || {
            let mut buffer = buffer();
            buffer.insert(page(3));
            buffer.insert(page(4));
            buffer
        };
        assert_eq!(full().audit().and_then(|()| full().recount()), Ok(()));
        let wrong = |change: &dyn Fn(&mut Buffer)| {
            let mut buffer = full();
            change(&mut buffer);
            buffer.audit().and_then(|()| buffer.recount()).is_err()
        };
        assert!(wrong(&|buffer| buffer.free.clear()), "a slot is lost");
        assert!(wrong(&|buffer| buffer.slot_of[3] = 0), "a page is lost");
        assert!(wrong(&|buffer| buffer.slot_of[9] = 1), "a slot is marked twice");
        assert!(wrong(&|buffer| buffer.slots[1].dirty = 0b100), "dirty and not there");
    }
}
