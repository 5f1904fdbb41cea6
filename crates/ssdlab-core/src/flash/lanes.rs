//! The queues of a plane: for each rank one of reads and one of programs and erases.
//!
//! Within a rank the earlier goes first; a lower rank goes before a higher one.

use super::txn::{Fifo, TxnId, Txns};
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
    /// Adds a transaction at the end of its lane.
    #[inline]
    pub fn push(&mut self, txns: &mut Txns, id: TxnId) {
        let lane = txns[id].lane;
        self.fifos[lane as usize].push(txns, id);
        self.occupied |= 1 << lane;
        self.waiting += 1;
    }

    /// Puts a transaction back into its lane, before all that came later.
    pub fn put_back(&mut self, txns: &mut Txns, id: TxnId) {
        let lane = txns[id].lane;
        self.fifos[lane as usize].put_back(txns, id);
        self.occupied |= 1 << lane;
        self.waiting += 1;
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
