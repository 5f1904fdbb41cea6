//! The interface between host and drive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The order of writes of the same logical page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SamePage {
    /// A write waits until every earlier write of its page has been programmed.
    #[default]
    Ordered,
    /// A write does not wait for an earlier write of its page.
    Superseding,
}

/// The interface between host and drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostConfig {
    /// Submission queues; the first has the highest priority. From 2 to 5 where the scheduler
    /// serves them by priority (`strict_priority`). Default: 1. Assumed.
    #[schemars(range(min = 1))]
    pub queues: u8,
    /// Unfinished requests of one queue that the drive accepts. Default: 65535. Source: NVMe's
    /// largest queue.
    #[schemars(range(min = 1))]
    pub queue_depth: u32,
    /// The order of writes of the same page, the programs of evicted pages included. `ordered`: a
    /// write waits until every earlier one has been programmed. `superseding`: a write takes the
    /// place of an earlier one whose program has not started. One program then writes the newest
    /// data of both, at the earlier write's place in the queue, and ends both requests. If the
    /// earlier program runs, a write of the whole page is programmed beside it, and the map keeps
    /// the newer page. A write of a part waits for that program. Reads and trims wait as under
    /// `ordered`, and no write passes them. Default: `ordered`. Source: write caches, which combine
    /// writes, and MQSim, which lets them overlap, for `superseding`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_page: Option<SamePage>,
}

impl Default for HostConfig {
    fn default() -> HostConfig {
        HostConfig { queues: 1, queue_depth: 65_535, same_page: None }
    }
}

impl HostConfig {
    /// Returns whether a later write of a page supersedes an earlier one.
    pub(crate) fn supersedes(&self) -> bool {
        self.same_page == Some(SamePage::Superseding)
    }
}
