//! `background.subpool_gc`: garbage collection for the subpool that runs short, wherever on the
//! drive it costs least. Source: ReadGuard, sections 5.2 and 5.5.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{BlockId, PlaneId};

use ssdlab_policy::account::{Cause, Priority};
use ssdlab_policy::allocation::Writer;
use ssdlab_policy::background::{
    BackgroundNeeds, BackgroundPolicy, BackgroundUses, DriveView, Job,
};
use ssdlab_policy::blocks::BlockState;
use ssdlab_policy::{Policy, PolicyContext};

/// Settings of `subpool_gc`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SubpoolGcConfig {
    /// Free blocks of a subpool at or below which garbage is collected for it. Default: three for
    /// every two planes. With one for each plane, three subpools ask for fewer than the four that
    /// each plane keeps anyway, and nearly all collection was for planes. Source: ReadGuard,
    /// section 5.5 (ruled).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<u32>,
}

/// Collects garbage for subpools.
#[derive(Clone, Debug)]
pub struct SubpoolGc {
    threshold: u32,
    priorities: u32,
    /// Number of valid pages from which on the collection of a block frees nothing.
    frees_none: u16,
}

impl Policy for SubpoolGc {
    type Config = SubpoolGcConfig;

    fn check(config: &SubpoolGcConfig, context: &PolicyContext) -> Result<(), Refusal> {
        const KEY: &str = "background.subpool_gc";
        if context.classes.priorities == 1 {
            let expected = "free blocks in subpools (metadata.block_class = \"predicted\")";
            return Err(Refusal::new(KEY, "subpool_gc", expected));
        }
        // A larger number can never be kept free: the policy would collect without end.
        let spare = context.spare_blocks * context.geometry.plane_count();
        let most = spare / 2 / u32::from(context.classes.priorities);
        match config.threshold {
            Some(threshold) if threshold > most => {
                let expected =
                    format!("at most {most}: half of a subpool's share of the spare blocks");
                Err(Refusal::new(format!("{KEY}.threshold"), threshold, expected))
            }
            _ => Ok(()),
        }
    }

    fn build(config: &SubpoolGcConfig, context: &PolicyContext) -> SubpoolGc {
        let planes = context.geometry.plane_count();
        let most = context.spare_blocks * planes / 2 / u32::from(context.classes.priorities.max(1));
        SubpoolGc {
            threshold: config.threshold.unwrap_or(planes * 3 / 2).min(most),
            priorities: context.classes.priorities.into(),
            // Each page that moves takes a page. If the map is cached in part, its entry may take
            // another.
            frees_none: if context.map.in_part {
                context.geometry.pages.div_ceil(2) as u16
            } else {
                context.geometry.pages as u16
            },
        }
    }
}

impl SubpoolGc {
    /// Returns the full block with the fewest valid pages, on a plane without a job.
    fn victim(&self, view: &DriveView) -> Option<BlockId> {
        let mut few = 0..self.frees_none;
        let (least, plane) = few.find_map(|valid| Some((valid, idle_plane(view, valid)?)))?;
        let pool = view.blocks.pool(plane);
        let mut blocks = pool.valid.iter().zip(pool.state);
        let at =
            blocks.position(|(&valid, &state)| (valid, state) == (least, BlockState::Closed))?;
        Some(pool.block(at))
    }
}

/// Returns the first plane that has no job and has a full block with `valid` valid pages.
fn idle_plane(view: &DriveView, valid: u16) -> Option<PlaneId> {
    let full = view.blocks.full(valid);
    // Usually there is none. This test examines many planes at a time.
    if full.iter().fold(0, |any, blocks| any | blocks) == 0 {
        return None;
    }
    let mut planes = full.iter().zip(view.busy);
    planes.position(|(&blocks, &busy)| blocks > 0 && !busy).map(|plane| PlaneId(plane as u32))
}

impl BackgroundPolicy for SubpoolGc {
    fn uses(_: &SubpoolGcConfig) -> BackgroundUses {
        BackgroundUses { collects_garbage: true, ..BackgroundUses::default() }
    }

    fn for_part(config: &SubpoolGcConfig, share: f64) -> SubpoolGcConfig {
        let threshold = config.threshold.map(|all| (f64::from(all) * share).round() as u32);
        SubpoolGcConfig { threshold }
    }

    fn needs(&self) -> BackgroundNeeds {
        BackgroundNeeds {
            // One more in each subpool than the number at which garbage is collected for it.
            free_blocks_of_drive: (self.threshold + 1) * self.priorities,
            is_drive_wide: true,
            ..BackgroundNeeds::default()
        }
    }

