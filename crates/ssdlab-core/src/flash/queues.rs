//! The queues of all planes, and the arrival numbers of their transactions.

use std::ops::Index;

use ssdlab_base::ensure;
use ssdlab_nand::PlaneId;

use super::census::Census;
use super::plane_queues::{PlaneQueues, Rank};
use super::txn::{Txn, TxnId, Txns};
use crate::account::OpKind;
use crate::policy::scheduler::HostRank;

/// The waiting transactions of a drive.
#[derive(Clone, Debug)]
pub struct Queues {
    planes: Box<[PlaneQueues]>,
    /// The arrival number of the next transaction.
    seq: u64,
    /// Whether transactions may share arrival numbers.
    shares_places: bool,
}

impl Queues {
    /// Creates the empty queues of this many planes.
    pub(super) fn new(planes: u32) -> Queues {
        Queues {
            planes: vec![PlaneQueues::default(); planes as usize].into_boxed_slice(),
            seq: 0,
            shares_places: false,
        }
    }

    /// Assigns a transaction the next arrival number.
    #[inline]
    pub(super) fn assign_seq(&mut self, txn: &mut Txn) {
        txn.seq = self.seq;
        self.seq += 1;
    }

    /// Returns the arrival number of the next transaction.
    pub(crate) fn next_seq(&self) -> u64 {
        self.seq
    }

    /// Assigns a transaction the arrival number of another; from now on transactions may share
    /// theirs.
    pub(super) fn inherit_seq(&mut self, txn: &mut Txn, seq: u64) {
        txn.seq = seq;
        self.shares_places = true;
    }

    /// Adds a transaction to its queue, at its position in the order of arrival.
    #[inline(always)]
    pub(super) fn push(&mut self, txns: &mut Txns, id: TxnId) {
        self.planes[txns[id].plane.index()].push(txns, id);
    }

    /// Takes the first transaction of a queue of a plane.
    #[inline(always)]
    pub(super) fn pop(&mut self, txns: &mut Txns, plane: PlaneId, queue: u8) -> TxnId {
        self.planes[plane.index()].pop(txns, queue).expect("a queue that has a head")
    }

    /// Raises a plane's first host program of a lower rank to the highest host rank, at its
    /// position in the order of arrival.
    pub(crate) fn raise(&mut self, txns: &mut Txns, plane: PlaneId) {
        let first = Rank::host(HostRank::FIRST).queue(OpKind::Program);
        let queues = &mut self.planes[plane.index()];
        let later = Rank::HOST_PROGRAMS & !(1 << first);
        let id = queues.first(txns, later).and_then(|queue| queues.pop(txns, queue));
        if let Some(id) = id {
            txns.get_mut(id).plane_queue = first;
            queues.push(txns, id);
        }
    }

    /// Blocks or unblocks the host's programs on a plane.
    pub(super) fn block_programs(&mut self, plane: PlaneId, blocked: bool) {
        self.planes[plane.index()].block_programs(blocked);
    }

    /// Returns whether host reads wait on a plane, and whether host programs that may begin do.
    pub fn host_waits(&self, plane: PlaneId) -> (bool, bool) {
        let queues = &self[plane];
        (queues.any(Rank::HOST_READS), queues.any(Rank::HOST_PROGRAMS & queues.open()))
    }

    /// Returns the arrival number of the first host operation that waits on a plane and may begin.
    pub fn first_to_wait(&self, txns: &Txns, plane: PlaneId) -> Option<u64> {
        let queues = &self[plane];
        let queue = queues.first(txns, (Rank::HOST_READS | Rank::HOST_PROGRAMS) & queues.open())?;
        Some(txns[queues.head(queue)].seq)
    }

    /// Returns the transaction that goes first in these queues of the first plane that has one.
    pub(super) fn first_of(
        &self,
        txns: &Txns,
        mut planes: impl Iterator<Item = PlaneId>,
        allowed: u16,
    ) -> Option<TxnId> {
        planes.find_map(|plane| {
            let queues = &self[plane];
            Some(queues.head(queues.first(txns, allowed)?))
        })
    }

    /// Checks that every waiting transaction is in its queue, in order.
    ///
    /// # Errors
    /// The first violation.
    pub(super) fn audit(&self, txns: &Txns, census: &mut Census) -> Result<(), String> {
        let mut seq_last = 0;
        for (plane, queues) in (0..).map(PlaneId).zip(&self.planes) {
            let mut waiting = 0;
            let mut before: Option<u8> = None;
            for (queue, id) in queues.ids(txns) {
                census.found(id, "a queue")?;
                let txn = &txns[id];
                let at_home =
                    txn.plane == plane && txn.plane_queue == queue && queues.is_marked(queue);
                ensure(at_home, || format!("transaction {} is in a foreign queue", id.0))?;
                let shared = self.shares_places && txn.seq == seq_last;
                let in_order = before != Some(queue) || txn.seq > seq_last || shared;
                ensure(in_order, || format!("queue of {plane:?} is out of order"))?;
                (before, seq_last) = (Some(queue), txn.seq);
                waiting += 1;
            }
            let counted = waiting == queues.waiting();
            ensure(counted, || format!("{plane:?} counts its waiting operations wrongly"))?;
        }
        Ok(())
    }
}

impl Index<PlaneId> for Queues {
    type Output = PlaneQueues;
    #[inline]
    fn index(&self, plane: PlaneId) -> &PlaneQueues {
        &self.planes[plane.index()]
    }
}
