//! MQSim ASCII: `Time Device LBA Sectors Op`, five whole numbers between spaces.
//!
//! Source: MQSim (Tavakkol et al., FAST '18), `src/exec` and `src/host/ASCII_Trace_Definition.h`.
//! Time is nanoseconds, LBA and Sectors count 512 bytes, Op is 1 for a read and 0 for a write.
//! MQSim does not look at the device: all requests go to one address space, here too.

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Separator, Wrong, extent_of_sectors};
use super::{About, Entry, Reader};
use crate::trace::options::Unsorted;

pub(super) const ABOUT: About = About {
    columns: "Time Device LBA Sectors Op",
    tick: Nanos::from_ns(1),
    fractions: false,
    unsorted: Unsorted::Refuse,
    reader: |clock| Box::new(FiveNumbers { clock }),
};

const NAMES: &[&str] = &["Time", "Device", "LBA", "Sectors", "Op"];

/// What MQSim and SSDSim have in common.
pub(super) struct FiveNumbers {
    pub(super) clock: Clock,
}

impl Reader for FiveNumbers {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let mut columns = Columns::new(line, Separator::Space, NAMES);
        let stamp = columns.next()?.stamp(self.clock)?;
        columns.next()?.whole()?;
        let extent = extent_of_sectors(columns.next()?, columns.next()?)?;
        let op = columns.next()?.op(b"1", b"0")?;
        columns.end()?;
        Ok(Some(Entry { stamp, extent, op, widened: false }))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        let mut columns = Columns::new(line, Separator::Space, NAMES);
        let device = columns.next().and_then(|_| columns.next());
        name.extend(device.map(|field| field.text).unwrap_or_default());
    }
}
