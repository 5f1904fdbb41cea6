//! A deadline scheduler, its tables and strong blocks on a drive. Source: DLV.

use proptest::prelude::*;
use ssdlab_base::rng;
use ssdlab_core::account::OpKind;
use ssdlab_core::{Completion, Op};

use crate::support::{BUS, PROGRAM, READ, Rig, Step, play, written};

/// Four planes with a channel each, and blocks that differ; the best third is strong.
pub(crate) const SHAPE: &str = "geometry = { channels = 4, blocks = 48 }";
const STRONG: &[&str] = &[
    "physics = { levels = {} }",
    "metadata.block_class = \"factory\"",
    "program_mode = [\"per_class\"]",
    "timing.program_modes = [{ name = \"normal\" }, { name = \"strong\", program = \"100us\" }]",
];
const STRONG_PROGRAM: u64 = 100_000;

pub(crate) fn sets<'a>(parts: &[&[&'a str]]) -> Vec<&'a str> {
    parts.iter().flat_map(|part| part.iter().copied()).collect()
}

fn dlv() -> Rig {
    Rig::new(&sets(&[&[SHAPE, "scheduler = \"dlv\""], STRONG]))
}

/// Returns requests of one to eight pages, close enough in time to overlap.
fn steps(seed: u64, count: u64, reads: u64, gap: u64) -> Vec<Step> {
    let draw = |n, purpose| rng::hash(seed, purpose, n);
    let step = |n| {
        let read = draw(n, 1) % 100 < reads;
        let op = if read { Op::Read } else { Op::Write };
        let (place, sectors) = (draw(n, 2) % (1 << 16), 8 * (1 + draw(n, 3) % 8));
        Step { gap: draw(n, 4) % gap, op, place, sectors, whole: true, queue: 0 }
    };
    (0..count).map(step).collect()
}

fn done(sets: &[&str], steps: &[Step]) -> Vec<Completion> {
    let mut rig = Rig::new(sets);
    play(&mut rig, steps, 64).unwrap_or_else(|error| panic!("{sets:?}: {error}"));
    rig.done
}

fn mean(done: &[Completion], op: Op) -> f64 {
    let latency = |c: &&Completion| (c.end - c.arrival).as_ns() as f64;
    let (sum, count) = done
        .iter()
        .filter(|completion| completion.op == op)
        .fold((0.0, 0.0), |(sum, count), c| (sum + latency(&c), count + 1.0));
    sum / count
}

#[test]
fn a_write_that_finds_its_planes_idle_goes_at_once_to_normal_blocks() {
    let mut rig = dlv();
    let write = rig.pages(Op::Write, 0, 4);
    rig.finish();
    assert_eq!(rig.end_of(write), Some(BUS + PROGRAM));
    assert_eq!(rig.drive.stats().per_class[..2], [0, 4]);
}

#[test]
fn a_write_that_waits_gets_a_strong_block_where_it_ends_sooner_with_it() {
    let mut rig = dlv();
    rig.pages(Op::Write, 0, 1);
    // Plane 1 is idle and plane 0 is busy: only the page on plane 0 determines the end.
    let waits = rig.pages(Op::Write, 4, 2);
    rig.finish();
    assert_eq!(rig.end_of(waits), Some(BUS + PROGRAM + BUS + STRONG_PROGRAM));
    assert_eq!(rig.drive.stats().per_class[..2], [1, 2]);
}

#[test]
fn a_write_that_waited_for_its_page_has_waited() {
    let mut rig = dlv();
    rig.write(0);
    let again = rig.write(0);
    rig.finish();
    assert_eq!(rig.end_of(again), Some(2 * BUS + PROGRAM + STRONG_PROGRAM));
}

