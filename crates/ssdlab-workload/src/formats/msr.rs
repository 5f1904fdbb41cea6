//! MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
//!
//! Source: the README of the "MSR Cambridge Traces" (SNIA IOTTA; Narayanan et al., FAST '08).
//! Timestamp is the issue time as a Windows file time (100 ns since 1601). Offset and Size are
//! bytes. ResponseTime has the same unit and is not used, since the simulator computes it.
//!
//! Some published copies rebase the stamps or begin with a header line. A device is
//! `Hostname_DiskNumber`, as volumes are named (`hm_0`). Servers log requests at completion, so
//! stamps may go back a little; the reader sorts them in a window.

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Plain, Separator, Wrong};
use super::extent::{extent_of_bytes, whole_bytes};
use super::{About, Entry, IN_FLIGHT, Reader};
use crate::record::Op;

pub(super) const ABOUT: About = About {
    columns: "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
    tick: Nanos::from_ns(100),
    unsorted: IN_FLIGHT,
    reader: |setup| Box::new(Msr { clock: setup.clock, begun: false, rebased: false }),
    ..About::LINES
};

const NAMES: &[&str] =
    &["Timestamp", "Hostname", "DiskNumber", "Type", "Offset", "Size", "ResponseTime"];

/// 1980 as a file time, in nanoseconds. The clock of a traced server is later than that.
const EARLIEST_FILE_TIME: u64 = 119_600_064_000_000_000 * 100;

struct Msr {
    clock: Clock,
    /// Whether a request has been read, so that no header can follow.
    begun: bool,
    /// Whether the first stamp was too small for a file time.
    rebased: bool,
}

impl Msr {
    /// Reads a line in the usual form, in half the time of reading column by column. Returns `None`
    /// for any other line.
    fn plain(&self, line: &[u8]) -> Option<Entry> {
        let mut columns = Plain::new(line);
        let stamp = columns.whole()?.checked_mul(self.clock.tick)?;
        columns.name()?;
        columns.whole()?;
        let op = match columns.name()? {
            b"Read" => Op::Read,
            b"Write" => Op::Write,
            _ => return None,
        };
        let extent = whole_bytes(columns.whole()?, columns.whole()?)?;
        columns.last()?;
        Some(Entry::of_bytes(stamp, extent, op))
    }

    /// Reads any line; returns `None` for a header.
    fn by_columns(&self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
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
        Ok(Some(Entry::of_bytes(stamp, extent, op)))
    }
}

impl Reader for Msr {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let entry = match self.plain(line) {
            Some(entry) => Some(entry),
            None => self.by_columns(line)?,
        };
        if let (Some(entry), false) = (&entry, self.begun) {
            self.begun = true;
            self.rebased = entry.stamp < EARLIEST_FILE_TIME;
        }
        Ok(entry)
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        let mut columns = line.split(|byte| *byte == b',').skip(1).map(<[u8]>::trim_ascii);
        name.extend_from_slice(columns.next().unwrap_or_default());
        name.push(b'_');
        name.extend_from_slice(columns.next().unwrap_or_default());
    }

    fn remark(&self) -> Option<&'static str> {
        (self.rebased && !self.clock.is_set).then_some(
            "the stamps are no Windows file times; read as units of 100 ns \
             (workload.trace.tick says otherwise, such as \"1s\" or \"1us\")",
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn msr() -> Msr {
        let clock = Clock { tick: 100, fractions: false, is_set: false };
        Msr { clock, begun: false, rebased: false }
    }

    #[test]
    fn a_line_as_the_traces_have_it_is_plain() {
        for line in ["128166372003061629,hm,0,Read,7463206912,16384,2129", "0,a-b_c,12,Write,1,1,0"] {
            assert!(msr().plain(line.as_bytes()).is_some(), "{line}");
        }
        for line in ["1,hm,0,Read,0,512", "1,hm,0,Read,0,512,1,", "1, hm,0,Read,0,512,1", ",,,,,,"] {
            assert!(msr().plain(line.as_bytes()).is_none(), "{line}");
        }
    }

    /// Generates a column in its usual form, or another text.
    fn column(usual: &'static str) -> impl Strategy<Value = String> {
        prop_oneof![
            20 => usual.prop_map(String::from),
            1 => "[0-9]{17,21}",
            1 => prop::sample::select(vec!["", "-1", " 7", "read", "Write ", "0x1", "1.5"])
                .prop_map(String::from),
        ]
    }

    proptest! {
        #[test]
        fn a_plain_line_says_what_its_columns_say(
            columns in (
                column("[0-9]{1,18}"), column("[!-+\\--~]{1,5}"), column("[0-9]{1,2}"),
                column("Read|Write"), column("[0-9]{1,18}"), column("[0-9]{1,12}"), column("[0-9]{1,9}"),
            ),
            more in prop_oneof![9 => Just(""), 1 => Just(",1")],
        ) {
            let (stamp, host, disk, op, offset, size, took) = columns;
            let line = format!("{stamp},{host},{disk},{op},{offset},{size},{took}{more}");
            let found = msr().by_columns(line.as_bytes());
            match msr().plain(line.as_bytes()) {
                Some(entry) => prop_assert_eq!(found.expect("no fault"), Some(entry)),
                // Nearly every valid line has the usual form.
                None if found.is_ok() => prop_assert!(line.contains(' ') || line.contains(['-', '.', 'd', 'r'])),
                None => {}
            }
        }
    }
}
