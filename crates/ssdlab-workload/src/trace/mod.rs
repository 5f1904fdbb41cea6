//! From a file to records.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ssdlab_base::{Fault, Nanos};

pub(crate) mod input;
pub(crate) mod lines;
pub(crate) mod options;
pub(crate) mod order;
pub(crate) mod recognise;
pub(crate) mod spec;

use crate::formats::{Entry, Format, Reader};
use crate::record::{Record, Source};
pub use input::sha256;
use input::{Meter, open_file, plain, shown};
use lines::{Broken, LONGEST, Lines, is_idle};
use options::{TraceOptions, Unsorted};
use order::{Order, Waiting};
use recognise::{By, Recognition, no_request, reader, recognise};

/// Opens a trace file, compressed or not, and recognises its format unless it is named.
///
/// # Errors
/// When the file cannot be read, holds nothing, or its format is not recognised.
pub fn open(path: &Path, format: Option<Format>) -> Result<Trace, Fault> {
    open_with(path, format, &TraceOptions::default())
}

/// As [`open`], with a say in how it is read.
///
/// # Errors
/// As [`open`]; also when an option's value is out of range.
pub fn open_with(
    path: &Path,
    format: Option<Format>,
    options: &TraceOptions,
) -> Result<Trace, Fault> {
    let file = open_file(path)?;
    let stored = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|about| about.len());
    let mut trace = Trace::from_reader(shown(path), file, format, options)?;
    trace.stored = stored;
    trace.path = Some(path.into());
    Ok(trace)
}

/// What was done to a trace's requests while they were read.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Requests read.
    pub requests: u64,
    /// Requests moved to an earlier place since their time stamps went back.
    pub reordered: u64,
    /// Requests widened to whole sectors.
    pub widened: u64,
    /// Requests left out since another device was asked for.
    pub other_devices: u64,
}

/// A trace file, read as a stream.
pub struct Trace {
    name: String,
    path: Option<PathBuf>,
    /// Bytes of the file as stored, if that is known.
    stored: Option<u64>,
    meter: Arc<Meter>,
    compression: Option<&'static str>,
    recognised: Recognition,
    lines: Lines,
    reader: Box<dyn Reader>,
    device: DeviceFilter,
    order: Order,
    unsorted: Unsorted,
    /// The first request's stamp, once it is known.
    first: Option<Nanos>,
    counts: Counts,
    /// The line of each record of the batch filled last.
    batch_lines: Vec<u64>,
    end: End,
}

/// Whether more lines are to come.
enum End {
    NotYet,
    Reached,
    Fault(Box<Fault>),
}

impl Trace {
    /// A trace from any stream of bytes, compressed or not; `name` stands for it in messages.
    ///
    /// # Errors
    /// As [`open_with`].
    pub fn from_reader(
        name: impl Into<String>,
        stored: impl Read + Send + 'static,
        format: Option<Format>,
        options: &TraceOptions,
    ) -> Result<Trace, Fault> {
        options.check()?;
        let name = name.into();
        let (plain, meter, compression) =
            plain(stored).map_err(|error| unreadable(&name, None, &error))?;
        let mut lines = Lines::new(plain);
        let (start, whole) =
            lines.peek().map_err(|error| unreadable(&name, compression, &error))?;
        let recognised = match format {
            _ if start.is_empty() => return Err(no_request(&name, "an empty file")),
            None => recognise(&name, start, whole, options)?,
            Some(format) => Recognition { format, by: By::Named, ambiguous_with: Vec::new() },
        };
        let format = recognised.format;
        let unsorted = options.unsorted.unwrap_or(format.about().unsorted);
        let window = match unsorted {
            Unsorted::Refuse => 0,
            Unsorted::Sort(window) => window as usize,
        };
        Ok(Trace {
            name,
            path: None,
            stored: None,
            meter,
            compression,
            recognised,
            lines,
            reader: reader(format, options),
            device: DeviceFilter::new(options.device.as_deref()),
            order: Order::new(window),
            unsorted,
            first: None,
            counts: Counts::default(),
            batch_lines: Vec::new(),
            end: End::NotYet,
        })
    }

    /// What the file was recognised as.
    pub fn recognised(&self) -> &Recognition {
        &self.recognised
    }

