//! Tests the profiles of traces.

use ssdlab_workload::measure::{Profile, Profiler};
use ssdlab_workload::{Op, Record};

use crate::record;

fn profile(records: &[Record]) -> Profile {
    let mut profiler = Profiler::new(true);
    records.chunks(7).for_each(|some| profiler.take(some, |_| None));
    profiler.finish()
}

#[test]
fn counts_sizes_and_pages_of_a_few_requests() {
    let second = 1_000_000_000;
    let found = profile(&[
        record(0, 8, 8, Op::Read),
        record(second, 16, 8, Op::Read),
        record(second, 0, 0, Op::Flush),
        record(2 * second, 8, 24, Op::Write),
        record(3 * second, 999, 1, Op::Trim),
        record(4 * second, 4, 8, Op::Read),
    ]);
    assert_eq!((found.requests, found.reads, found.writes), (4, 3, 1));
    assert_eq!((found.trims, found.flushes), (1, 1));
    assert_eq!((found.read_bytes, found.write_bytes), (3 * 4096, 3 * 4096));
    assert_eq!((found.footprint_pages, found.read_pages, found.written_pages), (4, 3, 3));
    assert_eq!((found.first_byte, found.end_byte), (4 * 512, 32 * 512));
    assert_eq!((found.span_s, found.rate_per_s), (4.0, Some(1.0)));
    // The gaps are 1, 1 and 2 s: their variance is 1/3 s², and their mean 4/3 s.
    assert!((found.gap_variation - (1.0f64 / 3.0).sqrt() / (4.0 / 3.0)).abs() < 1e-12);
    assert_eq!((found.load.peak_per_s, found.load.peak_to_mean), (1, 5.0 / 4.0));
    assert_eq!(found.sequential, 0.25);
    let sizes = found.read_size.unwrap();
    assert_eq!((sizes.mean_bytes, sizes.median_bytes, sizes.max_bytes), (4096.0, 4096, 4096));
    // The requests use pages 1, 2; then 1, 2, 3; then 0 and 1. Page 1 returns after page 2, page 2
    // after page 1, and page 1 after 2, 3 and 0.
    let reuse = found.reuse.unwrap();
    assert_eq!((reuse.median_pages, reuse.p90_pages), (Some(1.0), Some(3.0)));
    assert_eq!((reuse.first_uses, reuse.one_page_in), (4.0 / 7.0, 1));
}

#[test]
fn a_trace_without_reads_and_writes_divides_nothing_by_zero() {
    let found = profile(&[record(0, 0, 0, Op::Flush)]);
    assert_eq!((found.requests, found.flushes, found.end_byte), (0, 1, 0));
    assert_eq!((found.read_size, found.rate_per_s), (None, None));
    let reuse = found.reuse.unwrap();
    assert_eq!((reuse.median_pages, reuse.points.len(), found.gap_points.len()), (None, 0, 0));
    assert_eq!((found.gap_variation, found.load.peak_to_mean), (0.0, 0.0));
}

#[test]
fn curves_are_short_and_agree_with_what_they_are_of() {
    // Gaps of 1 to 1000 µs, equally often; the footprint grows to 50 pages.
    let mut at = 0;
    let step = |n: u64| {
        at += (n % 1000 + 1) * 1000;
        let op = if n.is_multiple_of(4) { Op::Write } else { Op::Read };
        record(at, n * n % 50 * 8, 8, op)
    };
    let found = profile(&(0..100_000).map(step).collect::<Vec<_>>());
    let reuse = found.reuse.unwrap();
    for points in [&found.gap_points, &reuse.points] {
        assert!(points.len() <= 160, "{}", points.len());
        assert!(points.windows(2).all(|pair| pair[0][0] < pair[1][0] && pair[0][1] < pair[1][1]));
        assert_eq!(points.last().unwrap()[1], 1.0);
    }
    let share = |points: &[[f64; 2]], most: f64| {
        points.iter().rev().find(|point| point[0] <= most).map_or(0.0, |point| point[1])
    };
    for us in [100.0, 500.0, 900.0, 995.0] {
        assert!((share(&found.gap_points, us) - us / 1000.0).abs() < 0.025, "{us}");
    }
    assert!((share(&found.gap_points, found.gap_median_us) - 0.5).abs() < 0.01);
    assert!(share(&reuse.points, reuse.median_pages.unwrap()) >= 0.5 - 1.0 / 128.0);
    let load = &found.load;
    assert_eq!(load.reads.iter().sum::<u64>(), found.reads);
    assert!(load.reads.iter().zip(&load.requests).all(|(reads, all)| reads <= all));
    assert!(load.footprint_pages.is_sorted());
    assert_eq!(load.footprint_pages.last(), Some(&found.footprint_pages));
}

#[test]
fn devices_are_counted_by_name() {
    let mut profiler = Profiler::new(false);
    let records = [Op::Read, Op::Flush, Op::Write, Op::Read].map(|op| record(0, 0, 8, op));
    profiler.take(&records, |index| ["a", "a", "b", "b"].get(index).copied());
    let found = profiler.finish();
    let counts: Vec<(&str, u64)> =
        found.devices.iter().map(|device| (device.name.as_str(), device.requests)).collect();
    assert_eq!(counts, [("b", 2), ("a", 1)]);
    assert_eq!(found.reuse, None);
}

#[test]
fn reuse_of_many_pages_is_followed_on_a_sample() {
    // Two million pages, one after the other, twice: all reuse distances are two million minus one.
    const PAGES: u64 = 2_000_000;
    let all = (0..2 * PAGES).map(|n| record(n, n % PAGES * 8, 8, Op::Read));
    let found = profile(&all.collect::<Vec<_>>());
    assert_eq!(found.footprint_pages, PAGES);
    let reuse = found.reuse.unwrap();
    assert_eq!(reuse.one_page_in, 2);
    let median = reuse.median_pages.unwrap();
    assert!((median / PAGES as f64 - 1.0).abs() < 0.02, "{median}");
    assert!((reuse.first_uses - 0.5).abs() < 0.02, "{}", reuse.first_uses);
}
