//! Garbage collection: turns invalid pages into free blocks.

use ssdlab_base::quantity::Share;
use ssdlab_base::rng;
use ssdlab_nand::Geometry;
use ssdlab_nand::refusal::Refusal;

use super::gc_config::{GcConfig, GcMode, GcUnit, TARGET_DEFAULT};
use super::victim::Candidates;
use super::{BackgroundNeeds, BackgroundPolicy, BackgroundUses, Job, PlaneView, Trigger, Victim};
use crate::account::Cause;
use crate::allocation::Writer;
use crate::columns::{Column, Per};
use crate::{Policy, PolicyContext};

/// The default of `d`.
const D_DEFAULT: u32 = 10;

/// The collector's state, by plane. Columns of a state file: a drive that continues from a state
/// collects as the saved drive would have done.
#[derive(Clone, Debug)]
struct Planes {
    /// Where the last search for a victim ended.
    cursor: Box<[u32]>,
    /// Blocks collected in this pass.
    collected: Box<[u32]>,
    /// Free pages when this pass began.
    free_at_start: Box<[u64]>,
    /// 1 while the collector waits, because no collection gains anything until a page is written or
    /// becomes invalid.
    asleep: Box<[u8]>,
}

impl Planes {
    fn new(planes: usize) -> Planes {
        Planes {
            cursor: vec![0; planes].into(),
            collected: vec![0; planes].into(),
            free_at_start: vec![0; planes].into(),
            asleep: vec![0; planes].into(),
        }
    }
}

/// The garbage collector.
#[derive(Clone, Debug)]
pub struct Gc {
    victim: Victim,
    d: u32,
    partly_programmed: bool,
    unit: GcUnit,
    target: Share,
    start_below: u32,
    hard_threshold: u32,
    urgent_below: u32,
    planes: Planes,
    /// Blocks and pages of a plane, the largest values of its state.
    blocks: u32,
    pages: u64,
    random: rng::Stream,
}

impl Policy for Gc {
    type Config = GcConfig;

    fn check(config: &GcConfig, _: &PolicyContext) -> Result<(), Refusal> {
        const KEY: &str = "background.gc.d";
        match config.d {
            Some(0) => Err(Refusal::new(KEY, 0, "at least 1")),
            Some(d) if config.victim != Victim::DChoices => {
                Err(Refusal::new(KEY, d, "no such setting without victim = \"d_choices\""))
            }
            _ => Ok(()),
        }
    }

    fn build(config: &GcConfig, context: &PolicyContext) -> Gc {
        let Geometry { blocks, pages, .. } = context.geometry;
        let (start_below, hard) = config.limits(blocks, pages, context.spare_blocks);
        Gc {
            victim: config.victim,
            d: config.d.unwrap_or(D_DEFAULT),
            partly_programmed: config.partly_programmed.unwrap_or(true),
            unit: config.unit,
            target: config.target.unwrap_or(TARGET_DEFAULT),
            start_below,
            hard_threshold: hard,
            urgent_below: if config.mode == GcMode::Foreground { u32::MAX } else { hard },
            planes: Planes::new(context.geometry.plane_count() as usize),
            blocks,
            pages: u64::from(blocks) * u64::from(pages),
            random: rng::stream(context.seed, "gc.victim"),
        }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        let Planes { cursor, collected, free_at_start, asleep } = &mut self.planes;
        // Every controller collects garbage, so the state of collection counts for no scheme.
        let columns = [
            Column::new("gc_cursors", Per::Plane, cursor).up_to(u64::from(self.blocks) - 1),
            Column::new("gc_collected", Per::Plane, collected).up_to(self.blocks.into()),
            Column::new("gc_free_at_start", Per::Plane, free_at_start).up_to(self.pages),
            Column::new("gc_asleep", Per::Plane, asleep).up_to(1),
            Column::new("gc_random", Per::Drive, self.random.words()),
        ];
        columns.map(Column::uncounted).into()
    }
}

impl Gc {
    /// Returns whether the plane has as many free pages as collection can keep free.
    fn reaches(&self, view: &PlaneView) -> bool {
        let most = self.target.of(u64::from(view.pool.without_data())) as u32;
        view.free_pages >= most.max(self.hard_threshold)
    }
}

