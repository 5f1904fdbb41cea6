//! The parts of a result.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_core::Drive;
use ssdlab_core::SetAside;
use ssdlab_core::stats::{BufferCounts, MapCounts, StreamCounts};

use super::mix::MixMember;
use super::program_modes::HotnessResult;
use super::{Typed, WearResult};
use crate::traces::member_label;

/// Latency in microseconds, from arrival.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct LatencyUs {
    /// Mean, exact.
    pub mean: f64,
    /// Median; this and the following to three significant digits.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Maximum, exact.
    pub max: f64,
}

/// Requests of one kind.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct KindResult {
    /// Requests that ended.
    pub requests: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Their latency.
    pub latency_us: LatencyUs,
    /// Where their mean latency went, in microseconds: the parts sum to the mean.
    pub blame_us: BTreeMap<&'static str, f64>,
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
    /// Pages programmed for every page programmed for the host; absent if there was none.
    pub waf: Option<f64>,
    /// Garbage collection.
    pub gc: GcResult,
    /// By page type.
    #[serde(flatten)]
    pub typed: Typed,
    /// Wear of the blocks that are not bad when it ended, in P/E cycles.
    pub wear: WearResult,
}

/// Garbage collection.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct GcResult {
    /// Blocks collected.
    pub count: u64,
    /// Valid pages moved.
    pub moved_pages: u64,
    /// Pages of erased blocks that had never been programmed.
    pub unprogrammed_pages: u64,
    /// Of the blocks collected those for a subpool that ran short (`background.subpool_gc`).
    pub for_subpools: u64,
}

/// Operations that were set aside for host reads.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SetAsideResult {
    /// Reads that had failed to decode, for reads of higher priorities.
    pub reads: u64,
    /// Programs; those that planes do together count as one.
    pub programs: u64,
    /// Erases, in the same way.
    pub erases: u64,
    /// Array time of programs and erases that was dropped and spent again, in seconds.
    pub dropped_s: f64,
}

impl SetAsideResult {
    pub(super) fn of(drive: &Drive) -> Option<SetAsideResult> {
        let SetAside { reads, programs, erases, dropped_ns } = drive.flash().set_aside();
        let dropped_s = dropped_ns as f64 / 1e9;
        let drops = drive.resolved().flash.loops.is_some();
        drops.then_some(SetAsideResult { reads, programs, erases, dropped_s })
    }
}

/// Raw bit errors, the mean of one flash read in sixteen.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct BitErrors {
    /// In a codeword, as the controller counts them.
    pub per_codeword: f64,
    /// The true rate.
    pub rber: f64,
}

/// Mean share of the time in which a part was in service.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Utilization {
    /// Array units: planes or dies, as `flash.array` says; in service from the command of an
    /// operation until its pages have left their registers, waiting for the bus included.
    pub die: f64,
    /// Channel buses.
    pub bus: f64,
}

/// The page buffer.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct BufferResult {
    /// The share of the pages looked for that were in it; absent if none was looked for.
    pub hit_ratio: Option<f64>,
    /// What was looked for and what made room.
    #[serde(flatten)]
    pub counts: BufferCounts,
    /// What its pages were mostly used for; only where that is learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hotness: Option<HotnessResult>,
}

impl BufferResult {
    /// Absent without a buffer.
    pub(super) fn of(drive: &Drive) -> Option<BufferResult> {
        let counts = drive.stats().buffer;
        let hotness = HotnessResult::of(drive);
        let result = BufferResult { hit_ratio: counts.hit_ratio(), counts, hotness };
        (drive.resolved().buffer_pages > 0).then_some(result)
    }
}

/// The part of the page map that the controller holds.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct MapCacheResult {
    /// The share of the entries looked up that were held; absent if none was looked up.
    pub hit_ratio: Option<f64>,
    /// What was looked up, and what that made of operations.
    #[serde(flatten)]
    pub counts: MapCounts,
}

impl MapCacheResult {
    pub(super) fn new(counts: MapCounts) -> MapCacheResult {
        MapCacheResult { hit_ratio: counts.hit_ratio(), counts }
    }
}

/// Shares of the requests that went to the flash before one of their kind that came earlier.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Prioritized {
    /// Of the reads that went to the flash.
    pub read: f64,
    /// Of the writes, a page that leaves the buffer counting as one.
    pub write: f64,
}

/// The simulation itself. Not part of the digest.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Sim {
    /// Wall time of the whole run in seconds.
    pub wall_s: f64,
    /// Wall time until the first request could be submitted.
    pub ready_s: f64,
    /// Whether the drive began as a copy of what another one of the same comparison began with,
    /// which is the same to the bit.
    pub start_copied: bool,
    /// Requests a second of the event loop.
    pub requests_per_s: f64,
    /// Page reads and programs of any cause, retries not counted, a second of the event loop.
    pub page_ops_per_s: f64,
    /// The largest resident memory of the process so far, all its runs together; absent where the
    /// system does not tell.
    pub peak_rss_mb: Option<f64>,
}

/// What made the result.
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
    /// The plan as asked for.
    pub plan: serde_json::Value,
    /// The format that the trace was read in; null for a closed-form workload, a twin and a mix.
    pub trace_format: Option<&'static str>,
    /// SHA-256 of the trace's bytes as stored; absent for a closed-form workload and a mix.
    pub trace_sha256: Option<String>,
    /// Devices of the trace that are twins, as a mix was written: "high (twin of hm_0 (DLV))";
    /// absent if none was read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub twins: Vec<String>,
    /// The traces and twins of a mix; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<Vec<MixMember>>,
    /// SHA-256 of the contents of the state that the run began with; absent without one.
    pub state_sha256: Option<String>,
}

impl Provenance {
    /// What was run, of which the plan says this: twins are called so wherever they were found.
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

    /// What a file of this run says of itself, by name.
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

/// What became of the pages of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StreamResult {
    /// Its counts.
    #[serde(flatten)]
    pub counts: StreamCounts,
    /// The part of a collected block's pages that were still valid, the mean; only if any was
    /// collected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_share: Option<f64>,
    /// Pages programmed there and moved out of there by garbage collection, for each page
    /// programmed there; only if any was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waf: Option<f64>,
}

impl StreamResult {
    /// Those of all streams, where there are several.
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
