//! Streams: pages that are expected to be overwritten at about the same time share blocks.

use std::collections::BTreeSet;

use proptest::prelude::*;
use ssdlab_base::rng;
use ssdlab_core::{BlockState, StreamId, Writer};
use ssdlab_core::{Drive, Op, Resolved};
use ssdlab_nand::{BlockId, PageInBlock, PlaneId};

use crate::support::{Rig, SPP, config, play, step};

/// A plane of 96 blocks with room for the open blocks of six streams.
const ROOM: &str = "geometry = { blocks = 96, pages = 16 }\nftl.overprovisioning = 0.3";
const SEPBIT: &str = "placement = [\"sepbit\"]";
const NONE: &str = "placement = [{ sepbit = { host = false, gc = false } }]";
const STEADY: &str = "start = { fill = 1.0, steady_state = true }";

/// Overwrites pages; nine writes in ten go to the first tenth of the pages.
fn overwrite(rig: &mut Rig, writes: u64) {
    let pages = u64::from(rig.drive.resolved().logical_pages);
    for write in 0..writes {
        let [skew, page] = [0, 1].map(|draw| rng::hash(7, draw, write));
        let among = if skew % 10 > 0 { pages / 10 } else { pages };
        rig.pages(Op::Write, page % among, 1);
        rig.wait_below(8).expect("a drive that goes on");
    }
    rig.finish();
}

fn waf(sets: &[&str]) -> f64 {
    let mut rig = Rig::unwatched(sets, 1).expect("a valid drive");
    overwrite(&mut rig, 20_000);
    rig.drive.write_amplification().expect("writes")
}

#[test]
fn with_nothing_separated_the_drive_is_the_one_without_it() {
    let digest = |sets: &[&str]| {
        let mut rig = Rig::new(sets);
        overwrite(&mut rig, 4_000);
        assert!(rig.drive.streams().is_none());
        (rig.drive.stats().digest, rig.drive.write_amplification(), rig.now())
    };
    assert_eq!(digest(&[ROOM, NONE]), digest(&[ROOM]));
    assert_eq!(digest(&[ROOM, STEADY, NONE]), digest(&[ROOM, STEADY]));
}

#[test]
fn under_skewed_writes_less_is_moved() {
    let plain = waf(&[ROOM, STEADY]);
    let host = waf(&[ROOM, STEADY, "placement = [{ sepbit = { gc = false } }]"]);
    let both = waf(&[ROOM, STEADY, SEPBIT]);
    assert!(both < host && host < plain, "{both} < {host} < {plain}");
}

#[test]
fn every_page_is_counted_in_the_stream_that_took_it() {
    let mut rig = Rig::new(&[ROOM, STEADY, SEPBIT]);
    overwrite(&mut rig, 6_000);
    let streams = rig.drive.streams().expect("several streams");
    assert_eq!(streams.len(), 6);
    let host: u64 = streams.iter().map(|stream| stream.host_pages).sum();
    let moved: u64 = streams.iter().map(|stream| stream.moved_pages).sum();
    let collected: u64 = streams.iter().map(|stream| stream.blocks_collected).sum();
    assert_eq!(host, 6_000);
    assert_eq!(moved, rig.drive.stats().gc.1);
    // Blocks that were full at the start have no stream.
    assert!(0 < collected && collected < rig.drive.stats().gc.0, "{streams:?}");
    assert!(streams[..2].iter().all(|stream| stream.host_pages > 0), "{streams:?}");
    assert!(streams[2..].iter().any(|stream| stream.moved_pages > 0), "{streams:?}");
    rig.drive.reset_stats();
    let streams = rig.drive.streams().expect("several streams");
    assert!(streams.iter().all(|stream| *stream == Default::default()));
}

#[test]
fn a_state_tells_the_stream_of_each_block() {
    let mut before = Rig::new(&[ROOM, SEPBIT]);
    overwrite(&mut before, 6_000);
    let media = before.drive.clone().media().expect("an idle drive");
    let after = |sets: &[&str]| {
        let resolved = Resolved::new(&config(sets), 1).expect("a valid drive");
        let drive = Drive::with_media(resolved.into(), media.clone()).expect("the same shape");
        let mut rig = Rig { drive, done: Vec::new(), tag: 0 };
        overwrite(&mut rig, 3_000);
        let streams = rig.drive.streams().expect("several streams").iter();
        (streams.map(|stream| stream.blocks_collected).sum::<u64>(), rig.drive.stats().gc.0)
    };
    let (in_streams, in_all) = after(&[ROOM, SEPBIT]);
    assert_eq!(in_streams, in_all);
    // The fate of pages in other streams is unknown.
    let (in_streams, in_all) = after(&[ROOM, "placement = [{ sepbit = { gc = false } }]"]);
    assert!(in_streams < in_all, "{in_streams} of {in_all}");
}

