//! Groups of blocks by the level at which they are read, and the part of each that is set apart for
//! what is read often. Source: PV-read, sections IV.B and IV.C.
//!
//! A block is measured by the worst read of one of its pages since it was measured last: the level at
//! which it decoded, and the bit errors that the decoder counted. It is measured anew after so many P/E
//! cycles, when it is erased; that is also when it may join or leave what is set apart.

use ssdlab_base::math;
use ssdlab_nand::{BlockId, Level, PlaneId};

use super::group_config::GROWTH;
pub use super::group_config::{Boundaries, GroupsConfig, Scope};
use super::readings::Readings;
use ssdlab_policy::Learner;
use ssdlab_policy::account::Reading;
use ssdlab_policy::allocation::{BlockClass, FreeBlockPolicy};
use ssdlab_policy::columns::Column;
use ssdlab_policy::event::{Action, Actions, Event, EventMask, FreedBlock};

/// A group's blocks of a plane.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    blocks: u32,
    apart: u32,
}

/// What is known of the blocks of a drive.
#[derive(Clone, Debug)]
pub struct Groups {
    config: GroupsConfig,
    /// What each block was measured to be.
    known: Readings,
    /// The worst reading of each since, and its P/E cycles when it was measured.
    seen: Readings,
    measured: Box<[u32]>,
    /// By plane and group.
    shares: Box<[Part]>,
    /// By plane and group but the last, its last block in the order of errors; none where levels
    /// divide.
    bounds: Box<[(u32, u32)]>,
    /// Blocks of each plane that may still be set apart.
    room: Box<[u32]>,
    /// Blocks of a plane that may be set apart in all.
    most_apart: u32,
    blocks_per_plane: u32,
    /// Levels at which a block can be read.
    levels: u8,
    /// Errors of a codeword with which a block can still be read.
    most_errors: u32,
    /// The order in which free blocks are opened.
    opens: FreeBlockPolicy,
}

/// A drive's blocks as they are measured first.
#[derive(Clone, Debug)]
pub struct First {
    /// Blocks of a plane, and how many of these can be set apart.
    pub blocks_per_plane: u32,
    /// See `blocks_per_plane`.
    pub most_apart: u32,
    /// Levels at which a block can be read.
    pub levels: u8,
    /// Errors of a codeword with which a block can still be read.
    pub most_errors: u32,
    /// What each block is measured to be, and its P/E cycles.
    pub known: Vec<Reading>,
    /// See `known`.
    pub erases: Vec<u32>,
    /// The order in which free blocks are opened.
    pub opens: FreeBlockPolicy,
}

impl Groups {
    /// None of the blocks is set apart.
    pub fn new(config: &GroupsConfig, first: First) -> Groups {
        let First { blocks_per_plane, most_apart, levels, most_errors, known, erases, opens } =
            first;
        let planes = known.len() / blocks_per_plane as usize;
        let bounds = match &config.boundaries {
            Boundaries::Levels(_) => 0,
            Boundaries::Shares(shares) => shares.len(),
        };
        let mut groups = Groups {
            config: config.clone(),
            seen: Readings::none(known.len()),
            known: Readings::of(&known),
            measured: erases.into(),
            shares: vec![Part::default(); planes * config.groups()].into(),
            bounds: vec![(0, 0); planes * bounds].into(),
            room: vec![most_apart; planes].into(),
            most_apart,
            blocks_per_plane,
            levels,
            most_errors,
            opens,
        };
        groups.count_anew(|_| None);
        groups
    }

    /// Counts the blocks of each group, and those that are set apart. `class` returns the class of a block that is set
    /// apart, and `None` for any other block.
    pub fn count_anew(&mut self, class: impl Fn(BlockId) -> Option<BlockClass>) {
        self.shares.fill(Part::default());
        self.room.fill(self.most_apart);
        (0..self.room.len() as u32).for_each(|plane| self.cut(PlaneId(plane)));
        for block in (0..self.measured.len() as u32).map(BlockId) {
            let group = self.group(block);
            self.share(block, group).blocks += 1;
            if let Some(class) = class(block) {
                self.share(block, class).apart += 1;
                let room = self.room(block);
                *room = room.saturating_sub(1);
            }
        }
    }

