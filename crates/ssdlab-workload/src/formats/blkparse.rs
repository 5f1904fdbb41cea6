//! blkparse: `Device CPU Sequence Time PID Action RWBS Sector + Sectors [Process]`.
//!
//! Source: blkparse(1), "Default output", and `fill_rwbs` in the kernel's `blktrace.c`, which
//! writes RWBS. Time is seconds with nine digits after the point. A device is `major:minor`.
//!
//! A request is an issue event (`D`): the request that the driver gets after merging. A request
//! that is issued again after a requeue counts again. The reader skips queueing, merging, plugging,
//! messages and the summary at the end. It also skips completions (`C`), and so does not use
//! response times.
//!
//! In RWBS, `R` is a read, `W` a write, and `D` a discard, which is a trim. `F` without sectors is
//! a flush; `F` with sectors is part of a write. The reader skips commands that are neither (`N`).

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Field, Separator, Wrong};
use super::extent::extent_of_sectors;
use super::{About, Entry, IN_FLIGHT, Reader};
use crate::record::Op;

pub(super) const ABOUT: About = About {
    columns: "Device CPU Sequence Time PID Action RWBS Sector + Sectors",
    tick: Nanos::from_ms(1_000),
    fractions: true,
    unsorted: IN_FLIGHT,
    events: true,
    reader: |setup| Box::new(Blkparse { clock: setup.clock, begun: false }),
    ..About::LINES
};

const NAMES: &[&str] = &[
    "Device", "CPU", "Sequence", "Time", "PID", "Action", "RWBS", "Sector", "+", "Sectors",
];
/// blkparse(1), "Trace actions", and `m` for messages of the scheduler.
const ACTIONS: &[&str] = &[
    "A", "B", "C", "D", "F", "G", "I", "M", "P", "Q", "R", "S", "T", "U", "UT", "X", "m",
];

struct Blkparse {
    clock: Clock,
    /// Whether an event has been read, so that a summary may follow.
    begun: bool,
}

impl Reader for Blkparse {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let mut columns = Columns::new(line, Separator::Space, NAMES);
        let device = columns.next()?;
        if self.begun && !device.text[0].is_ascii_digit() {
            return Ok(None);
        }
        check_device(device)?;
        columns.next()?.whole()?;
        columns.next()?.whole()?;
        let stamp = columns.next()?;
        columns.next()?.whole()?;
        let action = columns.next()?;
        action.one_of(ACTIONS)?;
        self.begun = true;
        match action.text {
            b"D" => issue(stamp.stamp(self.clock)?, columns),
            _ => stamp.any_number().map(|()| None),
        }
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        let device = Columns::nth(line, Separator::Space, 0);
        name.extend(device.iter().map(|byte| if *byte == b',' { b':' } else { *byte }));
    }

    fn why_empty(&self) -> Option<&'static str> {
        Some("no issue (D) event of a read, a write, a discard or a flush")
    }
}

/// Checks for `major,minor`.
fn check_device(device: Field<'_>) -> Result<(), Box<Wrong>> {
    let mut parts = device.text.split(|byte| *byte == b',');
    let number = |part: Option<&[u8]>| part.is_some_and(super::columns::is_digits);
    if number(parts.next()) && number(parts.next()) && parts.next().is_none() {
        Ok(())
    } else {
        Err(device.wrong("major,minor of a device, such as 8,16"))
    }
}

/// Reads the request of an issue event, from RWBS on.
fn issue(stamp: u64, mut columns: Columns<'_>) -> Result<Option<Entry>, Box<Wrong>> {
    let rwbs = columns.next()?;
    let has = |letter: u8| rwbs.text.contains(&letter);
    if !rwbs.text.iter().all(u8::is_ascii_uppercase) {
        return Err(rwbs.wrong("letters such as R, WS, D or FWS"));
    }
    let flush = Ok(has(b'F').then(|| Entry::flush(stamp)));
    let Ok(sector) = columns.next() else { return flush };
    if sector.text.starts_with(b"[") {
        // A flush has only the process name here.
        return flush;
    }
    let plus = columns.next()?;
    match plus.text {
        b"+" => {}
        // A SCSI command has its number of bytes and the bytes here.
        [b'(' | b'[', ..] => return flush,
        _ => return Err(plus.wrong("+ and the number of sectors")),
    }
    let sectors = columns.next()?;
    let op = match () {
        () if sectors.text == b"0" && has(b'F') => return flush,
        () if has(b'D') => Op::Trim,
        () if has(b'R') => Op::Read,
        () if has(b'W') => Op::Write,
        () => return Ok(None),
    };
    let extent = extent_of_sectors(sector, sectors)?;
    Ok(Some(Entry::of_sectors(stamp, extent, op)))
}
