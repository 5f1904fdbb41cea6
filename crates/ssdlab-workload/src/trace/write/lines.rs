//! Writes requests as lines of text.

use std::io::{self, BufWriter, Write};

use super::{NO_DEVICE, Sink, names_device};
use crate::formats::{Format, extent::SECTOR, ssdlab};
use crate::record::{Op, Record};

/// The start time of the MSR traces that we write, as a Windows file time in units of 100 ns: 22
/// February 2007, as in the published traces. Readers then recognize a file time.
const MSR_EPOCH: u64 = 128_166_372_000_000_000;

/// Writes lines in a text format.
pub(super) struct Lines<W: Write> {
    format: Format,
    to: BufWriter<W>,
}

impl<W: Write> Lines<W> {
    /// Begins a file and writes its header lines.
    pub(super) fn new(format: Format, to: W) -> io::Result<Lines<W>> {
        let mut to = BufWriter::new(to);
        match format {
            Format::Ssdlab => {
                writeln!(to, "{},{},{}", ssdlab::NAMES.join(","), ssdlab::QUEUE, ssdlab::HINT)?;
            }
            Format::Fio => writeln!(to, "fio version 3 iolog\n0 /dev/ssd add\n0 /dev/ssd open")?,
            _ => {}
        }
        Ok(Lines { format, to })
    }
}

impl<W: Write + Send> Sink for Lines<W> {
    fn put(&mut self, record: &Record, device: &str) -> io::Result<()> {
        let device = if names_device(self.format, device) { device } else { NO_DEVICE };
        let (at, lba, sectors) = (record.at.as_ns(), record.lba, u64::from(record.sectors));
        let (offset, size) = (lba * SECTOR, sectors * SECTOR);
        let read = record.op == Op::Read;
        let to = &mut self.to;
        match self.format {
            Format::Msr => {
                let (stamp, op) = (MSR_EPOCH + at / 100, if read { "Read" } else { "Write" });
                // MSR host names are single words.
                let device = device.replace(' ', "_");
                let (host, disk) = host_and_disk(&device);
                writeln!(to, "{stamp},{host},{disk},{op},{offset},{size},0")
            }
            Format::Spc => {
                let (seconds, rest, op) =
                    (at / 1_000_000_000, at % 1_000_000_000, if read { "r" } else { "w" });
                writeln!(to, "{device},{lba},{size},{op},{seconds}.{rest:09}")
            }
            Format::Mqsim => writeln!(to, "{at} {device} {lba} {sectors} {}", u8::from(read)),
            Format::Disksim => {
                let (ms, rest) = (at / 1_000_000, at % 1_000_000);
                writeln!(to, "{ms}.{rest:06} {device} {lba} {sectors} {}", u8::from(read))
            }
            Format::Fio => {
                let action = match record.op {
                    Op::Read => "read",
                    Op::Write => "write",
                    Op::Trim => "trim",
                    Op::Flush => "sync",
                };
                writeln!(to, "{} /dev/ssd {action} {offset} {size}", at / 1_000)
            }
            _ => {
                let (us, rest) = (at / 1_000, at % 1_000);
                let (op, queue, hint) = (letter(record.op), record.queue, record.hint);
                writeln!(to, "{us}.{rest:03},{device},{op},{offset},{size},{queue},{hint}")
            }
        }
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.to.flush()
    }
}

/// Returns the host and the disk number of a device in an MSR trace, such as `hm_0`.
fn host_and_disk(device: &str) -> (&str, &str) {
    let number = |disk: &&str| !disk.is_empty() && disk.bytes().all(|byte| byte.is_ascii_digit());
    match device.rsplit_once('_').filter(|(host, disk)| !host.is_empty() && number(disk)) {
        Some(both) => both,
        None if number(&device) => ("ssd", device),
        None => (device, "0"),
    }
}

/// Returns the letter of an operation in our own CSV and Parquet files.
pub(super) fn letter(op: Op) -> &'static str {
    match op {
        Op::Read => "R",
        Op::Write => "W",
        Op::Trim => "T",
        Op::Flush => "F",
    }
}
