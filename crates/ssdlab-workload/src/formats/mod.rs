//! The trace formats. A new format is a file in this folder and one line in the list below.

use std::fmt;
use std::str::FromStr;

use ssdlab_base::{Fault, Nanos};

pub(crate) mod cells;
pub(crate) mod columns;
pub(crate) mod device;
pub(crate) mod extent;
pub(crate) mod field;
pub(crate) mod mapping;
pub(crate) mod options;
pub(crate) mod parquet_columns;
mod parquet_pages;

use crate::record::Op;
use columns::{Clock, Wrong};
use extent::{Extent, NOTHING};
use mapping::Mapping;
use options::Unsorted;

/// The properties of a format, as its file declares them.
pub(crate) struct About {
    /// The columns of a line as users know them, for messages.
    pub(crate) columns: &'static str,
    /// How long one unit of the time column lasts.
    pub(crate) tick: Nanos,
    /// Whether the time column has fractions.
    pub(crate) fractions: bool,
    /// The treatment of time stamps that go back, unless the user sets another.
    pub(crate) unsorted: Unsorted,
    /// The parts of the file: lines, records or a table.
    pub(crate) framing: Framing,
    /// Whether lines without a request have such a strict form that they also identify the format.
    pub(crate) events: bool,
    /// The first bytes of a file, if only this format begins with them.
    pub(crate) signature: Option<&'static [u8]>,
    /// Returns a reader for a file, before its first line.
    pub(crate) reader: fn(&Setup) -> Box<dyn Reader>,
}

impl About {
    /// Sorted lines of text with times in nanoseconds. Most formats change a few of these values.
    const LINES: About = About {
        columns: "",
        tick: Nanos::from_ns(1),
        fractions: false,
        unsorted: Unsorted::Refuse,
        framing: Framing::Lines,
        events: false,
        signature: None,
        reader: |_| Box::new(Unread),
    };
}

/// The window for logs that several processors, queues or servers write. Assumed: it covers the
/// requests that a drive or an array has in flight at once.
const IN_FLIGHT: Unsorted = Unsorted::Sort(1024);

/// The parts of a file.
#[derive(Clone, Copy)]
pub(crate) enum Framing {
    /// Lines of text.
    Lines,
    /// Records of equal length. The function returns that length from the first bytes.
    Records(fn(&[u8]) -> usize),
    /// A table with its directory at the end, so the file must allow seeking.
    Table,
}

/// The settings of a reader before the first line.
pub(crate) struct Setup<'a> {
    pub(crate) clock: Clock,
    /// The places of the columns, if the user sets them.
    pub(crate) mapping: Option<&'a Mapping>,
}

/// The next item of a file.
pub(crate) enum Next {
    /// A request, and the number of its line, record or row, counted from 1.
    Request(u64, Entry),
    /// A request of a device that is not selected.
    OtherDevice,
    /// The end of the file.
    End,
}

/// The request in a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Entry {
    /// The time in nanoseconds, counted from the file's own origin.
    pub(crate) stamp: u64,
    pub(crate) extent: Extent,
    pub(crate) op: Op,
    /// Whether the request had to be widened to whole sectors.
    pub(crate) widened: bool,
    /// The submission queue of the request.
    pub(crate) queue: u8,
    /// The latency hint of the host, as in [`Record`](crate::Record).
    pub(crate) hint: u8,
}

impl Entry {
    /// Returns a request that covers whole sectors.
    pub(crate) fn of_sectors(stamp: u64, extent: Extent, op: Op) -> Entry {
        Entry { stamp, extent, op, widened: false, queue: 0, hint: 0 }
    }

    /// Returns a request whose bytes were widened to whole sectors if necessary.
    pub(crate) fn of_bytes(stamp: u64, (extent, widened): (Extent, bool), op: Op) -> Entry {
        Entry { stamp, extent, op, widened, queue: 0, hint: 0 }
    }

    /// Returns a flush.
    pub(crate) fn flush(stamp: u64) -> Entry {
        Entry::of_sectors(stamp, NOTHING, Op::Flush)
    }
}

/// Reads the lines or binary records ("pieces") of one file in one format. It may remember facts
/// from earlier pieces, but keeps no piece.
///
/// It never gets blank lines and comments (`#`).
pub(crate) trait Reader: Send {
    /// Returns the request in this piece, or `None` for a header or another kind of event.
    fn read(&mut self, piece: &[u8]) -> Result<Option<Entry>, Box<Wrong>>;

    /// Writes the name of the piece's device to `name`. The caller has just read this piece.
    fn device(&self, piece: &[u8], name: &mut Vec<u8>);

    /// Returns a remark for the user on how the pieces so far were understood.
    fn remark(&self) -> Option<&'static str> {
        None
    }

    /// Returns the usual reason why a file of this format holds no request, if there is one.
    fn why_empty(&self) -> Option<&'static str> {
        None
    }
}