    fn plane(&self, block: BlockId) -> usize {
        (block.0 / self.blocks_per_plane) as usize
    }

    /// Divides the blocks of a plane by rank, if it is ranks that divide.
    fn cut(&mut self, plane: PlaneId) {
        let Boundaries::Shares(shares) = &self.config.boundaries else { return };
        let first = plane.0 * self.blocks_per_plane;
        let mut ranked: Vec<(u32, u32)> = (first..first + self.blocks_per_plane)
            .map(|block| (self.known.errors[block as usize], block))
            .collect();
        ranked.sort_unstable();
        let mut summed = 0.0;
        for (group, share) in shares.iter().enumerate() {
            summed += share.get();
            let upto = ((summed * ranked.len() as f64).round() as usize).min(ranked.len());
            // No block ranks below the first.
            let last = upto.checked_sub(1).map_or((0, 0), |last| ranked[last]);
            self.bounds[plane.index() * shares.len() + group] = last;
        }
    }

    /// The level at which a block was measured, from 0.
    #[inline]
    pub fn level(&self, block: BlockId) -> Level {
        Level(self.known.level[block.index()].saturating_sub(1))
    }

    /// The group of a block, 0 the best.
    #[inline]
    pub fn group(&self, block: BlockId) -> BlockClass {
        let better = match &self.config.boundaries {
            Boundaries::Levels(upto) => {
                let level = self.level(block).0 + 1;
                upto.iter().filter(|&&upto| level > upto).count()
            }
            Boundaries::Shares(shares) => {
                let rank = (self.errors(block), block.0);
                let first = self.plane(block) * shares.len();
                let bounds = &self.bounds[first..first + shares.len()];
                bounds.iter().filter(|&&bound| rank > bound).count()
            }
        };
        BlockClass(better as u8)
    }

    /// Raw bit errors of a block's codewords when it was measured.
    pub fn errors(&self, block: BlockId) -> u32 {
        self.known.errors[block.index()]
    }

    /// How long a block with so many P/E cycles is predicted to last, in intervals of measuring: its
    /// errors grow with a power of its cycles until it can be read no more.
    pub fn intervals_left(&self, block: BlockId, erases: u32) -> u32 {
        let grows = f64::from(self.most_errors) / f64::from(self.errors(block).max(1));
        let life = math::pow(grows, 1.0 / self.config.growth.unwrap_or(GROWTH));
        let left = f64::from(erases.max(1)) * (life - 1.0) / f64::from(self.config.interval.max(1));
        // Beyond its reach none is left.
        left as u32
    }

    /// Groups, each but the last with a part that is set apart.
    pub fn count(&self) -> u8 {
        self.config.groups() as u8
    }

    fn share(&mut self, block: BlockId, group: BlockClass) -> &mut Part {
        &mut self.shares[self.plane(block) * self.config.groups() + group.index()]
    }

    fn room(&mut self, block: BlockId) -> &mut u32 {
        &mut self.room[self.plane(block)]
    }

    /// Blocks that are set apart.
    pub fn all_apart(&self) -> u64 {
        self.shares.iter().map(|share| u64::from(share.apart)).sum()
    }

    /// Blocks of a group on a plane that are set apart.
    pub fn apart(&self, plane: PlaneId, group: BlockClass) -> u32 {
        self.shares[plane.index() * self.config.groups() + group.index()].apart
    }

