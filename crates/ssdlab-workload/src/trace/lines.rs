//! Splits a stream of bytes into lines or records, in one buffer of bounded size.

use std::io::{self, Read};
use std::ops::Range;

use ssdlab_base::Stop;

use super::input::Plain;

/// The size of the buffer of plain bytes.
const BUFFER: usize = 256 << 10;
/// The longest line of a trace, in bytes; a longer line is an error.
pub(crate) const LONGEST: usize = 64 << 10;

/// The reasons why a line or record cannot be read.
pub(crate) enum Broken {
    /// The line is longer than [`LONGEST`].
    TooLong,
    /// The file ends within a record.
    Cut {
        /// The bytes that are left.
        got: usize,
        /// The bytes of a record.
        length: usize,
    },
    /// The stream cannot be read or decompressed.
    Stream(io::Error),
}

/// The lines of a stream, without their line ends.
pub(crate) struct Lines {
    input: Plain,
    buffer: Box<[u8]>,
    /// The part of the buffer that is filled and not yet returned.
    unread: Range<usize>,
    /// The number of lines returned so far.
    number: u64,
    ended: bool,
    /// The flag to end early, checked before each read of the stream.
    stop: Stop,
}

impl Lines {
    pub(crate) fn new(input: Plain, stop: Stop) -> Lines {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Lines { input, buffer, unread: 0..0, number: 0, ended: false, stop }
    }

    /// Returns the number of the last line, counted from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns as many bytes from the start as the buffer holds, and whether they are the whole
    /// stream. Consumes nothing.
    pub(crate) fn peek(&mut self) -> io::Result<(&[u8], bool)> {
        while !self.ended && self.unread.len() < self.buffer.len() {
            self.read_more()?;
        }
        Ok((&self.buffer[self.unread.clone()], self.ended))
    }

    /// Returns the next line and its number, or `None` at the end or once the run stops. A last
    /// line without a line end counts.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &[u8])>, Broken> {
        let mut searched = 0;
        let length = loop {
            let unread = &self.buffer[self.unread.clone()];
            match memchr::memchr(b'\n', &unread[searched..]) {
                Some(at) => break searched + at,
                None if self.ended => break unread.len(),
                None => searched = unread.len(),
            }
            if searched > LONGEST {
                break searched;
            }
            if self.stop.is_set() {
                return Ok(None);
            }
            self.read_more().map_err(Broken::Stream)?;
        };
        if length == 0 && self.unread.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if length > LONGEST {
            return Err(Broken::TooLong);
        }
        let start = self.unread.start;
        self.unread.start = (start + length + 1).min(self.unread.end);
        Ok(Some((self.number, trim(&self.buffer[start..start + length], self.number))))
    }

    /// Returns the next `length` bytes and the number of that record, or `None` at the end or once
    /// the run stops.
    pub(crate) fn next_record(&mut self, length: usize) -> Result<Option<(u64, &[u8])>, Broken> {
        while self.unread.len() < length && !self.ended {
            if self.stop.is_set() {
                return Ok(None);
            }
            self.read_more().map_err(Broken::Stream)?;
        }
        if self.unread.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if self.unread.len() < length {
            return Err(Broken::Cut { got: self.unread.len(), length });
        }
        let start = self.unread.start;
        self.unread.start += length;
        Ok(Some((self.number, &self.buffer[start..start + length])))
    }

    /// Reads once into the free part of the buffer.
    fn read_more(&mut self) -> io::Result<()> {
        if self.unread.end == self.buffer.len() {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        loop {
            match self.input.read(&mut self.buffer[self.unread.end..]) {
                Ok(0) => self.ended = true,
                Ok(got) => self.unread.end += got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

/// Returns a line without a carriage return at its end, and line 1 without a byte order mark.
pub(crate) fn trim(line: &[u8], number: u64) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match number {
        1 => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
        _ => line,
    }
}

/// Returns whether every format skips a line: it is blank or a comment.
pub(crate) fn is_idle(line: &[u8]) -> bool {
    match line.iter().find(|byte| !matches!(byte, b' ' | b'\t')) {
        None => true,
        Some(first) => *first == b'#',
    }
}
