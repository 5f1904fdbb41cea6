//! `tend.dual_pool`: data that never changes moves to worn blocks, within its priority or, once wear has
//! spread too far, across all. Source: ReadGuard, sections 5.5 and 6.5; L.-P. Chang, "On efficient wear
//! leveling for large-scale flash-memory storage systems", SAC 2007, for the two pools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{BlockId, PlaneId};

use crate::account::Cause;
use crate::ftl::{BlockState, BlockTable, Stream};
use crate::policy::tend::{DriveView, EndedJob, Job, TendPolicy};
use crate::policy::{Answer, Setup};

/// Settings of `dual_pool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DualPoolConfig {
    /// P/E cycles by which the most worn block of a priority may exceed its least worn. Default: 30.
    /// Source: ReadGuard, section 6.5.
    pub threshold: u32,
    /// P/E cycles by which the most worn block of all may exceed the least worn before wear is levelled
    /// across priorities, until they are below again. Default: 70. Source: ReadGuard, section 6.5.
    pub across: u32,
}

impl Default for DualPoolConfig {
    fn default() -> DualPoolConfig {
        DualPoolConfig { threshold: 30, across: 70 }
    }
}

/// The leveller. It acts on the plane where a worn block has just become free, which takes the data.
#[derive(Clone, Debug)]
pub struct DualPool {
    config: DualPoolConfig,
    /// The most and the least worn block of each plane, of those that are full or were freed; empty
    /// before the first look.
    wear: Vec<(u32, u32)>,
    /// The block that was freed last, if it has not been looked at.
    new: Option<BlockId>,
    /// Of each plane the block that was freed last, while jobs run there.
    freed: Vec<BlockId>,
    across: bool,
}

impl Answer for DualPool {
    type Config = DualPoolConfig;

    fn check(config: &DualPoolConfig, _: &Setup) -> Result<(), Refusal> {
        if config.across <= config.threshold {
            let expected = format!("more than tend.dual_pool.threshold, {}", config.threshold);
            return Err(Refusal::new("tend.dual_pool.across", config.across, expected));
        }
        Ok(())
    }

    fn build(config: &DualPoolConfig, _: &Setup) -> DualPool {
        DualPool {
            config: config.clone(),
            wear: Vec::new(),
            new: None,
            freed: Vec::new(),
            across: false,
        }
    }
}

/// The full blocks of a plane, by their places in it.
fn full(blocks: &BlockTable, plane: PlaneId) -> impl Iterator<Item = (usize, BlockId)> + '_ {
    let pool = blocks.pool(plane);
    let at = (0..pool.len()).filter(move |&at| pool.state[at] == BlockState::Closed);
    at.map(move |at| (at, pool.block(at)))
}

/// The most and the least worn of a plane's full blocks.
fn wear_of(blocks: &BlockTable, plane: PlaneId) -> (u32, u32) {
    let wear = full(blocks, plane).map(|(_, block)| blocks.erases(block));
    wear.fold((0, u32::MAX), |(most, least), wear| (most.max(wear), least.min(wear)))
}

impl DualPool {
    /// Looks at the plane of a freed block again, and how far wear has spread over all.
    fn look(&mut self, blocks: &BlockTable, freed: BlockId, planes: usize) {
        if self.wear.is_empty() {
            let planes = (0..planes as u32).map(PlaneId);
            self.wear = planes.map(|plane| wear_of(blocks, plane)).collect();
        }
        let plane = blocks.plane_of(freed);
        let (most, least) = wear_of(blocks, plane);
        let most = most.max(blocks.erases(freed));
        self.wear[plane.index()] = (most, least);
        let most = self.wear.iter().map(|wear| wear.0).max().unwrap_or(0);
        let least = self.wear.iter().map(|wear| wear.1).min().unwrap_or(0);
        self.across = most.saturating_sub(least) > self.config.across;
    }

    /// The job that puts the data of the least worn block into a worn one that has become free.
    fn levelled(&self, view: &DriveView, freed: BlockId) -> Option<Job> {
        let plane = view.blocks.plane_of(freed);
        let own = view.blocks.class(freed);
        let counts = |block: &BlockId| self.across || view.blocks.class(*block) == own;
        let candidates = full(view.blocks, plane).map(|(_, block)| block).filter(counts);
        let cold = candidates.min_by_key(|&block| (view.blocks.erases(block), block.0))?;
        let spread = view.blocks.erases(freed).saturating_sub(view.blocks.erases(cold));
        // Its data stays whose it was, wherever the block comes from that takes it.
        let class = Some(view.blocks.class(cold)).filter(|_| !view.free.is_empty());
        (spread > self.config.threshold).then_some(Job {
            block: cold,
            cause: Cause::Wl,
            to: Stream::Cold,
            class,
            gains: None,
        })
    }
}

