//! Lists the twins, and compares a twin with its targets.

use std::sync::atomic::Ordering;

use serde::Serialize;
use ssdlab_base::Fault;
use ssdlab_workload::measure::{Profile, Profiler};
use ssdlab_workload::twins::hits::HitRatio;
use ssdlab_workload::twins::{Compared, Twin, catalog, find};
use ssdlab_workload::{Record, Source};

use crate::control::Control;

/// An entry in the list of twins.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// Its name, as `--workload` accepts it.
    pub name: &'static str,
    /// The family of workloads that it belongs to.
    pub family: &'static str,
    /// Its title, as results show it.
    pub title: &'static str,
    /// Requests of the complete twin.
    pub requests: u64,
    /// Share of the reads among them.
    pub read_ratio: f64,
    /// Mean size of a read in bytes.
    pub mean_read: f64,
    /// Mean size of a write in bytes.
    pub mean_write: f64,
    /// Bytes of all pages that its requests touch.
    pub footprint: f64,
    /// Seconds from the first request to the last.
    pub span_s: f64,
    /// Its members if it is a mix, each on its own submission queue; otherwise empty.
    pub members: Vec<&'static str>,
}

/// A twin compared with its targets.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// The twin.
    pub twin: Listed,
    /// The shape, which sets the properties that the targets leave open; absent for a mix.
    pub shape: Option<&'static str>,
    /// The source of the shape, and so of locality and burstiness; absent for a mix.
    pub shape_source: Option<String>,
    /// Requests that were generated and measured. If they are fewer than the complete twin has, the
    /// twin was scaled down: span and footprint shrink in proportion.
    pub measured: u64,
    /// Remarks for the user, such as that the scaled twin is too short for its longer bursts.
    pub remarks: Vec<String>,
    /// Target and measured value of each figure.
    pub figures: Vec<Compared>,
    /// Hit ratios of LRU caches, published of the whole trace and achieved. The caches have the
    /// same part of the footprint. Empty if none are published.
    pub hit_ratios: Vec<HitRatio>,
    /// The measurements that `ssdlab trace info` makes of a trace.
    pub profile: Profile,
}

/// Returns every twin.
pub fn twins() -> Vec<Listed> {
    catalog().iter().map(listed).collect()
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

/// Requests generated between two checks of the stop flag.
const BATCH: usize = 1 << 14;
/// The most pages from which hit ratios are measured. Of a larger footprint, a sample stands for
/// all.
const MAX_SAMPLED: u64 = 1 << 18;

/// Generates a twin with this seed and measures it against its targets; `None` if stopped. With
/// `requests`, the twin is scaled down to that number. `control` must have been made for one plan.
///
/// # Errors
/// When no such twin exists.
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
    let mut source = scaled.source(seed).map_err(|fault| match requests {
        Some(requests) if fault.source.is_empty() => {
            Fault { source: format!("--requests {requests}"), ..fault }
        }
        _ => fault,
    })?;
    let (mut profiler, mut batch) = (Profiler::new(true), Vec::<Record>::with_capacity(BATCH));
    let mut hits = scaled.hit_meter(MAX_SAMPLED);
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
        profiler.take(&batch, |_| None);
        if let Some(hits) = &mut hits {
            hits.take(&batch);
        }
        done += more;
        control.progress[0].note(Some(done as f64 / scaled.requests().max(1) as f64), done);
    }
    let (profile, measured) = profiler.finish_both();
    let bursts = scaled.compare_bursts(&profile.burstiness);
    Ok(Some(Shown {
        twin: listed(twin),
        shape: twin.shape().map(|(name, _)| name),
        shape_source: twin
            .shape()
            .map(|(_, shape)| shape.source.split_whitespace().collect::<Vec<_>>().join(" ")),
        measured: done,
        remarks: scaled.remark_on_bursts(twin).into_iter().collect(),
        figures: [scaled.compare(&measured), bursts].concat(),
        hit_ratios: hits.map_or(Vec::new(), |hits| hits.finish()),
        profile,
    }))
}
