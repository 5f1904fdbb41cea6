//! What the controller knows or has learned of its blocks: it answers questions and decides
//! nothing. A drive that needs none of it pays nothing.

pub mod grade;
pub mod groups;
pub mod heat;
pub mod hotness;
pub mod predictor;
pub mod quality;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use grade::GradeChoice;
use hotness::HotnessChoice;
use quality::RetriesBelief;

/// What the controller knows of its blocks from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BeliefConfig {
    /// The classes into which blocks are sorted: `alike` (one class), `factory`, `measured` or
    /// `subpools`. Default: `alike`.
    pub grade: GradeChoice,
    /// What is believed of how many retries a read of each block takes: `unknown`, `predicted`,
    /// `last_seen` or `known`. Default: `unknown`.
    pub retries: RetriesBelief,
    /// How it is known whether pages are mostly read or mostly written: `unknown`, or `buffer` (by their
    /// uses in it). Default: `unknown`.
    pub hotness: HotnessChoice,
}
