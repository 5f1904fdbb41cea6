//! Reads that failed to decode and are suspended for reads of a higher priority.

use proptest::prelude::*;
use ssdlab_core::Op;
use ssdlab_core::UnitId;
use ssdlab_core::account::{Cause, OpKind, Part};

use crate::support::{BUS, ERASE, PROGRAM, READ, Rig, SPP, play, step, written};

const US: u64 = 1000;
/// Reads fail four times; there are three queues.
const BASE: [&str; 4] = [
    "physics = { retries = { retries = 3, fresh_errors = 900.0, correctable = 1.0 } }",
    "geometry.cell = \"slc\"\ntiming.decode = \"10us\"",
    "scheduler = \"strict_priority\"\nhost.queues = 3",
    "suspend = { esra = {} }",
];
/// Time of one attempt.
const ONE: u64 = READ + BUS + 10 * US;
/// Time of a whole read.
const ALL: u64 = 4 * ONE;

fn rig(more: &[&str], pages: u64) -> (Rig, u64) {
    written(&[&BASE, more].concat(), pages)
}

impl Rig {
    /// Reads pages for a queue; queue 0 has the highest priority.
    fn read_for(&mut self, queue: u8, page: u64, pages: u64) -> u64 {
        self.offer(Op::Read, page * SPP, pages * SPP, queue).expect("room")
    }

    fn ends(&mut self, zero: u64, tags: &[u64]) -> Vec<u64> {
        self.finish();
        tags.iter().map(|&tag| self.end_of(tag).unwrap() - zero).collect()
    }
}

fn suspended_reads(rig: &Rig) -> u64 {
    rig.drive.flash().counts.suspends().reads
}

/// Includes a bundle of settings. Source: ReadGuard.
macro_rules! bundle {
    ($name:literal) => {
        include_str!(concat!("../../../ssdlab-schemes/src/readguard/bundles/", $name, ".toml"))
    };
}

#[test]
fn bundles_set_suspension_and_pipelined_retries() {
    let physics = "physics.retries = {}\nhost.queues = 3";
    let passes = |bundle: &str| {
        let rig = Rig::new(&[physics, bundle!("priority"), bundle]);
        let flash = &rig.drive.resolved().flash;
        (flash.loops, flash.reads_pass, flash.pipelined_retry.is_some())
    };
    assert_eq!(passes(bundle!("i_es")), (Some([5, 5]), false, false));
    assert_eq!(passes(bundle!("esra")), (Some([5, 5]), true, false));
    assert_eq!(passes(bundle!("retry_plus")), (None, false, true));
}

#[test]
fn a_higher_read_waits_for_the_attempt_of_a_lower_one_and_no_longer() {
    for (after, waits) in [(1, ONE - 1), (ONE - 1, 1), (ONE, ONE), (3 * ONE - 1, 1)] {
        let (mut rig, zero) = rig(&[], 2);
        let low = rig.read_for(1, 0, 1);
        let high = rig.until(zero + after).read_for(0, 1, 1);
        // The low-priority read makes each of its four attempts once.
        assert_eq!(rig.ends(zero, &[high, low]), [after + waits + ALL, 2 * ALL], "{after}");
        assert_eq!(suspended_reads(&rig), 1);
        assert_eq!(rig.drive.flash().error_counts(), (6, 2, 0));
    }
    // The attempt in progress is the last one of the low-priority read.
    let (mut rig, zero) = rig(&[], 2);
    let low = rig.read_for(1, 0, 1);
    let high = rig.until(zero + 3 * ONE).read_for(0, 1, 1);
    assert_eq!(rig.ends(zero, &[high, low]), [2 * ALL, ALL]);
    assert_eq!(suspended_reads(&rig), 0);
}

#[test]
fn a_read_goes_on_at_the_level_after_its_last() {
    let (mut rig, zero) = rig(&[], 2);
    rig.read_for(1, 0, 1);
    rig.until(zero + 2 * ONE - 1).read_for(0, 1, 1);
    let mut seen: Vec<(u32, u8)> = Vec::new();
    loop {
        let flash = rig.drive.flash();
        let held = flash.held(UnitId(0)).map(|id| (flash.txns[id].lpn.0, flash.txns[id].level.0));
        seen.extend(held);
        let Some(next) = rig.drive.next_event() else { break };
        rig.drive.advance_once(next, &mut rig.done);
    }
    seen.dedup();
    assert_eq!(seen, [(0, 1), (1, 0), (1, 1), (1, 2), (1, 3), (0, 2), (0, 3)]);
}

