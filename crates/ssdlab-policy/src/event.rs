//! The events that policies receive and the actions that they request.
//!
//! A policy names the kinds of event that it subscribes to
//! ([`Policy::events`](super::Policy::events)). The drive sends it only these, so an event without
//! a subscriber costs nothing. A policy adds further work, beyond its choice, to the [`Actions`].
//! The drive decides when to carry it out, and does so in one way for all policies.

use std::fmt;

use ssdlab_base::{CellTime, Nanos, SimTime};
use ssdlab_nand::{BlockId, Level, Lpn, PageInBlock, PlaneId};

use super::background::{BlockEstimate, EndedJob, HostRead, Job};
use crate::account::{BlockProbe, Cause, Op, OpKind, Priority, RequestAttrs, Uses};
pub use crate::actions::{Action, Actions};
use crate::allocation::{BlockClass, StreamId, Writer};

/// The outcome of a page read, whatever its cause.
#[derive(Clone, Copy, Debug)]
pub struct ReadOutcome {
    /// The logical page.
    pub lpn: Lpn,
    /// Its block.
    pub block: BlockId,
    /// Its place in the block.
    pub page: PageInBlock,
    /// The class of the block, 0 the best.
    pub class: BlockClass,
    /// The level at which the page decoded; the last level if it did not.
    pub level: Level,
    /// Number of failed attempts before the one at this level; 0 if the first attempt decoded. It
    /// is lower than the level if the first attempt was at a higher level than the lowest.
    pub failed: u8,
    /// Raw bit errors of a codeword, as the decoder counted them; 0 unless a policy or component
    /// subscribes to [`EventMask::READ_ERRORS`].
    pub errors: u32,
    /// Whether the page map holds the page. A page that it does not hold counts as written before
    /// the start.
    pub mapped: bool,
    /// Why the page was read.
    pub cause: Cause,
    /// P/E cycles of the block; 0 unless a policy or component subscribes to
    /// [`EventMask::READ_AGES`].
    pub pe_cycles: u32,
    /// Time since the first page of the block was written after its last erase; 0 unless a policy
    /// or component subscribes to [`EventMask::READ_AGES`].
    pub age: Nanos,
}

/// A page that was programmed, whatever the cause.
#[derive(Clone, Copy, Debug)]
pub struct Programmed {
    /// The logical page.
    pub lpn: Lpn,
    /// Its block.
    pub block: BlockId,
    /// Its place in the block.
    pub page: PageInBlock,
    /// Why the page was written.
    pub cause: Cause,
}

/// A block that gets its first page after an erase.
#[derive(Clone, Copy, Debug)]
pub struct BlockOpened {
    /// The block.
    pub block: BlockId,
    /// The writer of the block.
    pub writer: Writer,
    /// The stream of its pages.
    pub stream: StreamId,
}

/// A page whose newest copy is now in another block.
#[derive(Clone, Copy, Debug)]
pub struct Migrated {
    /// The logical page.
    pub lpn: Lpn,
    /// The block that held the page.
    pub from: BlockId,
    /// The block that holds the page now.
    pub to: BlockId,
    /// Why the page moved.
    pub cause: Cause,
    /// Whether the page moved alone, not with its whole block.
    pub alone: bool,
}

/// A block that was just erased and is about to join the free blocks.
#[derive(Clone, Copy, Debug)]
pub struct FreedBlock<'a> {
    /// The block.
    pub block: BlockId,
    /// The class that the block had so far.
    pub class: BlockClass,
    /// P/E cycles of the block, including this one.
    pub pe_cycles: u32,
    /// P/E cycles that one erase counts for.
    pub cycles_per_erase: u32,
    /// Whether the plane has enough free blocks for jobs without this one.
    pub has_spare: bool,
    /// Probes the block.
    pub probe: Probe<'a>,
}

/// A probe of a block: the result of erasing, programming and reading the block at a given number
/// of P/E cycles. Metadata components also get the worst page ([`BlockProbe::worst`]).
#[derive(Clone, Copy)]
pub struct Probe<'a>(pub &'a dyn Fn(u32) -> BlockProbe);

