//! Reads a trace file into records.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ssdlab_base::memory::Lacking;
use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_base::{Bytes, Fault, Nanos, Stop, reason};

mod choice;
pub(crate) mod counts;
pub(crate) mod demand;
pub(crate) mod input;
pub(crate) mod lines;
pub(crate) mod order;
pub(crate) mod pieces;
pub(crate) mod recognize;
pub(crate) mod spec;
pub(crate) mod trial;
mod window;
pub(crate) mod write;

use crate::formats::Next;
use crate::formats::device::DeviceFilter;
use crate::formats::options::{TraceOptions, Unsorted};
use crate::formats::parquet::Table;
use crate::formats::{Entry, Format, Framing};
use crate::record::{Described, Op, Record, Source};
use choice::{Choice, clock, reader};
pub use counts::Counts;
use demand::Demand;
use input::{Meter, Patient, open_file, plain, shown};
pub use input::{Unpacked, sha256};
use lines::Lines;
use order::{Order, Waiting};
use pieces::Pieces;
use recognize::{By, Recognition, no_request, recognize};

/// Opens a trace file, compressed or not. Recognizes its format unless `format` names it.
///
/// # Errors
/// Fails if the file cannot be read, is empty, or has no known format.
pub fn open(path: &Path, format: Option<Format>) -> Result<Trace, Fault> {
    open_with(path, format, &TraceOptions::default())
}

/// Opens a trace file like [`open`], with options.
///
/// # Errors
/// Fails as [`open`] does, and if an option's value is out of range.
pub fn open_with(
    path: &Path,
    format: Option<Format>,
    options: &TraceOptions,
) -> Result<Trace, Fault> {
    let mut file = open_file(path)?;
    let stored = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|about| about.len());
    let by = if format.is_some() { By::Named } else { By::Content };
    let is_table = stored.is_some() && Table::announces(&mut file);
    let mut trace = match format {
        None | Some(Format::Parquet) if is_table => {
            Trace::from_table(shown(path), file, by, options)?
        }
        _ if stored.is_some() => Trace::from_reader(shown(path), file, format, options)?,
        _ => {
            let file = Patient::new(file, options.stop.clone());
            Trace::from_reader(shown(path), file, format, options)?
        }
    };
    trace.stored = stored;
    trace.path = Some(path.into());
    Ok(trace)
}

/// A trace file that is read as a stream.
pub struct Trace {
    name: String,
    path: Option<PathBuf>,
    /// The size of the stored file in bytes, if known.
    stored: Option<u64>,
    meter: Arc<Meter>,
    compression: Option<&'static str>,
    recognized: Recognition,
    input: Input,
    device: DeviceFilter,
    order: Order,
    unsorted: Unsorted,
    /// The largest read or write, and the largest trim, in bytes.
    most: [Bytes; 2],
    /// The time stamp of the first request, once it is known.
    first: Option<Nanos>,
    counts: Counts,
    /// The load of the requests delivered so far.
    demand: Demand,
    /// The line of each record in the last batch.
    batch_lines: Vec<u64>,
    /// The device of each record in the last batch, if the trace keeps devices.
    batch_devices: Vec<u32>,
    end: End,
    stop: Stop,
}

/// Requests of other devices between two checks of the stop flag.
const CHECK_EVERY: u64 = 4096;

/// The source of the requests: lines or records, or a table.
enum Input {
    Pieces(Pieces),
    Table(Box<Table>),
}

/// Whether more requests follow.
enum End {
    NotYet,
    Reached,
    Fault(Box<Fault>),
}

