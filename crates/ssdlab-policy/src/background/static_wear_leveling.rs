//! Static wear leveling: data that never changes moves off the little-worn block that holds it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BackgroundPolicy, BackgroundUses, Job, MIN_FREE_TO_MOVE, PlaneView, Trigger};
use crate::account::Cause;
use crate::allocation::Writer;
use crate::blocks::BlockState;
use crate::{Policy, PolicyContext};

/// Settings of static wear leveling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StaticWearLevelingConfig {
    /// Largest allowed difference in P/E cycles between the most worn block of a plane and the
    /// least worn one whose data may move. Data may move if it was not written recently. Source:
    /// MQSim's `Static_Wearleveling_Threshold`.
    pub threshold: u32,
}

impl Default for StaticWearLevelingConfig {
    fn default() -> StaticWearLevelingConfig {
        StaticWearLevelingConfig { threshold: 100 }
    }
}

/// The static wear leveler.
#[derive(Clone, Debug)]
pub struct StaticWearLeveling {
    threshold: u32,
}

impl Policy for StaticWearLeveling {
    type Config = StaticWearLevelingConfig;

    fn build(config: &StaticWearLevelingConfig, _: &PolicyContext) -> StaticWearLeveling {
        StaticWearLeveling { threshold: config.threshold }
    }
}

impl BackgroundPolicy for StaticWearLeveling {
    fn uses(_: &StaticWearLevelingConfig) -> BackgroundUses {
        BackgroundUses { cold_blocks: true, ..BackgroundUses::default() }
    }

    // There is no target of free pages: wear changes only with an erase, which ends a job.

    fn job(&mut self, trigger: Trigger, view: &PlaneView) -> Option<Job> {
        if trigger != Trigger::JobEnded || view.free_blocks < MIN_FREE_TO_MOVE {
            return None;
        }
        let usable = |at: &usize| view.pool.state[*at] != BlockState::Bad;
        let worn = (0..view.pool.len()).filter(usable).map(|at| view.pool.erases[at]).max()?;
        let is_cold = |at: &usize| view.pool.is_cold(*at) && !view.pool.is_reserved(*at);
        let cold = (0..view.pool.len()).filter(is_cold).min_by_key(|&at| view.pool.erases[at])?;
        if worn - view.pool.erases[cold] <= self.threshold {
            return None;
        }
        Some(Job::new(view.pool.block(cold), Cause::Wl, Writer::Cold))
    }
}

#[cfg(test)]
mod tests {

    use ssdlab_base::SimTime;
    use ssdlab_nand::{BlockId, Geometry, PlaneId};

    use super::*;
    use crate::background::BackgroundNeeds;
    use crate::blocks::BlockTable;
    use crate::testing::SMALL;

    /// Returns a table of two planes of six blocks. The blocks of the second plane have this wear
    /// and state. After that, its last block was closed `closed` times.
    fn table_after(closed: u32, blocks: [(u32, BlockState); 5]) -> BlockTable {
        let mut table = BlockTable::new(&Geometry { planes: 2, blocks: 6, ..SMALL });
        for (block, (erases, state)) in (6..).map(BlockId).zip(blocks) {
            table.set_erases(block, erases);
            table.set_state(block, state);
        }
        (0..closed).for_each(|_| table.prefill(BlockId(11), SMALL.pages as u16, 0));
        // Closings on another plane must not count.
        (0..100).for_each(|_| table.prefill(BlockId(0), SMALL.pages as u16, 0));
        table
    }

    /// Returns the same table after as many closings as the plane has blocks.
    fn table(blocks: [(u32, BlockState); 5]) -> BlockTable {
        table_after(6, blocks)
    }

    fn ask(threshold: u32, table: &BlockTable, trigger: Trigger, free_blocks: u32) -> Option<u32> {
        let pool = table.pool(PlaneId(1));
        let components = crate::component::Components::NONE;
        let (plane, open_pages, free_pages) = (PlaneId(1), 0, 0);
        let now = SimTime::START;
        let view = PlaneView { now, plane, pool, free_blocks, open_pages, free_pages, components };
        let job = StaticWearLeveling { threshold }.job(trigger, &view)?;
        assert_eq!((job.cause, job.to), (Cause::Wl, Writer::Cold));
        Some(job.block.0)
    }

    use BlockState::{Bad, Closed, Free, Open, Partial, Victim};

    #[test]
    fn the_least_worn_block_that_holds_data_moves_once_the_spread_exceeds_the_threshold() {
        // The most worn block that counts is free; the least worn block with data is the third.
        let some = table([(2, Free), (9, Closed), (4, Closed), (12, Free), (90, Bad)]);
        let ended = |threshold| ask(threshold, &some, Trigger::JobEnded, 2);
        assert_eq!([ended(7), ended(8), ended(9)], [Some(8), None, None]);
        let emptied = table([(2, Free), (9, Closed), (4, Victim), (12, Free), (90, Bad)]);
        assert_eq!(ask(2, &emptied, Trigger::JobEnded, 2), Some(7));
    }

    #[test]
    fn what_was_closed_or_begun_of_late_may_be_hot_and_what_was_not_written_on_moves() {
        let ended = |closed, state| {
            let table =
                table_after(closed, [(1, state), (9, Free), (9, Free), (9, Free), (9, Free)]);
            ask(3, &table, Trigger::JobEnded, 2)
        };
        for state in [Closed, Open, Partial] {
            assert_eq!([5, 6].map(|closed| ended(closed, state)), [None, Some(6)], "{state:?}");
        }
    }

    #[test]
    fn it_acts_after_a_job_and_needs_two_free_blocks() {
        let some = table([(9, Free), (1, Closed), (9, Free), (9, Free), (9, Free)]);
        assert_eq!(ask(3, &some, Trigger::JobEnded, 2), Some(7));
        assert_eq!(ask(3, &some, Trigger::JobEnded, 1), None);
        assert_eq!(ask(3, &some, Trigger::Changed, 2), None);
        let leveler = StaticWearLeveling { threshold: 3 };
        assert_eq!(leveler.needs(), BackgroundNeeds::default());
    }
}
