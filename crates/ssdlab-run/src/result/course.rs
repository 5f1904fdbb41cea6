//! What a replay measures of itself.

use ssdlab_base::SimTime;

use super::parts::ReplayResult;

/// What the replay itself measures.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// Requests that ended, warm-up and earlier replays included.
    pub completed: u64,
    /// Requests that ended in earlier replays.
    pub before: u64,
    /// When the last request arrived and when the last one ended, and where time began.
    pub last_arrival: SimTime,
    /// The end of the last request.
    pub last_end: SimTime,
    /// The drive's time when the replay began.
    pub began: SimTime,
    /// The same of the first of several.
    pub zero: SimTime,
    /// Requests that had arrived and not ended when the last one arrived.
    pub backlog: u64,
    /// Sectors asked for.
    pub sectors: u64,
    /// Page operations of the warm-up or of earlier replays.
    pub page_ops_before: u64,
    /// Whether it was stopped before the end.
    pub partial: bool,
    /// Why it ended before so many blocks had worn out as were to, if they never would.
    pub never_worn: Option<&'static str>,
    /// Sum of all latencies (ns), and requests in the system integrated over time (requests · ns):
    /// equal, by Little's law, when every request has ended.
    pub latency_sum: u128,
    /// See `latency_sum`.
    pub residence: u128,
    /// What came of every replay, if there are several.
    pub replays: Vec<ReplayResult>,
}