    /// What the file is compressed with: `"gzip"`, `"zstd"` or `"xz"`.
    pub fn compression(&self) -> Option<&'static str> {
        self.compression
    }

    /// What was done to the requests read so far.
    pub fn counts(&self) -> Counts {
        Counts { reordered: self.order.moved, ..self.counts }
    }

    /// What the user should know about how the file is understood; complete once the first batch
    /// is filled.
    pub fn remarks(&self) -> Vec<String> {
        let format = self.reader.remark().map(str::to_owned);
        let remarks = self.recognised.remark().into_iter().chain(format);
        remarks.map(|remark| format!("{}: {remark}", self.name)).collect()
    }

    /// The SHA-256 of the file's bytes as stored, in lower-case hexadecimal: known from reading
    /// once all is read, computed from the file before that.
    ///
    /// # Errors
    /// When it is not known yet and the file cannot be read again.
    pub fn sha256(&self) -> Result<String, Fault> {
        match (self.meter.digest(), &self.path) {
            (Some(digest), _) => Ok(digest.into()),
            (None, Some(path)) => sha256(path),
            (None, None) => Err(Fault::new(&self.name, "is not read to its end yet")),
        }
    }

    /// Reads lines until one holds a request to deliver or the end is reached.
    fn read_on(&mut self) -> Result<(), Box<Fault>> {
        loop {
            let (number, line) = match self.lines.next() {
                Ok(Some(next)) => next,
                Ok(None) => {
                    self.end = End::Reached;
                    return self.check_not_empty();
                }
                Err(broken) => return Err(self.broken(broken)),
            };
            if is_idle(line) {
                continue;
            }
            let entry = match self.reader.read(line) {
                Ok(entry) => entry,
                Err(wrong) => return Err(Box::new(wrong.in_file(&self.name, number, line))),
            };
            let Some(entry) = entry else { continue };
            if !self.device.wants(&*self.reader, line) {
                self.counts.other_devices += 1;
                continue;
            }
            self.enqueue(entry, number)?;
            self.counts.requests += 1;
            self.counts.widened += u64::from(entry.widened);
            return Ok(());
        }
    }

    #[inline]
    fn enqueue(&mut self, entry: Entry, line: u64) -> Result<(), Box<Fault>> {
        let (lba, sectors) = entry.extent;
        let at = Nanos::from_ns(entry.stamp);
        let record = Record { at, lba, sectors, op: entry.op, queue: 0, hint: 0 };
        self.order.push(Waiting { record, line }).map_err(|back| self.unsorted(line, back))
    }

    fn check_not_empty(&self) -> Result<(), Box<Fault>> {
        if self.counts.requests > 0 {
            return Ok(());
        }
        Err(Box::new(match &self.device.wanted {
            Some(device) if self.counts.other_devices > 0 => {
                Fault::new(&self.name, "holds no request of the device asked for")
                    .got(format!("{device:?}"))
                    .expected(format!("one of {}", self.device.seen_names()))
            }
            _ => no_request(&self.name, "a header, blank lines or comments only"),
        }))
    }

    fn broken(&self, broken: Broken) -> Box<Fault> {
        Box::new(match broken {
            Broken::TooLong => Fault::new(&self.name, "line")
                .line(self.lines.number())
                .got(format!("more than {LONGEST} bytes"))
                .expected("a line of text"),
            Broken::Stream(error) => unreadable(&self.name, self.compression, &error),
        })
    }

    fn unsorted(&self, line: u64, back: u64) -> Box<Fault> {
        let back = Nanos::from_ns(back);
        let fault = Fault::new(&self.name, "time stamp").line(line);
        Box::new(match self.unsorted {
            Unsorted::Refuse => fault
                .got(format!("a step back of {back}"))
                .expected("stamps that do not go back")
                .hint("the option unsorted = {sort = 1024} sorts them"),
            Unsorted::Sort(window) => fault
                .got(format!("a step back of {back} over more than {window} requests"))
                .expected("stamps less out of order")
                .hint("the option unsorted = {sort = N} allows for more"),
        })
    }

    #[inline]
    fn deliver(&mut self, batch: &mut Vec<Record>, waiting: Waiting) {
        let first = *self.first.get_or_insert(waiting.record.at);
        batch.push(Record { at: waiting.record.at - first, ..waiting.record });
        self.batch_lines.push(waiting.line);
    }
}

impl Source for Trace {
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault> {
        self.batch_lines.clear();
        while self.batch_lines.len() < most {
            let ended = !matches!(self.end, End::NotYet);
            if let Some(waiting) = self.order.pop(ended) {
                self.deliver(batch, waiting);
            } else if ended {
                break;
            } else if let Err(fault) = self.read_on() {
                self.end = End::Fault(fault);
            }
        }
        match &self.end {
            End::Fault(fault) if self.batch_lines.is_empty() && most > 0 => Err((**fault).clone()),
            _ => Ok(self.batch_lines.len()),
        }
    }

    fn expected(&self) -> Option<u64> {
        match self.end {
            End::Reached => Some(self.counts.requests),
            _ => None,
        }
    }

    fn progress(&self) -> Option<f64> {
        let stored = self.stored.filter(|stored| *stored > 0)?;
        Some((self.meter.consumed() as f64 / stored as f64).min(1.0))
    }

    fn sha256(&self) -> Result<Option<String>, Fault> {
        Trace::sha256(self).map(Some)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn line(&self, index: usize) -> Option<u64> {
        self.batch_lines.get(index).copied()
    }
}

/// Leaves out the requests of devices that were not asked for.
struct DeviceFilter {
    wanted: Option<String>,
    name: Vec<u8>,
    /// Devices that were seen before the first that is wanted, for the message if none is.
    seen: Vec<Vec<u8>>,
    found: bool,
}

impl DeviceFilter {
    const MOST_NAMED: usize = 8;

    fn new(wanted: Option<&str>) -> DeviceFilter {
        let wanted = wanted.map(str::to_owned);
        DeviceFilter { wanted, name: Vec::new(), seen: Vec::new(), found: false }
    }

    #[inline]
    fn wants(&mut self, reader: &dyn Reader, line: &[u8]) -> bool {
        let Some(wanted) = &self.wanted else { return true };
        self.name.clear();
        reader.device(line, &mut self.name);
        let wants = self.name == wanted.as_bytes();
        self.found |= wants;
        let new = !self.found && !self.seen.contains(&self.name);
        if new && self.seen.len() <= Self::MOST_NAMED {
            self.seen.push(self.name.clone());
        }
        wants
    }

    fn seen_names(&self) -> String {
        let named = self.seen.iter().take(Self::MOST_NAMED);
        let mut names: Vec<_> = named.map(|name| String::from_utf8_lossy(name)).collect();
        if self.seen.len() > Self::MOST_NAMED {
            names.push("…".into());
        }
        names.join(", ")
    }
}

fn unreadable(name: &str, compression: Option<&str>, error: &io::Error) -> Fault {
    Fault::new(
        name,
        match compression {
            None => format!("cannot be read: {error}"),
            Some(kind) => format!("the {kind} stream is broken or cut short: {error}"),
        },
    )
}
