//! Counts of the requests of a trace.

use crate::formats::Entry;
use crate::record::Op;

/// Counts of the requests of a trace, and of the changes made while reading them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Reads and writes.
    pub requests: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Requests moved to an earlier place because their time stamps went back.
    pub reordered: u64,
    /// Requests widened to whole sectors.
    pub widened: u64,
    /// Requests skipped because they belong to another device than the selected one.
    pub other_devices: u64,
}

impl Counts {
    /// Returns the number of reads, writes, trims and flushes.
    pub fn all(&self) -> u64 {
        self.requests + self.trims + self.flushes
    }

    pub(super) fn count(&mut self, entry: &Entry) {
        self.widened += u64::from(entry.widened);
        match entry.op {
            Op::Read | Op::Write => self.requests += 1,
            Op::Trim => self.trims += 1,
            Op::Flush => self.flushes += 1,
        }
    }
}
