//! `background.read_hot_migration`: a page that was read often moves one group up, to blocks that
//! are reserved there. If these are full, the first block that was not read for a while makes
//! room. Source: PV-read, section IV.B. If the drive separates blocks by priority, the page moves
//! to those of the next higher priority (ruled).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::BlockId;
use ssdlab_nand::refusal::Refusal;

use super::read_counts::ReadCounts;
use crate::metadata::block_groups::Groups;
use ssdlab_policy::account::Cause;
use ssdlab_policy::allocation::{BlockClass, Writer};
use ssdlab_policy::background::{
    BackgroundNeeds, BackgroundPolicy, BackgroundUses, HostRead, Job, PlaneView, Trigger,
};
use ssdlab_policy::blocks::BlockState;
use ssdlab_policy::columns::{Column, Per};
use ssdlab_policy::event::{Action, Event, EventContext, EventMask};
use ssdlab_policy::{Policy, PolicyContext};

/// Settings of `read_hot_migration`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReadHotMigrationConfig {
    /// Reads of a page after which it is hot. They count while the controller holds its entry of
    /// the page map and no write changes it. Default: 3. Source: PV-read, section V.A.
    #[schemars(range(min = 1))]
    pub threshold: u8,
}

impl Default for ReadHotMigrationConfig {
    fn default() -> ReadHotMigrationConfig {
        ReadHotMigrationConfig { threshold: 3 }
    }
}

/// Moves pages that are read often, and makes room for them.
#[derive(Clone, Debug)]
pub struct ReadHotMigration {
    threshold: u8,
    /// Whether each block was read since the CLOCK hand passed it, one bit each.
    referenced: Box<[u64]>,
    /// The position of the hand of each plane and group, counted within the plane.
    hands: Box<[u32]>,
    /// By plane, the group that was full when a page was to move to it, counted from 1; 0 without
    /// one.
    requested_groups: Box<[u8]>,
    groups: u8,
    blocks_per_plane: u32,
    /// The number of reads of each page.
    counts: ReadCounts,
    /// Number of map entries that the controller holds at a time, each with a counter.
    held_entries: u32,
}

impl Policy for ReadHotMigration {
    type Config = ReadHotMigrationConfig;

    const COMPONENTS: &'static [&'static str] = &["block_class"];

    fn check(config: &ReadHotMigrationConfig, context: &PolicyContext) -> Result<(), Refusal> {
        if config.threshold == 0 {
            return Err(Refusal::new(
                "background.read_hot_migration.threshold",
                0,
                "1 to 255 reads",
            ));
        }
        Err(match groups(context) {
            2.. => return Ok(()),
            _ if context.classes.groups.is_some() => Refusal::new(
                "metadata.block_class.measured.boundaries",
                "a single group",
                "several groups, for background.read_hot_migration moves pages between them",
            ),
            _ => Refusal::new(
                "background.read_hot_migration",
                "read_hot_migration",
                "blocks in groups by the level at which they are read (metadata.block_class = \"measured\"), or by \
                 priority (\"predicted\")",
            ),
        })
    }

    fn build(config: &ReadHotMigrationConfig, context: &PolicyContext) -> ReadHotMigration {
        let geometry = &context.geometry;
        let planes = geometry.plane_count() as usize;
        let blocks = geometry.block_count() as usize;
        ReadHotMigration {
            threshold: config.threshold,
            referenced: vec![0; blocks.div_ceil(64)].into(),
            hands: vec![0; planes * usize::from(groups(context))].into(),
            requested_groups: vec![0; planes].into(),
            groups: groups(context),
            blocks_per_plane: geometry.blocks,
            counts: ReadCounts::new(context.logical_pages, config.threshold),
            held_entries: context.map.held_entries,
        }
    }

    fn events(&self) -> EventMask {
        EventMask::HOST_READ
            .and(EventMask::NO_SPACE)
            .and(EventMask::PAGE_INVALIDATED)
            .and(EventMask::MIGRATION_BEGAN)
            .and(EventMask::PAGE_MIGRATED)
            .and(EventMask::ENTRIES_LOADED)
    }

    fn on_event(&mut self, event: &Event, context: &mut EventContext) {
        match *event {
            Event::HostRead(read) => {
                let measured = context.components.get::<Groups>();
                let group = measured.map_or(read.class, |groups| groups.group_of(read.block));
                if let Some(class) = self.read(read, group) {
                    context.actions.push(Action::MigratePage {
                        lpn: read.lpn,
                        class,
                        stream: None,
                    });
                }
            }
            Event::NoSpace { plane, class } => self.requested_groups[plane.index()] = class.0 + 1,
            // A page that was written, begins to move, or was moved out is counted from zero again.
            Event::PageInvalidated { lpn, .. } | Event::MigrationBegan(lpn) => {
                self.counts.forget(lpn);
            }
            Event::PageMigrated(page) if page.cause == Cause::Migration && !page.alone => {
                self.counts.forget(page.lpn);
            }
            Event::EntriesLoaded { first, count } => self.counts.come(first, count),
            _ => {}
        }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        let blocks = self.requested_groups.len() as u64 * u64::from(self.blocks_per_plane);
        let number = u64::from(u64::BITS - (blocks - 1).leading_zeros());
        let counts = u64::from(self.held_entries) * self.counts.bits();
        let last = u64::from(self.blocks_per_plane) - 1;
        vec![
            self.counts.column("read_counts").bits_in_all(counts),
            Column::new("clock", Per::Drive, &mut self.referenced)
                .bits_per_reserved_block(number + 1),
            Column::new("clock_hands", Per::Plane, &mut self.hands).up_to(last),
            Column::new("groups_wanted", Per::Plane, &mut self.requested_groups)
                .up_to(self.groups.into()),
        ]
    }
}

