//! What the controller knows or has learned of its blocks: it answers questions and decides
//! nothing. A drive that needs none of it pays nothing.

pub mod block_class;
pub mod block_groups;
pub mod page_hotness;
pub mod predictor;
pub mod read_counts;
pub mod retry_estimate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use block_class::BlockClassChoice;
use page_hotness::HotnessChoice;
use retry_estimate::RetryEstimateChoice;

/// What the controller knows of its blocks from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MetadataConfig {
    /// The classes into which blocks are sorted: `none` (one class), `factory`, `measured` or
    /// `predicted`. Default: `none`.
    pub block_class: BlockClassChoice,
    /// The estimate of how many retries a read of each block takes: `none`, `predicted`,
    /// `last_seen` or `oracle`. Default: `none`.
    pub retry_estimate: RetryEstimateChoice,
    /// How it is known whether pages are mostly read or mostly written: `none`, or `buffer` (by their
    /// uses in it). Default: `none`.
    pub page_hotness: HotnessChoice,
}
