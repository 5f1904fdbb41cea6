//! An array unit, which performs one array operation at a time. It is a plane where planes are
//! independent, else a die or a chip.

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::PlaneId;

use super::plane_queues::Rank;
use super::queues::Queues;
use super::txn::{Txn, TxnId, Txns};
use super::work::Work;
use crate::account::{Cause, OpKind, Part};

/// The state of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// Free.
    Idle,
    /// Waiting for a read or erase command, or receiving it.
    Commanded,
    /// Sensing pages into its registers.
    Sensing,
    /// Holding sensed pages until they are transferred and, if so configured, decoded.
    Out,
    /// Holding sensed pages until the cache register is free.
    Sensed,
    /// Receiving the pages to program.
    In,
    /// Programming.
    Programming,
    /// Erasing.
    Erasing,
    /// Suspending a program or an erase.
    Suspending,
    /// Aborting a sensing ahead.
    Resetting,
}

/// The next attempt that a unit senses while it outputs the current one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pipelined {
    /// None.
    Nothing,
    /// The unit senses it.
    Sensing,
    /// It was sensed and waits.
    Sensed,
}

/// A suspended program or erase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspended {
    pub head: TxnId,
    pub kind: OpKind,
    pub cause: Cause,
    /// Remaining array time.
    pub remaining: Nanos,
}

/// One array unit.
#[derive(Clone, Debug)]
pub struct Unit {
    pub(super) state: State,
    /// The first transaction in service; `sibling` links the others.
    pub(super) head: TxnId,
    /// Transactions in service that must still be transferred or decoded.
    pub(super) pending: u8,
    /// Pages in the cache register that must still be transferred.
    pub(super) cached: u8,
    /// Number of suspensions of the operation in service.
    pub(super) suspends: u8,
    /// Array time left at the last suspension. A resume takes time but does not add to it.
    pub(super) left: Nanos,
    pub(super) pipelined: Pipelined,
    /// When the attempt before the sensed one will fail, if that was computed in advance.
    pub(super) fails_at: SimTime,
    pub(super) suspended: Option<Suspended>,
    pub(super) work: Work,
    /// The reads that were suspended last. `next` links the reads suspended before, which reads of
    /// a higher rank overtook.
    pub(super) suspended_reads: TxnId,
    /// Number of suspended reads; reads that planes perform together count as one.
    pub(super) suspended_read_count: u8,
    /// Host operations that began past others of a lower rank since one of those had a turn.
    pub(super) passes: u16,
    /// The first plane, and the number of planes.
    pub(super) first_plane: PlaneId,
    pub(super) plane_count: u32,
    pub(super) channel: u16,
    /// Transactions in the queues of its planes.
    pub(super) waiting: u32,
    /// Whether the unit is in the list of units to serve.
    pub(super) listed: bool,
    /// The cause of the operation in service, and the start of its time.
    pub(super) cause: Cause,
    pub(super) since: SimTime,
    /// Busy nanoseconds for each cause, up to `since`.
    pub(super) busy: [u64; Cause::COUNT],
}

impl Unit {
    pub(super) fn new(first_plane: PlaneId, plane_count: u32, channel: u16) -> Unit {
        Unit {
            state: State::Idle,
            head: TxnId::NONE,
            pending: 0,
            cached: 0,
            suspends: 0,
            left: Nanos::MAX,
            pipelined: Pipelined::Nothing,
            fails_at: SimTime::START,
            suspended: None,
            work: Work::default(),
            suspended_reads: TxnId::NONE,
            suspended_read_count: 0,
            passes: 0,
            first_plane,
            plane_count,
            channel,
            waiting: 0,
            listed: false,
            cause: Cause::Host,
            since: SimTime::START,
            busy: [0; Cause::COUNT],
        }
    }

    /// Returns the unit's planes.
    #[inline]
    pub fn planes(&self) -> impl Iterator<Item = PlaneId> + use<> {
        (self.first_plane.0..self.first_plane.0 + self.plane_count).map(PlaneId)
    }

    /// Returns whether the unit is free.
    pub fn is_free(&self) -> bool {
        self.state == State::Idle
    }