/// Returns the number of groups between which pages move: groups by level, or priorities.
fn groups(context: &PolicyContext) -> u8 {
    context.classes.groups.unwrap_or(1).max(context.classes.priorities)
}

impl ReadHotMigration {
    /// Counts a host read of a page in a block of this group. Returns the page's target class, if
    /// it should move.
    fn read(&mut self, read: &HostRead, group: BlockClass) -> Option<BlockClass> {
        let count = self.counts.read(read.lpn, read.reads);
        if read.is_reserved {
            let (word, bit) = self.bit(read.block);
            *word |= bit;
        }
        (count >= self.threshold && group > BlockClass::BEST).then(|| BlockClass(group.0 - 1))
    }

    fn bit(&mut self, block: BlockId) -> (&mut u64, u64) {
        (&mut self.referenced[block.index() / 64], 1 << (block.0 % 64))
    }

    /// Returns the first full block of a group, from the hand on, that was not read since the hand
    /// last passed.
    fn victim(&mut self, group: BlockClass, view: &PlaneView) -> Option<BlockId> {
        let hand = view.plane.index() * usize::from(self.groups) + group.index();
        // One turn clears every bit, and a second turn finds the first block.
        for _ in 0..2 * view.pool.len() {
            let at = self.hands[hand] as usize;
            self.hands[hand] = (self.hands[hand] + 1) % self.blocks_per_plane;
            let full = view.pool.state[at] == BlockState::Closed;
            if !full || view.pool.class.get(at) != Some(&group) {
                continue;
            }
            let block = view.pool.block(at);
            let (word, bit) = self.bit(block);
            if *word & bit == 0 {
                return Some(block);
            }
            *word &= !bit;
        }
        None
    }
}

impl BackgroundPolicy for ReadHotMigration {
    fn uses(_: &ReadHotMigrationConfig) -> BackgroundUses {
        BackgroundUses { migration: true, ..BackgroundUses::default() }
    }

    fn job(&mut self, _: Trigger, view: &PlaneView) -> Option<Job> {
        let requested_groups = std::mem::take(&mut self.requested_groups[view.plane.index()]);
        let group = BlockClass(requested_groups.checked_sub(1)?);
        let block = self.victim(group, view)?;
        let class = Some(BlockClass(group.0 + 1));
        Some(Job { class, ..Job::new(block, Cause::Migration, Writer::Gc) })
    }

    fn needs(&self) -> BackgroundNeeds {
        BackgroundNeeds { migrates: true, ..BackgroundNeeds::default() }
    }
}

#[cfg(test)]
mod tests {

    use ssdlab_base::SimTime;
    use ssdlab_nand::{Cell, Geometry, Lpn, PlaneId};

    use super::*;
    use ssdlab_policy::ClassFacts;
    use ssdlab_policy::blocks::BlockClasses;
    use ssdlab_policy::blocks::BlockTable;
    use ssdlab_policy::component::Components;
    use ssdlab_policy::event::Migrated;
    use ssdlab_policy::testing::SMALL;
    use ssdlab_policy::testing::publish;

    /// Returns the policy of a drive with two planes of six blocks and three groups.
    fn read_hot() -> ReadHotMigration {
        ReadHotMigration::build(
            &ReadHotMigrationConfig::default(),
            &PolicyContext { classes: in_groups(3), ..policy_context() },
        )
    }

    fn in_groups(groups: u8) -> ClassFacts {
        ClassFacts { groups: Some(groups), ..ClassFacts::default() }
    }

