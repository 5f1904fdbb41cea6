//! What a result says of the members of a mix.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::Fault;
use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_workload::{Source, twin_in};

use crate::mix::Layout;
use crate::plan::Plan;

/// A trace or a twin of a mix.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MixMember {
    /// Its name.
    pub name: String,
    /// The trace, or the twin's name, as typed.
    pub trace: String,
    /// What it is a twin of, such as "twin of hm_0 (DLV)", or what its trace holds twins of; null
    /// of other traces.
    pub twin: Option<String>,
    /// The format that the trace was read in; null of a twin.
    pub trace_format: Option<&'static str>,
    /// SHA-256 of the trace's bytes as stored; null of a twin.
    pub trace_sha256: Option<String>,
    /// The submission queue of all its requests.
    pub queue: u8,
    /// Factor on the times between its requests.
    pub scale: f64,
    /// When its first request comes, in microseconds.
    pub start_us: f64,
    /// What its addresses are moved by, in bytes.
    pub shift_bytes: i64,
}

/// What there is to say of the members that `sources` are.
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

/// What the devices of a trace are twins of, if any is.
fn twins_in(source: &dyn Source) -> Option<String> {
    let devices = source.twins();
    let titles: BTreeSet<&str> = devices.iter().filter_map(|device| twin_in(device)).collect();
    (!titles.is_empty()).then(|| titles.into_iter().collect::<Vec<_>>().join(", "))
}
