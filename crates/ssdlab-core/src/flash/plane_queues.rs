//! The queues of a plane: for each rank, a queue of reads and one of programs and erases.
//!
//! Lower rank numbers go first. Within a rank, the transaction that arrived first goes first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::fifo::Fifo;
use super::txn::{Txn, TxnId, Txns};
use crate::account::OpKind;
use crate::policy::scheduler::HostRank;

/// The urgency of a transaction in its plane's queues; 0 goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rank(u8);

/// The number of ranks that a scheduler can give to host requests.
pub(crate) const HOST_RANKS: u8 = 5;
/// All ranks: one above the host's, for operations that the host waits for, and one below.
const RANKS: u8 = HOST_RANKS + 2;
const QUEUES: usize = 2 * RANKS as usize;

impl Rank {
    /// The rank before all host operations: the host cannot continue without these transactions.
    pub const URGENT: Rank = Rank(0);
    /// The rank after all host operations.
    pub const BACKGROUND: Rank = Rank(RANKS - 1);

    /// Returns the rank that a scheduler gives to a host operation. Ranks beyond the last one count
    /// as the last.
    #[inline]
    pub const fn host(HostRank(rank): HostRank) -> Rank {
        Rank(if rank < HOST_RANKS { rank + 1 } else { HOST_RANKS })
    }

    /// Returns the queue of this rank for a kind of operation.
    #[inline]
    pub fn queue(self, kind: OpKind) -> u8 {
        2 * self.0 + u8::from(kind != OpKind::Read)
    }

    /// Returns the rank of a transaction when it was last enqueued.
    pub(super) fn of(txn: &Txn) -> Rank {
        Rank(txn.plane_queue >> 1)
    }

    /// Returns the queues of all ranks before this one.
    #[inline]
    pub(super) fn higher(self) -> u16 {
        (1 << (2 * self.0)) - 1
    }

    /// Returns the queues of all ranks after this one.
    pub(super) fn lower(self) -> u16 {
        Rank::ALL & !((1 << (2 * (self.0 + 1))) - 1)
    }

    /// The queues of the host's reads.
    pub const HOST_READS: u16 = Rank::host_queues(0);
    /// The queues of the host's programs.
    pub const HOST_PROGRAMS: u16 = Rank::host_queues(1);
    /// Every queue.
    pub const ALL: u16 = (1 << QUEUES) - 1;

    const fn host_queues(kind: u16) -> u16 {
        let (mut mask, mut level) = (0, 0);
        while level < HOST_RANKS {
            mask |= 1 << (2 * (level + 1) as u16 + kind);
            level += 1;
        }
        mask
    }
}

/// The waiting transactions of one plane.
#[derive(Clone, Debug, Default)]
pub struct PlaneQueues {
    /// The list of each queue, whose head is the first transaction of the queue.
    fifos: [Fifo; QUEUES],
    occupied: u16,
    /// Queues with transactions in `late`.
    overtaken: u16,
    waiting: u32,
    /// Transactions that entered their queue after later ones, and do not go before all of them.
    late: BTreeMap<Late, TxnId>,
    /// Number of transactions ever put into `late`.
    late_count: u64,
    /// Queues that are blocked: those of the host's programs, or none.
    blocked: u16,
}

/// The order of late transactions: by queue, then by arrival number. Of equal numbers, the
/// transaction inserted last goes first.
type Late = (u8, u64, Reverse<u64>);

impl PlaneQueues {
    /// Adds a transaction to its queue, before all that arrived later.
    #[inline(always)]
    pub fn push(&mut self, txns: &mut Txns, id: TxnId) {
        let queue = txns[id].plane_queue;
        let fifo = &mut self.fifos[queue as usize];
        if fifo.is_empty() || txns[fifo.tail()].seq <= txns[id].seq {
            fifo.push(txns, id)
        } else {
            self.push_late(txns, id)
        }
        self.occupied |= 1 << queue;
        self.waiting += 1;
    }

    /// Adds a transaction that goes before the last one of its queue.
    #[cold]
    fn push_late(&mut self, txns: &mut Txns, id: TxnId) {
        let (queue, seq) = (txns[id].plane_queue, txns[id].seq);
        let fifo = &mut self.fifos[queue as usize];
        if txns[fifo.head()].seq >= seq {
            return fifo.push_front(txns, id);
        }
        self.late.insert((queue, seq, Reverse(self.late_count)), id);
        self.late_count += 1;
        self.overtaken |= 1 << queue;
    }

