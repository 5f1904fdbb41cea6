//! DiskMon: `# Time Duration Disk Request Sector Length`, seven columns between tabs.
//!
//! Source: the columns of Sysinternals DiskMon and its help file, as it saves its log. Time is
//! seconds with a fraction since the start of the log. Duration is the response time, which is not
//! used. Sector and Length count 512 bytes. Request is `Read` or `Write`.

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Separator, Wrong};
use super::extent::extent_of_sectors;
use super::{About, Entry, IN_FLIGHT, Reader};

pub(super) const ABOUT: About = About {
    columns: "# Time Duration Disk Request Sector Length",
    tick: Nanos::from_ms(1_000),
    fractions: true,
    unsorted: IN_FLIGHT,
    reader: |setup| Box::new(Diskmon { clock: setup.clock }),
    ..About::LINES
};

const NAMES: &[&str] = &["#", "Time", "Duration", "Disk", "Request", "Sector", "Length"];

struct Diskmon {
    clock: Clock,
}

impl Reader for Diskmon {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let mut columns = Columns::new(line, Separator::Space, NAMES);
        columns.next()?.whole()?;
        let stamp = columns.next()?.stamp(self.clock)?;
        columns.next()?.any_number()?;
        columns.next()?.whole()?;
        let op = columns.next()?.op(b"Read", b"Write")?;
        let extent = extent_of_sectors(columns.next()?, columns.next()?)?;
        columns.end()?;
        Ok(Some(Entry::of_sectors(stamp, extent, op)))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        name.extend_from_slice(Columns::nth(line, Separator::Space, 3));
    }
}
