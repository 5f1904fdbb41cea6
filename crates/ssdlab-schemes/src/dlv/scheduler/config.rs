//! Settings of `dlv`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Nanos;

/// Which waiting request of a kind goes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// The request that is expected to end first.
    #[default]
    Shortest,
    /// The request that arrived first.
    Fifo,
}

/// Which page writes get strong blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strong {
    /// The pages that would delay the end of their request on other blocks.
    #[default]
    Needed,
    /// All pages of a request that the scheduler chooses among the waiting ones.
    Prioritized,
}

/// Settings of `dlv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DlvConfig {
    /// Which write goes next: `shortest` (HWS) or `fifo`. Default: `shortest`. Source: DLV, section
    /// III-B.
    pub writes: Selection,
    /// Which read goes next: `shortest` (RRS, with reads before writes on the same plane) or `fifo`
    /// (reads keep their places among writes). Default: `shortest`. Source: DLV, section III-C.
    pub reads: Selection,
    /// Which page writes get strong blocks: those that need them (`needed`) or all of a request
    /// that is chosen among the waiting ones (`prioritized`). Default: `needed`. Source: DLV,
    /// section III-B (step 3); `prioritized` its PV+reorder, section IV-C.
    pub strong: Strong,
    /// Time after a write's arrival from which on no request overtakes it. Default: `5s`. Source:
    /// DLV, section IV-A.
    pub write_deadline: Nanos,
    /// Time after a read's arrival from which on no request overtakes it. Default: `500ms`. Source:
    /// DLV, section IV-A.
    pub read_deadline: Nanos,
    /// Whether writes wait while garbage collection runs on a plane that they need, even past their
    /// deadline. Default: true. Source: DLV, section III-B (step 4a).
    pub avoid_gc: bool,
    /// Whether a write whose planes are all idle when it arrives is dispatched at once, to normal
    /// blocks. Default: true. Source: DLV, section III-B (step 4b).
    pub dispatch_if_idle: bool,
    /// Number of requests of a kind, the first to arrive, among which the scheduler chooses; later
    /// ones wait. Default: 65535, all that wait. Source: DLV, section IV-C (its queue of 1 to 512,
    /// read as the waiting requests; `host.queue_depth` is the other reading).
    #[schemars(range(min = 1))]
    pub window: u32,
}

impl Default for DlvConfig {
    fn default() -> DlvConfig {
        DlvConfig {
            writes: Selection::Shortest,
            reads: Selection::Shortest,
            strong: Strong::Needed,
            write_deadline: Nanos::from_ms(5_000),
            read_deadline: Nanos::from_ms(500),
            avoid_gc: true,
            dispatch_if_idle: true,
            window: 65_535,
        }
    }
}
