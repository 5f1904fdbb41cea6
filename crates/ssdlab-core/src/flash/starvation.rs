//! A limit against starvation. An operation behind higher ranks, or interrupted for them, goes next
//! after a limit of host operations has passed it.

use super::unit::Unit;
use super::{Flash, Next, Rank, TxnId, UnitId};

impl Flash {
    /// Returns whether the limit of operations has passed those that wait for a unit or are
    /// suspended on it.
    #[inline]
    pub(super) fn at_pass_limit(&self, unit: &Unit) -> bool {
        let most = self.setup.max_passes;
        most > 0 && unit.passes >= most
    }

    /// Selects what a unit at the limit does, if an operation that others passed can go. Suspended
    /// operations go before waiting ones. Suspended reads go before a suspended program or erase,
    /// unless that has a higher rank. Of the waiting operations the earliest goes.
    #[cold]
    pub(super) fn next_passed(&self, unit: &Unit) -> Option<Next> {
        let rank = |id: TxnId| Rank::of(&self.txns[id]);
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
        let hosts = |plane| self.allowed(unit, plane) & (Rank::HOST_READS | Rank::HOST_PROGRAMS);
        let heads = unit.planes().flat_map(|plane| {
            let queues = &self.queues[plane];
            let heads = queues.heads(hosts(plane));
            heads.map(move |(queue, head)| (self.txns[head].seq, plane, queue))
        });
        heads.min().map(|(_, plane, queue)| Next::Serve(plane, queue))
    }

    /// Counts an operation that begins on a unit and passes other host operations; else resets the
    /// count.
    #[inline(never)]
    pub(super) fn count_pass(&mut self, id: UnitId, head: TxnId) {
        let unit = &self.units[id];
        let rank = Rank::of(&self.txns[head]);
        if rank == Rank::URGENT || rank == Rank::BACKGROUND {
            return;
        }
        let lower = (Rank::HOST_READS | Rank::HOST_PROGRAMS) & rank.lower();
        let passes = unit.suspended_reads.is_some()
            || unit.suspended.is_some()
            || unit.planes().any(|plane| self.queues[plane].any(lower));
        let passes = if passes && !self.at_pass_limit(unit) { unit.passes + 1 } else { 0 };
        self.units[id].passes = passes;
    }
}
