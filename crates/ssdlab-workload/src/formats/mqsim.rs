//! MQSim ASCII: `Time Device LBA Sectors Op`, five whole numbers between spaces.
//!
//! Source: MQSim (Tavakkol et al., FAST '18), `src/exec` and `src/host/ASCII_Trace_Definition.h`.
//! Time is nanoseconds. LBA and Sectors count 512 bytes. Op is 1 for a read and 0 for a write.
//! MQSim ignores the device: all requests go to one address space, by default here too.

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Separator, Wrong};
use super::extent::extent_of_sectors;
use super::{About, Entry, Reader};

pub(super) const ABOUT: About = About {
    columns: "Time Device LBA Sectors Op",
    tick: Nanos::from_ns(1),
    reader: |setup| Box::new(FiveNumbers { clock: setup.clock, hashes: false }),
    ..About::LINES
};

const NAMES: &[&str] = &["Time", "Device", "LBA", "Sectors", "Op"];

/// The reader of the five numbers that MQSim and SSDSim share.
pub(super) struct FiveNumbers {
    pub(super) clock: Clock,
    /// Whether a sixth column with hashes of the content may follow.
    pub(super) hashes: bool,
}

impl Reader for FiveNumbers {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let mut columns = Columns::new(line, Separator::Space, NAMES);
        let stamp = columns.next()?.stamp(self.clock)?;
        columns.next()?.whole()?;
        let extent = extent_of_sectors(columns.next()?, columns.next()?)?;
        let op = columns.next()?.op(b"1", b"0")?;
        if self.hashes && !columns.is_empty() {
            let hash = columns.next()?;
            hash.named("Hash").hash()?;
        }
        columns.end()?;
        Ok(Some(Entry::of_sectors(stamp, extent, op)))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        name.extend_from_slice(Columns::nth(line, Separator::Space, 1));
    }
}
