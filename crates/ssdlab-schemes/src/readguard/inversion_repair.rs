//! `background.inversion_repair`: exchanges or refreshes a block that reads worse than a block of a
//! lower priority, as far as the extra writes allow. Source: ReadGuard, sections 5.2 (algorithm 2)
//! and 5.3.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Nanos;
use ssdlab_base::quantity::Share;
use ssdlab_nand::refusal::Refusal;

use super::monitor::{MAX_COUNTED, Monitor, MonitorConfig};
use super::repair_counts::RepairCounts;
use ssdlab_policy::Toggle;
use ssdlab_policy::account::{Cause, Priority};
use ssdlab_policy::allocation::Writer;
use ssdlab_policy::background::{BackgroundNeeds, BackgroundPolicy, BlockEstimate, EndedJob, Job};
use ssdlab_policy::columns::{Column, Per};
use ssdlab_policy::counters::Counter;
use ssdlab_policy::event::{Actions, Event, EventContext, EventMask};
use ssdlab_policy::{Policy, PolicyContext};

/// Settings of `inversion_repair`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InversionRepairConfig {
    /// Time between two rounds, on the cells' clock. Default: `7d`. Source: ReadGuard, section 5.2.
    pub interval: Nanos,
    /// Initial margins, as a share of the most retries. A pair is inverted if the retries of the
    /// higher priority's block exceed the other's by more than this. Default: 0.1. Source:
    /// ReadGuard, section 5.3.
    pub margin: Share,
    /// The monitor, which adjusts the margins so that extra writes stay below a limit: `true`,
    /// `false` or a table with its settings. Default: true.
    pub monitor: Toggle<MonitorConfig>,
}

impl Default for InversionRepairConfig {
    fn default() -> InversionRepairConfig {
        InversionRepairConfig {
            interval: Nanos::from_ms(7 * 86_400_000),
            margin: Share::new(0.1),
            monitor: Toggle::on(),
        }
    }
}

/// Finds inversions and repairs them.
#[derive(Clone, Debug)]
pub struct InversionRepair {
    interval: Nanos,
    monitor: Option<Monitor>,
    /// The most retries of a read.
    most: u8,
    priorities: u8,
    /// The margin of each priority but the last, as a share of the most retries.
    margins: Vec<f64>,
    counts: RepairCounts,
    /// Pages that repairs have moved since the run began, and pages that all jobs have moved.
    total: (u64, u64),
}

impl Policy for InversionRepair {
    type Config = InversionRepairConfig;

    const COMPONENTS: &'static [&'static str] = &["retry_estimate"];

    fn check(config: &InversionRepairConfig, context: &PolicyContext) -> Result<(), Refusal> {
        const KEY: &str = "background.inversion_repair";
        if context.classes.priorities == 1 {
            let expected =
                "blocks that are kept apart by priority (metadata.block_class = \"predicted\")";
            return Err(Refusal::new(KEY, "inversion_repair", expected));
        }
        if !context.has("retry_estimate") {
            let expected = "a retry estimate (metadata.retry_estimate)";
            return Err(Refusal::new(KEY, "inversion_repair", expected));
        }
        if config.interval < MIN_INTERVAL {
            let expected = format!("at least {MIN_INTERVAL}");
            return Err(Refusal::new(format!("{KEY}.interval"), config.interval, expected));
        }
        config.monitor.get().map_or(Ok(()), MonitorConfig::check)
    }

    fn build(config: &InversionRepairConfig, context: &PolicyContext) -> InversionRepair {
        let priorities = context.classes.priorities;
        let blocks = u64::from(context.geometry.block_count());
        let margins = vec![config.margin.get(); usize::from(priorities) - 1];
        InversionRepair {
            interval: config.interval,
            monitor: config.monitor.get().map(|config| Monitor::new(config, blocks)),
            most: context.levels - 1,
            priorities,
            margins,
            counts: RepairCounts::default(),
            total: (0, 0),
        }
    }

    fn events(&self) -> EventMask {
        EventMask::ROUND_DUE.and(EventMask::JOB_ENDED).and(EventMask::COUNTS_RESET)
    }

    fn on_event(&mut self, event: &Event, context: &mut EventContext) {
        match event {
            Event::RoundDue(round) if round.across_classes => self.counts.left_out += 1,
            Event::RoundDue(round) => self.request_repairs(round.full, context.actions),
            Event::JobEnded(ended) => self.ended(ended),
            Event::CountsReset => self.counts = RepairCounts::default(),
            _ => {}
        }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        let (extra, all) = &mut self.total;
        // Only results show how many pages were repaired and moved.
        let own = [
            Column::new("margins", Per::Drive, &mut self.margins),
            Column::new("pages_repaired", Per::Drive, extra).up_to(MAX_COUNTED).uncounted(),
            Column::new("pages_moved", Per::Drive, all).up_to(MAX_COUNTED).uncounted(),
        ];
        own.into_iter().chain(self.monitor.iter_mut().flat_map(Monitor::columns)).collect()
    }

    fn counters(&self) -> Vec<(&'static str, Counter)> {
        let extra_share = self.total.0 as f64 / self.total.1.max(1) as f64;
        self.counts.counters(extra_share, &self.margins)
    }
}

