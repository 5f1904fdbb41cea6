//! Flash transactions: one page read, page program or block erase on its way through the drive.
//!
//! They live in a slab and are linked by index, so that a request costs no allocation.

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::program_mode::ProgramMode;
use ssdlab_nand::{Level, Lpn, PageType, PlaneId, Ppn};

use crate::account::{Blame, Cause, OpKind, Part};
use crate::policy::PlacementHint;

/// A transaction's place in the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TxnId(pub u32);

impl TxnId {
    /// No transaction: the end of a list.
    pub const NONE: TxnId = TxnId(u32::MAX);

    /// Whether this is a transaction at all.
    #[inline]
    pub fn is_some(self) -> bool {
        self != TxnId::NONE
    }
}

/// Whom a page makes room for that leaves the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Room {
    /// Nobody: it stays, or it left for what was read.
    None,
    /// Whoever comes: it leaves ahead of need.
    Ahead,
    /// The write that took its place and waits for this.
    For(TxnId),
}

/// Whom a transaction works for, and so who learns of its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The host request in this slot.
    Request(u32),
    /// The buffer, which lets a page go.
    Buffer {
        /// Whom the page makes room for.
        room: Room,
        /// The number of the departure.
        number: u64,
    },
    /// The job that runs on this plane.
    Job(PlaneId),
    /// A page that moves by itself.
    Move {
        /// Where it lies.
        from: Ppn,
        /// P/E cycles of that block when the move began.
        erases: u32,
    },
    /// The page map, of which the controller holds a part.
    Map {
        /// The translation page.
        page: u32,
        /// Whether only some entries are changed, so that it is read before it is written.
        in_part: bool,
    },
}

