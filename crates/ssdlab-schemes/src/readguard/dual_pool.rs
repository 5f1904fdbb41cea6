//! `background.dual_pool`: data that never changes moves to worn blocks, within its priority or,
//! once wear has spread too far, across all. Source: ReadGuard, sections 5.5 and 6.5. Source of the
//! two pools: L.-P. Chang, "On efficient wear leveling for large-scale flash-memory storage
//! systems", SAC 2007.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{BlockId, PlaneId};

use super::pools::Pools;
use ssdlab_policy::account::Cause;
use ssdlab_policy::allocation::Writer;
use ssdlab_policy::background::{
    BackgroundNeeds, BackgroundPolicy, BackgroundUses, DriveView, EndedJob, Job, MIN_FREE_TO_MOVE,
};
use ssdlab_policy::blocks::{BlockState, BlockTable, Pool};
use ssdlab_policy::columns::{Column, Per};
use ssdlab_policy::event::{Event, EventContext, EventMask};
use ssdlab_policy::{Policy, PolicyContext};

/// Settings of `dual_pool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DualPoolConfig {
    /// Difference in P/E cycles above which cold data moves. It is taken on a plane, between the
    /// most worn free block of a priority and its least worn block with cold data. Blocks with hot
    /// data may lag by twice as many. Default: 30. Source: ReadGuard, section 6.5.
    pub threshold: u32,
    /// Difference in P/E cycles between the most and the least worn block of the drive, above which
    /// wear is leveled across priorities. Default: 70. Source: ReadGuard, section 6.5.
    pub cross_priority_threshold: u32,
}

impl Default for DualPoolConfig {
    fn default() -> DualPoolConfig {
        DualPoolConfig { threshold: 30, cross_priority_threshold: 70 }
    }
}

/// The leveler. It examines the plane where a block has just become free. Blocks of the cold pool
/// hold data that hardly changes. At first these are all full blocks.
#[derive(Clone, Debug)]
pub struct DualPool {
    config: DualPoolConfig,
    pools: Pools,
    /// By plane, the wear of the most worn block.
    max_wear: Vec<u32>,
    /// By plane, the wear of the least worn block that holds data.
    min_wear: Vec<u32>,
    /// The job that ended last, until the leveler has examined its block. No state file needs it:
    /// the drive asks the leveler after each job.
    new: Option<EndedJob>,
    /// The blocks that were freed on planes with a running job: the last of each plane and
    /// priority. No state file needs it: the drive is saved when no job runs.
    freed: Vec<BlockId>,
    /// 1 while wear is leveled across priorities.
    across: u8,
}

impl Policy for DualPool {
    type Config = DualPoolConfig;

    fn check(config: &DualPoolConfig, _: &PolicyContext) -> Result<(), Refusal> {
        if config.cross_priority_threshold <= config.threshold {
            let expected =
                format!("more than background.dual_pool.threshold, {}", config.threshold);
            return Err(Refusal::new(
                "background.dual_pool.cross_priority_threshold",
                config.cross_priority_threshold,
                expected,
            ));
        }
        Ok(())
    }

    fn build(config: &DualPoolConfig, context: &PolicyContext) -> DualPool {
        let planes = context.geometry.plane_count() as usize;
        DualPool {
            config: config.clone(),
            pools: Pools::new(context.geometry.block_count()),
            max_wear: vec![0; planes],
            min_wear: vec![0; planes],
            new: None,
            freed: Vec::new(),
            across: 0,
        }
    }

    fn events(&self) -> EventMask {
        EventMask::JOB_ENDED
    }

    fn on_event(&mut self, event: &Event, _: &mut EventContext) {
        if let Event::JobEnded(ended) = event {
            self.new = Some(*ended);
        }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        let own = [
            Column::new("max_wear", Per::Plane, &mut self.max_wear),
            Column::new("min_wear", Per::Plane, &mut self.min_wear),
            Column::new("levels_across", Per::Drive, &mut self.across).up_to(1),
        ];
        self.pools.columns().into_iter().chain(own).collect()
    }
}

/// Returns whether a block of a plane holds data. A partly written block counts once no writer
/// continues it: otherwise it would keep its wear forever.
fn has_data(pool: &Pool, at: usize) -> bool {
    pool.state[at] == BlockState::Closed || pool.is_cold(at)
}

/// Returns the wear of the most worn block of a plane, and of the least worn block that holds data.
/// Blocks that are reserved do not count.
fn wear_of(blocks: &BlockTable, plane: PlaneId) -> (u32, u32) {
    let pool = blocks.pool(plane);
    let (mut most, mut least) = (0, u32::MAX);
    for at in 0..pool.len() {
        if pool.state[at] != BlockState::Bad && !pool.is_reserved(at) {
            most = most.max(pool.erases[at]);
            if has_data(&pool, at) {
                least = least.min(pool.erases[at]);
            }
        }
    }
    (most, least)
}

