//! The page buffer in the drive's DRAM: write-back, in pages, with a size.
//!
//! It knows which pages it holds and which of their sectors; which of them leaves when it is full
//! is a choice of ⟨evict⟩. A page that leaves and was written is programmed; whoever took its
//! place waits for that, which is how a slow flash slows its writers. A buffer that keeps slots
//! free lets pages leave ahead of need, so that only writes that outrun the flash wait.

use std::collections::VecDeque;

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::Lpn;

use crate::config::Resolved;
use crate::flash::TxnId;

/// A page in the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The page.
    pub lpn: Lpn,
    /// The sectors of it that are here, a bit each.
    pub present: u64,
    /// The sectors that were written and are not on the flash.
    pub dirty: u64,
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

/// A flush that waits for pages that were leaving when it came.
#[derive(Clone, Copy, Debug)]
struct Barrier {
    request: u32,
    /// It waits for departures numbered below this.
    before: u64,
    left: u32,
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
    departures: u64,
    leaving: Vec<u64>,
    barriers: Vec<Barrier>,
}

impl Buffer {
    /// The buffer of this drive, if it has one.
    pub fn new(resolved: &Resolved) -> Option<Buffer> {
        let pages = resolved.buffer_pages;
        (pages > 0).then(|| Buffer {
            slots: vec![Slot { lpn: Lpn(0), present: 0, dirty: 0 }; pages as usize],
            free: (0..pages).rev().collect(),
            slot_of: vec![0; resolved.logical_pages as usize],
            latency: resolved.buffer_latency,
            keeps_reads: resolved.buffer_reads,
            keep_free: resolved.buffer_keep_free,
            ahead: 0,
            promised: VecDeque::new(),
            moving: VecDeque::new(),
            departures: 0,
            leaving: Vec::new(),
            barriers: Vec::new(),
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

    /// Whether one page more has room.
    pub fn room(&self) -> Vacancy {
        match (self.free.len() as u32, self.ahead) {
            (free, ahead) if free > ahead => Vacancy::Now,
            (0, _) => Vacancy::None,
            _ => Vacancy::Coming,
        }
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

    /// The flushes that wait for pages that were leaving when they came.
    pub fn flushes(&self) -> impl Iterator<Item = u32> + '_ {
        self.barriers.iter().map(|barrier| barrier.request)
    }

    /// Checks that every page is in the one slot that is marked as its own.
    ///
    /// # Errors
    /// The first thing that is not as it must be.
    pub fn audit(&self) -> Result<(), String> {
        let taken = self.pages().count();
        let marked = self.slot_of.iter().filter(|slot| **slot != 0).count();
        if taken + self.free.len() != self.slots.len() || taken != marked {
            return Err(format!("the buffer holds {taken} pages, of which {marked} are marked"));
        }
        if self.ahead as usize > self.free.len() {
            let free = self.free.len();
            return Err(format!("{} pages leave ahead of need from {free} free slots", self.ahead));
        }
        match self.pages().find(|(_, page)| page.dirty & !page.present != 0) {
            Some((_, page)) => Err(format!("{:?} is dirty in sectors that are not here", page.lpn)),
            None => Ok(()),
        }
    }

    /// A page begins to leave; the number of its departure.
    pub fn departs(&mut self) -> u64 {
        self.departures += 1;
        self.leaving.push(self.departures);
        self.departures
    }

    /// A departure has ended; the flushes that waited for it alone.
    pub fn departed(&mut self, number: u64) -> Vec<u32> {
        self.leaving.retain(|&leaving| leaving != number);
        for barrier in self.barriers.iter_mut().filter(|barrier| number < barrier.before) {
            barrier.left -= 1;
        }
        let over = self.barriers.iter().filter(|barrier| barrier.left == 0);
        let over = over.map(|barrier| barrier.request).collect();
        self.barriers.retain(|barrier| barrier.left > 0);
        over
    }

    /// A flush waits for all that leaves now; false if nothing does.
    pub fn wait_for_departures(&mut self, request: u32) -> bool {
        let left = self.leaving.len() as u32;
        if left > 0 {
            self.barriers.push(Barrier { request, before: self.departures + 1, left });
        }
        left > 0
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
        Slot { lpn: Lpn(lpn), present: 0b11, dirty: 0b01 }
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
    fn a_slot_that_is_given_up_ahead_of_need_is_free_once_its_page_is_programmed() {
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
    fn a_flush_waits_for_what_was_leaving_when_it_came_and_for_no_more() {
        let mut buffer = buffer();
        assert!(!buffer.wait_for_departures(50), "nothing leaves");
        let early = [buffer.departs(), buffer.departs()];
        assert!(buffer.wait_for_departures(51));
        let late = buffer.departs();
        assert!(buffer.wait_for_departures(52));
        assert_eq!(buffer.flushes().collect::<Vec<_>>(), [51, 52]);
        assert!(buffer.departed(early[1]).is_empty());
        assert!(buffer.departed(late).is_empty());
        assert_eq!(buffer.departed(early[0]), [51, 52]);
        assert_eq!(buffer.flushes().count(), 0);
        let alone = buffer.departs();
        assert!(buffer.wait_for_departures(53));
        assert_eq!(buffer.departed(alone), [53]);
    }

    #[test]
    fn an_audit_finds_pages_out_of_place_and_sectors_that_are_not_there() {
        let full = || {
            let mut buffer = buffer();
            buffer.insert(page(3));
            buffer.insert(page(4));
            buffer
        };
        assert_eq!(full().audit(), Ok(()));
        let wrong = |change: &dyn Fn(&mut Buffer)| {
            let mut buffer = full();
            change(&mut buffer);
            buffer.audit().is_err()
        };
        assert!(wrong(&|buffer| buffer.free.clear()), "a slot is lost");
        assert!(wrong(&|buffer| buffer.slot_of[3] = 0), "a page is lost");
        assert!(wrong(&|buffer| buffer.slot_of[9] = 1), "a slot is marked twice");
        assert!(wrong(&|buffer| buffer.slots[1].dirty = 0b100), "dirty and not there");
    }
}
