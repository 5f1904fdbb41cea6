//! The events that policies receive for the host's requests, and their order.

use ssdlab_core::account::Cause;
use ssdlab_core::policy::background::Job;
use ssdlab_core::policy::event::{Action, EventMask};
use ssdlab_core::{BlockState, Op, Writer};
use ssdlab_nand::{BlockId, PageInBlock};

use crate::support::{Rig, SPP};

/// Returns the names of the events of these kinds while a drive works.
fn events(sets: &[&str], kinds: &[EventMask], act: impl FnOnce(&mut Rig)) -> Vec<String> {
    let mut rig = Rig::new(sets);
    let kinds = kinds.iter().fold(EventMask::NONE, |all, kind| all.and(*kind));
    rig.drive.record_events(kinds);
    act(&mut rig);
    rig.finish();
    let name = |event: String| event.split([' ', '(']).next().unwrap().to_string();
    rig.drive.take_events().into_iter().map(name).collect()
}

const REQUESTS: [EventMask; 2] = [EventMask::REQUEST_ARRIVED, EventMask::REQUEST_ENDED];

#[test]
fn a_request_is_an_event_as_it_arrives_and_as_it_ends() {
    let events = events(&[], &REQUESTS, |rig| {
        rig.write(0);
        rig.write(1);
    });
    assert_eq!(events, ["RequestArrived", "RequestArrived", "RequestEnded", "RequestEnded"]);
    let mut rig = Rig::new(&[]);
    rig.drive.record_events(REQUESTS[0].and(REQUESTS[1]));
    let tag = rig.write(3);
    let end = rig.finish().now();
    let events = rig.drive.take_events();
    for event in &events {
        assert!(event.contains(&format!("tag: {tag}, op: Write, first: Lpn(3)")), "{events:?}");
    }
    assert!(events[1].contains(&format!("latency: Nanos({end})")), "{events:?}");
    assert!(rig.drive.take_events().is_empty(), "they were taken");
}

#[test]
fn a_page_is_programmed_then_read_then_outdated_then_trimmed() {
    let kinds = [
        EventMask::PAGE_PROGRAMMED,
        EventMask::PAGE_READ,
        EventMask::PAGE_INVALIDATED,
        EventMask::PAGE_TRIMMED,
    ];
    let events = events(&[], &kinds, |rig| {
        for op in [Op::Write, Op::Read, Op::Write, Op::Trim] {
            rig.offer(op, 0, SPP, 0).unwrap();
            rig.finish();
        }
    });
    let (programmed, invalid) = ("PageProgrammed", "PageInvalidated");
    let overwritten = [programmed, "PageRead", programmed, invalid];
    assert_eq!(events, [&overwritten[..], &["PageTrimmed", invalid]].concat());
}

#[test]
fn a_block_is_opened_closed_collected_erased_and_freed() {
    let kinds = [
        EventMask::BLOCK_OPENED,
        EventMask::BLOCK_CLOSED,
        EventMask::BLOCK_COLLECTED,
        EventMask::BLOCK_ERASED,
        EventMask::BLOCK_FREED,
    ];
    let events = events(&[], &kinds, |rig| {
        for round in 0..40 {
            (0..8).for_each(|page| {
                rig.write(page);
            });
            rig.finish();
            if round == 0 {
                // The pages of a block, and no others.
                let events = rig.drive.take_events();
                assert_eq!(events.len(), 2, "{events:?}");
                assert!(
                    events[0].starts_with("BlockOpened") && events[1].starts_with("BlockClosed")
                );
            }
        }
    });
    let count = |name: &str| events.iter().filter(|events| *events == name).count();
    assert!(count("BlockErased") > 10);
    assert_eq!(count("BlockErased"), count("BlockFreed"));
    assert_eq!(count("BlockErased"), count("BlockCollected"));
    let first = |name: &str| events.iter().position(|events| events == name).unwrap();
    assert!(first("BlockCollected") < first("BlockErased"));
    assert!(first("BlockErased") < first("BlockFreed"));
}

#[test]
fn a_read_that_starts_at_a_higher_level_reports_only_its_failed_attempts() {
    let mut rig = Rig::new(&[
        "physics = { levels = { base = { shares = [0, 0, 0, 1, 0, 0, 0] } } }",
        "read_start = \"last_level\"",
    ]);
    rig.write(0);
    rig.finish();
    rig.drive.record_events(EventMask::PAGE_READ);
    let mut read = |page| {
        rig.read(page);
        rig.finish();
        let events = rig.drive.take_events();
        let number = |name: &str| -> Option<u8> {
            let (_, rest) = events[0].split_once(name)?;
            rest.split([',', ')']).next()?.parse().ok()
        };
        (number("level: Level(").expect("a level"), number("failed: ").expect("a number"))
    };
    let (level, failed) = read(0);
    assert!(level > 0 && failed == level, "{failed} attempts failed, level {level}");
    assert_eq!(read(0), (level, 0), "the second read starts where the first decoded");
}

