//! What the controller knows or has learned of its blocks: it answers questions and decides
//! nothing. A drive that needs none of it pays nothing.

pub mod grade;
pub mod groups;
pub mod heat;
pub mod predictor;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use grade::GradeChoice;

/// What the controller knows of its blocks from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BeliefConfig {
    /// The classes into which blocks are sorted: `alike` (one class), `factory` or `measured`. Default:
    /// `alike`.
    pub grade: GradeChoice,
}
