//! MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
//!
//! Source: the README of the "MSR Cambridge Traces" (SNIA IOTTA; Narayanan et al., FAST '08).
//! Timestamp is when the request was issued, as a Windows file time (100 ns since 1601); Offset
//! and Size are bytes; ResponseTime is in the same units and not used: how long a request takes is
//! what we simulate. Some carriers rebase the stamps or put a header line first. A device is
//! `Hostname_DiskNumber`, as volumes are called (`hm_0`). Should stamps go back a little, since
//! servers log what completes, they are sorted in a window.

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Separator, Wrong};
use super::extent::extent_of_bytes;
use super::{About, Entry, IN_FLIGHT, Reader};

pub(super) const ABOUT: About = About {
    columns: "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
    tick: Nanos::from_ns(100),
    unsorted: IN_FLIGHT,
    reader: |setup| Box::new(Msr { clock: setup.clock, begun: false, rebased: false }),
    ..About::LINES
};

const NAMES: &[&str] =
    &["Timestamp", "Hostname", "DiskNumber", "Type", "Offset", "Size", "ResponseTime"];

/// 1980 as a file time in nanoseconds: the clock of a traced server says later than that.
const EARLIEST_FILE_TIME: u64 = 119_600_064_000_000_000 * 100;

struct Msr {
    clock: Clock,
    /// Whether a request has been read, so that no header can follow.
    begun: bool,
    /// Whether the first stamp was too small for a file time.
    rebased: bool,
}

impl Reader for Msr {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let mut columns = Columns::new(line, Separator::Comma, NAMES);
        let stamp = columns.next()?;
        if !self.begun && stamp.text.eq_ignore_ascii_case(b"timestamp") {
            return Ok(None);
        }
        let stamp = stamp.stamp(self.clock)?;
        columns.next()?.name()?;
        columns.next()?.whole()?;
        let op = columns.next()?.op(b"Read", b"Write")?;
        let extent = extent_of_bytes(columns.next()?, columns.next()?)?;
        columns.next()?.any_number()?;
        columns.end()?;
        if !self.begun {
            self.begun = true;
            self.rebased = stamp < EARLIEST_FILE_TIME;
        }
        Ok(Some(Entry::of_bytes(stamp, extent, op)))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        let mut columns = line.split(|byte| *byte == b',').skip(1).map(<[u8]>::trim_ascii);
        name.extend_from_slice(columns.next().unwrap_or_default());
        name.push(b'_');
        name.extend_from_slice(columns.next().unwrap_or_default());
    }

    fn remark(&self) -> Option<&'static str> {
        (self.rebased && !self.clock.is_said).then_some(
            "the stamps are no Windows file times; read as units of 100 ns \
             (workload.trace.tick says otherwise, such as \"1s\" or \"1us\")",
        )
    }
}