    fn policy_context() -> PolicyContext {
        let geometry = Geometry { channels: 2, blocks: 6, cell: Cell::Mlc, ..SMALL };
        PolicyContext::plain(geometry, 1)
    }

    /// Returns a table of blocks. On the second plane, blocks 6, 7, 9 and 10 are in the first
    /// group, and all but the last of them are full.
    fn table() -> BlockTable {
        let mut table = BlockTable::new(&policy_context().geometry);
        let classes = [[2; 6], [0, 0, 1, 0, 0, 2]].concat().into_iter().map(BlockClass).collect();
        table.set_classes(&BlockClasses { classes, reserved_classes: 2 });
        (6..10).for_each(|block| table.prefill(BlockId(block), 4, 4));
        table
    }

    /// Returns a host read of a page in a block of this group.
    fn read(lpn: u32, group: u8, block: u32) -> HostRead {
        let class = BlockClass(group);
        let is_reserved = class.0 < 2;
        HostRead { lpn: Lpn(lpn), block: BlockId(block), is_reserved, class, reads: 1 }
    }

    fn read_from(hot: &mut ReadHotMigration, read: &HostRead) -> Option<BlockClass> {
        hot.read(read, read.class)
    }

    #[test]
    fn a_page_moves_one_group_up_when_it_has_been_read_often() {
        let mut hot = read_hot();
        let of_three = |hot: &mut ReadHotMigration, lpn, group| {
            [(); 3].map(|()| read_from(hot, &read(lpn, group, 11)))
        };
        assert_eq!(of_three(&mut hot, 1, 2), [None, None, Some(BlockClass(1))]);
        assert_eq!(of_three(&mut hot, 2, 1), [None, None, Some(BlockClass(0))]);
        assert_eq!(of_three(&mut hot, 3, 0), [None; 3], "there is no better group");
        let actions = publish(&mut hot, &Event::HostRead(&read(1, 2, 11)));
        let class = BlockClass(1);
        assert_eq!(actions, [Action::MigratePage { lpn: Lpn(1), class, stream: None }]);
    }

    #[test]
    fn a_page_that_is_written_moves_or_whose_entry_comes_is_counted_anew() {
        let moved =
            |cause, alone| Migrated { lpn: Lpn(5), from: BlockId(0), to: BlockId(1), cause, alone };
        let cold_out = moved(Cause::Migration, false);
        let (itself, collected) = (moved(Cause::Migration, true), moved(Cause::Gc, false));
        for (event, anew) in [
            (Event::PageInvalidated { lpn: Lpn(5), block: BlockId(0) }, true),
            (Event::MigrationBegan(Lpn(5)), true),
            (Event::EntriesLoaded { first: Lpn(4), count: 2 }, true),
            (Event::EntriesLoaded { first: Lpn(6), count: 2 }, false),
            (Event::PageMigrated(&cold_out), true),
            (Event::PageMigrated(&itself), false),
            (Event::PageMigrated(&collected), false),
        ] {
            let mut hot = read_hot();
            for _ in 0..2 {
                read_from(&mut hot, &read(5, 2, 11));
            }
            publish(&mut hot, &event);
            let moves = if anew { None } else { Some(BlockClass(1)) };
            assert_eq!(read_from(&mut hot, &read(5, 2, 11)), moves, "{event:?}");
        }
    }

    #[test]
    fn the_first_block_that_was_not_read_makes_room() {
        let (mut hot, table) = (read_hot(), table());
        let view = PlaneView {
            now: SimTime::START,
            plane: PlaneId(1),
            pool: table.pool(PlaneId(1)),
            free_blocks: 0,
            open_pages: 0,
            free_pages: 0,
            components: Components::NONE,
        };
        let job = |hot: &mut ReadHotMigration| hot.job(Trigger::Changed, &view);
        assert_eq!(job(&mut hot), None, "nobody wants room");
        for block in [6, 9] {
            read_from(&mut hot, &read(block, 0, block));
        }
        let expect = |block| {
            let class = Some(BlockClass(1));
            Some(Job { class, ..Job::new(BlockId(block), Cause::Migration, Writer::Gc) })
        };
        // 6 was read, 7 was not. Then 9 was read, 10 is not full, and 6 was not read again.
        for block in [7, 6, 7, 9] {
            publish(&mut hot, &Event::NoSpace { plane: PlaneId(1), class: BlockClass(0) });
            assert_eq!(job(&mut hot), expect(block));
        }
        publish(&mut hot, &Event::NoSpace { plane: PlaneId(0), class: BlockClass(0) });
        assert_eq!(job(&mut hot), None, "of another plane");
    }
}
