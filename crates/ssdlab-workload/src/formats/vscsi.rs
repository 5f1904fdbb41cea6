//! vscsi: binary records of SCSI commands, the published form of VMware's vscsiStats traces.
//!
//! Source: `vscsi.h` of libCacheSim and of `trace-utils` beside the CloudPhysics traces
//! (Waldspurger et al., "Efficient MRC Construction with SHARDS", FAST '15). The least significant
//! byte of a number comes first. The sizes of the fields, in bytes:
//! - Version 1, 32 bytes per record: serial number (4), length in bytes (4), number of
//!   scatter-gather elements (4), command (2), version (2), logical block (8), time in microseconds
//!   (8).
//! - Version 2, 40 bytes per record: command (2), version (2), serial number (4), length (4),
//!   elements (4), block (8), time (8), response time (8), which is not used.
//!
//! The version is the upper byte of its two. Blocks count 512 bytes. Reads and writes of 6, 10, 12
//! and 16 bytes are requests, and SYNCHRONIZE CACHE is a flush. The reader skips other commands and
//! those without a length. A file holds one disk.

use ssdlab_base::{Fault, Nanos};

use super::columns::{Clock, Wrong};
use super::extent::{SECTOR, MAX_SECTORS};
use super::{About, Entry, Framing, IN_FLIGHT, Reader};
use crate::record::Op;

pub(super) const ABOUT: About = About {
    columns: "binary records: command, version, length, block, time",
    tick: Nanos::from_us(1),
    unsorted: IN_FLIGHT,
    framing: Framing::Records(length),
    reader: |setup| Box::new(Vscsi { clock: setup.clock }),
    ..About::LINES
};

const LENGTH_1: usize = 32;
const LENGTH_2: usize = 40;

/// Returns the length of a record from the first bytes of a file.
fn length(start: &[u8]) -> usize {
    match start.get(3) {
        Some(2) if start.get(15) != Some(&1) => LENGTH_2,
        _ => LENGTH_1,
    }
}

struct Vscsi {
    clock: Clock,
}

/// The fields of a record that are used.
struct Command {
    code: u16,
    version: u16,
    bytes: u32,
    block: u64,
    time: u64,
}

fn number<const N: usize>(record: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(&record[at..at + N]);
    u64::from_le_bytes(bytes)
}

fn command(record: &[u8]) -> Command {
    let (code, version, bytes) = if record.len() == LENGTH_2 { (0, 2, 8) } else { (12, 14, 4) };
    Command {
        code: number::<2>(record, code) as u16,
        version: number::<2>(record, version) as u16,
        bytes: number::<4>(record, bytes) as u32,
        block: number::<8>(record, 16),
        time: number::<8>(record, 24),
    }
}

impl Reader for Vscsi {
    fn read(&mut self, record: &[u8]) -> Result<Option<Entry>, Box<Wrong>> {
        let command = command(record);
        let version = if record.len() == LENGTH_2 { 2 } else { 1 };
        if command.version >> 8 != version {
            let got = format!("{:#06x}", command.version);
            let expected = format!("{:#06x}, as in all records of version {version}", version << 8);
            return Err(wrong("version", got, expected));
        }
        let stamp = command.time.checked_mul(self.clock.tick);
        let Some(stamp) = stamp else {
            return Err(wrong("time", command.time, "a time below 2^64 ns (584 years)"));
        };
        let op = match command.code {
            0x08 | 0x28 | 0xa8 | 0x88 => Op::Read,
            0x0a | 0x2a | 0xaa | 0x8a => Op::Write,
            0x35 | 0x91 => return Ok(Some(Entry::flush(stamp))),
            code if code < 0x100 => return Ok(None),
            code => return Err(wrong("command", format!("{code:#x}"), "a SCSI command of a byte")),
        };
        let bytes = u64::from(command.bytes);
        if bytes == 0 {
            return Ok(None);
        }
        let sectors = bytes.div_ceil(SECTOR);
        if command.block.checked_add(sectors).is_none_or(|end| end > MAX_SECTORS) {
            return Err(wrong("block", command.block, "an end below 2^55 sectors"));
        }
        let widened = !bytes.is_multiple_of(SECTOR);
        let extent = (command.block, sectors as u32);
        Ok(Some(Entry::of_bytes(stamp, (extent, widened), op)))
    }

    fn device(&self, _: &[u8], name: &mut Vec<u8>) {
        name.push(b'0');
    }

    fn why_empty(&self) -> Option<&'static str> {
        Some("no read, write or flush among the commands")
    }
}

fn wrong(
    what: &str,
    got: impl std::fmt::Display,
    expected: impl std::fmt::Display,
) -> Box<Wrong> {
    Wrong::record(Fault::new("", format!("record: {what}")).got(got).expected(expected))
}
