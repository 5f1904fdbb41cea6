//! Statistics count exactly the events since the last reset.

use ssdlab_base::SimTime;
use ssdlab_core::account::{Cause, OpKind, Part};
use ssdlab_core::policy::event::EventMask;
use ssdlab_core::stats::BufferCounts;
use ssdlab_core::{Op, Request};

use crate::support::{BUS, PROGRAM, READ, Rig, SPP};

fn count(rig: &Rig, op: Op) -> u64 {
    rig.drive.stats().latencies[0][op as usize].count()
}

/// Returns the busy time of each unit and of each bus, in nanoseconds.
fn busy(rig: &Rig) -> (Vec<u64>, Vec<u64>) {
    rig.drive.flash().busy_counted(rig.drive.now())
}

#[test]
fn units_and_buses_are_busy_while_they_serve() {
    let mut rig = Rig::new(&["geometry.channels = 2"]);
    rig.write(0);
    rig.until(BUS - 1);
    assert_eq!(busy(&rig), (vec![BUS - 1, 0], vec![BUS - 1, 0]));
    rig.until(BUS + 7);
    assert_eq!(busy(&rig), (vec![BUS + 7, 0], vec![BUS, 0]));
    let one = BUS + PROGRAM;
    rig.until(one + 50);
    assert_eq!(busy(&rig), (vec![one, 0], vec![BUS, 0]));
    rig.write(1);
    rig.pages(Op::Read, 0, 2);
    rig.finish();
    let both = one + READ + BUS;
    assert_eq!(busy(&rig), (vec![both, both], vec![2 * BUS, 2 * BUS]));
}

#[test]
fn statistics_begin_anew_when_they_are_reset() {
    let mut rig = Rig::new(&[]);
    rig.write(0);
    rig.read(0);
    rig.finish();
    assert_eq!((count(&rig, Op::Read), count(&rig, Op::Write)), (1, 1));
    let zero = rig.now();
    rig.write(1);
    rig.until(zero + BUS + 60);
    rig.drive.reset_stats();
    let stats = rig.drive.stats();
    assert_eq!((stats.digest, stats.since.as_ns()), (0, zero + BUS + 60));
    assert_eq!((count(&rig, Op::Read), count(&rig, Op::Write)), (0, 0));
    assert_eq!(rig.ops(OpKind::Program, Cause::Host), 0);
    assert_eq!(rig.drive.write_amplification(), None);
    assert_eq!(busy(&rig), (vec![0], vec![0]));
    rig.finish();
    // The write was in progress: its operation counts, the request does not.
    assert_eq!(rig.ops(OpKind::Program, Cause::Host), 1);
    assert_eq!(count(&rig, Op::Write), 0);
    assert_eq!(busy(&rig), (vec![PROGRAM - 60], vec![0]));
    rig.read(0);
    rig.finish();
    assert_eq!(count(&rig, Op::Read), 1);
    assert_eq!(busy(&rig), (vec![PROGRAM - 60 + READ + BUS], vec![BUS]));
}

#[test]
fn a_request_that_arrived_before_the_count_began_is_left_out() {
    for (early, counted) in [(1, 0), (0, 1)] {
        let mut rig = Rig::new(&[]);
        rig.until(1000).drive.reset_stats();
        let now = rig.drive.now();
        let arrival = SimTime::from_ns(1000 - early);
        let request =
            Request { tag: 0, arrival, op: Op::Write, lba: 0, sectors: 8, queue: 0, hint: 0 };
        rig.drive.submit(now, request).unwrap();
        rig.finish();
        assert_eq!(count(&rig, Op::Write), counted, "{early} ns early");
        assert_eq!(rig.done[0].arrival, arrival);
    }
}

