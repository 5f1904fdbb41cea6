//! The queues of a plane: for each rank, one lane of reads and one of programs and erases.
//!
//! Lower rank numbers go first. Within a rank, the transaction that arrived first goes first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::txn::{Fifo, Txn, TxnId, Txns};
use crate::account::OpKind;

/// The urgency of a transaction in its plane's queues; 0 goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rank(u8);

/// The number of ranks that a scheduler can give to host requests.
pub const HOST_RANKS: u8 = 5;
/// All ranks: one above the host's, for operations that the host waits for, and one below.
const RANKS: u8 = HOST_RANKS + 2;
const LANES: usize = 2 * RANKS as usize;

impl Rank {
    /// The rank before all host operations: the host cannot continue without these transactions.
    pub const URGENT: Rank = Rank(0);
    /// The rank after all host operations.
    pub const BACKGROUND: Rank = Rank(RANKS - 1);

    /// Returns the host rank of `level`; 0 is the most urgent. Levels beyond the last one count as
    /// the last.
    #[inline]
    pub const fn host(level: u8) -> Rank {
        Rank(if level < HOST_RANKS { level + 1 } else { HOST_RANKS })
    }

    /// Returns the lane of this rank for a kind of operation.
    #[inline]
    pub fn lane(self, kind: OpKind) -> u8 {
        2 * self.0 + u8::from(kind != OpKind::Read)
    }

    /// Returns the rank of a transaction when it was last enqueued.
    #[inline]
    pub(super) fn of(txn: &Txn) -> Rank {
        Rank(txn.lane >> 1)
    }

    /// Returns the lanes of all ranks before this one.
    #[inline]
    pub(super) fn higher(self) -> u16 {
        (1 << (2 * self.0)) - 1
    }

    /// Returns the lanes of all ranks after this one.
    #[inline]
    pub(super) fn lower(self) -> u16 {
        Rank::ALL & !((1 << (2 * (self.0 + 1))) - 1)
    }

    /// The lanes of the host's reads.
    pub const HOST_READS: u16 = Rank::host_lanes(0);
    /// The lanes of the host's programs.
    pub const HOST_PROGRAMS: u16 = Rank::host_lanes(1);
    /// Every lane.
    pub const ALL: u16 = (1 << LANES) - 1;

