//! Fits a shape to an excerpt of a real trace.

use std::collections::{BTreeMap, VecDeque};

use ssdlab_base::quantity::Share;
use ssdlab_base::{Bytes, Nanos, math, units::SECTOR_BYTES};

use super::arrivals::Arrivals;
use super::direction::{ENDS, REGULARS, regular};
use super::figures::{Figure, Targets};
use super::meter::Meter;
use super::quantiles::Quantiles;
use super::shape::{Habits, Overlap, Shape};
use crate::measure::{Measure, Measured};
use crate::record::{Op, Record};

/// Sectors of a page of 4 KiB.
const PAGE: u64 = 4096 / SECTOR_BYTES;
/// The number of sizes that a fit keeps. It replaces a rarer size by the next larger one kept.
const SIZES: usize = 24;
/// The largest share of the moved bytes that a fit counts as new.
const MAX_NEW: f64 = 0.85;
/// The largest extent, and so the largest request size, that a fit produces.
const MAX_EXTENT: u64 = 1 << 20;

/// Parameters that the trace does not show, so they are tried: see [`fit`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The limit between near and far returns, in requests of the same kind. A place last used
    /// longer ago belongs to the hot set; a nearer one is returned to.
    pub near: u64,
    /// The exponent of Zipf's law within the hot set.
    pub theta: f64,
    /// A factor on how often a request returns as far back as the one before it.
    pub follow: f64,
    /// Whether requests continue behind earlier ones through known places. If not, they return to
    /// each place separately.
    pub along: bool,
    /// Whether places are classed by their number of returns.
    pub regulars: bool,
}

impl Trial {
    /// Returns all trials.
    pub fn all() -> Vec<Trial> {
        let mut all = Vec::new();
        for near in [32, 256, 2048, 60_000] {
            for theta in [0.2, 0.7, 1.0, 1.3] {
                for follow in [0.0, 0.5, 1.0] {
                    for along in [false, true] {
                        let trial = |regulars| Trial { near, theta, follow, along, regulars };
                        all.extend([false, true].map(trial));
                    }
                }
            }
        }
        all
    }
}

