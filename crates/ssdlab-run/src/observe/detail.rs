//! The data of a report, beyond the figures of every result.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::{Nanos, SimTime};
use ssdlab_core::account::{Blame, Part};
use ssdlab_core::drive::BlockInfo;
use ssdlab_core::stats::{Behind, Ended};
use ssdlab_core::{Drive, Op};

use super::series::Interval;

/// The data of a report.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Detail {
    /// Latency distributions by kind and submission queue; only kinds that occurred.
    pub distributions: Vec<Distribution>,
    /// Age distribution of the data read from flash, for the host or by the controller: `[age in
    /// seconds of the cells' clock, share of the reads whose data was no older]`. Ages rise from
    /// point to point. One read in sixteen is sampled. The spacing of the points is that of
    /// `distributions`. Absent under flat physics, and if nothing was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ages: Option<Vec<[f64; 2]>>,
    /// Spread of the retries that pages read for the host needed. One read in 256 is sampled.
    /// Absent under flat physics, and if the host read nothing from flash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_spread: Option<RetrySpread>,
    /// The requests with the largest latencies, the slowest first.
    pub slowest: Vec<Slow>,
    /// The run in intervals, at most 2,000. If there are more, neighbors are merged.
    pub series: Vec<Interval>,
    /// Share of the time in which each array unit was in service.
    pub die_busy: Vec<f64>,
    /// Share of the time in which each bus was in service.
    pub bus_busy: Vec<f64>,
    /// The blocks at the end of the run.
    pub blocks: BlockMap,
}

/// Spread of the retries that pages needed when they were read.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RetrySpread {
    /// Difference between the worst pages of all blocks that were read, even if at different times.
    pub blocks: u8,
    /// The largest difference between the best and the worst page of a block when it was read.
    pub pages: u8,
}

/// Latency distribution of one kind of request of one submission queue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Distribution {
    /// `read` or `write`.
    pub kind: &'static str,
    /// The submission queue.
    pub queue: u8,
    /// The number of requests.
    pub requests: u64,
    /// `[latency in microseconds, share of the requests that took no longer]`, in rising order.
    /// Between two points, this share grows by at most 1 % of all requests. The share of the slower
    /// requests falls by at most 4 % of its value. A single latency that makes up more is the
    /// exception.
    pub points: Vec<[f64; 2]>,
}

/// One of the slowest requests.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Slow {
    /// Its number among the requests of the run, from 0. Earlier replays come first.
    pub number: u64,
    /// When it arrived, in seconds of the run.
    pub arrival_s: f64,
    /// Its operation.
    pub kind: &'static str,
    /// Its submission queue.
    pub queue: u8,
    /// Its first sector.
    pub lba: u64,
    /// Its length in sectors.
    pub sectors: u32,
    /// Its latency in microseconds.
    pub latency_us: f64,
    /// The parts of its latency in microseconds. Parts of zero are left out.
    pub blame_us: BTreeMap<&'static str, f64>,
    /// The earlier operation for which it waited on its page: its `kind` and the `number` of its
    /// request. Absent if it did not wait there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<Earlier>,
    /// What the earlier operation did during the wait, in microseconds. The parts sum to `page` in
    /// `blame_us`. If the wait began while the operation waited for a die, these waits are divided
    /// in proportion. Empty without a wait.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub page_blame_us: BTreeMap<&'static str, f64>,
}

/// The earlier operation for which a request waited on its page.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Earlier {
    /// `read`, `write` or `trim`, or `buffer` if the buffer programmed the page.
    pub kind: &'static str,
    /// The number of its request; null if the buffer programmed the page.
    pub number: Option<u64>,
}

/// The blocks of a drive as a grid: planes from top to bottom, blocks of a plane from left to
/// right. A cell covers several planes and blocks, so that the grid stays small.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlockMap {
    /// Planes of the drive.
    pub planes: u32,
    /// Blocks of a plane.
    pub blocks: u32,
    /// Mean P/E cycles of a cell's blocks, row by row; null where all of them are bad.
    pub erases: Vec<Vec<Option<f64>>>,
    /// Mean share of a cell's pages that hold valid data, row by row; null where all blocks are
    /// bad.
    pub valid: Vec<Vec<Option<f64>>>,
    /// Mean true raw bit error rate of the worst pages of a cell's blocks, row by row. Only blocks
    /// that hold data count, valid or not; null where there are none. Absent under flat physics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rber: Option<Vec<Vec<Option<f64>>>>,
}

/// The number of slowest requests that a report lists.
const SLOWEST: usize = 20;
/// The most rows and columns of a block map.
const GRID: u32 = 48;

/// The slowest requests so far.
#[derive(Debug, Default)]
pub(super) struct Slowest {
    /// Ordered by latency. Of equal latencies, the earlier request is kept.
    heap: BinaryHeap<Reverse<Ranked>>,
}

#[derive(Debug)]
struct Ranked(Nanos, Ended);

