//! The columns of a Parquet table: finds them, their units and their values.

use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::ParquetError;
use ::parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};
use ssdlab_base::{Fault, Nanos};

use super::columns::Field;
use super::extent::SECTOR;
use super::mapping::{Mapping, Place, Spelling, Unit};
use crate::record::{MAX_HINT, Op};

/// The names of a column, each with its unit in nanoseconds or bytes; 0 if the name implies none.
type Names = &'static [(&'static str, u64)];

const TIME: Names = &[
    ("time_us", 1_000),
    ("time_ns", 1),
    ("time_ms", 1_000_000),
    ("time_s", 1_000_000_000),
    ("time", 0),
    ("timestamp", 0),
    ("ts", 0),
];
const OP: Names = &[("op", 1)];
const OFFSET: Names = &[("offset_bytes", 1), ("offset", 1), ("lba", SECTOR)];
const SIZE: Names = &[("size_bytes", 1), ("size", 1), ("sectors", SECTOR)];
const QUEUE: Names = &[("queue", 1)];
const HINT: Names = &[("hint", 1)];
const DEVICE: Names = &[("dev", 1), ("device", 1)];

/// A column of the table, and the slot that holds its values.
pub(crate) struct Bound {
    /// The column's name in messages.
    what: &'static str,
    pub(crate) slot: usize,
    /// The nanoseconds or bytes in one unit.
    scale: u64,
}

impl Bound {
    pub(crate) fn absent(&self) -> Fault {
        Fault::new("", self.what).got("null").expected("a value")
    }
}

/// The columns of a table that are read, and how to read them.
pub(crate) struct Binding {
    /// The index of each slot's column in the table.
    pub(crate) places: Vec<usize>,
    pub(crate) time: Bound,
    pub(crate) op: Bound,
    pub(crate) offset: Bound,
    pub(crate) size: Bound,
    pub(crate) device: Option<Bound>,
    queue: Option<Bound>,
    hint: Option<Bound>,
    spelling: Option<Spelling>,
}

impl Binding {
    /// Finds the columns of a table.
    pub(crate) fn new(
        table: &SchemaDescriptor,
        tick: Option<Nanos>,
        mapping: Option<&Mapping>,
    ) -> Result<Binding, Fault> {
        let mut finder = Finder { table, places: Vec::new() };
        let bytes = |unit: Option<Unit>| unit.map(Unit::bytes);
        let of = |get: fn(&Mapping) -> &Place| mapping.map(get);
        let set = tick.or(mapping.and_then(|mapping| mapping.tick)).map(Nanos::as_ns);
        let time = finder.need("time", of(|m| &m.time), TIME, set)?;
        let op = finder.need("op", of(|m| &m.op), OP, None)?;
        let unit = bytes(mapping.map(|mapping| mapping.offset_unit));
        let offset = finder.need("offset", of(|m| &m.offset), OFFSET, unit)?;
        let unit = bytes(mapping.map(|mapping| mapping.size_unit));
        let size = finder.need("size", of(|m| &m.size), SIZE, unit)?;
        // An optional column is found by its usual name, or at the place that the user's mapping
        // gives.
        let mut may = |what, names, of: fn(&Mapping) -> &Option<Place>| match mapping.map(of) {
            None => finder.find(what, None, names, None),
            Some(None) => Ok(None),
            Some(place) => finder.find(what, place.as_ref(), &[], None),
        };
        let device = may("device", DEVICE, |mapping| &mapping.device)?;
        let queue = may("queue", QUEUE, |mapping| &mapping.queue)?;
        let hint = may("hint", HINT, |mapping| &mapping.hint)?;
        let spelling = mapping.and_then(|mapping| mapping.spelling.clone());
        Ok(Binding { places: finder.places, time, op, offset, size, device, queue, hint, spelling })
    }