#[test]
fn what_is_collected_moves() {
    let kinds = [EventMask::PAGE_MIGRATED, EventMask::BLOCK_CLOSED];
    let mut rig = Rig::new(&[]);
    let pages = u64::from(rig.drive.resolved().logical_pages);
    (0..pages).for_each(|page| {
        rig.write(page);
        rig.finish();
    });
    rig.drive.record_events(kinds[0].and(kinds[1]));
    for n in 0..200 {
        rig.write(ssdlab_base::rng::hash(1, 2, n) % pages);
        rig.finish();
    }
    let moved = rig.drive.stats().gc.1 as usize;
    let events = rig.drive.take_events();
    let migrated: Vec<_> = events.iter().filter(|events| events.contains("PageMigrated")).collect();
    assert!(moved > 20 && migrated.len() == moved, "{moved} moved, {} events", migrated.len());
    assert!(
        migrated
            .iter()
            .all(|events| events.contains("cause: Gc") && events.contains("alone: false"))
    );
}

/// Returns the number after `name` in the text of an event.
fn number(event: &str, name: &str) -> usize {
    let rest = event.split_once(name).expect(name).1;
    rest.split(')').next().and_then(|digits| digits.parse().ok()).expect("a number")
}

/// Has a full block emptied, and writes its pages at the same time.
fn empty_while_written(rig: &mut Rig) {
    let (geometry, ftl) = (rig.drive.resolved().geometry().clone(), rig.drive.ftl());
    let mut blocks = (0..geometry.block_count()).map(BlockId);
    let is_full = |&block: &BlockId| ftl.blocks.state(block) == BlockState::Closed;
    let Some(block) = blocks.find(is_full) else { return };
    let pages = (0..geometry.pages as u16).map(|page| geometry.page(block, PageInBlock(page)));
    let pages: Vec<_> = pages.filter_map(|page| ftl.map.valid(page)).collect();
    rig.drive.ask(Action::Relocate(Job::new(block, Cause::Wl, Writer::Gc)));
    pages.iter().for_each(|lpn| {
        rig.write(lpn.0.into());
    });
}

#[test]
fn a_policy_that_counts_valid_pages_by_events_agrees_with_the_drive() {
    const COUNTED: [EventMask; 5] = [
        EventMask::PAGE_PROGRAMMED,
        EventMask::PAGE_INVALIDATED,
        EventMask::PAGE_MIGRATED,
        EventMask::PROGRAM_OUTDATED,
        EventMask::BLOCK_ERASED,
    ];
    for superseding in [false, true] {
        let same_page = if superseding { "superseding" } else { "ordered" };
        let mut rig = Rig::new(&[
            "geometry = { channels = 2, blocks = 24, pages = 8 }",
            "ftl = { overprovisioning = 0.4, allocation = \"dynamic\" }",
            &format!("host.same_page = {same_page:?}"),
        ]);
        rig.drive.record_events(COUNTED.into_iter().fold(EventMask::NONE, EventMask::and));
        let pages = u64::from(rig.drive.resolved().logical_pages);
        for n in 0..10 * pages {
            rig.wait_below(16).expect("a drive that goes on");
            let page = ssdlab_base::rng::hash(3, 4, n) % pages;
            rig.pages(if n % 9 == 0 { Op::Trim } else { Op::Write }, page, 1);
            if n % 40 == 0 {
                rig.finish();
                empty_while_written(&mut rig);
            }
        }
        rig.finish();
        let mut valid = vec![0; rig.drive.ftl().blocks.len()];
        let (mut copies, mut of_host) = (0, 0);
        for event in rig.drive.take_events() {
            match event.split([' ', '(']).next().unwrap() {
                "PageProgrammed" => valid[number(&event, "block: BlockId(")] += 1,
                "PageMigrated" => valid[number(&event, "from: BlockId(")] -= 1,
                "BlockErased" => assert_eq!(valid[number(&event, "BlockId(")], 0, "{event}"),
                name => {
                    valid[number(&event, "block: BlockId(")] -= 1;
                    copies += u64::from(name == "ProgramOutdated");
                    of_host += u64::from(name == "PageInvalidated");
                }
            }
        }
        assert!(copies > 5 && of_host > pages, "{copies} outdated, {of_host} overwritten");
        let blocks = (0..).map(BlockId).zip(valid);
        blocks.for_each(|(block, valid)| {
            assert_eq!(u16::try_from(valid), Ok(rig.drive.ftl().blocks.valid(block)), "{block:?}");
        });
    }
}

