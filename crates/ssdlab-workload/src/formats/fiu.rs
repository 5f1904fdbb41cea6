//! FIU: `Timestamp PID Process LBA Size Op Major Minor MD5`, nine columns between spaces.
//!
//! Source: the README of "FIU IODedup" at SNIA IOTTA (Koller and Rangaswami, "I/O Deduplication",
//! FAST '10; also the traces of SRCMap). Timestamp is nanoseconds. LBA and Size count 512 bytes. Op
//! is `W` or `R`. The hash of the content is not used. A process name may contain spaces, so the
//! later columns are counted from the end of the line. A device is `Major:Minor`.

use super::columns::{Clock, Columns, Separator, Wrong};
use super::extent::extent_of_sectors;
use super::{About, Entry, Reader};

pub(super) const ABOUT: About = About {
    columns: "Timestamp PID Process LBA Size Op Major Minor MD5",
    reader: |setup| Box::new(Fiu { clock: setup.clock }),
    ..About::LINES
};

const NAMES: &[&str] =
    &["Timestamp", "PID", "Process", "LBA", "Size", "Op", "Major", "Minor", "MD5"];

struct Fiu {
    clock: Clock,
}

/// The number of columns after the process.
const AFTER: usize = 6;

/// Splits the line after the process name.
fn around_process(line: &[u8]) -> (&[u8], &[u8]) {
    let line = line.trim_ascii_end();
    let mut start = line.len();
    for _ in 0..AFTER {
        let before = line[..start].trim_ascii_end();
        start = memchr::memrchr2(b' ', b'\t', before).map_or(0, |space| space + 1);
    }
    line.split_at(start)
}

impl Reader for Fiu {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let (head, _) = around_process(line);
        let mut columns = Columns::new(line, Separator::Space, NAMES);
        let stamp = columns.next()?.stamp(self.clock)?;
        columns.next()?.whole()?;
        columns.next()?;
        // A line that is too short is read from its start, and so refused for its number of
        // columns.
        if Columns::nth(head, Separator::Space, 2) != b"" {
            columns = Columns::resume(line, Separator::Space, NAMES, head.len(), 3);
        }
        let extent = extent_of_sectors(columns.next()?, columns.next()?)?;
        let op = columns.next()?.op(b"R", b"W")?;
        columns.next()?.whole()?;
        columns.next()?.whole()?;
        columns.next()?.hash()?;
        columns.end()?;
        Ok(Some(Entry::of_sectors(stamp, extent, op)))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        let tail = around_process(line).1;
        name.extend_from_slice(Columns::nth(tail, Separator::Space, 3));
        name.push(b':');
        name.extend_from_slice(Columns::nth(tail, Separator::Space, 4));
    }
}