    /// Whether one block more of its group is to be set apart.
    fn is_wanted(&mut self, block: BlockId, group: BlockClass) -> bool {
        if group.0 + 1 == self.count() {
            return false;
        }
        let share = self.config.read_hot_share;
        let room = *self.room(block);
        let found = self.share(block, group);
        room > 0 && u64::from(found.apart) < share.of(u64::from(found.blocks))
    }

    /// Whether blocks of this class are set apart.
    pub fn is_apart(&self, class: BlockClass) -> bool {
        class.0 + 1 < self.count()
    }

    /// The class of a block that is free: its group if it `may` join what is set apart of it and that
    /// wants it, else the last.
    pub fn class_of_free(&mut self, block: BlockId, may: bool) -> BlockClass {
        let group = self.group(block);
        if may && self.is_wanted(block, group) {
            self.share(block, group).apart += 1;
            *self.room(block) -= 1;
            return group;
        }
        BlockClass(self.count() - 1)
    }

    /// A page of a block was read.
    #[inline]
    pub fn read(&mut self, block: BlockId, reading: Reading) {
        self.seen.worsen(block, reading);
    }

    /// A block of this class was erased, for the so-many-th time: its class from now on, the last if it
    /// may not be set apart.
    pub fn erased(
        &mut self,
        block: BlockId,
        class: BlockClass,
        erases: u32,
        may_join: bool,
    ) -> BlockClass {
        if self.is_apart(class) {
            self.share(block, class).apart -= 1;
            *self.room(block) += 1;
        }
        // A state file may hold what never was.
        if erases.saturating_sub(self.measured[block.index()]) >= self.config.interval {
            let before = self.group(block);
            self.measured[block.index()] = erases;
            self.known.take(block, &mut self.seen);
            // Ranks leave each group as many blocks as it had.
            match &self.config.boundaries {
                Boundaries::Levels(_) => {
                    let after = self.group(block);
                    self.share(block, before).blocks -= 1;
                    self.share(block, after).blocks += 1;
                }
                Boundaries::Shares(_) => self.cut(PlaneId(self.plane(block) as u32)),
            }
        }
        self.class_of_free(block, may_join)
    }

    /// When a free block's turn to be opened comes, the least first, if that goes by what blocks were
    /// measured to be.
    pub fn turn(&self, block: BlockId, erases: u32) -> Option<u32> {
        match self.opens {
            FreeBlockPolicy::LongestFree
            | FreeBlockPolicy::LeastErased
            | FreeBlockPolicy::FewestRetries => None,
            FreeBlockPolicy::FewestErrors => Some(self.errors(block)),
            FreeBlockPolicy::Healthiest => Some(u32::MAX - self.intervals_left(block, erases)),
        }
    }

    /// Whether blocks are ranked or opened by the errors of their worst page.
    fn counts_errors(&self) -> bool {
        self.opens.measures() || matches!(self.config.boundaries, Boundaries::Shares(_))
    }
}

