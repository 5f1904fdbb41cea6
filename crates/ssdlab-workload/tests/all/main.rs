//! Tests of the public interface.

mod broken;
mod burstiness;
mod bursts;
mod compressed;
mod config;
mod fixtures;
mod formats;
mod generators;
mod measure;
mod merged;
mod parts;
mod processes;
mod profiles;
mod properties;
mod readers;
mod real_traces;
mod recognition;
mod regressions;
mod round_trips;
mod spec;
mod tables;
mod twin_hits;
mod twin_pages;
mod twins;
mod unsorted;

use std::io::Cursor;

use ssdlab_base::{Fault, Nanos};
use ssdlab_workload::{Format, Op, Record, Source, Trace, TraceOptions};

/// Opens a trace from a literal, called `t`.
fn trace(
    bytes: impl Into<Vec<u8>>,
    format: Option<Format>,
    options: &TraceOptions,
) -> Result<Trace, Fault> {
    Trace::from_reader("t", Cursor::new(bytes.into()), format, options)
}

/// Returns all records of a source, read in batches of `most`, with their lines.
fn drain_by(
    source: &mut dyn Source,
    most: usize,
) -> (Vec<Record>, Vec<Option<u64>>, Option<Fault>) {
    let (mut records, mut lines) = (Vec::new(), Vec::new());
    loop {
        let before = records.len();
        match source.fill(&mut records, most) {
            Ok(0) => return (records, lines, None),
            Ok(count) => {
                assert_eq!(records.len(), before + count);
                lines.extend((0..count).map(|index| source.line(index)));
            }
            Err(fault) => return (records, lines, Some(fault)),
        }
    }
}

/// Returns all records of a source, or its fault.
fn drain(source: &mut dyn Source) -> Result<Vec<Record>, Fault> {
    match drain_by(source, 1000) {
        (records, _, None) => Ok(records),
        (_, _, Some(fault)) => Err(fault),
    }
}

/// Returns all records of a literal in a named format.
fn read(text: &str, format: Format) -> Result<Vec<Record>, Fault> {
    drain(&mut trace(text, Some(format), &TraceOptions::default())?)
}

/// Returns the error line for a literal in a named format.
fn fault(text: &str, format: Format) -> String {
    read(text, format).expect_err("a fault").to_string()
}

/// Returns the names of all formats as messages list them, so that a new format changes no test.
fn names() -> String {
    let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
    names.join(", ")
}

/// Returns a record in the form that readers produce.
fn record(at_ns: u64, lba: u64, sectors: u32, op: Op) -> Record {
    Record { at: Nanos::from_ns(at_ns), lba, sectors, op, queue: 0, hint: 0 }
}
