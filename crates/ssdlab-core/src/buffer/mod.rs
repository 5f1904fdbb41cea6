//! The page buffer in the drive's DRAM: write-back, in pages, with a size.
//!
//! It knows which pages it holds and which of their sectors; which of them leaves when it is full
//! is a choice of ⟨eviction⟩. A page that leaves and was written is programmed; whoever took its
//! place waits for that, which is how a slow flash slows its writers. A buffer that keeps slots
//! free lets pages leave ahead of need, so that only writes that outrun the flash wait.
//!
//! A slot is a page's until its program has ended, also if a flush asked for that and the page has
//! left since; and no page is programmed before it has moved in.

mod departures;

use std::collections::VecDeque;

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::Lpn;

use crate::account::{RequestAttrs, Uses};
use crate::config::Resolved;
use crate::flash::TxnId;
pub use departures::Departures;

/// A page in the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The page.
    pub lpn: Lpn,
    /// The sectors of it that are here, a bit each.
    pub present: u64,
    /// The sectors that were written and that no program puts on the flash.
    pub dirty: u64,
    /// The write that is the last to move into it; `None` when all have.
    pub arriving: Option<TxnId>,
    /// Whether that one waits for the slot.
    pub waits: bool,
    /// The number of the departure by which a flush programs it, until that has ended.
    pub flushing: Option<u64>,
    /// The request that wrote it last.
    pub written: Option<RequestAttrs>,
    /// How often it was used since it came.
    pub uses: Uses,
}

impl Slot {
    /// A page that was read.
    pub fn read(lpn: Lpn, present: u64) -> Slot {
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

    /// A page that is written for the first time.
    pub fn written(lpn: Lpn, write: TxnId, sectors: u64, by: RequestAttrs) -> Slot {
        let mut page = Slot { uses: Uses::default(), ..Slot::read(lpn, 0) };
        page.write(write, sectors, by);
        page
    }

    /// Sectors of it are written by such a request.
    pub fn write(&mut self, write: TxnId, sectors: u64, by: RequestAttrs) {
        self.written = Some(by);
        self.uses.count(true);
        self.present |= sectors;
        self.dirty |= sectors;
        // One that waits for the slot moves in after this one.
        if !self.waits {
            self.arriving = Some(write);
        }
    }
}

/// Whether there is room for one page more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vacancy {
    /// A slot is free.
    Now,
    /// A page that leaves ahead of need still takes its slot.
    Coming,
    /// No slot is free, and none will be.
    None,
}

/// The pages in the buffer and those on their way in, out, or to the host.
#[derive(Clone, Debug)]
pub struct Buffer {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// The slot of each logical page, plus one; 0 for none.
    slot_of: Vec<u32>,
    latency: Nanos,
    keeps_reads: bool,
    /// Slots that are to be free, or about to be.
    keep_free: u32,
    /// Free slots that are still taken by pages that leave ahead of need, and are promised to none.
    ahead: u32,
    /// Writes that were promised room, in the order in which they get it.
    promised: VecDeque<TxnId>,
    /// Operations that end with a move into or out of the buffer, in the order of their ends.
    moving: VecDeque<(SimTime, TxnId)>,
    /// Pages whose programs have not ended.
    pub departures: Departures,
}

impl Buffer {
    /// The buffer of this drive, if it has one.
    pub fn new(resolved: &Resolved) -> Option<Buffer> {
        let pages = resolved.buffer_pages;
        (pages > 0).then(|| Buffer {
            slots: vec![Slot::read(Lpn(0), 0); pages as usize],
            free: (0..pages).rev().collect(),
            slot_of: vec![0; resolved.logical_pages as usize],
            latency: resolved.buffer_latency,
            keeps_reads: resolved.buffer_reads,
            keep_free: resolved.buffer_keep_free,
            ahead: 0,
            promised: VecDeque::new(),
            moving: VecDeque::new(),
            departures: Departures::default(),
        })
    }

    /// The next moment at which an operation ends here.
    #[inline]
    pub fn next_event(&self) -> SimTime {
        self.moving.front().map_or(SimTime::NEVER, |&(end, _)| end)
    }

    /// The operation that ends at [`Buffer::next_event`].
    pub fn take_moved(&mut self) -> TxnId {
        self.moving.pop_front().expect("a moment was announced").1
    }

    /// An operation moves its page into or out of the buffer from `now` on.
    pub fn begin_move(&mut self, now: SimTime, id: TxnId) {
        self.moving.push_back((now + self.latency, id));
    }

    /// A write that had to wait has got its slot, and moves in.
    pub fn gets_room(&mut self, now: SimTime, lpn: Lpn, write: TxnId) {
        if let Some(page) = self.page_of(lpn).filter(|page| page.arriving == Some(write)) {
            page.waits = false;
        }
        self.begin_move(now, write);
    }

    /// A write has moved in; the programs that waited for nothing else.
    pub fn has_come(&mut self, lpn: Lpn, write: TxnId) -> Vec<TxnId> {
        if let Some(page) = self.page_of(lpn).filter(|page| page.arriving == Some(write)) {
            page.arriving = None;
        }
        self.departures.has_come(write)
    }

