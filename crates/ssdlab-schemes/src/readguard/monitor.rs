//! The WAF monitor: margins grow while repairs write too much, and shrink while they do not.
//! Source: ReadGuard, section 5.3.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_nand::refusal::{Refusal, within};

use ssdlab_policy::account::Cause;
use ssdlab_policy::background::EndedJob;
use ssdlab_policy::columns::Column;

/// Settings of the monitor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MonitorConfig {
    /// The most that repairs may write, as a part of all that the controller writes for itself.
    /// Default: 10%. Source: ReadGuard, section 5.3.
    pub max_write_share: Share,
    /// By how much margins grow or shrink at a check, as a part of the most retries. Default: 0.1.
    /// Source: ReadGuard, section 5.3.
    pub step: Share,
    /// Blocks that garbage collection frees between two checks, as a part of all. Default: 5%.
    /// Source: ReadGuard, section 5.3.
    pub interval: Share,
    /// Whether a repair waits as long as all of them would have written more than the limit then;
    /// without it a round is carried out whole, and only the next one finds less. Default: true.
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
pub struct Monitor {
    limit: f64,
    step: f64,
    paced: bool,
    /// Blocks that are freed between two checks.
    every: u64,
    /// Blocks freed since the last check.
    freed: u64,
    /// What was written since then, and in all.
    lately: Written,
    ever: Written,
}

/// Pages that the controller wrote for itself.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    /// Those of repairs that began.
    extra: u64,
    /// Those of others.
    others: u64,
}

impl Written {
    /// Whether so many pages more of repairs would be more than this part of all.
    fn is_over(self, limit: f64, pages: u64) -> bool {
        let extra = self.extra + pages;
        extra as f64 > limit * (self.others + extra) as f64
    }
}

/// More is counted on no drive.
pub(super) const COUNTED_MOST: u64 = 1 << 60;

impl Monitor {
    /// What it keeps.
    pub fn columns(&mut self) -> [Column<'_>; 5] {
        let Monitor { freed, lately, ever, .. } = self;
        [
            Column::new("blocks_freed", freed),
            Column::new("repairs_lately", &mut lately.extra),
            Column::new("others_lately", &mut lately.others),
            Column::new("repairs_ever", &mut ever.extra),
            Column::new("others_ever", &mut ever.others),
        ]
        .map(|count| count.up_to(COUNTED_MOST))
    }

    /// A monitor of a drive with so many blocks.
    pub fn new(config: &MonitorConfig, blocks: u64) -> Monitor {
        Monitor {
            limit: config.max_write_share.get(),
            step: config.step.get(),
            paced: config.paced,
            every: config.interval.of(blocks).max(1),
            freed: 0,
            lately: Written::default(),
            ever: Written::default(),
        }
    }

    /// Whether a repair that writes so many pages may begin, which then counts.
    pub fn may_start(&mut self, pages: u64) -> bool {
        if self.paced && self.ever.is_over(self.limit, pages) {
            return false;
        }
        self.lately.extra += pages;
        self.ever.extra += pages;
        true
    }

    /// Counts a job; by how much the margins move, if it is time for that: what waits counts as if
    /// it had been written, or they would never grow where repairs are paced.
    pub fn ended(&mut self, ended: &EndedJob) -> Option<f64> {
        self.freed += u64::from(ended.job.cause == Cause::Gc);
        if !ended.own {
            self.lately.others += u64::from(ended.moved);
            self.ever.others += u64::from(ended.moved);
        }
        if self.freed < self.every {
            return None;
        }
        let over = self.lately.is_over(self.limit, ended.waiting);
        (self.freed, self.lately) = (0, Written::default());
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
        // Of 40 blocks a check is due with every second that is collected.
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
        // What was not made use of before the check can be used after it.
        assert!(monitor.may_start(30) && !monitor.may_start(1));
    }

    fn collected(monitor: &mut Monitor, moved: u32) -> Option<f64> {
        collect(monitor, moved, 0)
    }

    /// A block is collected of which so many pages were moved, while so many wait to be.
    fn collect(monitor: &mut Monitor, moved: u32, waiting: u64) -> Option<f64> {
        let job = Job::new(BlockId(0), Cause::Gc, Writer::Gc);
        monitor.ended(&EndedJob { job, moved, took: None, own: false, waiting })
    }
}
