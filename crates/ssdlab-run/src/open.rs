//! Opening the traces that runs read.

use ssdlab_base::Fault;
use ssdlab_workload::{Format, Trace, TraceOptions, open_with, parse_spec};

/// Opens the trace `FILE` or `FILE:format`. The trace reports which of its requests come from
/// twins.
pub(crate) fn open_trace(spec: &str, options: &TraceOptions) -> Result<Trace, Fault> {
    let (path, format) = parse_spec(spec)?;
    open_with(&path, format, options).map(with_twins)
}

/// Makes a trace report which of its requests come from twins, if its format stores their names.
fn with_twins(trace: Trace) -> Trace {
    match trace.recognized().format {
        Format::Ssdlab | Format::Parquet => trace.with_devices(),
        _ => trace,
    }
}

/// Refuses a trace that is not a regular file or a folder. A run reads a trace several times: first
/// to check it, last to hash it.
pub(crate) fn check_rereadable(spec: &str) -> Result<(), Fault> {
    let (path, _) = parse_spec(spec)?;
    if path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return Err(Fault::new(path.display().to_string(), "is no file")
            .expected("a trace in a file, which can be read again"));
    }
    Ok(())
}
