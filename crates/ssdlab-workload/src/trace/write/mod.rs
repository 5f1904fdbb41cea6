//! Writes requests in the simple formats, to convert a trace from one format into another.

use std::io::{self, Write};

use serde::Serialize;
use ssdlab_base::{Fault, reason};

use crate::formats::Format;
use crate::record::{Op, Record, Source};

mod lines;
mod pack;
mod table;

use lines::Lines;
pub use pack::{Packed, Packing};
use table::Rows;

/// The formats that can be written.
pub const WRITABLE: [Format; 7] = [
    Format::Ssdlab,
    Format::Msr,
    Format::Spc,
    Format::Mqsim,
    Format::Disksim,
    Format::Fio,
    Format::Parquet,
];

/// Counts of the requests that were written, changed or left out.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Written {
    /// Reads and writes.
    pub requests: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Trims and flushes left out because the format has none.
    pub left_out: u64,
    /// Requests whose time was rounded down because the format's time unit is coarser.
    pub rounded: u64,
    /// Requests whose device the format cannot name. They are written with device 0.
    pub devices_left_out: u64,
    /// Requests of a submission queue other than 0, which the format cannot express.
    pub queues_left_out: u64,
    /// Requests with a latency hint, which the format cannot express.
    pub hints_left_out: u64,
}

/// Requests read at a time.
const BATCH: usize = 4096;

/// Writes all requests of a source to `to`, which messages call `name`.
///
/// If the format has response times, they are 0, since a source has none. If the format names
/// devices, they come from [`Source::device`], or are `0` if the source returns none.
///
/// # Errors
/// Fails if the source has an error, if the format is not writable, or if writing to `to` fails.
pub fn write_trace(
    source: &mut dyn Source,
    format: Format,
    name: &str,
    to: impl Write + Send,
) -> Result<Written, Fault> {
    if !WRITABLE.contains(&format) {
        let names = WRITABLE.map(Format::name);
        let fault = Fault::new(name, "a format that is not written").got(format);
        return Err(fault.expected(format!("one of {}", names.join(", "))));
    }
    let failed =
        |error: io::Error| Fault::new(name, format!("cannot be written: {}", reason(error)));
    let mut sink: Box<dyn Sink> = match format {
        Format::Parquet => Box::new(Rows::new(to).map_err(failed)?),
        text => Box::new(Lines::new(text, to).map_err(failed)?),
    };
    let (tick, all_ops) = (tick_ns(format), has_all_ops(format));
    let queues = has_queues(format);
    let mut written = Written::default();
    let mut batch: Vec<Record> = Vec::with_capacity(BATCH);
    while source.fill(&mut batch, BATCH)? > 0 {
        for (index, record) in batch.iter().enumerate() {
            if !all_ops && !matches!(record.op, Op::Read | Op::Write) {
                written.left_out += 1;
                continue;
            }
            let device = source.device(index).unwrap_or(NO_DEVICE);
            *match record.op {
                Op::Read | Op::Write => &mut written.requests,
                Op::Trim => &mut written.trims,
                Op::Flush => &mut written.flushes,
            } += 1;
            written.devices_left_out += u64::from(!names_device(format, device));
            written.queues_left_out += u64::from(record.queue != 0 && !queues);
            written.hints_left_out += u64::from(record.hint != 0 && !queues);
            written.rounded += u64::from(!record.at.as_ns().is_multiple_of(tick));
            sink.put(record, device).map_err(failed)?;
        }
        batch.clear();
    }
    sink.finish().map_err(failed)?;
    Ok(written)
}

/// A writer of requests in one format.
trait Sink {
    fn put(&mut self, record: &Record, device: &str) -> io::Result<()>;
    /// Writes the remaining buffered requests.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Returns the time resolution of a written format, in nanoseconds.
fn tick_ns(format: Format) -> u64 {
    match format {
        Format::Msr => 100,
        Format::Fio => 1_000,
        _ => 1,
    }
}

/// Returns whether a format has trims and flushes.
fn has_all_ops(format: Format) -> bool {
    matches!(format, Format::Ssdlab | Format::Fio | Format::Parquet)
}

/// Returns whether a format has submission queues and latency hints.
fn has_queues(format: Format) -> bool {
    matches!(format, Format::Ssdlab | Format::Parquet)
}

/// The device of a source that names none.
const NO_DEVICE: &str = "0";

/// Returns whether a format can name this device.
fn names_device(format: Format, device: &str) -> bool {
    match format {
        Format::Ssdlab | Format::Msr => {
            let words = |byte: u8| (byte.is_ascii_graphic() && byte != b',') || byte == b' ';
            !device.is_empty() && device.trim() == device && device.bytes().all(words)
        }
        Format::Parquet => true,
        _ => device == NO_DEVICE || (format != Format::Fio && is_small_number(device)),
    }
}

fn is_small_number(text: &str) -> bool {
    (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}