/// One page read, page program or block erase.
#[derive(Clone, Debug)]
pub struct Txn {
    /// The logical page.
    pub lpn: Lpn,
    /// The physical page; of a program, known once it is dispatched; of an erase, the first page
    /// of the block.
    pub ppn: Ppn,
    /// The plane in whose queue it waits.
    pub plane: PlaneId,
    /// Whom it works for.
    pub owner: Owner,
    /// What it does now. A write that must read first is a read until it has read.
    pub kind: OpKind,
    /// What it is for.
    pub cause: Cause,
    /// The queue of its plane that it waits in.
    pub lane: u8,
    /// The sectors it moves over the channel.
    pub sectors: u16,
    /// The sectors of the page that it concerns, a bit each.
    pub mask: u64,
    /// The level of the read ladder that is tried now.
    pub level: Level,
    /// The level that is sensed ahead, if one is.
    pub level_ahead: Level,
    /// The level at which this read will decode: truth, for the `flash` room alone.
    pub(super) level_needed: Level,
    /// Attempts that failed to decode.
    pub failed: u8,
    /// The type of its physical page.
    pub(super) page_type: PageType,
    /// The voltages with which its page is programmed or, of a read, was.
    pub(super) program_mode: ProgramMode,
    /// The age at the run's start of data that was written before it and that no table holds.
    pub age: Option<Nanos>,
    /// The voltages with which that was programmed.
    pub laid_with: ProgramMode,
    /// A write whose page must be read first.
    pub read_first: bool,
    /// Whether it had to wait for another operation on its page, or for its order to let it go.
    pub was_held_up: bool,
    /// What it needs the bus for is its command, not its data.
    pub(super) commanded: bool,
    /// A read that no level could decode.
    pub uncorrectable: bool,
    /// What its page should be like.
    pub hint: PlacementHint,
    /// The next in whichever list it is in.
    pub next: TxnId,
    /// The next of those that the same array unit serves at the same time.
    pub(super) sibling: TxnId,
    /// Its place in the order of coming, as a number that grows: of a host's operation from its
    /// request's arrival on, whatever it waited for before it entered its queue.
    pub(super) seq: u64,
    /// Where the part of its time that is being spent now began.
    pub since: u64,
    /// Where its time went so far.
    pub blame: Blame,
    /// The time its array unit had given to each cause when it began to wait.
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
            lane: 0,
            sectors: 0,
            mask: 0,
            level: Level::FIRST,
            level_ahead: Level::FIRST,
            level_needed: Level::FIRST,
            failed: 0,
            page_type: PageType(0),
            program_mode: ProgramMode::NORMAL,
            age: None,
            laid_with: ProgramMode::NORMAL,
            read_first: false,
            was_held_up: false,
            commanded: false,
            uncorrectable: false,
            hint: PlacementHint::default(),
            next: TxnId::NONE,
            sibling: TxnId::NONE,
            seq: 0,
            since: 0,
            blame: [0; Part::COUNT],
            waited: [0; Cause::COUNT],
        }
    }

    /// Its place in the order of coming.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// When its time began: of a request's, its arrival.
    pub fn began(&self) -> SimTime {
        SimTime::from_ns(self.since - self.blame.iter().sum::<u64>())
    }

    /// Gives the time since the last call to `part`; to `Retry` if the read has failed before.
    #[inline]
    pub fn charge(&mut self, part: Part, now: u64) {
        self.give(if self.failed > 0 { Part::Retry } else { part }, now);
    }

    /// Gives the time since the last call to the wait for a die that works for the host, also of a
    /// read that has failed.
    pub fn waited_for_host(&mut self, now: u64) {
        self.give(Part::DieHost, now);
    }

    #[inline]
    fn give(&mut self, part: Part, now: u64) {
        self.blame[part as usize] += now - self.since;
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
    /// A new transaction whose time is counted from `since`.
    #[inline]
    pub fn insert(&mut self, since: u64) -> TxnId {
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
        txn.level = Level::FIRST;
        txn.age = None;
        txn.read_first = false;
        txn.was_held_up = false;
        txn.uncorrectable = false;
        txn.hint = PlacementHint::default();
        TxnId(id)
    }

    /// Gives a transaction's slot back.
    #[inline]
    pub fn remove(&mut self, id: TxnId) {
        self.free.push(id.0);
    }

    /// Slots of transactions, free ones included.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Slots for which memory is reserved.
    pub fn reserved(&self) -> usize {
        self.slots.capacity()
    }

    /// For each slot, whether its transaction is under way.
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

/// A list of transactions in the order in which they came, linked through [`Txn::next`].
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
    /// A list of nothing.
    pub const EMPTY: Fifo = Fifo { head: TxnId::NONE, tail: TxnId::NONE };

    /// The first, or [`TxnId::NONE`].
    #[inline]
    pub fn head(&self) -> TxnId {
        self.head
    }

    /// Whether nothing waits here.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.head.is_some()
    }

    /// The last, or [`TxnId::NONE`].
    #[inline]
    pub(super) fn tail(&self) -> TxnId {
        self.tail
    }

    /// Those in the list, in its order.
    pub fn ids<'a>(&self, txns: &'a Txns) -> impl Iterator<Item = TxnId> + 'a {
        let first = self.head.is_some().then_some(self.head);
        let next = |&id: &TxnId| txns[id].next.is_some().then_some(txns[id].next);
        // A list that bites its own tail is cut off, for an audit to find.
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

    /// Adds `id` in front.
    #[inline]
    pub(super) fn push_front(&mut self, txns: &mut Txns, id: TxnId) {
        txns[id].next = self.head;
        if !self.head.is_some() {
            self.tail = id;
        }
        self.head = id;
    }

    /// Puts `id` in its place in the order of this: as a rule at the end.
    #[inline]
    pub(super) fn insert_by(&mut self, txns: &mut Txns, id: TxnId, by: impl Fn(&Txn) -> u64) {
        if self.tail.is_some() && by(&txns[self.tail]) > by(&txns[id]) {
            self.insert_before(txns, id, by);
        } else {
            self.push(txns, id);
        }
    }

    /// Puts `id` before all that come later.
    fn insert_before(&mut self, txns: &mut Txns, id: TxnId, by: impl Fn(&Txn) -> u64) {
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

    /// Takes the first.
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
