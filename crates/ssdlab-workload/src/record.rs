//! What a request is, and what hands requests out.

use ssdlab_base::{Bytes, Fault, Nanos};

/// What a request asks of the drive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Op {
    /// Return the data of the sectors.
    Read,
    /// Store data in the sectors.
    Write,
    /// The data of the sectors is no longer needed.
    Trim,
    /// Make everything acknowledged so far durable. Addresses no sectors.
    Flush,
}

/// The largest read or write that is taken for one: what an NVMe command can ask for at most,
/// 65,536 blocks of 4 KiB. A larger one is a broken line, or a mistyped size.
pub const MOST_REQUEST: Bytes = Bytes::from_kib(256 << 10);
/// The largest trim, likewise: what Linux's block layer can ask for at most, 2^32 bytes.
pub const MOST_TRIM: Bytes = Bytes::from_gib(4);

/// The largest latency hint.
pub const MOST_HINT: u8 = 3;

/// One request of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Record {
    /// When it is issued, since the first request of its source.
    pub at: Nanos,
    /// The first sector, in units of 512 bytes.
    pub lba: u64,
    /// How many sectors.
    pub sectors: u32,
    /// What it asks.
    pub op: Op,
    /// The submission queue it is issued to.
    pub queue: u8,
    /// The latency that the host hints at: 0 none, 1 short, 2 medium, 3 long.
    pub hint: u8,
}

// Batches of records are the one thing that every request passes through memory as.
const _: () = assert!(size_of::<Record>() <= 24);

/// Something that hands out requests in batches, in the order of their times.
pub trait Source: Send {
    /// Appends up to `most` records to `batch`; how many were appended, 0 only at the end.
    ///
    /// # Errors
    /// When the input is wrong. All records before the fault are delivered first, by earlier
    /// calls; after a fault, every further call returns it again.
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault>;

    /// How many requests there are in all, if that is known.
    fn expected(&self) -> Option<u64>;

    /// How much of the input has been consumed, from 0 to 1, if that is known.
    fn progress(&self) -> Option<f64>;

    /// What is read or generated, for messages: a file's path, a generator's name.
    fn name(&self) -> &str;

    /// The SHA-256 of the file that is read; `None` of a generator.
    ///
    /// # Errors
    /// When the file cannot be read to its end.
    fn sha256(&self) -> Result<Option<String>, Fault> {
        Ok(None)
    }

    /// The format that the file is read in; `None` of a generator.
    fn trace_format(&self) -> Option<&'static str> {
        None
    }

    /// The line of the input that record `index` of the last call of [`Source::fill`] came from
    /// (0 is the first record which that call appended), counted from 1; the record of a binary
    /// file, the row of a table. Generators have none.
    fn line(&self, index: usize) -> Option<u64>;

    /// The name of the device of record `index` of the last call of [`Source::fill`], where that
    /// is known.
    fn device(&self, _index: usize) -> Option<&str> {
        None
    }

    /// The devices of the requests handed out so far whose names say that they are twins, where
    /// devices are known.
    fn twins(&self) -> Vec<String> {
        Vec::new()
    }

    /// The sources that it is merged of, if it is.
    fn members(&self) -> Vec<&dyn Source> {
        Vec::new()
    }

    /// What has turned out to be doubtful about the requests handed out so far.
    fn warnings(&self) -> Vec<String> {
        self.members().into_iter().flat_map(|member| member.warnings()).collect()
    }

    /// A fault about record `index` of the last call of [`Source::fill`], naming file and line.
    fn fault(&self, index: usize, what: &str) -> Fault {
        let fault = Fault::new(self.name(), what);
        match self.line(index) {
            Some(line) => fault.line(line),
            None => fault,
        }
    }
}