/// The reader of a format that has no lines or records.
struct Unread;

impl Reader for Unread {
    fn read(&mut self, _: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        Err(Wrong::record(Fault::new("", "piece").expected("a file that allows seeking")))
    }

    fn device(&self, _: &[u8], name: &mut Vec<u8>) {
        name.push(b'0');
    }
}

macro_rules! formats {
    ($($(#[doc = $doc:literal])* $variant:ident = $module:ident;)*) => {
        $(pub(crate) mod $module;)*

        /// A format of trace files.
        ///
        /// If the content fits several formats, the one listed first wins.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Format {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Format {
            /// Every format, in the order in which recognition prefers them.
            pub const ALL: &'static [Format] = &[$(Format::$variant,)*];

            /// Returns the name by which users choose the format, as in `FILE:msr`.
            pub const fn name(self) -> &'static str {
                match self { $(Format::$variant => stringify!($module),)* }
            }

            /// Returns a one-sentence description.
            pub fn summary(self) -> &'static str {
                match self { $(Format::$variant => concat!($($doc),*).trim(),)* }
            }

            pub(crate) const fn about(self) -> &'static About {
                match self { $(Format::$variant => &$module::ABOUT,)* }
            }
        }
    };
}

formats! {
    /// MSR Cambridge block traces (SNIA IOTTA), comma-separated, stamps as Windows file times.
    Msr = msr;
    /// The SPC trace file format of the UMass trace repository, comma-separated, in seconds.
    Spc = spc;
    /// MQSim's ASCII traces: five whole numbers, in nanoseconds.
    Mqsim = mqsim;
    /// SSDSim's ASCII traces: the same five whole numbers as MQSim's, and perhaps content hashes.
    Ssdsim = ssdsim;
    /// DiskSim's ASCII traces: five numbers, in milliseconds with a fraction.
    Disksim = disksim;
    /// The trace replayer of Heimdall, FlashNet and IODA: five numbers, in milliseconds and bytes.
    Heimdall = heimdall;
    /// AliCloud's block traces, comma-separated, in microseconds and bytes.
    Alicloud = alicloud;
    /// Tencent's block storage traces, comma-separated, in seconds and sectors.
    Tencent = tencent;
    /// SYSTOR '17 enterprise VDI traces, comma-separated, in seconds and bytes.
    Systor = systor;
    /// FIU's traces with content hashes: nine columns, in nanoseconds and sectors.
    Fiu = fiu;
    /// The output of `blkparse` for a Linux block trace; a request is an issue (D) event.
    Blkparse = blkparse;
    /// fio's I/O logs, versions 2 and 3.
    Fio = fio;
    /// VMware vscsiStats traces as CloudPhysics publishes them: binary records, versions 1 and 2.
    Vscsi = vscsi;
    /// Windows event traces as `xperf -a dumper` prints them: DiskRead, DiskWrite and DiskFlush.
    Etw = etw;
    /// The disk usage table of Windows Performance Analyzer, exported.
    Wpa = wpa;
    /// Sysinternals DiskMon logs: seven columns, in seconds and sectors.
    Diskmon = diskmon;
    /// hfplayer's dumps of array traces, comma-separated, sixteen columns.
    Hfplayer = hfplayer;
    /// WiscSee's block events; a request is an issue (D) event.
    Wiscsee = wiscsee;
    /// Our own CSV: `time_us,dev,op,offset_bytes,size_bytes[,...]`.
    Ssdlab = ssdlab;
    /// Any text in columns, which the setting `workload.trace.columns` maps.
    Csv = csv;
    /// Parquet tables with our own CSV's columns, or those that `workload.trace.columns` maps.
    Parquet = parquet;
}

impl Format {
    /// Returns the columns of a line, as the format's users know them.
    pub fn columns(self) -> &'static str {
        self.about().columns
    }

    /// Returns the unit of the time stamps.
    pub fn time_unit(self) -> String {
        let about = self.about();
        let fraction = if about.fractions { ", fraction" } else { "" };
        match self {
            Format::Csv => "as mapped".into(),
            Format::Parquet => "as the column says".into(),
            Format::Wpa => "as the header says".into(),
            Format::Msr => format!("{} since 1601", about.tick),
            _ => format!("{}{fraction}", about.tick),
        }
    }

    /// Returns the fault for a name that is no format.
    pub(crate) fn unknown(name: &str) -> Fault {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        Fault::new("", "unknown trace format")
            .got(if name.is_empty() { "nothing" } else { name })
            .expected(format!("one of {}", names.join(", ")))
            .suggest(name, names)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Fault;
    fn from_str(name: &str) -> Result<Format, Fault> {
        let found = Format::ALL.iter().find(|format| format.name().eq_ignore_ascii_case(name));
        found.copied().ok_or_else(|| Format::unknown(name))
    }
}