/// Returns the statistics of `records` as targets, and a shape for a twin of them.
///
/// Arrivals, sizes, and the lags of returns come from the records. The caller tries the other
/// parameters of the model, trial by trial.
pub fn fit(records: &[Record], source: &str, trial: Trial) -> (Targets, Shape) {
    let mut measure = Measure::default();
    measure.take(records);
    let measured = measure.finish();
    let (targets, align) = (targets(&measured, source), align(records));
    let extent = extent(records);
    let (mut lags, mut along) = (Vec::new(), Vec::new());
    let read = habits(records, Op::Read, &measured, extent, trial, &mut lags, &mut along);
    let write = habits(records, Op::Write, &measured, extent, trial, &mut lags, &mut along);
    let mut meter = Meter::new(1.0);
    meter.take(records);
    let arrivals = meter.finish(source);
    let growth = share(growth(&arrivals));
    let shape = Shape {
        source: source.to_owned(),
        arrivals,
        growth,
        lags: rounded(Quantiles::of(&mut lags)),
        along_lags: rounded(Quantiles::of(&mut along)),
        align,
        shift: Bytes::new(0),
        extent,
        in_order: None,
        hot_anywhere: false,
        small_in_page: false,
        shared: Share::new(0.0),
        new: Share::new(0.2),
        overlap: Overlap::default(),
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
    // A generator must return to some places, so not all touched pages can be new.
    let moved = |mean: f64, count: u64| mean.max(4096.0) * count as f64;
    let read = moved(measured.mean_read, measured.reads);
    let all = read + moved(measured.mean_write, measured.requests - measured.reads);
    let pages = |pages: u64, of: f64| {
        figure(Bytes::new((pages as f64 * 4096.0).min(MAX_NEW * of).round() as u64), source)
    };
    Targets {
        requests: figure(measured.requests, source),
        read_ratio: figure(Share::new(measured.read_ratio), source),
        mean_read: bytes(measured.mean_read),
        mean_write: bytes(measured.mean_write),
        footprint: pages(measured.footprint_pages, all),
        read_set: pages(measured.read_pages, read),
        span: figure(Nanos::from_ns((measured.span_s * 1e9) as u64), source),
        ..Targets::default()
    }
}

/// Returns how the dispersion of all requests grows over the last two decades of windows: the slope
/// between the logarithms.
pub fn growth(arrivals: &Arrivals) -> f64 {
    let all = arrivals.windows_us.iter().zip(&arrivals.all);
    let points: Vec<[f64; 2]> =
        all.map(|(window, all)| [math::log2(*window), math::log2(all.max(1e-3))]).collect();
    match points[..] {
        [.., first, _, last] => ((last[1] - first[1]) / (last[0] - first[0])).clamp(0.0, 0.9),
        _ => 0.0,
    }
}

/// Returns the shares of the returns by class of their places, without empty classes at the end.
fn regulars(places: &PlaceCounts) -> Vec<f64> {
    let upto = places.regulars.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
    let shares = places.regulars[..upto].iter();
    shares.map(|count| share(*count as f64 / places.near as f64).get()).collect()
}

/// Returns the probability to repeat a size without a draw that gives as many equal neighbors.
fn persistence(sizes: &[u32]) -> f64 {
    let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
    sizes.iter().for_each(|size| *counts.entry(*size).or_default() += 1.0);
    let count = sizes.len().max(2) as f64;
    let chance: f64 = counts.values().map(|times| (times / count) * (times / count)).sum();
    let same = sizes.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64 / (count - 1.0);
    if chance > 0.999 { 0.0 } else { ((same - chance) / (1.0 - chance)).clamp(0.0, 0.99) }
}

fn align(records: &[Record]) -> Bytes {
    let whole = records.iter().filter(|record| record.lba.is_multiple_of(PAGE)).count();
    Bytes::new(if whole * 10 > records.len() * 9 { 4096 } else { 512 })
}

fn extent(records: &[Record]) -> Bytes {
    let largest = records.iter().map(|record| u64::from(record.sectors) * SECTOR_BYTES).max();
    let largest = largest.unwrap_or(0).next_power_of_two();
    Bytes::new(largest.clamp(1 << 16, MAX_EXTENT))
}

/// Counts of the requests of one kind by the kind of their place.
#[derive(Default)]
struct PlaceCounts {
    new: u64,
    near: u64,
    across: u64,
    far: u64,
    /// The slots of far returns, with their numbers of requests.
    hot: BTreeMap<u64, u64>,
    /// Requests for known places that began where an earlier request ended.
    along: u64,
    /// New places that began where the last request of the same kind ended.
    in_order: u64,
    /// Requests that did not continue the one before. The indices are `[last for a known place]`
    /// and `[this one for a known place]`.
    transitions: [[u64; 2]; 2],
    /// Near returns that went as far back as the request before.
    follow: u64,
    /// Near returns by the class of their place.
    regulars: [u64; REGULARS],
}

impl PlaceCounts {
    /// Returns the probability to stay with known places, or with new ones, that gives as many
    /// stays.
    fn stays(&self, known: bool) -> Share {
        let transitions = self.transitions[usize::from(known)];
        let of = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let chance = of(if known { self.known() } else { self.new }, self.known() + self.new);
        let stayed = of(transitions[usize::from(known)], transitions[0] + transitions[1]);
        share((stayed - chance) / (1.0 - chance).max(1e-3))
    }

    fn known(&self) -> u64 {
        self.along + self.near + self.far
    }
}

/// Returns the habits of one kind of requests. Adds the lags of its returns to `lags`, and those of
/// the ends that it continues from to `along`.
fn habits(
    records: &[Record],
    op: Op,
    measured: &Measured,
    extent: Bytes,
    trial: Trial,
    lags: &mut Vec<f64>,
    along: &mut Vec<f64>,
) -> Habits {
    let places = count_places(records, op, trial, lags, along);
    let own = records.iter().filter(|record| record.op == op);
    let of = |part: u64, whole: u64| share(part as f64 / whole.max(1) as f64);
    let pages = match op {
        Op::Read => measured.read_pages,
        _ => measured.write_pages,
    };
    Habits {
        run: of(places.in_order, places.new),
        follow: share(trial.follow * places.follow as f64 / places.near.max(1) as f64),
        new_run: places.stays(false),
        known_run: places.stays(true),
        along: of(places.along, places.known()),
        again: of(places.near, places.near + places.far),
        across: of(places.across, places.near),
        regulars: if trial.regulars { regulars(&places) } else { Vec::new() },
        hot: of(places.hot.len() as u64, measured.footprint_pages),
        theta: trial.theta,
        rounds: Share::new(0.0),
        scans: Share::new(0.0),
        reach: Some(of(pages, measured.footprint_pages)),
        size_run: share(persistence(&own.map(|record| record.sectors).collect::<Vec<u32>>())),
        sizes: sizes(records, op, extent),
    }
}

impl PlaceCounts {
    /// Counts whether a known place followed a known one.
    fn count_transition(&mut self, before: Option<bool>, now: bool) {
        if let Some(before) = before {
            self.transitions[usize::from(before)][usize::from(now)] += 1;
        }
    }
}

fn count_places(
    records: &[Record],
    op: Op,
    trial: Trial,
    lags: &mut Vec<f64>,
    along: &mut Vec<f64>,
) -> PlaceCounts {
    let near = trial.near;
    let mut places = PlaceCounts::default();
    // The last request for each page: its kind, and its number within its kind.
    let mut last: BTreeMap<u64, (Op, u64)> = BTreeMap::new();
    // The number of returns to places that end in each page.
    let mut times: BTreeMap<u64, u64> = BTreeMap::new();
    let mut counts = [0u64; 2];
    let (mut end, mut lag_before, mut known_before) = (u64::MAX, None, None);
    // The last request ends of this kind that border on known places, unless a later request
    // continued there.
    let mut ends: VecDeque<Option<u64>> = VecDeque::new();
    for record in records.iter().filter(|record| matches!(record.op, Op::Read | Op::Write)) {
        let first = record.lba / PAGE;
        let upto = (record.lba + u64::from(record.sectors).max(1) - 1) / PAGE;
        // A request that continues within a page has a known place if its last page is known.
        let known = last.get(&upto).copied();
        let returned = times.entry(upto).or_default();
        let lag = known.map(|(op, index)| (op, counts[usize::from(op == Op::Write)] - index));
        if record.op == op {
            let before = ends.iter().position(|end| trial.along && *end == Some(record.lba));
            let mut gone_on = false;
            match lag {
                None => {
                    places.new += 1;
                    places.in_order += u64::from(record.lba == end);
                    gone_on = record.lba == end;
                }
                Some((_, lag)) if before.is_some() => {
                    places.along += 1;
                    along.extend(before.map(|place| place as f64 + 1.0));
                    // A request that continues has the same lag as the one that it continues. A
                    // request that continues within a page has a lag of 1, which tells nothing.
                    lags.extend((lag > 1 && lag <= near).then_some(lag as f64));
                }
                Some((_, lag)) if lag > near => {
                    places.far += 1;
                    *places.hot.entry(first).or_default() += 1;
                }
                Some((other, lag)) => {
                    places.near += 1;
                    places.across += u64::from(other != op);
                    places.regulars[regular(*returned)] += 1;
                    places.follow += u64::from(lag_before == Some((other, lag)));
                    gone_on = trial.follow > 0.0 && lag_before == Some((other, lag));
                    lags.push(lag as f64);
                }
            }
            places.count_transition(known_before.filter(|_| !gone_on), lag.is_some());
            known_before = Some(lag.is_some());
            (end, lag_before) = (record.lba + u64::from(record.sectors), lag);
            before.into_iter().for_each(|place| ends[place] = None);
        }
        *returned += u64::from(lag.is_some());
        let kind = usize::from(record.op == Op::Write);
        last.extend((first..=upto).map(|page| (page, (record.op, counts[kind]))));
        counts[kind] += 1;
        if record.op == op && last.contains_key(&(end / PAGE)) {
            ends.push_front(Some(end));
            ends.truncate(ENDS);
        }
    }
    places
}

/// Returns the most frequent sizes and the largest one, with the weights of all sizes.
fn sizes(records: &[Record], op: Op, extent: Bytes) -> Vec<(Bytes, f64)> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for record in records.iter().filter(|record| record.op == op && record.sectors > 0) {
        *counts.entry((u64::from(record.sectors) * SECTOR_BYTES).min(extent.get())).or_default() +=
            1;
    }
    let mut common: Vec<(u64, u64)> = counts.iter().map(|(size, count)| (*size, *count)).collect();
    common.sort_by_key(|(size, count)| (std::cmp::Reverse(*count), *size));
    let mut largest: BTreeMap<u64, u64> =
        common.iter().take(SIZES).map(|(size, _)| (*size, 0)).collect();
    largest.extend(counts.keys().last().map(|size| (*size, 0)));
    for (size, count) in counts {
        if let Some((_, weight)) = largest.range_mut(size..).next() {
            *weight += count;
        }
    }
    if largest.is_empty() {
        largest.insert(4096, 1);
    }
    largest.into_iter().map(|(size, count)| (Bytes::new(size), count as f64)).collect()
}

fn share(value: f64) -> Share {
    Share::new((value.clamp(0.0, 1.0) * 1e4).round() / 1e4)
}

/// Rounds the quantiles to six digits.
fn rounded(quantiles: Quantiles) -> Quantiles {
    let each = |list: Vec<f64>| list.into_iter().map(six_digits).collect();
    Quantiles { steps: each(quantiles.steps), tail: each(quantiles.tail) }
}

fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
