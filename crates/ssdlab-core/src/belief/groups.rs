//! Groups of blocks by the level at which they are read, and the part of each that is set apart for
//! what is read often. Source: PV-read, sections IV.B and IV.C.
//!
//! A block belongs to a group by the highest level at which one of its pages had to be read since it
//! was measured. It is measured anew after so many P/E cycles, when it is erased; that is also when
//! it may join or leave what is set apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_nand::{BlockId, PlaneId};

/// Settings of `measured`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GroupsConfig {
    /// The highest level of each group but the last, from level 1 up. Default: [1, 4], three groups.
    /// Source: PV-read, Table I.
    pub upto: Vec<u8>,
    /// Share of the blocks of each group but the last that is set apart for what is read often.
    /// Default: 0.1. Source: PV-read, section V.B.
    pub apart: Share,
    /// P/E cycles of a block after which it is measured anew. Default: 100. Source: PV-read (ruled).
    pub interval: u32,
}

impl Default for GroupsConfig {
    fn default() -> GroupsConfig {
        GroupsConfig { upto: vec![1, 4], apart: Share::new(0.1), interval: 100 }
    }
}

impl GroupsConfig {
    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.upto.len() + 1
    }

    /// The group of a block that is read at a level, counted from 0; both from 0.
    fn group_of(&self, level: u8) -> u8 {
        self.upto.iter().filter(|&&upto| level + 1 > upto).count() as u8
    }
}

/// A group's blocks of a plane.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    blocks: u32,
    apart: u32,
}

/// Of a block that was not read since it was measured.
const UNREAD: u8 = u8::MAX;

/// What is known of the blocks of a drive.
#[derive(Clone, Debug)]
pub struct Groups {
    config: GroupsConfig,
    /// The level at which each block was measured, from 0.
    level: Box<[u8]>,
    /// The highest level at which each was read since, from 0, or [`UNREAD`]; and its P/E cycles when it
    /// was measured.
    seen: Box<[u8]>,
    measured: Box<[u32]>,
    /// By plane and group.
    shares: Box<[Part]>,
    /// Blocks of each plane that may yet be set apart.
    room: Box<[u32]>,
    blocks_per_plane: u32,
}

impl Groups {
    /// Blocks that were measured at these levels and P/E cycles; none is set apart, and of each plane
    /// no more than `most` can be.
    pub fn new(
        config: &GroupsConfig,
        (blocks_per_plane, most): (u32, u32),
        level: Vec<u8>,
        erases: Vec<u32>,
    ) -> Groups {
        let planes = level.len() / blocks_per_plane as usize;
        let mut shares = vec![Part::default(); planes * config.groups()];
        for (block, &level) in level.iter().enumerate() {
            let plane = block / blocks_per_plane as usize;
            shares[plane * config.groups() + usize::from(config.group_of(level))].blocks += 1;
        }
        Groups {
            config: config.clone(),
            seen: vec![UNREAD; level.len()].into(),
            level: level.into(),
            measured: erases.into(),
            shares: shares.into(),
            room: vec![most; planes].into(),
            blocks_per_plane,
        }
    }

    /// The level at which a block was measured, from 0.
    #[inline]
    pub fn level(&self, block: BlockId) -> u8 {
        self.level[block.index()]
    }

    /// The group of a block, 0 the best.
    #[inline]
    pub fn group(&self, block: BlockId) -> u8 {
        self.config.group_of(self.level(block))
    }

    /// Groups, each but the last with a part that is set apart.
    pub fn count(&self) -> u8 {
        self.config.groups() as u8
    }

    fn share(&mut self, block: BlockId, group: u8) -> &mut Part {
        let plane = block.0 / self.blocks_per_plane;
        &mut self.shares[plane as usize * self.config.groups() + usize::from(group)]
    }

    fn room(&mut self, block: BlockId) -> &mut u32 {
        &mut self.room[(block.0 / self.blocks_per_plane) as usize]
    }

    /// Blocks that are set apart.
    pub fn all_apart(&self) -> u64 {
        self.shares.iter().map(|share| u64::from(share.apart)).sum()
    }

    /// Blocks of a group on a plane that are set apart.
    pub fn apart(&self, plane: PlaneId, group: u8) -> u32 {
        self.shares[plane.index() * self.config.groups() + usize::from(group)].apart
    }

    /// Whether one block more of its group is to be set apart.
    fn is_wanted(&mut self, block: BlockId, group: u8) -> bool {
        if group + 1 == self.count() {
            return false;
        }
        let share = self.config.apart;
        let room = *self.room(block);
        let found = self.share(block, group);
        room > 0 && u64::from(found.apart) < share.of(u64::from(found.blocks))
    }

    /// The class of a block that is free: its group if it joins what is set apart of it, else the last.
    pub fn class_of_free(&mut self, block: BlockId) -> u8 {
        let group = self.group(block);
        if self.is_wanted(block, group) {
            self.share(block, group).apart += 1;
            *self.room(block) -= 1;
            return group;
        }
        self.count() - 1
    }

