//! AliCloud: `device_id,opcode,offset,length,timestamp`.
//!
//! Source: the README of `alibaba/block-traces` (Li et al., "An In-Depth Analysis of Cloud Block
//! Storage Workloads in Large-Scale Production", IISWC '20). Offset and length are bytes. The
//! opcode is `R` or `W`. The timestamp is microseconds since 1970. Published files have no header;
//! the reader skips one. A file merges the requests of a thousand volumes; the option `device`
//! selects one.

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Separator, Wrong};
use super::extent::extent_of_bytes;
use super::{About, Entry, IN_FLIGHT, Reader};

pub(super) const ABOUT: About = About {
    columns: "device_id,opcode,offset,length,timestamp",
    tick: Nanos::from_us(1),
    unsorted: IN_FLIGHT,
    reader: |setup| Box::new(Alicloud { clock: setup.clock, begun: false }),
    ..About::LINES
};

const NAMES: &[&str] = &["device_id", "opcode", "offset", "length", "timestamp"];

struct Alicloud {
    clock: Clock,
    /// Whether a request has been read, so that no header can follow.
    begun: bool,
}

impl Reader for Alicloud {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let mut columns = Columns::new(line, Separator::Comma, NAMES);
        let device = columns.next()?;
        if !self.begun && device.text == b"device_id" {
            return Ok(None);
        }
        device.whole()?;
        let op = columns.next()?.op(b"R", b"W")?;
        let extent = extent_of_bytes(columns.next()?, columns.next()?)?;
        let stamp = columns.next()?.stamp(self.clock)?;
        columns.end()?;
        self.begun = true;
        Ok(Some(Entry::of_bytes(stamp, extent, op)))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        name.extend_from_slice(Columns::nth(line, Separator::Comma, 0));
    }
}