    const fn host_lanes(kind: u16) -> u16 {
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
pub struct Lanes {
    /// The list of each lane, whose head is the first transaction of the lane.
    fifos: [Fifo; LANES],
    occupied: u16,
    /// Lanes with transactions in `late`.
    overtaken: u16,
    waiting: u32,
    /// Transactions that entered their lane after later ones, and do not go before all of them.
    late: BTreeMap<Late, TxnId>,
    /// Number of transactions ever put into `late`.
    late_count: u64,
}

/// The order of late transactions: by lane, then by arrival number. Of equal numbers, the
/// transaction inserted last goes first.
type Late = (u8, u64, Reverse<u64>);

impl Lanes {
    /// Adds a transaction to its lane, before all that arrived later.
    #[inline(always)]
    pub fn push(&mut self, txns: &mut Txns, id: TxnId) {
        let lane = txns[id].lane;
        let fifo = &mut self.fifos[lane as usize];
        if fifo.is_empty() || txns[fifo.tail()].seq <= txns[id].seq {
            fifo.push(txns, id)
        } else {
            self.push_late(txns, id)
        }
        self.occupied |= 1 << lane;
        self.waiting += 1;
    }

    /// Adds a transaction that goes before the last one of its lane.
    #[cold]
    fn push_late(&mut self, txns: &mut Txns, id: TxnId) {
        let (lane, seq) = (txns[id].lane, txns[id].seq);
        let fifo = &mut self.fifos[lane as usize];
        if txns[fifo.head()].seq >= seq {
            return fifo.push_front(txns, id);
        }
        self.late.insert((lane, seq, Reverse(self.late_count)), id);
        self.late_count += 1;
        self.overtaken |= 1 << lane;
    }

    /// Returns whether a transaction waits in these lanes.
    #[inline]
    pub fn any(&self, lanes: u16) -> bool {
        self.occupied & lanes != 0
    }

    /// Returns the number of transactions that wait here.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Returns the waiting transactions lane by lane, each with its lane.
    pub fn ids(&self, txns: &Txns) -> Vec<(u8, TxnId)> {
        let mut all = Vec::new();
        for (lane, fifo) in (0..).zip(&self.fifos) {
            let mut late = self.late_of(lane).peekable();
            for id in fifo.ids(txns) {
                while let Some((_, &late)) = late.next_if(|(at, _)| at.1 <= txns[id].seq) {
                    all.push((lane, late));
                }
                all.push((lane, id));
            }
            all.extend(late.map(|(_, &id)| (lane, id)));
        }
        all
    }

    /// Returns the late transactions of a lane, in their order.
    fn late_of(&self, lane: u8) -> impl Iterator<Item = (&Late, &TxnId)> {
        self.late.range((lane, 0, Reverse(u64::MAX))..(lane + 1, 0, Reverse(u64::MAX)))
    }

    /// Returns whether a lane is marked as occupied.
    pub fn is_marked(&self, lane: u8) -> bool {
        self.occupied & (1 << lane) != 0
    }

    /// Returns the lane, among those `allowed`, whose first transaction goes next.
    #[inline]
    pub fn first(&self, txns: &Txns, allowed: u16) -> Option<u8> {
        let open = self.occupied & allowed;
        if open == 0 {
            return None;
        }
        let lane = open.trailing_zeros() as u8;
        let other = lane | 1;
        let both = lane & 1 == 0 && open & (1 << other) != 0;
        if both && txns[self.head(other)].seq < txns[self.head(lane)].seq {
            return Some(other);
        }
        Some(lane)
    }

    /// Returns the occupied lanes among those `allowed`, each with its first transaction.
    pub fn heads(&self, allowed: u16) -> impl Iterator<Item = (u8, TxnId)> {
        let open = self.occupied & allowed;
        let lanes = (0..LANES as u8).filter(move |lane| open & (1 << lane) != 0);
        lanes.map(|lane| (lane, self.head(lane)))
    }

    /// Returns the first transaction of a lane.
    #[inline]
    pub fn head(&self, lane: u8) -> TxnId {
        self.fifos[lane as usize].head()
    }

    /// Takes the first transaction of a lane.
    #[inline]
    pub fn pop(&mut self, txns: &mut Txns, lane: u8) -> Option<TxnId> {
        let id = self.fifos[lane as usize].pop(txns)?;
        if self.overtaken & (1 << lane) != 0 {
            self.fetch_late(txns, lane);
        }
        if self.fifos[lane as usize].is_empty() {
            self.occupied &= !(1 << lane);
        }
        self.waiting -= 1;
        Some(id)
    }

    /// Moves the first late transaction to the front of its lane, if its turn has come, with all
    /// that share its arrival number.
    #[cold]
    fn fetch_late(&mut self, txns: &mut Txns, lane: u8) {
        let (&(_, seq, _), _) = self.late_of(lane).next().expect("a lane marked as overtaken");
        let fifo = &mut self.fifos[lane as usize];
        if !fifo.is_empty() && txns[fifo.head()].seq < seq {
            return;
        }
        let alike = (lane, seq, Reverse(u64::MAX))..=(lane, seq, Reverse(0));
        while let Some((&at, &id)) = self.late.range(alike.clone()).next_back() {
            self.late.remove(&at);
            fifo.push_front(txns, id);
        }
        if self.late_of(lane).next().is_none() {
            self.overtaken &= !(1 << lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ssdlab_base::SimTime;

    use super::*;

    /// The transactions in each lane with their arrival numbers, as plain lists.
    type Model = [Vec<(u64, TxnId)>; LANES];

    /// Returns the lane to serve: by rank, then by the arrival number of the lane's first
    /// transaction.
    fn next(waiting: &Model, allowed: u16) -> Option<u8> {
        let lanes = (0..LANES as u8).filter(|lane| allowed & (1 << lane) != 0);
        let firsts = lanes.filter_map(|lane| Some((lane, waiting[usize::from(lane)].first()?.0)));
        firsts.min_by_key(|(lane, seq)| (lane >> 1, *seq)).map(|(lane, _)| lane)
    }

    /// Inserts a transaction before all that arrived later or share its number; else at the end.
    fn put(waiting: &mut Model, txns: &Txns, id: TxnId) {
        let seq = txns[id].seq;
        let lane = &mut waiting[usize::from(txns[id].lane)];
        let at = match lane.last() {
            Some(&(last, _)) if last > seq => lane.partition_point(|&(other, _)| other < seq),
            _ => lane.len(),
        };
        lane.insert(at, (seq, id));
    }

    proptest! {
        #[test]
        fn the_next_is_that_of_a_search_through_all(
            acts in prop::collection::vec((0u8..LANES as u8, 0u8..4, any::<u16>()), 1..300),
        ) {
            let (mut txns, mut lanes) = (Txns::default(), Lanes::default());
            let mut waiting = Model::default();
            let mut taken: Vec<TxnId> = Vec::new();
            for (number, (lane, act, mask)) in (1u64..).zip(acts) {
                let allowed = mask & Rank::ALL;
                match act {
                    0 | 1 => {
                        let id = txns.insert(SimTime::START);
                        // Some arrive late, and some share a number.
                        let seq = if act == 0 { number } else { (number * u64::from(mask)) >> 16 };
                        // Few lanes, so that each grows long.
                        (txns[id].lane, txns[id].seq) = (lane % 3, seq);
                        lanes.push(&mut txns, id);
                        put(&mut waiting, &txns, id);
                    }
                    // A transaction that failed returns to its position.
                    2 if !taken.is_empty() => {
                        let id = taken.swap_remove(number as usize % taken.len());
                        lanes.push(&mut txns, id);
                        put(&mut waiting, &txns, id);
                    }
                    _ => {
                        let first = lanes.first(&txns, allowed);
                        prop_assert_eq!(first, next(&waiting, allowed));
                        let Some(lane) = first else { continue };
                        let (_, expected) = waiting[usize::from(lane)].remove(0);
                        prop_assert_eq!(lanes.head(lane), expected);
                        prop_assert_eq!(lanes.pop(&mut txns, lane), Some(expected));
                        taken.push(expected);
                    }
                }
                let all = (0u8..).zip(&waiting);
                let all = all.flat_map(|(lane, ids)| ids.iter().map(move |&(_, id)| (lane, id)));
                let all: Vec<_> = all.collect();
                prop_assert_eq!(lanes.waiting() as usize, all.len());
                prop_assert_eq!(lanes.ids(&txns), all);
            }
        }
    }

    #[test]
    fn what_the_host_waits_for_goes_before_the_host_and_the_rest_after() {
        let lanes = |rank: Rank| [rank.lane(OpKind::Read), rank.lane(OpKind::Program)];
        let order: Vec<u8> = [Rank::URGENT, Rank::host(0), Rank::host(4), Rank::BACKGROUND]
            .into_iter()
            .flat_map(lanes)
            .collect();
        assert!(order.is_sorted());
        for beyond in [HOST_RANKS, 9] {
            assert_eq!(lanes(Rank::host(beyond)), lanes(Rank::host(HOST_RANKS - 1)));
        }
        assert_eq!(Rank::URGENT.lane(OpKind::Erase), Rank::URGENT.lane(OpKind::Program));
        let host = (0..HOST_RANKS).map(Rank::host);
        let reads: u16 = host.clone().map(|rank| 1 << rank.lane(OpKind::Read)).sum();
        let programs: u16 = host.map(|rank| 1 << rank.lane(OpKind::Program)).sum();
        assert_eq!((Rank::HOST_READS, Rank::HOST_PROGRAMS), (reads, programs));
        let others = [Rank::URGENT, Rank::BACKGROUND].into_iter().flat_map(lanes);
        assert_eq!(Rank::ALL, reads + programs + others.map(|lane| 1 << lane).sum::<u16>());
        assert_eq!(usize::from(Rank::BACKGROUND.lane(OpKind::Erase)), LANES - 1);
    }
}
