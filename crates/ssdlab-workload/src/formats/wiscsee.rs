//! WiscSee's events: `PID Action Op Offset Size Time Wait Sync`, eight columns between spaces.
//!
//! Source: WiscSee (He et al., "The Unwritten Contract of Solid State Drives", EuroSys '17),
//! `blkparse-events-for-ftlsim.txt`, which its tools write from `blkparse`. Offset and Size are
//! bytes. Time is seconds with a fraction. A request is an issue event (`D`). The reader skips
//! completions (`C`), and so does not use response times. `discard` is a trim.

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Separator, Wrong};
use super::extent::extent_of_bytes;
use super::{About, Entry, IN_FLIGHT, Reader};

pub(super) const ABOUT: About = About {
    columns: "PID Action Op Offset Size Time Wait Sync",
    tick: Nanos::from_ms(1_000),
    fractions: true,
    unsorted: IN_FLIGHT,
    events: true,
    reader: |setup| Box::new(Wiscsee { clock: setup.clock }),
    ..About::LINES
};

const NAMES: &[&str] = &["PID", "Action", "Op", "Offset", "Size", "Time", "Wait", "Sync"];

struct Wiscsee {
    clock: Clock,
}

impl Reader for Wiscsee {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let mut columns = Columns::new(line, Separator::Space, NAMES);
        columns.next()?.whole()?;
        let action = columns.next()?;
        let issued = match action.text {
            b"D" => true,
            b"C" => false,
            _ => return Err(action.wrong("D (issue) or C (completion)")),
        };
        let op = columns.next()?.op_word()?;
        let extent = extent_of_bytes(columns.next()?, columns.next()?)?;
        let stamp = columns.next()?.stamp(self.clock)?;
        columns.next()?;
        columns.next()?.one_of(&["True", "False"])?;
        columns.end()?;
        Ok(issued.then(|| Entry::of_bytes(stamp, extent, op)))
    }

    /// Writes device 0, because a file traces one disk.
    fn device(&self, _: &[u8], name: &mut Vec<u8>) {
        name.push(b'0');
    }

    fn why_empty(&self) -> Option<&'static str> {
        Some("no issue (D) event")
    }
}