    /// A page of a block was read at this level, from 0.
    #[inline]
    pub fn read(&mut self, block: BlockId, level: u8) {
        let seen = &mut self.seen[block.index()];
        if *seen == UNREAD || *seen < level {
            *seen = level;
        }
    }

    /// A block of this class was erased, for the so-many-th time: its class from now on, the last if it
    /// may not be set apart.
    pub fn erased(&mut self, block: BlockId, class: u8, erases: u32, may_join: bool) -> u8 {
        if class + 1 < self.count() {
            self.share(block, class).apart -= 1;
            *self.room(block) += 1;
        }
        if erases - self.measured[block.index()] >= self.config.interval {
            let before = self.group(block);
            let seen = std::mem::replace(&mut self.seen[block.index()], UNREAD);
            self.measured[block.index()] = erases;
            if seen != UNREAD {
                self.level[block.index()] = seen;
            }
            let after = self.group(block);
            self.share(block, before).blocks -= 1;
            self.share(block, after).blocks += 1;
        }
        if may_join { self.class_of_free(block) } else { self.count() - 1 }
    }

    /// Bits that say the group of each block.
    pub fn metadata_bits(&self) -> u64 {
        let bits = u64::from(u8::BITS - (self.count() - 1).leading_zeros());
        self.level.len() as u64 * bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two planes of ten blocks: on the first they need these levels, on the second all the last.
    fn groups(levels: [u8; 10], apart: f64) -> Groups {
        let config = GroupsConfig { apart: Share::new(apart), ..GroupsConfig::default() };
        let level = levels.into_iter().chain([6; 10]).collect();
        Groups::new(&config, (10, 4), level, vec![500; 20])
    }

    const LEVELS: [u8; 10] = [0, 0, 1, 2, 3, 3, 1, 4, 5, 6];

    #[test]
    fn levels_map_to_the_groups_of_table_1() {
        let of = |upto: &[u8]| {
            let config = GroupsConfig { upto: upto.to_vec(), ..GroupsConfig::default() };
            [0, 1, 2, 3, 4, 5, 6].map(|level| config.group_of(level))
        };
        assert_eq!(of(&[1]), [0, 1, 1, 1, 1, 1, 1]);
        assert_eq!(of(&[1, 4]), [0, 1, 1, 1, 2, 2, 2]);
        assert_eq!(of(&[1, 3, 5]), [0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(of(&[1, 2, 3, 4, 5, 6]), [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_share_of_each_group_but_the_last_is_set_apart() {
        let mut groups = groups(LEVELS, 0.5);
        let classes = (0..20).map(|block| groups.class_of_free(BlockId(block)));
        let classes: Vec<u8> = classes.collect();
        // One of the two, then two and a half, rounded, of the five.
        assert_eq!(classes[..10], [0, 2, 1, 1, 1, 2, 2, 2, 2, 2]);
        assert_eq!(classes[10..], [2; 10]);
        let apart = |plane| [0, 1, 2].map(|group| groups.apart(PlaneId(plane), group));
        assert_eq!([apart(0), apart(1)], [[1, 3, 0], [0; 3]]);
    }

    #[test]
    fn no_more_are_set_apart_than_leave_room_for_the_data() {
        let mut groups = groups(LEVELS, 1.0);
        let apart = (0..10).filter(|&block| groups.class_of_free(BlockId(block)) < 2).count();
        assert_eq!((apart, groups.all_apart()), (4, 4));
        groups.erased(BlockId(0), 0, 501, true);
        assert_eq!(groups.all_apart(), 4);
    }

    #[test]
    fn a_block_leaves_when_it_is_erased_and_another_may_take_its_place() {
        let mut groups = groups(LEVELS, 0.5);
        assert_eq!([0, 1].map(|block| groups.class_of_free(BlockId(block))), [0, 2]);
        // Its place is free again: whoever of its group is erased first takes it.
        assert_eq!(groups.erased(BlockId(1), 2, 501, true), 2);
        assert_eq!(groups.erased(BlockId(0), 0, 501, true), 0);
        groups.read(BlockId(0), 3);
        assert_eq!(groups.erased(BlockId(0), 0, 599, true), 0, "not yet measured anew");
        assert_eq!((groups.level(BlockId(0)), groups.group(BlockId(0))), (0, 0));
        assert_eq!(groups.erased(BlockId(0), 0, 600, true), 1, "in another group");
        assert_eq!((groups.level(BlockId(0)), groups.group(BlockId(0))), (3, 1));
        // What the others need stays with them.
        assert_eq!(groups.erased(BlockId(1), 2, 501, false), 2);
        // Of one block half a block, rounded.
        assert_eq!(groups.erased(BlockId(1), 2, 502, true), 0);
    }

    #[test]
    fn a_block_is_measured_by_the_worst_read_and_keeps_its_level_if_there_was_none() {
        let mut groups = groups(LEVELS, 0.0);
        for level in [2, 4, 1] {
            groups.read(BlockId(8), level);
        }
        groups.erased(BlockId(8), 2, 600, true);
        assert_eq!(groups.level(BlockId(8)), 4);
        groups.erased(BlockId(8), 2, 700, true);
        assert_eq!(groups.level(BlockId(8)), 4);
    }
}