impl Ranked {
    fn rank(&self) -> (Nanos, Reverse<u64>) {
        (self.0, Reverse(self.1.request.tag))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Ranked) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl Slowest {
    /// Counts a request that has ended.
    pub(super) fn count(&mut self, ended: &Ended) {
        let latency = ended.end - ended.request.arrival;
        let least = self.heap.peek().map_or(Nanos::ZERO, |Reverse(least)| least.0);
        if self.heap.len() < SLOWEST || latency >= least {
            self.heap.push(Reverse(Ranked(latency, *ended)));
        }
        if self.heap.len() > SLOWEST {
            self.heap.pop();
        }
    }

    /// Returns the requests, the slowest first.
    pub(super) fn into_list(self, began: SimTime) -> Vec<Slow> {
        let ranked = self.heap.into_sorted_vec().into_iter();
        ranked.map(|Reverse(Ranked(latency, ended))| slow(latency, &ended, began)).collect()
    }
}

fn slow(latency: Nanos, ended: &Ended, began: SimTime) -> Slow {
    let request = &ended.request;
    let earlier = |behind: Behind| match behind.request {
        Some((op, tag)) => Earlier { kind: op.name(), number: Some(tag) },
        None => Earlier { kind: "buffer", number: None },
    };
    Slow {
        number: request.tag,
        arrival_s: (request.arrival - began).as_secs(),
        kind: request.op.name(),
        queue: request.queue,
        lba: request.lba,
        sectors: request.sectors,
        latency_us: latency.as_us(),
        blame_us: parts_us(&ended.blame),
        behind: ended.behind.map(earlier),
        page_blame_us: ended.behind.map(|behind| parts_us(&behind.blame)).unwrap_or_default(),
    }
}

/// Returns the parts of a latency that are not zero, in microseconds.
fn parts_us(blame: &Blame) -> BTreeMap<&'static str, f64> {
    let parts = Part::NAMES.into_iter().zip(blame).filter(|(_, ns)| **ns > 0);
    parts.map(|(name, ns)| (name, *ns as f64 / 1e3)).collect()
}

/// Returns the latency distributions of every queue's reads and writes.
pub(super) fn distributions(drive: &Drive) -> Vec<Distribution> {
    let queues = (0..).zip(&drive.stats().latencies);
    let kinds = queues.flat_map(|(queue, kinds)| {
        [Op::Read, Op::Write].map(|op| (queue, op, &kinds[op as usize]))
    });
    kinds
        .filter(|(_, _, latencies)| latencies.count() > 0)
        .map(|(queue, op, latencies)| Distribution {
            kind: op.name(),
            queue,
            requests: latencies.count(),
            points: points(&latencies.histogram, latencies.max_ns, 1e3),
        })
        .collect()
}

/// Returns the age distribution of the data read.
pub(super) fn read_ages(drive: &Drive) -> Option<Vec<[f64; 2]>> {
    let ages = drive.flash().cells.ages();
    (!ages.is_empty()).then(|| points(ages, ages.max(), 1e3))
}

/// Returns the spread of retries over the pages read.
pub(super) fn retry_spread(drive: &Drive) -> Option<RetrySpread> {
    let spread = drive.flash().cells.retry_spread()?;
    let (blocks, pages) = (spread.between_blocks()?, spread.within_a_block());
    Some(RetrySpread { blocks, pages })
}

/// The largest rise of the share of requests that took no longer, from one point to the next.
const RISE: f64 = 0.01;
/// The least ratio of the share of slower requests, from one point to the next.
const FALL: f64 = 0.96;
/// Quantiles that a result states. The line passes through each of them.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Selects points of the distribution for a step line. Nowhere does the line miss the distribution
/// by more than [`RISE`] or [`FALL`]. It has about a hundred points, and 57 more for every power of
/// ten of the values. Values have the histogram's resolution, are at most `most`, and are divided
/// by `unit`.
fn points(histogram: &Histogram<u64>, most: u64, unit: f64) -> Vec<[f64; 2]> {
    let count = histogram.len();
    let mut points: Vec<[f64; 2]> = Vec::new();
    let (mut sum, mut last) = (0, 0.0);
    for bucket in histogram.iter_recorded() {
        let before = sum;
        sum += bucket.count_since_last_iteration();
        let share = sum as f64 / count as f64;
        let ranks = QUANTILES.map(|quantile| (quantile * count as f64).ceil() as u64);
        let off = share - last > RISE || 1.0 - share < FALL * (1.0 - last);
        if off || ranks.iter().any(|&nth| before < nth && nth <= sum) {
            points.push([bucket.value_iterated_to().min(most) as f64 / unit, share]);
            last = share;
        }
    }
    points
}

/// Returns the map of the drive's blocks at `now`.
pub(super) fn block_map(drive: &Drive, now: SimTime) -> BlockMap {
    let geometry = drive.resolved().geometry();
    let (planes, blocks) = (geometry.plane_count(), geometry.blocks);
    let grid = |figure: &dyn Fn(BlockInfo) -> Option<f64>| -> Vec<Vec<Option<f64>>> {
        let row = |planes: Range<u32>| {
            let cell = |blocks: Range<u32>| {
                let all = planes.clone().flat_map(|plane| blocks.clone().map(move |b| (plane, b)));
                let seen = all.filter_map(|(plane, block)| drive.block(plane, block, now));
                mean(seen.filter_map(figure))
            };
            parts(blocks).map(cell).collect()
        };
        parts(planes).map(row).collect()
    };
    let pages = f64::from(geometry.pages);
    let physical = !drive.resolved().chip.is_flat();
    BlockMap {
        planes,
        blocks,
        erases: grid(&|block| Some(f64::from(block.erases))),
        valid: grid(&|block| Some(f64::from(block.valid) / pages)),
        rber: physical.then(|| grid(&|block| block.rber)),
    }
}

/// Divides `count` items into at most [`GRID`] runs of nearly equal length.
fn parts(count: u32) -> impl Iterator<Item = Range<u32>> {
    let runs = count.min(GRID);
    let at = move |run: u32| (u64::from(count) * u64::from(run) / u64::from(runs)) as u32;
    (0..runs).map(move |run| at(run)..at(run + 1))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0u64, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}