#[test]
fn without_it_or_among_equals_a_read_waits_for_all_of_another() {
    let ends = |set: &str, [first, second]: [u8; 2]| {
        let (mut rig, zero) = rig(&[set], 2);
        let low = rig.read_for(first, 0, 1);
        let high = rig.until(zero + 1).read_for(second, 1, 1);
        rig.ends(zero, &[low, high])
    };
    assert_eq!(ends("suspend = { esra = { reads = false } }", [1, 0]), [ALL, 2 * ALL]);
    for queues in [[0, 0], [2, 2], [0, 1], [1, 2]] {
        assert_eq!(ends("", queues), [ALL, 2 * ALL], "{queues:?}");
    }
    assert_eq!(ends("", [2, 1]), [2 * ALL, ONE + ALL]);
}

#[test]
fn no_more_reads_are_suspended_than_a_unit_may() {
    let ends = |most: u8| {
        let set = format!("suspend.esra.max_suspended_reads = {most}");
        let (mut rig, zero) = rig(&[&set], 3);
        let low = rig.read_for(2, 0, 1);
        let middle = rig.until(zero + 1).read_for(1, 1, 1);
        let high = rig.until(zero + ONE + 1).read_for(0, 2, 1);
        (rig.ends(zero, &[high, middle, low]), suspended_reads(&rig))
    };
    // The read suspended last continues first.
    assert_eq!(ends(2), (vec![2 * ONE + ALL, ONE + 2 * ALL, 3 * ALL], 2));
    assert_eq!(ends(1), (vec![ONE + 2 * ALL, ONE + ALL, 3 * ALL], 1));
}

#[test]
fn reads_that_planes_do_together_are_suspended_as_one() {
    for (planes, most) in [(2, 2), (2, 1), (4, 1)] {
        let dies = format!("geometry.planes = {planes}\nflash.array = \"die\"");
        let set = format!("suspend.esra.max_suspended_reads = {most}");
        let (mut rig, zero) = rig(&[&dies, &set], 2 * planes);
        // The pages pass the bus and the engine one after the other.
        let attempt = ONE + (planes - 1) * 10 * US;
        let low = rig.read_for(1, 0, planes);
        let high = rig.until(zero + 1).read_for(0, planes, 1);
        let ends = [attempt + ALL, ALL + 4 * attempt];
        assert_eq!(rig.ends(zero, &[high, low]), ends, "{planes} planes, {most}");
        assert_eq!(suspended_reads(&rig), planes);
    }
}

#[test]
fn the_time_that_a_read_is_suspended_is_a_wait_for_the_die_and_no_retry() {
    let blame = |passed: bool| {
        let (mut rig, zero) = rig(&[], 4);
        rig.drive.keep_log();
        let low = rig.read_for(1, 0, 1);
        if passed {
            rig.until(zero + 1).read_for(0, 2, 1);
        }
        rig.finish();
        let mut rows = Vec::new();
        rig.drive.take_log(&mut rows);
        let row = rows.iter().find(|row| row.request.tag == low).expect("it ended");
        [Part::Retry, Part::DieHost].map(|part| row.blame[part as usize])
    };
    let [alone, passed] = [false, true].map(blame);
    assert_eq!(passed, [alone[0], ALL]);
    assert_eq!(alone[1], 0);
}

/// Returns a drive that has just begun a read of collection, and two of the host's pages.
fn collecting(set: &str) -> (Rig, [u64; 2]) {
    let soon = "background.gc.threshold = 0.4\nftl.overprovisioning = 0.5";
    let mut rig = Rig::new(&[&BASE[..], &[soon, set]].concat());
    let pages = u64::from(rig.drive.resolved().logical_pages);
    let page = |n| ssdlab_base::rng::hash(1, 1, n) % pages;
    let collects = |rig: &Rig| {
        let service = rig.drive.flash().in_service(UnitId(0), rig.drive.now());
        (service.kind, service.cause) == (Some(OpKind::Read), Cause::Gc)
    };
    let mut n = 0;
    while !collects(&rig) {
        if rig.drive.unfinished() == 0 {
            rig.write(page(n));
            n += 1;
        }
        let next = rig.drive.next_event().unwrap();
        rig.drive.advance_once(next, &mut rig.done);
    }
    (rig, [page(0), page(1)])
}

