//! Turns: what waits behind higher ranks, or was interrupted for them, goes next once so many
//! operations of the host have passed it.

use ssdlab_nand::PlaneId;

use super::unit::Unit;
use super::{Flash, Next, Rank, TxnId, UnitId};

impl Flash {
    /// Whether a unit owes one that was passed a turn.
    #[inline]
    pub(super) fn owes_a_turn(&self, unit: &Unit) -> bool {
        let most = self.setup.max_passes;
        most > 0 && unit.passes >= most
    }

    /// What a free unit does that owes a turn, if anybody can have it: what was set aside goes
    /// before what waits, a read before what was interrupted unless that is of a higher rank; of
    /// what waits the earliest.
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

    /// An operation begins on a unit: whether it passes others of the host.
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
