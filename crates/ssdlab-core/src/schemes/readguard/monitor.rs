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
    /// Whether repairs wait as long as they would write more than the limit allows since the last check;
    /// without it a round is carried out whole, and only the next one finds less. Default: true. Assumed:
    /// the first round on a full drive finds blocks by the tens of thousands.
    pub paced: bool,
}

impl Default for MonitorConfig {
    fn default() -> MonitorConfig {
        MonitorConfig {
            limit: Share::new(0.1),
            step: Share::new(0.1),
            every: Share::new(0.05),
            paced: true,
        }
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
    paced: bool,
    /// Blocks that are freed between two checks.
    every: u64,
    /// Since the last check: blocks freed, pages of repairs that began, and pages that others wrote.
    freed: u64,
    extra: u64,
    others: u64,
    /// Pages of repairs that were found and have not begun.
    wanted: u64,
}

impl Monitor {
    /// A monitor of a drive with so many blocks.
    pub fn new(config: &MonitorConfig, blocks: u64) -> Monitor {
        Monitor {
            limit: config.limit.get(),
            step: config.step.get(),
            paced: config.paced,
            every: config.every.of(blocks).max(1),
            freed: 0,
            extra: 0,
            others: 0,
            wanted: 0,
        }
    }

    /// A round has found repairs that would write so many pages; those of the last are forgotten.
    pub fn found(&mut self, pages: u64) {
        self.wanted = pages;
    }

    /// Whether a repair that writes so many pages may begin, which then counts.
    pub fn may_begin(&mut self, pages: u64) -> bool {
        if self.paced && self.is_over(self.extra + pages) {
            return false;
        }
        self.extra += pages;
        self.wanted = self.wanted.saturating_sub(pages);
        true
    }

    /// Whether so many pages of repairs are more than the limit's part of all.
    fn is_over(&self, pages: u64) -> bool {
        pages as f64 > self.limit * (self.others + pages) as f64
    }

    /// Counts a job; by how much the margins move, if it is time for that: what waits counts as if it had
    /// been written, or they would never grow where repairs are paced.
    pub fn ended(&mut self, ended: &EndedJob) -> Option<f64> {
        self.freed += u64::from(ended.job.cause == Cause::Gc);
        self.others += if ended.own { 0 } else { u64::from(ended.moved) };
        if self.freed < self.every {
            return None;
        }
        let over = self.is_over(self.extra + self.wanted);
        (self.freed, self.extra, self.others) = (0, 0, 0);
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
        let config = MonitorConfig { paced: false, ..MonitorConfig::default() };
        let mut monitor = Monitor::new(&config, 40);
        assert_eq!(collected(&mut monitor, 45), None);
        assert!(monitor.may_begin(10));
        assert_eq!(collected(&mut monitor, 45), Some(-0.1), "10 of 100 are not above the limit");
        assert!(monitor.may_begin(11));
        assert_eq!((collected(&mut monitor, 40), collected(&mut monitor, 49)), (None, Some(0.1)));
        assert_eq!((collected(&mut monitor, 1), collected(&mut monitor, 1)), (None, Some(-0.1)));
    }

    #[test]
    fn paced_repairs_wait_for_what_others_write_and_what_waits_moves_the_margins() {
        let mut monitor = Monitor::new(&MonitorConfig::default(), 40);
        monitor.found(30);
        assert!(!monitor.may_begin(10), "nobody has written anything");
        collected(&mut monitor, 90);
        assert!(monitor.may_begin(10) && !monitor.may_begin(1));
        assert_eq!(collected(&mut monitor, 90), Some(0.1), "20 more are wanted");
        assert_eq!((collected(&mut monitor, 180), collected(&mut monitor, 0)), (None, Some(-0.1)));
    }

    /// A block is collected of which so many pages were moved.
    fn collected(monitor: &mut Monitor, moved: u32) -> Option<f64> {
        let job =
            Job { block: BlockId(0), cause: Cause::Gc, to: Stream::Gc, class: None, gains: None };
        monitor.ended(&EndedJob { job, moved, own: false })
    }
}