#[test]
fn a_page_comes_into_the_buffer_and_leaves_it_with_its_uses() {
    let buffer = ["buffer = { size = \"8KiB\", latency = \"1us\" }"];
    let kinds = [EventMask::BUFFER_SLOTS, EventMask::PAGE_EVICTED];
    // Room for two pages: the third one evicts the first.
    let events = events(&buffer, &kinds, |rig| {
        for page in [0, 0, 1, 2] {
            rig.write(page);
            rig.finish();
        }
        for (op, sectors) in [(Op::Flush, 0), (Op::Trim, SPP)] {
            rig.offer(op, SPP * u64::from(op == Op::Trim), sectors, 0).unwrap();
            rig.finish();
        }
    });
    let (comes, hit, gone, leaves) = ("PageBuffered", "BufferHit", "PageUnbuffered", "PageEvicted");
    let flushed_and_trimmed = [leaves, leaves, "BufferFlushed", gone];
    assert_eq!(events[..6], [comes, hit, comes, gone, leaves, comes]);
    assert_eq!(events[6..], flushed_and_trimmed);
    let mut rig = Rig::new(&buffer);
    rig.drive.record_events(EventMask::PAGE_EVICTED);
    for page in [0, 0, 1, 2] {
        rig.write(page);
        rig.finish();
    }
    let left = rig.drive.take_events();
    assert!(left[0].contains("lpn: Lpn(0)") && left[0].contains("writes: 2"), "{left:?}");
}

#[test]
fn entries_of_a_map_that_is_held_in_part_are_events_as_they_come() {
    let held = ["geometry.blocks = 64", "ftl.map_cache = { size = \"4KiB\" }"];
    let events = events(&held, &[EventMask::ENTRIES_LOADED], |rig| {
        rig.write(0);
    });
    assert_eq!(events, ["EntriesLoaded"]);
}

#[test]
fn recording_is_off_by_default_and_changes_no_result() {
    let run = |kinds: EventMask| {
        let mut rig = Rig::new(&[]);
        rig.drive.record_events(kinds);
        (0..300).for_each(|n| {
            rig.write(ssdlab_base::rng::hash(3, 1, n) % 40);
            rig.finish();
        });
        (rig.drive.stats().digest, rig.drive.take_events().len())
    };
    let all = EventMask::all().fold(EventMask::NONE, EventMask::and);
    let ((none, silent), (every, events)) = (run(EventMask::NONE), run(all));
    assert_eq!((none, silent), (every, 0));
    assert!(events > 1000, "{events}");
}

#[test]
fn a_page_that_the_host_writes_gets_a_place() {
    let window = ["scheduler = { fifo = { head_of_line = true } }"];
    let found = events(&window, &[EventMask::PAGE_ALLOCATED], |rig| {
        rig.write(0);
        rig.write(1);
    });
    assert_eq!(found, ["PageAllocated"; 2]);
    let plain = events(&[], &[EventMask::PAGE_ALLOCATED], |rig| {
        rig.write(0);
    });
    assert_eq!(plain, ["PageAllocated"]);
}

#[test]
fn a_plane_is_low_on_space_once_its_blocks_run_short() {
    let overwrites = |rounds: u64| {
        events(&["start.fill = 0.9"], &[EventMask::LOW_SPACE, EventMask::BLOCK_OPENED], |rig| {
            let pages = u64::from(rig.drive.resolved().logical_pages);
            for page in (0..rounds).flat_map(|_| 0..pages) {
                rig.wait_below(4).expect("a drive that goes on");
                rig.pages(Op::Write, page, 1);
            }
        })
    };
    let low = |events: &[String]| events.iter().filter(|name| *name == "LowSpace").count();
    let events = overwrites(2);
    assert!(low(&events) > 0, "{events:?}");
    let first = events.iter().position(|name| name == "LowSpace").expect("one");
    assert_eq!(events[first - 1], "BlockOpened", "a block was opened before");
    assert_eq!(low(&overwrites(0)), 0, "nothing is written");
}