#[test]
fn a_write_that_reads_first_has_waited_if_its_read_has() {
    let ends = |busy: bool| {
        let mut rig = Rig::new(&sets(&[
            &[SHAPE, "scheduler = \"dlv\"", "read_start = \"highest_level\""],
            STRONG,
        ]));
        rig.write(0);
        rig.finish();
        let began = rig.now();
        if busy {
            rig.write(4);
        }
        let part = rig.offer(Op::Write, 0, 1, 0).unwrap();
        rig.finish();
        rig.end_of(part).unwrap() - began
    };
    assert_eq!(ends(false), READ + BUS + BUS + PROGRAM);
    assert_eq!(ends(true), BUS + PROGRAM + READ + BUS + BUS + STRONG_PROGRAM);
}

#[test]
fn the_write_that_ends_first_goes_first() {
    let mut rig = dlv();
    rig.pages(Op::Write, 0, 4);
    // All planes are busy. Both requests need plane 0, the long one twice.
    let long = rig.pages(Op::Write, 8, 8);
    let short = rig.pages(Op::Write, 16, 1);
    rig.finish();
    assert!(rig.end_of(short) < rig.end_of(long));
    let stats = rig.drive.stats();
    assert_eq!(stats.dispatched[1], (3, 1), "one write overtakes another");
    // Four pages of the long request and one of the short one; then again four of the long one.
    assert_eq!(stats.scheduling_steps, 4 + 1 + 4);
}

#[test]
fn a_waiting_write_behind_a_dispatched_one_can_be_overtaken() {
    for order in ["scheduler = \"dlv\"", "scheduler = { dlv = { reads = \"fifo\" } }"] {
        let mut rig = Rig::new(&["geometry = { channels = 1, blocks = 48 }", order]);
        let writes = [(0, 1), (1, 2), (3, 3)];
        let writes = writes.map(|(first, pages)| rig.pages(Op::Write, first, pages));
        rig.until(BUS + PROGRAM + BUS);
        let short = rig.write(6);
        rig.finish();
        let [_, goes, waits] = writes.map(|write| rig.end_of(write));
        assert!(goes < rig.end_of(short) && rig.end_of(short) < waits, "{order}");
    }
}

#[test]
fn writes_outside_of_the_window_wait_for_those_in_it() {
    let ended = |window: &str| {
        let order = format!("scheduler = {{ dlv = {{ {window} }} }}");
        let mut rig = Rig::new(&[SHAPE, &order]);
        rig.write(0);
        let blocked = rig.write(4);
        // Planes 1 and 2 are idle all the time.
        let others = [5, 6].map(|page| rig.write(page));
        rig.finish();
        [blocked, others[0], others[1]].map(|write| rig.end_of(write).unwrap())
    };
    let alone = BUS + PROGRAM;
    assert_eq!(ended("window = 2"), [2 * alone, alone, alone]);
    // Both writes start when the one before them has started.
    assert_eq!(ended("window = 1"), [2 * alone, 2 * alone, 2 * alone]);
    assert_eq!(ended(""), ended("window = 2"));
}

#[test]
fn a_read_goes_before_a_dispatched_write_that_has_not_begun() {
    let (mut rig, zero) = written(&[SHAPE, "scheduler = \"dlv\""], 2);
    // Two pages on the second plane, then one on each of the first two.
    rig.pages(Op::Write, 5, 1);
    rig.pages(Op::Write, 4, 2);
    let read = rig.read(1);
    rig.finish();
    assert_eq!(rig.end_of(read), Some(zero + BUS + PROGRAM + READ + BUS));
}

/// Submits requests with these numbers of pages, from these planes on, 10 us apart; returns their
/// ends.
fn ends(rig: &mut Rig, requests: &[(Op, u64, u64)]) -> Vec<u64> {
    let tags: Vec<_> = requests
        .iter()
        .map(|&(op, first, pages)| {
            let tag = rig.pages(op, first, pages);
            let later = rig.now() + 10_000;
            rig.until(later);
            tag
        })
        .collect();
    rig.finish();
    tags.into_iter().map(|tag| rig.end_of(tag).unwrap()).collect()
}