impl BackgroundPolicy for Gc {
    fn uses(_: &GcConfig) -> BackgroundUses {
        BackgroundUses { collects_garbage: true, ..BackgroundUses::default() }
    }

    fn needs(&self) -> BackgroundNeeds {
        BackgroundNeeds {
            free_page_target: self.start_below,
            urgent_below: self.urgent_below,
            counts_pages: self.unit == GcUnit::Pages,
            ..BackgroundNeeds::default()
        }
    }

    fn job(&mut self, trigger: Trigger, view: &PlaneView) -> Option<Job> {
        let pages = u64::from(view.pool.pages_per_block);
        let clean = u64::from(view.free_blocks) * pages;
        let enough = match self.unit {
            GcUnit::Blocks => clean >= u64::from(self.start_below),
            GcUnit::Pages => view.free_pages >= self.start_below || self.reaches(view),
        };
        let (at, planes) = (view.plane.index(), &mut self.planes);
        let asleep = &mut planes.asleep[at];
        if trigger == Trigger::Changed {
            *asleep = 0;
        }
        if *asleep > 0 || enough {
            return None;
        }
        let free = clean + u64::from(view.open_pages);
        let (collected, free_at_start) = (&mut planes.collected[at], &mut planes.free_at_start[at]);
        if trigger == Trigger::Changed || *collected == 0 {
            (*collected, *free_at_start) = (0, free);
        } else if *collected as usize >= view.pool.len() {
            *collected = 0;
            *asleep = u8::from(free <= *free_at_start);
            *free_at_start = free;
            if *asleep > 0 {
                return None;
            }
        }
        let cursor = &mut planes.cursor[at];
        let all = Candidates { pool: &view.pool, partial: true, cursor: *cursor as usize };
        let (random, spared) = (&mut self.random, !self.partly_programmed);
        let full = Candidates { partial: false, ..all };
        let first = spared.then(|| self.victim.choose(&full, self.d, random)).flatten();
        let victim = first.or_else(|| self.victim.choose(&all, self.d, random));
        let Some(at) = victim else {
            *asleep = 1;
            return None;
        };
        *cursor = (at as u32 + 1) % view.pool.len() as u32;
        *collected += 1;
        Some(Job::new(view.pool.block(at), Cause::Gc, Writer::Gc))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ssdlab_base::SimTime;
    use ssdlab_nand::BlockId;

    use super::*;
    use crate::blocks::{BlockState, BlockTable};
    use crate::component::Components;
    use crate::testing::SMALL;

    const BLOCKS: u32 = 8;

    fn policy_context() -> PolicyContext {
        let geometry = Geometry { blocks: BLOCKS, ..SMALL };
        PolicyContext::plain(geometry, BLOCKS)
    }

    fn collector(victim: Victim) -> Gc {
        let config = GcConfig { victim, threshold: Share::new(0.5), ..GcConfig::default() };
        Gc::build(&config, &policy_context())
    }

    #[test]
    fn it_keeps_no_more_free_than_half_of_what_is_spare() {
        let gc = GcConfig { threshold: Share::new(0.1), ..GcConfig::default() };
        let limits = |gc: &GcConfig, blocks, spare| {
            let (start, hard) = gc.limits(blocks, 4, spare);
            (start / 4, hard / 4)
        };
        assert_eq!(limits(&gc, 1000, 300), (100, 5), "within reach");
        assert_eq!(limits(&gc, 1000, 70), (35, 5));
        assert_eq!(limits(&gc, 100, 4), (3, 2), "one more than the hard limit");
        let never = GcConfig { threshold: Share::new(0.0), ..GcConfig::default() };
        assert_eq!(limits(&never, 1000, 300), (5, 5));
    }

    #[test]
    fn shares_of_pages_are_of_all_pages_and_those_of_blocks_in_use_count() {
        let config =
            GcConfig { unit: GcUnit::Pages, threshold: Share::new(0.4), ..GcConfig::default() };
        // 12.8 of 32 pages. Half of the pages without data, 24 and 18, can be kept free.
        assert_eq!(config.limits(BLOCKS, 4, 1), (13, 8));
        let (little, much) = (table(&[4, 3, 1]), table(&[3, 3, 3, 3, 2]));
        for (some, free_pages, starts) in
            [(&little, 12, false), (&little, 11, true), (&much, 9, false), (&much, 8, true)]
        {
            let view = PlaneView {
                now: SimTime::START,
                plane: ssdlab_nand::PlaneId(0),
                pool: some.pool(ssdlab_nand::PlaneId(0)),
                free_blocks: 1,
                open_pages: 0,
                free_pages,
                components: Components::NONE,
            };
            let job = Gc::build(&config, &policy_context()).job(Trigger::Changed, &view);
            assert_eq!(job.is_some(), starts, "{free_pages}");
        }
    }

    /// Returns a table of blocks with these numbers of valid pages, closed in this order.
    fn table(valid: &[u16]) -> BlockTable {
        let mut table = BlockTable::new(&policy_context().geometry);
        for (block, &valid) in (0..).map(BlockId).zip(valid) {
            (0..4).for_each(|_| table.page_written(block));
            (0..valid).for_each(|_| table.page_valid(block));
        }
        table
    }

    fn ask(gc: &mut Gc, table: &BlockTable, trigger: Trigger, free_blocks: u32) -> Option<u32> {
        ask_with(gc, table, trigger, (free_blocks, 1))
    }

    /// Asks with this number of free blocks and of free pages in the collector's open blocks.
    fn ask_with(
        gc: &mut Gc,
        table: &BlockTable,
        trigger: Trigger,
        (free_blocks, open_pages): (u32, u32),
    ) -> Option<u32> {
        let pool = table.pool(ssdlab_nand::PlaneId(0));
        let view = PlaneView {
            now: SimTime::START,
            plane: ssdlab_nand::PlaneId(0),
            pool,
            free_blocks,
            open_pages,
            free_pages: 0,
            components: Components::NONE,
        };
        gc.job(trigger, &view).map(|job| job.block.0)
    }

    #[test]
    fn it_begins_below_the_threshold_and_never_takes_a_block_that_frees_nothing() {
        let mut gc = collector(Victim::Greedy);
        let some = table(&[4, 3, 1, 4, 2]);
        assert_eq!((gc.needs().free_page_target, gc.needs().urgent_below), (16, 8));
        assert_eq!(ask(&mut gc, &some, Trigger::Changed, 4), None);
        assert_eq!(ask(&mut gc, &some, Trigger::Changed, 3), Some(2));
        for victim in [Victim::Random, Victim::DChoices, Victim::CostBenefit, Victim::Fifo] {
            let taken = ask(&mut collector(victim), &some, Trigger::Changed, 3).unwrap();
            assert!([1, 2, 4].contains(&taken), "{victim:?} takes {taken}");
        }
        assert_eq!(ask(&mut gc, &table(&[4, 4, 4]), Trigger::Changed, 3), None);
    }

    #[test]
    fn it_sleeps_without_a_victim_until_something_changes() {
        let mut gc = collector(Victim::Greedy);
        assert_eq!(ask(&mut gc, &table(&[4, 4]), Trigger::Changed, 1), None);
        let some = table(&[4, 3]);
        assert_eq!(ask(&mut gc, &some, Trigger::JobEnded, 1), None, "asleep");
        assert_eq!(ask(&mut gc, &some, Trigger::Changed, 1), Some(1));
    }

    #[test]
    fn it_sleeps_when_a_whole_pass_has_gained_nothing() {
        let some = table(&[3, 3, 3]);
        let mut gc = collector(Victim::Greedy);
        assert!(ask(&mut gc, &some, Trigger::Changed, 1).is_some());
        for _ in 1..BLOCKS {
            assert!(ask(&mut gc, &some, Trigger::JobEnded, 1).is_some());
        }
        assert_eq!(ask(&mut gc, &some, Trigger::JobEnded, 1), None, "nothing gained");
        assert_eq!(ask(&mut gc, &some, Trigger::JobEnded, 1), None, "asleep");
        assert!(ask(&mut gc, &some, Trigger::Changed, 1).is_some());
        // A pass that gained a block is followed by another pass.
        for _ in 1..BLOCKS {
            assert!(ask(&mut gc, &some, Trigger::JobEnded, 1).is_some());
        }
        for _ in 0..BLOCKS {
            assert!(ask(&mut gc, &some, Trigger::JobEnded, 2).is_some());
        }
        assert_eq!(ask(&mut gc, &some, Trigger::JobEnded, 2), None);
    }

    #[test]
    fn a_pass_has_gained_what_is_free_in_open_blocks_too() {
        let some = table(&[3, 3, 3]);
        // Blocks of four pages: from (1, 3) to (2, 0) a page was gained, to (1, 2) one was lost.
        for (before, after, goes_on) in [
            ((1, 0), (1, 2), true),
            ((1, 3), (2, 0), true),
            ((1, 3), (1, 2), false),
            ((2, 0), (1, 3), false),
        ] {
            let mut gc = collector(Victim::Greedy);
            assert!(ask_with(&mut gc, &some, Trigger::Changed, before).is_some());
            for _ in 1..BLOCKS {
                assert!(ask_with(&mut gc, &some, Trigger::JobEnded, before).is_some());
            }
            let next = ask_with(&mut gc, &some, Trigger::JobEnded, after);
            assert_eq!(next.is_some(), goes_on, "{before:?} {after:?}");
        }
    }

    #[test]
    fn equal_blocks_are_taken_round_robin() {
        let mut gc = collector(Victim::Greedy);
        let same = table(&[2, 2, 2]);
        let taken = [0; 4].map(|_| ask(&mut gc, &same, Trigger::Changed, 1).unwrap());
        assert_eq!(taken, [0, 1, 2, 0]);
    }

    #[test]
    fn the_first_closed_goes_first_and_benefit_weighs_age() {
        // Closed in the order 0 to 4. (1 − u) · age / 2u is 2 for block 1 (four closings old, half
        // valid). It is 1.5 for block 4 (one old, a quarter valid).
        let some = table(&[4, 2, 4, 4, 1]);
        assert_eq!(ask(&mut collector(Victim::Fifo), &some, Trigger::Changed, 1), Some(1));
        assert_eq!(ask(&mut collector(Victim::CostBenefit), &some, Trigger::Changed, 1), Some(1));
        assert_eq!(ask(&mut collector(Victim::Greedy), &some, Trigger::Changed, 1), Some(4));
        let younger = table(&[4, 4, 4, 2, 1]);
        let best = ask(&mut collector(Victim::CostBenefit), &younger, Trigger::Changed, 1);
        assert_eq!(best, Some(4), "1 against 1.5");
        // Block 0, seven closings old and half valid, 3.5; block 5, two old, 3.
        let oldest = table(&[2, 4, 4, 4, 4, 1, 4]);
        let best = ask(&mut collector(Victim::CostBenefit), &oldest, Trigger::Changed, 1);
        assert_eq!(best, Some(0));
        // A block without a valid page costs nothing.
        let empty = table(&[1, 1, 0]);
        assert_eq!(ask(&mut collector(Victim::CostBenefit), &empty, Trigger::Changed, 1), Some(2));
    }

    #[test]
    fn a_random_victim_is_any_that_frees_something() {
        let some = table(&[4, 3, 1, 2, 4]);
        let mut gc = collector(Victim::Random);
        let taken: BTreeSet<_> =
            (0..64).filter_map(|_| ask(&mut gc, &some, Trigger::Changed, 1)).collect();
        assert!(taken.into_iter().eq([1, 2, 3]));
    }

    #[test]
    fn the_only_victim_is_found_though_it_is_not_drawn() {
        let geometry = Geometry { blocks: 4000, ..policy_context().geometry };
        let mut large = BlockTable::new(&geometry);
        (0..4).for_each(|_| large.page_written(BlockId(1234)));
        for victim in [Victim::Random, Victim::DChoices] {
            let config = GcConfig { victim, threshold: Share::new(0.5), ..GcConfig::default() };
            let mut gc = Gc::build(&config, &PolicyContext::plain(geometry.clone(), 4000));
            assert_eq!(ask(&mut gc, &large, Trigger::Changed, 1), Some(1234), "{victim:?}");
        }
    }

    #[test]
    fn a_block_that_is_being_emptied_is_not_taken_again() {
        let mut some = table(&[1, 3]);
        some.set_state(BlockId(0), BlockState::Victim);
        for victim in [Victim::Greedy, Victim::Random, Victim::DChoices, Victim::Fifo] {
            assert_eq!(ask(&mut collector(victim), &some, Trigger::Changed, 1), Some(1));
        }
    }
}
