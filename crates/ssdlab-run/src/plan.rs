//! What is to be run: a device, a scheme, settings, a workload or a trace.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use ssdlab_base::Fault;
use ssdlab_config::read_file;

use crate::traces::AppOrder;

/// One run, as asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// The preset.
    pub device: String,
    /// Config files, later ones before earlier ones.
    pub config: Vec<PathBuf>,
    /// Assignments `key=value`, later ones before earlier ones.
    pub set: Vec<String>,
    /// The scheme; empty for `conventional`.
    pub scheme: String,
    /// A trace, `FILE` or `FILE:format`.
    pub trace: Option<String>,
    /// A closed-form workload or a twin, by name; not beside a trace.
    pub workload: Option<String>,
    /// Traces and twins that run at once, in queues and addresses of their own; beside neither.
    pub mix: Vec<AppOrder>,
    /// The seed of all chance.
    pub seed: u64,
    /// Requests after which the workload ends.
    pub limit: Option<u64>,
    /// What is left out of the statistics: a number of requests, or a time with its unit.
    pub warmup: Option<String>,
    /// `steady`: random overwriting until write amplification settles.
    pub precondition: Option<String>,
    /// How often the workload runs, each time from where the last has left the drive; absent for
    /// once.
    pub replays: Option<u32>,
    /// The share of the blocks that are worn out after which the workload runs no more, such as
    /// `5%`.
    pub until_worn: Option<String>,
    /// Factor on the times between arrivals; absent for 1.
    pub time_scale: Option<f64>,
    /// Requests kept outstanding, in place of arrival times.
    pub closed: Option<u32>,
    /// Whether addresses beyond the drive are folded into it.
    pub wrap: bool,
    /// A file with the state in which the drive begins, as `ssdlab state save` wrote it.
    pub state: Option<PathBuf>,
    /// Whether invariants are checked after every event.
    pub paranoid: bool,
    /// Whether the result holds what a report draws.
    pub detail: bool,
    /// A Parquet file for a row a request.
    pub log: Option<PathBuf>,
    /// A Parquet file for a row an interval.
    pub series: Option<PathBuf>,
    /// Length of these intervals and of those of a report; absent for as fine as some hundred are.
    pub interval: Option<String>,
    /// A file for what every part of the drive does, in the format of the Perfetto viewer.
    pub timeline: Option<PathBuf>,
    /// How long the timeline is; absent for 10 ms.
    pub timeline_span: Option<String>,
    /// A name for the result.
    pub label: Option<String>,
    /// The texts of those config files that can be read only once, by their paths.
    #[serde(skip_serializing)]
    pub piped: BTreeMap<PathBuf, String>,
}

/// Returns what came through a config file that is a pipe or a device; `None` of a file, which can
/// be read again.
///
/// # Errors
/// When it cannot be read.
pub fn text_of_pipe(file: &Path) -> Result<Option<String>, Fault> {
    let is_pipe = file.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir());
    is_pipe.then(|| read_file(file)).transpose()
}

/// Reads the config files of plans that are pipes, once for all of them. A plan that already holds
/// the text of one keeps it.
///
/// # Errors
/// When one cannot be read.
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
    /// The scheme's name.
    pub fn scheme_name(&self) -> &str {
        if self.scheme.is_empty() { "conventional" } else { &self.scheme }
    }

    /// Whether its requests come from traces.
    pub(crate) fn reads_traces(&self) -> bool {
        self.trace.is_some() || !self.mix.is_empty()
    }
}
