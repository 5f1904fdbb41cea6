//! Estimates how well each block will read: the retries that its worst page will need. Source:
//! ReadGuard, sections 4 and 5.1 (the block grader and its table, the eBST).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::{CellTime, Nanos, choice, prefetch};
use ssdlab_nand::BlockId;
use ssdlab_nand::refusal::{IdleKey, Refusal};

use super::predictor::{Predictor, PredictorConfig};
use ssdlab_policy::Learner;
use ssdlab_policy::account::{BlockProbe, WorstPage};
use ssdlab_policy::allocation::FreeBlockPolicy;
use ssdlab_policy::columns::{Column, Per};
use ssdlab_policy::component::Expected;
use ssdlab_policy::component::{
    BlockMetadata, Component, ComponentConfig, ComponentFacts, PageMetadata, Ranks, StartView,
};
use ssdlab_policy::event::{Action, Event, EventContext, EventMask, FreedBlock};

/// The config key of the settings.
const KEY: &str = "metadata.retry_estimate";

choice! {
    /// How the controller estimates the retries that a read of each block takes.
    pub enum RetryEstimateChoice {
        /// No estimate.
        none => None(NoEstimateConfig),
        /// The prediction of an error model that was fitted to chips (ReadGuard).
        predicted => Predicted(PredictorConfig),
        /// The retries of the last read of the block.
        last_seen => LastSeen(LastSeenConfig),
        /// The truth: an oracle.
        oracle => Oracle(OracleConfig),
    } default none
}

/// `none` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoEstimateConfig {}

/// `last_seen` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LastSeenConfig {}

/// `oracle` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OracleConfig {}

impl ComponentConfig for RetryEstimateChoice {
    fn is_present(&self, is_used: bool) -> bool {
        is_used && !matches!(self, RetryEstimateChoice::None(_))
    }

    fn idle_keys(&self, facts: &ComponentFacts) -> Vec<IdleKey> {
        let estimate = match self {
            RetryEstimateChoice::None(_) => return Vec::new(),
            _ => Some(self.name().to_owned()),
        };
        // A fit's settings go to every scheme of a comparison, also to schemes without the
        // estimate.
        let is_fitted = matches!(self, RetryEstimateChoice::Predicted(_));
        vec![
            (KEY, estimate.clone(), facts.is_flat, "under flat physics"),
            (
                KEY,
                estimate,
                !is_fitted && !facts.is_used,
                "without a policy that uses it, such as ftl.free_block_policy = \"fewest_retries\" or \
                 background.inversion_repair",
            ),
        ]
    }

    fn check(&self, _: u8) -> Result<(), Refusal> {
        match self {
            RetryEstimateChoice::Predicted(config) => {
                Predictor::resolve(config, &format!("{KEY}.predicted")).map(|_| ())
            }
            _ => Ok(()),
        }
    }
}

/// The facts about a block when a drive is built.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    /// P/E cycles.
    pub erases: u32,
    /// Mean time between its erases, on the cells' clock.
    pub dwell: Nanos,
    /// Page reads since the last erase.
    pub reads: u32,
}

#[derive(Clone, Debug)]
enum Source {
    Model(Predictor),
    LastSeen,
    Known,
}

/// The estimates of retries: the source, and a table with a column for each fact.
#[derive(Clone, Debug)]
pub struct RetryEstimates {
    source: Source,
    /// Days at the reference temperature in a nanosecond of the cells' clock.
    days: f64,
    /// For the model: the age of each block.
    age: Vec<f32>,
    /// For the model: when the first page was programmed after the erase, in nanoseconds of the
    /// cells' clock.
    programmed: Vec<i64>,
    /// For the model: page reads since the erase.
    reads: Vec<u32>,
    /// For the model: mean nanoseconds between erases, and the time of the last erase.
    dwell_ns: Vec<u64>,
    erased: Vec<i64>,
    /// The retries last seen. For the oracle, the retries right after the program.
    seen: Vec<u8>,
    /// For the oracle: the raw bit error rate right after the program, in units of 10^-9.
    fresh: Vec<u32>,
}

const UNPROGRAMMED: i64 = i64::MIN;

