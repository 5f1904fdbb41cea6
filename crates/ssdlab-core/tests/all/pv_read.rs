//! Often-read pages move to better blocks, and other pages make room. Source: PV-read.

use ssdlab_base::rng;
use ssdlab_core::account::{Cause, OpKind};
use ssdlab_core::policy::event::PageUses;
use ssdlab_core::{Drive, Op};
use ssdlab_nand::{Lpn, PlaneId};

use crate::support::{Rig, SPP};

/// Two planes of blocks; each level is needed by equally many.
const SHAPE: &str = "geometry = { channels = 2, blocks = 60, pages = 8 }";
const LEVELS: &str = "physics = { levels = { base = { shares = [1, 1, 1, 1, 1, 1, 1] } } }";
const GROUPS: &str = "metadata.block_class = { measured = { read_hot_share = 0.3 } }";
const HOT: &str = "background.read_hot_migration = true";

/// Returns an idle drive full of data.
fn full(sets: &[&str]) -> Rig {
    let mut rig = Rig::new(&[&[SHAPE, LEVELS, GROUPS, "start.fill = 0.5"], sets].concat());
    rig.finish();
    rig
}

/// Returns the class of a page's block: 0 and 1 are set apart, 2 is the rest.
fn class(drive: &Drive, page: u64) -> u8 {
    let ppn = drive.ftl().map.get(Lpn(page as u32)).expect("a page that was written");
    drive.ftl().blocks.class(drive.resolved().geometry().block_of(ppn)).0
}

/// Returns the level at which a page is read, from 1.
fn level(drive: &Drive, page: u64) -> u8 {
    let (ppn, geometry) = (drive.ftl().map.get(Lpn(page as u32)), drive.resolved().geometry());
    let block = geometry.block_of(ppn.expect("a page that was written"));
    drive.flash().cells.first_reading(block, geometry).level.0 + 1
}

fn read(rig: &mut Rig, page: u64, times: u64) {
    for _ in 0..times {
        rig.read(page);
        rig.finish();
    }
}

#[test]
fn a_page_moves_up_one_group_for_every_three_reads() {
    let mut rig = full(&[HOT]);
    // The last group has levels 5 to 7.
    let page = (0..300)
        .find(|&page| level(&rig.drive, page) > 4)
        .expect("a page on a block of the last group");
    let mut classes = Vec::new();
    for _ in 0..8 {
        read(&mut rig, page, 1);
        classes.push(class(&rig.drive, page));
    }
    assert_eq!(classes, [2, 2, 1, 1, 1, 0, 0, 0]);
    let moves = rig.drive.stats().migration;
    assert_eq!((moves.hot, moves.cold, moves.dropped, moves.outdated), (2, 0, 0, 0));
    assert_eq!(
        rig.drive.flash().counts.ops()[OpKind::Program as usize][Cause::Migration as usize],
        2
    );
    // The controller still holds a page that was read whole.
    assert_eq!(rig.drive.flash().counts.ops()[OpKind::Read as usize][Cause::Migration as usize], 0);
}

#[test]
fn what_the_host_writes_lies_on_blocks_of_all_levels() {
    let mut rig = Rig::new(&[
        SHAPE,
        LEVELS,
        "metadata.block_class = { measured = { read_hot_share = 0.5 } }",
    ]);
    let ours = 400;
    for page in 0..ours {
        rig.wait_below(4).unwrap();
        rig.write(page);
    }
    rig.finish();
    // Half of the first two groups is set apart, so 2 of 5 of the remaining blocks are in these
    // groups.
    let good = (0..ours).filter(|&page| level(&rig.drive, page) < 5).count() as f64 / ours as f64;
    assert!((0.2..0.6).contains(&good), "{good}");
}

#[test]
fn of_a_page_that_was_read_in_part_the_rest_is_read() {
    let mut rig = full(&[HOT, "background.read_hot_migration.threshold = 1"]);
    for page in 0..20 {
        rig.offer(Op::Read, page * SPP, 1, 0).unwrap();
        rig.finish();
    }
    let moved = rig.drive.stats().migration.hot;
    let ops = rig.drive.flash().counts.ops();
    assert!(moved > 5, "{moved} pages were moved");
    assert_eq!(ops[OpKind::Read as usize][Cause::Migration as usize], moved);
}

#[test]
fn a_written_page_leaves_its_reserved_block() {
    let mut rig = full(&[HOT, "background.read_hot_migration.threshold = 1"]);
    (0..40).for_each(|page| read(&mut rig, page, 3));
    let moved = (0..40).filter(|&page| class(&rig.drive, page) < 2).count();
    assert!(moved > 20, "{moved} pages were moved");
    for page in 0..40 {
        rig.write(page);
    }
    rig.finish();
    assert!((0..40).all(|page| class(&rig.drive, page) == 2));
}

