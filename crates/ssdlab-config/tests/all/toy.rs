//! A config type that uses every feature: tables, choices, lists of choices, maps, quantities.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::choice;
use ssdlab_base::quantity::{Share, finite};
use ssdlab_base::units::{Bytes, Nanos};

/// A drive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Toy {
    /// Seed of all random streams. Default: 0, which is a seed like any other. Assumed.
    #[serde(default)]
    pub seed: u64,
    /// The name of the run. Assumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The shape of the flash.
    pub geometry: Geometry,
    /// Garbage collection.
    #[serde(default)]
    pub gc: Gc,
    /// The scheduler: which request starts next.
    #[serde(default)]
    pub scheduler: Scheduler,
    /// Background operations.
    #[serde(default)]
    pub background: Vec<Background>,
    /// The requests of the host.
    #[serde(default)]
    pub workload: Workload,
    /// The hosts that share the drive.
    #[serde(default)]
    pub tenants: BTreeMap<String, Tenant>,
}

/// The shape of the flash.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Geometry {
    /// Blocks of a plane. Source: datasheet, Table 3.
    #[schemars(range(min = 1, max = 65536))]
    pub blocks: u32,
    /// Bytes of a page. Source: datasheet, Table 3.
    #[serde(default = "page")]
    pub page: Bytes,
    /// Planes of a die. Source: datasheet, Table 3.
    #[serde(default = "two")]
    pub planes: u8,
}

fn page() -> Bytes {
    Bytes::new(16_384)
}

fn two() -> u8 {
    2
}

/// Garbage collection.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Gc {
    /// Free blocks below which collection starts. Source: DLV, Table II.
    pub threshold: Share,
    /// How long a collection may hold the die. Default: `3ms`. Assumed.
    pub hold: Nanos,
    /// The weight of an old block. Default: 150%. Assumed.
    #[serde(deserialize_with = "finite")]
    pub weight: f64,
    /// Whether the host waits. Assumed.
    pub eager: bool,
}

impl Default for Gc {
    fn default() -> Gc {
        Gc { threshold: Share::new(0.07), hold: Nanos::from_ms(3), weight: 1.5, eager: false }
    }
}

/// First come, first served.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fifo {}

/// Heavy writes on strong pages.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Hws {
    /// Requests that the scheduler considers. Source: DLV, Section IV.
    #[schemars(range(min = 1))]
    pub window: u32,
    /// How long other requests may overtake a request. Assumed.
    pub patience: Nanos,
}

impl Default for Hws {
    fn default() -> Hws {
        Hws { window: 32, patience: Nanos::from_ms(10) }
    }
}

/// By class.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Classes {
    /// Classes told apart. No source here, on purpose.
    pub classes: u8,
}

choice! {
    /// The scheduler: which request starts next.
    pub enum Scheduler {
        /// First come, first served.
        fifo => Fifo(Fifo),
        /// Heavy writes
        /// on strong pages.
        hws => Hws(Hws),
        /// By class.
        priority => Priority(Classes),
    } default fifo
}

/// Moves hot pages.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Clock {
    /// Between two rounds. Assumed.
    #[serde(default = "minute")]
    pub period: Nanos,
}

fn minute() -> Nanos {
    Nanos::from_ms(60_000)
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { period: minute() }
    }
}

choice! {
    /// Background operations.
    pub enum Background {
        /// Empties the block with the fewest valid pages.
        greedy => Greedy(Fifo),
        /// Moves hot pages.
        clock => Clock(Clock),
    } default greedy
}

/// The requests of the host.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Workload {
    /// Sizes of requests, drawn with equal chance. Assumed.
    pub sizes: Vec<Bytes>,
    /// The arrival process. Assumed.
    pub arrival: Arrival,
    /// Ends the run early. Default: no limit, the run ends with its requests. Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Nanos>,
    /// Replays with this scheduler. Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Scheduler>,
}

/// Serde's own kind of choice.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Arrival {
    /// As fast as the queue allows.
    #[default]
    Closed,
    /// At random.
    Poisson(Poisson),
}

/// At random.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Poisson {
    /// Requests per second, on average. Assumed.
    pub load: u32,
}

/// One of several hosts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Tenant {
    /// The tenant's share of the drive. Assumed.
    pub share: Share,
    /// The scheduler of its requests. Assumed.
    #[serde(default)]
    pub scheduler: Scheduler,
}
