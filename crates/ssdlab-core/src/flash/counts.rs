//! The counts of operations, retries, errors and suspensions, and the busy times since the last
//! reset.

use ssdlab_base::Nanos;

use crate::account::{Cause, OpKind};

/// Counts of suspensions for host reads, and their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuspendCounts {
    /// Reads that were suspended after a failed attempt.
    pub reads: u64,
    /// Suspended programs; programs that planes perform together count as one.
    pub programs: u64,
    /// Suspended erases; erases that planes perform together count as one.
    pub erases: u64,
    /// Nanoseconds of programs and erases that were dropped and repeated.
    pub dropped_ns: u64,
}

/// The busy nanoseconds of every array unit and of every bus.
pub(crate) type BusyTimes = (Vec<u64>, Vec<u64>);

/// The counts of a back end since the last reset.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Operations that have ended, by kind and cause.
    ops: [[u64; Cause::COUNT]; OpKind::COUNT],
    /// Attempts of reads after the first.
    retries: u64,
    uncorrectable: u64,
    suspends: SuspendCounts,
    /// Sensings ahead that no read used.
    unused_senses: u64,
    /// The busy times at the last reset.
    busy_before: BusyTimes,
}

impl Counts {
    /// Returns the operations that have ended, by kind and cause.
    pub fn ops(&self) -> &[[u64; Cause::COUNT]; OpKind::COUNT] {
        &self.ops
    }

    /// Returns the counts of suspensions.
    pub fn suspends(&self) -> SuspendCounts {
        self.suspends
    }

    /// Returns the number of sensings ahead that no read used.
    pub fn unused_senses(&self) -> u64 {
        self.unused_senses
    }

    /// Returns the numbers of retries, of reads that no level decoded, and of suspensions.
    /// `to_come` is the number of retries that were counted in advance.
    pub(super) fn errors(&self, to_come: u64) -> (u64, u64, u64) {
        let suspends = self.suspends.programs + self.suspends.erases;
        (self.retries - to_come, self.uncorrectable, suspends)
    }

    /// Returns the busy times since the last reset; `until_now` are those since the start.
    pub(super) fn busy(&self, until_now: BusyTimes) -> BusyTimes {
        let (mut units, mut buses) = until_now;
        for (busy, before) in [(&mut units, &self.busy_before.0), (&mut buses, &self.busy_before.1)]
        {
            busy.iter_mut().zip(before).for_each(|(busy, before)| *busy -= before);
        }
        (units, buses)
    }

    /// Resets all counts. `to_come` is the number of retries that were counted in advance, `busy`
    /// the busy times now.
    pub(super) fn reset(&mut self, to_come: u64, busy: BusyTimes) {
        *self = Counts { retries: to_come, busy_before: busy, ..Counts::default() };
    }

    /// Counts an operation that has ended.
    #[inline]
    pub(super) fn op_ended(&mut self, kind: OpKind, cause: Cause) {
        self.ops[kind as usize][cause as usize] += 1;
    }

    /// Counts a read that has ended.
    pub(super) fn read_ended(&mut self, cause: Cause, uncorrectable: bool) {
        self.uncorrectable += u64::from(uncorrectable);
        self.op_ended(OpKind::Read, cause);
    }

    /// Counts a retry.
    #[inline]
    pub(super) fn retry(&mut self) {
        self.retries += 1;
    }

    /// Takes back a retry that was counted in advance.
    pub(super) fn take_back_retry(&mut self) {
        self.retries -= 1;
    }

    /// Counts a suspended read.
    pub(super) fn read_suspended(&mut self) {
        self.suspends.reads += 1;
    }

    /// Counts a suspended program or erase.
    pub(super) fn suspended(&mut self, kind: OpKind) {
        match kind {
            OpKind::Read => unreachable!("a read has its own count"),
            OpKind::Program => self.suspends.programs += 1,
            OpKind::Erase => self.suspends.erases += 1,
        }
    }

    /// Counts array time that was dropped and will be repeated.
    pub(super) fn dropped(&mut self, time: Nanos) {
        self.suspends.dropped_ns += time.as_ns();
    }

    /// Counts a sensing ahead that no read used.
    pub(super) fn sense_unused(&mut self) {
        self.unused_senses += 1;
    }
}
