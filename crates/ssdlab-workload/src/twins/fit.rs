//! A shape from a piece of a real trace.

use std::collections::BTreeMap;

use ssdlab_base::quantity::Share;
use ssdlab_base::{Bytes, Nanos, units::SECTOR_BYTES};

use super::figures::{Figure, Targets};
use super::quantiles::Quantiles;
use super::shape::{Habits, Shape};
use crate::measure::{Measure, Measured};
use crate::record::{Op, Record};

/// Sectors of a page of 4 KiB.
const PAGE: u64 = 4096 / SECTOR_BYTES;
/// Sizes that a fit keeps; rarer ones are taken for the next larger that is kept.
const SIZES: usize = 24;
/// The largest extent, and so the largest size, that a fit makes.
const EXTENT_MOST: u64 = 1 << 20;

/// What is not read off the trace, but tried: see [`fit`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// A place last asked for longer ago than so many requests of its kind belongs to the hot
    /// set; one asked for sooner is returned to.
    pub near: u64,
    /// The exponent of Zipf's law within the hot set.
    pub theta: f64,
    /// A factor on how often a request returns as far back as the one before it.
    pub follow: f64,
}

impl Trial {
    /// All that are tried.
    pub fn all() -> Vec<Trial> {
        let mut all = Vec::new();
        for near in [32, 256, 2048, 60_000] {
            for theta in [0.2, 0.7, 1.0, 1.3] {
                for follow in [0.0, 0.5, 1.0] {
                    all.push(Trial { near, theta, follow });
                }
            }
        }
        all
    }
}

/// The statistics of `records` as targets, and a shape under which a twin does as they do.
///
/// Gaps, sizes, the order of reads and writes and the lags of returns are theirs; what the model
/// has besides is tried out by the caller, trial by trial.
pub fn fit(records: &[Record], source: &str, trial: Trial) -> (Targets, Shape) {
    let mut measure = Measure::default();
    measure.take(records);
    let measured = measure.finish();
    let (targets, align) = (targets(&measured, source), align(records));
    let extent = extent(records);
    let mut lags = Vec::new();
    let read = habits(records, Op::Read, &measured, extent, trial, &mut lags);
    let write = habits(records, Op::Write, &measured, extent, trial, &mut lags);
    let gaps = || records.windows(2).map(|pair| (pair[1].at - pair[0].at).as_ns() as f64 / 1e3);
    let mean = gaps().sum::<f64>() / gaps().count().max(1) as f64;
    let table = rounded(Quantiles::of(&mut gaps().collect::<Vec<f64>>()));
    let limit = table.steps[table.steps_below(mean)];
    let reads: Vec<bool> = records.iter().map(|record| record.op == Op::Read).collect();
    let shape = Shape {
        source: source.to_owned(),
        gaps_us: table,
        bursts: rounded(Quantiles::of(&mut rows(gaps().map(|gap| gap <= limit)))),
        op_run: share(persistence(&reads)),
        lags: rounded(Quantiles::of(&mut lags)),
        align,
        extent,
        in_order: None,
        shared: Share::new(0.0),
        new: Share::new(0.2),
        read,
        write,
    };
    (targets, shape)
}

fn targets(measured: &Measured, source: &str) -> Targets {
    fn figure<T>(value: T, source: &str) -> Option<Figure<T>> {
        Some(Figure(value, source.to_owned()))
    }
    let bytes = |value: f64| figure(Bytes::new(value.round() as u64), source);
    let pages = |pages: u64| figure(Bytes::new(pages * 4096), source);
    Targets {
        requests: figure(measured.requests, source),
        read_ratio: figure(Share::new(measured.read_ratio), source),
        mean_read: bytes(measured.mean_read),
        mean_write: bytes(measured.mean_write),
        footprint: pages(measured.footprint_pages),
        read_set: pages(measured.read_pages),
        span: figure(Nanos::from_ns((measured.span_s * 1e9) as u64), source),
        ..Targets::default()
    }
}

/// How many short gaps come in a row, before each long one and at the end.
fn rows(short: impl Iterator<Item = bool>) -> Vec<f64> {
    let mut rows = vec![0.0];
    for short in short {
        match (short, rows.last_mut()) {
            (true, Some(row)) => *row += 1.0,
            _ => rows.push(0.0),
        }
    }
    rows
}

/// The probability of going on as before that a two-state chain with this sequence has.
fn persistence(states: &[bool]) -> f64 {
    let count = states.len().max(2) as f64;
    let share = states.iter().filter(|state| **state).count() as f64 / count;
    let both = states.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64 / (count - 1.0);
    let spread = share * (1.0 - share);
    if spread < 1e-9 { 0.0 } else { ((both - share * share) / spread).clamp(0.0, 0.99) }
}

