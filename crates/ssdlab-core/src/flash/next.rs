//! Chooses the next operation of a free array unit.

use ssdlab_nand::PlaneId;

use super::unit::{State, Unit};
use super::{Flash, Rank, UnitId};

/// The next operation of a free unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Serve the first transaction of this plane's queue.
    Serve(PlaneId, u8),
    /// Resume the suspended program or erase.
    Resume,
    /// Continue the reads that were suspended last.
    ResumeReads,
    /// Start nothing.
    Nothing,
}

impl Flash {
    /// Returns the next operation of a unit; [`Next::Nothing`] if the unit is not free.
    #[inline(always)]
    pub fn next_of(&self, id: UnitId) -> Next {
        let unit = &self.units[id];
        if unit.state != State::Idle {
            return Next::Nothing;
        }
        if self.at_pass_limit(unit)
            && let Some(next) = self.next_passed(unit)
        {
            return next;
        }
        let best = match (unit.waiting, unit.plane_count) {
            (0, _) => None,
            (_, 1) => {
                let (plane, queues) = (unit.first_plane, &self.queues[unit.first_plane]);
                queues.first(&self.txns, self.allowed(unit, plane)).map(|queue| (plane, queue))
            }
            _ => self.first_of_planes(unit),
        };
        if unit.suspended_reads.is_some() {
            return self.next_with_suspended_reads(unit, best);
        }
        match best {
            Some((plane, queue)) => Next::Serve(plane, queue),
            // A suspended operation does not resume beside a page in the cache register.
            None if unit.suspended.is_some() && unit.cached == 0 => Next::Resume,
            None => Next::Nothing,
        }
    }

    /// Returns the queue to serve among the queues of a unit's planes that may start now. The
    /// highest rank wins, then the queue whose first transaction arrived first.
    #[inline(always)]
    fn first_of_planes(&self, unit: &Unit) -> Option<(PlaneId, u8)> {
        let mut best: Option<(u8, u64, PlaneId, u8)> = None;
        for plane in unit.planes() {
            let queues = &self.queues[plane];
            if !queues.any(Rank::ALL) {
                continue;
            }
            let Some(queue) = queues.first(&self.txns, self.allowed(unit, plane)) else { continue };
            let seq = self.txns[queues.head(queue)].seq;
            if best.is_none_or(|(rank, first, ..)| (queue >> 1, seq) < (rank, first)) {
                best = Some((queue >> 1, seq, plane, queue));
            }
        }
        best.map(|(_, _, plane, queue)| (plane, queue))
    }

    /// Returns the queues that a free unit may serve now.
    #[inline(always)]
    pub(super) fn allowed(&self, unit: &Unit, plane: PlaneId) -> u16 {
        const READS: u16 = 0x5555;
        let mut allowed = Rank::ALL;
        if self.queues.blocks_programs(plane) {
            allowed &= !Rank::HOST_PROGRAMS;
        }
        // Beside a suspended operation only reads can start, and only host reads are worth it.
        if unit.suspended.is_some() {
            allowed &= Rank::HOST_READS;
        }
        if unit.suspended_reads.is_some() {
            allowed &= !self.unsafe_erases(unit, plane);
        }
        // A page in the cache register leaves no room for a page to program.
        if unit.cached > 0 {
            allowed &= READS;
        }
        allowed
    }
}
