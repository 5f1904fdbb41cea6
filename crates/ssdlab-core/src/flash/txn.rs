//! Flash transactions: each is one page read, page program or block erase.
//!
//! A slab stores them and indices link them, so a request needs no memory allocation.

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::program_mode::ProgramMode;
use ssdlab_nand::{Level, Lpn, PageType, PlaneId, Ppn};

use crate::account::{Blame, Cause, OpKind, Part};
use crate::policy::PlacementHint;

/// The index of a transaction in the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TxnId(pub u32);

impl TxnId {
    /// No transaction: the end of a list.
    pub const NONE: TxnId = TxnId(u32::MAX);

    /// Returns whether this is a transaction.
    #[inline]
    pub fn is_some(self) -> bool {
        self != TxnId::NONE
    }
}

/// The operation that waits for the slot of a page that the buffer programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Room {
    /// None: the page stays in the buffer, or left it for a page that was read.
    None,
    /// None yet: the page leaves ahead of need.
    Early,
    /// The write that took the slot and waits for this program.
    For(TxnId),
}

/// The part of the drive that a transaction works for and that handles its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The host request in this slot.
    Request(u32),
    /// The buffer, which programs a page.
    Buffer {
        /// The operation that waits for the page's slot.
        room: Room,
        /// The number of the departure.
        number: u64,
    },
    /// The job that runs on this plane.
    Job(PlaneId),
    /// A move of a single page.
    Move {
        /// The source page.
        from: Ppn,
        /// P/E cycles of the source block when the move began.
        erases: u32,
    },
    /// The page map, if the controller holds only a part of it.
    Map {
        /// The translation page.
        page: u32,
        /// Whether only some entries change, so that the page is read before it is written.
        in_part: bool,
    },
}

/// One page read, page program or block erase.
#[derive(Clone, Debug)]
pub struct Txn {
    /// The logical page.
    pub lpn: Lpn,
    /// The physical page. A program gets it at dispatch; an erase has the first page of its block.
    pub ppn: Ppn,
    /// The plane in whose queues it waits.
    pub plane: PlaneId,
    /// The part of the drive that it works for.
    pub owner: Owner,
    /// Its current kind. A write that must read first is a read until it has read.
    pub kind: OpKind,
    /// Its cause.
    pub cause: Cause,
    /// The number of its queue among the queues of its plane.
    pub plane_queue: u8,
    /// The number of sectors that it moves over the channel.
    pub sectors: u16,
    /// The sectors of the page that it covers, a bit each.
    pub mask: u64,
    /// The level of the current attempt.
    pub level: Level,
    /// The level that is sensed ahead, if any. Where a failure was computed in advance, the level
    /// of the failing attempt.
    pub pipelined_level: Level,
    /// The level at which this read will decode. This is the truth: only the `flash` module may use
    /// it.
    pub(super) level_needed: Level,
    /// Attempts that failed to decode.
    pub failed: u8,
    /// By how many levels the read-start policy's level is above that of the attempt
    /// ([`Cells::begin_read`](super::Cells)).
    pub ahead: u8,
    /// The type of its physical page.
    pub(super) page_type: PageType,
    /// The program mode of its page: the mode to use or, for a read, the mode that was used.
    pub(super) program_mode: ProgramMode,
    /// Age at the run's start of data that was written before it and that no table records.
    pub age: Option<Nanos>,
    /// The program mode of that data.
    pub unwritten_mode: ProgramMode,
    /// Whether a write must read its page first.
    pub read_first: bool,
    /// Whether it waited for another operation on its page, or the scheduler held it back.
    pub was_held_up: bool,
    /// Whether it needs the bus for its command, not for its data.
    pub(super) commanded: bool,
    /// Whether no level could decode this read.
    pub uncorrectable: bool,
    /// The placement hint for its page.
    pub hint: PlacementHint,
    /// The next transaction in its list.
    pub next: TxnId,
    /// The next transaction that the array unit serves at the same time.
    pub(super) sibling: TxnId,
    /// Its arrival number, which grows. A host operation gets it when its request arrives, before
    /// any wait.
    pub(super) seq: u64,
    /// The start of the current part of its time.
    pub since: SimTime,
    /// Its time so far by part, in nanoseconds.
    pub blame: Blame,
    /// The time that its array unit had worked for each cause when its wait began.
    pub(super) waited: [u64; Cause::COUNT],
}