    /// Converts a time into nanoseconds.
    pub(crate) fn stamp(&self, cell: Cell<'_>) -> Result<u64, Fault> {
        let wrong = || Fault::new("", "time").got(cell).expected("a time from 0 to 2^64 ns");
        match cell {
            Cell::Whole(ticks) => {
                let ticks = u64::try_from(ticks).map_err(|_| wrong())?;
                ticks.checked_mul(self.time.scale).ok_or_else(wrong)
            }
            Cell::Real(ticks) => {
                let ns = (ticks * self.time.scale as f64).round();
                if (0.0..1.8e19).contains(&ns) { Ok(ns as u64) } else { Err(wrong()) }
            }
            Cell::Text(_) => Err(wrong()),
        }
    }

    /// Converts an operation.
    pub(crate) fn op(&self, cell: Cell<'_>) -> Result<Op, Fault> {
        let digits;
        let text = match cell {
            Cell::Text(text) => text,
            // A number is an operation only in a spelling that the user sets.
            Cell::Whole(number) => {
                digits = number.to_string();
                digits.as_bytes()
            }
            Cell::Real(_) => return Err(Fault::new("", "op").got(cell).expected("R or W")),
        };
        let field = Field::new(text, "op");
        match &self.spelling {
            None => field.op_word().map_err(|wrong| wrong.fault),
            Some(spelling) => {
                spelling.op(text).ok_or_else(|| field.wrong(spelling.expected()).fault)
            }
        }
    }

    /// Returns the submission queue of a row, or 0 if there is none; `cell` reads the row's value.
    pub(crate) fn queue<'a>(&self, cell: impl Fn(&Bound) -> Option<Cell<'a>>) -> Result<u8, Fault> {
        small(self.queue.as_ref(), u8::MAX, cell)
    }

    /// Returns the latency hint of a row, or 0 if there is none; `cell` reads the row's value.
    pub(crate) fn hint<'a>(&self, cell: impl Fn(&Bound) -> Option<Cell<'a>>) -> Result<u8, Fault> {
        small(self.hint.as_ref(), MAX_HINT, cell)
    }

    /// Converts an offset or a size into bytes.
    pub(crate) fn length(&self, bound: &Bound, cell: Cell<'_>) -> Result<u64, Fault> {
        let wrong = || {
            Fault::new("", bound.what).got(cell).expected("a whole number, from 0 to 2^64 bytes")
        };
        match cell {
            // Programs store whole numbers as floating-point numbers if some rows lack a value.
            Cell::Real(value) if value.fract() == 0.0 && (0.0..EXACT).contains(&value) => {
                (value as u64).checked_mul(bound.scale).ok_or_else(wrong)
            }
            Cell::Whole(value) => {
                let value = u64::try_from(value).map_err(|_| wrong())?;
                value.checked_mul(bound.scale).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }
}

/// Reads a number up to `most` from an optional column, or 0 if there is none.
fn small<'a>(
    bound: Option<&Bound>,
    most: u8,
    cell: impl Fn(&Bound) -> Option<Cell<'a>>,
) -> Result<u8, Fault> {
    let Some((bound, cell)) = bound.and_then(|bound| Some((bound, cell(bound)?))) else {
        return Ok(0);
    };
    let number = match cell {
        Cell::Whole(number) => u8::try_from(number).ok().filter(|number| *number <= most),
        _ => None,
    };
    let wrong = || Fault::new("", bound.what).got(cell).expected(format!("from 0 to {most}"));
    number.ok_or_else(wrong)
}

/// Below this limit, floating-point numbers represent every whole number exactly.
const EXACT: f64 = (1u64 << 53) as f64;

struct Finder<'a> {
    table: &'a SchemaDescriptor,
    places: Vec<usize>,
}