impl RetryEstimates {
    /// Returns the estimates for blocks in the state `before`; `None` without an estimate. `probe`
    /// returns the result of probing a block at a number of P/E cycles.
    pub fn new(
        choice: &RetryEstimateChoice,
        days: f64,
        before: &[Before],
        probe: impl Fn(BlockId, u32) -> BlockProbe,
    ) -> Option<RetryEstimates> {
        let source = match choice {
            RetryEstimateChoice::None(_) => return None,
            RetryEstimateChoice::Predicted(config) => {
                Source::Model(Predictor::resolve(config, KEY).expect("settings that were checked"))
            }
            RetryEstimateChoice::LastSeen(_) => Source::LastSeen,
            RetryEstimateChoice::Oracle(_) => Source::Known,
        };
        let model = matches!(source, Source::Model(_));
        let blocks = before.len();
        let table = |wanted: bool| if wanted { blocks } else { 0 };
        let mut quality = RetryEstimates {
            days,
            age: vec![0.0; table(model)],
            programmed: vec![UNPROGRAMMED; table(model)],
            reads: before.iter().take(table(model)).map(|before| before.reads).collect(),
            dwell_ns: before.iter().take(table(model)).map(|before| before.dwell.as_ns()).collect(),
            erased: vec![0; table(model)],
            seen: vec![0; table(!model)],
            fresh: vec![0; table(matches!(source, Source::Known))],
            source,
        };
        for (block, before) in (0..).map(BlockId).zip(before) {
            let probed_at = match &quality.source {
                Source::Model(model) => model.probed_at(before.erases),
                _ => before.erases,
            };
            quality.learn_probe(block, probed_at, probe(block, probed_at));
        }
        Some(quality)
    }

    /// Updates the estimate of a block with a probe at `erases` P/E cycles.
    fn learn_probe(&mut self, block: BlockId, erases: u32, probe: BlockProbe) {
        let at = block.index();
        let worst = probe.worst.unwrap_or(WorstPage { retries: 0, rber: 0.0 });
        match &self.source {
            Source::Model(model) => {
                let dwell = self.dwell_ns[at] as f64 * self.days;
                let cycles = f64::from(erases);
                let age = model.age(cycles, probe.erase_us, probe.first_errors, dwell);
                self.age[at] = age as f32;
            }
            Source::LastSeen => self.seen[at] = worst.retries,
            Source::Known => {
                self.seen[at] = worst.retries;
                // Rates are far below 1: a resolution of 10^-9 distinguishes blocks.
                self.fresh[at] = (worst.rber * 1e9).round() as u32;
            }
        }
    }

    /// Returns how a block with `erases` P/E cycles is expected to read at `now` on the cells'
    /// clock. The oracle returns how the block read right after its last program.
    fn estimate(&self, block: BlockId, erases: u32, now: CellTime) -> Expected {
        let at = block.index();
        match &self.source {
            Source::Model(model) => {
                let since = match self.programmed[at] {
                    UNPROGRAMMED => 0.0,
                    programmed => {
                        let programmed = CellTime::from_ns(programmed);
                        now.saturating_since(programmed).as_ns() as f64 * self.days
                    }
                };
                let age = self.age[at];
                let errors = model.errors(age.into(), since, self.reads[at].into());
                Expected { retries: model.retries(errors), age }
            }
            Source::LastSeen => Expected { retries: self.seen[at], age: erases as f32 },
            Source::Known => Expected { retries: self.seen[at], age: self.fresh[at] as f32 },
        }
    }

    /// Returns the rank of a free block, the lowest first: by its expected retries and errors right
    /// after a program.
    fn free_rank_of(&self, block: BlockId) -> u32 {
        let at = block.index();
        match &self.source {
            Source::Model(model) => {
                // Retries are a step function of errors, and errors a function of age: one order
                // serves all three.
                let errors = model.errors(self.age[at].into(), 0.0, 0.0);
                (errors.max(0.0) * 1e3).round().min(f64::from(u32::MAX)) as u32
            }
            Source::LastSeen => self.seen[at].into(),
            Source::Known => self.fresh[at],
        }
    }

    /// Notes that a page of a block was programmed.
    pub fn programmed(&mut self, block: BlockId, now: CellTime) {
        if let Some(programmed) = self.programmed.get_mut(block.index())
            && *programmed == UNPROGRAMMED
        {
            *programmed = now.as_ns();
        }
    }

    /// Notes a read of a page of a block, with its number of retries.
    #[inline]
    pub fn read(&mut self, block: BlockId, retries: u8) {
        let at = block.index();
        match &self.source {
            Source::Model(_) => self.reads[at] = self.reads[at].saturating_add(1),
            Source::LastSeen => self.seen[at] = retries,
            Source::Known => {}
        }
    }