#[test]
fn what_is_written_or_trimmed_is_counted_anew() {
    let moved = |between: &dyn Fn(&mut Rig, u64)| {
        let mut rig = full(&[HOT]);
        for page in 0..40 {
            for _ in 0..4 {
                read(&mut rig, page, 2);
                between(&mut rig, page);
                rig.finish();
            }
        }
        rig.drive.stats().migration.hot
    };
    assert!(moved(&|_, _| {}) > 20);
    let written = |rig: &mut Rig, page: u64| {
        rig.write(page);
    };
    assert_eq!(moved(&written), 0);
    let trimmed = |rig: &mut Rig, page: u64| {
        rig.offer(Op::Trim, page * SPP, SPP, 0).unwrap();
        rig.finish();
        rig.write(page);
    };
    assert_eq!(moved(&trimmed), 0);
}

#[test]
fn what_cannot_be_decoded_does_not_move() {
    let beyond = "physics = { levels = { capability = [0.001, 0.002], base = { gaussian = { mean = \
                  2e-3, sigma = 0.0 } }, wear = { reference_cycles = 100.0 } } }";
    let groups = "metadata.block_class = { measured = { boundaries = { shares = [0.5] }, read_hot_share = 0.5 } }";
    let sets = ["start = { fill = 0.5, pe_cycles = 200 }", beyond, groups, HOT];
    let mut rig = Rig::new(&[&[SHAPE], &sets[..]].concat());
    (0..40).for_each(|page| read(&mut rig, page, 4));
    let stats = rig.drive.stats();
    assert_eq!((stats.uncorrectable, stats.migration.hot, stats.migration.dropped), (160, 0, 0));
}

#[test]
fn where_a_group_is_full_a_block_that_is_not_read_makes_room() {
    let mut rig = full(&[HOT, "background.read_hot_migration.threshold = 1"]);
    let unread = 0..6;
    for round in 0..60 {
        // These pages are read again and again; the others change.
        for page in unread.clone() {
            read(&mut rig, page, 1);
        }
        for n in 0..10 {
            read(&mut rig, 10 + rng::hash(1, round, n) % 400, 2);
        }
    }
    let moves = rig.drive.stats().migration;
    assert!(moves.emptied > 10 && moves.cold > 10, "{moves:?}");
    let levels: Vec<u8> = unread.map(|page| level(&rig.drive, page)).collect();
    assert!(levels.iter().all(|&level| level < 5), "{levels:?}");
    assert_eq!(rig.drive.stats().gc.0, 0, "the collector has nothing to do with it");
}

#[test]
fn no_page_moves_with_one_group_or_without_migration() {
    for set in [
        "background.read_hot_migration = false",
        "metadata.block_class = { measured = { boundaries = { levels = [1] }, read_hot_share = 0.0 } }",
    ] {
        let mut rig = full(&[set]);
        (0..40).for_each(|page| read(&mut rig, page, 4));
        assert_eq!(rig.drive.stats().migration.hot, 0, "{set}");
    }
}

#[test]
fn a_counter_leaves_with_its_entry() {
    // A translation page has 64 entries; the controller holds two such pages.
    let maps = "ftl.map_cache = { entry = \"64B\", size = \"8KiB\" }";
    let moved = |between: &[u64]| {
        let mut rig = full(&[HOT, maps]);
        for _ in 0..6 {
            read(&mut rig, 0, 1);
            between.iter().for_each(|&page| read(&mut rig, page, 1));
        }
        rig.drive.stats().migration.hot
    };
    assert!(moved(&[]) > 0 && moved(&[70]) > 0);
    assert_eq!(moved(&[70, 140]), 0);
}

#[test]
fn reads_that_begin_at_the_measured_level_need_no_second_attempt() {
    let retries = |block_class: &str, read: &str| {
        let read = format!("read_start = \"{read}\"");
        let mut rig = Rig::new(&[SHAPE, LEVELS, block_class, "start.fill = 0.5", &read]);
        for page in 0..100 {
            rig.read(page);
        }
        rig.finish();
        rig.drive.flash().error_counts().0
    };
    assert_eq!(retries(GROUPS, "measured_level"), 0);
    assert!(retries(GROUPS, "lowest_level") > 100);
    // The factory sorts blocks by quality: a seventh in each class gives one level for each class.
    let classes =
        format!("metadata.block_class = {{ factory = {{ shares = {:?} }} }}", [1.0 / 7.0; 6]);
    let (known, climbs) = (retries(&classes, "measured_level"), retries(&classes, "lowest_level"));
    assert!(climbs > 100 && known < climbs / 10, "{known} of {climbs}");
}

