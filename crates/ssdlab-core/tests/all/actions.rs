//! The actions that policies may request, and the drive's response.

use ssdlab_base::{Nanos, SimTime};
use ssdlab_core::account::Cause;
use ssdlab_core::policy::allocation::BlockClass;
use ssdlab_core::policy::background::Job;
use ssdlab_core::policy::event::{Action, EventMask};
use ssdlab_core::{BlockState, StreamId, Writer};
use ssdlab_core::{Drive, Op};
use ssdlab_nand::{BlockId, Lpn, PlaneId};

use crate::support::Rig;

const SHAPE: &str = "geometry = { blocks = 96, pages = 16 }";
const ROOM: &str = "ftl.overprovisioning = 0.3";
const STREAMS: [&str; 3] = [SHAPE, ROOM, "placement = [\"sepbit\"]"];
/// A drive with groups of blocks, among which pages can move.
const PAGES_MOVE: [&str; 5] = [
    "geometry = { channels = 2, blocks = 60, pages = 8 }",
    "physics = { levels = { base = { shares = [1, 1, 1, 1, 1, 1, 1] } } }",
    "metadata.block_class = { measured = { read_hot_share = 0.3 } }",
    "background.read_hot_migration = true",
    "start.fill = 0.5",
];
const MS: u64 = 1_000_000;

/// Advances the drive to `ms`; returns the number of recorded events, such as those of timers.
fn until(rig: &mut Rig, ms: u64) -> usize {
    let mut done = Vec::new();
    rig.drive.advance(SimTime::from_ns(ms * MS), &mut done);
    rig.drive.take_events().len()
}

#[test]
fn a_timer_comes_due_once_and_the_last_that_was_set_counts() {
    let mut rig = Rig::new(&[]);
    for ms in [1, 3] {
        rig.drive.ask(Action::SetTimer { after: Nanos::from_ms(ms) });
    }
    assert_eq!([2, 3, 9].map(|ms| until(&mut rig, ms)), [0, 1, 0]);
    rig.drive.ask(Action::SetTimer { after: Nanos::from_ms(1) });
    assert_eq!([9, 10, 20].map(|ms| until(&mut rig, ms)), [0, 1, 0]);
    rig.drive.ask(Action::SetTimer { after: Nanos::ZERO });
    assert_eq!(until(&mut rig, 21), 1, "a timer without a span comes due, and time goes on");
}

#[test]
fn a_timer_is_set_in_the_time_of_the_cells() {
    let mut rig = Rig::new(&["flash.time_scale = 10"]);
    rig.drive.ask(Action::SetTimer { after: Nanos::from_ms(50) });
    assert_eq!([4, 5].map(|ms| until(&mut rig, ms)), [0, 1]);
}

#[test]
fn a_timer_set_as_a_request_arrives_counts_from_its_arrival() {
    for op in [Op::Write, Op::Read, Op::Trim] {
        let mut rig = Rig::new(&[]);
        let recorded = EventMask::REQUEST_ARRIVED.and(EventMask::TIMER);
        rig.drive
            .ask_at(EventMask::REQUEST_ARRIVED, Action::SetTimer { after: Nanos::from_us(10) });
        rig.drive.record_events(recorded);
        rig.until(MS).pages(op, 0, 1);
        assert_eq!(rig.drive.take_events().len(), 1, "{op:?} has arrived");
        // No unit has ended its operation by then, and a trim has none.
        rig.until(MS + 9_999);
        assert!(rig.drive.take_events().is_empty(), "{op:?}");
        rig.until(MS + 10_000);
        let events = rig.drive.take_events();
        assert!(events.len() == 1 && events[0].starts_with("Timer at 1010000 ns"), "{events:?}");
    }
}

#[test]
fn a_timer_set_as_a_block_is_opened_counts_from_its_opening() {
    let mut rig = Rig::new(&[]);
    let kinds = EventMask::BLOCK_OPENED.and(EventMask::TIMER);
    rig.drive.ask_at(EventMask::BLOCK_OPENED, Action::SetTimer { after: Nanos::from_us(1) });
    rig.drive.record_events(kinds);
    // The drive opens further blocks when a unit is free, at an event of its own.
    for page in 0..40 {
        rig.wait_below(4).expect("a drive that goes on");
        rig.write(page);
    }
    rig.finish();
    let events = rig.drive.take_events();
    let at = |event: &String| -> u64 {
        let (_, rest) = event.split_once(" at ").expect("a time");
        rest.split(' ').next().and_then(|ns| ns.parse().ok()).expect("nanoseconds")
    };
    let times = |name| events.iter().filter(move |event| event.starts_with(name)).map(at);
    let opened: Vec<u64> = times("BlockOpened").map(|opened| opened + 1_000).collect();
    assert!(opened.len() > 2 && times("Timer").collect::<Vec<_>>() == opened, "{events:?}");
}

