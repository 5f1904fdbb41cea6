//! SYSTOR '17: `Timestamp,Response,IOType,LUN,Offset,Size`.
//!
//! Source: the README of "Systor '17 Traces" at SNIA IOTTA (Lee et al., "Understanding Storage
//! Traffic Characteristics on Enterprise Virtual Desktop Infrastructure", SYSTOR '17). Timestamp
//! and Response are seconds with a fraction. Offset and Size are bytes. IOType is `R` or `W`. It is
//! empty if no response was seen; the reader skips such a line, since its kind is unknown. A file
//! has a header. Response may also be empty. It is not used, since the simulator computes it.

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Separator, Wrong};
use super::extent::extent_of_bytes;
use super::{About, Entry, IN_FLIGHT, Reader};

pub(super) const ABOUT: About = About {
    columns: "Timestamp,Response,IOType,LUN,Offset,Size",
    tick: Nanos::from_ms(1_000),
    fractions: true,
    unsorted: IN_FLIGHT,
    reader: |setup| Box::new(Systor { clock: setup.clock, begun: false }),
    ..About::LINES
};

const NAMES: &[&str] = &["Timestamp", "Response", "IOType", "LUN", "Offset", "Size"];

struct Systor {
    clock: Clock,
    /// Whether a request has been read, so that no header can follow.
    begun: bool,
}

impl Reader for Systor {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let mut columns = Columns::new(line, Separator::Comma, NAMES);
        let stamp = columns.next()?;
        if !self.begun && stamp.text.eq_ignore_ascii_case(b"timestamp") {
            columns.next()?.is_named("Response")?;
            return Ok(None);
        }
        let stamp = stamp.stamp(self.clock)?;
        let response = columns.next()?;
        if !response.text.is_empty() {
            response.any_number()?;
        }
        let op = columns.next()?;
        if op.text.is_empty() {
            self.begun = true;
            return Ok(None);
        }
        let op = op.op(b"R", b"W")?;
        columns.next()?.whole()?;
        let extent = extent_of_bytes(columns.next()?, columns.next()?)?;
        columns.end()?;
        self.begun = true;
        Ok(Some(Entry::of_bytes(stamp, extent, op)))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        name.extend_from_slice(Columns::nth(line, Separator::Comma, 3));
    }
}