    /// Updates a block that was erased. It now has `erases` P/E cycles, `counts_for` of them from
    /// this erase.
    pub fn erased(
        &mut self,
        block: BlockId,
        now: CellTime,
        (erases, counts_for): (u32, u32),
        probe: impl FnOnce(u32) -> BlockProbe,
    ) {
        let at = block.index();
        match &self.source {
            Source::Model(model) => {
                let cycles = erases - counts_for;
                let span = now.saturating_since(CellTime::from_ns(self.erased[at])).as_ns();
                // Thousands of cycles of months each exceed 64 bits of nanoseconds.
                let sum = u128::from(self.dwell_ns[at]) * u128::from(cycles) + u128::from(span);
                self.dwell_ns[at] = (sum / u128::from(erases.max(1))) as u64;
                (self.erased[at], self.programmed[at], self.reads[at]) =
                    (now.as_ns(), UNPROGRAMMED, 0);
                if model.probed_at(erases) > model.probed_at(cycles) {
                    self.learn_probe(block, erases, probe(erases));
                }
            }
            Source::LastSeen => {}
            Source::Known => self.learn_probe(block, erases, probe(erases)),
        }
    }

    /// Updates a block that is about to join the free blocks, and asks for its new rank.
    #[cold]
    fn freed(&mut self, freed: &FreedBlock, context: &mut EventContext) {
        let FreedBlock { block, pe_cycles, cycles_per_erase, probe, .. } = *freed;
        self.erased(block, context.cell_time, (pe_cycles, cycles_per_erase), probe.0);
        let free_rank = self.free_rank_of(block);
        context.actions.push(Action::SetFreeRank { block, free_rank });
    }
}

impl Component for RetryEstimates {
    type Config = RetryEstimateChoice;

    const RANKS: Ranks = Ranks {
        policies: &[FreeBlockPolicy::FewestRetries],
        expected: "a retry estimate (metadata.retry_estimate)",
    };

    fn build(config: &RetryEstimateChoice, view: &StartView) -> RetryEstimates {
        let all = (0..view.context.geometry.block_count()).map(BlockId);
        let before: Vec<Before> = all
            .map(|block| Before {
                erases: view.blocks.pe_cycles(block),
                dwell: view.blocks.dwell(block),
                reads: view.blocks.reads(block),
            })
            .collect();
        let probe = |block, pe_cycles| view.blocks.probe(block, pe_cycles);
        let estimates = RetryEstimates::new(config, view.days_in_a_nano, &before, probe);
        estimates.expect("a component that is present")
    }

    fn begin(&mut self, view: &StartView) {
        // The data of the start was programmed at these times.
        for block in (0..view.context.geometry.block_count()).map(BlockId) {
            if let Some(programmed) = view.blocks.programmed(block) {
                self.programmed(block, programmed);
            }
        }
    }
}

impl BlockMetadata for RetryEstimates {
    fn free_rank(&self, block: BlockId, _: u32) -> Option<u32> {
        Some(self.free_rank_of(block))
    }

    fn expected(
        &self,
        block: BlockId,
        pe_cycles: u32,
        now: CellTime,
        true_retries: &dyn Fn() -> u8,
    ) -> Option<Expected> {
        let estimate = self.estimate(block, pe_cycles, now);
        Some(match self.source {
            Source::Known => Expected { retries: true_retries(), ..estimate },
            Source::Model(_) | Source::LastSeen => estimate,
        })
    }

    fn prefetch(&self, block: BlockId) {
        prefetch::fetch(&self.reads, block.index());
    }
}

impl PageMetadata for RetryEstimates {}