impl DualPool {
    /// Updates the wear of the plane of a freed block, and the spread of wear over the drive.
    fn update(&mut self, blocks: &BlockTable, ended: &EndedJob) {
        let freed = ended.job.block;
        if self.pools.begin(blocks) {
            let planes = (0..self.max_wear.len() as u32).map(PlaneId);
            (self.max_wear, self.min_wear) = planes.map(|plane| wear_of(blocks, plane)).unzip();
        }
        if ended.own && ended.job.cause == Cause::Wl {
            self.pools.join(freed, blocks.erases(freed), false);
            let took = ended.took.into_iter();
            took.for_each(|worn| self.pools.join(worn, blocks.erases(worn), true));
        }
        let plane = blocks.plane_of(freed);
        (self.max_wear[plane.index()], self.min_wear[plane.index()]) = wear_of(blocks, plane);
        let most = self.max_wear.iter().copied().max().unwrap_or(0);
        let least = self.min_wear.iter().copied().min().unwrap_or(0);
        self.across = (most.saturating_sub(least) > self.config.cross_priority_threshold).into();
    }

    /// Returns the job that moves the data of the least worn cold block of a plane into the most
    /// worn free block. The job cannot begin while a page of that block is being programmed. The
    /// leveler then returns it again when the next block is freed.
    fn leveled(&mut self, view: &DriveView, freed: BlockId) -> Option<Job> {
        let blocks = view.blocks;
        let pool = blocks.pool(blocks.plane_of(freed));
        let class = blocks.class(freed);
        // The number of free blocks, the wear of the most worn of them, and the blocks that hold
        // data.
        let (mut free, mut worn, mut held) = (0, None, Vec::with_capacity(pool.len()));
        for at in (0..pool.len()).filter(|&at| !pool.is_reserved(at)) {
            let (block, wear) = (pool.block(at), pool.erases[at]);
            let is_free = pool.state[at] == BlockState::Free;
            free += u32::from(is_free);
            if self.across == 0 && blocks.class(block) != class {
                continue;
            }
            if is_free {
                worn = worn.max(Some(wear));
            } else if has_data(&pool, at) {
                held.push(self.pools.held(block, wear));
            }
        }
        if free < MIN_FREE_TO_MOVE {
            return None;
        }
        let worn = worn?;
        self.pools.sort(&held, worn, self.config.threshold);
        let cold = held.into_iter().filter(|held| self.pools.is_cold(held.block));
        let cold = cold.min_by_key(|cold| (cold.wear, cold.block.0))?;
        if worn.saturating_sub(cold.wear) <= self.config.threshold {
            return None;
        }
        // The data keeps its priority, whatever block takes it.
        let class = Some(blocks.class(cold.block)).filter(|_| !view.free.is_empty());
        Some(Job { class, ..Job::new(cold.block, Cause::Wl, Writer::Cold) })
    }
}

impl BackgroundPolicy for DualPool {
    fn uses(_: &DualPoolConfig) -> BackgroundUses {
        BackgroundUses { cold_blocks: true, ..BackgroundUses::default() }
    }

    fn needs(&self) -> BackgroundNeeds {
        let across_classes = self.across == 1;
        BackgroundNeeds { is_drive_wide: true, across_classes, ..BackgroundNeeds::default() }
    }