impl Trace {
    /// Reads a trace from any stream of bytes, compressed or not; messages call it `name`.
    ///
    /// # Errors
    /// Fails as [`open_with`] does.
    pub fn from_reader(
        name: impl Into<String>,
        stored: impl Read + Send + 'static,
        format: Option<Format>,
        options: &TraceOptions,
    ) -> Result<Trace, Fault> {
        let mapping = options.mapping()?;
        let name = name.into();
        let (plain, meter, compression) =
            plain(stored).map_err(|error| unreadable(&name, None, &error))?;
        let mut lines = Lines::new(plain, options.stop.clone());
        let (start, whole) =
            lines.peek().map_err(|error| unreadable(&name, compression, &error))?;
        if start.is_empty() {
            return Err(no_request(&name, "an empty file"));
        }
        let choice = Choice { options, mapping: mapping.as_ref() };
        let recognized = recognize(&name, format, start, whole, &choice)?;
        let format = recognized.format;
        let binary = match format.about().framing {
            Framing::Lines => None,
            Framing::Records(length) => Some(length(start)),
            Framing::Table => return Err(no_table(&name, start, compression)),
        };
        let reader = reader(format, &choice);
        let tick = Nanos::from_ns(clock(format, options).tick);
        let pieces = Pieces { lines, reader, compression, binary };
        Ok(Trace {
            meter,
            compression,
            demand: Demand::in_ticks_of(tick),
            ..Trace::new(name, Input::Pieces(pieces), recognized, options)
        })
    }

    /// Reads a trace from a table. Its directory is at the end, so the file must allow seeking.
    fn from_table(
        name: String,
        file: File,
        by: By,
        options: &TraceOptions,
    ) -> Result<Trace, Fault> {
        let mapping = options.mapping()?;
        let table = Table::open(&name, file, options.tick, mapping.as_ref())?;
        let recognized = Recognition { by, ..Recognition::certain(Format::Parquet) };
        Ok(Trace::new(name, Input::Table(Box::new(table)), recognized, options))
    }

    fn new(name: String, input: Input, recognized: Recognition, options: &TraceOptions) -> Trace {
        let unsorted = options.unsorted.unwrap_or(recognized.format.about().unsorted);
        let window = match unsorted {
            Unsorted::Refuse => 0,
            Unsorted::Sort(window) => window as usize,
        };
        Trace {
            name,
            path: None,
            stored: None,
            meter: Arc::default(),
            compression: None,
            recognized,
            input,
            device: DeviceFilter::new(options.device.as_deref()),
            order: Order::new(window),
            unsorted,
            most: [Op::Read, Op::Trim].map(|op| options.most(op)),
            first: None,
            counts: Counts::default(),
            demand: Demand::default(),
            batch_lines: Vec::new(),
            batch_devices: Vec::new(),
            end: End::NotYet,
            stop: options.stop.clone(),
        }
    }

    /// Returns the recognized format of the file.
    pub fn recognized(&self) -> &Recognition {
        &self.recognized
    }

