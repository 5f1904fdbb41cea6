//! Traces of Heimdall's replayer: `Time Device Offset Size Op`, five numbers between spaces.
//!
//! Source: the README and `replay.c` of the replayer that FlashNet, Heimdall (Kurniawan et al.,
//! EuroSys '25, `ucare-uchicago/Heimdall`) and IODA (SOSP '21) share. Time is milliseconds with a
//! fraction. Offset and Size are bytes. Op is 1 for a read and 0 for a write. Only the option
//! `device` uses the device. The replayer rounds Offset down to 4 KiB and wraps it into its drive;
//! this reader keeps it.
//!
//! The reader also reads the replayer's own log, seven columns between commas:
//! `ts_record,latency,io_type,size,offset,ts_submit,size_after_replay`. `ts_record` is the time
//! when the request was due. The latency is not used, and neither is the last column, which is -1
//! for a failed request.

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Separator, Wrong};
use super::extent::extent_of_bytes;
use super::{About, Entry, IN_FLIGHT, Reader};

pub(super) const ABOUT: About = About {
    columns: "Time Device Offset Size Op",
    tick: Nanos::from_ms(1),
    fractions: true,
    // A log of the replayer is in the order of completion.
    unsorted: IN_FLIGHT,
    reader: |setup| Box::new(Heimdall { clock: setup.clock }),
    ..About::LINES
};

const NAMES: &[&str] = &["Time", "Device", "Offset", "Size", "Op"];
const NAMES_LOG: &[&str] =
    &["ts_record", "latency", "io_type", "size", "offset", "ts_submit", "size_after_replay"];

struct Heimdall {
    clock: Clock,
}

impl Heimdall {
    fn read_log(&self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let mut columns = Columns::new(line, Separator::Comma, NAMES_LOG);
        let stamp = columns.next()?;
        if stamp.text == b"ts_record" {
            return Ok(None);
        }
        let stamp = stamp.stamp(self.clock)?;
        columns.next()?.any_number()?;
        let op = columns.next()?.op(b"1", b"0")?;
        let size = columns.next()?;
        let extent = extent_of_bytes(columns.next()?, size)?;
        columns.next()?.any_number()?;
        columns.next()?.any_number()?;
        columns.end()?;
        Ok(Some(Entry::of_bytes(stamp, extent, op)))
    }
}

impl Reader for Heimdall {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        if line.contains(&b',') {
            return self.read_log(line);
        }
        let mut columns = Columns::new(line, Separator::Space, NAMES);
        let stamp = columns.next()?.stamp(self.clock)?;
        columns.next()?.whole()?;
        let extent = extent_of_bytes(columns.next()?, columns.next()?)?;
        let op = columns.next()?.op(b"1", b"0")?;
        columns.end()?;
        Ok(Some(Entry::of_bytes(stamp, extent, op)))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        if line.contains(&b',') {
            name.push(b'0');
        } else {
            name.extend_from_slice(Columns::nth(line, Separator::Space, 1));
        }
    }
}
