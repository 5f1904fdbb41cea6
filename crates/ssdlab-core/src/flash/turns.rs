//! Turns against starvation. An operation behind higher ranks, or interrupted for them, goes next
//! after a limit of host operations has passed it.

use ssdlab_nand::PlaneId;

use super::unit::Unit;
use super::{Flash, Next, Rank, TxnId, UnitId};

impl Flash {
    /// Returns whether a unit owes a turn to an operation that others passed.
    #[inline]
    pub(super) fn owes_a_turn(&self, unit: &Unit) -> bool {
        let most = self.setup.max_passes;
        most > 0 && unit.passes >= most
    }

    /// Selects the operation of a unit that owes a turn, if one can use the turn. Suspended
    /// operations go before waiting ones. Suspended reads go before a suspended program or erase,
    /// unless that has a higher rank. Of the waiting operations the earliest goes.
    #[cold]
    pub(super) fn turn(&self, unit: &Unit) -> Option<Next> {
        let rank = |id: TxnId| Rank::of(&self.txns[id]);
        let interrupted = unit.aside.filter(|_| unit.cached == 0).map(|aside| rank(aside.head));
        if unit.reads_aside.is_some() && interrupted.is_none_or(|own| own >= rank(unit.reads_aside))
        {
            return Some(Next::TakeUp);
        }
        if interrupted.is_some() {
            return Some(Next::Resume);
        }
        let hosts = |plane| self.allowed(unit, plane) & (Rank::HOST_READS | Rank::HOST_PROGRAMS);
        let heads = planes(unit).flat_map(|plane| {
            let lanes = &self.lanes[plane.index()];
            let heads = lanes.heads(hosts(plane));
            heads.map(move |(lane, head)| (self.txns[head].seq, plane, lane))
        });
        heads.min().map(|(_, plane, lane)| Next::Serve(plane, lane))
    }

    /// Counts an operation that begins on a unit and passes other host operations; else resets the
    /// count.
    #[inline(never)]
    pub(super) fn count_pass(&mut self, id: UnitId, head: TxnId) {
        let unit = &self.units[id.0 as usize];
        let rank = Rank::of(&self.txns[head]);
        if rank == Rank::URGENT || rank == Rank::BACKGROUND {
            return;
        }
        let lower = (Rank::HOST_READS | Rank::HOST_PROGRAMS) & rank.lower();
        let passes = unit.reads_aside.is_some()
            || unit.aside.is_some()
            || planes(unit).any(|plane| self.lanes[plane.index()].any(lower));
        let passes = if passes && !self.owes_a_turn(unit) { unit.passes + 1 } else { 0 };
        self.units[id.0 as usize].passes = passes;
    }
}

fn planes(unit: &Unit) -> impl Iterator<Item = PlaneId> + use<> {
    (unit.first_plane.0..unit.first_plane.0 + unit.planes).map(PlaneId)
}
