//! The costs of a page map that the controller holds in part, for reads, writes and collection.

use ssdlab_core::Op;
use ssdlab_core::account::{Cause, OpKind, Part};

use crate::support::{BUS, PROGRAM, READ, Rig, Step, play};

/// Four entries in a translation page, and room for two such pages.
const TWO: &str = "ftl.map_cache = { entry = \"1KiB\", size = \"8KiB\" }";
/// Enough blocks, and a channel for each of four planes.
const SHAPE: &str = "geometry = { channels = 4, blocks = 32 }";

fn mapping(rig: &Rig, kind: OpKind) -> u64 {
    rig.drive.flash().counts.ops()[kind as usize][Cause::Mapping as usize]
}

/// Returns the time of a request alone.
fn alone(rig: &mut Rig, offer: impl Fn(&mut Rig) -> u64) -> u64 {
    let began = rig.now();
    let tag = offer(rig);
    rig.finish();
    rig.end_of(tag).unwrap() - began
}

#[test]
fn an_entry_that_is_not_held_costs_a_read_of_its_page_first() {
    let mut rig = Rig::new(&[SHAPE, TWO, "start.unwritten_reads = \"lazy\""]);
    let read = |page| move |rig: &mut Rig| rig.read(page);
    assert_eq!(alone(&mut rig, read(0)), 2 * (READ + BUS));
    // The entries of the neighboring pages came with it.
    for page in [1, 2, 3, 0] {
        assert_eq!(alone(&mut rig, read(page)), READ + BUS, "page {page}");
    }
    assert_eq!(alone(&mut rig, read(4)), 2 * (READ + BUS));
    assert_eq!(alone(&mut rig, read(3)), READ + BUS, "two are held");
    assert_eq!(alone(&mut rig, read(8)), 2 * (READ + BUS));
    assert_eq!(alone(&mut rig, read(4)), 2 * (READ + BUS), "the one used least recently has left");
    assert_eq!((mapping(&rig, OpKind::Read), mapping(&rig, OpKind::Program)), (4, 0));
    let found = rig.drive.stats().map;
    assert_eq!((found.hits, found.misses, found.written_back), (5, 4, 0));
    let waits = rig.drive.stats().latencies[0][Op::Read as usize].blame_ns[Part::Map as usize];
    assert_eq!(waits, u128::from(4 * (READ + BUS)));
}

#[test]
fn requests_share_the_read_of_a_translation_page() {
    let mut rig = Rig::new(&[SHAPE, TWO, "start.unwritten_reads = \"lazy\""]);
    let tags: Vec<u64> = (0..4).map(|page| rig.read(page)).collect();
    rig.finish();
    assert_eq!(mapping(&rig, OpKind::Read), 1);
    // Four planes and channels: all four proceed in parallel.
    assert!(tags.iter().all(|&tag| rig.end_of(tag) == Some(2 * (READ + BUS))));
}

#[test]
fn a_changed_page_of_the_map_is_written_when_it_leaves_and_read_where_it_went() {
    let mut rig = Rig::new(&[SHAPE, TWO]);
    let write = |page| move |rig: &mut Rig| rig.write(page);
    assert_eq!(alone(&mut rig, write(0)), READ + BUS + BUS + PROGRAM);
    assert_eq!(alone(&mut rig, write(1)), BUS + PROGRAM);
    alone(&mut rig, write(4));
    assert_eq!(mapping(&rig, OpKind::Program), 0);
    alone(&mut rig, write(8));
    let found = rig.drive.stats().map;
    assert_eq!((mapping(&rig, OpKind::Program), found.written_back), (1, 1));
    assert_eq!(rig.drive.ftl().map.mapped(), 4 + 1, "a page of the map has a page of its own");
    // A read of the written page finds its entry in the translation page that was written back.
    assert!(alone(&mut rig, |rig| rig.read(0)) >= 2 * (READ + BUS));
}

#[test]
fn with_all_entries_held_only_the_first_use_of_each_page_of_the_map_differs() {
    let steps = |count: u64| -> Vec<Step> {
        let draw = |n, purpose| ssdlab_base::rng::hash(5, purpose, n);
        let step = |n| {
            let op = if draw(n, 1) % 2 == 0 { Op::Read } else { Op::Write };
            let place = draw(n, 2) % (1 << 12);
            Step { gap: 900_000, op, place, sectors: 8, whole: true, queue: 0 }
        };
        (0..count).map(step).collect()
    };
    let of = |cache: &str| {
        let mut rig = Rig::new(&[SHAPE, "start.unwritten_reads = \"lazy\"", cache]);
        play(&mut rig, &steps(600), 1).unwrap();
        rig
    };
    let (held, plain) = (of("ftl.map_cache.share = 1.0"), of("ftl.map_cache = false"));
    let found = held.drive.stats().map;
    assert!(
        found.misses <= 1 && found.written_back == 0 && found.changed_on_flash == 0,
        "{found:?}"
    );
    let differ =
        held.done.iter().zip(&plain.done).filter(|(a, b)| a.end - a.arrival != b.end - b.arrival);
    assert!(differ.count() <= 2);
}

#[test]
fn collection_changes_entries_that_are_not_held_where_they_lie() {
    let steps: Vec<Step> = (0..3000)
        .map(|n| {
            let place = ssdlab_base::rng::hash(9, 1, n) % (1 << 12);
            Step { gap: 100_000, op: Op::Write, place, sectors: 8, whole: true, queue: 0 }
        })
        .collect();
    let of = |cache: &str| {
        let mut rig = Rig::new(&[SHAPE, "start.fill = 0.9\nftl.overprovisioning = 0.4", cache]);
        play(&mut rig, &steps, 8).unwrap();
        rig
    };
    let (some, all) = (of(TWO), of("ftl.map_cache.share = 1.0"));
    let (few, many) = (all.drive.stats().map, some.drive.stats().map);
    assert!(many.changed_on_flash > 100 && few.changed_on_flash == 0, "{many:?} {few:?}");
    assert_eq!(mapping(&some, OpKind::Program), many.written_back + many.changed_on_flash);
    // Each of them is read first, as is each translation page that a request loads.
    assert!(mapping(&some, OpKind::Read) > many.changed_on_flash);
    assert!(some.drive.write_amplification() > all.drive.write_amplification());
}

/// Number of random runs. One alone rarely shows a drive that never rests.
const SEEDS: u64 = 1000;

/// Moves change the map, whose pages are then written and outdated. This must not wake collection.
#[test]
fn an_idle_drive_stops_collecting_though_moves_change_its_map() {
    let sets = [
        "geometry = { chips = 2, blocks = 24, pages = 6 }",
        "ftl = { page_order = \"relaxed\", overprovisioning = 0.41667 }",
        "ftl.map_cache = { entry = \"256B\", size = \"4KiB\" }",
        "host.same_page = \"superseding\"",
        "background.gc = { victim = \"random\", threshold = 0.3, unit = \"pages\" }",
        "background.gc.mode = \"foreground\"",
        "start.fill = 0.9",
    ];
    for seed in 0..SEEDS {
        let mut rig = Rig::unwatched(&sets, seed).unwrap();
        for nth in 0..150 {
            let drawn = |what, below| ssdlab_base::rng::hash(seed, what, nth) % below;
            let op = if drawn(0, 3) == 0 { Op::Read } else { Op::Write };
            rig.wait_below(8).unwrap();
            rig.pages(op, drawn(1, 60), 1 + drawn(2, 4));
            rig.until(rig.now() + drawn(3, 300_000));
        }
        rig.try_finish().unwrap_or_else(|what| panic!("{seed}: {what}"));
    }
}
