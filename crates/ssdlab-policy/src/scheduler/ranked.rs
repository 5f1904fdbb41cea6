//! Schedulers that rank by the kind of operation, or by the priority of the request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HostRank, SchedulerNeeds, SchedulerPolicy, SchedulerView};
use crate::account::OpKind;
use crate::{Policy, PolicyContext};

/// `read_first` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFirstConfig {}

/// Reads before writes on each plane: a read keeps the host waiting, a write seldom does.
#[derive(Clone, Debug)]
pub struct ReadFirst;

impl Policy for ReadFirst {
    type Config = ReadFirstConfig;

    fn build(_: &Self::Config, _: &PolicyContext) -> ReadFirst {
        ReadFirst
    }
}

impl SchedulerPolicy for ReadFirst {
    fn rank(&mut self, view: &SchedulerView) -> HostRank {
        HostRank(u8::from(view.kind != OpKind::Read))
    }
}

/// `write_first` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFirstConfig {}

/// Writes before reads on each plane: a program never waits for reads that have not begun. The
/// scheduler serves as a bound: it shows how much of a write's latency is waiting for reads.
#[derive(Clone, Debug)]
pub struct WriteFirst;

impl Policy for WriteFirst {
    type Config = WriteFirstConfig;

    fn build(_: &Self::Config, _: &PolicyContext) -> WriteFirst {
        WriteFirst
    }
}

impl SchedulerPolicy for WriteFirst {
    fn rank(&mut self, view: &SchedulerView) -> HostRank {
        HostRank(u8::from(view.kind == OpKind::Read))
    }
}

/// Settings of `strict_priority`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StrictPriorityConfig {
    /// Number of operations that a unit may begin past others of lower priorities, or past a
    /// suspended one. After that, one of these has a turn: the next attempt of a suspended read,
    /// the suspended operation, or the earliest that waits. 0: no limit. Default: 64. Source:
    /// ReadGuard (ruled: else dense reads starve them).
    pub max_passes: u16,
}

impl Default for StrictPriorityConfig {
    fn default() -> StrictPriorityConfig {
        StrictPriorityConfig { max_passes: 64 }
    }
}

/// By the priority of the submission queue. Now and then a lower priority has a turn.
#[derive(Clone, Debug)]
pub struct StrictPriority;

impl Policy for StrictPriority {
    type Config = StrictPriorityConfig;

    fn build(_: &Self::Config, _: &PolicyContext) -> StrictPriority {
        StrictPriority
    }
}

impl SchedulerPolicy for StrictPriority {
    fn needs(config: &StrictPriorityConfig) -> SchedulerNeeds {
        SchedulerNeeds { by_priority: true, max_passes: config.max_passes }
    }

    fn rank(&mut self, view: &SchedulerView) -> HostRank {
        HostRank(view.request.priority.0)
    }
}