    /// Blocks or unblocks the host's programs.
    pub(crate) fn block_programs(&mut self, blocked: bool) {
        self.blocked = if blocked { Rank::HOST_PROGRAMS } else { 0 };
    }

    /// Returns the queues that are not blocked.
    #[inline]
    pub fn open(&self) -> u16 {
        Rank::ALL & !self.blocked
    }

    /// Returns whether the host's programs are blocked.
    pub(crate) fn blocks_programs(&self) -> bool {
        self.blocked != 0
    }

    /// Returns whether a transaction waits in these queues.
    #[inline]
    pub fn any(&self, queues: u16) -> bool {
        self.occupied & queues != 0
    }

    /// Returns the number of transactions that wait here.
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Returns the waiting transactions queue by queue, each with its queue.
    pub(crate) fn ids(&self, txns: &Txns) -> Vec<(u8, TxnId)> {
        let mut all = Vec::new();
        for (queue, fifo) in (0..).zip(&self.fifos) {
            let mut late = self.late_of(queue).peekable();
            for id in fifo.ids(txns) {
                while let Some((_, &late)) = late.next_if(|(at, _)| at.1 <= txns[id].seq) {
                    all.push((queue, late));
                }
                all.push((queue, id));
            }
            all.extend(late.map(|(_, &id)| (queue, id)));
        }
        all
    }

    /// Returns the late transactions of a queue, in their order.
    fn late_of(&self, queue: u8) -> impl Iterator<Item = (&Late, &TxnId)> {
        self.late.range((queue, 0, Reverse(u64::MAX))..(queue + 1, 0, Reverse(u64::MAX)))
    }

    /// Returns whether a queue is marked as occupied.
    pub(crate) fn is_marked(&self, queue: u8) -> bool {
        self.occupied & (1 << queue) != 0
    }

    /// Returns the queue, among those `allowed`, whose first transaction goes next.
    #[inline]
    pub fn first(&self, txns: &Txns, allowed: u16) -> Option<u8> {
        let open = self.occupied & allowed;
        if open == 0 {
            return None;
        }
        let queue = open.trailing_zeros() as u8;
        let other = queue | 1;
        let both = queue & 1 == 0 && open & (1 << other) != 0;
        if both && txns[self.head(other)].seq < txns[self.head(queue)].seq {
            return Some(other);
        }
        Some(queue)
    }

    /// Returns the occupied queues among those `allowed`, each with its first transaction.
    pub fn heads(&self, allowed: u16) -> impl Iterator<Item = (u8, TxnId)> {
        let open = self.occupied & allowed;
        let queues = (0..QUEUES as u8).filter(move |queue| open & (1 << queue) != 0);
        queues.map(|queue| (queue, self.head(queue)))
    }

    /// Returns the first transaction of a queue.
    #[inline]
    pub fn head(&self, queue: u8) -> TxnId {
        self.fifos[queue as usize].head()
    }

    /// Takes the first transaction of a queue.
    #[inline]
    pub fn pop(&mut self, txns: &mut Txns, queue: u8) -> Option<TxnId> {
        let id = self.fifos[queue as usize].pop(txns)?;
        if self.overtaken & (1 << queue) != 0 {
            self.fetch_late(txns, queue);
        }
        if self.fifos[queue as usize].is_empty() {
            self.occupied &= !(1 << queue);
        }
        self.waiting -= 1;
        Some(id)
    }

