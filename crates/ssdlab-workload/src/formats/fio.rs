//! fio's I/O logs, version 2 (`file action offset length`) and 3 (`time file action offset
//! length`), with `fio version N iolog` as the first line.
//!
//! Source: fio's HOWTO, "Trace file format v2" and "v3", `iolog.c` and `io_ddir.h`. Offset and
//! length are bytes. A device is the name of a file.
//!
//! In version 3, time is microseconds since the start of the job. Version 2 has no times: a request
//! is due after the waits before it. The offset of a wait is its length in microseconds, also below
//! the 100 that fio ignores. This is the HOWTO's reading; `iolog.c` takes the offset as
//! milliseconds since the start, and writes no waits itself.
//!
//! `sync`, `datasync` and `syncfs` are flushes; `trim` is a trim. The reader skips `add`, `open`,
//! `close`, and two actions that fio writes but does not replay: `sync_file_range`, which reaches
//! no drive's cache, and `file_operation`. fio appends to a log, so the first line may come again;
//! the reader skips it.

use ssdlab_base::{Fault, Nanos};

use super::columns::{Clock, Columns, Field, Separator, Wrong};
use super::extent::extent_of_bytes;
use super::{About, Entry, IN_FLIGHT, Reader};
use crate::record::Op;

pub(super) const ABOUT: About = About {
    columns: "[time] file action offset length",
    tick: Nanos::from_us(1),
    // Several jobs may write to one log.
    unsorted: IN_FLIGHT,
    signature: Some(BEGIN),
    reader: |setup| Box::new(Fio { clock: setup.clock, version: Version::Unknown, elapsed: 0 }),
    ..About::LINES
};

/// The beginning of the first line.
const BEGIN: &[u8] = b"fio version ";
const NAMES_2: &[&str] = &["file", "action", "offset", "length"];
const NAMES_3: &[&str] = &["time", "file", "action", "offset", "length"];
const ACTIONS: &[&str] = &[
    "read",
    "write",
    "trim",
    "sync",
    "datasync",
    "syncfs",
    "sync_file_range",
    "file_operation",
    "wait",
    "add",
    "open",
    "close",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Unknown,
    Two,
    Three,
}

struct Fio {
    clock: Clock,
    version: Version,
    /// The sum of the waits so far, in nanoseconds, in version 2.
    elapsed: u64,
}

impl Fio {
    fn read_action(
        &mut self,
        stamp: Option<u64>,
        action: Field<'_>,
        mut columns: Columns<'_>,
    ) -> Result<Option<Entry>, Box<Wrong>> {
        let op = match action.text {
            b"add" | b"open" | b"close" => return columns.end_early().map(|()| None),
            b"sync_file_range" | b"file_operation" => {
                columns.next()?.whole()?;
                columns.next()?.whole()?;
                return columns.end().map(|()| None);
            }
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" | b"syncfs" => Op::Flush,
            b"wait" if stamp.is_none() => return self.wait(columns),
            _ => return Err(action.wrong_near(&format!("one of {}", ACTIONS.join(", ")), ACTIONS)),
        };
        let (offset, length) = (columns.next()?, columns.next()?);
        let stamp = stamp.unwrap_or(self.elapsed);
        let entry = match op {
            Op::Flush => Entry::flush(stamp),
            _ => Entry::of_bytes(stamp, extent_of_bytes(offset, length)?, op),
        };
        columns.end()?;
        Ok(Some(entry))
    }

    fn wait(&mut self, mut columns: Columns<'_>) -> Result<Option<Entry>, Box<Wrong>> {
        let field = columns.next()?;
        let wait = field.stamp(self.clock)?;
        self.elapsed = self.elapsed.checked_add(wait).ok_or_else(|| field.late())?;
        if !columns.is_empty() {
            columns.next()?.whole()?;
        }
        columns.end_early().map(|()| None)
    }
}

impl Reader for Fio {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        if self.version == Version::Unknown || line.starts_with(BEGIN) {
            self.version = version(line)?;
            return Ok(None);
        }
        match self.version {
            Version::Two => {
                let mut columns = Columns::new(line, Separator::Space, NAMES_2);
                columns.next()?;
                let action = columns.next()?;
                self.read_action(None, action, columns)
            }
            _ => {
                let mut columns = Columns::new(line, Separator::Space, NAMES_3);
                let stamp = columns.next()?.stamp(self.clock)?;
                columns.next()?;
                let action = columns.next()?;
                self.read_action(Some(stamp), action, columns)
            }
        }
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        let index = if self.version == Version::Two { 0 } else { 1 };
        name.extend_from_slice(Columns::nth(line, Separator::Space, index));
    }

    fn why_empty(&self) -> Option<&'static str> {
        Some("no read, write, trim or sync")
    }
}

fn version(line: &[u8]) -> Result<Version, Box<Wrong>> {
    match line.trim_ascii() {
        b"fio version 2 iolog" => Ok(Version::Two),
        b"fio version 3 iolog" => Ok(Version::Three),
        other => {
            let fault = Fault::new("", "first line").got(String::from_utf8_lossy(other));
            let expected = "\"fio version 2 iolog\" or \"fio version 3 iolog\"";
            Err(Wrong::new(0, 0, fault.expected(expected)))
        }
    }
}
