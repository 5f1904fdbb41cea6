//! What a report draws, beyond the figures of every result.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::SimTime;
use ssdlab_core::account::Part;
use ssdlab_core::drive::BlockInfo;
use ssdlab_core::stats::Ended;
use ssdlab_core::{Drive, Op};

use super::series::Interval;

/// What a report draws.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Detail {
    /// How latencies are distributed, by kind and submission queue; only kinds that occurred.
    pub distributions: Vec<Distribution>,
    /// How old the data was that was read from flash, for the host or by the controller: `[age in
    /// seconds of the cells' clock, share of the reads whose data was no older]`, rising, as of
    /// latencies; of one read in sixteen. Absent under flat physics, and if nothing was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ages: Option<Vec<[f64; 2]>>,
    /// How far apart the retries are that pages of what the host read needed, of one read in 256.
    /// Absent under flat physics, and if it read nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries_apart: Option<RetriesApart>,
    /// The requests that took longest, the slowest first.
    pub slowest: Vec<Slow>,
    /// The run in intervals, at most 2,000: neighbours are joined where there are more.
    pub series: Vec<Interval>,
    /// Share of the time in which each array unit was in service.
    pub die_busy: Vec<f64>,
    /// Share of the time in which each bus was in service.
    pub bus_busy: Vec<f64>,
    /// The blocks at the end.
    pub blocks: BlockMap,
}

/// How far apart the retries are that pages needed as they were read.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RetriesApart {
    /// Between the worst pages of all blocks that were read, whenever that was.
    pub blocks: u8,
    /// Between the best and the worst page of a block as it was read, at most.
    pub pages: u8,
}

/// Latencies of one kind of request of one submission queue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Distribution {
    /// `read` or `write`.
    pub kind: &'static str,
    /// The submission queue.
    pub queue: u8,
    /// Requests.
    pub requests: u64,
    /// `[latency in microseconds, share of the requests that took no longer]`, rising: so many of
    /// them that between two of them the share grows by no more than 1 % of all requests, and that
    /// of those that took longer falls by no more than 4 % of itself, but where one latency alone
    /// makes up more.
    pub points: Vec<[f64; 2]>,
}

/// A request that took long.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Slow {
    /// Its place among the requests of the run, from 0; those of earlier replays come before it.
    pub number: u64,
    /// When it arrived, in seconds of the run.
    pub arrival_s: f64,
    /// What it asked.
    pub kind: &'static str,
    /// Its submission queue.
    pub queue: u8,
    /// Its first sector.
    pub lba: u64,
    /// Its sectors.
    pub sectors: u32,
    /// Its latency in microseconds.
    pub latency_us: f64,
    /// Where its time went, in microseconds; parts of zero are left out.
    pub blame_us: BTreeMap<&'static str, f64>,
}

/// The blocks of a drive in a grid: planes from top to bottom, the blocks of a plane from left to
/// right, so many of both to a cell that the grid stays small.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlockMap {
    /// Planes of the drive, and blocks of a plane.
    pub planes: u32,
    /// See `planes`.
    pub blocks: u32,
    /// Mean P/E cycles of a cell's blocks, row by row; absent where all of them are bad.
    pub erases: Vec<Vec<Option<f64>>>,
    /// Mean share of a cell's pages that hold valid data.
    pub valid: Vec<Vec<Option<f64>>>,
    /// Mean true raw bit error rate of the worst pages of the blocks that hold data, valid or not;
    /// null where none of a cell's blocks does; absent under flat physics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rber: Option<Vec<Vec<Option<f64>>>>,
}

/// Slow requests that are told.
const SLOWEST: usize = 20;
/// Rows and columns of a block map at most.
const GRID: u32 = 48;

/// The slowest requests so far.
#[derive(Debug, Default)]
pub(super) struct Slowest {
    /// By latency; of equal ones the earlier is kept.
    heap: BinaryHeap<Reverse<Ranked>>,
}

#[derive(Debug)]
struct Ranked(u64, Ended);

impl Ranked {
    fn rank(&self) -> (u64, Reverse<u64>) {
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
    /// A request has ended.
    pub(super) fn count(&mut self, ended: &Ended) {
        let latency = ended.end - ended.request.arrival.as_ns();
        let least = self.heap.peek().map_or(0, |Reverse(least)| least.0);
        if self.heap.len() < SLOWEST || latency >= least {
            self.heap.push(Reverse(Ranked(latency, *ended)));
        }
        if self.heap.len() > SLOWEST {
            self.heap.pop();
        }
    }

    /// The slowest first.
    pub(super) fn into_list(self, began: u64) -> Vec<Slow> {
        let ranked = self.heap.into_sorted_vec().into_iter();
        ranked.map(|Reverse(Ranked(latency, ended))| slow(latency, &ended, began)).collect()
    }
}

fn slow(latency: u64, ended: &Ended, began: u64) -> Slow {
    let request = &ended.request;
    let parts = Part::NAMES.into_iter().zip(ended.blame).filter(|(_, ns)| *ns > 0);
    Slow {
        number: request.tag,
        arrival_s: (request.arrival.as_ns() - began) as f64 / 1e9,
        kind: request.op.name(),
        queue: request.queue,
        lba: request.lba,
        sectors: request.sectors,
        latency_us: latency as f64 / 1e3,
        blame_us: parts.map(|(name, ns)| (name, ns as f64 / 1e3)).collect(),
    }
}

/// How the latencies of every queue's reads and writes are distributed.
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

/// How old the data was that was read.
pub(super) fn read_ages(drive: &Drive) -> Option<Vec<[f64; 2]>> {
    let ages = drive.flash().cells.ages();
    (!ages.is_empty()).then(|| points(ages, ages.max(), 1e3))
}

/// How far apart pages were of what was read.
pub(super) fn retries_apart(drive: &Drive) -> Option<RetriesApart> {
    let apart = drive.flash().cells.apart()?;
    let (blocks, pages) = (apart.between_blocks()?, apart.within_a_block());
    Some(RetriesApart { blocks, pages })
}

/// How far the share of the requests that took no longer may rise between two points, …
const RISE: f64 = 0.01;
/// … and to what part of itself the share of those that took longer may fall.
const FALL: f64 = 0.96;
/// Quantiles whose latencies a result has: the line goes through each.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Of all values that occurred, to the histogram's digits and over `unit`, so few that a line of
/// steps through them is nowhere off by more than [`RISE`] or [`FALL`]: some hundred, and 57 more
/// for every power of ten of the values. None is above `most`.
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

/// The blocks of a drive at `now`.
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

/// `count` things in at most [`GRID`] runs of nearly equal length.
fn parts(count: u32) -> impl Iterator<Item = Range<u32>> {
    let runs = count.min(GRID);
    let at = move |run: u32| (u64::from(count) * u64::from(run) / u64::from(runs)) as u32;
    (0..runs).map(move |run| at(run)..at(run + 1))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0u64, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}
