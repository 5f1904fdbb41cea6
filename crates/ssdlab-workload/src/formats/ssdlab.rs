//! Our own CSV: `time_us,dev,op,offset_bytes,size_bytes[,...]`.
//!
//! Source: here. Time is microseconds since any moment, with a fraction of up to three digits that
//! count; op is `R`, `W`, `T` (trim) or `F` (flush, whose offset and size are not looked at), also
//! as a word; offset and size are bytes. A header is skipped, as are columns beyond the fifth,
//! where carriers put the response time; one of them that the header calls `queue` is the
//! submission queue.

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Field, Separator, Wrong};
use super::extent::extent_of_bytes;
use super::{About, Entry, Reader};
use crate::record::Op;

pub(super) const ABOUT: About = About {
    columns: "time_us,dev,op,offset_bytes,size_bytes",
    tick: Nanos::from_us(1),
    fractions: true,
    reader: |setup| Box::new(Ssdlab { clock: setup.clock, begun: false, queue: None }),
    ..About::LINES
};

/// The names of the columns.
pub(crate) const NAMES: &[&str] = &["time_us", "dev", "op", "offset_bytes", "size_bytes"];
/// The name of a column after them, where there is one.
pub(crate) const QUEUE: &str = "queue";

struct Ssdlab {
    clock: Clock,
    /// Whether a request has been read, so that no header can follow.
    begun: bool,
    /// How many columns after the fifth stand before the submission queue, if the header names it.
    queue: Option<usize>,
}

impl Reader for Ssdlab {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let mut columns = Columns::new(line, Separator::Comma, NAMES);
        let stamp = columns.next()?;
        if !self.begun && stamp.text == NAMES[0].as_bytes() {
            let more = line.split(|byte| *byte == b',').skip(NAMES.len());
            self.queue = more.map(<[u8]>::trim_ascii).position(|name| name == QUEUE.as_bytes());
            return Ok(None);
        }
        let stamp = stamp.stamp(self.clock)?;
        columns.next()?.name()?;
        let op = columns.next()?.op_word()?;
        let (offset, size) = (columns.next()?, columns.next()?);
        let mut entry = match op {
            Op::Flush => Entry::flush(stamp),
            _ => Entry::of_bytes(stamp, extent_of_bytes(offset, size)?, op),
        };
        if let Some(before) = self.queue {
            for _ in 0..before {
                columns.next()?;
            }
            let queue = Field { name: QUEUE, ..columns.next()? };
            let wrong = |_| queue.wrong("a submission queue from 0 to 255");
            entry.queue = u8::try_from(queue.whole()?).map_err(wrong)?;
        }
        self.begun = true;
        Ok(Some(entry))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        name.extend_from_slice(Columns::nth(line, Separator::Comma, 1));
    }
}
