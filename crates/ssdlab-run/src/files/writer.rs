//! The writer of a new file.

use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, OnceLock};

/// The first write to a file that the system refused.
///
/// A library may hide the refusal behind its own words, such as "External: …" or "The serialize
/// buffer is full".
#[derive(Clone, Default, Debug)]
pub(super) struct FirstRefusal(Arc<OnceLock<String>>);

impl FirstRefusal {
    /// Returns the error text of the system.
    pub(super) fn get(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }

    fn keep<T>(&self, done: io::Result<T>) -> io::Result<T> {
        match &done {
            // The caller repeats an interrupted write.
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                self.0.get_or_init(|| error.to_string());
            }
            _ => {}
        }
        done
    }
}

/// Writes to a new file, and keeps the reason if a write fails.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    refused: FirstRefusal,
}

impl<W> Writer<W> {
    pub(super) fn new(to: W, refused: &FirstRefusal) -> Writer<W> {
        Writer { to, refused: refused.clone() }
    }
}

impl<W: Write> Write for Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.refused.keep(self.to.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.refused.keep(self.to.flush())
    }
}