#[test]
fn what_goes_first_is_served_first_by_planes_that_are_busy() {
    let mut rig = Rig::new(&[SHAPE, "scheduler = \"dlv\""]);
    // The third write starts at once, with a page on a plane that still has work. The second write,
    // which arrived before it, starts later.
    let writes = [(Op::Write, 0, 6), (Op::Write, 9, 11), (Op::Write, 20, 2)];
    let by_dlv = ends(&mut rig, &writes);
    assert!(by_dlv[2] < by_dlv[1], "{by_dlv:?}");
    let overtakes = rig.drive.stats().dispatched[1].1;
    let fifo = ends(&mut Rig::new(&[SHAPE]), &writes);
    assert!(by_dlv[2] < fifo[2], "{by_dlv:?} {fifo:?}");
    assert_eq!(overtakes, 1);
}

#[test]
fn under_woo_a_read_waits_for_as_many_writes_as_came_before_it() {
    let woo = "scheduler = { dlv = { reads = \"fifo\" } }";
    let mut rig = Rig::new(&sets(&[&["geometry = { blocks = 48 }", woo]]));
    rig.write(0);
    rig.finish();
    rig.write(1);
    let long = rig.pages(Op::Write, 2, 2);
    let read = rig.read(0);
    let short: Vec<_> = (4..8).map(|page| rig.write(page)).collect();
    rig.finish();
    let end = |tag| rig.end_of(tag).unwrap();
    assert!(end(short[0]) < end(read), "it has the place of the long one");
    assert!(end(read) < end(short[1]) && end(read) < end(long));
    assert!(short.iter().all(|&tag| end(tag) < end(long)));
}

#[test]
fn writes_that_read_first_go_and_come_again_past_any_deadline() {
    // Both parts of a write wait at once where each part starts by itself.
    let late = "scheduler = { dlv = { read_deadline = \"50us\", write_deadline = \"50us\" } }";
    for depth in [3, 8] {
        let queue = format!("host.queue_depth = {depth}");
        let mut rig = Rig::new(&[SHAPE, late, &queue, "start.unwritten_reads = \"lazy\""]);
        let mut steps = steps(depth, 2000, 50, 20_000);
        for step in &mut steps {
            (step.place, step.sectors) = (step.place % 4096 * 16 + 3, 8 * (step.sectors / 8) + 5);
        }
        play(&mut rig, &steps, 8).unwrap_or_else(|error| panic!("{depth}: {error}"));
        assert_eq!(rig.done.len(), steps.len());
        let (requests, _) = rig.drive.stats().dispatched[1];
        let writes = steps.iter().filter(|step| step.op == Op::Write).count() as u64;
        assert!(requests <= writes, "{requests} of {writes}: each counts once");
    }
}

#[test]
fn the_read_that_ends_first_goes_first() {
    let mut rig = dlv();
    rig.pages(Op::Write, 0, 16);
    rig.finish();
    rig.pages(Op::Read, 0, 4);
    // All planes are busy. Both requests need plane 0, the long one four times.
    let (long, short) = (rig.pages(Op::Read, 0, 16), rig.read(4));
    rig.finish();
    assert!(rig.end_of(short) < rig.end_of(long));
    assert_eq!(rig.drive.stats().dispatched[0], (3, 1), "one read overtakes another");
}

#[test]
fn reads_of_many_lengths_do_not_lose_by_being_reordered() {
    // A long read gets an idle plane before a short one; it must not overtake because of that.
    let large = "geometry = { channels = 4, chips = 4, planes = 2, blocks = 48 }";
    let steps = steps(7, 1024, 100, 1).into_iter().enumerate();
    let bursts = steps.map(|(n, step)| {
        let gap = if n % 64 == 0 { 50_000_000 } else { 0 };
        Step { gap, sectors: 8 << (step.sectors / 8 % 6), ..step }
    });
    let bursts: Vec<_> = bursts.collect();
    let lazy = "start.unwritten_reads = \"lazy\"";
    let of = |order| mean(&done(&[large, lazy, order], &bursts), Op::Read);
    let (fifo, dlv) = (of("scheduler = \"fifo\""), of("scheduler = \"dlv\""));
    assert!(dlv < 0.99 * fifo, "{dlv} against {fifo}");
}

