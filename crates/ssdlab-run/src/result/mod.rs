//! The result of a run, as it is written to JSON.

mod course;
mod digest;
mod mix;
mod page_types;
mod parts;
mod program_modes;
mod queues;
mod wear;

pub use course::Course;
pub use mix::MixMember;
pub use page_types::{PageTypesResult, Typed};
pub use parts::*;
pub use program_modes::{HotnessResult, ProgramModeResult, ProgramModes, ProgramModesResult};
pub use queues::{DecodedAt, Priorities, Queues};
pub use wear::{Wear, WearResult};

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_base::{Fault, SimTime};
use ssdlab_core::account::{Cause, OpKind, Part};
use ssdlab_core::drive::Life;
use ssdlab_core::policy::counters::Counters;
use ssdlab_core::stats::{Latencies, MigrationCounts, Stats};
use ssdlab_core::{Drive, Op};

use crate::observe::Detail;
use crate::precondition::PreconditionResult;
use crate::prepare::Prepared;
use crate::source::Requests;
use crate::state::contents_sha256;

/// The version of the results' layout.
pub const SCHEMA_VERSION: u32 = 2;

/// A wall clock, for figures on the simulation itself.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts the clock.
    #[expect(clippy::disallowed_methods, reason = "the wall-clock figures are what it is for")]
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// The result of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunResult {
    /// The label in the plan, if any.
    pub label: Option<String>,
    /// The device.
    pub device: String,
    /// The scheme, as typed.
    pub scheme: String,
    /// The trace, the twin, the mix or the closed-form workload.
    pub workload: String,
    /// Whether the run was stopped before its end.
    pub partial: bool,
    /// Requests that ended after the warm-up.
    pub requests: u64,
    /// Reads.
    pub read: KindResult,
    /// Writes.
    pub write: KindResult,
    /// Reads and writes together.
    pub all: KindResult,
    /// Trims that ended.
    pub trims: u64,
    /// Flushes that ended.
    pub flushes: u64,
    /// The host interface, by submission queue.
    #[serde(flatten)]
    pub queued: Queues,
    /// One result for each replay, in order; only with several replays. All other figures are then
    /// those of the last replay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replays: Vec<ReplayResult>,
    /// Simulated time after the warm-up, in seconds.
    pub duration_s: f64,
    /// Requests per second of simulated time.
    pub iops: f64,
    /// Bytes read and written per second of simulated time, in MB (10⁶ bytes).
    pub bandwidth_mb_s: f64,
    /// Write amplification: pages programmed in all, divided by those programmed for the host; null
    /// if the host programmed none.
    pub waf: Option<f64>,
    /// Flash operations by kind and cause.
    pub ops: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// Attempts of reads after the first attempt.
    pub retries: u64,
    /// Pages that could not be decoded.
    pub uncorrectable: u64,
    /// Attempts sensed ahead that were not needed, because the decode before them succeeded; only
    /// with pipelined retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensed_in_vain: Option<u64>,
    /// Programs and erases that a read interrupted.
    pub suspensions: u64,
    /// Operations suspended for host reads; only with `suspend = "esra"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspended: Option<SuspendedResult>,
    /// Garbage collection.
    pub gc: GcResult,
    /// By page type.
    #[serde(flatten)]
    pub typed: Typed,
    /// Blocks moved by static wear leveling.
    pub wear_leveled: u64,
    /// Wear of the blocks that are not bad, in P/E cycles.
    pub wear: WearResult,
    /// How hard pages were programmed.
    #[serde(flatten)]
    pub programmed: ProgramModes,
    /// Raw bit errors; absent under flat physics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bit_errors: Option<BitErrors>,
    /// Shares of the time in which parts of the drive were in service.
    pub utilization: Utilization,
    /// The page buffer; only if the drive has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferResult>,
    /// The cache of the page map; only if it does not hold the whole map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map_cache: Option<MapCacheResult>,
    /// Pages read, by the level or the retry step at which they decoded.
    #[serde(flatten)]
    pub decoded: DecodedAt,
    /// Pages moved because of how often they are read; only under a policy that moves such pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migration: Option<MigrationCounts>,
    /// Pages of each stream; only where writes go to several streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<Vec<StreamResult>>,
    /// Counters of policies, by the policy's place in the config, such as
    /// `background/inversion_repair`; only policies that count something. A policy's page explains
    /// its counters.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, Counters>,
    /// Wear of the blocks since the run began, including earlier replays; only where wear runs
    /// forward.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life: Option<Life>,
    /// Requests that overtook earlier ones; only under a scheduler that holds requests back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prioritized: Option<Prioritized>,
    /// Work of the scheduler: the number of expected end times that it examined, each of one
    /// waiting request on one plane. Only under a scheduler that holds requests back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling_steps: Option<u64>,
    /// Share of the pages programmed for the host that went to strong blocks. Strong blocks are
    /// those of any class but the last. Only where blocks are in several classes that differ in
    /// strength.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strong_share: Option<f64>,
    /// Bytes of controller memory for the policies' metadata, by structure; only if there is any.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata_bytes: BTreeMap<&'static str, u64>,
    /// Requests that extended beyond the drive's end and were moved to end there.
    pub clamped: u64,
    /// Requests whose address was folded into the drive.
    pub folded: u64,
    /// Pages read without having been written, which count as written before the start.
    pub unwritten_reads: u64,
    /// Pages read without having been written, which the drive answers without the flash.
    pub unmapped_reads: u64,
    /// Whether the drive could not keep up with the arrivals.
    pub saturated: bool,
    /// Requests that had arrived but not ended when the last request arrived.
    pub backlog: u64,
    /// How the drive settled before the run, and a figure during it.
    #[serde(flatten)]
    pub settling: Settling,
    /// The data of a report; only if the plan asks for it. Not part of the digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// SHA-256 of all figures here, of the config, and of every completion after the warm-up. The
    /// label, the workload's name, the remarks, `sim`, `detail` and `provenance` do not enter.
    pub results_digest: String,
    /// A hash of every completion after the warm-up, in order.
    #[serde(skip)]
    pub completions_digest: u64,
    /// Remarks for the user on the input and the run.
    pub remarks: Vec<String>,
    /// The simulation itself.
    pub sim: Sim,
    /// The inputs and the version that produced the result.
    pub provenance: Provenance,
}