#[test]
fn a_read_of_collection_lets_every_read_of_the_host_pass() {
    for (set, most) in [("", ONE), ("suspend = \"none\"", ALL)] {
        let (mut rig, [page, _]) = collecting(set);
        let arrival = rig.now();
        let read = rig.read_for(2, page, 1);
        rig.finish();
        assert_eq!(rig.end_of(read), Some(arrival + most + ALL), "{set}");
        assert_eq!(suspended_reads(&rig), u64::from(set.is_empty()));
    }
}

#[test]
fn a_read_of_collection_takes_no_place_from_those_of_the_host() {
    let (mut rig, [first, second]) = collecting("suspend = { esra = { max_suspended_reads = 1 } }");
    let arrival = rig.now();
    let low = rig.read_for(2, first, 1);
    let high = rig.until(arrival + ONE + 1).read_for(0, second, 1);
    rig.finish();
    let ends = [high, low].map(|tag| rig.end_of(tag).unwrap() - arrival);
    assert_eq!(ends, [2 * ONE + ALL, ONE + 2 * ALL]);
    assert_eq!(suspended_reads(&rig), 2);
}

#[test]
fn a_suspended_read_resumes_before_writes_and_before_a_suspended_program() {
    let switch = 5 * US;
    let (mut rig, zero) = rig(&[], 4);
    // A low-priority read interrupts a program and is itself suspended.
    let write = rig.write(2);
    let low = rig.until(zero + BUS).read_for(1, 0, 1);
    let high = rig.until(zero + BUS + switch + 1).read_for(0, 1, 1);
    let later = rig.offer(Op::Write, 3 * SPP, SPP, 0).unwrap();
    let begun = BUS + switch;
    let reads = begun + 2 * ALL;
    let first = reads + switch + PROGRAM;
    assert_eq!(
        rig.ends(zero, &[high, low, write, later]),
        [begun + ONE + ALL, reads, first, first + BUS + PROGRAM]
    );
}

#[test]
fn a_suspended_read_resumes_before_a_later_write_of_a_higher_priority() {
    let (mut rig, zero) = rig(&[], 4);
    let low = rig.read_for(1, 0, 1);
    let high = rig.until(zero + 1).read_for(0, 1, 1);
    let write = rig.offer(Op::Write, 3 * SPP, SPP, 0).unwrap();
    let ends = rig.ends(zero, &[high, low, write]);
    assert_eq!(ends, [ONE + ALL, 2 * ALL, 2 * ALL + BUS + PROGRAM]);
}

#[test]
fn no_block_with_a_suspended_read_is_erased() {
    // All collection here is urgent, and goes before the host.
    let urgent = "background.gc = { threshold = 0.9, hard_threshold = 0.9 }";
    let whole = "suspend = { esra = { program = false, erase = false } }";
    let (mut rig, zero) = rig(&[urgent, whole], 10);
    // The trim makes the first block, of eight pages, a victim of collection.
    let low = rig.read_for(1, 3, 1);
    rig.until(zero + 1).offer(Op::Trim, 5 * SPP, SPP, 1).unwrap();
    let high = rig.read_for(0, 9, 1);
    let moved = ONE + 7 * (ALL + BUS + PROGRAM);
    assert_eq!(rig.ends(zero, &[high, low]), [moved + ALL, moved + ALL + 3 * ONE]);
    assert_eq!(rig.ops(OpKind::Erase, Cause::Gc), 1);
    // Erase times differ from block to block.
    assert!(rig.now() - zero > moved + ALL + 3 * ONE + ERASE * 9 / 10);
}

#[test]
fn a_write_that_came_first_goes_before_a_higher_read_and_is_interrupted_by_it() {
    let switch = 5 * US;
    let (mut rig, zero) = rig(&[], 4);
    let low = rig.read_for(1, 0, 1);
    let write = rig.until(zero + 1).offer(Op::Write, 2 * SPP, SPP, 0).unwrap();
    let high = rig.until(zero + 2).read_for(0, 1, 1);
    let begun = ONE + BUS + switch;
    let reads = begun + ALL + 3 * ONE;
    assert_eq!(rig.ends(zero, &[high, low, write]), [begun + ALL, reads, reads + switch + PROGRAM]);
}

