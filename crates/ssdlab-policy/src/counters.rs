//! The counters that policies add to results.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// A value that a policy adds to results under a name of its own.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Counter {
    /// How often an event happened since the statistics began.
    Count(u64),
    /// Any other single number.
    Value(f64),
    /// A list of numbers.
    Values(Vec<f64>),
}

/// The counters of one policy, by name.
pub type Counters = BTreeMap<&'static str, Counter>;
