//! What policies learn, and what they ask for: events come in, actions go out.
//!
//! A policy names the kinds of event that it wants ([`Policy::events`](super::Policy::events)). The
//! drive tells it of these alone, so that an event that nobody wants costs nothing. What a policy
//! wants done beyond its direct choice it adds to the [`Actions`]; the drive decides when, and
//! carries them out for all policies.

use std::fmt;

use ssdlab_base::{CellTime, Nanos, SimTime};
use ssdlab_nand::{BlockId, Level, Lpn, PageInBlock, PlaneId};

use super::background::{BlockEstimate, EndedJob, HostRead, Job};
use crate::account::{BlockProbe, Cause, Op, OpKind, Priority, RequestAttrs, Uses};
pub use crate::actions::{Action, Actions};
use crate::allocation::{BlockClass, StreamId, Writer};

/// A page that a read has sensed, whoever asked for it.
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
    /// The level at which it decoded; the last one also if it did not.
    pub level: Level,
    /// Whether the first attempt decoded.
    pub first_try: bool,
    /// Raw bit errors of a codeword, as the decoder counted them; 0 unless a policy or component
    /// subscribes to [`EventMask::READ_ERRORS`].
    pub errors: u32,
    /// Whether the page map holds the page. A page that it does not hold counts as written before
    /// the start.
    pub mapped: bool,
    /// What it was read for.
    pub cause: Cause,
    /// P/E cycles of the block; 0 unless a policy or component subscribes to
    /// [`EventMask::READ_AGES`].
    pub pe_cycles: u32,
    /// Time since the first page of the block was written after its last erase; 0 unless a policy
    /// or component subscribes to [`EventMask::READ_AGES`].
    pub age: Nanos,
}

/// A page that was programmed, whoever wrote it.
#[derive(Clone, Copy, Debug)]
pub struct Programmed {
    /// The logical page.
    pub lpn: Lpn,
    /// Its block.
    pub block: BlockId,
    /// Its place in the block.
    pub page: PageInBlock,
    /// What it was written for.
    pub cause: Cause,
    /// The present moment on the cells' clock.
    pub cell_time: CellTime,
}

/// A block that gets its first page since it was erased.
#[derive(Clone, Copy, Debug)]
pub struct BlockOpened {
    /// The block.
    pub block: BlockId,
    /// Who writes it.
    pub writer: Writer,
    /// The stream of its pages.
    pub stream: StreamId,
}

/// A page whose newest copy is now in another block.
#[derive(Clone, Copy, Debug)]
pub struct Migrated {
    /// The logical page.
    pub lpn: Lpn,
    /// The block that held it.
    pub from: BlockId,
    /// The block that holds it.
    pub to: BlockId,
    /// What it was moved for.
    pub cause: Cause,
    /// Whether it moved by itself, not with its block.
    pub alone: bool,
}

/// A block that has been erased and is about to join the free ones.
#[derive(Clone, Copy, Debug)]
pub struct FreedBlock<'a> {
    /// The block.
    pub block: BlockId,
    /// Its class until now.
    pub class: BlockClass,
    /// Its P/E cycles, this one included.
    pub pe_cycles: u32,
    /// P/E cycles for which an erase counts.
    pub cycles_per_erase: u32,
    /// The present moment on the cells' clock.
    pub cell_time: CellTime,
    /// Whether its plane has the free blocks that jobs need without it.
    pub has_spare: bool,
    /// Probes the block.
    pub probe: Probe<'a>,
}

/// Probes a block: what a controller finds when it erases, programs and reads the block at so many
/// P/E cycles. A component learns of its worst page, too ([`BlockProbe::worst`]).
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

