//! hfplayer: sixteen columns between commas; a comment line names them.
//!
//! Source: hfplayer (Haghdoost et al., "hfplayer: Scalable Replay for Intensive Block I/O
//! Workloads", TOS 2017), its sample traces and the header in them. `ELAPSED_USECS` is microseconds
//! with a fraction. `LBA` and `NBLKS` count 512 bytes. `CMD` begins with `RD` or `WR`. The latency
//! is not used. The device is `LUN_SSID`.

use ssdlab_base::Nanos;

use super::columns::{Clock, Columns, Field, Separator, Wrong};
use super::extent::extent_of_sectors;
use super::{About, Entry, IN_FLIGHT, Reader};
use crate::record::Op;

pub(super) const ABOUT: About = About {
    columns: "DUMP_OFFSET,ELAPSED_USECS,ELAPSED_TICKS,CMD,INFLIGHT_IOS,TS,SEQID,LUN_SSID,OP,PHASE,\
              LBA,NBLKS,LATENCY_TICKS,HOST_ID,HOST_LUN,LATENCY_USECS",
    tick: Nanos::from_us(1),
    fractions: true,
    unsorted: IN_FLIGHT,
    reader: |setup| Box::new(Hfplayer { clock: setup.clock }),
    ..About::LINES
};

const NAMES: &[&str] = &[
    "DUMP_OFFSET",
    "ELAPSED_USECS",
    "ELAPSED_TICKS",
    "CMD",
    "INFLIGHT_IOS",
    "TS",
    "SEQID",
    "LUN_SSID",
    "OP",
    "PHASE",
    "LBA",
    "NBLKS",
    "LATENCY_TICKS",
    "HOST_ID",
    "HOST_LUN",
    "LATENCY_USECS",
];
const LUN: usize = 7;

struct Hfplayer {
    clock: Clock,
}

impl Reader for Hfplayer {
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let mut columns = Columns::new(line, Separator::Comma, NAMES);
        columns.next()?.whole()?;
        let stamp = columns.next()?.stamp(self.clock)?;
        columns.next()?.any_number()?;
        let op = op_of(columns.next()?)?;
        for _ in 0..6 {
            columns.next()?.any_number()?;
        }
        let extent = extent_of_sectors(columns.next()?, columns.next()?)?;
        for _ in 0..4 {
            columns.next()?.any_number()?;
        }
        columns.end()?;
        Ok(Some(Entry::of_sectors(stamp, extent, op)))
    }

    fn device(&self, line: &[u8], name: &mut Vec<u8>) {
        name.extend_from_slice(Columns::nth(line, Separator::Comma, LUN));
    }
}

fn op_of(command: Field<'_>) -> Result<Op, Box<Wrong>> {
    match command.text {
        [b'R', b'D', ..] => Ok(Op::Read),
        [b'W', b'R', ..] => Ok(Op::Write),
        _ => Err(command.wrong_near("RD… (read) or WR… (write)", &["RD_IN", "WR_IN"])),
    }
}
