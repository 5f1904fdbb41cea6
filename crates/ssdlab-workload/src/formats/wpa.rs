//! The disk usage table of Windows Performance Analyzer, as it exports it.
//!
//! Source: the header of such files. A first line names the columns, of which `IO Type` (`Read`,
//! `Write`, `Flush`), `Init Time`, `Size`, `Min Offset` (hexadecimal) and, if there is one, `Disk`
//! are read; a unit follows a name in parentheses. Times are when a request was issued and when it
//! completed; how long it took is not used. Where Windows is set to another language, a semicolon
//! stands between columns, a comma before the fraction of a number and a point between its
//! thousands: what stands last in the first time is before the fraction.

use ssdlab_base::{Fault, Nanos};

use super::cells::Cells;
use super::columns::{Clock, Field, Separator, Wrong};
use super::extent::bytes;
use super::{About, Entry, IN_FLIGHT, Reader};
use crate::record::Op;

pub(super) const ABOUT: About = About {
    columns: "IO Type;Init Time (s);Size (B);Min Offset;Disk",
    tick: Nanos::from_ms(1_000),
    fractions: true,
    unsorted: IN_FLIGHT,
    reader: |setup| {
        let cells = Cells::new(Separator::Comma);
        Box::new(Wpa { clock: setup.clock, cells, layout: None, point: None })
    },
    ..About::LINES
};

/// Where the columns are.
#[derive(Clone, Copy)]
struct Layout {
    op: usize,
    time: usize,
    size: usize,
    offset: usize,
    disk: Option<usize>,
}

struct Wpa {
    clock: Clock,
    cells: Cells,
    /// Known from the header on.
    layout: Option<Layout>,
    /// What stands before a fraction, once a time has told.
    point: Option<u8>,
}

impl Wpa {
    fn header(&mut self, line: &[u8]) -> Result<(), Box<Wrong>> {
        self.cells = Cells::new(Cells::separator_of(line));
        self.cells.split(line);
        let find = |name: &'static str| {
            self.cells.find(line, &[name]).ok_or_else(|| {
                let fault = Fault::new("", "header").got(String::from_utf8_lossy(line));
                Wrong::new(0, 0, fault.expected(format!("a column {name:?}")))
            })
        };
        let layout = Layout {
            op: find("IO Type")?,
            time: find("Init Time")?,
            size: find("Size")?,
            offset: find("Min Offset")?,
            disk: self.cells.find(line, &["Disk"]),
        };
        let unit = self.cells.get(line, layout.time, "Init Time")?.text;
        if !self.clock.is_said {
            self.clock.tick = match unit.iter().position(|byte| *byte == b'(').map(|at| &unit[at..])
            {
                Some(b"(ms)") => 1_000_000,
                Some([b'(', 0xc2, 0xb5, b's', b')'] | [b'(', 0xb5, b's', b')'] | b"(us)") => 1_000,
                Some(b"(ns)") => 1,
                _ => self.clock.tick,
            };
        }
        self.layout = Some(layout);
        Ok(())
    }
}

impl Reader for Wpa {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let Some(layout) = self.layout else { return self.header(line).map(|()| None) };
        self.cells.split(line);
        let op = self.cells.get(line, layout.op, "IO Type")?;
        let op = match op.text {
            b"Read" => Op::Read,
            b"Write" => Op::Write,
            b"Flush" => Op::Flush,
            _ => return Err(op.wrong_near("Read, Write or Flush", &["Read", "Write", "Flush"])),
        };
        let time = self.cells.get(line, layout.time, "Init Time")?;
        let last = || time.text.iter().rev().find(|byte| matches!(byte, b'.' | b','));
        let point = *self.point.get_or_insert_with(|| *last().unwrap_or(&b'.'));
        let mut room = [0; LONGEST];
        let stamp = plain(time, point, &mut room)?.stamp(self.clock)?;
        if op == Op::Flush {
            return Ok(Some(Entry::flush(stamp)));
        }
        let size = self.cells.get(line, layout.size, "Size")?;
        let size = plain(size, point, &mut room)?;
        let offset = self.cells.get(line, layout.offset, "Min Offset")?;
        let extent = bytes(offset, offset.hexadecimal()?, size, size.whole()?)?;
        Ok(Some(Entry::of_bytes(stamp, extent, op)))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        let disk = self.layout.and_then(|layout| layout.disk);
        let field = disk.and_then(|index| self.cells.get(line, index, "Disk").ok());
        name.extend_from_slice(field.map_or(b"0", |field| field.text));
    }
}

/// The longest number that is read.
const LONGEST: usize = 40;

/// A number as others write it: without what groups its thousands, and with a point.
fn plain<'a>(
    field: Field<'_>,
    point: u8,
    room: &'a mut [u8; LONGEST],
) -> Result<Field<'a>, Box<Wrong>> {
    if field.text.len() > LONGEST {
        return Err(field.wrong("a number"));
    }
    let group = if point == b',' { b'.' } else { b',' };
    let mut length = 0;
    for byte in field.text.iter().filter(|byte| **byte != group) {
        room[length] = if *byte == point { b'.' } else { *byte };
        length += 1;
    }
    Ok(Field { text: &room[..length], name: field.name, offset: field.offset, index: field.index })
}
