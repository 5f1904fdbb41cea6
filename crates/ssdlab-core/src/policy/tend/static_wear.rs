//! Static wear levelling: data that never changes gives up the little-worn block it sits on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Job, TendPolicy, TendView, Trigger};
use crate::account::Cause;
use crate::ftl::{BlockState, Stream};
use crate::policy::{Answer, Setup};

/// Settings of static wear levelling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StaticWearConfig {
    /// The spread between the most and the least worn block of a plane beyond which the least
    /// worn is moved, in P/E cycles. Source: MQSim's `Static_Wearleveling_Threshold`.
    pub threshold: u32,
}

impl Default for StaticWearConfig {
    fn default() -> StaticWearConfig {
        StaticWearConfig { threshold: 100 }
    }
}

/// The leveller.
#[derive(Clone, Debug)]
pub struct StaticWear {
    threshold: u32,
}

impl Answer for StaticWear {
    type Config = StaticWearConfig;

    fn build(config: &StaticWearConfig, _: &Setup) -> StaticWear {
        StaticWear { threshold: config.threshold }
    }
}

/// Free blocks of a plane without which no move begins: one for the move and one for the host.
const FREE_LEAST: u32 = 2;

impl TendPolicy for StaticWear {
    fn content_with(&self) -> u32 {
        // Wear changes only with an erase, and that is the end of a job.
        0
    }

    fn urgent_below(&self) -> u32 {
        0
    }

    fn job(&mut self, trigger: Trigger, view: &TendView) -> Option<Job> {
        if trigger != Trigger::JobEnded || view.free_blocks < FREE_LEAST {
            return None;
        }
        let usable = |at: &usize| view.pool.state[*at] != BlockState::Bad;
        let worn = (0..view.pool.len()).filter(usable).map(|at| view.pool.erases[at]).max()?;
        let closed = |at: &usize| view.pool.state[*at] == BlockState::Closed;
        let cold = (0..view.pool.len()).filter(closed).min_by_key(|&at| view.pool.erases[at])?;
        if worn - view.pool.erases[cold] <= self.threshold {
            return None;
        }
        Some(Job { block: view.pool.block(cold), cause: Cause::Wl, to: Stream::Cold })
    }
}
