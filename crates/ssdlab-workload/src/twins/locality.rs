//! Locality by volume: returns, hot sets and scans from the hit ratios of whole traces.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;

use super::hits::published;
use super::shape::{Habits, Shape};

const TABLE: &str = include_str!("locality.toml");

/// The locality of one kind of requests: keys of [`Habits`] that the hit ratios decide.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// See [`Habits::again`].
    pub again: Share,
    /// See [`Habits::hot`].
    pub hot: Share,
    /// See [`Habits::theta`].
    pub theta: f64,
    /// See [`Habits::rounds`].
    pub rounds: Share,
    /// See [`Habits::scans`].
    pub scans: Share,
}

/// The locality of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locality {
    /// That of its reads.
    pub read: Local,
    /// That of its writes.
    pub write: Local,
}

/// Returns the locality of the trace of this twin, if its hit ratios are published.
pub fn of(twin: &str) -> Option<&'static Locality> {
    static TRACES: OnceLock<BTreeMap<String, Locality>> = OnceLock::new();
    let traces = TRACES.get_or_init(|| {
        toml::from_str(TABLE).unwrap_or_else(|error| panic!("locality.toml: {error}"))
    });
    let trace = published().iter().find(|trace| trace.twins.iter().any(|name| name == twin))?;
    traces.get(&trace.of)
}

impl Locality {
    /// Gives a shape this locality.
    pub fn apply(&self, shape: &mut Shape) {
        self.read.apply(&mut shape.read);
        self.write.apply(&mut shape.write);
    }
}

impl Local {
    fn apply(&self, habits: &mut Habits) {
        let Local { again, hot, theta, rounds, scans } = *self;
        (habits.again, habits.hot, habits.theta) = (again, hot, theta);
        (habits.rounds, habits.scans) = (rounds, scans);
    }
}
