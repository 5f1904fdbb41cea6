//! The parts of a result.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_core::Drive;
use ssdlab_core::SuspendCounts;
use ssdlab_core::stats::{BufferCounts, MapCounts, StreamCounts};

use super::mix::MixMember;
use super::program_modes::HotnessResult;
use super::{Typed, WearResult};
use crate::precondition::PreconditionResult;
use crate::settle::SettledFigure;
use crate::traces::member_label;

/// Latency in microseconds, from arrival.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct LatencyUs {
    /// Mean; exact.
    pub mean: f64,
    /// Median; like the other percentiles, to three significant digits.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Maximum; exact.
    pub max: f64,
}

/// Requests of one kind.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct KindResult {
    /// Requests that ended.
    pub requests: u64,
    /// Bytes that they read or wrote.
    pub bytes: u64,
    /// Their latency.
    pub latency_us: LatencyUs,
    /// The parts of their mean latency, in microseconds. The parts sum to the mean.
    pub blame_us: BTreeMap<&'static str, f64>,
}

/// How the drive settled before the run, and a figure during it.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Settling {
    /// Preconditioning of the drive; only if the plan asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precondition: Option<PreconditionResult>,
    /// How the figure settled that ends the run; only with `--until-settled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_settled: Option<SettledFigure>,
}

/// One of several replays.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReplayResult {
    /// When it began, in seconds of the run.
    pub start_s: f64,
    /// When its last request ended.
    pub end_s: f64,
    /// Reads.
    pub read: KindResult,
    /// Writes.
    pub write: KindResult,
    /// Reads and writes together.
    pub all: KindResult,
    /// Write amplification: pages programmed in all, divided by those programmed for the host; null
    /// if the host programmed none.
    pub waf: Option<f64>,
    /// Garbage collection.
    pub gc: GcResult,
    /// By page type.
    #[serde(flatten)]
    pub typed: Typed,
    /// Wear of the blocks that are not bad at the end of the replay, in P/E cycles.
    pub wear: WearResult,
}

/// Garbage collection.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct GcResult {
    /// Blocks collected.
    pub count: u64,
    /// Valid pages moved.
    pub moved_pages: u64,
    /// Pages of the erased blocks that had never been programmed.
    pub unprogrammed_pages: u64,
    /// The collected blocks that were collected for a subpool that ran short
    /// (`background.subpool_gc`).
    pub for_subpools: u64,
}

/// Operations that were suspended for host reads.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SuspendedResult {
    /// Reads that had failed to decode and were suspended for reads of a higher priority.
    pub reads: u64,
    /// Programs suspended. Programs of several planes in one operation count as one.
    pub programs: u64,
    /// Erases suspended, counted in the same way.
    pub erases: u64,
    /// Array time of programs and erases that was discarded and repeated, in seconds.
    pub dropped_s: f64,
}

impl SuspendedResult {
    pub(super) fn of(drive: &Drive) -> Option<SuspendedResult> {
        let SuspendCounts { reads, programs, erases, dropped_ns } = drive.flash().counts.suspends();
        let dropped_s = dropped_ns as f64 / 1e9;
        let drops = drive.resolved().flash.loops.is_some();
        drops.then_some(SuspendedResult { reads, programs, erases, dropped_s })
    }
}

/// Mean raw bit errors. One flash read in sixteen is sampled.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct BitErrors {
    /// Raw bit errors in a codeword, as the controller counts them.
    pub per_codeword: f64,
    /// The true raw bit error rate.
    pub rber: f64,
}

impl BitErrors {
    /// Returns `None` under flat physics.
    pub(super) fn of(drive: &Drive) -> Option<BitErrors> {
        let (per_codeword, rber) = drive.flash().cells.errors()?;
        Some(BitErrors { per_codeword, rber })
    }
}

/// Mean share of the time in which the parts of the drive were in service.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Utilization {
    /// Array units: planes or dies, as set by `flash.array`. A unit is in service from the command
    /// of an operation until its pages have left the registers. This includes its wait for the bus.
    pub die: f64,
    /// Channel buses.
    pub bus: f64,
}

/// The page buffer.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct BufferResult {
    /// Share of the looked-up pages that the buffer held; null if no page was looked up.
    pub hit_ratio: Option<f64>,
    /// Counts of lookups and evictions.
    #[serde(flatten)]
    pub counts: BufferCounts,
    /// Classes of its pages by use; only where the drive learns them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hotness: Option<HotnessResult>,
}

impl BufferResult {
    /// Returns `None` without a buffer.
    pub(super) fn of(drive: &Drive) -> Option<BufferResult> {
        let counts = drive.stats().buffer;
        let hotness = HotnessResult::of(drive);
        let result = BufferResult { hit_ratio: counts.hit_ratio(), counts, hotness };
        (drive.resolved().buffer_pages > 0).then_some(result)
    }
}

