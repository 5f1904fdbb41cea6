//! What policies count for results.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// What a policy gives to results under a name of its own.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Counter {
    /// How often something happened since the statistics began.
    Count(u64),
    /// Something else that is a number.
    Value(f64),
    /// A number for each of several.
    Values(Vec<f64>),
}

/// What one policy counts, by name.
pub type Counters = BTreeMap<&'static str, Counter>;