#[test]
fn a_steady_drive_begins_with_a_block_open_for_each_stream() {
    let rig = Rig::new(&[ROOM, STEADY, SEPBIT]);
    let alloc = &rig.drive.ftl().alloc;
    let open = |writer| alloc.open_blocks(PlaneId(0), writer);
    let streams = |writer| open(writer).iter().map(|(stream, _)| *stream).collect::<BTreeSet<_>>();
    assert_eq!(streams(Writer::Host), BTreeSet::from([StreamId(0), StreamId(1)]));
    assert!(streams(Writer::Gc).len() > 1, "{:?}", streams(Writer::Gc));
    let blocks: Vec<BlockId> =
        [Writer::Host, Writer::Gc].into_iter().flat_map(open).map(|(_, block)| block).collect();
    assert!(blocks.iter().all(|&block| rig.drive.ftl().blocks.state(block) == BlockState::Open));
    assert_eq!(blocks.iter().collect::<BTreeSet<_>>().len(), blocks.len());
}

#[test]
fn drives_with_other_streams_do_not_begin_alike() {
    let resolved = |sets: &[&str]| Resolved::new(&config(sets), 1).expect("a valid drive");
    let begins_as = |one: &[&str], other: &[&str]| {
        resolved(one)
            .begins_as(&resolved(other), || unreachable!("their background policies are equal"))
    };
    assert!(begins_as(&[ROOM, STEADY, SEPBIT], &[ROOM, STEADY, SEPBIT]));
    assert!(begins_as(&[ROOM, STEADY, NONE], &[ROOM, STEADY]));
    assert!(!begins_as(&[ROOM, STEADY, SEPBIT], &[ROOM, STEADY]));
    let host = "placement = [{ sepbit = { gc = false } }]";
    assert!(!begins_as(&[ROOM, STEADY, SEPBIT], &[ROOM, STEADY, host]));
}

#[test]
fn streams_for_which_there_are_no_blocks_are_refused() {
    let refused = Rig::seeded(&["ftl.overprovisioning = 0.3", SEPBIT], 1).err().expect("no room");
    assert!(refused.starts_with("ftl.overprovisioning"), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_the_host_does_the_tables_agree(
        steps in prop::collection::vec(step(), 1..150),
        seed in 0..1000u64,
        shared in any::<bool>(),
        steady in any::<bool>(),
    ) {
        let gc = format!("ftl.gc_stream = \"{}\"", if shared { "shared" } else { "separate" });
        let start = if steady { STEADY } else { "start.fill = 0.9" };
        let mut rig = Rig::seeded(&[ROOM, SEPBIT, &gc, start], seed).expect("a valid drive");
        prop_assert_eq!(play(&mut rig, &steps, 8), Ok(()));
        prop_assert_eq!(rig.drive.audit(), Ok(()));
    }
}

const BY_QUEUE: &str = "placement = [\"by_queue\"]";

#[test]
fn by_queue_no_block_has_pages_of_two_queues() {
    // Collection keeps up, so that no stream has to share the open block of another.
    let room = "geometry = { blocks = 96, pages = 16 }\nftl.overprovisioning = 0.5";
    let sets = [room, "start.fill = 0.0", "host.queues = 3", "background.gc.threshold = 0.2"];
    let mut rig = Rig::of_thirds(&[&sets[..], &[BY_QUEUE]].concat());
    let third = u64::from(rig.drive.resolved().logical_pages) / 3;
    for write in 0..9_000 {
        let [queue, page] = [rng::hash(5, 0, write) % 3, rng::hash(5, 1, write) % third];
        rig.offer(Op::Write, (queue * third + page) * SPP, SPP, queue as u8).expect("a page");
        rig.finish();
    }
    assert!(rig.drive.stats().gc.0 > 100, "collection moves pages, too");
    let (ftl, geometry) = (rig.drive.ftl(), rig.drive.resolved().geometry());
    for block in (0..geometry.block_count()).map(BlockId) {
        let pages = (0..geometry.pages).map(|page| geometry.page(block, PageInBlock(page as u16)));
        let owners: BTreeSet<u64> = pages
            .filter_map(|ppn| ftl.map.valid(ppn))
            .map(|lpn| u64::from(lpn.0) / third)
            .collect();
        assert!(owners.len() <= 1, "{block:?} has pages of {owners:?}");
    }
}

#[test]
fn with_one_queue_by_queue_is_the_drive_without_it() {
    let digest = |sets: &[&str]| {
        let mut rig = Rig::new(sets);
        overwrite(&mut rig, 4_000);
        (rig.drive.stats().digest, rig.drive.write_amplification(), rig.now())
    };
    let one = "placement = [{ by_queue = { queues = 1 } }]";
    assert_eq!(digest(&[ROOM, STEADY, one]), digest(&[ROOM, STEADY]));
}

#[test]
fn a_page_that_is_put_on_the_flash_before_the_run_teaches_no_policy() {
    for sets in [&[ROOM, SEPBIT][..], &[ROOM, BY_QUEUE, "host.queues = 3"]] {
        let mut rig = Rig::new(sets);
        let before = rig.drive.policy_states();
        let mut prefill = rig.drive.prefill();
        assert!((0..300).all(|page| rig.drive.prefill_page(&mut prefill, page)));
        let after = rig.drive.policy_states();
        for ((place, before), (_, after)) in before.iter().zip(&after) {
            assert!(before == after, "{place}: {before} {after}");
        }
    }
}