#[test]
fn what_a_request_moved_and_took_is_summed_up() {
    let mut rig = Rig::new(&["host.queues = 2"]);
    rig.pages(Op::Write, 0, 2);
    rig.finish();
    let (write, read) = (2 * (BUS + PROGRAM), 2 * (READ + BUS));
    rig.offer(Op::Read, SPP - 1, 2, 1).unwrap();
    rig.finish();
    let latencies = &rig.drive.stats().latencies;
    let sums = |queue: usize, op: Op| {
        let of = &latencies[queue][op as usize];
        (of.count(), of.sum_ns, of.max_ns, of.sectors)
    };
    assert_eq!(sums(0, Op::Write), (1, u128::from(write), write, 2 * SPP));
    assert_eq!(sums(1, Op::Read), (1, u128::from(read), read, 2));
    assert_eq!((sums(1, Op::Write).0, sums(0, Op::Read).0), (0, 0));
}

#[test]
fn write_amplification_is_what_was_programmed_for_each_page_of_the_host() {
    let sets = ["geometry = { blocks = 8, pages = 4 }", "ftl.overprovisioning = 0.5"];
    let mut rig = Rig::new(&sets);
    assert_eq!(rig.drive.write_amplification(), None);
    for n in 0..160 {
        rig.write(if n < 16 { n } else { ssdlab_base::rng::hash(1, 2, n) % 16 });
        if n == 15 {
            rig.finish();
            assert_eq!(rig.drive.write_amplification(), Some(1.0));
        }
    }
    rig.finish();
    let moved = rig.ops(OpKind::Program, Cause::Gc);
    assert!(moved > 0);
    assert_eq!(rig.drive.write_amplification(), Some((160 + moved) as f64 / 160.0));
}

#[test]
fn what_no_level_decodes_is_counted_and_answered_after_the_last() {
    // Each of the four attempts fails: no codeword has so few errors.
    let sets = [
        "geometry.cell = \"slc\"",
        "physics = { retries = { retries = 3, fresh_errors = 900.0, correctable = 1.0 } }",
    ];
    let mut rig = Rig::new(&sets);
    rig.pages(Op::Write, 0, 2);
    rig.finish();
    let zero = rig.now();
    rig.drive.record_events(EventMask::PAGE_READ);
    let tag = rig.read(0);
    rig.finish();
    let events = rig.drive.take_events();
    assert!(events[0].contains("level: Level(3), failed: 3"), "{events:?}");
    assert_eq!(rig.drive.flash().error_counts(), (3, 1, 0));
    assert_eq!(rig.drive.stats().uncorrectable, 1);
    assert_eq!(rig.ops(OpKind::Read, Cause::Host), 1);
    let latency = rig.end_of(tag).unwrap() - zero;
    let parts = rig.drive.stats().latencies[0][Op::Read as usize].blame_ns;
    let once = u128::from(READ + BUS);
    assert_eq!(parts[Part::Retry as usize], u128::from(latency) - once);
    rig.read(1);
    rig.finish();
    assert_eq!((rig.drive.flash().error_counts().1, rig.drive.stats().uncorrectable), (2, 2));
}

#[test]
fn hits_and_misses_of_the_buffer_are_counted() {
    let mut rig = Rig::new(&["buffer.size = \"64KiB\""]);
    assert_eq!(rig.drive.stats().buffer.hit_ratio(), None);
    rig.pages(Op::Write, 0, 3);
    rig.finish();
    let written = BufferCounts { write_misses: 3, ..BufferCounts::default() };
    assert_eq!(rig.drive.stats().buffer, written);
    rig.pages(Op::Read, 1, 4);
    rig.write(2);
    rig.write(6);
    rig.finish();
    // Of the pages read, 1 and 2 were in the buffer; of the pages written, page 2 was.
    let all =
        BufferCounts { read_hits: 2, read_misses: 2, write_hits: 1, write_misses: 4, ..written };
    assert_eq!(rig.drive.stats().buffer, all);
    assert_eq!(all.hit_ratio(), Some(3.0 / 9.0));
    // The buffer holds a part of page 7.
    rig.offer(Op::Write, 7 * SPP, 1, 0).unwrap();
    rig.read(7);
    rig.finish();
    let all = BufferCounts { read_misses: 3, write_misses: 5, ..all };
    assert_eq!(rig.drive.stats().buffer, all);
}