    /// Moves the first late transaction to the front of its queue, if it goes next, with all
    /// that share its arrival number.
    #[cold]
    fn fetch_late(&mut self, txns: &mut Txns, queue: u8) {
        let (&(_, seq, _), _) = self.late_of(queue).next().expect("a queue marked as overtaken");
        let fifo = &mut self.fifos[queue as usize];
        if !fifo.is_empty() && txns[fifo.head()].seq < seq {
            return;
        }
        let alike = (queue, seq, Reverse(u64::MAX))..=(queue, seq, Reverse(0));
        while let Some((&at, &id)) = self.late.range(alike.clone()).next_back() {
            self.late.remove(&at);
            fifo.push_front(txns, id);
        }
        if self.late_of(queue).next().is_none() {
            self.overtaken &= !(1 << queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ssdlab_base::SimTime;
    use ssdlab_nand::Lpn;

    use super::super::txn::NewTxn;
    use super::*;

    /// The transactions in each queue with their arrival numbers, as plain lists.
    type Model = [Vec<(u64, TxnId)>; QUEUES];

    /// Returns the queue to serve: by rank, then by the arrival number of the queue's first
    /// transaction.
    fn next(waiting: &Model, allowed: u16) -> Option<u8> {
        let queues = (0..QUEUES as u8).filter(|queue| allowed & (1 << queue) != 0);
        let firsts =
            queues.filter_map(|queue| Some((queue, waiting[usize::from(queue)].first()?.0)));
        firsts.min_by_key(|(queue, seq)| (queue >> 1, *seq)).map(|(queue, _)| queue)
    }

    /// Inserts a transaction before all that arrived later or share its number; else at the end.
    fn put(waiting: &mut Model, txns: &Txns, id: TxnId) {
        let seq = txns[id].seq;
        let queue = &mut waiting[usize::from(txns[id].plane_queue)];
        let at = match queue.last() {
            Some(&(last, _)) if last > seq => queue.partition_point(|&(other, _)| other < seq),
            _ => queue.len(),
        };
        queue.insert(at, (seq, id));
    }

    proptest! {
        #[test]
        fn the_next_is_that_of_a_search_through_all(
            acts in prop::collection::vec((0u8..QUEUES as u8, 0u8..4, any::<u16>()), 1..300),
        ) {
            let (mut txns, mut queues) = (Txns::default(), PlaneQueues::default());
            let mut waiting = Model::default();
            let mut taken: Vec<TxnId> = Vec::new();
            for (number, (queue, act, mask)) in (1u64..).zip(acts) {
                let allowed = mask & Rank::ALL;
                match act {
                    0 | 1 => {
                        let id = txns.begin(NewTxn::read(Lpn(0)), SimTime::START);
                        // Some arrive late, and some share a number.
                        let seq = if act == 0 { number } else { (number * u64::from(mask)) >> 16 };
                        // Few queues, so that each grows long.
                        let txn = txns.get_mut(id);
                        (txn.plane_queue, txn.seq) = (queue % 3, seq);
                        queues.push(&mut txns, id);
                        put(&mut waiting, &txns, id);
                    }
                    // A transaction that failed returns to its position.
                    2 if !taken.is_empty() => {
                        let id = taken.swap_remove(number as usize % taken.len());
                        queues.push(&mut txns, id);
                        put(&mut waiting, &txns, id);
                    }
                    _ => {
                        let first = queues.first(&txns, allowed);
                        prop_assert_eq!(first, next(&waiting, allowed));
                        let Some(queue) = first else { continue };
                        let (_, expected) = waiting[usize::from(queue)].remove(0);
                        prop_assert_eq!(queues.head(queue), expected);
                        prop_assert_eq!(queues.pop(&mut txns, queue), Some(expected));
                        taken.push(expected);
                    }
                }
                let all = (0u8..).zip(&waiting);
                let all = all.flat_map(|(queue, ids)| ids.iter().map(move |&(_, id)| (queue, id)));
                let all: Vec<_> = all.collect();
                prop_assert_eq!(queues.waiting() as usize, all.len());
                prop_assert_eq!(queues.ids(&txns), all);
            }
        }
    }

    #[test]
    fn what_the_host_waits_for_goes_before_the_host_and_the_rest_after() {
        let host = |rank| Rank::host(HostRank(rank));
        let queues = |rank: Rank| [rank.queue(OpKind::Read), rank.queue(OpKind::Program)];
        let order: Vec<u8> = [Rank::URGENT, host(0), host(4), Rank::BACKGROUND]
            .into_iter()
            .flat_map(queues)
            .collect();
        assert!(order.is_sorted());
        for beyond in [HOST_RANKS, 9] {
            assert_eq!(queues(host(beyond)), queues(host(HOST_RANKS - 1)));
        }
        assert_eq!(Rank::URGENT.queue(OpKind::Erase), Rank::URGENT.queue(OpKind::Program));
        let host = (0..HOST_RANKS).map(host);
        let reads: u16 = host.clone().map(|rank| 1 << rank.queue(OpKind::Read)).sum();
        let programs: u16 = host.map(|rank| 1 << rank.queue(OpKind::Program)).sum();
        assert_eq!((Rank::HOST_READS, Rank::HOST_PROGRAMS), (reads, programs));
        let others = [Rank::URGENT, Rank::BACKGROUND].into_iter().flat_map(queues);
        assert_eq!(Rank::ALL, reads + programs + others.map(|queue| 1 << queue).sum::<u16>());
        assert_eq!(usize::from(Rank::BACKGROUND.queue(OpKind::Erase)), QUEUES - 1);
    }
}