#[test]
fn errors_and_ages_of_reads_are_computed_only_for_subscribers() {
    const ERRORS: [&str; 1] =
        ["physics = { levels = { base = { shares = [1, 1, 1, 1, 1, 1, 1] } } }"];
    let read = |kinds: EventMask, nothing: &str| {
        let mut rig = Rig::new(&ERRORS);
        rig.drive.record_events(kinds);
        for page in 0..20 {
            rig.write(page);
            rig.finish();
            rig.read(page);
            rig.finish();
        }
        let events = rig.drive.take_events();
        assert_eq!(events.len(), 20);
        events.iter().filter(|event| event.contains(nothing)).count()
    };
    for (asks, nothing) in
        [(EventMask::READ_ERRORS, "errors: 0,"), (EventMask::READ_AGES, "age: Nanos(0)")]
    {
        assert_eq!(read(EventMask::PAGE_READ, nothing), 20);
        assert!(read(EventMask::PAGE_READ.and(asks), nothing) < 20);
    }
}

#[test]
fn a_policy_does_not_see_how_a_freed_block_reads() {
    let mut rig = Rig::new(&["start.fill = 0.9", "physics = { levels = {} }"]);
    rig.drive.record_events(EventMask::BLOCK_FREED);
    for page in 0..400 {
        rig.wait_below(4).expect("a drive that goes on");
        rig.pages(Op::Write, page % 8, 1);
    }
    rig.finish();
    let events = rig.drive.take_events();
    assert!(!events.is_empty());
    assert!(events.iter().all(|event| event.contains("worst: None")), "{events:?}");
}

#[test]
fn reads_of_a_page_lead_to_a_move_and_where_its_group_is_full_to_a_lack_of_space() {
    let sets = [
        "geometry = { channels = 2, blocks = 60, pages = 8 }",
        "physics = { levels = { base = { shares = [1, 1, 1, 1, 1, 1, 1] } } }",
        "metadata.block_class = { measured = { read_hot_share = 0.3 } }",
        "start.fill = 0.5",
        "background.read_hot_migration = { threshold = 1 }",
    ];
    let kinds = [
        EventMask::HOST_READ,
        EventMask::MIGRATION_BEGAN,
        EventMask::PAGE_MIGRATED,
        EventMask::NO_SPACE,
        EventMask::JOB_ENDED,
    ];
    let found = events(&sets, &kinds, |rig| {
        for n in 0..600 {
            rig.read(ssdlab_base::rng::hash(1, 2, n) % 400);
            rig.finish();
        }
    });
    let count = |name| found.iter().filter(|event| *event == name).count();
    let [reads, begun, moved, lacks, ended] =
        ["HostRead", "MigrationBegan", "PageMigrated", "NoSpace", "JobEnded"].map(count);
    assert!(reads > 500 && begun > 100 && lacks > 0 && ended > 0, "{found:?}");
    // Pages move one by one, and with the blocks that jobs empty.
    assert!(moved > begun, "{moved} of {begun}");
    let first = |name| found.iter().position(|event| event == name);
    assert!(first("HostRead") < first("MigrationBegan"));
    assert!(first("MigrationBegan") < first("PageMigrated"));
    assert!(first("NoSpace") < first("JobEnded"));
}

#[test]
fn a_job_ends_for_each_block_that_is_collected() {
    let kinds = [EventMask::BLOCK_COLLECTED, EventMask::JOB_ENDED];
    let found = events(&["start.fill = 0.9"], &kinds, |rig| {
        for page in 0..400 {
            rig.wait_below(4).expect("a drive that goes on");
            rig.pages(Op::Write, page % 8, 1);
        }
    });
    let count = |name| found.iter().filter(|event| *event == name).count();
    assert!(count("JobEnded") > 10);
    assert_eq!(count("JobEnded"), count("BlockCollected"));
}

#[test]
fn a_write_that_goes_to_another_plane_than_the_scheduler_chose_is_an_event() {
    let sets = [
        "geometry = { channels = 2, planes = 2 }",
        "scheduler = { fifo = { head_of_line = true } }",
        "ftl.allocation = \"dynamic\"",
        "start.fill = 1",
    ];
    let found = events(&sets, &[EventMask::PLANE_CHANGED, EventMask::COUNTS_RESET], |rig| {
        rig.drive.reset_stats();
        let pages = u64::from(rig.drive.resolved().logical_pages);
        for n in 0..4000 {
            rig.wait_below(60).expect("a drive that goes on");
            rig.pages(Op::Write, ssdlab_base::rng::hash(1, 2, n) % pages, 1);
        }
    });
    assert_eq!(found[0], "CountsReset");
    assert!(found[1..].iter().all(|event| event == "PlaneChanged"));
    assert!(found.len() > 1, "a plane that filled up");
}