    /// Returns the compression of the file: `"gzip"`, `"zstd"` or `"xz"`.
    pub fn compression(&self) -> Option<&'static str> {
        self.compression
    }

    /// Returns the counts of the requests read so far.
    pub fn counts(&self) -> Counts {
        Counts { reordered: self.order.moved, ..self.counts }
    }

    /// Returns remarks on how the requests read so far are understood. Before the first batch,
    /// these are the first lines of the file.
    pub fn remarks(&self) -> Vec<String> {
        let remarks = self.recognized.remark().into_iter();
        let remarks = remarks.chain(self.recognized.remarks.iter().cloned());
        remarks
            .chain(self.demand.warning())
            .map(|remark| format!("{}: {remark}", self.name))
            .collect()
    }

    /// Makes [`Source::device`] return the device of each request from now on.
    #[must_use]
    pub fn with_devices(mut self) -> Trace {
        self.device.remember();
        self
    }

    /// Returns the SHA-256 of the stored file, in lower-case hexadecimal. Before the trace is read
    /// to its end, computes it from the file.
    ///
    /// # Errors
    /// Fails if the trace is not read to its end and the file cannot be read again.
    pub fn sha256(&self) -> Result<String, Fault> {
        match (self.meter.digest(), &self.path) {
            (Some(digest), _) => Ok(digest.into()),
            (None, Some(path)) => sha256(path),
            (None, None) => Err(Fault::new(&self.name, "is not read to its end yet")),
        }
    }

    /// Reads until a request is ready to deliver or the end is reached.
    fn read_on(&mut self) -> Result<(), Box<Fault>> {
        loop {
            let next = match &mut self.input {
                Input::Pieces(pieces) => pieces.next(&self.name, &mut self.device)?,
                Input::Table(table) => table.next(&self.name, &mut self.device)?,
            };
            match next {
                Next::OtherDevice => {
                    self.counts.other_devices += 1;
                    if self.counts.other_devices.is_multiple_of(CHECK_EVERY) && self.stop.is_set() {
                        self.end = End::Reached;
                        return Ok(());
                    }
                }
                Next::Request(line, entry) => {
                    self.enqueue(entry, line)?;
                    self.counts.count(&entry);
                    return Ok(());
                }
                Next::End => {
                    self.end = End::Reached;
                    return if self.stop.is_set() { Ok(()) } else { self.check_not_empty() };
                }
            }
        }
    }

    fn enqueue(&mut self, entry: Entry, line: u64) -> Result<(), Box<Fault>> {
        let (lba, sectors) = entry.extent;
        if u64::from(sectors) * SECTOR_BYTES > self.most(entry.op).get() {
            return Err(self.too_large(line, entry.op, sectors));
        }
        let at = Nanos::from_ns(entry.stamp);
        let record =
            Record { at, lba, sectors, op: entry.op, queue: entry.queue, hint: entry.hint };
        let device = self.device.last();
        self.order.push(Waiting { record, line, device }).map_err(|back| self.unsorted(line, back))
    }

    /// Returns the largest request of this kind.
    fn most(&self, op: Op) -> Bytes {
        self.most[usize::from(op == Op::Trim)]
    }

    #[cold]
    fn too_large(&self, line: u64, op: Op, sectors: u32) -> Box<Fault> {
        let kind = if op == Op::Trim { "a trim" } else { "a read or write" };
        let fault = Fault::new(&self.name, "a request too large").line(line);
        let fault = fault.got(Bytes::new(u64::from(sectors) * SECTOR_BYTES));
        let hint = "workload.trace.max_request allows for more";
        Box::new(fault.expected(format!("{kind} of at most {}", self.most(op))).hint(hint))
    }

    fn check_not_empty(&self) -> Result<(), Box<Fault>> {
        if self.counts.all() > 0 {
            return Ok(());
        }
        let usual = match &self.input {
            Input::Pieces(pieces) => pieces.reader.why_empty(),
            Input::Table(_) => Some("a table without rows"),
        };
        Err(Box::new(match &self.device.selected {
            Some(device) if self.counts.other_devices > 0 => {
                Fault::new(&self.name, "holds no request of the device asked for")
                    .got(format!("{device:?}"))
                    .expected(format!("one of {}", self.device.seen_names()))
            }
            _ => {
                let usual = usual.unwrap_or("a header, blank lines or comments only");
                no_request(&self.name, usual)
            }
        }))
    }

    fn unsorted(&self, line: u64, back: u64) -> Box<Fault> {
        let back = Nanos::from_ns(back);
        let fault = Fault::new(&self.name, "time stamp").line(line);
        Box::new(match self.unsorted {
            Unsorted::Refuse => fault
                .got(format!("a step back of {back}"))
                .expected("stamps that do not go back")
                .hint("workload.trace.unsorted={sort=1024} sorts them"),
            Unsorted::Sort(window) => fault
                .got(format!("a step back of {back} over more than {window} requests"))
                .expected(format!("stamps out of order by at most {window} requests"))
                .hint("workload.trace.unsorted={sort=N} allows for more"),
        })
    }

    fn deliver(&mut self, batch: &mut Vec<Record>, waiting: Waiting) {
        let first = *self.first.get_or_insert(waiting.record.at);
        let record = Record { at: waiting.record.at - first, ..waiting.record };
        self.demand.count(&record);
        batch.push(record);
        self.batch_lines.push(waiting.line);
        self.batch_devices.push(waiting.device);
    }
}

impl Described for Trace {
    fn sha256(&self) -> Result<Option<String>, Fault> {
        Trace::sha256(self).map(Some)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn trace_format(&self) -> Option<&'static str> {
        Some(self.recognized.format.name())
    }