/// A drive is saturated if three conditions hold. First: when the last request arrives, more than
/// this many requests are unfinished.
const MIN_BACKLOG: u64 = 64;
/// Second: these are more than this share of all requests.
const BACKLOG_SHARE: f64 = 0.01;
/// Third: finishing them takes more than this share of the time over which requests arrived.
const DRAIN_SHARE: f64 = 0.01;

fn share((all, part): (u64, u64)) -> f64 {
    if all > 0 { part as f64 / all as f64 } else { 0.0 }
}

fn prioritized(drive: &Drive) -> Option<Prioritized> {
    let [read, write] = drive.stats().dispatched.map(share);
    drive.holds_back().then_some(Prioritized { read, write })
}

fn strong_share(drive: &Drive) -> Option<f64> {
    let layout = drive.resolved().classes;
    // The host never writes to blocks that are reserved. The blocks of a priority are no stronger
    // than those of another.
    if layout.reserved_classes > 0 || layout.by_priority {
        return None;
    }
    let classes = layout.count;
    let pages = &drive.stats().per_class[..classes];
    let strong = pages[..classes - 1].iter().sum();
    (classes > 1).then(|| share((pages.iter().sum(), strong)))
}

fn is_saturated(course: &Course, closed: bool) -> bool {
    let arrivals = (course.last_arrival - course.began).as_ns() as f64;
    let drain = course.last_end.saturating_since(course.last_arrival).as_ns() as f64;
    let ended = course.completed - course.before;
    let total = (ended + if course.partial { course.backlog } else { 0 }) as f64;
    let behind = course.backlog > MIN_BACKLOG && course.backlog as f64 > BACKLOG_SHARE * total;
    !closed && behind && (course.partial || drain > DRAIN_SHARE * arrivals)
}

