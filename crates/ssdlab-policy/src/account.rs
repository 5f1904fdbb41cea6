//! Who caused an operation, and where a request's time went.

use serde::{Deserialize, Serialize};
use ssdlab_nand::Level;

use crate::allocation::BlockClass;

/// What a flash operation was for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Cause {
    /// A host request, or a page that the write buffer lets go.
    Host,
    /// Garbage collection.
    Gc,
    /// Wear leveling.
    Wl,
    /// A page that a policy moves to a better place.
    Migration,
    /// The mapping table's own pages.
    Mapping,
    /// The old content of a page that is written in part.
    Rmw,
    /// Data rewritten because it has grown old.
    Refresh,
}

impl Cause {
    /// How many causes there are.
    pub const COUNT: usize = 7;
    /// Every cause with the name it has in results.
    pub const NAMES: [&str; Cause::COUNT] =
        ["host", "gc", "wl", "migration", "mapping", "rmw", "refresh"];
}

/// The kinds of flash operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum OpKind {
    /// Sensing a page, and its transfer to the controller.
    Read,
    /// The transfer of a page to the flash, and its programming.
    Program,
    /// Erasing a block.
    Erase,
}

impl OpKind {
    /// How many kinds there are.
    pub const COUNT: usize = 3;
    /// Every kind with the name it has in results.
    pub const NAMES: [&str; OpKind::COUNT] = ["read", "program", "erase"];
}

/// The parts of a request's latency. Each nanosecond belongs to exactly one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Part {
    /// From arrival until the drive takes it in: the runner's backlog and the device queue.
    HostQueue,
    /// Behind an earlier request for the same logical page, one of the two a write.
    Page,
    /// In the write buffer, or waiting for room in it.
    Buffer,
    /// Waiting for a mapping entry.
    Map,
    /// Waiting for a die that works for the host. The other six causes follow in the order of
    /// [`Cause`].
    DieHost,
    /// … that collects garbage.
    DieGc,
    /// … that levels wear.
    DieWl,
    /// … that migrates a page.
    DieMigration,
    /// … that reads or writes the mapping table.
    DieMapping,
    /// … that reads the rest of a page written in part.
    DieRmw,
    /// … that refreshes old data.
    DieRefresh,
    /// Waiting for the channel.
    Bus,
    /// The first attempt's sensing.
    Sense,
    /// Everything of a read after its first attempt failed to decode, but the time that it was set
    /// aside for a host read of a higher priority, which is a wait for the die.
    Retry,
    /// The first attempt's decoding, the wait for the engine included.
    Decode,
    /// The first attempt's transfer over the channel, or the transfer of what is written.
    Transfer,
    /// Programming.
    Program,
}

impl Part {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        Part::NAMES[self as usize]
    }

    /// How many parts there are.
    pub const COUNT: usize = 17;
    /// Every part with the name it has in results.
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

/// What the host asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Op {
    /// Data from the drive.
    Read,
    /// Data to the drive.
    Write,
    /// These sectors are no longer wanted.
    Trim,
    /// What the drive has accepted shall be on the flash.
    Flush,
}

impl Op {
    /// How many there are.
    pub const COUNT: usize = 4;
    /// All of them.
    pub const ALL: [Op; Op::COUNT] = [Op::Read, Op::Write, Op::Trim, Op::Flush];
    /// Each with the name it has in results.
    pub const NAMES: [&str; Op::COUNT] = ["read", "write", "trim", "flush"];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        Op::NAMES[self as usize]
    }
}

/// How a request's latency divides into its parts, in nanoseconds.
pub type Blame = [u64; Part::COUNT];

/// A priority: that of a submission queue, and of the blocks that are kept apart for it; 0 the
/// highest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Priority(pub u8);

impl Priority {
    /// The highest priority.
    pub const HIGHEST: Priority = Priority(0);

    /// The priority of a submission queue: the first has the highest.
    #[inline]
    pub const fn of_queue(queue: u8) -> Priority {
        Priority(queue)
    }

    /// Its place in a list by priority.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The priority for which the blocks of this class are kept apart, where any are.
    #[inline]
    pub const fn of_class(class: BlockClass) -> Priority {
        Priority(class.0)
    }

    /// The class of the blocks that are kept apart for it.
    #[inline]
    pub const fn block_class(self) -> BlockClass {
        BlockClass(self.0)
    }

    /// Whether it goes before another.
    #[inline]
    pub const fn is_above(self, other: Priority) -> bool {
        self.0 < other.0
    }
}

/// What is known of the request that an operation works for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestAttrs {
    /// The submission queue's priority.
    pub priority: Priority,
    /// The latency that the host hints at: 0 none, 1 short, 2 medium, 3 long.
    pub hint: u8,
    /// Pages.
    pub pages: u32,
    /// Bytes.
    pub bytes: u64,
}

/// How often a page was used while it was in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Uses {
    /// Times that it was read.
    pub reads: u16,
    /// Times that it was written.
    pub writes: u16,
}

impl Uses {
    /// The page is used once more.
    #[inline]
    pub fn count(&mut self, write: bool) {
        let uses = if write { &mut self.writes } else { &mut self.reads };
        *uses = uses.saturating_add(1);
    }
}

/// What a reading tells of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The level at which a page decoded, from 0.
    pub level: Level,
    /// Raw bit errors of a codeword, as the decoder counted them.
    pub errors: u32,
}

/// What a look at a block tells that has just been erased and programmed.
#[derive(Clone, Copy, Debug)]
pub struct BlockProbe {
    /// Microseconds of its erase.
    pub erase_us: f64,
    /// Raw bit errors of a codeword of its first page, as the decoder counts them.
    pub first_errors: f64,
    /// How its worst page reads; given to metadata components, not to policies.
    pub worst: Option<WorstPage>,
}

/// How the worst page of a block reads right after it was programmed.
#[derive(Clone, Copy, Debug)]
pub struct WorstPage {
    /// Retries.
    pub retries: u8,
    /// Raw bit error rate.
    pub rber: f64,
}