    fn warnings(&self) -> Vec<String> {
        self.demand
            .warning()
            .map(|warning| format!("{}: {warning}", self.name))
            .into_iter()
            .collect()
    }

    fn twins(&self) -> Vec<String> {
        self.device.twins()
    }
}

impl Source for Trace {
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault> {
        self.batch_lines.clear();
        self.batch_devices.clear();
        while self.batch_lines.len() < most {
            let ended = !matches!(self.end, End::NotYet);
            if let Some(waiting) = self.order.pop(ended) {
                self.deliver(batch, waiting);
            } else if ended {
                break;
            } else if let Err(fault) = self.read_on() {
                // After a stop in the middle of the file, an error there means nothing.
                self.end = if self.stop.is_set() { End::Reached } else { End::Fault(fault) };
            }
        }
        match &self.end {
            End::Fault(fault) if self.batch_lines.is_empty() && most > 0 => Err((**fault).clone()),
            _ => Ok(self.batch_lines.len()),
        }
    }

    fn expected(&self) -> Option<u64> {
        match self.end {
            End::Reached => Some(self.counts.all()),
            _ => None,
        }
    }

    fn progress(&self) -> Option<f64> {
        if let Input::Table(table) = &self.input {
            return Some(table.progress());
        }
        let stored = self.stored.filter(|stored| *stored > 0)?;
        Some((self.meter.consumed() as f64 / stored as f64).min(1.0))
    }

    fn line(&self, index: usize) -> Option<u64> {
        self.batch_lines.get(index).copied()
    }

    fn device(&self, index: usize) -> Option<&str> {
        self.batch_devices.get(index).and_then(|number| self.device.name_of(*number))
    }
}

/// Returns the fault of a table that comes as a stream, or of a stream that is no table.
fn no_table(name: &str, start: &[u8], compression: Option<&str>) -> Fault {
    let fault = Fault::new(name, "Parquet is read from its end");
    match compression {
        _ if !Table::is_announced_by(start) => {
            Fault::new(name, "no Parquet file").expected("PAR1 as its first four bytes")
        }
        Some(kind) => fault.got(format!("a {kind} stream")).expected("the file decompressed"),
        None => fault.got("a stream").expected("a file on a disk"),
    }
}

pub(crate) fn unreadable(name: &str, compression: Option<&str>, error: &io::Error) -> Fault {
    if let Some(lacking) = error.get_ref().and_then(|inner| inner.downcast_ref::<Lacking>()) {
        let expected = format!("more memory: {lacking}");
        return Fault::new(name, "a stream that takes more memory to decompress than is left")
            .expected(expected);
    }
    // zstd and xz use these words if a stream needs more memory than its limit.
    let message = reason(error);
    let is_too_large = message.contains("too much memory") || message.contains("memory limit");
    // xz and zstd use these words if no memory is left, which is not the stream's fault.
    let lacks_memory = ["can't allocate memory", "not enough memory"];
    let lacks_memory = lacks_memory.iter().any(|words| message.contains(words));
    let what = match compression {
        None => format!("cannot be read: {message}"),
        Some(kind) if is_too_large => {
            format!("the {kind} stream needs more memory than it may have")
        }
        Some(_) if lacks_memory => "cannot be read: out of memory".into(),
        Some(kind) => format!("the {kind} stream is broken or cut short: {message}"),
    };
    let fault = Fault::new(name, what);
    if is_too_large {
        fault.expected("a window of at most 128 MiB (zstd) or 256 MiB in all (xz)")
    } else {
        fault
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_memory_is_not_the_stream_s_fault() {
        let errors = [
            ("xz", io::Error::from(liblzma::stream::Error::Mem)),
            ("zstd", io::Error::other("Allocation error : not enough memory")),
        ];
        for (kind, error) in errors {
            let line = unreadable("t", Some(kind), &error).to_string();
            assert_eq!(line, "t: cannot be read: out of memory");
        }
    }
}