/// What a policy that works in rounds may look at when the next one is due.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// The full blocks that no job empties or is to empty.
    pub full: &'a [BlockEstimate],
    /// Whether a policy levels wear across priorities now. Relocations wait until it has ended.
    pub levels_across: bool,
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A request has arrived and was accepted.
    RequestArrived {
        /// What the host asks for.
        op: Op,
        /// What is known of it.
        request: &'a RequestAttrs,
        /// The present moment.
        now: SimTime,
    },
    /// A request has ended.
    RequestEnded {
        /// What the host asked for.
        op: Op,
        /// Its submission queue's priority.
        priority: Priority,
        /// Time since it arrived.
        latency: Nanos,
    },
    /// A page has come into the buffer, read or written.
    PageBuffered {
        /// The logical page.
        lpn: Lpn,
        /// Its slot in the buffer.
        slot: u32,
        /// Whether it was written.
        written: bool,
    },
    /// The host reads or writes a page that the buffer holds.
    BufferHit {
        /// The logical page.
        lpn: Lpn,
        /// Its slot.
        slot: u32,
        /// Whether it is written.
        written: bool,
    },
    /// The buffer holds a page no longer: it was evicted or trimmed.
    PageUnbuffered {
        /// The logical page.
        lpn: Lpn,
        /// The slot that it had.
        slot: u32,
    },
    /// A flush programs all pages of the buffer that were written. They stay in the buffer, clean.
    BufferFlushed,
    /// A page has left the buffer, or a flush programs it.
    PageEvicted {
        /// The logical page.
        lpn: Lpn,
        /// How often it was read and written since it came.
        uses: Uses,
    },
    /// The map cache has loaded the entries of consecutive logical pages.
    EntriesLoaded {
        /// The first of them.
        first: Lpn,
        /// How many.
        count: u32,
    },
    /// An operation has read a page.
    PageRead(&'a ReadOutcome),
    /// An operation has programmed a page.
    PageProgrammed(&'a Programmed),
    /// A block that held this page holds it no longer, for it was written elsewhere or trimmed.
    PageInvalidated {
        /// The logical page.
        lpn: Lpn,
        /// The block.
        block: BlockId,
    },
    /// The host has trimmed a page.
    PageTrimmed(Lpn),
    /// An oracle: how often the run will read and write each page. It comes before the run.
    UsesKnown(&'a PageUses),
    /// The host has read a page from the flash that is mapped and can be decoded. A policy may
    /// answer with [`Action::MigratePage`].
    HostRead(&'a HostRead),
    /// The drive begins to move a page, as a policy asked by [`Action::MigratePage`].
    MigrationBegan(Lpn),
    /// A page has moved to another block.
    PageMigrated(&'a Migrated),
    /// A block gets its first page.
    BlockOpened(&'a BlockOpened),
    /// The last page of a block that had one left has been programmed.
    BlockClosed(BlockId),
    /// A job begins to empty a block.
    BlockCollected(BlockId),
    /// A block has been erased.
    BlockErased(BlockId),
    /// A block is about to join the free ones: [`Action::SetClass`] and [`Action::SetTurn`] take
    /// effect at once.
    BlockFreed(&'a FreedBlock<'a>),
    /// A page that the host wrote, or that left the buffer, was given a place.
    PageAllocated {
        /// The plane on which it lies.
        plane: PlaneId,
        /// The class of block that the hint asks for; a scheduler with a window may have promised
        /// it.
        class: BlockClass,
        /// When its request arrived.
        arrival: SimTime,
    },
    /// A page that is to be programmed for the host found no room on a plane and goes to another.
    PlaneChanged {
        /// The plane without room.
        from: PlaneId,
        /// The plane to which it goes.
        to: PlaneId,
        /// When its request arrived.
        arrival: SimTime,
    },
    /// A page should have moved to this class of a plane, which has no page left. Background
    /// policies are asked for jobs next.
    NoSpace {
        /// The plane.
        plane: PlaneId,
        /// The class.
        class: BlockClass,
    },
    /// A block was opened on a plane, which has fewer free blocks left than background policies
    /// keep free.
    LowSpace {
        /// The plane.
        plane: PlaneId,
        /// The free blocks left.
        free_blocks: u32,
    },
    /// A job has ended.
    JobEnded(EndedJob),
    /// A relocation that the policy asked for has not begun and will not: its block was erased or
    /// is being written, the policy's next round is due, or the drive is saved. The policy may ask
    /// again.
    JobDropped(Job),
    /// The policy's timer, which it has set by [`Action::SetTimer`], has come due.
    Timer,
    /// The policy's next round is due. The drive drops relocations that it asked for and that have
    /// not begun.
    RoundDue(Round<'a>),
    /// Statistics begin anew.
    CountsReset,
}

/// The kinds of event, a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventMask(u32);

impl EventMask {
    /// No event.
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

    /// What an eviction policy learns of the slots of the buffer: all four kinds.
    pub const BUFFER_SLOTS: EventMask = EventMask::PAGE_BUFFERED
        .and(EventMask::BUFFER_HIT)
        .and(EventMask::PAGE_UNBUFFERED)
        .and(EventMask::BUFFER_FLUSHED);

    /// No kind of event: asks that [`Event::PageRead`] holds the number of errors, which takes time
    /// to compute.
    pub const READ_ERRORS: EventMask = EventMask(1 << 31);

    /// No kind of event: asks that [`Event::PageRead`] holds the age of the data and the P/E cycles
    /// of the block.
    pub const READ_AGES: EventMask = EventMask(1 << 30);

    /// How many kinds there are.
    pub const KINDS: usize = 30;

    /// Each kind by itself.
    pub fn all() -> impl Iterator<Item = EventMask> {
        (0..EventMask::KINDS).map(|kind| EventMask(1 << kind))
    }

    /// The number of the first of these kinds, in the order of [`EventMask::all`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0.trailing_zeros() as usize
    }

    /// The kind of event that an operation on the flash is as it ends.
    #[inline]
    pub const fn of_operation(kind: OpKind) -> EventMask {
        // In the order of the kinds of operation.
        EventMask(1 << kind as u32)
    }

    /// These kinds and those.
    #[must_use]
    pub const fn and(self, other: EventMask) -> EventMask {
        EventMask(self.0 | other.0)
    }

    /// Whether one of these kinds is among them.
    #[inline]
    pub const fn has(self, any_of: EventMask) -> bool {
        self.0 & any_of.0 != 0
    }
}

impl Event<'_> {
    /// Its kind.
    pub const fn kind(&self) -> EventMask {
        match self {
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
