//! What `background.inversion_repair` counts for results.

use ssdlab_policy::counters::Counter;

/// What was done since the statistics began.
#[derive(Clone, Debug, Default)]
pub struct RepairCounts {
    /// Rounds in which inversions were looked for.
    pub rounds: u64,
    /// Pairs that were found; a pair that no round's jobs came to is found again by the next.
    pub inversions: u64,
    /// Young blocks that were given to the higher priority, and their data to another block.
    pub reassigned: u64,
    /// Blocks whose data was written anew.
    pub refreshed: u64,
    /// Pages that were moved for it.
    pub moved: u64,
    /// Pages that were moved by all that the controller does for itself, for it among them.
    pub moved_by_all: u64,
    /// Times that the margins were set anew.
    pub checks: u64,
    /// Rounds that were left out while wear was leveled across priorities.
    pub left_out: u64,
}

impl RepairCounts {
    /// Returns the counts, and with them the present margins and `extra_share`: the part that
    /// repairs have of all that the controller has moved for itself since the run began, warm-up
    /// and earlier replays included. A paced monitor holds that at its limit.
    pub fn counters(&self, extra_share: f64, margins: &[f64]) -> Vec<(&'static str, Counter)> {
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
