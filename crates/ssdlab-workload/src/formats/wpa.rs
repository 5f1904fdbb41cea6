//! The disk usage table that Windows Performance Analyzer exports.
//!
//! Source: the header of such files. The first line names the columns. The reader uses `IO Type`
//! (`Read`, `Write`, `Flush`), `Init Time`, `Size`, `Min Offset` (hexadecimal) and, if present,
//! `Disk`. A unit follows a name in parentheses: seconds down to nanoseconds, bytes, or KB to GB,
//! each 1024 of the one before. Without a unit, the values are seconds and bytes. The table has the
//! issue time and the completion time of each request; the response time is not used.
//!
//! If Windows is set to another language, a semicolon may separate columns. A comma may then stand
//! before the fraction of a number, and a point between its thousands. The last of the two
//! characters in the first time is the decimal separator.

use ssdlab_base::{Fault, Nanos};

use super::cells::Cells;
use super::columns::{Clock, Field, Separator, Wrong};
use super::field::{digits, split_decimal};
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

/// The indices of the columns.
#[derive(Clone, Copy)]
struct Layout {
    op: usize,
    time: usize,
    size: usize,
    /// The bytes in the unit of the sizes.
    bytes: u64,
    offset: usize,
    disk: Option<usize>,
}

struct Wpa {
    clock: Clock,
    cells: Cells,
    /// The columns, known from the header on.
    layout: Option<Layout>,
    /// The decimal separator, known from the first time on.
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
        let (time, size) = (find("Init Time")?, find("Size")?);
        let layout = Layout {
            op: find("IO Type")?,
            time,
            size,
            bytes: bytes_in(unit(self.cells.get(line, size, "unit of Size")?))?,
            offset: find("Min Offset")?,
            disk: self.cells.find(line, &["Disk"]),
        };
        if !self.clock.is_set {
            self.clock.tick = nanoseconds_in(unit(self.cells.get(line, time, "unit of Init Time")?))?;
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
        let extent = bytes(offset, offset.hexadecimal()?, size, amount(size, layout.bytes)?)?;
        Ok(Some(Entry::of_bytes(stamp, extent, op)))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        let disk = self.layout.and_then(|layout| layout.disk);
        let field = disk.and_then(|index| self.cells.get(line, index, "Disk").ok());
        name.extend_from_slice(field.map_or(b"0", |field| field.text));
    }
}

/// Returns the text in parentheses after the name of a column, or nothing if there is none.
fn unit(field: Field<'_>) -> Field<'_> {
    let begin = field.text.iter().position(|byte| *byte == b'(').map(|at| at + 1);
    let text = &field.text[begin.unwrap_or(field.text.len())..];
    let text = text.strip_suffix(b")").unwrap_or(text).trim_ascii();
    field.with(text).at(field.offset as usize + begin.unwrap_or(0), field.index as usize)
}

/// Returns the nanoseconds in a unit of time.
fn nanoseconds_in(unit: Field<'_>) -> Result<u64, Box<Wrong>> {
    match unit.text {
        b"" | b"s" => Ok(1_000_000_000),
        b"ms" => Ok(1_000_000),
        // The micro sign and the Greek letter mu look alike; the last form is the micro sign in
        // Latin-1.
        b"us" | b"\xc2\xb5s" | b"\xce\xbcs" | b"\xb5s" => Ok(1_000),
        b"ns" => Ok(1),
        _ => {
            let hint = "workload.trace.tick says how long a unit of this column lasts";
            Err(unit.wrong_hint("s, ms, \u{b5}s, us or ns", hint))
        }
    }
}

/// Returns the bytes in a unit of size.
fn bytes_in(unit: Field<'_>) -> Result<u64, Box<Wrong>> {
    match unit.text.to_ascii_lowercase().as_slice() {
        b"" | b"b" | b"bytes" => Ok(1),
        b"kb" | b"kib" => Ok(1 << 10),
        b"mb" | b"mib" => Ok(1 << 20),
        b"gb" | b"gib" => Ok(1 << 30),
        _ => Err(unit.wrong("B, KB, MB or GB")),
    }
}

/// Converts a size in this unit into bytes.
fn amount(field: Field<'_>, unit: u64) -> Result<u64, Box<Wrong>> {
    if unit == 1 {
        return field.whole();
    }
    let (whole, fraction) = split_decimal(field.text);
    let fraction = fraction.unwrap_or_default();
    let parts = 10u128.pow(fraction.len().min(18) as u32);
    let number = digits(&[whole, fraction].concat()).filter(|_| fraction.len() <= 18);
    let bytes = number.map(|number| u128::from(number) * u128::from(unit));
    let whole = bytes.filter(|bytes| bytes.is_multiple_of(parts)).map(|bytes| bytes / parts);
    let expected = "a whole number of bytes: export sizes in B, not rounded";
    whole.and_then(|bytes| u64::try_from(bytes).ok()).ok_or_else(|| field.wrong(expected))
}

/// The longest number that is read, in characters.
const LONGEST: usize = 40;

/// Rewrites a number with a decimal point and without separators of thousands.
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
    Ok(field.with(&room[..length]))
}
