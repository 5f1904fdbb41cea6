//! The ways of a transaction into the queues and out of them.

use ssdlab_base::SimTime;
use ssdlab_nand::PlaneId;

use super::{Flash, Rank, TxnId};

impl Flash {
    /// Assigns a transaction the next arrival number.
    pub(crate) fn assign_seq(&mut self, id: TxnId) {
        self.queues.assign_seq(self.txns.get_mut(id));
    }

    /// Assigns a transaction the arrival number of another; from now on transactions may share
    /// theirs.
    pub(crate) fn inherit_seq(&mut self, id: TxnId, seq: u64) {
        self.queues.inherit_seq(self.txns.get_mut(id), seq);
    }

    /// Adds a transaction to its queue, at its position in the order of arrival.
    #[inline(always)]
    pub fn enqueue(&mut self, id: TxnId, rank: Rank, now: SimTime) {
        let txn = self.txns.get_mut(id);
        txn.plane_queue = rank.queue(txn.kind);
        self.enqueue_again(id, now);
    }

    /// Returns a transaction to its queue, before all that arrived later.
    #[inline(always)]
    pub(crate) fn enqueue_again(&mut self, id: TxnId, now: SimTime) {
        self.txns.get_mut(id).sibling = TxnId::NONE;
        let unit = self.units.id_of(self.txns[id].plane);
        self.note_wait(id, now);
        self.queues.push(&mut self.txns, id);
        self.units[unit].waiting += 1;
        self.units.list(unit);
        self.recheck_lookahead(unit, now);
    }

    /// Ends the wait of a transaction that leaves its queue for another one.
    pub(crate) fn wait_ends(&mut self, id: TxnId, now: SimTime) {
        self.charge_wait(id, now);
    }

    /// Blocks or unblocks the host's programs on a plane.
    pub(crate) fn block_programs(&mut self, plane: PlaneId, blocked: bool) {
        self.queues.block_programs(plane, blocked);
        if !blocked {
            self.units.list(self.units.id_of(plane));
        }
    }

    /// Unblocks the host's programs on all planes.
    pub(crate) fn unblock_all(&mut self) {
        for plane in (0..self.geometry.plane_count()).map(PlaneId) {
            if self.queues[plane].blocks_programs() {
                self.block_programs(plane, false);
            }
        }
    }

    /// Takes the first transaction of a queue of a plane.
    #[inline(always)]
    pub fn pop(&mut self, plane: PlaneId, queue: u8) -> TxnId {
        self.units.of_mut(plane).waiting -= 1;
        self.queues.pop(&mut self.txns, plane, queue)
    }
}