#[test]
fn an_event_comes_with_the_time_of_the_run_and_of_the_cells() {
    let mut rig = Rig::new(&["flash.time_scale = 10"]);
    rig.drive.record_events(EventMask::TIMER.and(EventMask::REQUEST_ENDED));
    rig.write(0);
    let written = rig.finish().now();
    rig.drive.ask(Action::SetTimer { after: Nanos::from_ms(50) });
    rig.drive.advance(SimTime::from_ns(written + 9 * MS), &mut Vec::new());
    let times = [written, written + 5 * MS];
    let events = rig.drive.take_events();
    assert_eq!(events.len(), times.len());
    for (event, at) in events.iter().zip(times) {
        let expected = format!(" at {at} ns, {} ns for the cells", 10 * at);
        assert!(event.ends_with(&expected), "{event}: {expected}");
    }
}

/// Returns a full block and its number of valid pages.
fn full(rig: &mut Rig) -> (BlockId, u64) {
    let blocks = &rig.drive.ftl().blocks;
    let mut all = (0..rig.drive.resolved().geometry().block_count()).map(BlockId);
    let block = all.rfind(|&block| blocks.state(block) == BlockState::Closed);
    let block = block.expect("a full block");
    (block, blocks.valid(block).into())
}

#[test]
fn a_block_is_emptied_into_the_stream_that_the_job_names() {
    let mut rig = Rig::new(&STREAMS);
    for page in 0..200 {
        rig.wait_below(4).expect("a drive that goes on");
        rig.pages(Op::Write, page, 1);
    }
    rig.finish();
    for stream in [2, 5] {
        let moved = |rig: &Rig| rig.drive.streams().expect("several streams")[stream].moved_pages;
        let (block, valid) = full(&mut rig);
        let before = moved(&rig);
        let job = Job::new(block, Cause::Migration, Writer::Gc);
        let stream = Some(StreamId(stream as u8));
        rig.drive.ask(Action::Relocate(Job { stream, ..job }));
        rig.finish();
        assert_eq!(moved(&rig), before + valid, "{stream:?}");
        assert_eq!(rig.drive.ftl().blocks.state(block), BlockState::Free);
    }
}

#[test]
fn a_block_gets_its_new_class_and_rank_once_it_has_been_erased() {
    let mut rig = Rig::new(&[
        "physics = { levels = {} }",
        "metadata.block_class = { factory = { shares = [0.5] } }",
        "start.fill = 0.7",
    ]);
    let (block, _) = full(&mut rig);
    let class = |rig: &Rig| rig.drive.ftl().blocks.class(block);
    let was = class(&rig);
    let other = BlockClass(1 - was.0);
    rig.drive.ask(Action::SetClass { block, class: other });
    rig.drive.ask(Action::SetFreeRank { block, free_rank: 7 });
    rig.write(0);
    rig.finish();
    assert_eq!(class(&rig), was, "it holds data");
    rig.drive.ask(Action::Relocate(Job::new(block, Cause::Wl, Writer::Gc)));
    rig.finish();
    assert_eq!(rig.drive.ftl().blocks.state(block), BlockState::Free);
    assert_eq!(class(&rig), other);
    // This drive does not sort blocks into an order.
    assert_eq!(rig.drive.ftl().blocks.free_rank(block), 0);
    rig.drive.audit().expect("tables that agree");
}

