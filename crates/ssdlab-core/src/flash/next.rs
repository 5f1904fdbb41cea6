//! What a free array unit does next.

use ssdlab_nand::PlaneId;

use super::unit::{State, Unit};
use super::{Flash, Rank, UnitId};

/// What a free unit does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Serve the first of this plane's lane.
    Serve(PlaneId, u8),
    /// Go on with the program or the erase that was set aside.
    Resume,
    /// Go on with the reads that were set aside last.
    TakeUp,
    /// Nothing.
    Rest,
}

impl Flash {
    /// What a free unit does next; [`Next::Rest`] if it is not free.
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
            // Nor does what was set aside go on beside a page in the cache register.
            None if unit.aside.is_some() && unit.cached == 0 => Next::Resume,
            None => Next::Rest,
        }
    }

    /// Of all lanes of a unit's planes from which it may start now, that of the least rank, and of
    /// several the one whose first came first.
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

    /// The lanes from which a free unit may start now.
    #[inline(always)]
    pub(super) fn allowed(&self, unit: &Unit, plane: PlaneId) -> u16 {
        const READS: u16 = 0x5555;
        let mut allowed = Rank::ALL;
        if self.blocked[plane.index()] {
            allowed &= !Rank::HOST_PROGRAMS;
        }
        // Around a suspended operation only reads fit, and only the host's are worth it.
        if unit.aside.is_some() {
            allowed &= Rank::HOST_READS;
        }
        if unit.reads_aside.is_some() {
            allowed &= !self.untimely(unit, plane);
        }
        // A page that is still in the cache register leaves no room for one to be programmed.
        if unit.cached > 0 {
            allowed &= READS;
        }
        allowed
    }
}
