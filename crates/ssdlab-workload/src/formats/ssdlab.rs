//! Our own CSV: `time_us,dev,op,offset_bytes,size_bytes[,...]`.
//!
//! Source: here. Time is microseconds since any moment, with a fraction of up to three digits that
//! count; op is `R`, `W`, `T` (trim) or `F` (flush, whose offset and size are not looked at), also
//! as a word; offset and size are bytes. A header is skipped, as are columns beyond the fifth,
//! where carriers put the response time; those of them that the header calls `queue` and `hint` are
//! the submission queue and the latency hint (0 none, 1 short, 2 medium, 3 long).

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
/// The names of columns after them, where there are such.
pub(crate) const QUEUE: &str = "queue";
pub(crate) const HINT: &str = "hint";

struct Ssdlab {
    clock: Clock,
    /// Whether a request has been read, so that no header can follow.
    begun: bool,
    /// What the columns after the fifth hold, up to the last one that is looked at.
    more: Vec<More>,
}

/// What a column after the fifth holds.
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
