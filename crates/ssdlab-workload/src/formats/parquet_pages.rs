//! The pages of a Parquet column; refuses oversized pages before it decompresses them.
//!
//! A page's header states the decompressed size of the page and the number of values in a
//! dictionary. The decoder reserves as much memory as the header states. A file of a few kilobytes
//! could therefore claim gigabytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::column::reader::{ColumnReader, get_column_reader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::RowGroupMetaData;
use ::parquet::file::reader::{ChunkReader, Length};
use ::parquet::file::serialized_reader::SerializedPageReader;
use bytes::Bytes;

/// The most bytes of a page. Writers end a page at 1 MiB by default.
const MAX_PAGE_BYTES: u64 = 64 << 20;
/// The most bytes of a dictionary. Each text in it takes about 32 more bytes after decoding.
const MAX_DICTIONARY_BYTES: u64 = 16 << 20;
/// The least bytes of a dictionary value. A text begins with its length, and other values have four
/// bytes or more.
const MIN_VALUE: usize = 4;

/// Opens the reader of one column of a row group.
pub(super) fn open_column(
    file: &Arc<Pages>,
    group: &RowGroupMetaData,
    place: usize,
) -> Result<ColumnReader> {
    let column = group.column(place);
    let rows = usize::try_from(group.num_rows())?;
    let pages = SerializedPageReader::new(file.clone(), column, rows, None)?;
    Ok(get_column_reader(column.column_descr_ptr(), Box::new(Dictionaries(pages))))
}

/// A file whose page headers are checked.
pub(super) struct Pages(pub(super) File);

impl Length for Pages {
    fn len(&self) -> u64 {
        Length::len(&self.0)
    }
}

impl ChunkReader for Pages {
    type T = Headed;

    fn get_read(&self, start: u64) -> Result<Headed> {
        Ok(Headed { inner: self.0.get_read(start)?, checked: false })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// A reader that starts at a page header, and checks it at the first read.
pub(super) struct Headed {
    inner: BufReader<File>,
    checked: bool,
}

impl Read for Headed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.checked {
            check(self.inner.fill_buf()?).map_err(io::Error::other)?;
            self.checked = true;
        }
        self.inner.read(buffer)
    }
}

/// Refuses a page whose header states an excessive size. If the bytes are no header, the decoder
/// refuses them.
fn check(header: &[u8]) -> std::result::Result<(), String> {
    /// The type number of a dictionary page.
    const DICTIONARY: i64 = 2;
    let mut rest = header;
    let fields = [field(&mut rest), field(&mut rest), field(&mut rest)];
    let [Some(kind), Some(plain), Some(stored)] = fields else { return Ok(()) };
    let (what, most) = match kind {
        DICTIONARY => ("a dictionary", MAX_DICTIONARY_BYTES),
        _ => ("a page", MAX_PAGE_BYTES),
    };
    let size = u64::try_from(plain.max(stored)).unwrap_or(0);
    if size > most {
        Err(format!("{what} of {size} bytes exceeds the limit of {most} bytes"))
    } else {
        Ok(())
    }
}

/// Reads the next header field if it is a 32-bit whole number in Thrift's compact protocol. The
/// page type and the sizes are required and come first.
fn field(rest: &mut &[u8]) -> Option<i64> {
    /// The field header byte: field number plus one, type 32-bit integer.
    const NEXT_I32: u8 = 0x15;
    let (&head, mut bytes) = rest.split_first()?;
    if head != NEXT_I32 {
        return None;
    }
    let mut number = 0u64;
    for shift in (0..35).step_by(7) {
        let (&byte, more) = bytes.split_first()?;
        bytes = more;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            *rest = bytes;
            // The zigzag code stores signed numbers as 0, -1, 1, -2, ...
            return Some((number >> 1) as i64 ^ -((number & 1) as i64));
        }
    }
    None
}

/// The pages of a column, with a check that each dictionary has room for its values.
struct Dictionaries(SerializedPageReader<Pages>);

/// Returns the page, unless it is a dictionary that claims more values than its bytes can hold.
fn honest(page: Option<Page>) -> Result<Option<Page>> {
    match &page {
        Some(Page::DictionaryPage { buf, num_values, .. })
            if *num_values as usize > buf.len() / MIN_VALUE =>
        {
            let what = format!("a dictionary of {num_values} values in {} bytes", buf.len());
            Err(ParquetError::General(what))
        }
        _ => Ok(page),
    }
}

impl Iterator for Dictionaries {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Dictionaries {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        honest(self.0.get_next_page()?)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.0.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.0.at_record_boundary()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.0.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>> {
        honest(self.0.take_deferred_dictionary()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes a number as a header field.
    fn number(value: i64) -> Vec<u8> {
        let mut left = ((value << 1) ^ (value >> 63)) as u64;
        let mut bytes = vec![0x15];
        while left > 0x7f {
            bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        bytes.push(left as u8);
        bytes
    }

    #[test]
    fn the_sizes_of_a_header_are_bounded() {
        let header = |kind, plain, stored| [number(kind), number(plain), number(stored)].concat();
        for (kind, most) in [(0, MAX_PAGE_BYTES), (2, MAX_DICTIONARY_BYTES), (3, MAX_PAGE_BYTES)] {
            let most = most as i64;
            assert_eq!(check(&header(kind, most, 9)), Ok(()));
            assert!(check(&header(kind, most + 1, 9)).is_err());
            assert!(check(&header(kind, 9, most + 1)).is_err());
        }
        let huge = check(&header(2, 400 << 20, 900)).unwrap_err();
        assert_eq!(huge, "a dictionary of 419430400 bytes exceeds the limit of 16777216 bytes");
        assert_eq!(check(&header(0, -5, -5)), Ok(()), "the decoder refuses it");
        assert_eq!(check(b""), Ok(()));
        assert_eq!(check(&[0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), Ok(()));
    }
}