#[test]
fn a_read_goes_before_a_write_on_the_same_plane_and_keeps_its_place_under_woo() {
    for (order, first) in [("\"dlv\"", true), ("{ dlv = { reads = \"fifo\" } }", false)] {
        let order = format!("scheduler = {order}");
        let mut rig = Rig::new(&sets(&[&[SHAPE, &order], STRONG]));
        rig.write(4);
        rig.finish();
        rig.write(0);
        let write = rig.write(8);
        let read = rig.read(4);
        rig.finish();
        assert_eq!(rig.end_of(read) < rig.end_of(write), first, "{order}");
    }
}

#[test]
fn expected_ends_are_met_where_nothing_interferes() {
    // Single writes of up to four pages behind a busy plane: they never share the bus.
    let mut rig = dlv();
    for page in 0..40 {
        let before = rig.now();
        rig.write(page % 4);
        let waits = rig.write(page % 4 + 4);
        rig.finish();
        let end = before + 2 * BUS + PROGRAM + STRONG_PROGRAM;
        assert_eq!(rig.end_of(waits), Some(end), "page {page}");
    }
}

#[test]
fn without_its_advantages_it_is_fifo_to_the_bit() {
    let null = "scheduler = { dlv = { reads = \"fifo\", writes = \"fifo\", avoid_gc = false } }";
    for reads in [0, 50, 90] {
        let steps = steps(reads, 3000, reads, 60_000);
        let (null, fifo) = (done(&[SHAPE, null], &steps), done(&[SHAPE], &steps));
        let other = (0..fifo.len()).find(|&at| null[at] != fifo[at]);
        assert_eq!(other, None, "{reads} % reads: {:?}", other.map(|at| (null[at], fifo[at])));
    }
}

#[test]
fn where_nothing_is_read_roo_serves_writes_as_fifo_does() {
    // Writes of the same pages wait for one another, and garbage collection runs all the time.
    let full = "start = { fill = 0.95, steady_state = true }";
    let mut steps = steps(7, 3000, 0, 60_000);
    steps.iter_mut().for_each(|step| step.place %= 1 << 12);
    let roo = "scheduler = { dlv = { writes = \"fifo\" } }";
    assert_eq!(done(&[SHAPE, full, roo], &steps), done(&[SHAPE, full], &steps));
}

#[test]
fn an_order_that_keeps_the_place_of_writes_leaves_their_blocks_to_others() {
    let null = "scheduler = { dlv = { reads = \"fifo\", writes = \"fifo\", avoid_gc = false } }";
    let place = "placement = [\"small_to_strong\"]";
    let large = "geometry = { channels = 4, blocks = 400 }";
    let steps = steps(5, 2000, 30, 60_000);
    let fifo = done(&sets(&[&[large, place], STRONG]), &steps);
    assert!(done(&sets(&[&[large, place, null], STRONG]), &steps) == fifo);
}

#[test]
fn on_blocks_that_are_alike_it_gains_what_reordering_gains_and_more_on_blocks_that_differ() {
    // So large that no garbage collection runs.
    let large = "geometry = { channels = 4, blocks = 2000 }";
    let steps = steps(7, 4000, 0, 440_000);
    let write = |extra: &[&str]| mean(&done(&sets(&[&[large], extra]), &steps), Op::Write);
    let fifo = write(&[]);
    let alike = write(&["scheduler = \"dlv\""]);
    let strong = write(&sets(&[&["scheduler = \"dlv\""], STRONG]));
    assert!(alike < 0.95 * fifo, "{alike} against {fifo}");
    assert!(strong < 0.95 * alike, "{strong} against {alike}");
}