impl fmt::Debug for Probe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("worst", &(self.0)(0).worst).finish()
    }
}

/// How often a run will read and write each logical page.
#[derive(Clone, Debug, Default)]
pub struct PageUses {
    /// Reads, by logical page.
    pub reads: Vec<u32>,
    /// Writes, by logical page.
    pub writes: Vec<u32>,
}

/// The view of a policy whose next round is due.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// The full blocks that no running or waiting job empties.
    pub full: &'a [BlockEstimate],
    /// Whether the jobs of a policy mix blocks of different classes now. Relocations wait until
    /// that has ended.
    pub across_classes: bool,
}

/// The context of an event: the time, and a list for the policy's actions.
#[derive(Debug)]
pub struct EventContext<'a> {
    /// The current simulated time.
    pub now: SimTime,
    /// The current time on the cells' clock, which runs `flash.time_scale` times as fast.
    pub cell_time: CellTime,
    /// The actions that the policy requests.
    pub actions: &'a mut Actions,
}

impl<'a> EventContext<'a> {
    /// Returns the context of an event before a run begins: both clocks show their start.
    pub fn before_run(actions: &'a mut Actions) -> EventContext<'a> {
        EventContext { now: SimTime::START, cell_time: CellTime::START, actions }
    }
}

/// An event in the drive.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The drive is in its start state and has accepted no request. A policy sets its first timer
    /// in response. The event comes once, also on a drive that begins with the contents of a state
    /// file. A policy that had the event before the file was saved does not get it again: it
    /// continues with its saved state and timer. If its columns do not fit those of the file, it
    /// begins empty and gets the event. A fork of a running drive does not publish it.
    DriveStarted,
    /// The drive has accepted a request.
    RequestArrived {
        /// The kind of the request.
        op: Op,
        /// The attributes of the request.
        request: &'a RequestAttrs,
    },
    /// A request has ended.
    RequestEnded {
        /// The kind of the request.
        op: Op,
        /// The priority of the submission queue.
        priority: Priority,
        /// Time since the request arrived.
        latency: Nanos,
    },
    /// A page has entered the buffer, read or written.
    PageBuffered {
        /// The logical page.
        lpn: Lpn,
        /// The page's slot in the buffer.
        slot: u32,
        /// Whether it was written.
        written: bool,
    },
    /// The host reads or writes a page that the buffer holds.
    BufferHit {
        /// The logical page.
        lpn: Lpn,
        /// The page's slot in the buffer.
        slot: u32,
        /// Whether it is written.
        written: bool,
    },
    /// A page was evicted from the buffer, or trimmed.
    PageUnbuffered {
        /// The logical page.
        lpn: Lpn,
        /// The slot that the page had.
        slot: u32,
    },
    /// A flush programs all pages of the buffer that were written. They stay in the buffer, clean.
    BufferFlushed,
    /// A page has left the buffer, or a flush programs it.
    PageEvicted {
        /// The logical page.
        lpn: Lpn,
        /// How often the host read and wrote the page while it was in the buffer.
        uses: Uses,
    },
    /// The map cache has loaded the entries of consecutive logical pages.
    EntriesLoaded {
        /// The first of them.
        first: Lpn,
        /// Number of pages.
        count: u32,
    },
    /// An operation has read a page.
    PageRead(&'a ReadOutcome),
    /// An operation has programmed a page.
    PageProgrammed(&'a Programmed),
    /// A block lost its copy of a page: the page was written elsewhere or trimmed.
    PageInvalidated {
        /// The logical page.
        lpn: Lpn,
        /// The block.
        block: BlockId,
    },
    /// The host has trimmed a page.
    PageTrimmed(Lpn),
    /// For oracles: how often the run will read and write each page. The event comes before the
    /// run.
    UsesKnown(&'a PageUses),
    /// The host has read a page from the flash. The page is mapped and was decoded. A policy may
    /// answer with [`Action::MigratePage`].
    HostRead(&'a HostRead),
    /// The drive begins to move a page that a policy asked for by [`Action::MigratePage`].
    MigrationBegan(Lpn),
    /// A page has moved to another block.
    PageMigrated(&'a Migrated),
    /// A block gets its first page after an erase.
    BlockOpened(&'a BlockOpened),
    /// The last page of a block was programmed: the block is full.
    BlockClosed(BlockId),
    /// A job begins to empty a block.
    BlockCollected(BlockId),
    /// A block has been erased.
    BlockErased(BlockId),
    /// An erased block is about to join the free blocks. [`Action::SetClass`] and
    /// [`Action::SetFreeRank`] take effect at once.
    BlockFreed(&'a FreedBlock<'a>),
    /// The allocator gave a page to host data or to a page that left the buffer.
    PageAllocated {
        /// The plane of the page.
        plane: PlaneId,
        /// The class of block that the hint asks for. A scheduler with a window may have set it.
        class: BlockClass,
        /// When the request arrived.
        arrival: SimTime,
    },
    /// A host page found no room on a plane and goes to another.
    PlaneChanged {
        /// The plane without room.
        from: PlaneId,
        /// The new plane.
        to: PlaneId,
        /// When the request arrived.
        arrival: SimTime,
    },
    /// A page was to move to this class of a plane, but the class has no page left. Next, the drive
    /// asks the background policies for jobs.
    NoSpace {
        /// The plane.
        plane: PlaneId,
        /// The class.
        class: BlockClass,
    },
    /// A block was opened on a plane that now has less free space than background policies keep
    /// free.
    LowSpace {
        /// The plane.
        plane: PlaneId,
        /// Number of free blocks left.
        free_blocks: u32,
    },
    /// A job has ended.
    JobEnded(EndedJob),
    /// The drive has dropped a relocation that the policy requested. Its block was erased or is
    /// being written, the policy's next round is due, or the drive is saved. The policy may ask
    /// again.
    JobDropped(Job),
    /// The timer that the policy set by [`Action::SetTimer`] is due.
    Timer,
    /// The policy's next round is due. The drive has dropped its relocations that had not begun.
    RoundDue(Round<'a>),
    /// The statistics start again from zero.
    CountsReset,
}

/// A set of kinds of event, one bit for each kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventMask(u64);

impl EventMask {
    /// The empty set.
    pub const NONE: EventMask = EventMask(0);
    /// [`Event::PageRead`].
    pub const PAGE_READ: EventMask = EventMask(1);
    /// [`Event::PageProgrammed`].
    pub const PAGE_PROGRAMMED: EventMask = EventMask(1 << 1);
    /// [`Event::BlockErased`].
    pub const BLOCK_ERASED: EventMask = EventMask(1 << 2);
    /// [`Event::PageTrimmed`].
    pub const PAGE_TRIMMED: EventMask = EventMask(1 << 3);
    /// [`Event::HostRead`].
    pub const HOST_READ: EventMask = EventMask(1 << 4);
    /// [`Event::BlockOpened`].
    pub const BLOCK_OPENED: EventMask = EventMask(1 << 5);
    /// [`Event::BlockCollected`].
    pub const BLOCK_COLLECTED: EventMask = EventMask(1 << 6);
    /// [`Event::PageInvalidated`].
    pub const PAGE_INVALIDATED: EventMask = EventMask(1 << 7);
    /// [`Event::PageAllocated`].
    pub const PAGE_ALLOCATED: EventMask = EventMask(1 << 8);
    /// [`Event::PlaneChanged`].
    pub const PLANE_CHANGED: EventMask = EventMask(1 << 9);
    /// [`Event::NoSpace`].
    pub const NO_SPACE: EventMask = EventMask(1 << 10);
    /// [`Event::JobEnded`].
    pub const JOB_ENDED: EventMask = EventMask(1 << 11);
    /// [`Event::Timer`].
    pub const TIMER: EventMask = EventMask(1 << 12);
    /// [`Event::CountsReset`].
    pub const COUNTS_RESET: EventMask = EventMask(1 << 13);
    /// [`Event::RequestArrived`].
    pub const REQUEST_ARRIVED: EventMask = EventMask(1 << 14);
    /// [`Event::RequestEnded`].
    pub const REQUEST_ENDED: EventMask = EventMask(1 << 15);
    /// [`Event::PageBuffered`].
    pub const PAGE_BUFFERED: EventMask = EventMask(1 << 16);
    /// [`Event::PageEvicted`].
    pub const PAGE_EVICTED: EventMask = EventMask(1 << 17);
    /// [`Event::EntriesLoaded`].
    pub const ENTRIES_LOADED: EventMask = EventMask(1 << 18);
    /// [`Event::MigrationBegan`].
    pub const MIGRATION_BEGAN: EventMask = EventMask(1 << 19);
    /// [`Event::PageMigrated`].
    pub const PAGE_MIGRATED: EventMask = EventMask(1 << 20);
    /// [`Event::BlockClosed`].
    pub const BLOCK_CLOSED: EventMask = EventMask(1 << 21);
    /// [`Event::BlockFreed`].
    pub const BLOCK_FREED: EventMask = EventMask(1 << 22);
    /// [`Event::LowSpace`].
    pub const LOW_SPACE: EventMask = EventMask(1 << 23);
    /// [`Event::BufferHit`].
    pub const BUFFER_HIT: EventMask = EventMask(1 << 24);
    /// [`Event::PageUnbuffered`].
    pub const PAGE_UNBUFFERED: EventMask = EventMask(1 << 25);
    /// [`Event::BufferFlushed`].
    pub const BUFFER_FLUSHED: EventMask = EventMask(1 << 26);
    /// [`Event::UsesKnown`].
    pub const USES_KNOWN: EventMask = EventMask(1 << 27);
    /// [`Event::JobDropped`].
    pub const JOB_DROPPED: EventMask = EventMask(1 << 28);
    /// [`Event::RoundDue`].
    pub const ROUND_DUE: EventMask = EventMask(1 << 29);
    /// [`Event::DriveStarted`].
    pub const DRIVE_STARTED: EventMask = EventMask(1 << 30);

    /// The four kinds that tell an eviction policy about the slots of the buffer.
    pub const BUFFER_SLOTS: EventMask = EventMask::PAGE_BUFFERED
        .and(EventMask::BUFFER_HIT)
        .and(EventMask::PAGE_UNBUFFERED)
        .and(EventMask::BUFFER_FLUSHED);

    /// The kinds that placements and background policies can learn from while the start of a drive
    /// is drawn. The model plane publishes them, or none occurs before the start. Its time stands
    /// still.
    pub const DRAWN_START: EventMask = EventMask::BLOCK_OPENED
        .and(EventMask::BLOCK_CLOSED)
        .and(EventMask::BLOCK_COLLECTED)
        .and(EventMask::BLOCK_ERASED)
        .and(EventMask::PAGE_PROGRAMMED)
        .and(EventMask::PAGE_INVALIDATED)
        .and(EventMask::PAGE_MIGRATED)
        .and(EventMask::PAGE_TRIMMED)
        .and(EventMask::DRIVE_STARTED)
        .and(EventMask::COUNTS_RESET);

    /// Not a kind of event. Asks that [`Event::PageRead`] holds the number of errors, which takes
    /// time to compute.
    pub const READ_ERRORS: EventMask = EventMask(1 << 63);

    /// Not a kind of event. Asks that [`Event::PageRead`] holds the age of the data and the P/E
    /// cycles of the block.
    pub const READ_AGES: EventMask = EventMask(1 << 62);

    /// Number of kinds.
    pub const KINDS: usize = 31;

    /// Returns each kind as a set of its own.
    pub fn all() -> impl Iterator<Item = EventMask> {
        (0..EventMask::KINDS).map(|kind| EventMask(1 << kind))
    }

    /// Returns the number of the first kind in the set, in the order of [`EventMask::all`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0.trailing_zeros() as usize
    }

    /// Returns the kind of event that the drive publishes when an operation of this kind ends.
    #[inline]
    pub const fn of_operation(kind: OpKind) -> EventMask {
        // The first three kinds have the order of `OpKind`.
        EventMask(1 << kind as u32)
    }

    /// Returns the union of two sets.
    #[must_use]
    pub const fn and(self, other: EventMask) -> EventMask {
        EventMask(self.0 | other.0)
    }

    /// Returns whether every kind of the set is in another one.
    pub const fn is_within(self, other: EventMask) -> bool {
        self.0 & !other.0 == 0
    }

    /// Returns whether two sets have a kind in common.
    #[inline]
    pub const fn has(self, any_of: EventMask) -> bool {
        self.0 & any_of.0 != 0
    }
}

impl Event<'_> {
    /// Returns the kind of the event.
    pub const fn kind(&self) -> EventMask {
        match self {
            Event::DriveStarted => EventMask::DRIVE_STARTED,
            Event::RequestArrived { .. } => EventMask::REQUEST_ARRIVED,
            Event::RequestEnded { .. } => EventMask::REQUEST_ENDED,
            Event::PageBuffered { .. } => EventMask::PAGE_BUFFERED,
            Event::PageEvicted { .. } => EventMask::PAGE_EVICTED,
            Event::EntriesLoaded { .. } => EventMask::ENTRIES_LOADED,
            Event::MigrationBegan(_) => EventMask::MIGRATION_BEGAN,
            Event::PageMigrated(_) => EventMask::PAGE_MIGRATED,
            Event::BlockClosed(_) => EventMask::BLOCK_CLOSED,
            Event::BlockFreed(_) => EventMask::BLOCK_FREED,
            Event::PageRead(_) => EventMask::PAGE_READ,
            Event::PageProgrammed(_) => EventMask::PAGE_PROGRAMMED,
            Event::PageInvalidated { .. } => EventMask::PAGE_INVALIDATED,
            Event::PageTrimmed(_) => EventMask::PAGE_TRIMMED,
            Event::HostRead(_) => EventMask::HOST_READ,
            Event::BlockOpened(_) => EventMask::BLOCK_OPENED,
            Event::BlockCollected(_) => EventMask::BLOCK_COLLECTED,
            Event::BlockErased(_) => EventMask::BLOCK_ERASED,
            Event::PageAllocated { .. } => EventMask::PAGE_ALLOCATED,
            Event::PlaneChanged { .. } => EventMask::PLANE_CHANGED,
            Event::NoSpace { .. } => EventMask::NO_SPACE,
            Event::LowSpace { .. } => EventMask::LOW_SPACE,
            Event::BufferHit { .. } => EventMask::BUFFER_HIT,
            Event::PageUnbuffered { .. } => EventMask::PAGE_UNBUFFERED,
            Event::BufferFlushed => EventMask::BUFFER_FLUSHED,
            Event::UsesKnown(_) => EventMask::USES_KNOWN,
            Event::JobEnded(_) => EventMask::JOB_ENDED,
            Event::JobDropped(_) => EventMask::JOB_DROPPED,
            Event::Timer => EventMask::TIMER,
            Event::RoundDue(_) => EventMask::ROUND_DUE,
            Event::CountsReset => EventMask::COUNTS_RESET,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_event_is_a_bit_of_its_own() {
        let kinds: Vec<EventMask> = EventMask::all().collect();
        for (at, kind) in kinds.iter().enumerate() {
            assert!(kind.has(*kind) && !EventMask::NONE.has(*kind));
            assert!(kinds[at + 1..].iter().all(|other| !kind.has(*other)), "{at}");
            assert_eq!(kind.index(), at);
        }
        let ended = [OpKind::Read, OpKind::Program, OpKind::Erase].map(EventMask::of_operation);
        let kinds = [EventMask::PAGE_READ, EventMask::PAGE_PROGRAMMED, EventMask::BLOCK_ERASED];
        assert_eq!(ended, kinds);
    }
}
