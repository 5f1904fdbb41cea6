//! The distance that a page moves, and the pages that make room for it. Source: PV-read.

use std::sync::Arc;

use ssdlab_base::rng;
use ssdlab_core::Pace;
use ssdlab_core::account::Part;
use ssdlab_core::{Drive, Op};
use ssdlab_nand::{BlockId, Lpn};

use crate::support::{READ, Rig, SPP};

/// Two chips of two planes; each level is needed by equally many blocks.
const SHAPE: &str = "geometry = { channels = 2, planes = 2, blocks = 60, pages = 8 }";
const LEVELS: &str = "physics = { levels = { base = { shares = [1, 1, 1, 1, 1, 1, 1] } } }";
const HOT: &str = "background.read_hot_migration.threshold = 1";
const PLANES: u64 = 4;
/// Number of pages that hold data.
const PAGES: u64 = 384;

/// Returns an idle drive half full of data.
fn full(scope: &str, sets: &[&str]) -> Rig {
    let block_class = format!(
        "metadata.block_class = {{ measured = {{ read_hot_share = 0.3, scope = \"{scope}\" }} }}"
    );
    let own = [SHAPE, LEVELS, HOT, "start.fill = 0.5", "ftl.overprovisioning = 0.6", &block_class];
    let mut rig = Rig::new(&[&own, sets].concat());
    rig.finish();
    rig
}

fn plane(drive: &Drive, page: u64) -> u64 {
    let ppn = drive.ftl().map.get(Lpn(page as u32)).expect("a page that was written");
    drive.resolved().geometry().plane_of_page(ppn).0.into()
}

/// Returns the plane of a page under static allocation: channels first, then planes.
fn home(page: u64) -> u64 {
    page % 2 * 2 + page / 2 % 2
}

fn read(rig: &mut Rig, page: u64) {
    rig.read(page);
    rig.finish();
}

/// Returns, for each plane, the pages on it that static allocation would place elsewhere.
fn foreign(drive: &Drive) -> Vec<u32> {
    let mut foreign = vec![0; PLANES as usize];
    for page in 0..u64::from(drive.resolved().logical_pages) {
        if drive.ftl().map.get(Lpn(page as u32)).is_some() && plane(drive, page) != home(page) {
            foreign[plane(drive, page) as usize] += 1;
        }
    }
    foreign
}

/// Returns, for each bitwise difference of plane numbers, how many of 200 pages moved by it.
fn moves_by_distance(scope: &str, allocation: &str) -> Vec<u32> {
    let mut rig = full(scope, &[allocation]);
    let mut moves_by_distance = vec![0; PLANES as usize];
    for page in 0..200 {
        let (from, moved) = (plane(&rig.drive, page), rig.drive.stats().migration.hot);
        read(&mut rig, page);
        if rig.drive.stats().migration.hot > moved {
            moves_by_distance[(from ^ plane(&rig.drive, page)) as usize] += 1;
        }
    }
    moves_by_distance
}

#[test]
fn a_page_moves_to_the_planes_of_its_scope_round_robin() {
    const DYNAMIC: &str = "ftl.allocation = \"dynamic\"";
    for allocation in [DYNAMIC, "ftl.allocation = \"static\""] {
        let moves_by_distance =
            |scope| <[u32; 4]>::try_from(moves_by_distance(scope, allocation)).unwrap();
        let [own, others @ ..] = moves_by_distance("plane");
        assert!(own > 50 && others == [0; 3], "{own} and {others:?}");
        let [own, other, beyond @ ..] = moves_by_distance("chip");
        assert!(own > 20 && other > 20 && beyond == [0; 2], "{own}, {other} and {beyond:?}");
        assert!(moves_by_distance("drive").iter().all(|&pages| pages > 10));
    }
    // While each plane has room, pages of one plane move equally often to each plane of its chip.
    let mut rig = full("chip", &[DYNAMIC]);
    let mut gone = [0u32; 2];
    for page in (0..48).filter(|&page| home(page) == 2) {
        let moved = rig.drive.stats().migration.hot;
        read(&mut rig, page);
        if rig.drive.stats().migration.hot > moved {
            gone[plane(&rig.drive, page) as usize - 2] += 1;
        }
    }
    assert!(gone[0] > 4 && gone[0].abs_diff(gone[1]) <= 1, "{gone:?}");
}

#[test]
fn of_a_page_that_was_read_in_part_the_rest_is_read_where_it_lies() {
    let mut rig = full("drive", &[]);
    for page in 0..40 {
        rig.offer(Op::Read, page * SPP, 1, 0).unwrap();
        rig.finish();
    }
    let away = (0..40).filter(|&page| plane(&rig.drive, page) != home(page)).count();
    assert!(away > 15, "{away} pages have changed their planes");
}

/// Returns a page that is about to move to the other plane of its chip, on a drive with reads in
/// progress.
fn about_to_move() -> (Rig, u64) {
    let mut rig = full("chip", &[]);
    for page in (0..200).filter(|&page| home(page) == 0) {
        let mut ahead = rig.clone();
        read(&mut ahead, page);
        if plane(&ahead.drive, page) != plane(&rig.drive, page) {
            return (rig, page);
        }
        read(&mut rig, page);
    }
    panic!("no page moves to the other plane");
}

/// Submits `reads` reads of other pages of the first plane.
fn keep_busy(rig: &mut Rig, reads: usize) {
    let still = |page: &u64| plane(&rig.drive, *page) == 0;
    let pages: Vec<u64> = (200..PAGES).filter(still).take(reads).collect();
    assert_eq!(pages.len(), reads);
    for page in pages {
        rig.read(page);
    }
}