#[test]
fn a_page_that_is_only_in_the_buffer_does_not_count_as_never_written() {
    for buffer in ["0B", "64KiB"] {
        let mut rig = Rig::new(&[&format!("buffer.size = \"{buffer}\"")]);
        rig.offer(Op::Write, 0, 1, 0).unwrap();
        rig.finish();
        rig.read(0);
        rig.read(1);
        rig.finish();
        assert_eq!(rig.drive.stats().unmapped_reads, 1, "{buffer}");
    }
}

#[test]
fn a_page_of_which_a_part_is_found_was_used() {
    let mut rig = Rig::new(&["buffer.size = \"8KiB\""]);
    rig.offer(Op::Write, 0, 1, 0).unwrap();
    rig.write(1);
    rig.finish();
    // Page 1 leaves for page 2, since page 0 was read later.
    for page in [0, 2, 0] {
        rig.pages(if page == 2 { Op::Write } else { Op::Read }, page, 1);
        rig.finish();
    }
    let buffer = rig.drive.stats().buffer;
    assert_eq!((buffer.read_hits, buffer.read_misses, buffer.evicted_dirty), (1, 1, 1));
}

#[test]
fn pages_that_make_room_are_counted_by_whether_they_were_programmed_for_it() {
    let mut rig = Rig::new(&["buffer.size = \"16KiB\"", "start.unwritten_reads = \"lazy\""]);
    let evicted = |rig: &mut Rig| {
        rig.finish();
        let buffer = rig.drive.stats().buffer;
        (buffer.evicted_clean, buffer.evicted_dirty)
    };
    rig.pages(Op::Write, 0, 2);
    rig.pages(Op::Read, 2, 2);
    assert_eq!(evicted(&mut rig), (0, 0));
    rig.pages(Op::Write, 4, 3);
    assert_eq!(evicted(&mut rig), (1, 2));
    // A trimmed page leaves without an eviction; a flushed page stays.
    rig.pages(Op::Trim, 4, 1);
    rig.offer(Op::Flush, 0, 0, 0).unwrap();
    assert_eq!(evicted(&mut rig), (1, 2));
    rig.pages(Op::Write, 0, 4);
    assert_eq!(evicted(&mut rig), (4, 2));
}

#[test]
fn a_drive_is_idle_when_nothing_is_under_way() {
    let mut rig = Rig::new(&["buffer.size = \"8KiB\""]);
    assert!(rig.drive.is_idle() && rig.drive.clone().media().is_some());
    rig.write(0);
    assert!(!rig.drive.is_idle() && rig.drive.clone().media().is_none());
    rig.finish();
    assert!(rig.drive.is_idle());
    assert!(rig.drive.clone().media().is_none(), "the buffer still holds a page");
    rig.offer(Op::Flush, 0, 0, 0).unwrap();
    assert!(!rig.drive.is_idle());
}

#[test]
fn pages_from_before_the_start_are_counted_once() {
    let mut rig = Rig::new(&["start.unwritten_reads = \"lazy\""]);
    let pages = u64::from(rig.drive.resolved().logical_pages);
    assert!(pages > 64);
    for (first, count, counted) in [(3, 1, 1), (60, 9, 10), (3, 65, 66), (0, pages, pages)] {
        rig.pages(Op::Read, first, count);
        rig.finish();
        assert_eq!(rig.drive.stats().unwritten_reads, counted, "{count} from {first} on");
    }
    // The trimmed pages are no longer in the buffer.
    rig.pages(Op::Trim, 7, 2);
    rig.pages(Op::Read, 6, 4);
    rig.finish();
    assert_eq!((rig.drive.stats().unmapped_reads, rig.drive.stats().unwritten_reads), (2, pages));
}
