//! Suspension for a host read, and resumption. A program or an erase resumes where it stopped or at
//! the start of its loop. Reads that failed to decode continue with their next attempt.

use ssdlab_base::{Nanos, SimTime};

use super::unit::{State, Unit};
use super::{Flash, Rank, TxnId, UnitId};
use crate::account::{OpKind, Part};

impl Flash {
    /// Returns the array time left for a unit's program or erase.
    fn left(&self, id: UnitId, now: SimTime) -> Nanos {
        self.units[id].left(self.timers.get(id.index()), now)
    }

    /// Suspends a unit's program or erase; it will resume where it stopped.
    #[inline(never)]
    pub fn suspend(&mut self, id: UnitId, now: SimTime) {
        let left = self.left(id, now);
        self.interrupt(id, left, now);
    }

    /// Suspends a unit's program or erase; it will resume at the start of its current loop.
    pub(crate) fn drop_loop(&mut self, id: UnitId, now: SimTime) {
        let left = self.left(id, now);
        let unit = &self.units[id];
        let Some(loops) = unit.loops(self.setup.loops) else { return self.suspend(id, now) };
        let whole = self.units[id].work.drop_loop(left, loops);
        self.counts.dropped(whole - left);
        self.interrupt(id, whole, now);
    }

    /// Suspends a unit's program or erase after its current loop; does nothing in the last loop.
    pub(crate) fn stop_after_loop(&mut self, id: UnitId, now: SimTime) {
        let left = self.left(id, now);
        let unit = &self.units[id];
        let Some(loops) = unit.loops(self.setup.loops) else { return self.suspend(id, now) };
        let current_loop = unit.work.current_loop(left, loops) + 1;
        if unit.work.beyond > Nanos::ZERO || current_loop == loops {
            return;
        }
        let beyond = unit.work.left_at(current_loop, loops);
        let ends = self.timers.get(id.index());
        self.units[id].work.beyond = beyond;
        self.timers.set(id.index(), ends - beyond);
    }

    /// Suspends a unit after the loop that has ended.
    #[cold]
    pub(super) fn loop_ends(&mut self, id: UnitId, now: SimTime) {
        let left = self.units[id].work.beyond;
        self.interrupt(id, left, now);
    }

    fn interrupt(&mut self, id: UnitId, remaining: Nanos, now: SimTime) {
        let unit = &mut self.units[id];
        self.counts.suspended(unit.interrupt(remaining, now));
        self.set_state(id, State::Suspending, now);
        self.timers.set(id.index(), now + self.setup.suspend_time);
    }

    /// Completes the suspension of a program or an erase.
    #[inline(never)]
    pub(super) fn suspend_ends(&mut self, id: UnitId, now: SimTime) {
        let suspended = self.units[id].suspended.expect("what is being suspended");
        self.for_members(suspended.head, |flash, member| {
            // The wait that begins now must not include the time charged here.
            let part =
                if suspended.kind == OpKind::Program { Part::Program } else { Part::DieHost };
            flash.txns.charge(member, part, now);
            flash.note_wait(member, now);
        });
        self.free(id, now);
    }

    /// Resumes a unit's suspended program or erase.
    pub fn resume(&mut self, id: UnitId, now: SimTime) {
        let begins = now + self.setup.resume_time;
        let suspended = self.units[id].resume(begins, now);
        self.timers.set(id.index(), begins + suspended.remaining);
        let state = match suspended.kind {
            OpKind::Program => State::Programming,
            _ => State::Erasing,
        };
        self.set_state(id, state, now);
        self.for_members(suspended.head, |flash, member| flash.charge_wait(member, now));
    }

    /// Checks the array time of a unit's program or erase, in service or suspended.
    ///
    /// # Errors
    /// Time was lost or counted twice.
    pub(super) fn audit_work(&self, id: UnitId, now: SimTime) -> Result<(), String> {
        let unit = &self.units[id];
        match (unit.suspended, unit.state) {
            _ if !self.setup.may_suspend => Ok(()),
            (Some(suspended), _) => unit.adds_up(suspended.remaining, now),
            (None, State::Programming | State::Erasing) => unit.adds_up(self.left(id, now), now),
            _ => Ok(()),
        }
    }

    /// Returns the host read of a higher rank that waits for a unit, and the number of host reads
    /// that the unit has suspended. All reads that the unit holds have decoded or failed, and it
    /// may suspend the failed ones.
    pub(crate) fn overtaken(&self, id: UnitId) -> Option<(TxnId, u8)> {
        let unit = &self.units[id];
        if !self.is_overtaken(unit) {
            return None;
        }
        let higher = Rank::HOST_READS & Rank::of(&self.txns[unit.head]).higher();
        let read = self.queues.first_of(&self.txns, unit.planes(), higher)?;
        Some((read, unit.suspended_host_reads(&self.txns)))
    }

    /// Returns whether a unit may suspend its failed reads for a read of a higher rank.
    #[inline]
    pub(super) fn is_overtaken(&self, unit: &Unit) -> bool {
        self.setup.reads_pass
            && unit.is_awaited_by_read_above(&self.queues, Rank::of(&self.txns[unit.head]))
    }

    /// Suspends the reads that a unit holds, which all failed to decode.
    #[inline(never)]
    pub(crate) fn suspend_reads(&mut self, id: UnitId, now: SimTime) {
        let head = self.units[id].head;
        self.for_members(head, |flash, member| {
            flash.txns.charge(member, Part::Retry, now);
            flash.counts.read_suspended();
        });
        self.units[id].suspend_reads(&mut self.txns);
        self.free_pipelined(id, now);
    }

    /// Makes a unit hold the reads again that it suspended last; the drive must set each read's
    /// next level.
    pub(crate) fn resume_reads(&mut self, id: UnitId, now: SimTime) {
        self.units[id].resume_reads(&mut self.txns, now);
        let head = self.units[id].head;
        // Meanwhile the unit worked for host reads.
        self.for_members(head, |flash, member| flash.txns.get_mut(member).waited_for_host(now));
    }

    /// Returns whether an operation may start beside its unit's suspended reads. It must not erase
    /// a block that one of them reads.
    pub fn may_start(&self, id: TxnId) -> bool {
        self.selector.may_start(self.units.of(self.txns[id].plane), id, &self.txns)
    }
}