/// The shortest allowed interval: each round examines every block.
const MIN_INTERVAL: Nanos = Nanos::from_ms(60_000);

impl InversionRepair {
    /// Finds the inversions of one pair of priorities, and requests a repair of each. `high` lists
    /// its worst blocks first, `low` its best. Blocks that a job takes leave the lists.
    fn repair(
        &mut self,
        (high, low): (&mut Vec<BlockEstimate>, &mut Vec<BlockEstimate>),
        margin: f64,
        actions: &mut Actions,
    ) {
        let (mut worst, mut best) = (0, 0);
        while let (Some(bad), Some(good)) = (high.get(worst), low.get(best)) {
            let difference = f64::from(bad.expected.retries) - f64::from(good.expected.retries);
            if difference <= margin {
                break;
            }
            self.counts.inversions += 1;
            if good.expected.age < bad.expected.age {
                // The good block is young. Its data moves away, and the block goes to the higher
                // priority.
                let gains = Some(bad.priority);
                let class = Some(good.priority.class());
                let job = Job::new(good.block, Cause::Migration, Writer::Gc);
                actions.relocate(Job { class, gains, ..job });
                best += 1;
            } else {
                // Only the data is old: rewritten data reads well.
                let class = Some(bad.priority.class());
                let job = Job::new(bad.block, Cause::Refresh, Writer::Gc);
                actions.relocate(Job { class, ..job });
                worst += 1;
            }
        }
        high.drain(..worst);
        low.drain(..best);
    }

    /// Requests the repairs that these full blocks need, when a round is due.
    fn request_repairs(&mut self, full: &[BlockEstimate], actions: &mut Actions) {
        self.counts.rounds += 1;
        let of =
            |priority| full.iter().filter(move |estimates| estimates.priority == priority).copied();
        let mut owned: Vec<Vec<BlockEstimate>> =
            (0..self.priorities).map(|p| of(Priority(p)).collect()).collect();
        // Sorted by retries; among equals by wear, then by block number.
        let key = |estimates: &BlockEstimate| (estimates.expected.retries, estimates.expected.age);
        let ordered = |a: &BlockEstimate, b: &BlockEstimate| {
            let ((a_nr, a_age), (b_nr, b_age)) = (key(a), key(b));
            a_nr.cmp(&b_nr).then(a_age.total_cmp(&b_age)).then(a.block.0.cmp(&b.block.0))
        };
        for high in 0..owned.len() {
            let margin = self.margin(Priority(high as u8));
            for low in high + 1..owned.len() {
                let (above, below) = owned.split_at_mut(low);
                let (above, below) = (&mut above[high], &mut below[0]);
                above.sort_by(|a, b| ordered(b, a));
                below.sort_by(ordered);
                self.repair((above, below), margin, actions);
            }
        }
    }

    /// Counts a job that has ended, its own or another's, and adjusts the margins.
    fn ended(&mut self, ended: &EndedJob) {
        let moved = u64::from(ended.moved);
        self.counts.moved_by_all += moved;
        self.total.1 += moved;
        if ended.own {
            self.counts.moved += moved;
            self.total.0 += moved;
            match ended.job.gains {
                Some(_) => self.counts.reassigned += 1,
                None => self.counts.refreshed += 1,
            }
        }
        let step = self.monitor.as_mut().and_then(|monitor| monitor.ended(ended));
        if let Some(step) = step {
            self.counts.checks += 1;
            // Rounded to thousandths, so that steps up and down cancel out.
            let thousandths = |margin: f64| (margin * 1e3).round() / 1e3;
            let moved = |margin: &mut f64| *margin = thousandths(*margin + step).clamp(0.0, 1.0);
            self.margins.iter_mut().for_each(moved);
        }
    }

    /// Returns the margin of a priority, in retries. Priorities beyond the last count as the last.
    fn margin(&self, priority: Priority) -> f64 {
        let at = priority.index().min(self.margins.len() - 1);
        self.margins[at] * f64::from(self.most)
    }
}

impl BackgroundPolicy for InversionRepair {
    fn needs(&self) -> BackgroundNeeds {
        BackgroundNeeds { interval: Some(self.interval), ..BackgroundNeeds::default() }
    }

    fn may_start(&mut self, pages: u32) -> bool {
        self.monitor.as_mut().is_none_or(|monitor| monitor.may_start(pages.into()))
    }
}