impl RunResult {
    pub(crate) fn new(
        prepared: &Prepared,
        drive: &mut Drive,
        course: &Course,
        requests: &Requests,
        settled: Option<PreconditionResult>,
        remarks: Vec<String>,
        (ready, looped): (Duration, Duration),
    ) -> Result<RunResult, Fault> {
        let (counters, metadata, stats) = (drive.counters(), drive.metadata_bytes(), drive.stats());
        let ((end, seconds), [read, write, all]) = (span(course, stats), reads_and_writes(stats));
        let (retries, uncorrectable, suspensions) = drive.flash().error_counts();
        let result = RunResult {
            label: prepared.plan.label.clone(),
            device: prepared.plan.device.clone(),
            scheme: prepared.plan.scheme_name().into(),
            workload: prepared.workload_name(),
            partial: course.partial,
            requests: requests_of(stats),
            iops: per_second(requests_of(stats) as f64, seconds),
            bandwidth_mb_s: per_second((read.bytes + write.bytes) as f64 / 1e6, seconds),
            read,
            write,
            all,
            trims: ended(stats, Op::Trim),
            flushes: ended(stats, Op::Flush),
            queued: Queues::of(drive),
            replays: course.replays.clone(),
            duration_s: seconds,
            waf: drive.write_amplification(),
            ops: ops(drive),
            retries,
            uncorrectable,
            sensed_in_vain: sensed_in_vain(drive),
            suspensions,
            suspended: SuspendedResult::of(drive),
            gc: gc(stats),
            typed: Typed::of(drive),
            wear_leveled: stats.wear_leveled,
            wear: WearResult::of(drive),
            programmed: ProgramModes::of(drive),
            bit_errors: BitErrors::of(drive),
            utilization: utilization(drive, end),
            buffer: BufferResult::of(drive),
            map_cache: map_cache(drive),
            decoded: DecodedAt::of(drive),
            migration: drive.migrates().then_some(stats.migration),
            streams: StreamResult::of(drive),
            counters,
            life: drive.life(),
            prioritized: prioritized(drive),
            scheduling_steps: drive.holds_back().then_some(stats.scheduling_steps),
            strong_share: strong_share(drive),
            metadata_bytes: metadata.into_iter().collect(),
            clamped: requests.seen.clamped,
            folded: requests.seen.folded,
            unwritten_reads: stats.unwritten_reads,
            unmapped_reads: stats.unmapped_reads,
            saturated: is_saturated(course, prepared.plan.closed.is_some()),
            backlog: course.backlog,
            settling: Settling { precondition: settled, until_settled: course.settled.clone() },
            detail: None,
            results_digest: String::new(),
            completions_digest: stats.digest,
            remarks,
            sim: Sim::default(),
            provenance: provenance(prepared, requests)?,
        };
        Ok(RunResult { sim: sim(drive, course, ready, looped), ..result.sealed() })
    }
}

/// Returns figures of the reads, of the writes, and of both together.
fn reads_and_writes(stats: &Stats) -> [KindResult; 3] {
    let ops: [&[Op]; 3] = [&[Op::Read], &[Op::Write], &[Op::Read, Op::Write]];
    ops.map(|ops| kinds(&stats.latencies, ops))
}

/// Returns the end of the measured time, and its length in seconds.
fn span(course: &Course, stats: &Stats) -> (SimTime, f64) {
    let end = course.last_end.max(stats.since);
    (end, (end - stats.since).as_secs())
}

impl ReplayResult {
    /// Returns the result of the replay that the drive's statistics cover.
    pub(crate) fn new(drive: &Drive, course: &Course) -> ReplayResult {
        let stats = drive.stats();
        let of = |ops: &[Op]| kinds(&stats.latencies, ops);
        let seconds = |at: SimTime| at.saturating_since(course.zero).as_secs();
        ReplayResult {
            start_s: seconds(course.began),
            end_s: seconds(course.last_end),
            read: of(&[Op::Read]),
            write: of(&[Op::Write]),
            all: of(&[Op::Read, Op::Write]),
            waf: drive.write_amplification(),
            gc: gc(stats),
            typed: Typed::of(drive),
            wear: WearResult::of(drive),
        }
    }
}

