//! Any text in columns; the setting `workload.trace.columns` maps them.
//!
//! Source: the user. `time:0:us,op:2,offset:3:sectors,size:4:sectors` takes columns by index,
//! counted from 0. `time:ts:s,op:type:0/1,offset:lba,size:len` takes columns by their names in the
//! first line. The separator is the semicolon, tab or comma in the first line, or else spaces.
//! Without a unit, times are microseconds (or `workload.trace.tick`), and offsets and sizes are
//! bytes. A first line whose time is no number is a header.
//!
//! `csv-core` could split the lines too. But it copies them into its own buffer, which loses the
//! position of a fault.

use ssdlab_base::{Fault, Nanos};

use super::cells::Cells;
use super::columns::{Clock, Separator, Wrong};
use super::extent::bytes;
use super::mapping::{Mapping, Place, Spelling, Unit};
use super::{About, Entry, Framing, Reader, Setup, Unread};
use crate::record::Op;

pub(super) const ABOUT: About = About {
    columns: "as workload.trace.columns says",
    tick: Nanos::from_us(1),
    fractions: true,
    framing: Framing::Lines,
    reader: |setup: &Setup<'_>| match setup.mapping {
        Some(mapping) => Box::new(Csv::new(mapping.clone(), setup.clock)),
        None => Box::new(Unread),
    },
    ..About::LINES
};

/// The indices of the columns, known from the first line on.
#[derive(Clone, Copy)]
struct Layout {
    time: usize,
    op: usize,
    offset: usize,
    size: usize,
    device: Option<usize>,
    queue: Option<usize>,
    hint: Option<usize>,
}

struct Csv {
    mapping: Mapping,
    clock: Clock,
    cells: Cells,
    layout: Option<Layout>,
}

impl Csv {
    fn new(mapping: Mapping, clock: Clock) -> Csv {
        let clock = mapping.clock(clock);
        Csv { mapping, clock, cells: Cells::new(Separator::Comma), layout: None }
    }

    /// Finds the columns in the first line. Returns them and whether the line is a header.
    fn begin(&mut self, line: &[u8]) -> Result<(Layout, bool), Box<Wrong>> {
        self.cells = Cells::new(Cells::separator_of(line));
        self.cells.split(line);
        let mut named = false;
        let mut find = |place: &Place| match place {
            Place::Index(index) => Ok(*index),
            Place::Name(name) => {
                named = true;
                let found = self.cells.find(line, &[name]);
                found.ok_or_else(|| {
                    let fault = Fault::new("", "header").got(String::from_utf8_lossy(line));
                    let fault = fault.suggest(name, self.cells.texts(line));
                    Wrong::new(0, 0, fault.expected(format!("a column {name:?}")))
                })
            }
        };
        let mapping = &self.mapping;
        let layout = Layout {
            time: find(&mapping.time)?,
            op: find(&mapping.op)?,
            offset: find(&mapping.offset)?,
            size: find(&mapping.size)?,
            device: mapping.device.as_ref().map(&mut find).transpose()?,
            queue: mapping.queue.as_ref().map(&mut find).transpose()?,
            hint: mapping.hint.as_ref().map(find).transpose()?,
        };
        let header = named || self.cells.get(line, layout.time, "time")?.any_number().is_err();
        Ok((layout, header))
    }
}

impl Reader for Csv {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let layout = match self.layout {
            Some(layout) => {
                self.cells.split(line);
                layout
            }
            None => {
                let (layout, header) = self.begin(line)?;
                self.layout = Some(layout);
                if header {
                    return Ok(None);
                }
                layout
            }
        };
        let get = |index, name| self.cells.get(line, index, name);
        let stamp = get(layout.time, "time")?.stamp(self.clock)?;
        let field = get(layout.op, "op")?;
        let op = op(field, self.mapping.spelling.as_ref())?;
        let queue = layout.queue.map_or(Ok(0), |index| get(index, "queue")?.queue())?;
        let hint = layout.hint.map_or(Ok(0), |index| get(index, "hint")?.hint())?;
        if op == Op::Flush {
            return Ok(Some(Entry { queue, hint, ..Entry::flush(stamp) }));
        }
        let in_bytes = |index, name, unit: Unit| -> Result<_, Box<Wrong>> {
            let field = get(index, name)?;
            let value = field.whole()?.checked_mul(unit.bytes());
            Ok((field, value.ok_or_else(|| field.wrong("less than 2^64 bytes"))?))
        };
        let (offset, start) = in_bytes(layout.offset, "offset", self.mapping.offset_unit)?;
        let (size, length) = in_bytes(layout.size, "size", self.mapping.size_unit)?;
        let extent = bytes(offset, start, size, length)?;
        Ok(Some(Entry { queue, hint, ..Entry::of_bytes(stamp, extent, op) }))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        let place = self.layout.and_then(|layout| layout.device);
        let field = place.and_then(|index| self.cells.get(line, index, "device").ok());
        name.extend_from_slice(field.map_or(b"0", |field| field.text));
    }
}

fn op(
    field: super::columns::Field<'_>,
    spelling: Option<&Spelling>,
) -> Result<Op, Box<Wrong>> {
    match spelling {
        Some(spelling) => {
            spelling.op(field.text).ok_or_else(|| field.wrong(spelling.expected()))
        }
        None if super::columns::is_digits(field.text) => {
            let hint = "op:PLACE:0/1 says that 0 is a read and 1 a write";
            Err(field.wrong_hint("R, W, T or F", hint))
        }
        None => field.op_word(),
    }
}
