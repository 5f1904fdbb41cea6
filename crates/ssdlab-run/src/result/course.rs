//! Measurements of a replay on itself.

use ssdlab_base::SimTime;

use super::parts::ReplayResult;
use crate::settle::{Exhausted, SettledFigure};

/// Measurements that the replay itself makes.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// Requests that ended, including the warm-up and earlier replays.
    pub completed: u64,
    /// Requests that ended in earlier replays.
    pub before: u64,
    /// Arrival of the last request.
    pub last_arrival: SimTime,
    /// End of the last request.
    pub last_end: SimTime,
    /// The drive's time when the current replay began.
    pub began: SimTime,
    /// The drive's time when the first replay began.
    pub zero: SimTime,
    /// Requests that had arrived but not ended when the last request arrived.
    pub backlog: u64,
    /// Sectors of all requests that arrived.
    pub sectors: u64,
    /// Page operations of the warm-up or of earlier replays.
    pub page_ops_before: u64,
    /// Whether it was stopped before its end.
    pub partial: bool,
    /// Why the replays ended before the requested share of the blocks had worn out; none if they
    /// wore out, or if no share was requested.
    pub never_worn: Option<&'static str>,
    /// Why further replays could not settle the figure that the plan names, if so.
    pub exhausted: Option<Exhausted>,
    /// How the figure settled that the plan names.
    pub settled: Option<SettledFigure>,
    /// Sum of all latencies, in nanoseconds. By Little's law, it equals `residence` when every
    /// request has ended.
    pub latency_sum: u128,
    /// Requests in the system, integrated over time (requests · ns).
    pub residence: u128,
    /// The result of every replay, if there are several.
    pub replays: Vec<ReplayResult>,
}
