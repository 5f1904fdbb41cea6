use ssdlab_base::quantity::Share;
use ssdlab_nand::Geometry;

use super::*;
use ssdlab_policy::testing::SMALL;

/// Two planes of ten blocks. The blocks of the first need these levels, those of the second the
/// last level.
fn groups(levels: [u8; 10], share: f64) -> Groups {
    of(&GroupsConfig { read_hot_share: Share::new(share), ..GroupsConfig::default() }, levels)
}

fn of(config: &GroupsConfig, levels: [u8; 10]) -> Groups {
    let known = levels.into_iter().chain([6; 10]).map(reading).collect();
    let erases = vec![500; 20];
    Groups::new(
        config,
        First {
            blocks_per_plane: 10,
            max_reserved_blocks: 4,
            levels: 7,
            max_errors: 490,
            known,
            erases,
            free_block_policy: FreeBlockPolicy::default(),
        },
    )
}

/// Returns a reading with errors between those of this level and the next.
fn reading(level: u8) -> Reading {
    Reading { level: Level(level), errors: 70 * u32::from(level) + 30 }
}

/// Erases a block of this class, which then has `erases` P/E cycles. Returns its new class.
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
        [0, 1, 2, 3, 4, 5, 6].map(|block| groups.group_of(BlockId(block)).0)
    };
    assert_eq!(of(&[]), [0; 7]);
    assert_eq!(of(&[1]), [0, 1, 1, 1, 1, 1, 1]);
    assert_eq!(of(&[1, 4]), [0, 1, 1, 1, 2, 2, 2]);
    assert_eq!(of(&[1, 3, 5]), [0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(of(&[1, 2, 3, 4, 5, 6]), [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_share_of_each_group_but_the_last_is_reserved() {
    let mut groups = groups(LEVELS, 0.5);
    let classes = (0..20).map(|block| groups.group_of_free(BlockId(block), true));
    let classes: Vec<u8> = classes.map(|class| class.0).collect();
    // One of two blocks, then two and a half, rounded, of five.
    assert_eq!(classes[..10], [0, 2, 1, 1, 1, 2, 2, 2, 2, 2]);
    assert_eq!(classes[10..], [2; 10]);
}

#[test]
fn no_more_blocks_are_reserved_than_leave_room_for_the_data() {
    let mut groups = groups(LEVELS, 1.0);
    let reserved =
        (0..10).filter(|&block| groups.group_of_free(BlockId(block), true).0 < 2).count();
    assert_eq!((reserved, all_reserved(&groups)), (4, 4));
    erased(&mut groups, 0, 0, 501, true);
    assert_eq!(all_reserved(&groups), 4);
}

#[test]
fn a_block_leaves_when_it_is_erased_and_another_may_take_its_place() {
    let mut groups = groups(LEVELS, 0.5);
    assert_eq!([0, 1].map(|block| groups.group_of_free(BlockId(block), true).0), [0, 2]);
    // Its place is free again: the next erased block of its group takes it.
    assert_eq!(erased(&mut groups, 1, 2, 501, true), 2);
    assert_eq!(erased(&mut groups, 0, 0, 501, true), 0);
    groups.read(BlockId(0), reading(3));
    assert_eq!(erased(&mut groups, 0, 0, 599, true), 0, "not yet measured anew");
    assert_eq!((groups.level(BlockId(0)).0, groups.group_of(BlockId(0)).0), (0, 0));
    assert_eq!(erased(&mut groups, 0, 0, 600, true), 1, "in another group");
    assert_eq!((groups.level(BlockId(0)).0, groups.group_of(BlockId(0)).0), (3, 1));
    // The places that the others need stay with them.
    assert_eq!(erased(&mut groups, 1, 2, 501, false), 2);
    // Half of one block, rounded.
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
    let all = |groups: &Groups| (0..10).map(|block| groups.group_of(BlockId(block)).0).collect();
    let mut groups = of(&config, LEVELS);
    let before: Vec<u8> = all(&groups);
    // Equal ones in order of number; two, then three, then the rest.
    assert_eq!(before, [0, 0, 1, 1, 2, 2, 1, 2, 2, 2]);
    groups.read(BlockId(0), reading(6));
    erased(&mut groups, 0, 2, 600, true);
    let after: Vec<u8> = all(&groups);
    assert_eq!(after, [2, 0, 0, 1, 1, 2, 1, 2, 2, 2]);
    let second: Vec<u8> = (10..20).map(|block| groups.group_of(BlockId(block)).0).collect();
    assert_eq!(second, [0, 0, 1, 1, 1, 2, 2, 2, 2, 2], "of a plane its own");
}

#[test]
fn a_block_is_predicted_to_last_until_its_errors_are_too_many() {
    let groups = groups([0, 6, 0, 0, 0, 0, 0, 0, 0, 0], 0.1);
    // 30 errors grow to 490 in 68.8 times the 500 cycles, and 450 in 1.138 times.
    let left = |block, erases| groups.intervals_left(BlockId(block), erases);
    assert_eq!([left(0, 500), left(1, 500), left(0, 1000)], [339, 0, 678]);
}

/// Returns the number of blocks of both planes that are reserved.
fn all_reserved(groups: &Groups) -> u32 {
    groups.shares.iter().map(|share| share.reserved).sum()
}