#[test]
fn a_drive_opens_the_block_of_the_lowest_rank_that_policies_set() {
    let mut rig = Rig::new(&["ftl.free_block_policy = \"lowest_rank\"", "start.fill = 0.7"]);
    let (block, _) = full(&mut rig);
    let empty = |rig: &mut Rig, free_rank| {
        rig.drive.ask(Action::SetFreeRank { block, free_rank });
        rig.drive.ask(Action::Relocate(Job::new(block, Cause::Wl, Writer::Gc)));
        rig.finish();
        assert_eq!(rig.drive.ftl().blocks.free_rank(block), free_rank);
        assert_eq!(rig.drive.ftl().blocks.state(block), BlockState::Free);
    };
    empty(&mut rig, 5);
    rig.drive.ask(Action::SetFreeRank { block, free_rank: 7 });
    rig.write(1);
    rig.finish();
    assert_eq!(
        rig.drive.ftl().blocks.free_rank(block),
        7,
        "it is free, so the rank counts at once"
    );
    rig.drive.audit().expect("tables that agree");
    let media = rig.drive.clone().media().expect("a drive at rest");
    let resolved = rig.drive.resolved().clone();
    let continued = Drive::with_media(resolved.into(), media).expect("the same drive");
    assert_eq!(continued.ftl().blocks.free_rank(block), 7, "a state file carries the rank");
    let mut rigs = [rig.clone(), rig];
    rigs[1].drive = continued;
    for rig in &mut rigs {
        let others = rig.drive.ftl().alloc.free_blocks(PlaneId(0));
        assert!(others > 2, "{others} blocks are free, one of them with a rank");
        // The host may open all but the last. Each block that it fills outdates others.
        while rig.drive.ftl().alloc.free_blocks(PlaneId(0)) > 2 {
            rig.write(0);
            rig.finish();
        }
        assert_eq!(rig.drive.ftl().blocks.state(block), BlockState::Free, "the highest rank");
    }
}

#[test]
fn a_state_carries_timers_and_classes_that_wait_for_their_blocks() {
    let sets = [
        "physics = { levels = {} }",
        "metadata.block_class = { factory = { shares = [0.5] } }",
        "start.fill = 0.7",
        "flash.time_scale = 10",
    ];
    let mut rig = Rig::new(&sets);
    let (block, _) = full(&mut rig);
    let was = rig.drive.ftl().blocks.class(block);
    let other = BlockClass(1 - was.0);
    rig.drive.ask(Action::SetClass { block, class: other });
    rig.drive.ask(Action::SetTimer { after: Nanos::from_ms(50) });
    assert_eq!(until(&mut rig, 2), 0, "of five milliseconds three are left");
    let media = rig.drive.clone().media().expect("a drive at rest");
    let resolved = rig.drive.resolved().clone();
    rig.drive = Drive::with_media(resolved.into(), media).expect("the same drive");
    assert_eq!(rig.drive.ftl().blocks.class(block), was, "it holds data");
    rig.drive.ask(Action::Relocate(Job::new(block, Cause::Wl, Writer::Gc)));
    rig.drive.advance(SimTime::from_ns(3 * MS - 1), &mut Vec::new());
    assert_eq!(rig.drive.take_events().len(), 0);
    assert_eq!(until(&mut rig, 3), 1);
    rig.drive.advance(SimTime::from_ns(100 * MS), &mut Vec::new());
    assert_eq!(rig.drive.ftl().blocks.state(block), BlockState::Free);
    assert_eq!(rig.drive.ftl().blocks.class(block), other);
    rig.drive.audit().expect("tables that agree");
}

#[test]
fn the_owner_of_a_relocation_learns_that_it_was_dropped() {
    let mut rig = Rig::new(&[SHAPE, ROOM, "start.fill = 0.7"]);
    rig.drive.record_events(EventMask::NONE);
    let (block, _) = full(&mut rig);
    // The second job finds the block erased.
    for _ in 0..2 {
        rig.drive.ask(Action::Relocate(Job::new(block, Cause::Wl, Writer::Gc)));
    }
    assert!(rig.drive.take_events().is_empty(), "it waits for the first");
    rig.finish();
    let dropped = rig.drive.take_events();
    let [event] = &dropped[..] else { panic!("{dropped:?}") };
    assert!(event.starts_with(&format!("JobDropped(Job {{ block: {block:?}")), "{event}");
}

