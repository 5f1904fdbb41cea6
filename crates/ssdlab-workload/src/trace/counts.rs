//! What was done to the requests of a trace.

use crate::formats::Entry;
use crate::record::Op;

/// What was done to a trace's requests while they were read.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Reads and writes read.
    pub requests: u64,
    /// Trims read.
    pub trims: u64,
    /// Flushes read.
    pub flushes: u64,
    /// Requests moved to an earlier place since their time stamps went back.
    pub reordered: u64,
    /// Requests widened to whole sectors.
    pub widened: u64,
    /// Requests left out since another device was asked for.
    pub other_devices: u64,
}

impl Counts {
    /// Reads, writes, trims and flushes.
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
