//! The figures that a run reads out of the back end: counts, busy times and the timeline.

use ssdlab_base::SimTime;

use super::{Act, BusyTimes, Flash};

impl Flash {
    /// Returns the numbers of retries, of reads that no level decoded, and of suspensions.
    pub fn error_counts(&self) -> (u64, u64, u64) {
        self.counts.errors(self.retries_to_come())
    }

    /// Returns the busy nanoseconds until `now` of every array unit and of every bus.
    pub fn busy(&self, now: SimTime) -> BusyTimes {
        let units = self.units.busy(now);
        let is_ahead = self.lookahead.is_on();
        let buses = if is_ahead { self.lookahead.busy(now) } else { self.channels.busy(now) };
        (units, buses)
    }

    /// Returns [`Flash::busy`] since the counts were last reset.
    pub fn busy_counted(&self, now: SimTime) -> BusyTimes {
        self.counts.busy(self.busy(now))
    }

    /// Resets the counts of operations and busy times.
    pub fn reset_counts(&mut self, now: SimTime) {
        self.cells.reset_counts();
        self.counts.reset(self.retries_to_come(), self.busy(now));
    }

    /// Records the activities of every part that begin before `until`. Those in progress count from
    /// `now`.
    pub fn record(&mut self, now: SimTime, until: SimTime) {
        self.timeline.start(self.channels.slots(), until);
        for (id, unit) in self.units.iter() {
            self.timeline.unit_begins(id.index(), unit, &self.txns, now);
        }
        for (at, channel) in self.channels.iter() {
            if let Some(txn) = channel.bus.holder().map(|id| &self.txns[id]) {
                self.timeline.begins(self.channels.bus_slot(at), Act::of_bus(txn), txn, now);
            }
            if let Some(txn) = channel.engine.holder().map(|id| &self.txns[id]) {
                self.timeline.begins(self.channels.engine_slot(at), Act::Decode, txn, now);
            }
        }
    }
}
