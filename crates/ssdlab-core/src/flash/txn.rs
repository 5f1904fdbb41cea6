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

/// What a new transaction is to do, and for whom.
#[derive(Clone, Copy, Debug)]
pub struct NewTxn {
    /// The logical page.
    pub lpn: Lpn,
    /// The part of the drive that it works for.
    pub owner: Owner,
    /// Its kind.
    pub kind: OpKind,
    /// Its cause.
    pub cause: Cause,
    /// The sectors of the page that it covers, a bit each.
    pub mask: u64,
    /// The number of these sectors, which callers know without counting.
    pub sectors: u32,
}

#[cfg(test)]
impl NewTxn {
    /// Returns a host read of the first sector of a page.
    pub fn read(lpn: Lpn) -> NewTxn {
        let owner = Owner::Request(0);
        NewTxn { lpn, owner, kind: OpKind::Read, cause: Cause::Host, mask: 1, sectors: 1 }
    }
}

/// One page read, page program or block erase. Every part of the drive may look at one.
/// Only the flash changes one, by the methods of [`Txns`].
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

    /// Makes this the new transaction, in place. Nothing remains that is not set before it is read:
    /// the place and the queue by the dispatch, the rest by the flash.
    #[inline(always)]
    fn begin(&mut self, new: NewTxn, since: SimTime) {
        self.lpn = new.lpn;
        self.owner = new.owner;
        self.kind = new.kind;
        self.cause = new.cause;
        self.mask = new.mask;
        debug_assert_eq!(new.sectors, new.mask.count_ones());
        self.sectors = new.sectors as u16;
        self.level = Level::FIRST;
        self.failed = 0;
        self.ahead = 0;
        self.age = None;
        self.read_first = false;
        self.was_held_up = false;
        self.uncorrectable = false;
        self.hint = PlacementHint::default();
        self.next = TxnId::NONE;
        self.sibling = TxnId::NONE;
        self.since = since;
        self.blame = [0; Part::COUNT];
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
    pub(crate) fn waited_for_host(&mut self, now: SimTime) {
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
    /// Begins a transaction. Its time counts from `since`.
    #[inline(always)]
    pub fn begin(&mut self, new: NewTxn, since: SimTime) -> TxnId {
        let id = match self.free.pop() {
            Some(id) => TxnId(id),
            None => {
                self.slots.push(Txn::blank());
                TxnId((self.slots.len() - 1) as u32)
            }
        };
        self.get_mut(id).begin(new, since);
        id
    }

    /// Frees a transaction's slot.
    pub fn remove(&mut self, id: TxnId) {
        self.free.push(id.0);
    }

    /// Gives the flash a transaction to change.
    #[inline]
    pub(super) fn get_mut(&mut self, id: TxnId) -> &mut Txn {
        &mut self.slots[id.0 as usize]
    }

    /// Joins `id` to the transactions that the unit serves together with `head`.
    pub fn join(&mut self, head: TxnId, id: TxnId) {
        self.get_mut(id).sibling = self[head].sibling;
        self.get_mut(head).sibling = id;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the parts of a transaction that nothing sets before they are read.
    fn begun(txn: &Txn) -> String {
        let Txn { lpn, owner, kind, cause, mask, sectors, hint, blame, .. } = txn;
        let Txn { level, failed, ahead, age, read_first, was_held_up, uncorrectable, .. } = txn;
        let first = (lpn, owner, kind, cause, mask, sectors, hint, blame);
        let then = (level, failed, ahead, age, read_first, was_held_up, uncorrectable);
        format!("{first:?} {then:?} {:?}", (txn.next, txn.sibling, txn.since))
    }

    #[test]
    fn a_reused_slot_keeps_nothing_of_its_earlier_transaction() {
        let mut txns = Txns::default();
        let first = txns.begin(NewTxn::read(Lpn(3)), SimTime::START);
        let fresh = begun(&txns[first]);
        txns.remove(first);
        let owner = Owner::Job(PlaneId(2));
        let page = NewTxn { owner, cause: Cause::Gc, mask: 3, sectors: 2, ..NewTxn::read(Lpn(4)) };
        let id = txns.begin(page, SimTime::from_ns(5));
        txns.locate_unwritten(id, Ppn(7), Nanos::from_ns(9), ProgramMode(1));
        txns.set_hint(id, PlacementHint { page_type: Some(PageType(1)), ..Default::default() });
        txns.set_level(id, Level(2));
        txns.charge(id, Part::Bus, SimTime::from_ns(8));
        txns.note_held_up(id);
        txns.read_rest_first(id, 3);
        let txn = txns.get_mut(id);
        (txn.failed, txn.ahead, txn.uncorrectable) = (1, 1, true);
        (txn.next, txn.sibling) = (TxnId(5), TxnId(6));
        txns.remove(id);
        let again = txns.begin(NewTxn::read(Lpn(3)), SimTime::START);
        assert_eq!(again, first);
        assert_eq!(begun(&txns[again]), fresh);
    }
}
