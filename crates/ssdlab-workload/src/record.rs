//! Requests, and the sources that return them.

use ssdlab_base::{Bytes, Fault, Nanos};

/// The operation of a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Op {
    /// Returns the data of the sectors.
    Read,
    /// Stores data in the sectors.
    Write,
    /// Declares that the data of the sectors is no longer needed.
    Trim,
    /// Makes all acknowledged writes durable. Addresses no sectors.
    Flush,
}

impl Op {
    /// Returns whether the operation reads data, or else writes data; `None` if it does neither.
    pub fn reads(self) -> Option<bool> {
        match self {
            Op::Read => Some(true),
            Op::Write => Some(false),
            Op::Trim | Op::Flush => None,
        }
    }
}

/// The largest plausible read or write: the maximum of an NVMe command, 65,536 blocks of 4 KiB. A
/// larger one is a broken line or a mistyped size.
pub const MAX_REQUEST: Bytes = Bytes::from_kib(256 << 10);
/// The largest plausible trim: the maximum of Linux's block layer, 2^32 bytes.
pub const MAX_TRIM: Bytes = Bytes::from_gib(4);

/// The largest latency hint.
pub const MAX_HINT: u8 = 3;

/// One request of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Record {
    /// The issue time, counted from the first request of its source.
    pub at: Nanos,
    /// The first sector, in units of 512 bytes.
    pub lba: u64,
    /// The number of sectors.
    pub sectors: u32,
    /// The operation.
    pub op: Op,
    /// The submission queue of the request.
    pub queue: u8,
    /// The latency hint of the host: 0 none, 1 short, 2 medium, 3 long.
    pub hint: u8,
}

// Every request passes through memory in a batch of records, so a record stays small.
const _: () = assert!(size_of::<Record>() <= 24);

/// Describes a source of requests: its name, its file and its members.
pub trait Described {
    /// Returns the source's name for messages: the path of a file, or the name of a generator.
    fn name(&self) -> &str;

    /// Returns the SHA-256 of the source's file, or `None` for a generator.
    ///
    /// # Errors
    /// Fails if the file cannot be read to its end.
    fn sha256(&self) -> Result<Option<String>, Fault> {
        Ok(None)
    }

    /// Returns the format of the file, or `None` for a generator.
    fn trace_format(&self) -> Option<&'static str> {
        None
    }

    /// Returns the devices of the requests so far whose names mark them as twins, if devices are
    /// known.
    fn twins(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the sources that this source merges, if it is a merge.
    fn members(&self) -> Vec<&dyn Source> {
        Vec::new()
    }

    /// Returns warnings about the requests so far.
    fn warnings(&self) -> Vec<String> {
        self.members().into_iter().flat_map(|member| member.warnings()).collect()
    }
}

/// A source of requests. It returns them in batches, in the order of their times.
pub trait Source: Described + Send {
    /// Appends up to `most` records to `batch`. Returns the number appended, which is 0 only at the
    /// end.
    ///
    /// # Errors
    /// Returns a fault of the input. Earlier calls deliver all records before the fault. After a
    /// fault, every further call returns it again.
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault>;

    /// Returns the total number of requests, if known.
    fn expected(&self) -> Option<u64>;

    /// Returns the share of the input consumed so far, from 0 to 1, if known.
    fn progress(&self) -> Option<f64>;

    /// Returns the line of record `index` of the last call of [`Source::fill`]. Index 0 is the
    /// first record which that call appended. Lines count from 1; a binary file has record numbers,
    /// and a table row numbers. Generators return `None`.
    fn line(&self, index: usize) -> Option<u64>;

    /// Returns the device of record `index` of the last call of [`Source::fill`], if known.
    fn device(&self, _index: usize) -> Option<&str> {
        None
    }

    /// Returns a fault about record `index` of the last call of [`Source::fill`], with file and
    /// line.
    fn fault(&self, index: usize, what: &str) -> Fault {
        let fault = Fault::new(self.name(), what);
        match self.line(index) {
            Some(line) => fault.line(line),
            None => fault,
        }
    }
}