/// Advances the drive until `holds` returns true.
fn go_on_until(rig: &mut Rig, holds: impl Fn(&Rig) -> bool) {
    while !holds(rig) {
        let next = rig.drive.next_event().expect("something under way");
        rig.drive.advance_once(next, &mut rig.done);
    }
}

#[test]
fn what_waits_for_a_page_follows_it_to_its_new_plane() {
    let (mut rig, page) = about_to_move();
    rig.drive.keep_log();
    let first = rig.read(page);
    keep_busy(&mut rig, 20);
    let late = rig.read(page);
    go_on_until(&mut rig, |rig| plane(&rig.drive, page) == 1);
    // It was programmed meanwhile, on the other plane.
    assert!(rig.end_of(first).is_some() && rig.end_of(late).is_none());
    rig.finish();
    assert!(rig.end_of(late).is_some());
    let mut rows = Vec::new();
    rig.drive.take_log(&mut rows);
    let row = rows.iter().find(|row| row.request.tag == late).unwrap();
    // It waited for the reads before it, and the blame reports that wait.
    let waits = row.blame[Part::DieHost as usize];
    assert!(waits > 20 * READ && row.blame[Part::Sense as usize] < waits, "{:?}", row.blame);
}

#[test]
fn a_write_in_part_reads_a_page_where_it_has_gone_and_brings_it_home() {
    let (mut rig, page) = about_to_move();
    let first = rig.read(page);
    keep_busy(&mut rig, 20);
    go_on_until(&mut rig, |rig| rig.end_of(first).is_some());
    // The move has begun; the write waits for its read where the page still lies.
    let write = rig.offer(Op::Write, page * SPP, 1, 0).unwrap();
    go_on_until(&mut rig, |rig| plane(&rig.drive, page) == 1);
    assert_eq!(rig.end_of(write), None);
    rig.finish();
    assert!(rig.end_of(write).is_some());
    assert_eq!(plane(&rig.drive, page), 0);
}

#[test]
fn a_written_page_returns_home_also_after_a_start_from_saved_contents() {
    let mut rig = full("drive", &[]);
    (0..200).for_each(|page| read(&mut rig, page));
    let away = foreign(&rig.drive);
    assert!(away.iter().all(|&pages| pages > 5), "{away:?}");
    let media = rig.drive.clone().media().expect("a drive at rest");
    let resolved = Arc::new(rig.drive.resolved().clone());
    let mut drive = Drive::with_media(resolved, media).expect("a drive of the same shape");
    assert!(drive.start_audit(Pace::Every(1)));
    let mut again = Rig { drive, done: Vec::new(), tag: 0 };
    for rig in [&mut rig, &mut again] {
        for page in 0..100 {
            rig.write(page);
        }
        rig.pages(Op::Trim, 100, 100);
        rig.finish();
        assert_eq!(foreign(&rig.drive), [0; 4]);
    }
}

#[test]
fn a_plane_takes_no_more_pages_of_others_than_leave_room_for_its_own() {
    // Slightly more than the least over-provisioning with which blocks can be set apart.
    let tight = ["ftl.overprovisioning = 0.2", "start.fill = 1.0", "start.invalid = 0.02"];
    let mut rig = full("drive", &tight);
    rig.drive.start_audit(Pace::Every(64));
    let most = rig.drive.resolved().max_foreign_pages;
    let pages = u64::from(rig.drive.resolved().logical_pages);
    let mut reached = 0;
    for n in 0..30_000 {
        rig.wait_below(8).unwrap();
        let draw = rng::hash(5, 7, n);
        match n % 4 {
            0 => rig.write(draw % pages),
            _ => rig.read(draw % (pages / 8)),
        };
        if n % 500 == 0 {
            let found = foreign(&rig.drive);
            assert!(found.iter().all(|&pages| pages <= most), "{found:?}, {most} at most");
            reached += u32::from(found.contains(&most));
        }
    }
    rig.finish();
    assert!(most > 0 && reached > 20, "{reached} times at {most}");
    assert!(rig.drive.stats().migration.emptied > 100);
}

/// Returns the erases of each plane.
fn erases(drive: &Drive) -> Vec<u32> {
    let table = &drive.ftl().blocks;
    let of = |plane: u32| (plane * 60..(plane + 1) * 60).map(|block| table.erases(BlockId(block)));
    (0..PLANES as u32).map(|plane| of(plane).sum()).collect()
}

#[test]
fn the_hand_of_clock_goes_from_plane_to_plane() {
    let emptied = |scope| {
        let mut rig = full(scope, &["ftl.allocation = \"dynamic\""]);
        let mut taken = Vec::new();
        let first = (0..PAGES).filter(|&page| plane(&rig.drive, page) == 0).collect::<Vec<_>>();
        for n in 0..2000 {
            let before = erases(&rig.drive);
            read(&mut rig, first[rng::hash(3, 1, n) as usize % first.len()]);
            let after = erases(&rig.drive);
            taken.extend((0..4).filter(|&plane| after[plane] > before[plane]));
        }
        assert_eq!(taken.len() as u64, rig.drive.stats().migration.emptied);
        let of = |plane| taken.iter().filter(|&&other| other == plane).count() as u32;
        [0, 1, 2, 3].map(of)
    };
    let [own, others @ ..] = emptied("plane");
    assert!(own > 20 && others == [0; 3], "{own} and {others:?}");
    // In turn, for each of two groups.
    let [own, other, beyond @ ..] = emptied("chip");
    assert!(own > 20 && own.abs_diff(other) <= 4 && beyond == [0; 2], "{own}, {other}, {beyond:?}");
    let all = emptied("drive");
    assert!(all.iter().all(|&blocks| blocks > 5 && blocks.abs_diff(all[0]) <= 4), "{all:?}");
}
