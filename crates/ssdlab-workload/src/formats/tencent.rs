//! Tencent cloud block storage: `Timestamp,Offset,Size,IOType,VolumeID`.
//!
//! Source: the description of "Tencent Block Storage" at SNIA IOTTA (Zhang et al., "OSCA: An
//! Online-Model Based Cache Allocation Scheme in Cloud Block Storage Systems", ATC '20). Timestamp
//! is whole seconds since 1970. Offset and Size count 512 bytes. IOType is 0 for a read and 1 for a
//! write. All requests of a second have the same stamp, so they arrive at once, in the order of the
//! file.

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Separator, Wrong};
use super::extent::extent_of_sectors;
use super::{About, Entry, IN_FLIGHT, Reader};

pub(super) const ABOUT: About = About {
    columns: "Timestamp,Offset,Size,IOType,VolumeID",
    tick: Nanos::from_ms(1_000),
    unsorted: IN_FLIGHT,
    reader: |setup| Box::new(Tencent { clock: setup.clock, begun: false }),
    ..About::LINES
};

const NAMES: &[&str] = &["Timestamp", "Offset", "Size", "IOType", "VolumeID"];

struct Tencent {
    clock: Clock,
    /// Whether a request has been read, so that no header can follow.
    begun: bool,
}

impl Reader for Tencent {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let mut columns = Columns::new(line, Separator::Comma, NAMES);
        let stamp = columns.next()?;
        if !self.begun && stamp.text.eq_ignore_ascii_case(b"timestamp") {
            columns.next()?.is_named("Offset")?;
            return Ok(None);
        }
        let stamp = stamp.stamp(self.clock)?;
        let extent = extent_of_sectors(columns.next()?, columns.next()?)?;
        let op = columns.next()?.op(b"0", b"1")?;
        columns.next()?.whole()?;
        columns.end()?;
        self.begun = true;
        Ok(Some(Entry::of_sectors(stamp, extent, op)))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        name.extend_from_slice(Columns::nth(line, Separator::Comma, 4));
    }
}
