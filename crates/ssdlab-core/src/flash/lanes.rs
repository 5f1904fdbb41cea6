//! The queues of a plane: for each rank one of reads and one of programs and erases.
//!
//! Within a rank the earlier goes first; a lower rank goes before a higher one.

use super::txn::{Fifo, Txn, TxnId, Txns};
use crate::account::OpKind;

/// How urgent a transaction is in its plane's queues; 0 goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rank(u8);

/// The most ranks that an order can give host requests.
pub const HOST_RANKS: u8 = 5;
/// Ranks in all: one above the host's, for what the host waits for, and one below.
const RANKS: u8 = HOST_RANKS + 2;
const LANES: usize = 2 * RANKS as usize;

impl Rank {
    /// Before everything that the host asks: it cannot go on without this.
    pub const URGENT: Rank = Rank(0);
    /// After everything that the host asks.
    pub const BACKGROUND: Rank = Rank(RANKS - 1);

    /// The host's rank `level`, 0 the most urgent; beyond the last it is the last.
    #[inline]
    pub const fn host(level: u8) -> Rank {
        Rank(if level < HOST_RANKS { level + 1 } else { HOST_RANKS })
    }

    /// The lane of this rank for this kind of operation.
    #[inline]
    pub fn lane(self, kind: OpKind) -> u8 {
        2 * self.0 + u8::from(kind != OpKind::Read)
    }

    /// The rank with which a transaction was last enqueued.
    #[inline]
    pub(super) fn of(txn: &Txn) -> Rank {
        Rank(txn.lane >> 1)
    }

    /// The lanes of all ranks before this one.
    #[inline]
    pub(super) fn higher(self) -> u16 {
        (1 << (2 * self.0)) - 1
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
    fifos: [Fifo; LANES],
    occupied: u16,
    waiting: u32,
}

impl Lanes {
    /// Adds a transaction to its lane, before all that came later.
    #[inline]
    pub fn push(&mut self, txns: &mut Txns, id: TxnId) {
        let lane = txns[id].lane;
        self.fifos[lane as usize].insert(txns, id);
        self.occupied |= 1 << lane;
        self.waiting += 1;
    }

    /// Whether anything waits in these lanes.
    #[inline]
    pub fn any(&self, lanes: u16) -> bool {
        self.occupied & lanes != 0
    }

    /// Transactions that wait here.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Those that wait here, lane by lane, each with its lane.
    pub fn ids<'a>(&'a self, txns: &'a Txns) -> impl Iterator<Item = (u8, TxnId)> + 'a {
        let lanes = (0..).zip(&self.fifos);
        lanes.flat_map(|(lane, fifo)| fifo.ids(txns).map(move |id| (lane, id)))
    }

    /// Whether a lane is marked as holding something.
    pub fn is_marked(&self, lane: u8) -> bool {
        self.occupied & (1 << lane) != 0
    }

    /// The lane, among those `allowed`, whose first transaction goes next.
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

    /// The first transaction of a lane.
    #[inline]
    pub fn head(&self, lane: u8) -> TxnId {
        self.fifos[lane as usize].head()
    }

    /// Takes the first transaction of a lane.
    #[inline]
    pub fn pop(&mut self, txns: &Txns, lane: u8) -> Option<TxnId> {
        let fifo = &mut self.fifos[lane as usize];
        let id = fifo.pop(txns)?;
        if fifo.is_empty() {
            self.occupied &= !(1 << lane);
        }
        self.waiting -= 1;
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The one to go next: the least rank, then the least number; of each lane only its first.
    fn next(waiting: &[(u8, u64)], allowed: u16) -> Option<(u8, u64)> {
        let open = waiting.iter().filter(|(lane, _)| allowed & (1 << lane) != 0);
        open.min_by_key(|(lane, seq)| (lane >> 1, *seq)).copied()
    }

    proptest! {
        #[test]
        fn the_next_is_that_of_a_search_through_all(
            acts in prop::collection::vec((0u8..LANES as u8, 0u8..3, any::<u16>()), 1..300),
        ) {
            let (mut txns, mut lanes) = (Txns::default(), Lanes::default());
            let mut waiting: Vec<(u8, u64)> = Vec::new();
            let mut taken: Vec<TxnId> = Vec::new();
            for (number, (lane, act, mask)) in (1u64..).zip(acts) {
                let allowed = mask & Rank::ALL;
                match act {
                    0 => {
                        let id = txns.insert(0);
                        (txns[id].lane, txns[id].seq) = (lane, number);
                        lanes.push(&mut txns, id);
                        waiting.push((lane, number));
                    }
                    // One that failed goes back to where it was.
                    1 if !taken.is_empty() => {
                        let id = taken.swap_remove(number as usize % taken.len());
                        lanes.push(&mut txns, id);
                        waiting.push((txns[id].lane, txns[id].seq));
                    }
                    _ => {
                        let first = lanes.first(&txns, allowed);
                        let expected = next(&waiting, allowed);
                        prop_assert_eq!(first, expected.map(|(lane, _)| lane));
                        let Some(lane) = first else { continue };
                        prop_assert_eq!(txns[lanes.head(lane)].seq, expected.unwrap().1);
                        taken.extend(lanes.pop(&txns, lane));
                        waiting.retain(|entry| Some(*entry) != expected);
                    }
                }
                prop_assert_eq!(lanes.waiting() as usize, waiting.len());
                let listed = lanes.ids(&txns).map(|(lane, id)| (lane, txns[id].seq));
                let mut sorted = waiting.clone();
                sorted.sort_unstable();
                prop_assert_eq!(listed.collect::<Vec<_>>(), sorted);
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
