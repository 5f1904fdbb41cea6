//! Selects the next operation of a free array unit.
//!
//! A limit prevents starvation. An operation behind higher ranks, or interrupted for them, goes
//! next after a limit of host operations has passed it.

use ssdlab_nand::{Geometry, PlaneId};

use super::plane_queues::{PlaneQueues, Rank};
use super::queues::Queues;
use super::txn::{Txn, TxnId, Txns};
use super::unit::{State, Unit};
use crate::account::OpKind;

/// The next operation of a free unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Serve the first transaction of this plane's queue.
    Serve(PlaneId, u8),
    /// Resume the suspended program or erase.
    Resume,
    /// Continue the reads that were suspended last.
    ResumeReads,
    /// Start nothing.
    Nothing,
}

/// Selects operations; reads the waiting and the suspended ones, and changes nothing.
#[derive(Clone, Debug)]
pub(super) struct Selector {
    geometry: Geometry,
    /// Host operations that may begin on a unit past others of a lower rank before one of those has
    /// a turn; 0 for no limit.
    max_passes: u16,
}

impl Selector {
    /// Creates a selector that lets at most `max_passes` operations pass others; 0 for no limit.
    pub(super) fn new(geometry: &Geometry, max_passes: u16) -> Selector {
        Selector { geometry: geometry.clone(), max_passes }
    }

    /// Returns the next operation of a unit; [`Next::Nothing`] if the unit is not free.
    #[inline(always)]
    pub(super) fn next_of(&self, unit: &Unit, txns: &Txns, queues: &Queues) -> Next {
        if unit.state != State::Idle {
            return Next::Nothing;
        }
        if self.at_pass_limit(unit)
            && let Some(next) = self.next_passed(unit, txns, queues)
        {
            return next;
        }
        let best = match (unit.waiting, unit.plane_count) {
            (0, _) => None,
            (_, 1) => {
                let (plane, own) = (unit.first_plane, &queues[unit.first_plane]);
                own.first(txns, self.allowed(unit, txns, own)).map(|queue| (plane, queue))
            }
            _ => self.first_of_planes(unit, txns, queues),
        };
        if unit.suspended_reads.is_some() {
            return self.next_with_suspended_reads(unit, best, txns, queues);
        }
        match best {
            Some((plane, queue)) => Next::Serve(plane, queue),
            // A suspended operation does not resume beside a page in the cache register.
            None if unit.suspended.is_some() && unit.cached == 0 => Next::Resume,
            None => Next::Nothing,
        }
    }

    /// Returns the queue to serve among the queues of a unit's planes that may start now. The
    /// highest rank wins, then the queue whose first transaction arrived first.
    #[inline(always)]
    fn first_of_planes(&self, unit: &Unit, txns: &Txns, queues: &Queues) -> Option<(PlaneId, u8)> {
        let mut best: Option<(u8, u64, PlaneId, u8)> = None;
        for plane in unit.planes() {
            let own = &queues[plane];
            if !own.any(Rank::ALL) {
                continue;
            }
            let allowed = self.allowed(unit, txns, own);
            let Some(queue) = own.first(txns, allowed) else { continue };
            let seq = txns[own.head(queue)].seq;
            if best.is_none_or(|(rank, first, ..)| (queue >> 1, seq) < (rank, first)) {
                best = Some((queue >> 1, seq, plane, queue));
            }
        }
        best.map(|(_, _, plane, queue)| (plane, queue))
    }

    /// Returns the queues of a plane that a free unit may serve now.
    #[inline(always)]
    fn allowed(&self, unit: &Unit, txns: &Txns, queues: &PlaneQueues) -> u16 {
        const READS: u16 = 0x5555;
        let mut allowed = queues.open();
        // Beside a suspended operation only reads can start, and only host reads are worth it.
        if unit.suspended.is_some() {
            allowed &= Rank::HOST_READS;
        }
        if unit.suspended_reads.is_some() {
            allowed &= !self.unsafe_erases(unit, txns, queues);
        }
        // A page in the cache register leaves no room for a page to program.
        if unit.cached > 0 {
            allowed &= READS;
        }
        allowed
    }

