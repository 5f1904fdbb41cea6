//! Traces as runs read them.

use ssdlab_base::Fault;
use ssdlab_workload::{Format, Trace, TraceOptions, open_with, parse_spec};

/// The trace `FILE` or `FILE:format`, which tells which of its requests are of twins.
pub fn open_trace(spec: &str, options: &TraceOptions) -> Result<Trace, Fault> {
    let (path, format) = parse_spec(spec)?;
    open_with(&path, format, options).map(with_twins)
}

/// A trace that tells which of its requests are of twins, where its format has their names.
fn with_twins(trace: Trace) -> Trace {
    match trace.recognised().format {
        Format::Ssdlab | Format::Parquet => trace.with_devices(),
        _ => trace,
    }
}

/// Refuses a trace that is no file: a run reads it more than once, first whether it can be read,
/// last its hash.
pub(crate) fn check_rereadable(spec: &str) -> Result<(), Fault> {
    let (path, _) = parse_spec(spec)?;
    if path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return Err(Fault::new(path.display().to_string(), "is no file")
            .expected("a trace in a file, which can be read again"));
    }
    Ok(())
}
