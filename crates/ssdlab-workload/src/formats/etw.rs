//! Windows event traces as `xperf -a dumper` prints them, one event a line.
//!
//! Source: the headers within such files; the Microsoft Enterprise and Microsoft Production Server
//! traces at SNIA IOTTA (Kavalanekar et al., "Characterization of Storage Workload Traces from
//! Production Windows Servers", IISWC '08) are of this form. `DiskRead` and `DiskWrite` rows are
//! `TimeStamp, Process Name ( PID), ThreadID, [CPU,] IrpPtr, ByteOffset, IOSize, ElapsedTime,
//! DiskNum, ...`, `DiskFlush` rows have neither offset nor size; ByteOffset and IOSize are bytes in
//! hexadecimal. Both times are microseconds; a row is written on completion, so that a request was
//! issued at TimeStamp less ElapsedTime. The header says which columns there are; without one, the
//! columns of the published traces are assumed. The name of a process may have commas in it, and
//! ends with its number in parentheses. Other events are skipped.

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
    // Assumed: in the order of completion, a request that waited long is far from its place.
    unsorted: Unsorted::Sort(16_384),
    signature: Some(b"BeginHeader"),
    reader: |setup| Box::new(Etw::new(setup.clock)),
    ..About::LINES
};

/// Where the columns of one kind of event are.
#[derive(Clone, Copy)]
struct Layout {
    offset: usize,
    size: usize,
    elapsed: usize,
    disk: usize,
}

const LAYOUT: Layout = Layout { offset: 5, size: 6, elapsed: 7, disk: 8 };
const LAYOUT_FLUSH: Layout = Layout { offset: 0, size: 0, elapsed: 5, disk: 6 };

/// Where the name of the process is, before all columns that are looked at but the time.
const PROCESS: usize = 2;
/// Commas that are looked for in it.
const MOST_COMMAS: usize = 16;

impl Layout {
    /// The same columns, moved by so many.
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
    /// Where the disk's number is in the line read last.
    disk: usize,
}

impl Etw {
    fn new(clock: Clock) -> Etw {
        let cells = Cells::new(Separator::Comma);
        Etw { clock, cells, transfer: LAYOUT, flush: LAYOUT_FLUSH, disk: 0 }
    }

    /// Takes over where a header says that the columns are.
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

    /// Commas in the process's name, each of which moves the columns behind it by one: the name
    /// ends with the process's number, and the thread's follows.
    fn commas_in_name(&self, line: &[u8]) -> usize {
        let text = |index| self.cells.get(line, index, "").map_or(&b""[..], |field| field.text);
        let number = |text: &[u8]| is_digits(text.strip_prefix(b"-").unwrap_or(text));
        let is_end = |index: &usize| {
            let named = text(PROCESS + index).strip_suffix(b")");
            let inner = named.and_then(|text| text.rsplit(|byte| *byte == b'(').next());
            inner.is_some_and(|inner| number(inner.trim_ascii())) && number(text(PROCESS + index + 1))
        };
        let names = (0..).take_while(|index| !text(PROCESS + index).is_empty());
        names.take(MOST_COMMAS + 1).find(is_end).unwrap_or(0)
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
        // What was under way when the trace began was issued before it.
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
