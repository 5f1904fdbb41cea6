//! The WAF monitor: margins grow while repairs write too much, and shrink while they do not. Source:
//! ReadGuard, section 5.3.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_nand::refusal::{Refusal, within};

use crate::account::Cause;
use crate::policy::tend::EndedJob;

/// Settings of the monitor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MonitorConfig {
    /// The most that repairs may write, as a part of all that the controller writes for itself. Default:
    /// 10%. Source: ReadGuard, section 5.3.
    pub limit: Share,
    /// By how much margins grow or shrink at a check, as a part of the most retries. Default: 0.1.
    /// Source: ReadGuard, section 5.3.
    pub step: Share,
    /// Blocks that garbage collection frees between two checks, as a part of all. Default: 5%. Source:
    /// ReadGuard, section 5.3.
    pub every: Share,
}

impl Default for MonitorConfig {
    fn default() -> MonitorConfig {
        MonitorConfig { limit: Share::new(0.1), step: Share::new(0.1), every: Share::new(0.05) }
    }
}

impl MonitorConfig {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let key = |field: &str| format!("tend.inversions.monitor.{field}");
        within(&key("step"), self.step.get(), 1e-3, 1.0)?;
        within(&key("every"), self.every.get(), 1e-6, 1.0).map(|_| ())
    }
}

/// The monitor.
#[derive(Clone, Debug)]
pub struct Monitor {
    limit: f64,
    step: f64,
    /// Blocks that are freed between two checks.
    every: u64,
    /// Since the last check: blocks freed, pages that repairs wrote, and all that the controller wrote.
    freed: u64,
    extra: u64,
    all: u64,
}

impl Monitor {
    /// A monitor of a drive with so many blocks.
    pub fn new(config: &MonitorConfig, blocks: u64) -> Monitor {
        Monitor {
            limit: config.limit.get(),
            step: config.step.get(),
            every: config.every.of(blocks).max(1),
            freed: 0,
            extra: 0,
            all: 0,
        }
    }

    /// Counts a job; by how much the margins move, if it is time for that.
    pub fn ended(&mut self, ended: &EndedJob) -> Option<f64> {
        let moved = u64::from(ended.moved);
        self.freed += u64::from(ended.job.cause == Cause::Gc);
        self.extra += if ended.own { moved } else { 0 };
        self.all += moved;
        if self.freed < self.every {
            return None;
        }
        let over = self.extra as f64 > self.limit * self.all as f64;
        (self.freed, self.extra, self.all) = (0, 0, 0);
        Some(if over { self.step } else { -self.step })
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_nand::BlockId;

    use super::*;
    use crate::ftl::Stream;
    use crate::policy::tend::Job;

    #[test]
    fn margins_grow_while_repairs_write_more_than_the_limit() {
        // Of 40 blocks a check is due with every second that is collected.
        let mut monitor = Monitor::new(&MonitorConfig::default(), 40);
        let mut ended = |cause, moved| {
            let job = Job { block: BlockId(0), cause, to: Stream::Gc, class: None, gains: None };
            monitor.ended(&EndedJob { job, moved, own: cause != Cause::Gc })
        };
        assert_eq!(ended(Cause::Gc, 45), None);
        assert_eq!(ended(Cause::Refresh, 10), None);
        assert_eq!(ended(Cause::Gc, 45), Some(-0.1), "10 of 100 are not above the limit");
        assert_eq!(ended(Cause::Migration, 11), None);
        assert_eq!((ended(Cause::Gc, 40), ended(Cause::Gc, 49)), (None, Some(0.1)));
        assert_eq!((ended(Cause::Gc, 1), ended(Cause::Gc, 1)), (None, Some(-0.1)), "counted anew");
    }
}
