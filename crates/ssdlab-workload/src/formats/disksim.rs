//! DiskSim ASCII: `Time Device Block Size Flags`, five numbers between spaces.
//!
//! Source: "The DiskSim Simulation Environment, version 4.0, Reference Manual" (CMU-PDL-08-101),
//! section "Input traces", default format. Time is milliseconds with a fraction. Block and Size
//! count 512 bytes. Flags is a hexadecimal number whose lowest bit is 1 for a read. The SSD add-on
//! of Microsoft Research reads the same format. Other bits of Flags, such as the bit for a request
//! that others wait for, are not used.

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Separator, Wrong};
use super::extent::extent_of_sectors;
use super::{About, Entry, Reader};
use crate::record::Op;

pub(super) const ABOUT: About = About {
    columns: "Time Device Block Size Flags",
    tick: Nanos::from_ms(1),
    fractions: true,
    reader: |setup| Box::new(Disksim { clock: setup.clock }),
    ..About::LINES
};

const NAMES: &[&str] = &["Time", "Device", "Block", "Size", "Flags"];

struct Disksim {
    clock: Clock,
}

impl Reader for Disksim {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let mut columns = Columns::new(line, Separator::Space, NAMES);
        let stamp = columns.next()?.stamp(self.clock)?;
        columns.next()?.whole()?;
        let extent = extent_of_sectors(columns.next()?, columns.next()?)?;
        let flags = columns.next()?.hexadecimal()?;
        columns.end()?;
        let op = if flags & 1 == 1 { Op::Read } else { Op::Write };
        Ok(Some(Entry::of_sectors(stamp, extent, op)))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        name.extend_from_slice(Columns::nth(line, Separator::Space, 1));
    }
}