    /// Returns whether a transaction waits for the unit's planes.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        self.waiting > 0
    }

    /// Returns whether a transaction waits for the unit or is suspended on it.
    #[inline]
    pub(crate) fn has_to_do(&self) -> bool {
        self.waiting > 0 || self.suspended.is_some() || self.suspended_reads.is_some()
    }

    /// Counts the busy time of the operation in service up to `now`.
    #[inline]
    pub(super) fn count_busy(&mut self, now: SimTime) {
        if self.state != State::Idle {
            self.busy[self.cause as usize] += (now - self.since).as_ns();
        }
        self.since = now;
    }

    /// Returns the busy nanoseconds until `now`.
    pub(super) fn busy(&self, now: SimTime) -> u64 {
        let current = if self.state == State::Idle { 0 } else { (now - self.since).as_ns() };
        self.busy.iter().sum::<u64>() + current
    }

    /// Records how long the unit has worked for each cause when a transaction begins to wait.
    #[inline]
    pub(super) fn note_wait(&mut self, txn: &mut Txn, now: SimTime) {
        debug_assert_eq!(txn.since, now, "a wait begins where the time before it was charged");
        self.count_busy(now);
        txn.waited = self.busy;
    }

    /// Ends a transaction's wait and divides it among the causes that the unit worked for.
    #[inline(always)]
    pub(super) fn charge_wait(&mut self, txn: &mut Txn, now: SimTime) {
        let total = (now - txn.since).as_ns();
        if total == 0 {
            return;
        }
        if txn.failed > 0 {
            return txn.charge(Part::Retry, now);
        }
        self.count_busy(now);
        let mut others = 0;
        for cause in 1..Cause::COUNT {
            let busy = self.busy[cause] - txn.waited[cause];
            txn.blame[Part::DieHost as usize + cause] += busy;
            others += busy;
        }
        txn.blame[Part::DieHost as usize] += total - others;
        txn.since = now;
    }

    /// Removes a transaction from those that the unit holds.
    #[inline(always)]
    pub(super) fn leave(&mut self, txns: &mut Txns, id: TxnId) {
        let after = txns[id].sibling;
        self.pending -= 1;
        if self.head == id {
            self.head = after;
            return;
        }
        let mut before = self.head;
        while txns[before].sibling != id {
            before = txns[before].sibling;
        }
        txns.get_mut(before).sibling = after;
    }

    /// Records the start of a program or an erase that takes `span` and may be interrupted.
    pub(super) fn begin_work(&mut self, span: Nanos, now: SimTime) {
        let work = Work { total: span, since: now, ..Work::default() };
        (self.work, self.left) = (work, work.total);
    }

    /// Returns the array time left for the program or erase in service, whose timer fires at
    /// `ends`.
    pub(super) fn left(&self, ends: SimTime, now: SimTime) -> Nanos {
        (ends.saturating_since(now) + self.work.beyond).min(self.left)
    }

    /// Returns the loops of the program or erase in service, if one of them may be dropped.
    /// `loops` are those of a program and of an erase.
    pub(super) fn loops(&self, loops: Option<[u8; 2]>) -> Option<u8> {
        let loops = loops?;
        match self.state {
            State::Programming => Some(loops[0]),
            State::Erasing => Some(loops[1]),
            _ => None,
        }
    }

    /// Checks that the time worked and the time left add up to the total and the dropped time.
    ///
    /// # Errors
    /// Time was lost or counted twice.
    pub(super) fn adds_up(&self, left: Nanos, now: SimTime) -> Result<(), String> {
        let works = matches!(self.state, State::Programming | State::Erasing);
        let dispatch = if works { now.saturating_since(self.work.since) } else { Nanos::ZERO };
        let worked = self.work.worked + dispatch;
        if worked + left == self.work.total + self.work.dropped {
            return Ok(());
        }
        let [worked, left] = [worked, left].map(Nanos::as_ns);
        Err(format!("{:?}: worked {worked} ns with {left} ns left", self.work))
    }

    /// Suspends the program or erase in service, which has this much array time left. Returns its
    /// kind.
    pub(super) fn interrupt(&mut self, remaining: Nanos, now: SimTime) -> OpKind {
        let kind = match self.state {
            State::Programming => OpKind::Program,
            State::Erasing => OpKind::Erase,
            state => unreachable!("a unit that is {state:?} cannot be suspended"),
        };
        self.work.worked += now.saturating_since(self.work.since);
        self.work.beyond = Nanos::ZERO;
        self.suspended = Some(Suspended { head: self.head, kind, cause: self.cause, remaining });
        self.suspends = self.suspends.saturating_add(1);
        kind
    }

    /// Returns the suspended program or erase to service; the array works for it from `begins` on.
    pub(super) fn resume(&mut self, begins: SimTime, now: SimTime) -> Suspended {
        self.count_busy(now);
        let suspended = self.suspended.take().expect("a suspended operation");
        self.passes = 0;
        self.head = suspended.head;
        self.cause = suspended.cause;
        self.left = suspended.remaining;
        self.work.since = begins;
        suspended
    }

    /// Puts the reads in service above those that were suspended before.
    pub(super) fn suspend_reads(&mut self, txns: &mut Txns) {
        self.suspended_read_count += 1;
        txns.get_mut(self.head).next = std::mem::replace(&mut self.suspended_reads, self.head);
    }

    /// Returns the reads that were suspended last to service.
    pub(super) fn resume_reads(&mut self, txns: &mut Txns, now: SimTime) {
        self.count_busy(now);
        let head = self.suspended_reads;
        self.head = head;
        self.cause = txns[head].cause;
        self.suspended_reads = std::mem::replace(&mut txns.get_mut(head).next, TxnId::NONE);
        self.suspended_read_count -= 1;
        self.passes = 0;
    }

    /// Returns every read that the unit has suspended, the last first.
    pub(super) fn suspended_reads<'a>(&self, txns: &'a Txns) -> impl Iterator<Item = TxnId> + 'a {
        self.suspended_heads(txns).flat_map(|head| txns.members(head))
    }

    /// Returns the first read of each suspended group, the last group first.
    fn suspended_heads<'a>(&self, txns: &'a Txns) -> impl Iterator<Item = TxnId> + 'a {
        let first = Some(self.suspended_reads).filter(|id| id.is_some());
        let below = |&id: &TxnId| Some(txns[id].next).filter(|id| id.is_some());
        std::iter::successors(first, below)
    }

    /// Returns the number of host reads that the unit has suspended. Background reads do not count:
    /// they have the lowest rank and use up none of the limit.
    pub(super) fn suspended_host_reads(&self, txns: &Txns) -> u8 {
        let heads = self.suspended_heads(txns).map(|head| Rank::of(&txns[head]));
        heads.filter(|rank| *rank != Rank::BACKGROUND).count() as u8
    }

    /// Returns whether a host read of a higher rank than `rank` waits for the unit.
    #[inline]
    pub(super) fn is_awaited_by_read_above(&self, queues: &Queues, rank: Rank) -> bool {
        let reads = Rank::HOST_READS & rank.higher();
        if reads == 0 || !self.is_awaited() {
            return false;
        }
        self.planes().any(|plane| queues[plane].any(reads))
    }
}
