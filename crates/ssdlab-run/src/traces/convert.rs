//! A trace in another format.

use serde::Serialize;
use ssdlab_base::Fault;
use ssdlab_workload::{Source, Written};

use super::info::certainty;
use super::out::Out;
use super::{Certainty, Controlled, Reading, file_of, nameless, nothing_left};
use crate::control::Control;

/// What was written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Converted {
    /// The trace as it was named.
    pub trace: String,
    /// The format that it was read in.
    pub from_format: &'static str,
    /// How sure that is.
    pub certainty: Certainty,
    /// What a user should know of how it was read.
    pub remarks: Vec<String>,
    /// Where it was written, as it was named.
    pub out: String,
    /// The format that was written.
    pub format: &'static str,
    /// What became of the requests; its fields stand beside the others in JSON.
    #[serde(flatten)]
    pub written: Written,
    /// Requests that were widened to whole sectors.
    pub widened: u64,
}

/// Writes a trace, or a part of it, in another format; the file appears whole or not at all, not
/// if it was stopped: then the answer is `None`. `control` must have been made for one plan.
///
/// # Errors
/// When the trace cannot be read, is wrong, nothing of it is left, or `out` cannot be written.
pub fn convert(
    trace: &str,
    out: &str,
    reading: &Reading,
    control: &Control,
) -> Result<Option<Converted>, Fault> {
    let reading = reading.heeding(control);
    let mut source = Controlled::new(reading.open_part(trace)?, control, 0);
    control.keep();
    let target = Out::new(out, &[file_of(trace)?])?;
    let format = target.format;
    let name = source.name().to_owned();
    let written = target.write(&mut source, |written| {
        let stopped = control.stop.load(std::sync::atomic::Ordering::Relaxed);
        if !stopped && *written == Written::default() {
            Err(nothing_left(&name))
        } else {
            Ok(!stopped)
        }
    })?;
    let Some(written) = written else { return Ok(None) };
    let trace_read = source.inner.inner();
    let mut remarks = trace_read.remarks();
    remarks.extend(nameless(out, format, &trace_read.twins()));
    Ok(Some(Converted {
        trace: trace.into(),
        from_format: trace_read.recognised().format.name(),
        certainty: certainty(trace_read.recognised()),
        remarks,
        out: out.into(),
        format: format.name(),
        written,
        widened: trace_read.counts().widened,
    }))
}
