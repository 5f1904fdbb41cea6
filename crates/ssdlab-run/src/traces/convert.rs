//! Converts a trace to another format.

use serde::Serialize;
use ssdlab_base::Fault;
use ssdlab_workload::{Described, Written};

use super::info::certainty;
use super::out::Out;
use super::{Certainty, Controlled, Reading, file_of, nameless, nothing_left};
use crate::control::Control;

/// Report on a converted trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Converted {
    /// The trace, as the user named it.
    pub trace: String,
    /// The format that it was read in.
    pub from_format: &'static str,
    /// How certain that format is.
    pub certainty: Certainty,
    /// Remarks for the user on how the trace was read.
    pub remarks: Vec<String>,
    /// The output file, as the user named it.
    pub out: String,
    /// The format that was written.
    pub format: &'static str,
    /// Counts of the written requests. In JSON, its fields stand beside the others.
    #[serde(flatten)]
    pub written: Written,
    /// Requests widened to whole sectors.
    pub widened: u64,
}

/// Writes a trace, or a part of it, in another format. The file appears only when it is complete.
/// If the user stops the conversion, no file appears and the result is `None`. `control` must have
/// been made for one plan.
///
/// # Errors
/// When the trace cannot be read or is invalid, when no request is left, or when `out` cannot be
/// written.
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
        from_format: trace_read.recognized().format.name(),
        certainty: certainty(trace_read.recognized()),
        remarks,
        out: out.into(),
        format: format.name(),
        written,
        widened: trace_read.counts().widened,
    }))
}