impl Finder<'_> {
    /// Finds a required column.
    fn need(
        &mut self,
        what: &'static str,
        place: Option<&Place>,
        names: Names,
        scale: Option<u64>,
    ) -> Result<Bound, Fault> {
        self.find(what, place, names, scale)?.ok_or_else(|| {
            let there: Vec<&str> = self.table.columns().iter().map(|c| c.name()).collect();
            let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            Fault::new("", format!("no column of the {what}"))
                .got(there.join(", "))
                .expected(format!("one of {}", known.join(", ")))
                .hint("workload.trace.columns maps others")
        })
    }

    fn find(
        &mut self,
        what: &'static str,
        place: Option<&Place>,
        names: Names,
        scale: Option<u64>,
    ) -> Result<Option<Bound>, Fault> {
        let columns = self.table.columns();
        let by_name = |name: &str| columns.iter().position(|c| c.name().eq_ignore_ascii_case(name));
        let (place, own) = match place {
            Some(Place::Index(index)) if *index < columns.len() => (*index, None),
            Some(Place::Index(index)) => {
                let fault = Fault::new("", format!("column of the {what}")).got(index);
                return Err(fault.expected(format!("below {}", columns.len())));
            }
            Some(Place::Name(name)) => match by_name(name) {
                Some(place) => (place, None),
                None => {
                    let there: Vec<&str> = columns.iter().map(|c| c.name()).collect();
                    let fault = Fault::new("", format!("column of the {what}")).got(name);
                    let fault = fault.expected(format!("one of {}", there.join(", ")));
                    return Err(fault.suggest(name, there));
                }
            },
            None => {
                let found = names.iter().find_map(|(name, scale)| Some((by_name(name)?, scale)));
                match found {
                    Some((place, scale)) => (place, Some(*scale)),
                    None => return Ok(None),
                }
            }
        };
        let scale = unit(what, &columns[place], scale, own)?;
        self.places.push(place);
        Ok(Some(Bound { what, slot: self.places.len() - 1, scale }))
    }
}

/// Returns the nanoseconds or bytes in one unit of a column. The user's setting comes first, then
/// the column's type, then its name.
fn unit(
    what: &str,
    column: &ColumnDescriptor,
    set: Option<u64>,
    own: Option<u64>,
) -> Result<u64, Fault> {
    if column.max_rep_level() > 0 {
        return Err(Fault::new("", column.name()).got("a list").expected("one value a row"));
    }
    match set.or_else(|| timestamp_unit(column)).or(own) {
        Some(0) => Err(Fault::new("", column.name())
            .got("a number without unit")
            .expected("a timestamp, or time_us, time_ns, time_ms or time_s")
            .hint("workload.trace.tick says the unit")),
        Some(unit) => Ok(unit),
        // The user named the column, and nothing states a unit: microseconds or bytes.
        None => Ok(if what == "time" { 1_000 } else { 1 }),
    }
}

/// Returns the nanoseconds in one unit of a timestamp column.
fn timestamp_unit(column: &ColumnDescriptor) -> Option<u64> {
    match column.logical_type_ref() {
        Some(LogicalType::Timestamp(time)) => Some(match time.unit {
            TimeUnit::MILLIS => 1_000_000,
            TimeUnit::MICROS => 1_000,
            TimeUnit::NANOS => 1,
        }),
        _ => match column.converted_type() {
            ConvertedType::TIMESTAMP_MILLIS => Some(1_000_000),
            ConvertedType::TIMESTAMP_MICROS => Some(1_000),
            _ => None,
        },
    }
}

/// One value of a table.
#[derive(Clone, Copy)]
pub(crate) enum Cell<'a> {
    Whole(i128),
    Real(f64),
    Text(&'a [u8]),
}

impl Cell<'_> {
    /// Appends the value as text.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Cell::Text(text) => out.extend_from_slice(text),
            other => out.extend_from_slice(other.to_string().as_bytes()),
        }
    }
}

impl std::fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cell::Whole(value) => write!(f, "{value}"),
            Cell::Real(value) => write!(f, "{value}"),
            Cell::Text(text) => f.write_str(&String::from_utf8_lossy(text)),
        }
    }
}