fn align(records: &[Record]) -> Bytes {
    let whole = records.iter().filter(|record| record.lba.is_multiple_of(PAGE)).count();
    Bytes::new(if whole * 10 > records.len() * 9 { 4096 } else { 512 })
}

fn extent(records: &[Record]) -> Bytes {
    let largest = records.iter().map(|record| u64::from(record.sectors) * SECTOR_BYTES).max();
    let largest = largest.unwrap_or(0).next_power_of_two();
    Bytes::new(largest.clamp(1 << 16, EXTENT_MOST))
}

/// What became of requests of one kind.
#[derive(Default)]
struct Ways {
    new: u64,
    near: u64,
    across: u64,
    far: u64,
    /// Slots that far requests went to.
    hot: BTreeMap<u64, u64>,
    /// Of the new ones, those that began where the one before of their kind ended.
    in_order: u64,
    /// Of the near ones, those that returned as far back as the one before.
    follow: u64,
}

/// The habits of the requests of one kind; the lags of their returns are added to `lags`.
fn habits(
    records: &[Record],
    op: Op,
    measured: &Measured,
    extent: Bytes,
    trial: Trial,
    lags: &mut Vec<f64>,
) -> Habits {
    let ways = ways(records, op, trial.near, lags);
    let of = |part: u64, whole: u64| share(part as f64 / whole.max(1) as f64);
    let pages = match op {
        Op::Read => measured.read_pages,
        _ => measured.write_pages,
    };
    Habits {
        run: of(ways.in_order, ways.new),
        follow: share(trial.follow * ways.follow as f64 / ways.near.max(1) as f64),
        again: of(ways.near, ways.near + ways.far),
        across: of(ways.across, ways.near),
        hot: of(ways.hot.len() as u64, measured.footprint_pages),
        theta: trial.theta,
        reach: of(pages, measured.footprint_pages),
        sizes: sizes(records, op, extent),
    }
}

fn ways(records: &[Record], op: Op, near: u64, lags: &mut Vec<f64>) -> Ways {
    let mut ways = Ways::default();
    // The last request for each page: its kind, and its number among its kind.
    let mut last: BTreeMap<u64, (Op, u64)> = BTreeMap::new();
    let mut counts = [0u64; 2];
    let (mut end, mut lag_before) = (u64::MAX, None);
    for record in records.iter().filter(|record| matches!(record.op, Op::Read | Op::Write)) {
        let kind = usize::from(record.op == Op::Write);
        let first = record.lba / PAGE;
        if record.op == op {
            let known = last.get(&first).copied();
            let lag = known.map(|(op, index)| (op, counts[usize::from(op == Op::Write)] - index));
            match lag {
                None => {
                    ways.new += 1;
                    ways.in_order += u64::from(record.lba == end);
                }
                Some((_, lag)) if lag > near => {
                    ways.far += 1;
                    *ways.hot.entry(first).or_default() += 1;
                }
                Some((other, lag)) => {
                    ways.near += 1;
                    ways.across += u64::from(other != op);
                    ways.follow += u64::from(lag_before == Some((other, lag)));
                    lags.push(lag as f64);
                }
            }
            (end, lag_before) = (record.lba + u64::from(record.sectors), lag);
        }
        let upto = (record.lba + u64::from(record.sectors).max(1) - 1) / PAGE;
        for page in first..=upto {
            last.insert(page, (record.op, counts[kind]));
        }
        counts[kind] += 1;
    }
    ways
}

/// The commonest sizes and the largest, with the weights of all.
fn sizes(records: &[Record], op: Op, extent: Bytes) -> Vec<(Bytes, f64)> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for record in records.iter().filter(|record| record.op == op && record.sectors > 0) {
        *counts.entry((u64::from(record.sectors) * SECTOR_BYTES).min(extent.get())).or_default() +=
            1;
    }
    let mut common: Vec<(u64, u64)> = counts.iter().map(|(size, count)| (*size, *count)).collect();
    common.sort_by_key(|(size, count)| (std::cmp::Reverse(*count), *size));
    let mut kept: BTreeMap<u64, u64> =
        common.iter().take(SIZES).map(|(size, _)| (*size, 0)).collect();
    kept.extend(counts.keys().last().map(|size| (*size, 0)));
    for (size, count) in counts {
        if let Some((_, weight)) = kept.range_mut(size..).next() {
            *weight += count;
        }
    }
    if kept.is_empty() {
        kept.insert(4096, 1);
    }
    kept.into_iter().map(|(size, count)| (Bytes::new(size), count as f64)).collect()
}

fn share(value: f64) -> Share {
    Share::new((value.clamp(0.0, 1.0) * 1e4).round() / 1e4)
}

/// The quantiles to six digits.
fn rounded(quantiles: Quantiles) -> Quantiles {
    let each = |list: Vec<f64>| list.into_iter().map(six_digits).collect();
    Quantiles { steps: each(quantiles.steps), tail: each(quantiles.tail) }
}

fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