    fn drive_job(&mut self, view: &DriveView) -> Option<Job> {
        let coming = |at: usize| view.coming.get(at).copied().unwrap_or(0);
        let short = view.free.iter().enumerate();
        let mut short = short.filter(|&(at, free)| free + coming(at) <= self.threshold);
        let (priority, _) = short.next()?;
        let block = self.victim(view)?;
        let gains = Some(Priority(priority as u8));
        Some(Job { gains, ..Job::new(block, Cause::Gc, Writer::Gc) })
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_base::SimTime;
    use ssdlab_nand::Geometry;

    use super::*;
    use crate::BackgroundChoice;
    use ssdlab_policy::blocks::BlockTable;
    use ssdlab_policy::component::Components;
    use ssdlab_policy::testing::SMALL;
    use ssdlab_policy::{ClassFacts, Toggle};

    fn three_priorities() -> ClassFacts {
        ClassFacts { priorities: 3, ..ClassFacts::default() }
    }

    fn policy_context() -> PolicyContext {
        let geometry = Geometry { channels: 2, ..SMALL };
        PolicyContext { classes: three_priorities(), ..PolicyContext::plain(geometry, 6) }
    }

    fn view<'a>(
        blocks: &'a BlockTable,
        free: &'a [u32],
        coming: &'a [u32],
        busy: &'a [bool],
    ) -> DriveView<'a> {
        let (now, components) = (SimTime::START, Components::NONE);
        DriveView { now, blocks, free, coming, busy, components }
    }

    fn ask(
        valid: [u16; 8],
        free: [u32; 3],
        coming: [u32; 3],
        busy: [bool; 2],
    ) -> Option<(u32, u8)> {
        let mut blocks = BlockTable::new(&policy_context().geometry);
        for (block, valid) in (0..).map(BlockId).zip(valid) {
            blocks.prefill(block, 4, valid);
        }
        let view = view(&blocks, &free, &coming, &busy);
        let mut gc = SubpoolGc::build(&SubpoolGcConfig { threshold: Some(2) }, &policy_context());
        let job = gc.drive_job(&view)?;
        assert_eq!((job.cause, job.class), (Cause::Gc, None));
        Some((job.block.0, job.gains.unwrap().0))
    }

    const VALID: [u16; 8] = [4, 3, 2, 4, 4, 1, 4, 4];

    #[test]
    fn it_collects_for_the_subpool_that_has_fallen_to_the_threshold() {
        assert_eq!(ask(VALID, [3, 3, 3], [0; 3], [false; 2]), None);
        assert_eq!(ask(VALID, [3, 2, 3], [0; 3], [false; 2]), Some((5, 1)));
        assert_eq!(ask(VALID, [3, 2, 2], [0; 3], [false; 2]), Some((5, 1)), "the highest first");
        assert_eq!(ask(VALID, [3, 2, 2], [0, 1, 0], [false; 2]), Some((5, 2)), "one is coming");
    }

    #[test]
    fn the_victim_has_the_fewest_valid_pages_of_all_on_planes_that_are_free() {
        assert_eq!(ask(VALID, [1, 3, 3], [0; 3], [false, true]), Some((2, 0)));
        assert_eq!(ask(VALID, [1, 3, 3], [0; 3], [true, true]), None);
        assert_eq!(ask([4; 8], [1, 3, 3], [0; 3], [false; 2]), None, "nothing to gain");
    }

    #[test]
    fn a_block_whose_pages_would_take_as_many_again_for_their_entries_is_no_victim() {
        let pool = |valid: [u16; 8], map_in_part| {
            let mut blocks = BlockTable::new(&policy_context().geometry);
            (0..)
                .map(BlockId)
                .zip(valid)
                .for_each(|(block, valid)| blocks.prefill(block, 4, valid));
            let view = view(&blocks, &[1; 3], &[0; 3], &[false; 2]);
            let config = SubpoolGcConfig { threshold: Some(2) };
            let mut context = policy_context();
            context.map.in_part = map_in_part;
            SubpoolGc::build(&config, &context).drive_job(&view)
        };
        let halves = [4, 3, 2, 4, 4, 4, 4, 4];
        assert!(pool(halves, false).is_some() && pool(halves, true).is_none());
        assert_eq!(pool(VALID, true).map(|job| job.block), Some(BlockId(5)));
    }

    #[test]
    fn three_blocks_for_every_two_planes_stay_free_by_default_where_there_are_as_many() {
        let free_pages = |spare_blocks| {
            let geometry = Geometry { channels: 8, chips: 4, planes: 4, ..SMALL };
            let context = PolicyContext { spare_blocks, geometry, ..policy_context() };
            SubpoolGc::build(&SubpoolGcConfig::default(), &context).threshold
        };
        assert_eq!((free_pages(100), free_pages(9), free_pages(6)), (192, 192, 128));
    }

    #[test]
    fn more_than_there_is_to_keep_is_refused() {
        let check = |threshold| SubpoolGc::check(&SubpoolGcConfig { threshold }, &policy_context());
        assert!(check(Some(2)).is_ok() && check(None).is_ok());
        assert_eq!(check(Some(3)).unwrap_err().key, "background.subpool_gc.threshold");
    }

    #[test]
    fn a_conventional_drive_collects_for_subpools_if_no_other_policy_collects() {
        let subpools = |gc| BackgroundChoice {
            gc,
            subpool_gc: Toggle::on(),
            dual_pool: Toggle::on(),
            ..BackgroundChoice::default()
        };
        let alone = subpools(Toggle::off()).conventional();
        assert!(alone.subpool_gc.get().is_some() && alone.dual_pool.get().is_none());
        assert!(subpools(Toggle::on()).conventional().subpool_gc.get().is_none());
    }
}
