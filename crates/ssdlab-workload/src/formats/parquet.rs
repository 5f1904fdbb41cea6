//! Parquet: a table whose columns are found by name.
//!
//! Source: the Apache Parquet format. The columns are those of our own CSV (`time_us`, `dev`, `op`,
//! `offset_bytes`, `size_bytes`, `queue`, `hint`) or a few other common names for them.
//! `workload.trace.columns` can map any other names. A time column of a timestamp type needs no
//! unit in its name.
//!
//! The reader takes a few thousand rows of a row group at a time. It supports Snappy, zstd and no
//! compression. The directory is at the end of the file, so the reader cannot read a stream or a
//! file that is compressed as a whole.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use ssdlab_base::{Fault, Nanos, reason};

use super::columns::Field;
use super::extent;
use super::mapping::Mapping;
use super::parquet_columns::{Binding, Bound, Column};
use super::parquet_pages::{Pages, open_column};
use super::{About, Entry, Framing};
use crate::record::Op;
use super::Next;
use super::device::DeviceFilter;

pub(super) const ABOUT: About = About {
    columns: "time_us,dev,op,offset_bytes,size_bytes",
    tick: Nanos::from_us(1),
    fractions: true,
    framing: Framing::Table,
    signature: Some(MAGIC),
    ..About::LINES
};

const MAGIC: &[u8] = b"PAR1";
/// Rows read at a time.
const BATCH: usize = 4096;

/// A Parquet file, read row by row.
pub(crate) struct Table {
    file: Arc<Pages>,
    directory: ParquetMetaData,
    binding: Binding,
    /// The next row group to read.
    group: usize,
    columns: Vec<Column>,
    /// The number of rows in `columns`, and the index of the next row.
    held: usize,
    next: usize,
    rows: u64,
    total: u64,
}

impl Table {
    /// Returns whether a file begins with the Parquet signature.
    pub(crate) fn announces(file: &mut File) -> bool {
        let mut magic = [0; 4];
        let read = file.read_exact(&mut magic);
        let back = file.seek(SeekFrom::Start(0));
        read.is_ok() && back.is_ok() && Table::is_announced_by(&magic)
    }

    /// Returns whether these first bytes are those of a Parquet file.
    pub(crate) fn is_announced_by(start: &[u8]) -> bool {
        start.starts_with(MAGIC)
    }

    /// Opens a file and finds its columns.
    pub(crate) fn open(
        name: &str,
        file: File,
        tick: Option<Nanos>,
        mapping: Option<&Mapping>,
    ) -> Result<Table, Fault> {
        let directory = guarded(|| ParquetMetaDataReader::new().parse_and_finish(&file));
        let directory = directory.map_err(|what| *broken(name, &what))?;
        let about = directory.file_metadata();
        let total = u64::try_from(about.num_rows()).unwrap_or(0);
        let binding = Binding::new(about.schema_descr(), tick, mapping)
            .map_err(|fault| Fault { source: name.into(), ..fault })?;
        let (file, columns) = (Arc::new(Pages(file)), Vec::new());
        Ok(Table { file, directory, binding, group: 0, columns, held: 0, next: 0, rows: 0, total })
    }

    /// Returns the share of the rows that have been read.
    pub(crate) fn progress(&self) -> f64 {
        if self.total == 0 { 1.0 } else { (self.rows as f64 / self.total as f64).min(1.0) }
    }

    /// Returns the next request; messages call the file `name`.
    pub(crate) fn next(
        &mut self,
        name: &str,
        device: &mut DeviceFilter,
    ) -> Result<Next, Box<Fault>> {
        if self.next == self.held && !self.fill().map_err(|what| broken(name, &what))? {
            return Ok(Next::End);
        }
        let row = self.next;
        self.next += 1;
        self.rows += 1;
        let number = self.rows;
        let entry = self.entry(row).map_err(|fault| {
            Box::new(Fault { source: name.into(), ..fault.line(number) })
        })?;
        let cell = self.binding.device.as_ref().map(|bound| self.columns[bound.slot].get(row));
        let accepts = device.accepts(|name| match cell {
            Some(Some(cell)) => cell.write(name),
            _ => name.push(b'0'),
        });
        Ok(if accepts { Next::Request(number, entry) } else { Next::OtherDevice })
    }

