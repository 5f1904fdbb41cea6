//! Our own CSV: `time_us,dev,op,offset_bytes,size_bytes[,...]`.
//!
//! Source: this file. Time is microseconds from any origin, with a fraction; the reader rounds it
//! to nanoseconds. op is `R`, `W`, `T` (trim) or `F` (flush), or the word for it. Offset and size
//! are bytes; those of a flush are ignored.
//!
//! The reader skips a header and the columns beyond the fifth, where other programs put the
//! response time. Two of these columns count if the header names them: `queue` is the submission
//! queue, and `hint` the latency hint (0 none, 1 short, 2 medium, 3 long).

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Separator, Wrong};
use super::extent::extent_of_bytes;
use super::{About, Entry, Reader};
use crate::record::Op;

pub(super) const ABOUT: About = About {
    columns: "time_us,dev,op,offset_bytes,size_bytes",
    tick: Nanos::from_us(1),
    fractions: true,
    reader: |setup| Box::new(Ssdlab { clock: setup.clock, begun: false, more: Vec::new() }),
    ..About::LINES
};

/// The names of the columns.
pub(crate) const NAMES: &[&str] = &["time_us", "dev", "op", "offset_bytes", "size_bytes"];
/// The names of optional columns after them.
pub(crate) const QUEUE: &str = "queue";
pub(crate) const HINT: &str = "hint";

struct Ssdlab {
    clock: Clock,
    /// Whether a request has been read, so that no header can follow.
    begun: bool,
    /// The contents of the columns after the fifth, up to the last one that is used.
    more: Vec<More>,
}

/// The content of a column after the fifth.
#[derive(Clone, Copy, PartialEq)]
enum More {
    Queue,
    Hint,
    Other,
}

impl More {
    fn named(name: &[u8]) -> More {
        match name.trim_ascii() {
            name if name == QUEUE.as_bytes() => More::Queue,
            name if name == HINT.as_bytes() => More::Hint,
            _ => More::Other,
        }
    }
}

impl Reader for Ssdlab {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let mut columns = Columns::new(line, Separator::Comma, NAMES);
        let stamp = columns.next()?;
        if !self.begun && stamp.text == NAMES[0].as_bytes() {
            let names = line.split(|byte| *byte == b',').skip(NAMES.len());
            self.more = names.map(More::named).collect();
            let last = self.more.iter().rposition(|more| *more != More::Other);
            self.more.truncate(last.map_or(0, |last| last + 1));
            return Ok(None);
        }
        let stamp = stamp.stamp(self.clock)?;
        columns.next()?.words()?;
        let op = columns.next()?.op_word()?;
        let (offset, size) = (columns.next()?, columns.next()?);
        let mut entry = match op {
            Op::Flush => Entry::flush(stamp),
            _ => Entry::of_bytes(stamp, extent_of_bytes(offset, size)?, op),
        };
        for more in &self.more {
            let field = columns.next()?;
            match more {
                More::Queue => entry.queue = field.named(QUEUE).queue()?,
                More::Hint => entry.hint = field.named(HINT).hint()?,
                More::Other => {}
            }
        }
        self.begun = true;
        Ok(Some(entry))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        name.extend_from_slice(Columns::nth(line, Separator::Comma, 1));
    }
}
