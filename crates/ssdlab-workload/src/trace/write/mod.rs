//! Writes requests in the simple formats, so that what is read in one can be kept in another.

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

/// What became of the requests that were to be written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Written {
    /// Reads and writes written.
    pub requests: u64,
    /// Trims written.
    pub trims: u64,
    /// Flushes written.
    pub flushes: u64,
    /// Trims and flushes left out, since the format has none.
    pub left_out: u64,
    /// Requests whose time was rounded down, since the format's unit is coarser.
    pub rounded: u64,
    /// Requests whose device the format cannot name, which are written as of device 0.
    pub devices_left_out: u64,
    /// Requests of a submission queue other than 0, which the format cannot say.
    pub queues_left_out: u64,
    /// Requests with a latency hint, which the format cannot say.
    pub hints_left_out: u64,
}

/// Requests read at a time.
const BATCH: usize = 4096;

/// Writes all that a source hands out to `to`, which messages call `name`.
///
/// A format that has response times gets 0: a source has none. One that names devices gets those
/// that the source tells ([`Source::device`]) and `0` where it tells none.
///
/// # Errors
/// When the source is wrong, the format cannot be written, or `to` cannot be written to.
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

/// Takes requests in one format.
trait Sink {
    fn put(&mut self, record: &Record, device: &str) -> io::Result<()>;
    /// Writes what is still held.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// The finest time that a format is written with, in nanoseconds.
fn tick_ns(format: Format) -> u64 {
    match format {
        Format::Msr => 100,
        Format::Fio => 1_000,
        _ => 1,
    }
}

/// Whether a format has trims and flushes.
fn has_all_ops(format: Format) -> bool {
    matches!(format, Format::Ssdlab | Format::Fio | Format::Parquet)
}

/// Whether a format has submission queues, and with them latency hints.
fn has_queues(format: Format) -> bool {
    matches!(format, Format::Ssdlab | Format::Parquet)
}

/// The device of a source that tells none.
const NO_DEVICE: &str = "0";

/// Whether a format can say that a request is of this device.
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