/// A column of a row group, and the values of the last rows read.
pub(crate) struct Column {
    reader: ColumnReader,
    unsigned: bool,
    /// The definition level of a present value; 0 if every row has a value.
    level: i16,
    levels: Vec<i16>,
    values: Values,
    /// The index of each row's value; unused if every row has a value.
    places: Vec<Option<usize>>,
}

/// Values in their stored types.
#[derive(Default)]
struct Values {
    bits: Vec<bool>,
    short: Vec<i32>,
    long: Vec<i64>,
    single: Vec<f32>,
    double: Vec<f64>,
    text: Vec<ByteArray>,
}

impl Column {
    pub(crate) fn new(
        reader: ColumnReader,
        column: &ColumnDescriptor,
    ) -> Result<Column, ParquetError> {
        if let ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) =
            reader
        {
            return Err(ParquetError::NYI(format!("{} is of an unusual type", column.name())));
        }
        let unsigned = match column.logical_type_ref() {
            Some(LogicalType::Integer(int)) => !int.is_signed,
            _ => matches!(
                column.converted_type(),
                ConvertedType::UINT_8
                    | ConvertedType::UINT_16
                    | ConvertedType::UINT_32
                    | ConvertedType::UINT_64
            ),
        };
        let level = column.max_def_level();
        let values = Values::default();
        Ok(Column { reader, unsigned, level, levels: Vec::new(), values, places: Vec::new() })
    }

    /// Replaces the values with those of up to `most` further rows. Returns the number of rows.
    pub(crate) fn fill(&mut self, most: usize) -> Result<usize, ParquetError> {
        let (levels, values) = (&mut self.levels, &mut self.values);
        let rows = match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => read(reader, most, levels, &mut values.bits),
            ColumnReader::Int32ColumnReader(reader) => {
                read(reader, most, levels, &mut values.short)
            }
            ColumnReader::Int64ColumnReader(reader) => read(reader, most, levels, &mut values.long),
            ColumnReader::FloatColumnReader(reader) => {
                read(reader, most, levels, &mut values.single)
            }
            ColumnReader::DoubleColumnReader(reader) => {
                read(reader, most, levels, &mut values.double)
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                read(reader, most, levels, &mut values.text)
            }
            _ => Err(ParquetError::NYI("columns of this type".into())),
        }?;
        self.places.clear();
        if self.level > 0 {
            let mut next = 0;
            let level = self.level;
            self.places.extend(self.levels.iter().map(|at| {
                let there = (*at == level).then_some(next);
                next += usize::from(there.is_some());
                there
            }));
        }
        Ok(rows)
    }

    /// Returns the value in a row, or `None` if the row has none.
    pub(crate) fn get(&self, row: usize) -> Option<Cell<'_>> {
        let at = if self.level > 0 { (*self.places.get(row)?)? } else { row };
        let values = &self.values;
        Some(match &self.reader {
            ColumnReader::BoolColumnReader(_) => Cell::Whole(i128::from(*values.bits.get(at)?)),
            ColumnReader::Int32ColumnReader(_) => match *values.short.get(at)? {
                value if self.unsigned => Cell::Whole(i128::from(value as u32)),
                value => Cell::Whole(i128::from(value)),
            },
            ColumnReader::Int64ColumnReader(_) => match *values.long.get(at)? {
                value if self.unsigned => Cell::Whole(i128::from(value as u64)),
                value => Cell::Whole(i128::from(value)),
            },
            ColumnReader::FloatColumnReader(_) => Cell::Real(f64::from(*values.single.get(at)?)),
            ColumnReader::DoubleColumnReader(_) => Cell::Real(*values.double.get(at)?),
            _ => Cell::Text(values.text.get(at)?.data()),
        })
    }
}

fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    most: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<T::T>,
) -> Result<usize, ParquetError> {
    levels.clear();
    values.clear();
    let (rows, ..) = reader.read_records(most, Some(levels), None, values)?;
    Ok(rows)
}
