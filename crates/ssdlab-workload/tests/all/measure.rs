//! Tests the statistics of a workload against counts by hand and simple algorithms.

use std::collections::{BTreeMap, BTreeSet};

use ssdlab_workload::measure::{Measure, Measured, measure};
use ssdlab_workload::{Generator, Kind, Op, Record, WorkloadConfig, ZipfConfig};

use crate::{drain, record};

fn of(records: &[Record]) -> Measured {
    let mut measure = Measure::with_reuse(0);
    measure.take(records);
    measure.finish()
}

#[test]
fn a_few_requests_by_hand() {
    const MS: u64 = 1_000_000;
    let measured = of(&[
        record(0, 0, 8, Op::Read),
        record(MS, 8, 8, Op::Read),
        record(2 * MS, 100, 24, Op::Write),
        record(2 * MS, 8, 4, Op::Read),
        record(4 * MS, 12, 1, Op::Read),
        record(1004 * MS, 0, 0, Op::Flush),
        record(2004 * MS, 124, 40, Op::Write),
    ]);
    assert_eq!((measured.requests, measured.reads, measured.writes), (7, 4, 2));
    assert_eq!((measured.read_bytes, measured.write_bytes), (21 * 512, 64 * 512));
    assert_eq!((measured.mean_read, measured.mean_write), (21.0 * 128.0, 32.0 * 512.0));
    // Sectors 100 to 163 are pages 12 to 20.
    assert_eq!((measured.footprint_pages, measured.read_pages, measured.write_pages), (11, 2, 9));
    assert_eq!(measured.end_sector, 164);
    // Page 1 is read three times. The reads at 8 and 12 and the write at 124 are sequential.
    assert_eq!(measured.read_hot, 1.0 / 11.0);
    assert_eq!(measured.sequential, 3.0 / 6.0);
    // Sectors 100 to 123 and 124 to 163, with 16 sectors per page.
    assert_eq!((measured.large_writes, measured.split_writes), (1.0, 1.0));
    // Page 1 returns after pages 12 to 15, and then at once. Page 15 returns after page 1.
    assert_eq!((measured.first_uses, &measured.reuse[..]), (11, &[1, 1, 0, 1][..]));
    assert_eq!((measured.span_s, measured.gap_mean_us), (2.004, 334_000.0));
    assert!((measured.gap_p99_us / 1e6 - 1.0).abs() < 0.016, "{}", measured.gap_p99_us);
    // Three seconds have 5, 1 and 1 requests.
    let (mean, squares) = (7.0 / 3.0, 27.0 / 3.0);
    assert!((measured.dispersion - (squares - mean * mean) / mean).abs() < 1e-12);
}

#[test]
fn a_write_of_one_page_may_lie_in_two() {
    let within = record(0, 16, 16, Op::Write);
    let across = record(0, 20, 16, Op::Write);
    let larger = record(0, 16, 17, Op::Write);
    let read = record(0, 20, 64, Op::Read);
    let measured = of(&[within, across, larger, read]);
    assert_eq!((measured.large_writes, measured.split_writes), (1.0 / 3.0, 2.0 / 3.0));
}

#[test]
fn a_measurement_of_no_requests_is_empty() {
    assert_eq!(of(&[]), Measured::default());
}

#[test]
fn a_zipf_workload_by_counting() {
    let config = WorkloadConfig {
        kind: Kind::Zipf(ZipfConfig { theta: 0.9 }),
        requests: 50_000,
        footprint: "64MiB".parse().unwrap(),
        ..WorkloadConfig::default()
    };
    let records = drain(&mut Generator::new(&config, 1).unwrap()).unwrap();
    let measured = measure(&mut Generator::new(&config, 1).unwrap(), u64::MAX, Some(0)).unwrap();
    let mut reads: BTreeMap<u64, u64> = BTreeMap::new();
    let mut all = BTreeSet::new();
    let mut uses = 0;
    for record in &records {
        for page in record.lba / 8..(record.lba + u64::from(record.sectors)).div_ceil(8) {
            uses += 1;
            all.insert(page);
            *reads.entry(page).or_default() += u64::from(record.op == Op::Read);
        }
    }
    let mut counts: Vec<u64> = reads.into_values().filter(|count| *count > 0).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let hottest = |share: usize| {
        let top: u64 = counts.iter().take(counts.len() * share / 100).sum();
        top as f64 / counts.iter().sum::<u64>() as f64
    };
    assert_eq!(measured.footprint_pages, all.len() as u64);
    assert_eq!(measured.read_pages, counts.len() as u64);
    let hot = counts.iter().filter(|count| **count >= 3).count();
    assert_eq!(measured.read_hot, hot as f64 / all.len() as f64);
    for (share, got) in
        [(1, measured.hottest_1), (10, measured.hottest_10), (20, measured.hottest_20)]
    {
        assert!((hottest(share) - got).abs() < 0.002, "{share} %: {got} for {}", hottest(share));
    }
    let upto: Vec<f64> = measured.read_counts.iter().map(|row| row[0]).collect();
    assert_eq!(upto, [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
    for [times, pages, of_them] in measured.read_counts.iter().copied() {
        let few = counts.iter().filter(|count| **count as f64 <= times);
        assert_eq!(pages, few.clone().count() as f64 / counts.len() as f64);
        assert_eq!(of_them, few.sum::<u64>() as f64 / counts.iter().sum::<u64>() as f64);
    }
    assert_eq!(measured.first_uses + measured.reuse.iter().sum::<u64>(), uses);
    assert_eq!(measured.first_uses, measured.footprint_pages);
}

#[test]
fn a_limit_ends_a_measurement() {
    let config = WorkloadConfig::default();
    let mut source = Generator::new(&config, 1).unwrap();
    assert_eq!(measure(&mut source, 10_000, None).unwrap().requests, 10_000);
}
