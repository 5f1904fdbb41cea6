//! SPC trace file format: `ASU,LBA,Size,Opcode,Timestamp[,...]`.
//!
//! Source: Storage Performance Council, "SPC Trace File Format Specification", revision 1.0.1, as
//! used by the UMass trace repository (Financial1-2, WebSearch1-3). LBA counts blocks of 512 bytes
//! within the ASU (application storage unit, our device). Size is bytes. Opcode is `r` or `w`, in
//! either case. Timestamp is seconds since the first request, with a fraction. The specification
//! allows columns beyond the fifth, which are not read.
//!
//! Some published copies lack the first column. If the first request has its opcode in the third
//! column, the reader reads the whole file in that form.

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Separator, Wrong};
use super::extent::extent_of_sector_and_bytes;
use super::{About, Entry, Reader};

pub(super) const ABOUT: About = About {
    columns: "ASU,LBA,Size,Opcode,Timestamp",
    tick: Nanos::from_ms(1_000),
    fractions: true,
    reader: |setup| Box::new(Spc { clock: setup.clock, layout: Layout::Unknown }),
    ..About::LINES
};

const NAMES: &[&str] = &["ASU", "LBA", "Size", "Opcode", "Timestamp"];
const NAMES_BARE: &[&str] = &["LBA", "Size", "Opcode", "Timestamp"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Unknown,
    /// As specified.
    Whole,
    /// Without the ASU.
    Bare,
}

struct Spc {
    clock: Clock,
    layout: Layout,
}

impl Reader for Spc {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let layout = match self.layout {
            Layout::Unknown => layout_of(line),
            known => known,
        };
        let mut columns = match layout {
            Layout::Bare => Columns::new(line, Separator::Comma, NAMES_BARE),
            _ => Columns::new(line, Separator::Comma, NAMES),
        };
        if layout != Layout::Bare {
            columns.next()?.whole()?;
        }
        let extent = extent_of_sector_and_bytes(columns.next()?, columns.next()?)?;
        let op = columns.next()?.op(b"r", b"w")?;
        let stamp = columns.next()?.stamp(self.clock)?;
        if layout == Layout::Bare {
            columns.end()?;
        }
        self.layout = layout;
        Ok(Some(Entry::of_bytes(stamp, extent, op)))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        match self.layout {
            Layout::Bare => name.push(b'0'),
            _ => name.extend_from_slice(Columns::nth(line, Separator::Comma, 0)),
        }
    }

    fn remark(&self) -> Option<&'static str> {
        (self.layout == Layout::Bare)
            .then_some("no ASU column: read as LBA,Size,Opcode,Timestamp of ASU 0")
    }
}

/// Returns the layout of a file whose first request is this line.
fn layout_of(line: &[u8]) -> Layout {
    let third = line.split(|byte| *byte == b',').nth(2).unwrap_or_default().trim_ascii();
    if third.eq_ignore_ascii_case(b"r") || third.eq_ignore_ascii_case(b"w") {
        Layout::Bare
    } else {
        Layout::Whole
    }
}
