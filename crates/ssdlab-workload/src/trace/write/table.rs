//! Writes requests as the rows of a Parquet table.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::Sink;
use super::lines::letter;
use crate::formats::extent::SECTOR;
use crate::record::Record;

const SCHEMA: &str = "message trace {
    required int64 time_ns;
    required binary dev (UTF8);
    required binary op (UTF8);
    required int64 offset_bytes;
    required int64 size_bytes;
    required int32 queue (INTEGER(8,false));
    required int32 hint (INTEGER(8,false));
}";

/// The number of rows in a row group, which the writer buffers.
const GROUP: usize = 1 << 16;

/// Writes rows.
pub(super) struct Rows<W: Write + Send> {
    file: SerializedFileWriter<W>,
    time: Vec<i64>,
    device: Vec<ByteArray>,
    op: Vec<ByteArray>,
    offset: Vec<i64>,
    size: Vec<i64>,
    queue: Vec<i32>,
    hint: Vec<i32>,
}

impl<W: Write + Send> Rows<W> {
    /// Begins a file.
    pub(super) fn new(to: W) -> io::Result<Rows<W>> {
        let schema = parse_message_type(SCHEMA).map_err(io::Error::other)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties))
            .map_err(io::Error::other)?;
        Ok(Rows {
            file,
            time: Vec::new(),
            device: Vec::new(),
            op: Vec::new(),
            offset: Vec::new(),
            size: Vec::new(),
            queue: Vec::new(),
            hint: Vec::new(),
        })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        if self.time.is_empty() {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        column::<Int64Type, W>(&mut group, &mut self.time)?;
        column::<ByteArrayType, W>(&mut group, &mut self.device)?;
        column::<ByteArrayType, W>(&mut group, &mut self.op)?;
        column::<Int64Type, W>(&mut group, &mut self.offset)?;
        column::<Int64Type, W>(&mut group, &mut self.size)?;
        column::<Int32Type, W>(&mut group, &mut self.queue)?;
        column::<Int32Type, W>(&mut group, &mut self.hint)?;
        group.close().map(drop)
    }
}

impl<W: Write + Send> Sink for Rows<W> {
    fn put(&mut self, record: &Record, device: &str) -> io::Result<()> {
        let number =
            |value: u64| i64::try_from(value).map_err(|_| io::Error::other("a number of 2^63"));
        self.time.push(number(record.at.as_ns())?);
        self.device.push(ByteArray::from(device));
        self.op.push(ByteArray::from(letter(record.op)));
        self.offset.push(number(record.lba * SECTOR)?);
        self.size.push(number(u64::from(record.sectors) * SECTOR)?);
        self.queue.push(i32::from(record.queue));
        self.hint.push(i32::from(record.hint));
        match self.time.len() {
            GROUP => self.write_group().map_err(io::Error::other),
            _ => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.write_group().map_err(io::Error::other)?;
        self.file.close().map(drop).map_err(io::Error::other)
    }
}

/// Writes the next column of a row group and clears `values`.
fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<T::T>,
) -> Result<(), ParquetError> {
    let missing = || ParquetError::General("fewer columns than the schema has".into());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    column.typed::<T>().write_batch(values, None, None)?;
    values.clear();
    column.close()
}
