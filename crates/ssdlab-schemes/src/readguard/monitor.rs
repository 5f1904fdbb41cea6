//! The WAF monitor: margins grow while repairs write too much, and shrink otherwise. Source:
//! ReadGuard, section 5.3.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_nand::refusal::{Refusal, within};

use ssdlab_policy::account::Cause;
use ssdlab_policy::background::EndedJob;
use ssdlab_policy::columns::{Column, Per};

/// Settings of the monitor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MonitorConfig {
    /// Largest share of repairs in all pages that the controller writes for itself. Default: 10%.
    /// Source: ReadGuard, section 5.3.
    pub max_write_share: Share,
    /// Step by which margins grow or shrink at a check, as a share of the most retries. Default:
    /// 0.1. Source: ReadGuard, section 5.3.
    pub step: Share,
    /// Blocks that garbage collection frees between two checks, as a share of all. Default: 5%.
    /// Source: ReadGuard, section 5.3.
    pub interval: Share,
    /// Whether a repair waits while it would bring the writes of all repairs above the limit. If
    /// not, a round runs completely, and only the next round finds less to do. Default: true.
    /// Assumed: the first round on a full drive finds blocks by the tens of thousands.
    pub paced: bool,
}

impl Default for MonitorConfig {
    fn default() -> MonitorConfig {
        MonitorConfig {
            max_write_share: Share::new(0.1),
            step: Share::new(0.1),
            interval: Share::new(0.05),
            paced: true,
        }
    }
}

impl MonitorConfig {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let key = |field: &str| format!("background.inversion_repair.monitor.{field}");
        within(&key("step"), self.step.get(), 1e-3, 1.0)?;
        within(&key("interval"), self.interval.get(), 1e-6, 1.0).map(|_| ())
    }
}

/// The monitor.
#[derive(Clone, Debug)]
pub(crate) struct Monitor {
    limit: f64,
    step: f64,
    paced: bool,
    /// Number of blocks that are freed between two checks.
    every: u64,
    /// Number of blocks freed since the last check.
    freed: u64,
    /// Pages written since the last check, and in all.
    recent: Written,
    total: Written,
}

/// Pages that the controller wrote for itself.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    /// Pages of repairs that have begun.
    extra: u64,
    /// Pages of other jobs.
    others: u64,
}

impl Written {
    /// Returns whether `pages` more pages of repairs would bring their share of all pages above
    /// `limit`.
    fn is_over(self, limit: f64, pages: u64) -> bool {
        let extra = self.extra + pages;
        extra as f64 > limit * (self.others + extra) as f64
    }
}

/// The largest count: no drive reaches it.
pub(super) const MAX_COUNTED: u64 = 1 << 60;

impl Monitor {
    /// Returns the columns of the monitor.
    pub(crate) fn columns(&mut self) -> [Column<'_>; 5] {
        let Monitor { freed, recent, total, .. } = self;
        [
            Column::new("blocks_freed", Per::Drive, freed),
            Column::new("recent_repairs", Per::Drive, &mut recent.extra),
            Column::new("recent_others", Per::Drive, &mut recent.others),
            Column::new("total_repairs", Per::Drive, &mut total.extra),
            Column::new("total_others", Per::Drive, &mut total.others),
        ]
        .map(|count| count.up_to(MAX_COUNTED))
    }

    /// Returns the monitor of a drive with `blocks` blocks.
    pub(crate) fn new(config: &MonitorConfig, blocks: u64) -> Monitor {
        Monitor {
            limit: config.max_write_share.get(),
            step: config.step.get(),
            paced: config.paced,
            every: config.interval.of(blocks).max(1),
            freed: 0,
            recent: Written::default(),
            total: Written::default(),
        }
    }

    /// Returns whether a repair that writes `pages` pages may begin. Counts it if so.
    pub(crate) fn may_start(&mut self, pages: u64) -> bool {
        if self.paced && self.total.is_over(self.limit, pages) {
            return false;
        }
        self.recent.extra += pages;
        self.total.extra += pages;
        true
    }

    /// Counts a job. At a check, returns the step by which the margins change. Waiting repairs
    /// count as written: otherwise the margins would never grow while repairs are paced.
    pub(crate) fn ended(&mut self, ended: &EndedJob) -> Option<f64> {
        self.freed += u64::from(ended.job.cause == Cause::Gc);
        if !ended.own {
            self.recent.others += u64::from(ended.moved);
            self.total.others += u64::from(ended.moved);
        }
        if self.freed < self.every {
            return None;
        }
        let over = self.recent.is_over(self.limit, ended.waiting);
        (self.freed, self.recent) = (0, Written::default());
        Some(if over { self.step } else { -self.step })
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_nand::BlockId;

    use super::*;
    use ssdlab_policy::allocation::Writer;
    use ssdlab_policy::background::Job;

    #[test]
    fn margins_grow_while_repairs_write_more_than_the_limit() {
        // With 40 blocks, a check is due after every second collected block.
        let config = MonitorConfig { paced: false, ..MonitorConfig::default() };
        let mut monitor = Monitor::new(&config, 40);
        assert_eq!(collected(&mut monitor, 45), None);
        assert!(monitor.may_start(10));
        assert_eq!(collected(&mut monitor, 45), Some(-0.1), "10 of 100 are not above the limit");
        assert!(monitor.may_start(11));
        assert_eq!((collected(&mut monitor, 40), collected(&mut monitor, 49)), (None, Some(0.1)));
        assert_eq!((collected(&mut monitor, 1), collected(&mut monitor, 1)), (None, Some(-0.1)));
    }

    #[test]
    fn paced_repairs_wait_for_what_others_write_and_what_waits_moves_the_margins() {
        let mut monitor = Monitor::new(&MonitorConfig::default(), 40);
        assert!(!monitor.may_start(10), "nobody has written anything");
        collect(&mut monitor, 90, 30);
        assert!(monitor.may_start(10) && !monitor.may_start(1));
        assert_eq!(collect(&mut monitor, 90, 20), Some(0.1), "20 more are wanted");
        assert_eq!(
            (collect(&mut monitor, 180, 20), collect(&mut monitor, 0, 20)),
            (None, Some(-0.1))
        );
        // The unused part of the limit before the check can be used after it.
        assert!(monitor.may_start(30) && !monitor.may_start(1));
    }

    fn collected(monitor: &mut Monitor, moved: u32) -> Option<f64> {
        collect(monitor, moved, 0)
    }

    /// Collects a block and moves `moved` pages, while `waiting` pages wait for repairs.
    fn collect(monitor: &mut Monitor, moved: u32, waiting: u64) -> Option<f64> {
        let job = Job::new(BlockId(0), Cause::Gc, Writer::Gc);
        monitor.ended(&EndedJob { job, moved, took: None, own: false, waiting })
    }
}