#[test]
fn a_request_waits_no_longer_than_its_deadline_and_the_work_before_it() {
    // Short reads alone keep plane 0 busy; a write to it must start nevertheless.
    let deadline = 2_000_000;
    let order = "scheduler = { dlv = { write_deadline = \"2ms\", read_deadline = \"10s\" } }";
    let mut rig = Rig::new(&sets(&[&[SHAPE, order, "read_start = \"highest_level\""], STRONG]));
    rig.write(0);
    rig.write(4);
    rig.finish();
    let mut written = None;
    let began = rig.now();
    for n in 0..200u64 {
        rig.until(began + n * 50_000);
        rig.read(0);
        if n == 20 {
            written = Some((rig.write(4), rig.now()));
        }
    }
    rig.finish();
    let (tag, arrival) = written.unwrap();
    let waited = rig.end_of(tag).unwrap() - arrival;
    // Before the deadline the scheduler dispatched one read in service and one that waits.
    assert!(waited > deadline, "reads go first until then: {waited}");
    assert!(waited < deadline + 500_000 + PROGRAM, "{waited}");
}

#[test]
fn head_of_line_blocking_delays_writes_to_idle_planes() {
    let run = |head_of_line: &str| {
        let mut rig = Rig::new(&[SHAPE, head_of_line]);
        rig.write(0);
        rig.write(4);
        let blocked = rig.write(8);
        let free = rig.write(1);
        rig.finish();
        (rig.end_of(blocked).unwrap(), rig.end_of(free).unwrap())
    };
    let (blocked, free) = run("scheduler = \"fifo\"");
    assert_eq!((blocked, free), (3 * (BUS + PROGRAM), BUS + PROGRAM));
    // The third write waits for the start of the second, and the fourth for that of the third.
    let (blocked, free) = run("scheduler = { fifo = { head_of_line = true } }");
    assert_eq!((blocked, free), (3 * (BUS + PROGRAM), 2 * (BUS + PROGRAM)));
}

#[test]
fn all_that_waits_gets_strong_pages_as_long_as_there_are_any() {
    let one = "geometry = { channels = 1, blocks = 48 }";
    let mut rig = Rig::new(&sets(&[&[one, "scheduler = \"dlv\""], STRONG]));
    // A third of the blocks are strong, of 8 pages each: 128 pages.
    for _ in 0..120 {
        // The first write starts at once; the second waits for it.
        rig.write(0);
        rig.write(1);
        rig.finish();
    }
    assert_eq!(rig.drive.stats().per_class[..2], [120, 120]);
}

#[test]
fn pages_that_ask_for_strong_blocks_and_get_others_are_counted() {
    let place = "placement = [{ small_to_strong = { pages = 1 } }]";
    let shape = "geometry = { channels = 1, blocks = 48 }";
    let mut rig = Rig::new(&sets(&[&[shape], STRONG, &[place, "background.gc = false"]]));
    let (pages, strong) = (200, 16 * 8);
    for page in 0..pages {
        rig.write(page);
        rig.finish();
    }
    let stats = rig.drive.stats();
    assert_eq!((stats.per_class[..2].to_vec(), stats.missed), (vec![strong, pages - strong], 72));
    // Two pages at once request normal blocks, and get them.
    rig.pages(Op::Write, 0, 2);
    rig.finish();
    assert_eq!(rig.drive.stats().missed, 72);
}

#[test]
fn classes_beyond_the_list_of_voltages_have_the_last() {
    let all_strong = "program_mode = [{ per_class = { modes = [\"strong\"] } }]";
    let mut rig = Rig::new(&sets(&[&[SHAPE], STRONG, &[all_strong]]));
    let write = rig.write(0);
    rig.finish();
    assert_eq!(rig.end_of(write), Some(BUS + STRONG_PROGRAM));
    assert_eq!(rig.drive.stats().per_class[..2], [0, 1], "a normal block");
}