impl TendPolicy for DualPool {
    fn minds_all(&self) -> bool {
        true
    }

    fn ended(&mut self, ended: &EndedJob) {
        self.new = Some(ended.job.block);
    }

    fn job_anywhere(&mut self, view: &DriveView) -> Option<Job> {
        if let Some(new) = self.new.take() {
            self.look(view.blocks, new, view.busy.len());
            let plane = view.blocks.plane_of(new);
            self.freed.retain(|&block| view.blocks.plane_of(block) != plane);
            self.freed.push(new);
        }
        let idle = |block: &BlockId| !view.busy[view.blocks.plane_of(*block).index()];
        while let Some(at) = self.freed.iter().position(idle) {
            let freed = self.freed.remove(at);
            // What was written meanwhile takes no cold data.
            if view.blocks.state(freed) == BlockState::Free
                && let Some(job) = self.levelled(view, freed)
            {
                return Some(job);
            }
        }
        None
    }

    fn levels_across(&self) -> bool {
        self.across
    }
}

#[cfg(test)]
mod tests {

    use ssdlab_nand::Geometry;

    use super::*;
    use crate::SMALL;

    fn geometry() -> Geometry {
        Geometry { channels: 2, ..SMALL }
    }

    /// Blocks of two planes of four with this wear and priority, full but for the first, which was freed.
    fn ask(leveller: &mut DualPool, blocks: [(u32, u8); 8]) -> Option<u32> {
        leveller.new = Some(BlockId(0));
        ask_where(leveller, blocks, false)
    }

    /// The same of what was freed before, where a job runs on the plane or not.
    fn ask_where(leveller: &mut DualPool, blocks: [(u32, u8); 8], busy: bool) -> Option<u32> {
        let mut table = BlockTable::new(&geometry());
        table.grade(&crate::belief::grade::Grades { classes: vec![0; 8], apart: 0 });
        for (block, (erases, priority)) in (0..).map(BlockId).zip(blocks) {
            table.set_erases(block, erases);
            table.set_class(block, priority);
            if block.0 > 0 {
                table.lay(block, 4, 4);
            }
        }
        let view = DriveView { blocks: &table, free: &[1, 1], coming: &[], busy: &[busy; 2] };
        let job = leveller.job_anywhere(&view)?;
        assert_eq!((job.cause, job.to), (Cause::Wl, Stream::Cold));
        assert_eq!(job.class, Some(table.class(job.block)));
        Some(job.block.0)
    }

    fn leveller() -> DualPool {
        DualPool::build(&DualPoolConfig::default(), &Setup::plain(geometry(), 1))
    }

    #[test]
    fn within_a_priority_the_least_worn_block_gives_its_data_up_beyond_the_threshold() {
        let of =
            |worn| [(worn, 0), (105, 0), (100, 0), (90, 1), (95, 0), (95, 1), (99, 0), (99, 1)];
        assert_eq!(ask(&mut leveller(), of(130)), None);
        assert_eq!(ask(&mut leveller(), of(131)), Some(2), "of the plane, and of the priority");
    }

    #[test]
    fn where_a_job_runs_a_worn_block_waits_until_it_has_ended() {
        let blocks = [(131, 0), (105, 0), (100, 0), (90, 1), (95, 0), (95, 1), (99, 0), (99, 1)];
        let mut leveller = leveller();
        leveller.new = Some(BlockId(0));
        assert_eq!(ask_where(&mut leveller, blocks, true), None);
        assert_eq!(ask_where(&mut leveller, blocks, false), Some(2));
        assert_eq!(ask_where(&mut leveller, blocks, false), None, "once");
    }

    #[test]
    fn beyond_the_spread_of_all_it_levels_across_until_that_is_back() {
        let of = |worn, cold| {
            [(worn, 0), (105, 0), (100, 0), (cold, 1), (95, 0), (95, 1), (99, 0), (99, 1)]
        };
        let mut leveller = leveller();
        assert_eq!(ask(&mut leveller, of(160, 90)), Some(2));
        assert!(!leveller.levels_across());
        assert_eq!(ask(&mut leveller, of(161, 90)), Some(3));
        assert!(leveller.levels_across());
        // The cold block was emptied; it is the other plane's that is least worn now.
        assert_eq!(ask(&mut leveller, of(161, 120)), Some(2));
        assert!(!leveller.levels_across());
    }

    #[test]
    fn a_spread_of_all_that_is_no_more_than_that_of_one_is_refused() {
        let config = DualPoolConfig { threshold: 70, across: 70 };
        let refusal = DualPool::check(&config, &Setup::plain(geometry(), 1)).unwrap_err();
        assert_eq!(refusal.key, "tend.dual_pool.across");
    }
}