#[test]
fn measured_level_is_refused_without_measured_blocks() {
    let refused = |sets: &[&str]| {
        let rig = Rig::seeded(&[&[SHAPE, "read_start = \"measured_level\""], sets].concat(), 1);
        rig.err().is_some_and(|line| line.starts_with("read_start: blocks that are measured"))
    };
    assert!(refused(&[]), "a drive that reads in one attempt");
    assert!(refused(&[LEVELS]));
    assert!(refused(&[LEVELS, "metadata.block_class = { factory = { shares = [0.2, 0.3] } }"]));
    assert!(!refused(&[LEVELS, GROUPS]));
}

#[test]
fn blocks_are_measured_anew_as_they_wear() {
    // A block of the mean rate needs level 1 when it is new, and level 5 after 20 cycles.
    let physics = "physics = { levels = { base = { gaussian = { mean = 4e-3, sigma = 5e-4 } }, \
                   wear = { exponent = 1.0, reference_cycles = 8.0 } } }";
    let attempts = |interval: u32| {
        let block_class =
            format!("metadata.block_class = {{ measured = {{ interval = {interval} }} }}");
        let more = "ftl.overprovisioning = 0.6\nread_start = \"measured_level\"";
        let mut rig = Rig::new(&[SHAPE, physics, &block_class, more]);
        for n in 0..12_000 {
            rig.wait_below(8).unwrap();
            let page = rng::hash(2, 3, n) % 300;
            rig.write(page);
            rig.read(page);
        }
        rig.finish();
        rig.drive.reset_stats();
        for page in 0..200 {
            rig.read(page);
        }
        rig.finish();
        let erases: u32 = rig.drive.ftl().blocks.usable_erases().sum();
        assert!(erases > 120 * 10, "120 blocks were erased {erases} times");
        rig.drive.flash().error_counts().0
    };
    let (never, often) = (attempts(1000), attempts(1));
    assert!(never > 300 && often < 100, "{never} and {often} attempts too many in 200 reads");
}

#[test]
fn with_all_known_beforehand_each_page_lies_where_its_heat_asks() {
    let known = "metadata.block_class = { factory = { shares = [0.2, 0.3] } }";
    let set = |by: &str| format!("placement = [{{ oracle_hotness = {{ by = \"{by}\" }} }}]");
    let lie = |by: &str| {
        let mut rig = Rig::new(&[SHAPE, LEVELS, known, &set(by), "start.used = 0.5"]);
        // Forty pages are read and forty written; the first forty are laid down before the run.
        let mut uses = PageUses { reads: vec![0; 600], writes: vec![0; 600] };
        uses.reads[..40].fill(9);
        uses.writes[40..80].fill(9);
        rig.drive.publish_uses(&uses);
        let mut prefill = rig.drive.prefill();
        for page in 0..40 {
            assert!(rig.drive.prefill_page(&mut prefill, page));
        }
        for page in 40..80 {
            rig.write(page);
        }
        rig.finish();
        let classes = |pages: std::ops::Range<u64>| {
            let mut found: Vec<u8> = pages.map(|page| class(&rig.drive, page)).collect();
            found.dedup();
            found
        };
        [classes(0..40), classes(40..80)]
    };
    assert_eq!(lie("reads"), [[0], [2]]);
    let [never_written, written] = lie("writes");
    assert_eq!(written, [0]);
    assert!(never_written.len() > 1, "they are spread: {never_written:?}");
}

#[test]
fn a_full_steady_drive_reserves_no_more_than_leaves_room_to_write() {
    // Few blocks are free, fewer than the number to set apart.
    let full = "start = { fill = 1, steady_state = true }";
    let mut rig = Rig::new(&[SHAPE, LEVELS, GROUPS, "ftl.overprovisioning = 0.4", full]);
    for plane in 0..rig.drive.resolved().geometry().plane_count() {
        let free = rig.drive.ftl().alloc.free_blocks(PlaneId(plane));
        assert!(free >= 2, "plane {plane} has {free} blocks for jobs and for the host");
    }
    for number in 0..300 {
        rig.write(rng::hash(9, number, 0) % 100);
        rig.finish();
    }
    assert!(rig.ops(OpKind::Erase, Cause::Gc) > 0);
}