impl Txn {
    fn blank() -> Txn {
        Txn {
            lpn: Lpn(0),
            ppn: Ppn(0),
            plane: PlaneId(0),
            owner: Owner::Request(0),
            kind: OpKind::Read,
            cause: Cause::Host,
            plane_queue: 0,
            sectors: 0,
            mask: 0,
            level: Level::FIRST,
            pipelined_level: Level::FIRST,
            level_needed: Level::FIRST,
            failed: 0,
            ahead: 0,
            page_type: PageType(0),
            program_mode: ProgramMode::NORMAL,
            age: None,
            unwritten_mode: ProgramMode::NORMAL,
            read_first: false,
            was_held_up: false,
            commanded: false,
            uncorrectable: false,
            hint: PlacementHint::default(),
            next: TxnId::NONE,
            sibling: TxnId::NONE,
            seq: 0,
            since: SimTime::START,
            blame: [0; Part::COUNT],
            waited: [0; Cause::COUNT],
        }
    }

    /// Returns its arrival number.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns when its time began: for a request's transaction, at the arrival.
    pub fn began(&self) -> SimTime {
        self.since - Nanos::from_ns(self.blame.iter().sum())
    }

    /// Charges the time since the last charge to `part`, or to `Retry` if the read has failed
    /// before.
    #[inline]
    pub fn charge(&mut self, part: Part, now: SimTime) {
        self.give(if self.failed > 0 { Part::Retry } else { part }, now);
    }

    /// Charges the time since the last charge to the wait for a die that works for the host, even
    /// after a failed attempt.
    pub fn waited_for_host(&mut self, now: SimTime) {
        self.give(Part::DieHost, now);
    }

    #[inline]
    fn give(&mut self, part: Part, now: SimTime) {
        self.blame[part as usize] += (now - self.since).as_ns();
        self.since = now;
    }
}

/// The slab of transactions.
#[derive(Clone, Debug, Default)]
pub struct Txns {
    slots: Vec<Txn>,
    free: Vec<u32>,
}

impl Txns {
    /// Adds a transaction whose time counts from `since`.
    #[inline]
    pub fn insert(&mut self, since: SimTime) -> TxnId {
        let id = match self.free.pop() {
            Some(id) => id,
            None => {
                self.slots.push(Txn::blank());
                (self.slots.len() - 1) as u32
            }
        };
        let txn = &mut self.slots[id as usize];
        txn.since = since;
        txn.blame = [0; Part::COUNT];
        txn.next = TxnId::NONE;
        txn.sibling = TxnId::NONE;
        txn.failed = 0;
        txn.ahead = 0;
        txn.level = Level::FIRST;
        txn.age = None;
        txn.read_first = false;
        txn.was_held_up = false;
        txn.uncorrectable = false;
        txn.hint = PlacementHint::default();
        TxnId(id)
    }

    /// Frees a transaction's slot.
    #[inline]
    pub fn remove(&mut self, id: TxnId) {
        self.free.push(id.0);
    }

    /// Joins `id` to the transactions that the unit serves together with `head`.
    pub fn join(&mut self, head: TxnId, id: TxnId) {
        self[id].sibling = self[head].sibling;
        self[head].sibling = id;
    }

    /// Returns a transaction and those after it that its unit serves together with it; none for
    /// [`TxnId::NONE`].
    pub fn members(&self, first: TxnId) -> impl Iterator<Item = TxnId> + '_ {
        let next = |&member: &TxnId| Some(self[member].sibling).filter(|id| id.is_some());
        std::iter::successors(Some(first).filter(|id| id.is_some()), next)
    }

    /// Returns the number of slots, free ones included.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Returns the number of slots with reserved memory.
    pub fn reserved(&self) -> usize {
        self.slots.capacity()
    }

    /// Returns for each slot whether its transaction is in progress.
    pub fn under_way(&self) -> Vec<bool> {
        let mut live = vec![true; self.slots.len()];
        self.free.iter().for_each(|&id| live[id as usize] = false);
        live
    }
}

