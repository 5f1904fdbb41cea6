//! Reads a file line by line, or record by record if it is binary.

use ssdlab_base::Fault;

use super::lines::{Broken, LONGEST, Lines, is_idle};
use super::unreadable;
use crate::formats::device::DeviceFilter;
use crate::formats::{Next, Reader};

/// The lines or records of a file, and the reader that parses them.
pub(crate) struct Pieces {
    pub(crate) lines: Lines,
    pub(crate) reader: Box<dyn Reader>,
    pub(crate) compression: Option<&'static str>,
    /// The size of a record in bytes, if the file is binary.
    pub(crate) binary: Option<usize>,
}

impl Pieces {
    /// Returns the next request; messages call the file `name`.
    pub(crate) fn next(
        &mut self,
        name: &str,
        device: &mut DeviceFilter,
    ) -> Result<Next, Box<Fault>> {
        loop {
            let next = match self.binary {
                None => self.lines.next(),
                Some(length) => self.lines.next_record(length),
            };
            let (number, piece) = match next {
                Ok(Some(next)) => next,
                Ok(None) => return Ok(Next::End),
                Err(broken) => return Err(self.broken(name, broken)),
            };
            if self.binary.is_none() && is_idle(piece) {
                continue;
            }
            let entry = match self.reader.read(piece) {
                Ok(entry) => entry,
                Err(wrong) if self.binary.is_some() => {
                    return Err(Box::new(wrong.in_record(name, number)));
                }
                Err(wrong) => return Err(Box::new(wrong.in_file(name, number, piece))),
            };
            let Some(entry) = entry else { continue };
            let reader = &self.reader;
            return Ok(if device.accepts(|name| reader.device(piece, name)) {
                Next::Request(number, entry)
            } else {
                Next::OtherDevice
            });
        }
    }

    fn broken(&self, name: &str, broken: Broken) -> Box<Fault> {
        let number = self.lines.number();
        Box::new(match broken {
            Broken::TooLong => Fault::new(name, "line")
                .line(number)
                .got(format!("more than {LONGEST} bytes"))
                .expected("a line of text"),
            Broken::Cut { got, length } => {
                Fault::new(name, format!("record {number} is cut short"))
                    .line(number)
                    .got(format!("{got} bytes"))
                    .expected(format!("{length}"))
            }
            Broken::Stream(error) => unreadable(name, self.compression, &error),
        })
    }
}
