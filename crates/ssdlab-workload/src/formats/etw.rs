//! Windows event traces as `xperf -a dumper` prints them, one event a line.
//!
//! Source: the headers in such files. The Microsoft Enterprise and Microsoft Production Server
//! traces at SNIA IOTTA have this form. Kavalanekar et al. describe them ("Characterization of
//! Storage Workload Traces from Production Windows Servers", IISWC '08).
//!
//! `DiskRead` and `DiskWrite` rows are `TimeStamp, Process Name ( PID), ThreadID, [CPU,] IrpPtr,
//! ByteOffset, IOSize, ElapsedTime, DiskNum, ...`. `DiskFlush` rows have no offset and no size.
//! ByteOffset and IOSize are bytes in hexadecimal. Both times are microseconds. Windows writes a
//! row at completion, so the issue time is TimeStamp minus ElapsedTime.
//!
//! The header names the columns. Without a header, the columns of the published traces are assumed.
//! A process name may contain commas, and ends with the process number in parentheses. The reader
//! skips other events.

use ssdlab_base::Nanos;

use super::cells::Cells;
use super::columns::{Clock, Field, Separator, Wrong, is_digits};
use super::extent::bytes;
use super::{About, Entry, Reader};
use crate::record::Op;
use crate::formats::options::Unsorted;

pub(super) const ABOUT: About = About {
    columns: "DiskRead,TimeStamp,Process,ThreadID,IrpPtr,ByteOffset,IOSize,ElapsedTime,DiskNum",
    tick: Nanos::from_us(1),
    // Assumed: the order is by completion, so a request with a long response time is far out of
    // order.
    unsorted: Unsorted::Sort(16_384),
    signature: Some(b"BeginHeader"),
    reader: |setup| Box::new(Etw::new(setup.clock)),
    ..About::LINES
};

/// The indices of the columns of one kind of event.
#[derive(Clone, Copy)]
struct Layout {
    offset: usize,
    size: usize,
    elapsed: usize,
    disk: usize,
}

const LAYOUT: Layout = Layout { offset: 5, size: 6, elapsed: 7, disk: 8 };
const LAYOUT_FLUSH: Layout = Layout { offset: 0, size: 0, elapsed: 5, disk: 6 };

/// The index of the process name. Of the columns used, only the time comes before it.
const PROCESS: usize = 2;
/// The most commas that a process name may contain.
const MAX_COMMAS: usize = 16;

impl Layout {
    /// Returns the columns moved by `more` places.
    fn behind(self, more: usize) -> Layout {
        let [offset, size, elapsed, disk] =
            [self.offset, self.size, self.elapsed, self.disk].map(|place| place + more);
        Layout { offset, size, elapsed, disk }
    }
}

struct Etw {
    clock: Clock,
    cells: Cells,
    transfer: Layout,
    flush: Layout,
    /// The index of the disk number in the last line.
    disk: usize,
}

impl Etw {
    fn new(clock: Clock) -> Etw {
        let cells = Cells::new(Separator::Comma);
        Etw { clock, cells, transfer: LAYOUT, flush: LAYOUT_FLUSH, disk: 0 }
    }

    /// Takes the indices of the columns from a header.
    fn learn(&mut self, line: &[u8], op: Op) {
        let find = |name, else_at| self.cells.find(line, &[name]).unwrap_or(else_at);
        let before = if op == Op::Flush { self.flush } else { self.transfer };
        let layout = Layout {
            offset: find("ByteOffset", before.offset),
            size: find("IOSize", before.size),
            elapsed: find("ElapsedTime", before.elapsed),
            disk: find("DiskNum", before.disk),
        };
        *(if op == Op::Flush { &mut self.flush } else { &mut self.transfer }) = layout;
    }

    /// Counts the commas in the process name; each moves the later columns by one. The name ends
    /// with the process number, and the thread number follows.
    fn commas_in_name(&self, line: &[u8]) -> usize {
        let text = |index| self.cells.get(line, index, "").map_or(&b""[..], |field| field.text);
        let number = |text: &[u8]| is_digits(text.strip_prefix(b"-").unwrap_or(text));
        let is_end = |index: &usize| {
            let named = text(PROCESS + index).strip_suffix(b")");
            let inner = named.and_then(|text| text.rsplit(|byte| *byte == b'(').next());
            inner.is_some_and(|inner| number(inner.trim_ascii())) && number(text(PROCESS + index + 1))
        };
        let names = (0..).take_while(|index| !text(PROCESS + index).is_empty());
        names.take(MAX_COMMAS + 1).find(is_end).unwrap_or(0)
    }

    fn event(&mut self, line: &[u8], op: Op) -> Result<Option<Entry>, Box<Wrong>> {
        self.cells.split(line);
        let get = |index, name| self.cells.get(line, index, name);
        let time = get(1, "TimeStamp")?;
        if time.text.eq_ignore_ascii_case(b"TimeStamp") {
            self.learn(line, op);
            return Ok(None);
        }
        let more = self.commas_in_name(line);
        let layout = if op == Op::Flush { self.flush } else { self.transfer }.behind(more);
        let elapsed = get(layout.elapsed, "ElapsedTime")?.stamp(self.clock)?;
        // A request that was already running when the trace began was issued before it.
        let stamp = time.stamp(self.clock)?.saturating_sub(elapsed);
        get(layout.disk, "DiskNum")?.whole()?;
        self.disk = layout.disk;
        if op == Op::Flush {
            return Ok(Some(Entry::flush(stamp)));
        }
        let (offset, size) = (get(layout.offset, "ByteOffset")?, get(layout.size, "IOSize")?);
        let extent = bytes(offset, offset.hexadecimal()?, size, size.hexadecimal()?)?;
        Ok(Some(Entry::of_bytes(stamp, extent, op)))
    }
}

impl Reader for Etw {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let length = memchr::memchr(b',', line).unwrap_or(line.len());
        let kind = Field::new(line[..length].trim_ascii(), "event");
        match kind.text {
            b"DiskRead" => self.event(line, Op::Read),
            b"DiskWrite" => self.event(line, Op::Write),
            b"DiskFlush" => self.event(line, Op::Flush),
            [first, ..] if first.is_ascii_alphabetic() => Ok(None),
            _ => Err(kind.wrong("the name of an event, such as DiskRead")),
        }
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        let disk = self.cells.get(line, self.disk, "DiskNum");
        name.extend_from_slice(disk.map_or(b"", |field| field.text));
    }

    fn why_empty(&self) -> Option<&'static str> {
        Some("no DiskRead, DiskWrite or DiskFlush event")
    }
}