impl Learner for RetryEstimates {
    fn name(&self) -> &'static str {
        "retry_estimate"
    }

    fn events(&self) -> EventMask {
        EventMask::PAGE_READ.and(EventMask::PAGE_PROGRAMMED).and(EventMask::BLOCK_FREED)
    }

    #[inline]
    fn on_event(&mut self, event: &Event, context: &mut EventContext) {
        match *event {
            Event::PageRead(read) if read.mapped => self.read(read.block, read.level.retries()),
            Event::PageProgrammed(page) => self.programmed(page.block, context.cell_time),
            Event::BlockFreed(freed) => self.freed(freed, context),
            _ => {}
        }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        const NAME: &str = "block_retries";
        let (of_words, of_bytes) = match &self.source {
            Source::Model(_) | Source::LastSeen => (32, 8),
            Source::Known => (0, 0),
        };
        vec![
            Column::new(NAME, Per::Block, &mut self.age).bits(of_words),
            Column::new(NAME, Per::Block, &mut self.programmed).bits(of_words),
            Column::new(NAME, Per::Block, &mut self.reads).bits(of_words),
            Column::new(NAME, Per::Block, &mut self.dwell_ns).bits(of_words),
            Column::new(NAME, Per::Block, &mut self.erased).bits(of_words),
            Column::new(NAME, Per::Block, &mut self.seen).bits(of_bytes),
            // No controller knows it.
            Column::new(NAME, Per::Block, &mut self.fresh).uncounted(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: i64) -> CellTime {
        CellTime::from_ns(ns)
    }

    /// Nanoseconds of a day.
    const DAY: u64 = 86_400_000_000_000;
    const BLOCK: BlockId = BlockId(0);

    fn probe(fresh_retries: u8) -> BlockProbe {
        let worst = Some(WorstPage { retries: fresh_retries, rber: 1e-3 });
        BlockProbe { erase_us: 3500.0, first_errors: 30.0, worst }
    }

    fn estimator(choice: &RetryEstimateChoice, erases: u32, dwell: u64) -> RetryEstimates {
        let dwell = Nanos::from_ns(dwell);
        let before = [Before { erases, dwell, reads: 0 }];
        RetryEstimates::new(choice, 1.0 / DAY as f64, &before, |_, _| probe(7))
            .expect("an estimate")
    }

    fn predicted() -> RetryEstimateChoice {
        RetryEstimateChoice::Predicted(PredictorConfig {
            age: [0.0, 0.0, 0.0, 0.0, 0.1],
            initial: [100.0, 0.0],
            growth: [0.0, 0.0, 0.0],
            thresholds: vec![72.0, 84.0],
            min_dwell: Nanos::from_ns(DAY),
            interval: 100,
        })
    }

    #[test]
    fn a_block_is_estimated_to_read_as_it_was_read_last() {
        let mut estimator = estimator(&RetryEstimateChoice::LastSeen(LastSeenConfig {}), 40, 0);
        let retries = |estimator: &RetryEstimates| estimator.estimate(BLOCK, 40, at(0)).retries;
        // Every source has a first reading, so it knows how a new block reads.
        assert_eq!((retries(&estimator), estimator.free_rank_of(BLOCK)), (7, 7));
        estimator.read(BLOCK, 3);
        assert_eq!((retries(&estimator), estimator.free_rank_of(BLOCK)), (3, 3));
        // An erase does not change the retries last seen.
        estimator.erased(BLOCK, at(5), (41, 1), |_| probe(9));
        assert_eq!((retries(&estimator), estimator.free_rank_of(BLOCK)), (3, 3));
    }

    #[test]
    fn the_time_between_erases_is_their_mean_however_long_and_many_they_were() {
        // 3,000 times a year exceeds 64 bits of nanoseconds.
        let mut estimator = estimator(&predicted(), 2999, 365 * DAY);
        let days = |estimator: &RetryEstimates| estimator.dwell_ns[0] as f64 / DAY as f64;
        estimator.erased(BLOCK, at(0), (3000, 1), |_| probe(7));
        assert!((days(&estimator) - 365.0 * 2999.0 / 3000.0).abs() < 1e-6, "{}", days(&estimator));
        // 100 erases later the age follows the mean: c4 times its logarithm.
        for erase in 1..=100 {
            estimator
                .erased(BLOCK, at((erase * DAY) as i64), (3000 + erase as u32, 1), |_| probe(7));
        }
        let mean = (365.0 * 2999.0 + 100.0) / 3100.0;
        assert!((days(&estimator) - mean).abs() < 1e-6, "{} and {mean}", days(&estimator));
        let age = f64::from(estimator.estimate(BLOCK, 3100, at(0)).age);
        assert!((age - 0.1 * ssdlab_base::math::ln(mean)).abs() < 1e-6, "{age}");
    }

    #[test]
    fn moments_that_a_state_file_invents_end_no_run() {
        let mut estimator = estimator(&predicted(), 0, 5 * DAY);
        (estimator.erased[0], estimator.programmed[0]) = (i64::MIN, i64::MIN + 1);
        assert!(!estimator.estimate(BLOCK, 1, at(i64::MAX)).age.is_nan());
        estimator.erased(BLOCK, at(i64::MAX), (1, 1), |_| probe(7));
        assert_eq!(estimator.erased[0], i64::MAX);
    }

    #[test]
    fn the_controller_looks_at_a_block_again_after_so_many_cycles() {
        let mut estimator = estimator(&predicted(), 0, 5 * DAY);
        let mut probes = Vec::new();
        for erases in 1..=250 {
            estimator.erased(BLOCK, at(0), (erases, 1), |cycles| {
                probes.push(cycles);
                probe(7)
            });
        }
        assert_eq!(probes, [100, 200]);
    }
}