    /// A page has been programmed; the flushes that waited for it alone.
    pub fn departed(&mut self, number: u64) -> Vec<u32> {
        let (lpn, flushes) = self.departures.end(number);
        if let Some(page) = self.page_of(lpn).filter(|page| page.flushing == Some(number)) {
            page.flushing = None;
        }
        flushes
    }

    /// Whether pages that were read stay.
    pub fn keeps_reads(&self) -> bool {
        self.keeps_reads
    }

    /// The slot that holds a page.
    #[inline]
    pub fn find(&self, lpn: Lpn) -> Option<u32> {
        self.slot_of[lpn.index()].checked_sub(1)
    }

    /// The page in a slot.
    pub fn page(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }

    fn page_of(&mut self, lpn: Lpn) -> Option<&mut Slot> {
        self.find(lpn).map(|slot| self.page(slot))
    }

    /// Whether one page more has room.
    pub fn room(&self) -> Vacancy {
        match (self.free.len() as u32, self.ahead) {
            (free, ahead) if free > ahead => Vacancy::Now,
            (0, _) => Vacancy::None,
            _ => Vacancy::Coming,
        }
    }

    /// Whether the next page to come would have to wait.
    pub fn is_full(&self) -> bool {
        self.room() != Vacancy::Now
    }

    /// Whether fewer slots are free, or about to be, than the buffer keeps free.
    pub fn is_short_of_room(&self) -> bool {
        (self.free.len() as u32) < self.keep_free
    }

    /// A page that was removed ahead of need takes its slot until it has been programmed.
    pub fn leaves_ahead(&mut self) {
        self.ahead += 1;
    }

    /// A write gets the room of a page that leaves ahead of need.
    pub fn promise_room(&mut self, write: TxnId) {
        self.ahead -= 1;
        self.promised.push_back(write);
    }

    /// A page that left ahead of need has been programmed; the write that was promised its room.
    pub fn left_ahead(&mut self) -> Option<TxnId> {
        let write = self.promised.pop_front();
        self.ahead -= u32::from(write.is_none());
        write
    }

    /// Writes that wait for room that they were promised.
    pub fn promised(&self) -> impl Iterator<Item = TxnId> + '_ {
        self.promised.iter().copied()
    }

    /// Puts a page into a free slot.
    pub fn insert(&mut self, page: Slot) -> u32 {
        let slot = self.free.pop().expect("a free slot");
        self.slots[slot as usize] = page;
        self.slot_of[page.lpn.index()] = slot + 1;
        slot
    }

    /// Empties a slot.
    pub fn remove(&mut self, slot: u32) -> Slot {
        let page = self.slots[slot as usize];
        self.slot_of[page.lpn.index()] = 0;
        self.free.push(slot);
        page
    }

    /// Every page in the buffer with its slot.
    pub fn pages(&self) -> impl Iterator<Item = (u32, &Slot)> {
        let taken = |(slot, page): &(u32, &Slot)| self.find(page.lpn) == Some(*slot);
        (0..).zip(&self.slots).filter(taken)
    }

    /// Operations that end with a move, each with its end.
    pub fn moving(&self) -> impl Iterator<Item = (SimTime, TxnId)> + '_ {
        self.moving.iter().copied()
    }

    /// Checks that every page is in the one slot that is marked as its own.
    ///
    /// # Errors
    /// The first thing that is not as it must be.
    pub fn audit(&self) -> Result<(), String> {
        let (taken, free) = (self.pages().count(), self.free.len());
        if taken + free != self.slots.len() {
            let slots = self.slots.len();
            return Err(format!(
                "the buffer holds {taken} pages and has {free} of {slots} slots free"
            ));
        }
        if self.ahead as usize > free {
            return Err(format!("{} pages leave ahead of need from {free} free slots", self.ahead));
        }
        match self.pages().find(|(_, page)| page.dirty & !page.present != 0) {
            Some((_, page)) => Err(format!("{:?} is dirty in sectors that are not here", page.lpn)),
            None => Ok(()),
        }
    }

    /// Goes through all logical pages: none is marked as held that is not.
    ///
    /// # Errors
    /// How many are, if not as many as are held.
    pub fn recount(&self) -> Result<(), String> {
        let taken = self.pages().count();
        let marked = self.slot_of.iter().filter(|slot| **slot != 0).count();
        if taken == marked {
            Ok(())
        } else {
            Err(format!("the buffer holds {taken} pages, and {marked} are marked"))
        }
    }

    /// Pages that it has room for.
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer of three pages.
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
            buffer.leaves_ahead();
            assert_eq!(buffer.room(), Vacancy::Coming);
        }
        // A write takes the first to come, and the other is free for anyone.
        buffer.promise_room(TxnId(5));
        buffer.insert(page(8));
        assert_eq!((buffer.room(), buffer.promised().collect()), (Vacancy::Coming, vec![TxnId(5)]));
        assert_eq!(buffer.left_ahead(), Some(TxnId(5)));
        assert_eq!((buffer.room(), buffer.promised().count()), (Vacancy::Coming, 0));
        assert_eq!(buffer.left_ahead(), None);
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