    /// Selects the next operation of a free unit with suspended reads; `first` is the first
    /// operation in its queues. The reads continue when no host read of a higher rank waits.
    #[cold]
    fn next_with_suspended_reads(
        &self,
        unit: &Unit,
        first: Option<(PlaneId, u8)>,
        txns: &Txns,
        queues: &Queues,
    ) -> Next {
        let rank = Rank::of(&txns[unit.suspended_reads]);
        match first {
            Some((plane, queue)) if unit.is_awaited_by_read_above(queues, rank) => {
                Next::Serve(plane, queue)
            }
            // A suspended program or erase goes before suspended background reads.
            _ if rank == Rank::BACKGROUND && unit.suspended.is_some() => Next::Resume,
            _ => Next::ResumeReads,
        }
    }

    /// Returns a plane's queues whose first operation would erase the block of a suspended read.
    #[cold]
    fn unsafe_erases(&self, unit: &Unit, txns: &Txns, queues: &PlaneQueues) -> u16 {
        let erases = |rank: Rank| {
            let queue = rank.queue(OpKind::Erase);
            let head = queues.head(queue);
            let waits = head.is_some() && !self.may_start(unit, head, txns);
            u16::from(waits) << queue
        };
        erases(Rank::URGENT) | erases(Rank::BACKGROUND)
    }

    /// Returns whether an operation may start beside its unit's suspended reads. It must not erase
    /// a block that one of them reads.
    pub(super) fn may_start(&self, unit: &Unit, id: TxnId, txns: &Txns) -> bool {
        let txn = &txns[id];
        let block = self.geometry.block_of(txn.ppn);
        let is_read = |read: TxnId| self.geometry.block_of(txns[read].ppn) == block;
        txn.kind != OpKind::Erase || !unit.suspended_reads(txns).any(is_read)
    }

    /// Returns whether the limit of operations has passed those that wait for a unit or are
    /// suspended on it.
    #[inline]
    fn at_pass_limit(&self, unit: &Unit) -> bool {
        let most = self.max_passes;
        most > 0 && unit.passes >= most
    }

    /// Selects what a unit at the limit does, if an operation that others passed can go. Suspended
    /// operations go before waiting ones. Suspended reads go before a suspended program or erase,
    /// unless that has a higher rank. Of the waiting operations the earliest goes.
    #[cold]
    fn next_passed(&self, unit: &Unit, txns: &Txns, queues: &Queues) -> Option<Next> {
        let rank = |id: TxnId| Rank::of(&txns[id]);
        let interrupted =
            unit.suspended.filter(|_| unit.cached == 0).map(|suspended| rank(suspended.head));
        if unit.suspended_reads.is_some()
            && interrupted.is_none_or(|own| own >= rank(unit.suspended_reads))
        {
            return Some(Next::ResumeReads);
        }
        if interrupted.is_some() {
            return Some(Next::Resume);
        }
        let hosts = Rank::HOST_READS | Rank::HOST_PROGRAMS;
        let heads = unit.planes().flat_map(|plane| {
            let own = &queues[plane];
            let heads = own.heads(self.allowed(unit, txns, own) & hosts);
            heads.map(move |(queue, head)| (txns[head].seq, plane, queue))
        });
        heads.min().map(|(_, plane, queue)| Next::Serve(plane, queue))
    }

    /// Returns the count of passes of a unit on which the operation `first` begins: one more if it
    /// passes other host operations, else 0. An operation of no host rank does not count: `None`.
    pub(super) fn passes_after(&self, unit: &Unit, first: &Txn, queues: &Queues) -> Option<u16> {
        let rank = Rank::of(first);
        if rank == Rank::URGENT || rank == Rank::BACKGROUND {
            return None;
        }
        let lower = (Rank::HOST_READS | Rank::HOST_PROGRAMS) & rank.lower();
        let passes = unit.suspended_reads.is_some()
            || unit.suspended.is_some()
            || unit.planes().any(|plane| queues[plane].any(lower));
        Some(if passes && !self.at_pass_limit(unit) { unit.passes + 1 } else { 0 })
    }
}
