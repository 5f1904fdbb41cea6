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
use crate::account::{BlockProbe, Cause, Op, Priority, RequestAttrs, Uses};
pub use crate::actions::{Action, Actions};
use crate::allocation::{BlockClass, StreamId, Writer};
use crate::component::Components;
pub use crate::event_mask::EventMask;

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

/// The context of an event: the time, the components, and a list for the policy's actions.
#[derive(Debug)]
pub struct EventContext<'a> {
    /// The current simulated time.
    pub now: SimTime,
    /// The current time on the cells' clock, which runs `flash.time_scale` times as fast.
    pub cell_time: CellTime,
    /// The metadata components that the drive keeps. Components see none.
    pub components: Components<'a>,
    /// The actions that the policy requests.
    pub actions: &'a mut Actions,
}

impl<'a> EventContext<'a> {
    /// Returns the context of an event before a run begins: both clocks show their start.
    pub fn before_run(actions: &'a mut Actions) -> EventContext<'a> {
        let (now, cell_time, components) = (SimTime::START, CellTime::START, Components::NONE);
        EventContext { now, cell_time, components, actions }
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
        /// The host's own number for the request.
        tag: u64,
        /// The kind of the request.
        op: Op,
        /// The page of its first sector.
        first: Lpn,
        /// The attributes of the request.
        request: &'a RequestAttrs,
    },
    /// A request has ended.
    RequestEnded {
        /// The host's own number for the request.
        tag: u64,
        /// The kind of the request.
        op: Op,
        /// The page of its first sector.
        first: Lpn,
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
    /// The drive has dropped a migration that a policy asked for by [`Action::MigratePage`]. The
    /// page is not mapped, was written meanwhile or could not be decoded, or no block of the class
    /// has room.
    MigrationDropped(Lpn),
    /// An operation has programmed a page that was written elsewhere or trimmed meanwhile. The
    /// block holds no valid copy of it.
    ProgramOutdated {
        /// The logical page.
        lpn: Lpn,
        /// The block.
        block: BlockId,
    },
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
            Event::MigrationDropped(_) => EventMask::MIGRATION_DROPPED,
            Event::ProgramOutdated { .. } => EventMask::PROGRAM_OUTDATED,
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