#[test]
fn a_low_read_goes_on_between_high_ones() {
    let (mut rig, zero) = rig(&[], 2);
    // High-priority reads take four fifths of the unit's time: one attempt of the low one fits
    // between two.
    let period = ALL + ONE;
    let low = rig.read_for(2, 0, 1);
    let high: Vec<u64> =
        (0..20).map(|n| rig.until(zero + 1 + n * period).read_for(0, 1, 1)).collect();
    let ends = rig.ends(zero, &high);
    for (n, end) in (0..).zip(ends) {
        let arrival = 1 + n * period;
        assert!(end - arrival <= ONE + ALL, "{n}: {}", end - arrival);
    }
    let low = rig.end_of(low).unwrap() - zero;
    assert!(low <= 4 * period, "{low}");
}

/// Returns how many of `high` reads end before the operation that `low` submits, if all are
/// submitted at once.
fn passed_by(set: &str, high: u64, low: impl Fn(&mut Rig) -> u64) -> usize {
    let (mut rig, _) = rig(&[set], 2);
    let low = low(&mut rig);
    let high: Vec<u64> = (0..high).map(|_| rig.read_for(0, 1, 1)).collect();
    rig.finish();
    let end = rig.end_of(low).unwrap();
    high.iter().filter(|&&tag| rig.end_of(tag).unwrap() < end).count()
}

#[test]
fn operations_of_low_priority_are_not_starved() {
    const MAX_PASSES: &str = "scheduler = { strict_priority = { max_passes = 10 } }";
    const STRICT: &str = "scheduler = { strict_priority = { max_passes = 0 } }";
    // Suspended after its first attempt, the read has three to make: one in each turn.
    let begun = |rig: &mut Rig| {
        let low = rig.read_for(2, 0, 1);
        let now = rig.now();
        rig.until(now + 1);
        low
    };
    assert_eq!(passed_by(MAX_PASSES, 100, begun), 30);
    let queued = |rig: &mut Rig| {
        rig.read_for(0, 1, 1);
        rig.read_for(2, 0, 1)
    };
    // Its first turn is its first attempt.
    assert_eq!(passed_by(MAX_PASSES, 100, queued), 40);
    for waits in [&begun as &dyn Fn(&mut Rig) -> u64, &queued] {
        assert_eq!(passed_by(STRICT, 100, waits), 100);
        assert_eq!(passed_by("", 100, waits), 100);
        assert!(passed_by("", 300, waits) < 300);
    }
    // A write begins after two reads, is interrupted, and resumes after two more.
    let write = |rig: &mut Rig| {
        rig.read_for(0, 1, 1);
        rig.offer(Op::Write, 0, SPP, 2).unwrap()
    };
    assert_eq!(passed_by(STRICT, 100, write), 100);
    assert_eq!(passed_by("scheduler = { strict_priority = { max_passes = 2 } }", 100, write), 4);
}

#[test]
fn an_interrupted_program_resumes_before_a_read_of_a_lower_priority() {
    let ends = |queue: u8| {
        let (mut rig, zero) = rig(&["scheduler = { strict_priority = { max_passes = 2 } }"], 2);
        let low = rig.read_for(2, 1, 1);
        let write = rig.until(zero + 1).offer(Op::Write, 0, SPP, queue).unwrap();
        (0..100).for_each(|_| _ = rig.read_for(0, 1, 1));
        rig.ends(zero, &[low, write])
    };
    // A program of the first queue begins before its reads, and resumes after two of them.
    let high = ends(0);
    assert!(high[1] < high[0] && high[1] < 4 * ALL + PROGRAM, "{high:?}");
    let low = ends(2);
    assert!(low[0] < low[1], "{low:?}: of one priority the read goes first");
}

