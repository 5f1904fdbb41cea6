//! Lines or records out of a stream of bytes, in one buffer of bounded size.

use std::io::{self, Read};
use std::ops::Range;

use ssdlab_base::Stop;

use super::input::Plain;

/// Plain bytes held at a time.
const BUFFER: usize = 256 << 10;
/// The longest line that is read; a longer one is no line of a trace.
pub(crate) const LONGEST: usize = 64 << 10;

/// What keeps a line from being read.
pub(crate) enum Broken {
    /// The line is longer than [`LONGEST`].
    TooLong,
    /// The file ends within a record.
    Cut {
        /// Bytes left.
        got: usize,
        /// Bytes of a record.
        length: usize,
    },
    /// The stream cannot be read or decompressed.
    Stream(io::Error),
}

/// The lines of a stream, without their ends.
pub(crate) struct Lines {
    input: Plain,
    buffer: Box<[u8]>,
    /// The part of the buffer that is read but not yet handed out.
    unread: Range<usize>,
    /// Lines handed out so far.
    number: u64,
    ended: bool,
    /// Whether to end early, looked at whenever more is read.
    stop: Stop,
}

impl Lines {
    pub(crate) fn new(input: Plain, stop: Stop) -> Lines {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Lines { input, buffer, unread: 0..0, number: 0, ended: false, stop }
    }

    /// The number of the line handed out last, counted from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// As many bytes from the start as the buffer holds, and whether they are all; hands out
    /// nothing.
    pub(crate) fn peek(&mut self) -> io::Result<(&[u8], bool)> {
        while !self.ended && self.unread.len() < self.buffer.len() {
            self.read_more()?;
        }
        Ok((&self.buffer[self.unread.clone()], self.ended))
    }

    /// The next line and its number; `None` at the end, or once it is to stop. A last line without
    /// an end counts.
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

    /// The next so many bytes and which record they are; `None` at the end, or once it is to stop.
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

    /// Reads once more into the room behind what is unread.
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

/// A line without the carriage return of other systems and the mark that some put before line 1.
pub(crate) fn trim(line: &[u8], number: u64) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match number {
        1 => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
        _ => line,
    }
}

/// Whether a line holds nothing for any format: blank, or a comment.
pub(crate) fn is_idle(line: &[u8]) -> bool {
    match line.iter().find(|byte| !matches!(byte, b' ' | b'\t')) {
        None => true,
        Some(first) => *first == b'#',
    }
}