    fn drive_job(&mut self, view: &DriveView) -> Option<Job> {
        if let Some(new) = self.new.take() {
            self.update(view.blocks, &new);
            let of = |block| (view.blocks.plane_of(block), view.blocks.class(block));
            self.freed.retain(|&block| of(block) != of(new.job.block));
            self.freed.push(new.job.block);
        }
        let idle = |block: &BlockId| !view.busy[view.blocks.plane_of(*block).index()];
        while let Some(at) = self.freed.iter().position(idle) {
            let freed = self.freed.remove(at);
            if let Some(job) = self.leveled(view, freed) {
                return Some(job);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {

    use ssdlab_base::SimTime;
    use ssdlab_nand::Geometry;

    use super::*;
    use ssdlab_policy::allocation::BlockClass;
    use ssdlab_policy::component::Components;
    use ssdlab_policy::testing::SMALL;
    use ssdlab_policy::testing::publish;

    fn geometry() -> Geometry {
        Geometry { channels: 2, ..SMALL }
    }

    /// Returns two planes of four blocks with this wear and priority. Two blocks of the first plane
    /// are free; the first of them has just been erased.
    fn table(blocks: [(u32, u8); 8]) -> BlockTable {
        let mut table = BlockTable::new(&geometry());
        table.set_classes(&ssdlab_policy::blocks::BlockClasses {
            classes: vec![BlockClass(0); 8],
            reserved_classes: 0,
        });
        for (block, (erases, priority)) in (0..).map(BlockId).zip(blocks) {
            table.set_erases(block, erases);
            table.set_class(block, BlockClass(priority));
            if block.0 > 1 {
                table.prefill(block, 4, 4);
            }
        }
        table
    }

    /// Returns the block to empty. `busy` tells whether a job runs on each plane.
    fn ask(leveler: &mut DualPool, table: &BlockTable, busy: bool) -> Option<u32> {
        let view = DriveView {
            now: SimTime::START,
            blocks: table,
            free: &[1, 1],
            coming: &[],
            busy: &[busy; 2],
            components: Components::NONE,
        };
        let job = leveler.drive_job(&view)?;
        assert_eq!((job.cause, job.to), (Cause::Wl, Writer::Cold));
        assert_eq!(job.class, Some(table.class(job.block)));
        Some(job.block.0)
    }

    fn leveler() -> DualPool {
        let config = DualPoolConfig { threshold: 30, cross_priority_threshold: 70 };
        let mut leveler = DualPool::build(&config, &PolicyContext::plain(geometry(), 1));
        freed(&mut leveler, 0);
        leveler
    }

    /// Reports that a block was collected.
    fn freed(leveler: &mut DualPool, block: u32) {
        ended(leveler, block, Cause::Gc, None);
    }

    fn ended(leveler: &mut DualPool, block: u32, cause: Cause, took: Option<u32>) {
        let job = Job::new(BlockId(block), cause, Writer::Cold);
        let (own, took) = (cause == Cause::Wl, took.map(BlockId));
        let ended = EndedJob { job, moved: 4, took, own, waiting: 0 };
        publish(leveler, &Event::JobEnded(ended));
    }

    fn first_job(blocks: [(u32, u8); 8]) -> Option<u32> {
        ask(&mut leveler(), &table(blocks), false)
    }

    #[test]
    fn within_a_priority_the_data_of_the_least_worn_cold_block_moves_beyond_the_threshold() {
        let of =
            |worn| [(worn, 0), (105, 0), (100, 0), (90, 1), (95, 0), (95, 1), (99, 0), (99, 1)];
        assert_eq!(first_job(of(130)), None);
        assert_eq!(first_job(of(131)), Some(2), "of the plane, and of the priority");
    }

    #[test]
    fn a_hot_block_is_cold_once_it_lags_by_twice_the_threshold() {
        for (worn, moved) in [(160, None), (161, Some(2))] {
            let blocks =
                [(worn, 0), (105, 0), (100, 0), (105, 0), (99, 1), (99, 1), (99, 1), (99, 1)];
            let mut leveler = leveler();
            let view = table([(100, 0); 8]);
            assert_eq!(ask(&mut leveler, &view, false), None);
            leveler.pools.is_cold.fill(0);
            freed(&mut leveler, 0);
            assert_eq!(ask(&mut leveler, &table(blocks), false), moved);
        }
    }

    #[test]
    fn a_block_that_gave_its_cold_data_away_is_hot_and_the_one_that_took_it_cold() {
        let mut leveler = leveler();
        let mut blocks =
            table([(131, 0), (105, 0), (100, 0), (130, 0), (9, 1), (9, 1), (9, 1), (9, 1)]);
        assert_eq!(ask(&mut leveler, &blocks, false), Some(2));
        // The worn block takes the data, and the other one is erased.
        blocks.prefill(BlockId(0), 4, 4);
        (0..4).for_each(|_| blocks.page_invalid(BlockId(2)));
        blocks.erased(BlockId(2), 1);
        ended(&mut leveler, 2, Cause::Wl, Some(0));
        assert_eq!(ask(&mut leveler, &blocks, false), None);
        let members = [0, 2].map(|at| (leveler.pools.is_cold[at], leveler.pools.joined[at]));
        assert_eq!(members, [(1, 131), (0, 101)], "the taker and the giver");
        // Data that the host writes there is not cold, however little the block is worn.
        blocks.prefill(BlockId(2), 4, 4);
        blocks.set_erases(BlockId(1), 161);
        blocks.set_state(BlockId(3), BlockState::Free);
        freed(&mut leveler, 1);
        assert_eq!(ask(&mut leveler, &blocks, false), None);
    }

    #[test]
    fn a_cold_block_that_is_erased_often_is_hot_again() {
        let mut leveler = leveler();
        let mut blocks =
            table([(130, 0), (130, 0), (100, 0), (100, 0), (9, 1), (9, 1), (9, 1), (9, 1)]);
        assert_eq!(ask(&mut leveler, &blocks, false), None);
        (leveler.pools.is_cold[2], leveler.pools.joined[2], leveler.pools.is_cold[3]) = (1, 100, 0);
        for (erased, is_cold) in [(130, 1), (131, 0)] {
            blocks.set_erases(BlockId(2), erased);
            freed(&mut leveler, 0);
            assert_eq!(ask(&mut leveler, &blocks, false), None);
            assert_eq!(leveler.pools.is_cold[2], is_cold);
        }
    }

    #[test]
    fn a_cold_block_becomes_hot_when_a_job_of_its_own_has_emptied_it() {
        let worn = [(131, 0), (105, 0), (100, 0), (130, 0), (9, 1), (9, 1), (9, 1), (9, 1)];
        let mut leveler = leveler();
        let mut blocks = table(worn);
        assert_eq!(ask(&mut leveler, &blocks, false), Some(2));
        // The job did not begin, and the collector took the block first.
        (0..4).for_each(|_| blocks.page_invalid(BlockId(2)));
        blocks.erased(BlockId(2), 1);
        freed(&mut leveler, 2);
        assert_eq!(ask(&mut leveler, &blocks, false), None);
        assert_eq!(
            (leveler.pools.is_cold[2], leveler.pools.joined[2], leveler.pools.is_cold[0]),
            (1, 100, 0)
        );
    }

    #[test]
    fn reserved_blocks_are_neither_emptied_nor_counted_as_free() {
        let worn = [(131, 2), (105, 2), (90, 0), (130, 2), (9, 2), (9, 2), (9, 2), (9, 2)];
        let table_of = |reserved_classes| {
            let mut table = table(worn);
            let classes = worn.map(|(_, class)| BlockClass(class)).to_vec();
            table.set_classes(&ssdlab_policy::blocks::BlockClasses { classes, reserved_classes });
            table
        };
        let in_all = |table: BlockTable| {
            let mut leveler = leveler();
            leveler.config.cross_priority_threshold = 31;
            ask(&mut leveler, &table, false)
        };
        assert_eq!([0, 1].map(|count| in_all(table_of(count))), [Some(2), None]);
    }

    #[test]
    fn where_a_job_runs_the_plane_waits_until_it_has_ended() {
        let blocks =
            table([(131, 0), (105, 0), (100, 0), (99, 1), (95, 0), (95, 1), (99, 0), (99, 1)]);
        let mut leveler = leveler();
        assert_eq!(ask(&mut leveler, &blocks, true), None);
        assert_eq!(ask(&mut leveler, &blocks, false), Some(2));
        assert_eq!(ask(&mut leveler, &blocks, false), None, "once");
    }

    #[test]
    fn where_one_block_is_free_collection_goes_first() {
        let mut blocks =
            table([(131, 0), (105, 0), (100, 0), (99, 1), (95, 0), (95, 1), (99, 0), (99, 1)]);
        blocks.set_state(BlockId(1), BlockState::Open);
        assert_eq!(ask(&mut leveler(), &blocks, false), None);
    }

    #[test]
    fn beyond_the_spread_of_all_it_levels_across_until_that_is_back() {
        let of = |worn, cold| {
            [(worn, 0), (105, 0), (100, 0), (cold, 1), (98, 0), (98, 1), (99, 0), (99, 1)]
        };
        let mut leveler = leveler();
        assert_eq!(ask(&mut leveler, &table(of(160, 90)), false), Some(2));
        assert!(!leveler.needs().across_classes);
        freed(&mut leveler, 0);
        assert_eq!(ask(&mut leveler, &table(of(161, 90)), false), Some(3));
        assert!(leveler.needs().across_classes);
        // The cold block was emptied; now the least worn block is on the other plane.
        freed(&mut leveler, 0);
        assert_eq!(ask(&mut leveler, &table(of(161, 120)), false), Some(2));
        assert!(!leveler.needs().across_classes);
    }

    #[test]
    fn a_spread_of_all_that_is_no_more_than_that_of_one_is_refused() {
        let config = DualPoolConfig { threshold: 70, cross_priority_threshold: 70 };
        let refusal = DualPool::check(&config, &PolicyContext::plain(geometry(), 1)).unwrap_err();
        assert_eq!(refusal.key, "background.dual_pool.cross_priority_threshold");
    }
}