#[test]
fn a_long_read_waits_no_longer_than_its_deadline() {
    // Short reads that alone keep all planes busy go before a long one.
    let waited = |deadline: &str| {
        let order = format!("scheduler = {{ dlv = {{ read_deadline = \"{deadline}\" }} }}");
        let mut rig = Rig::new(&[SHAPE, &order]);
        rig.pages(Op::Write, 0, 16);
        rig.finish();
        let (began, mut long) = (rig.now(), None);
        for n in 0..200u64 {
            rig.until(began + n * 50_000);
            rig.pages(Op::Read, 0, 4);
            if n == 20 {
                long = Some((rig.pages(Op::Read, 0, 16), rig.now()));
            }
        }
        rig.finish();
        let (tag, arrival) = long.unwrap();
        rig.end_of(tag).unwrap() - arrival
    };
    let (short, long) = (waited("2ms"), waited("10s"));
    assert!((2_000_000..3_500_000).contains(&short), "{short}");
    assert!(long > 8_000_000, "{long}");
}

#[test]
fn what_its_controller_keeps_is_counted() {
    let bytes = |sets: &[&str]| Rig::new(sets).drive.metadata_bytes();
    assert_eq!(bytes(&[SHAPE]), []);
    let tables = "read_start = \"sl_table\"";
    let counted = bytes(&sets(&[&[SHAPE, "scheduler = \"dlv\"", tables], STRONG]));
    // Bits: 1 of each of 192 blocks, 48 of each plane, 72 and 7 of both tables, 20 of each block.
    let expected = [
        ("block_classes", 24),
        ("plane_counters", 24),
        ("sensing_level_tables", 18),
        ("sensing_level_reads", 2),
        ("block_time_stamps", 480),
    ];
    assert_eq!(counted, expected);
}

#[test]
fn strong_pages_are_programmed_faster_and_err_more() {
    // A factor of thirty on the base rate: strongly programmed pages need more levels.
    let program_modes = "timing.program_modes = [{ name = \"normal\" }, \
                    { name = \"strong\", program = \"100us\", base_factor = 30.0 }]";
    let place = "placement = [{ small_to_strong = { pages = 1 } }]";
    let mut rig = Rig::new(&sets(&[&[SHAPE], &STRONG[..3], &[program_modes, place]]));
    let (small, large) = (rig.write(0), rig.pages(Op::Write, 5, 2));
    rig.finish();
    assert_eq!(rig.end_of(small), Some(BUS + STRONG_PROGRAM));
    assert_eq!(rig.end_of(large), Some(BUS + PROGRAM));
    rig.read(5);
    rig.finish();
    assert_eq!(rig.drive.flash().error_counts().0, 0);
    rig.read(0);
    rig.finish();
    assert!(rig.drive.flash().error_counts().0 > 0);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn every_request_ends_whatever_is_reordered(
        seed in 0..1000u64,
        reads in 0..100u64,
        gap in 10_000..200_000u64,
        window in 1..100u64,
        reads_first: bool,
    ) {
        let reads_by = if reads_first { "shortest" } else { "fifo" };
        let order = format!("scheduler = {{ dlv = {{ window = {window}, reads = \"{reads_by}\" }} }}");
        let mut rig = Rig::new(&sets(&[&[SHAPE, &order], STRONG]));
        play(&mut rig, &steps(seed, 300, reads, gap), 64).map_err(TestCaseError::fail)?;
        prop_assert_eq!(rig.done.len(), 300);
        let programs: u64 = rig.drive.flash().counts.ops()[OpKind::Program as usize].iter().sum();
        prop_assert!(programs >= rig.drive.stats().per_class.iter().sum());
    }
}