impl std::ops::Index<TxnId> for Txns {
    type Output = Txn;
    #[inline]
    fn index(&self, id: TxnId) -> &Txn {
        &self.slots[id.0 as usize]
    }
}

impl std::ops::IndexMut<TxnId> for Txns {
    #[inline]
    fn index_mut(&mut self, id: TxnId) -> &mut Txn {
        &mut self.slots[id.0 as usize]
    }
}

/// A list of transactions in order of arrival, linked through [`Txn::next`].
#[derive(Clone, Copy, Debug)]
pub struct Fifo {
    head: TxnId,
    tail: TxnId,
}

impl Default for Fifo {
    fn default() -> Fifo {
        Fifo::EMPTY
    }
}

impl Fifo {
    /// An empty list.
    pub const EMPTY: Fifo = Fifo { head: TxnId::NONE, tail: TxnId::NONE };

    /// Returns the first transaction, or [`TxnId::NONE`].
    #[inline]
    pub fn head(&self) -> TxnId {
        self.head
    }

    /// Returns whether the list is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.head.is_some()
    }

    /// Returns the last transaction, or [`TxnId::NONE`].
    #[inline]
    pub fn tail(&self) -> TxnId {
        self.tail
    }

    /// Returns the transactions in the order of the list.
    pub fn ids<'a>(&self, txns: &'a Txns) -> impl Iterator<Item = TxnId> + 'a {
        let first = self.head.is_some().then_some(self.head);
        let next = |&id: &TxnId| txns[id].next.is_some().then_some(txns[id].next);
        // The limit ends a list with a cycle, so that an audit can report it.
        std::iter::successors(first, next).take(txns.slots.len() + 1)
    }

    /// Adds `id` at the end.
    #[inline]
    pub fn push(&mut self, txns: &mut Txns, id: TxnId) {
        txns[id].next = TxnId::NONE;
        if self.tail.is_some() {
            txns[self.tail].next = id;
        } else {
            self.head = id;
        }
        self.tail = id;
    }

    /// Adds `id` at the front.
    #[inline]
    pub(super) fn push_front(&mut self, txns: &mut Txns, id: TxnId) {
        txns[id].next = self.head;
        if !self.head.is_some() {
            self.tail = id;
        }
        self.head = id;
    }

    /// Inserts `id` in the order of `by`, usually at the end.
    #[inline]
    pub(super) fn insert_by(&mut self, txns: &mut Txns, id: TxnId, by: impl Fn(&Txn) -> SimTime) {
        if self.tail.is_some() && by(&txns[self.tail]) > by(&txns[id]) {
            self.insert_before(txns, id, by);
        } else {
            self.push(txns, id);
        }
    }

    /// Inserts `id` before the first transaction whose key is not smaller.
    fn insert_before(&mut self, txns: &mut Txns, id: TxnId, by: impl Fn(&Txn) -> SimTime) {
        let (mut before, mut after) = (TxnId::NONE, self.head);
        while after.is_some() && by(&txns[after]) < by(&txns[id]) {
            (before, after) = (after, txns[after].next);
        }
        txns[id].next = after;
        if before.is_some() {
            txns[before].next = id;
        } else {
            self.head = id;
        }
        if !after.is_some() {
            self.tail = id;
        }
    }

    /// Takes the first transaction.
    #[inline]
    pub fn pop(&mut self, txns: &Txns) -> Option<TxnId> {
        let id = self.head;
        if !id.is_some() {
            return None;
        }
        self.head = txns[id].next;
        if !self.head.is_some() {
            self.tail = TxnId::NONE;
        }
        Some(id)
    }
}