impl Learner for Groups {
    fn name(&self) -> &'static str {
        "block_class"
    }

    fn events(&self) -> EventMask {
        let errors = if self.counts_errors() { EventMask::READ_ERRORS } else { EventMask::NONE };
        EventMask::PAGE_READ.and(EventMask::BLOCK_FREED).and(errors)
    }

    fn on_event(&mut self, event: &Event, actions: &mut Actions) {
        match *event {
            Event::PageRead(read) if read.mapped => {
                // Others may ask for errors that these groups do not go by.
                let errors = if self.counts_errors() { read.errors } else { 0 };
                let reading = Reading { level: read.level, errors };
                self.read(read.block, reading);
            }
            Event::BlockFreed(&FreedBlock { block, class, pe_cycles, has_spare, .. }) => {
                let class = self.erased(block, class, pe_cycles, has_spare);
                actions.push(Action::SetClass { block, class });
                let turn = self.turn(block, pe_cycles);
                turn.into_iter().for_each(|turn| actions.push(Action::SetTurn { block, turn }));
            }
            _ => {}
        }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        let of_a_group = u64::from(u8::BITS - (self.count() - 1).leading_zeros());
        let of_errors = u64::from(u32::BITS - self.most_errors.leading_zeros());
        let of_errors = if self.counts_errors() { of_errors } else { 0 };
        let levels = self.levels.into();
        let Groups { known, seen, measured, .. } = self;
        vec![
            Column::new("block_groups", &mut known.level).bits(of_a_group).up_to(levels),
            Column::new("block_errors", &mut known.errors).bits(of_errors),
            Column::new("block_groups_seen", &mut seen.level).up_to(levels),
            Column::new("block_errors_seen", &mut seen.errors),
            Column::new("block_measured_at", measured),
        ]
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_base::quantity::Share;
    use ssdlab_nand::Geometry;

    use super::*;
    use ssdlab_policy::testing::SMALL;

    /// Two planes of ten blocks: on the first they need these levels, on the second all the last.
    fn groups(levels: [u8; 10], apart: f64) -> Groups {
        of(&GroupsConfig { read_hot_share: Share::new(apart), ..GroupsConfig::default() }, levels)
    }

    fn of(config: &GroupsConfig, levels: [u8; 10]) -> Groups {
        let known = levels.into_iter().chain([6; 10]).map(reading).collect();
        let erases = vec![500; 20];
        Groups::new(
            config,
            First {
                blocks_per_plane: 10,
                most_apart: 4,
                levels: 7,
                most_errors: 490,
                known,
                erases,
                opens: FreeBlockPolicy::default(),
            },
        )
    }

    /// Errors between those of this level and the next.
    fn reading(level: u8) -> Reading {
        Reading { level: Level(level), errors: 70 * u32::from(level) + 30 }
    }

    /// A block of this class was erased, for the so-many-th time: its class from now on.
    fn erased(groups: &mut Groups, block: u32, class: u8, erases: u32, may_join: bool) -> u8 {
        groups.erased(BlockId(block), BlockClass(class), erases, may_join).0
    }

    const LEVELS: [u8; 10] = [0, 0, 1, 2, 3, 3, 1, 4, 5, 6];

    #[test]
    fn a_scope_is_a_plane_all_of_a_chip_or_all_there_are() {
        let geometry = Geometry {
            channels: 2,
            chips: 3,
            dies: 2,
            planes: 4,
            blocks: 5,
            cell: ssdlab_nand::Cell::Mlc,
            ..SMALL
        };
        let planes = [Scope::Plane, Scope::Chip, Scope::Drive].map(|scope| scope.planes(&geometry));
        assert_eq!(planes, [1, 8, 48]);
    }

    #[test]
    fn levels_map_to_the_groups_of_table_1() {
        let of = |upto: &[u8]| {
            let boundaries = Boundaries::Levels(upto.to_vec());
            let config = GroupsConfig { boundaries, ..GroupsConfig::default() };
            let groups = of(&config, [0, 1, 2, 3, 4, 5, 6, 6, 6, 6]);
            [0, 1, 2, 3, 4, 5, 6].map(|block| groups.group(BlockId(block)).0)
        };
        assert_eq!(of(&[]), [0; 7]);
        assert_eq!(of(&[1]), [0, 1, 1, 1, 1, 1, 1]);
        assert_eq!(of(&[1, 4]), [0, 1, 1, 1, 2, 2, 2]);
        assert_eq!(of(&[1, 3, 5]), [0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(of(&[1, 2, 3, 4, 5, 6]), [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_share_of_each_group_but_the_last_is_set_apart() {
        let mut groups = groups(LEVELS, 0.5);
        let classes = (0..20).map(|block| groups.class_of_free(BlockId(block), true));
        let classes: Vec<u8> = classes.map(|class| class.0).collect();
        // One of the two, then two and a half, rounded, of the five.
        assert_eq!(classes[..10], [0, 2, 1, 1, 1, 2, 2, 2, 2, 2]);
        assert_eq!(classes[10..], [2; 10]);
    }

    #[test]
    fn no_more_are_set_apart_than_leave_room_for_the_data() {
        let mut groups = groups(LEVELS, 1.0);
        let apart =
            (0..10).filter(|&block| groups.class_of_free(BlockId(block), true).0 < 2).count();
        assert_eq!((apart, groups.all_apart()), (4, 4));
        erased(&mut groups, 0, 0, 501, true);
        assert_eq!(groups.all_apart(), 4);
    }

    #[test]
    fn a_block_leaves_when_it_is_erased_and_another_may_take_its_place() {
        let mut groups = groups(LEVELS, 0.5);
        assert_eq!([0, 1].map(|block| groups.class_of_free(BlockId(block), true).0), [0, 2]);
        // Its place is free again: whoever of its group is erased first takes it.
        assert_eq!(erased(&mut groups, 1, 2, 501, true), 2);
        assert_eq!(erased(&mut groups, 0, 0, 501, true), 0);
        groups.read(BlockId(0), reading(3));
        assert_eq!(erased(&mut groups, 0, 0, 599, true), 0, "not yet measured anew");
        assert_eq!((groups.level(BlockId(0)).0, groups.group(BlockId(0)).0), (0, 0));
        assert_eq!(erased(&mut groups, 0, 0, 600, true), 1, "in another group");
        assert_eq!((groups.level(BlockId(0)).0, groups.group(BlockId(0)).0), (3, 1));
        // What the others need stays with them.
        assert_eq!(erased(&mut groups, 1, 2, 501, false), 2);
        // Of one block half a block, rounded.
        assert_eq!(erased(&mut groups, 1, 2, 502, true), 0);
    }

    #[test]
    fn a_block_is_measured_by_the_worst_read_and_keeps_its_level_if_there_was_none() {
        let mut groups = groups(LEVELS, 0.0);
        for level in [2, 4, 1] {
            groups.read(BlockId(8), reading(level));
        }
        erased(&mut groups, 8, 2, 600, true);
        assert_eq!(groups.level(BlockId(8)), Level(4));
        erased(&mut groups, 8, 2, 700, true);
        assert_eq!(groups.level(BlockId(8)), Level(4));
    }

    #[test]
    fn by_rank_each_group_has_its_share_of_blocks_however_they_are_worn() {
        let boundaries = Boundaries::Shares(vec![Share::new(0.2), Share::new(0.3)]);
        let config = GroupsConfig { boundaries, ..GroupsConfig::default() };
        let all = |groups: &Groups| (0..10).map(|block| groups.group(BlockId(block)).0).collect();
        let mut groups = of(&config, LEVELS);
        let before: Vec<u8> = all(&groups);
        // Of equal ones the first; two, then three, then the rest.
        assert_eq!(before, [0, 0, 1, 1, 2, 2, 1, 2, 2, 2]);
        groups.read(BlockId(0), reading(6));
        erased(&mut groups, 0, 2, 600, true);
        let after: Vec<u8> = all(&groups);
        assert_eq!(after, [2, 0, 0, 1, 1, 2, 1, 2, 2, 2]);
        let second: Vec<u8> = (10..20).map(|block| groups.group(BlockId(block)).0).collect();
        assert_eq!(second, [0, 0, 1, 1, 1, 2, 2, 2, 2, 2], "of a plane its own");
    }

    #[test]
    fn a_block_is_predicted_to_last_until_its_errors_are_too_many() {
        let groups = groups([0, 6, 0, 0, 0, 0, 0, 0, 0, 0], 0.1);
        // 30 errors grow to 490 in 68.8 times the 500 cycles, and 450 in 1.138 times.
        let left = |block, erases| groups.intervals_left(BlockId(block), erases);
        assert_eq!([left(0, 500), left(1, 500), left(0, 1000)], [339, 0, 678]);
    }
}