#[test]
fn the_owner_of_a_relocation_in_any_slot_learns_that_it_has_ended() {
    let mut rig = Rig::new(&[SHAPE, ROOM, "start = { fill = 0.9, invalid = 0.2 }"]);
    rig.drive.record_events(EventMask::JOB_ENDED);
    let (block, valid) = full(&mut rig);
    rig.drive.ask(Action::Relocate(Job::new(block, Cause::Refresh, Writer::Gc)));
    rig.finish();
    let [own] = &rig.drive.take_events()[..] else { panic!("one job") };
    assert!(own.contains(&format!("block: {block:?}")) && own.contains("own: true"), "{own}");
    assert!(own.contains(&format!("moved: {valid}")), "{own}");
    // Jobs of others are not its own.
    for page in 0..2000 {
        rig.wait_below(4).expect("a drive that goes on");
        rig.pages(Op::Write, page % 900, 1);
    }
    rig.finish();
    let others = rig.drive.take_events();
    assert!(!others.is_empty() && others.iter().all(|event| event.contains("own: false")));
}

fn move_to_best(lpn: Lpn) -> Action {
    Action::MigratePage { lpn, class: BlockClass(0), stream: None }
}

#[test]
fn a_page_that_the_host_has_not_read_moves_on_every_drive() {
    let factory = [PAGES_MOVE[1], "metadata.block_class = { factory = { shares = [0.5] } }"];
    for mut rig in [&PAGES_MOVE[..], &[], &factory, &STREAMS].map(Rig::new) {
        rig.write(0);
        rig.finish();
        let lies = |rig: &Rig| rig.drive.ftl().map.get(Lpn(0)).expect("a page that was written");
        let was = lies(&rig);
        let declared = rig.drive.migrates();
        rig.drive.ask(move_to_best(Lpn(0)));
        // A page that no table records stays in place.
        let lpn = Lpn(rig.drive.resolved().logical_pages - 1);
        assert_eq!(rig.drive.ftl().map.get(lpn), None);
        rig.drive.ask(move_to_best(lpn));
        rig.finish();
        assert_eq!(rig.drive.stats().migration.hot, 1);
        assert!(rig.drive.migrates());
        let mut later = rig.clone();
        later.drive.reset_stats();
        assert_eq!(later.drive.migrates(), declared, "nothing has moved since");
        assert_ne!(lies(&rig), was);
        let block = rig.drive.resolved().geometry().block_of(lies(&rig));
        assert_eq!(rig.drive.ftl().blocks.class(block), BlockClass(0));
        // The rig checks the data of the read.
        rig.read(0);
        rig.finish();
    }
}

#[test]
fn a_migration_that_the_drive_drops_is_reported() {
    let mut rig = Rig::new(&PAGES_MOVE);
    rig.drive.record_events(EventMask::MIGRATION_DROPPED.and(EventMask::PAGE_MIGRATED));
    rig.write(0);
    rig.finish();
    let unmapped = Lpn(rig.drive.resolved().logical_pages - 1);
    rig.drive.ask(move_to_best(unmapped));
    rig.finish();
    let events = rig.drive.take_events();
    assert!(events.len() == 1, "{events:?}");
    assert!(events[0].starts_with(&format!("MigrationDropped({unmapped:?})")), "{events:?}");
    // More pages than the best blocks have room for.
    let mapped = |lpn: &Lpn| rig.drive.ftl().map.get(*lpn).is_some();
    let all: Vec<Lpn> = (0..unmapped.0).map(Lpn).filter(mapped).collect();
    all.iter().for_each(|&lpn| rig.drive.ask(move_to_best(lpn)));
    rig.finish();
    let events = rig.drive.take_events();
    let named = |name: &str| events.iter().filter(|event| event.starts_with(name)).count();
    let (moved, dropped) = (named("PageMigrated"), named("MigrationDropped"));
    assert!(moved > 0 && dropped > 0 && moved + dropped == all.len(), "{moved}, {dropped}");
}

#[test]
fn a_page_that_migrates_goes_to_the_stream_of_the_action_or_of_the_placement() {
    for (stream, expected) in [(Some(StreamId(3)), 3..4), (None, 2..6)] {
        let mut rig = Rig::new(&STREAMS);
        rig.write(0);
        rig.finish();
        rig.drive.ask(Action::MigratePage { lpn: Lpn(0), class: BlockClass(0), stream });
        rig.finish();
        let streams = rig.drive.streams().expect("several streams");
        let moved = streams[expected].iter().map(|stream| stream.moved_pages).sum::<u64>();
        assert_eq!(moved, 1, "{streams:?}");
    }
}
