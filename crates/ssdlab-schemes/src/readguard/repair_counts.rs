//! The counters of `background.inversion_repair` in results.

use ssdlab_policy::counters::Counter;

/// The counts since the statistics began.
#[derive(Clone, Debug, Default)]
pub(crate) struct RepairCounts {
    /// Rounds that searched for inversions.
    pub rounds: u64,
    /// Inverted pairs that were found. A pair that a round did not repair is found again by the
    /// next.
    pub inversions: u64,
    /// Young blocks that were given to the higher priority; their data went to another block.
    pub reassigned: u64,
    /// Blocks whose data was rewritten.
    pub refreshed: u64,
    /// Pages that repairs moved.
    pub moved: u64,
    /// Pages that the controller moved for any reason, including repairs.
    pub moved_by_all: u64,
    /// Number of times that the margins were adjusted.
    pub checks: u64,
    /// Rounds that were left out while wear was leveled across priorities.
    pub left_out: u64,
}

impl RepairCounts {
    /// Returns the counts, the current margins and `extra_share`. This is the share of repairs in
    /// all pages that the controller has moved since the run began, including warm-up and earlier
    /// replays. A paced monitor keeps it at its limit.
    pub(crate) fn counters(
        &self,
        extra_share: f64,
        margins: &[f64],
    ) -> Vec<(&'static str, Counter)> {
        let counts = [
            ("rounds", self.rounds),
            ("inversions", self.inversions),
            ("reassigned", self.reassigned),
            ("refreshed", self.refreshed),
            ("moved", self.moved),
            ("moved_by_all", self.moved_by_all),
            ("checks", self.checks),
            ("left_out", self.left_out),
        ];
        let mut all: Vec<_> =
            counts.into_iter().map(|(name, count)| (name, Counter::Count(count))).collect();
        all.push(("extra_share", Counter::Value(extra_share)));
        all.push(("margins", Counter::Values(margins.to_vec())));
        all
    }
}
