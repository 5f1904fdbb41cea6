//! Tables in Parquet files.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use ssdlab_base::Fault;

use crate::files::{NewFile, Writer};

/// A column that is filled row by row.
#[derive(Debug)]
enum Column {
    Whole(Vec<i64>),
    Count(Vec<Option<i64>>),
    /// NaN stands for no value.
    Real(Vec<f64>),
    Text(Vec<ByteArray>),
}

/// The type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Whole numbers of 64 bits.
    Whole,
    /// Whole numbers of 64 bits, some of which may be missing.
    Count,
    /// Numbers, some of which may be missing.
    Real,
    /// Words with few distinct values.
    Text,
}

/// A value of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell {
    /// For a column of [`Kind::Whole`].
    Whole(i64),
    /// For a column of [`Kind::Count`].
    Count(Option<i64>),
    /// For a column of [`Kind::Real`]; NaN for a missing value.
    Real(f64),
    /// For a column of [`Kind::Text`].
    Text(&'static str),
}

/// Rows kept in memory before a row group is written.
const ROWS_A_GROUP: usize = 1 << 17;
/// The least number of rows for which memory is checked at a time.
const ROWS_AHEAD: usize = 1 << 15;

/// A table that is written to a file, one row group after another.
pub(crate) struct Table {
    to: NewFile,
    writer: SerializedFileWriter<Writer<File>>,
    columns: Vec<Column>,
    rows: usize,
}

impl Table {
    /// Creates an empty table with these columns.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn new(
        to: NewFile,
        columns: &[(String, Kind)],
    ) -> std::result::Result<Table, Fault> {
        let file = to.owned_writer()?;
        let made = || -> Result<SerializedFileWriter<Writer<File>>> {
            let fields = columns.iter().map(|(name, kind)| Ok(Arc::new(field(name, *kind)?)));
            let fields = fields.collect::<Result<Vec<_>>>()?;
            let schema = Type::group_type_builder("ssdlab").with_fields(fields).build()?;
            let zstd = Compression::ZSTD(ZstdLevel::try_new(1)?);
            let properties = WriterProperties::builder().set_compression(zstd).build();
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
        };
        let writer = made().map_err(|error| to.unwritable(error))?;
        let columns = columns.iter().map(|(_, kind)| match kind {
            Kind::Whole => Column::Whole(Vec::new()),
            Kind::Count => Column::Count(Vec::new()),
            Kind::Real => Column::Real(Vec::new()),
            Kind::Text => Column::Text(Vec::new()),
        });
        let columns = columns.collect();
        Ok(Table { to, writer, columns, rows: 0 })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn push(
        &mut self,
        cells: impl IntoIterator<Item = Cell>,
    ) -> std::result::Result<(), Fault> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            match (column, cell) {
                (Column::Whole(values), Cell::Whole(value)) => values.push(value),
                (Column::Count(values), Cell::Count(value)) => values.push(value),
                (Column::Real(values), Cell::Real(value)) => values.push(value),
                (Column::Text(values), Cell::Text(value)) => values.push(ByteArray::from(value)),
                (column, cell) => unreachable!("{cell:?} in a column of {column:?}"),
            }
        }
        self.rows += 1;
        if self.rows < ROWS_A_GROUP {
            Ok(())
        } else {
            self.flush().map_err(|error| self.to.unwritable(error))
        }
    }

    /// Returns the bytes that its lists will take when they double. After the first row group, the
    /// lists do not grow, and it returns 0.
    pub(super) fn growth(&self) -> u64 {
        let rest = |capacity: usize, each: usize| {
            ROWS_A_GROUP.saturating_sub(capacity).min(capacity.max(ROWS_AHEAD)) * each
        };
        let columns = self.columns.iter().map(|column| match column {
            Column::Whole(values) => rest(values.capacity(), size_of::<i64>()),
            Column::Count(values) => rest(values.capacity(), size_of::<Option<i64>>()),
            Column::Real(values) => rest(values.capacity(), size_of::<f64>()),
            Column::Text(values) => rest(values.capacity(), size_of::<ByteArray>()),
        });
        columns.sum::<usize>() as u64
    }

    fn flush(&mut self) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            write(&mut group, column)?;
        }
        self.rows = 0;
        group.close().map(drop)
    }

    /// Writes the remaining rows and the key-value pairs of `about`, and puts the file in place.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn close(mut self, about: &[(&str, String)]) -> std::result::Result<(), Fault> {
        let mut finish = || -> Result<()> {
            if self.rows > 0 {
                self.flush()?;
            }
            for (key, value) in about {
                let pair = KeyValue::new(format!("ssdlab.{key}"), value.clone());
                self.writer.append_key_value_metadata(pair);
            }
            self.writer.finish().map(drop)
        };
        finish().map_err(|error| self.to.unwritable(error))?;
        self.to.persist()
    }
}

fn field(name: &str, kind: Kind) -> Result<Type> {
    let (physical, repetition) = match kind {
        Kind::Whole => (Physical::INT64, Repetition::REQUIRED),
        Kind::Count => (Physical::INT64, Repetition::OPTIONAL),
        Kind::Real => (Physical::DOUBLE, Repetition::OPTIONAL),
        Kind::Text => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
    };
    let text = (kind == Kind::Text).then_some(LogicalType::String);
    Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(text)
        .build()
}

/// Writes a column and empties it.
fn write(
    group: &mut SerializedRowGroupWriter<'_, Writer<File>>,
    column: &mut Column,
) -> Result<()> {
    let mut to = group.next_column()?.expect("a column of the schema");
    match column {
        Column::Whole(values) => {
            to.typed::<Int64Type>().write_batch(values, None, None)?;
            values.clear();
        }
        Column::Count(values) => {
            let there: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
            let known: Vec<i64> = values.drain(..).flatten().collect();
            to.typed::<Int64Type>().write_batch(&known, Some(&there), None)?;
        }
        Column::Real(values) => {
            let there: Vec<i16> = values.iter().map(|value| i16::from(!value.is_nan())).collect();
            values.retain(|value| !value.is_nan());
            to.typed::<DoubleType>().write_batch(values, Some(&there), None)?;
            values.clear();
        }
        Column::Text(values) => {
            to.typed::<ByteArrayType>().write_batch(values, None, None)?;
            values.clear();
        }
    }
    to.close()
}
