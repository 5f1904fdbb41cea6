//! What became of blocks that were worse than their priority asks for.

use schemars::JsonSchema;
use serde::Serialize;

/// What became of blocks of one priority that were worse than those of a lower one.
/// Serialised in results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Repairs {
    /// Rounds in which they were looked for.
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
    /// The part that repairs have of all that the controller has moved for itself since the run began, warm-up
    /// and earlier replays included: what a paced monitor holds at its limit.
    pub extra_share: f64,
    /// Times that the margins were set anew.
    pub checks: u64,
    /// Margins of each priority but the last, as parts of the most retries.
    pub margins: Vec<f64>,
    /// Rounds that were left out while wear was leveled across priorities.
    pub left_out: u64,
}
