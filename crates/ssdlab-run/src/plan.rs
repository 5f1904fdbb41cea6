//! The plan of a run: a device, a scheme, settings, and a workload or a trace.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use ssdlab_base::Fault;
use ssdlab_config::read_file;

use crate::traces::AppOrder;

/// The plan of one run, as the user gives it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// The name of the preset.
    pub device: String,
    /// Config files. A later file overrides an earlier one.
    pub config: Vec<PathBuf>,
    /// Assignments `key=value`. A later one overrides an earlier one.
    pub set: Vec<String>,
    /// The scheme; empty for `conventional`.
    pub scheme: String,
    /// A trace, `FILE` or `FILE:format`.
    pub trace: Option<String>,
    /// The name of a closed-form workload or of a twin; excludes `trace`.
    pub workload: Option<String>,
    /// Traces and twins that run at the same time, each with its own queue and addresses; excludes
    /// `trace` and `workload`.
    pub mix: Vec<AppOrder>,
    /// The seed of all random draws.
    pub seed: u64,
    /// The most requests of a replay.
    pub limit: Option<u64>,
    /// The part of the run that the statistics leave out: a number of requests, or a time with its
    /// unit.
    pub warmup: Option<String>,
    /// `steady`: overwrite at random until write amplification settles.
    pub precondition: Option<String>,
    /// The number of replays of the workload. Each begins with the drive as the last one left it.
    /// Absent for 1.
    pub replays: Option<u32>,
    /// The share of worn-out blocks that ends the replays, such as `5%`.
    pub until_worn: Option<String>,
    /// The figure whose confidence interval ends the run, and its relative half-width: a name in
    /// the result, such as `read.latency_us.mean`, and perhaps `@5%`.
    pub until_settled: Option<String>,
    /// Factor on the times between arrivals; absent for 1.
    pub time_scale: Option<f64>,
    /// Closed loop: the number of requests kept outstanding. Arrival times are ignored.
    pub closed: Option<u32>,
    /// Whether to wrap addresses beyond the end back into the drive.
    pub wrap: bool,
    /// The state file that the drive begins with, as written by `ssdlab state save`.
    pub state: Option<PathBuf>,
    /// Whether to check the drive's invariants during the run. Checks that take long are spread
    /// over many events.
    pub paranoid: bool,
    /// Whether the result includes the data of a report.
    pub detail: bool,
    /// A Parquet file with one row for each request.
    pub log: Option<PathBuf>,
    /// A Parquet file with one row for each interval.
    pub series: Option<PathBuf>,
    /// Length of the intervals in that file and in a report. If absent, intervals grow so that a
    /// run has some hundred.
    pub interval: Option<String>,
    /// A file with the timeline of every part of the drive, in the format of the Perfetto viewer.
    pub timeline: Option<PathBuf>,
    /// Length of the timeline; absent for 10 ms.
    pub timeline_span: Option<String>,
    /// A name for the result.
    pub label: Option<String>,
    /// The texts of the config files that can be read only once, by path.
    #[serde(skip_serializing)]
    pub piped: BTreeMap<PathBuf, String>,
}

/// Returns the text of a config file that is a pipe or a device; `None` for a file, which can be
/// read again.
///
/// # Errors
/// When the file cannot be read.
pub fn text_of_pipe(file: &Path) -> Result<Option<String>, Fault> {
    let is_pipe = file.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir());
    is_pipe.then(|| read_file(file)).transpose()
}

/// Reads the config files that are pipes, once for all plans. A plan that already holds the text of
/// a pipe keeps it.
///
/// # Errors
/// When a pipe cannot be read.
pub(crate) fn with_pipes_read(plans: &[Plan]) -> Result<Cow<'_, [Plan]>, Fault> {
    let mut piped = BTreeMap::new();
    for plan in plans {
        for file in plan.config.iter().filter(|file| !plan.piped.contains_key(*file)) {
            if !piped.contains_key(file)
                && let Some(text) = text_of_pipe(file)?
            {
                piped.insert(file.clone(), text);
            }
        }
    }
    if piped.is_empty() {
        return Ok(Cow::Borrowed(plans));
    }
    let plan = |plan: &Plan| {
        let mut texts = piped.clone();
        texts.extend(plan.piped.clone());
        Plan { piped: texts, ..plan.clone() }
    };
    Ok(Cow::Owned(plans.iter().map(plan).collect()))
}

impl Plan {
    /// Returns the scheme's name.
    pub(crate) fn scheme_name(&self) -> &str {
        if self.scheme.is_empty() { "conventional" } else { &self.scheme }
    }

    /// Returns whether its requests come from a trace or a mix.
    pub(crate) fn reads_traces(&self) -> bool {
        self.trace.is_some() || !self.mix.is_empty()
    }
}