/// The cached part of the page map.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct MapCacheResult {
    /// Share of the looked-up map entries that the cache held; null if no entry was looked up.
    pub hit_ratio: Option<f64>,
    /// Counts of lookups and of the flash operations that they caused.
    #[serde(flatten)]
    pub counts: MapCounts,
}

impl MapCacheResult {
    pub(super) fn new(counts: MapCounts) -> MapCacheResult {
        MapCacheResult { hit_ratio: counts.hit_ratio(), counts }
    }
}

/// Shares of the requests dispatched to the flash before an earlier request of their kind.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Prioritized {
    /// Share of the reads dispatched to the flash.
    pub read: f64,
    /// Share of the writes dispatched to the flash. A page that leaves the buffer counts as one
    /// write.
    pub write: f64,
}

/// Figures on the simulation itself. Not part of the digest.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Sim {
    /// Wall time of the whole run in seconds.
    pub wall_s: f64,
    /// Wall time until the first request could be submitted, in seconds.
    pub ready_s: f64,
    /// Whether the drive's start state was copied from another run of the same comparison. A copy
    /// is identical to the bit.
    pub start_copied: bool,
    /// Requests per second of wall time in the event loop.
    pub requests_per_s: f64,
    /// Page reads and programs of any cause, without retries, per second of wall time in the event
    /// loop.
    pub page_ops_per_s: f64,
    /// Largest resident memory of the process so far, over all its runs, in MB (10⁶ bytes); null if
    /// the system does not report it.
    pub peak_rss_mb: Option<f64>,
}

/// The inputs and the version that produced the result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Provenance {
    /// Version of ssdlab.
    pub version: &'static str,
    /// The whole config.
    pub config: serde_json::Value,
    /// SHA-256 of the config's values.
    pub config_hash: String,
    /// The seed.
    pub seed: u64,
    /// The plan as the user gave it.
    pub plan: serde_json::Value,
    /// The format that the trace was read in; null for a closed-form workload, a twin and a mix.
    pub trace_format: Option<&'static str>,
    /// SHA-256 of the trace's bytes as stored; null for a closed-form workload and a mix.
    pub trace_sha256: Option<String>,
    /// Devices of the trace that are twins, as a mix named them, such as "high (twin of hm_0
    /// (DLV))"; absent if none was read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub twins: Vec<String>,
    /// The traces and twins of a mix; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<Vec<MixMember>>,
    /// SHA-256 of the contents of the state that the run began with; null without one.
    pub state_sha256: Option<String>,
}

impl Provenance {
    /// Returns the name of the workload. It names twins wherever they were found, also within
    /// traces. `planned` is the plan's name for the workload.
    pub(crate) fn workload(&self, planned: String) -> String {
        match &self.mix {
            Some(mix) => {
                let members = mix.iter().map(|one| member_label(&one.name, one.twin.as_deref()));
                format!("mix of {}", members.collect::<Vec<_>>().join(" + "))
            }
            None if self.twins.is_empty() => planned,
            None => format!("{planned} with {}", self.twins.join(", ")),
        }
    }

    /// Returns the metadata that each file of this run carries, by name.
    pub(crate) fn about(&self) -> Vec<(&'static str, String)> {
        let mut about = vec![
            ("version", self.version.to_owned()),
            ("config", self.config.to_string()),
            ("config_hash", self.config_hash.clone()),
            ("seed", self.seed.to_string()),
            ("plan", self.plan.to_string()),
        ];
        about.extend(self.trace_format.map(|name| ("trace_format", name.to_owned())));
        about.extend((!self.twins.is_empty()).then(|| ("twins", self.twins.join(", "))));
        about.extend(self.trace_sha256.clone().map(|hash| ("trace_sha256", hash)));
        about.extend(
            self.mix
                .iter()
                .map(|mix| ("mix", serde_json::to_string(mix).expect("a mix can be written"))),
        );
        about.extend(self.state_sha256.clone().map(|hash| ("state_sha256", hash)));
        about
    }
}

/// Counts of the pages of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StreamResult {
    /// The counts.
    #[serde(flatten)]
    pub counts: StreamCounts,
    /// Mean share of a collected block's pages that were still valid; only if a block was
    /// collected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_share: Option<f64>,
    /// Pages programmed in the stream, plus valid pages that garbage collection moved out of it,
    /// for each page programmed in it; only if any was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waf: Option<f64>,
}

impl StreamResult {
    /// Returns the counts of all streams, if there are several.
    pub fn of(drive: &Drive) -> Option<Vec<StreamResult>> {
        let pages = u64::from(drive.resolved().geometry().pages);
        let part = |of: u64, all: u64| (all > 0).then(|| of as f64 / all as f64);
        let of = |counts: &StreamCounts| {
            let programmed = counts.host_pages + counts.moved_pages;
            StreamResult {
                counts: *counts,
                valid_share: part(counts.valid_pages, counts.blocks_collected * pages),
                waf: part(programmed + counts.valid_pages, programmed),
            }
        };
        drive.streams().map(|streams| streams.iter().map(of).collect())
    }
}
