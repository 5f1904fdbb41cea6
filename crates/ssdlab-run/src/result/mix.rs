//! Descriptions of a mix's members in a result.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::Fault;
use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_workload::{Source, twin_in};

use crate::mix::Layout;
use crate::plan::Plan;

/// A member of a mix: a trace or a twin.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MixMember {
    /// Its name.
    pub name: String,
    /// The trace, or the twin's name, as typed.
    pub trace: String,
    /// Its original, such as "twin of hm_0 (DLV)", or the originals of the twins that its trace
    /// holds; null for other traces.
    pub twin: Option<String>,
    /// The format that the trace was read in; null for a twin.
    pub trace_format: Option<&'static str>,
    /// SHA-256 of the trace's bytes as stored; null for a twin.
    pub trace_sha256: Option<String>,
    /// The submission queue of all its requests.
    pub queue: u8,
    /// Factor on the times between its requests.
    pub scale: f64,
    /// Arrival time of its first request, in microseconds.
    pub start_us: f64,
    /// Offset added to its addresses, in bytes.
    pub shift_bytes: i64,
}

/// Describes the members whose requests come from `sources`.
///
/// # Errors
/// When the rest of a trace cannot be read.
pub(super) fn members(
    layout: &Layout,
    plan: &Plan,
    sources: &[&dyn Source],
) -> Result<Vec<MixMember>, Fault> {
    let members = plan.mix.iter().zip(layout.twins()).zip(layout.placed()).zip(sources);
    let described = members.map(|(((app, twin), placing), source)| {
        Ok(MixMember {
            name: app.name.clone(),
            trace: app.trace.clone(),
            twin: match twin {
                Some(twin) => Some(twin.title.clone()),
                None => twins_in(*source),
            },
            trace_format: source.trace_format(),
            trace_sha256: source.sha256()?,
            queue: placing.queue.unwrap_or_default(),
            scale: placing.scale,
            start_us: placing.start.as_ns() as f64 / 1e3,
            shift_bytes: placing.shift * SECTOR_BYTES as i64,
        })
    });
    described.collect()
}

/// Returns the originals of the twins among a trace's devices, if there are any.
fn twins_in(source: &dyn Source) -> Option<String> {
    let devices = source.twins();
    let titles: BTreeSet<&str> = devices.iter().filter_map(|device| twin_in(device)).collect();
    (!titles.is_empty()).then(|| titles.into_iter().collect::<Vec<_>>().join(", "))
}