fn per_second(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

fn sensed_in_vain(drive: &Drive) -> Option<u64> {
    let pipelined = drive.resolved().flash.pipelined_retry.is_some();
    pipelined.then(|| drive.flash().counts.unused_senses())
}

fn map_cache(drive: &Drive) -> Option<MapCacheResult> {
    let shape = drive.resolved().map_cache;
    shape.map(|_| MapCacheResult::new(drive.stats().map))
}

/// Returns the number of requests that ended.
fn requests_of(stats: &Stats) -> u64 {
    Op::ALL.map(|op| ended(stats, op)).iter().sum()
}

/// Returns the number of requests of one kind that ended.
fn ended(stats: &Stats, op: Op) -> u64 {
    stats.latencies.iter().map(|kinds| kinds[op as usize].count()).sum()
}

/// Returns figures of the requests of these kinds, over all queues.
fn kinds(queues: &[[Latencies; Op::COUNT]], ops: &[Op]) -> KindResult {
    let mut all = Latencies::default();
    for one in queues.iter().flat_map(|queue| ops.iter().map(|&op| &queue[op as usize])) {
        all.histogram.add(&one.histogram).expect("a histogram that grows as needed");
        all.sum_ns += one.sum_ns;
        all.max_ns = all.max_ns.max(one.max_ns);
        all.sectors += one.sectors;
        for (sum, part) in all.blame_ns.iter_mut().zip(one.blame_ns) {
            *sum += part;
        }
    }
    kind_of(&all, all.sectors * SECTOR_BYTES)
}

fn kind_of(all: &Latencies, bytes: u64) -> KindResult {
    let requests = all.count();
    if requests == 0 {
        return KindResult { blame_us: blame(all), ..KindResult::default() };
    }
    // Percentiles are the upper ends of their buckets, which may lie beyond the true maximum.
    let at = |share: f64| all.histogram.value_at_quantile(share).min(all.max_ns) as f64 / 1e3;
    KindResult {
        requests,
        bytes,
        latency_us: LatencyUs {
            mean: all.sum_ns as f64 / requests as f64 / 1e3,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: all.max_ns as f64 / 1e3,
        },
        blame_us: blame(all),
    }
}

fn blame(all: &Latencies) -> BTreeMap<&'static str, f64> {
    let requests = all.count().max(1) as f64;
    Part::NAMES
        .iter()
        .zip(all.blame_ns)
        .map(|(&name, ns)| (name, ns as f64 / requests / 1e3))
        .collect()
}

/// Returns flash operations by kind and cause.
pub(crate) fn ops(drive: &Drive) -> BTreeMap<&'static str, BTreeMap<&'static str, u64>> {
    let by_cause = |counts: &[u64; Cause::COUNT]| {
        Cause::NAMES.iter().copied().zip(counts.iter().copied()).collect()
    };
    OpKind::NAMES.iter().copied().zip(drive.flash().counts.ops().iter().map(by_cause)).collect()
}

fn gc(stats: &Stats) -> GcResult {
    let (count, moved_pages) = stats.gc;
    GcResult {
        count,
        moved_pages,
        unprogrammed_pages: stats.unprogrammed,
        for_subpools: stats.gc_for_subpools,
    }
}

fn utilization(drive: &Drive, end: SimTime) -> Utilization {
    // Measure up to the drive's present time. It may lie beyond the end of the last request.
    let until = end.max(drive.now());
    let span = (until - drive.stats().since).as_ns() as f64;
    if span == 0.0 {
        return Utilization::default();
    }
    let (units, buses) = drive.flash().busy_counted(until);
    let mean = |busy: &[u64]| busy.iter().sum::<u64>() as f64 / span / busy.len() as f64;
    Utilization { die: mean(&units), bus: mean(&buses) }
}

fn provenance(prepared: &Prepared, requests: &Requests) -> Result<Provenance, Fault> {
    Ok(Provenance {
        version: env!("CARGO_PKG_VERSION"),
        config: prepared.effective.json(),
        config_hash: prepared.effective.hash().into(),
        seed: prepared.plan.seed,
        plan: serde_json::to_value(&prepared.plan).expect("a plan can be written"),
        trace_format: requests.source().trace_format(),
        trace_sha256: requests.source().sha256()?,
        twins: requests.source().twins(),
        mix: match &prepared.mix {
            Some(layout) => {
                Some(mix::members(layout, &prepared.plan, &requests.source().members())?)
            }
            None => None,
        },
        state_sha256: prepared.plan.state.as_deref().map(contents_sha256).transpose()?,
    })
}

fn sim(drive: &Drive, course: &Course, ready: Duration, looped: Duration) -> Sim {
    let per_second = |count: u64| count as f64 / looped.as_secs_f64().max(1e-9);
    let pages = drive.flash().counts.ops();
    let page_ops: u64 =
        [OpKind::Read, OpKind::Program].iter().flat_map(|&kind| pages[kind as usize].iter()).sum();
    let page_ops = page_ops + course.page_ops_before;
    Sim {
        wall_s: (ready + looped).as_secs_f64(),
        ready_s: ready.as_secs_f64(),
        start_copied: false,
        requests_per_s: per_second(course.completed),
        page_ops_per_s: per_second(page_ops),
        peak_rss_mb: peak_rss_mb(),
    }
}

/// Returns the largest resident memory of this process so far, in MB; `None` except on Linux.
fn peak_rss_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}
