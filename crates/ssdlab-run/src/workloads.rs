//! What workloads there are besides traces, and how near a twin comes to its targets.

use std::sync::atomic::Ordering;

use serde::Serialize;
use ssdlab_base::Fault;
use ssdlab_workload::measure::Measure;
use ssdlab_workload::twins::{Compared, Twin, catalogue, find};
use ssdlab_workload::{Record, Source};

use crate::control::Control;

/// A twin in the list.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// Its name, as `--workload` takes it.
    pub name: &'static str,
    /// Whose list of workloads it is on.
    pub family: &'static str,
    /// What it is, as results say it.
    pub title: &'static str,
    /// Requests of the whole.
    pub requests: u64,
    /// Share of them that are reads.
    pub read_ratio: f64,
    /// Mean size of reads in bytes, and of writes.
    pub mean_read: f64,
    /// See `mean_read`.
    pub mean_write: f64,
    /// Bytes of all pages that are asked for.
    pub footprint: f64,
    /// Seconds from the first request to the last.
    pub span_s: f64,
    /// The twins of which it is a mix, each on a queue of its own; empty if it is none.
    pub members: Vec<&'static str>,
}

/// A twin against its targets.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// The twin.
    pub twin: Listed,
    /// The shape that says what its targets do not; absent of a mix.
    pub shape: Option<&'static str>,
    /// Where the shape, and with it locality and burstiness, comes from; absent of a mix.
    pub shape_source: Option<String>,
    /// Requests that were generated and measured. If they are fewer than the whole, it was scaled
    /// to so many: span and footprint in proportion.
    pub measured: u64,
    /// Target and achieved, figure by figure, of what was measured.
    pub figures: Vec<Compared>,
}

/// Every twin.
pub fn twins() -> Vec<Listed> {
    catalogue().iter().map(listed).collect()
}

fn listed(twin: &'static Twin) -> Listed {
    let figures = twin.figures();
    Listed {
        name: &twin.name,
        family: &twin.family,
        title: &twin.title,
        requests: figures.requests,
        read_ratio: figures.read_ratio(),
        mean_read: figures.mean_read,
        mean_write: figures.mean_write,
        footprint: figures.footprint,
        span_s: figures.span / 1e9,
        members: twin.members().iter().map(|member| member.name.as_str()).collect(),
    }
}

/// Requests generated between two looks at whether to stop.
const BATCH: usize = 1 << 14;

/// A twin, generated with this seed and measured against its targets: all of it, or scaled to so
/// many requests; `None` if it was stopped. `control` must have been made for one plan.
///
/// # Errors
/// When there is no such twin.
pub fn show(
    name: &str,
    requests: Option<u64>,
    seed: u64,
    control: &Control,
) -> Result<Option<Shown>, Fault> {
    let twin = find(name, None)?;
    let scaled = match requests {
        Some(requests) if requests < twin.requests() => twin.scaled(requests),
        _ => twin.clone(),
    };
    let mut source = scaled.source(seed)?;
    let (mut measure, mut batch) = (Measure::default(), Vec::<Record>::with_capacity(BATCH));
    let mut done = 0;
    loop {
        batch.clear();
        let more = source.fill(&mut batch, BATCH)? as u64;
        if control.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if more == 0 {
            break;
        }
        measure.take(&batch);
        done += more;
        control.progress[0].note(Some(done as f64 / scaled.requests().max(1) as f64), done);
    }
    Ok(Some(Shown {
        twin: listed(twin),
        shape: twin.shape().map(|(name, _)| name),
        shape_source: twin
            .shape()
            .map(|(_, shape)| shape.source.split_whitespace().collect::<Vec<_>>().join(" ")),
        measured: done,
        figures: scaled.compare(&measure.finish()),
    }))
}
