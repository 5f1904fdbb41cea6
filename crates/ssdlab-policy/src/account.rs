//! The cause of each flash operation, and the parts of a request's latency.

use serde::{Deserialize, Serialize};
use ssdlab_nand::Level;

use crate::allocation::BlockClass;

/// Why the drive performs a flash operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Cause {
    /// A host request, or a page that leaves the write buffer.
    Host,
    /// Garbage collection.
    Gc,
    /// Wear leveling.
    Wl,
    /// A policy moves a page to a better place.
    Migration,
    /// Reads and writes of the page map's own pages.
    Mapping,
    /// Reads of the old content of a page that the host writes in part.
    Rmw,
    /// Old data that the drive rewrites.
    Refresh,
}

impl Cause {
    /// Number of causes.
    pub const COUNT: usize = 7;
    /// The name of each cause in results.
    pub const NAMES: [&str; Cause::COUNT] =
        ["host", "gc", "wl", "migration", "mapping", "rmw", "refresh"];
}

/// The kinds of flash operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum OpKind {
    /// Senses a page and transfers it to the controller.
    Read,
    /// Transfers a page to the flash and programs it.
    Program,
    /// Erases a block.
    Erase,
}

impl OpKind {
    /// Number of kinds.
    pub const COUNT: usize = 3;
    /// The name of each kind in results.
    pub const NAMES: [&str; OpKind::COUNT] = ["read", "program", "erase"];
}

/// The parts of a request's latency. Each nanosecond belongs to exactly one part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Part {
    /// From arrival until the drive accepts the request: the runner's backlog and the device queue.
    HostQueue,
    /// Waiting for an earlier request for the same logical page. At least one of the two changes
    /// the page.
    Page,
    /// In the write buffer, or waiting for room in it.
    Buffer,
    /// Waiting for a mapping entry.
    Map,
    /// Waiting for a die that works for the host. The other six causes follow in the order of
    /// [`Cause`].
    DieHost,
    /// Waiting for a die that collects garbage.
    DieGc,
    /// Waiting for a die that levels wear.
    DieWl,
    /// Waiting for a die that migrates a page.
    DieMigration,
    /// Waiting for a die that reads or writes the page map.
    DieMapping,
    /// Waiting for a die that reads the rest of a page written in part.
    DieRmw,
    /// Waiting for a die that refreshes old data.
    DieRefresh,
    /// Waiting for the channel.
    Bus,
    /// Sensing of the first attempt.
    Sense,
    /// All time of a read after its first attempt failed to decode. Time in which a unit has set
    /// the read aside for a host read of a higher priority counts as waiting for the die instead.
    Retry,
    /// Decoding of the first attempt, including the wait for the ECC engine.
    Decode,
    /// Transfer of the first attempt over the channel, or of the data of a write.
    Transfer,
    /// Programming.
    Program,
}

impl Part {
    /// Returns the name of the part in results.
    pub fn name(self) -> &'static str {
        Part::NAMES[self as usize]
    }

    /// Number of parts.
    pub const COUNT: usize = 17;
    /// The name of each part in results.
    pub const NAMES: [&str; Part::COUNT] = [
        "host_queue",
        "page",
        "buffer",
        "map",
        "die_host",
        "die_gc",
        "die_wl",
        "die_migration",
        "die_mapping",
        "die_rmw",
        "die_refresh",
        "bus",
        "sense",
        "retry",
        "decode",
        "transfer",
        "program",
    ];
}

/// The kinds of host request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Op {
    /// Reads data.
    Read,
    /// Writes data.
    Write,
    /// Discards sectors.
    Trim,
    /// Programs all data that the drive has accepted.
    Flush,
}

impl Op {
    /// Number of kinds.
    pub const COUNT: usize = 4;
    /// All kinds.
    pub const ALL: [Op; Op::COUNT] = [Op::Read, Op::Write, Op::Trim, Op::Flush];
    /// The name of each kind in results.
    pub const NAMES: [&str; Op::COUNT] = ["read", "write", "trim", "flush"];

    /// Returns the name of the kind in results.
    pub const fn name(self) -> &'static str {
        Op::NAMES[self as usize]
    }
}

/// The latency of a request by part, in nanoseconds.
pub type Blame = [u64; Part::COUNT];

/// The priority of a submission queue and of the blocks that the drive reserves for it; 0 is the
/// highest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Priority(pub u8);

impl Priority {
    /// The highest priority.
    pub const HIGHEST: Priority = Priority(0);

    /// Returns the priority of a submission queue. The first queue has the highest priority.
    pub const fn of_queue(queue: u8) -> Priority {
        Priority(queue)
    }

    /// Returns the index of the priority in a list by priority.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the priority of a class of blocks, on a drive that separates blocks by priority.
    pub const fn of_class(class: BlockClass) -> Priority {
        Priority(class.0)
    }

    /// Returns the class of the blocks that the drive reserves for the priority.
    pub const fn class(self) -> BlockClass {
        BlockClass(self.0)
    }

    /// Returns whether this priority is higher than another.
    pub const fn is_above(self, other: Priority) -> bool {
        self.0 < other.0
    }
}

/// The attributes of the request that an operation works for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestAttrs {
    /// The priority of the submission queue.
    pub priority: Priority,
    /// The latency hint of the host: 0 none, 1 short, 2 medium, 3 long.
    pub hint: u8,
    /// Number of pages.
    pub pages: u32,
    /// Number of bytes.
    pub bytes: u64,
}

impl RequestAttrs {
    /// A request of the highest priority for one page of 4 KiB, without a hint.
    pub const PLAIN: RequestAttrs =
        RequestAttrs { priority: Priority::HIGHEST, hint: 0, pages: 1, bytes: 4096 };
}

/// How often the host used a page while it was in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Uses {
    /// Number of reads.
    pub reads: u16,
    /// Number of writes.
    pub writes: u16,
}

impl Uses {
    /// Counts one more use of the page.
    pub fn count(&mut self, write: bool) {
        let uses = if write { &mut self.writes } else { &mut self.reads };
        *uses = uses.saturating_add(1);
    }
}

/// The result of reading a page of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The level at which a page decoded, from 0.
    pub level: Level,
    /// Raw bit errors of a codeword, as the decoder counted them.
    pub errors: u32,
}

/// The result of probing a block: the drive has just erased and programmed it.
#[derive(Clone, Copy, Debug)]
pub struct BlockProbe {
    /// Duration of the erase, in microseconds.
    pub erase_us: f64,
    /// Raw bit errors in a codeword of the first page, as the decoder counts them.
    pub first_errors: f64,
    /// How the worst page reads. Metadata components get it; policies do not.
    pub worst: Option<WorstPage>,
}

/// How the worst page of a block reads right after the page was programmed.
#[derive(Clone, Copy, Debug)]
pub struct WorstPage {
    /// Number of retries.
    pub retries: u8,
    /// Raw bit error rate.
    pub rber: f64,
}
