//! Chooses the next operation of a free array unit.

use ssdlab_nand::PlaneId;

use super::unit::{State, Unit};
use super::{Flash, Rank, UnitId};

/// The next operation of a free unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Serve the first transaction of this plane's lane.
    Serve(PlaneId, u8),
    /// Resume the suspended program or erase.
    Resume,
    /// Continue the reads that were suspended last.
    TakeUp,
    /// Nothing.
    Rest,
}

impl Flash {
    /// Returns the next operation of a unit; [`Next::Rest`] if the unit is not free.
    #[inline(always)]
    pub fn next_of(&self, id: UnitId) -> Next {
        let unit = &self.units[id.0 as usize];
        if unit.state != State::Idle {
            return Next::Rest;
        }
        if self.owes_a_turn(unit)
            && let Some(next) = self.turn(unit)
        {
            return next;
        }
        let best = match (unit.waiting, unit.planes) {
            (0, _) => None,
            (_, 1) => {
                let (plane, lanes) = (unit.first_plane, &self.lanes[unit.first_plane.index()]);
                lanes.first(&self.txns, self.allowed(unit, plane)).map(|lane| (plane, lane))
            }
            _ => self.first_of_planes(unit),
        };
        if unit.reads_aside.is_some() {
            return self.next_past(unit, best);
        }
        match best {
            Some((plane, lane)) => Next::Serve(plane, lane),
            // A suspended operation does not resume beside a page in the cache register.
            None if unit.aside.is_some() && unit.cached == 0 => Next::Resume,
            None => Next::Rest,
        }
    }

    /// Returns the lane to serve among the lanes of a unit's planes that may start now. The highest
    /// rank wins, then the lane whose first transaction arrived first.
    #[inline(always)]
    fn first_of_planes(&self, unit: &Unit) -> Option<(PlaneId, u8)> {
        let first = unit.first_plane.0;
        let mut best: Option<(u8, u64, PlaneId, u8)> = None;
        for plane in (first..first + unit.planes).map(PlaneId) {
            let lanes = &self.lanes[plane.index()];
            if !lanes.any(Rank::ALL) {
                continue;
            }
            let Some(lane) = lanes.first(&self.txns, self.allowed(unit, plane)) else { continue };
            let seq = self.txns[lanes.head(lane)].seq;
            if best.is_none_or(|(rank, first, ..)| (lane >> 1, seq) < (rank, first)) {
                best = Some((lane >> 1, seq, plane, lane));
            }
        }
        best.map(|(_, _, plane, lane)| (plane, lane))
    }

    /// Returns the lanes that a free unit may serve now.
    #[inline(always)]
    pub(super) fn allowed(&self, unit: &Unit, plane: PlaneId) -> u16 {
        const READS: u16 = 0x5555;
        let mut allowed = Rank::ALL;
        if self.blocked[plane.index()] {
            allowed &= !Rank::HOST_PROGRAMS;
        }
        // Beside a suspended operation only reads can start, and only host reads are worth it.
        if unit.aside.is_some() {
            allowed &= Rank::HOST_READS;
        }
        if unit.reads_aside.is_some() {
            allowed &= !self.untimely(unit, plane);
        }
        // A page in the cache register leaves no room for a page to program.
        if unit.cached > 0 {
            allowed &= READS;
        }
        allowed
    }
}