    /// Reads the next rows. Returns whether there are any.
    fn fill(&mut self) -> Result<bool, String> {
        (self.held, self.next) = (0, 0);
        loop {
            let read = guarded(|| read_batch(&mut self.columns))?;
            if read > 0 {
                self.held = read;
                return Ok(true);
            }
            if self.group == self.directory.num_row_groups() {
                return Ok(false);
            }
            let (file, places) = (&self.file, &self.binding.places);
            let group = self.directory.row_group(self.group);
            self.columns = guarded(|| open_group(file, group, places))?;
            self.group += 1;
        }
    }

    fn entry(&self, row: usize) -> Result<Entry, Fault> {
        let binding = &self.binding;
        let cell = |bound: &Bound| self.columns[bound.slot].get(row).ok_or_else(|| bound.absent());
        let stamp = binding.stamp(cell(&binding.time)?)?;
        let op = binding.op(cell(&binding.op)?)?;
        let queue = binding.queue(|bound| self.columns[bound.slot].get(row))?;
        let hint = binding.hint(|bound| self.columns[bound.slot].get(row))?;
        if op == Op::Flush {
            return Ok(Entry { queue, hint, ..Entry::flush(stamp) });
        }
        let offset = binding.length(&binding.offset, cell(&binding.offset)?)?;
        let size = binding.length(&binding.size, cell(&binding.size)?)?;
        if let Some(extent) = extent::whole_bytes(offset, size) {
            return Ok(Entry { queue, hint, ..Entry::of_bytes(stamp, extent, op) });
        }
        // Report the fault like one in the columns of a line.
        let [start, length] = [offset.to_string(), size.to_string()];
        let (offset_field, size_field) =
            (Field::new(start.as_bytes(), "offset"), Field::new(length.as_bytes(), "size"));
        let extent = extent::bytes(offset_field, offset, size_field, size);
        let extent = extent.map_err(|wrong| wrong.fault)?;
        Ok(Entry { queue, hint, ..Entry::of_bytes(stamp, extent, op) })
    }
}

fn open_group(
    file: &Arc<Pages>,
    group: &RowGroupMetaData,
    places: &[usize],
) -> Result<Vec<Column>, ParquetError> {
    let column = |place: &usize| {
        let about = group.column(*place).column_descr();
        Column::new(open_column(file, group, *place)?, about)
    };
    places.iter().map(column).collect()
}

/// Reads the same number of rows into each column. Returns that number.
fn read_batch(columns: &mut [Column]) -> Result<usize, ParquetError> {
    let mut rows = None;
    for column in columns {
        let read = column.fill(BATCH)?;
        if rows.is_some_and(|rows| rows != read) {
            return Err(ParquetError::General("columns of different length".into()));
        }
        rows = Some(read);
    }
    Ok(rows.unwrap_or(0))
}

/// Calls the decoder, which panics on some broken files.
fn guarded<T>(call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(reason),
        Err(_) => Err("its pages contradict its directory".into()),
    }
}

fn broken(name: &str, what: &str) -> Box<Fault> {
    let plain: String = what.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    // The decoder reports a compression that is not built in with these words.
    if plain.contains("Disabled feature") {
        let fault = Fault::new(name, "a Parquet file of a compression that is not read");
        return Box::new(fault.expected("none, snappy or zstd"));
    }
    if let Some(own) = plain.strip_prefix("External: ") {
        return Box::new(Fault::new(name, own));
    }
    Box::new(Fault::new(name, format!("the Parquet file is broken or cut short: {plain}")))
}