#[test]
fn a_read_interrupts_a_program_of_a_higher_priority_unless_the_config_forbids_it() {
    let ends = |set: &str, reader: u8| {
        let set = format!("suspend = {{ esra = {{ {set} }} }}");
        let (mut rig, zero) = rig(&[&set], 2);
        let write = rig.offer(Op::Write, 0, SPP, 1).unwrap();
        let read = rig.until(zero + BUS + 1).read_for(reader, 1, 1);
        rig.ends(zero, &[write, read])
    };
    for (set, reader, waits) in [
        ("", 2, false),
        ("suspend_higher_priority = true", 2, false),
        ("suspend_higher_priority = false", 2, true),
        // It may interrupt operations of its own or a higher priority.
        ("suspend_higher_priority = false", 1, false),
        ("suspend_higher_priority = false", 0, false),
    ] {
        let [write, read] = ends(set, reader)[..] else { unreachable!("two ends") };
        assert_eq!(write == BUS + PROGRAM, waits, "{set}, {reader}: {write}");
        assert_eq!(read > write, waits, "{set}, {reader}: {read}");
    }
}

#[test]
fn a_unit_that_releases_its_page_serves_reads_between_attempts_by_priority() {
    let (mut rig, zero) = rig(&["flash.hold_until_decoded = false"], 2);
    let low = rig.read_for(1, 0, 1);
    let high = rig.until(zero + 1).read_for(0, 1, 1);
    // Sensing and transfer alternate: while one read decodes, the unit senses the other.
    let switch = READ + BUS;
    let ends = rig.ends(zero, &[high, low]);
    assert_eq!(ends, [8 * switch + 10 * US, 7 * switch + 10 * US]);
    assert_eq!(suspended_reads(&rig), 0);
}

#[test]
fn letting_pass_helps_high_priorities_and_costs_low_ones() {
    let run = |reads: bool| {
        let set = format!("suspend = {{ esra = {{ reads = {reads} }} }}");
        let sets = [&BASE[..], &[&set, "geometry.channels = 2"]].concat();
        let mut rig = Rig::unwatched(&sets, 1).unwrap();
        for page in 0..100 {
            rig.write(page);
        }
        rig.finish();
        rig.drive.reset_stats();
        for n in 0..3000 {
            let hash = ssdlab_base::rng::hash(7, 1, n);
            let at = rig.now() + 2 * (hash >> 40) % (2 * ALL * 3 / 5);
            rig.until(at).read_for((hash % 3) as u8, (hash >> 8) % 100, 1);
        }
        rig.finish();
        let means = (0..3).map(|queue| {
            let latencies = &rig.drive.stats().latencies[queue][Op::Read as usize];
            latencies.sum_ns as f64 / latencies.count() as f64
        });
        (means.collect::<Vec<_>>(), suspended_reads(&rig))
    };
    let ((with, some), (without, none)) = (run(true), run(false));
    assert!(some > 100 && none == 0, "{some} {none}");
    assert!(with[0] < 0.9 * without[0] && with[2] > without[2], "{with:?} {without:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_that_pass_one_another_return_what_was_written_last(
        array in prop::sample::select(vec!["plane", "die", "chip"]),
        hold in prop::bool::weighted(0.9),
        most in 1..6u8,
        loops in 1..6u8,
        retries in prop::sample::select(vec![1, 3, 25]),
        copies in prop::sample::select(vec!["", "ftl.allocation = \"dynamic\""]),
        order in prop::sample::select(vec!["\"serial\"", "\"pipelined\"", "{ pipelined = { first = true } }"]),
        depth in prop::sample::select(vec![3u32, 16, 64]),
        steps in prop::collection::vec(step(), 1..300),
    ) {
        let suspended = if hold { format!(", max_suspended_reads = {most}") } else { String::new() };
        let sets = [
            "geometry = { dies = 2, planes = 2, blocks = 9, cell = \"tlc\", pages = 12 }".into(),
            "ftl.overprovisioning = 0.5\nscheduler = \"strict_priority\"\nhost.queues = 2".into(),
            "background.gc.threshold = 0.5\nstart.fill = 0.9\ntiming.decode = \"10us\"".into(),
            format!("flash = {{ array = \"{array}\", hold_until_decoded = {hold} }}"),
            format!("flash.program_loops = {loops}\nsuspend = {{ esra = {{ max_aborts = 2{suspended} }} }}"),
            format!("physics = {{ retries = {{ retries = {retries}, fresh_errors = 200.0 }} }}"),
            copies.into(),
            if hold { format!("flash.retries = {order}\nread_start = \"last_vref\"") } else { String::new() },
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let mut rig = Rig::seeded(&sets, 1).unwrap();
        play(&mut rig, &steps, depth).map_err(TestCaseError::fail)?;
    }
}
