//! Sets of kinds of event: what a policy subscribes to.

use crate::account::OpKind;

/// A set of kinds of event, one bit for each kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventMask(u64);

impl EventMask {
    /// The empty set.
    pub const NONE: EventMask = EventMask(0);
    /// [`Event::PageRead`](crate::event::Event::PageRead).
    pub const PAGE_READ: EventMask = EventMask(1);
    /// [`Event::PageProgrammed`](crate::event::Event::PageProgrammed).
    pub const PAGE_PROGRAMMED: EventMask = EventMask(1 << 1);
    /// [`Event::BlockErased`](crate::event::Event::BlockErased).
    pub const BLOCK_ERASED: EventMask = EventMask(1 << 2);
    /// [`Event::PageTrimmed`](crate::event::Event::PageTrimmed).
    pub const PAGE_TRIMMED: EventMask = EventMask(1 << 3);
    /// [`Event::HostRead`](crate::event::Event::HostRead).
    pub const HOST_READ: EventMask = EventMask(1 << 4);
    /// [`Event::BlockOpened`](crate::event::Event::BlockOpened).
    pub const BLOCK_OPENED: EventMask = EventMask(1 << 5);
    /// [`Event::BlockCollected`](crate::event::Event::BlockCollected).
    pub const BLOCK_COLLECTED: EventMask = EventMask(1 << 6);
    /// [`Event::PageInvalidated`](crate::event::Event::PageInvalidated).
    pub const PAGE_INVALIDATED: EventMask = EventMask(1 << 7);
    /// [`Event::PageAllocated`](crate::event::Event::PageAllocated).
    pub const PAGE_ALLOCATED: EventMask = EventMask(1 << 8);
    /// [`Event::PlaneChanged`](crate::event::Event::PlaneChanged).
    pub const PLANE_CHANGED: EventMask = EventMask(1 << 9);
    /// [`Event::NoSpace`](crate::event::Event::NoSpace).
    pub const NO_SPACE: EventMask = EventMask(1 << 10);
    /// [`Event::JobEnded`](crate::event::Event::JobEnded).
    pub const JOB_ENDED: EventMask = EventMask(1 << 11);
    /// [`Event::Timer`](crate::event::Event::Timer).
    pub const TIMER: EventMask = EventMask(1 << 12);
    /// [`Event::CountsReset`](crate::event::Event::CountsReset).
    pub const COUNTS_RESET: EventMask = EventMask(1 << 13);
    /// [`Event::RequestArrived`](crate::event::Event::RequestArrived).
    pub const REQUEST_ARRIVED: EventMask = EventMask(1 << 14);
    /// [`Event::RequestEnded`](crate::event::Event::RequestEnded).
    pub const REQUEST_ENDED: EventMask = EventMask(1 << 15);
    /// [`Event::PageBuffered`](crate::event::Event::PageBuffered).
    pub const PAGE_BUFFERED: EventMask = EventMask(1 << 16);
    /// [`Event::PageEvicted`](crate::event::Event::PageEvicted).
    pub const PAGE_EVICTED: EventMask = EventMask(1 << 17);
    /// [`Event::EntriesLoaded`](crate::event::Event::EntriesLoaded).
    pub const ENTRIES_LOADED: EventMask = EventMask(1 << 18);
    /// [`Event::MigrationBegan`](crate::event::Event::MigrationBegan).
    pub const MIGRATION_BEGAN: EventMask = EventMask(1 << 19);
    /// [`Event::PageMigrated`](crate::event::Event::PageMigrated).
    pub const PAGE_MIGRATED: EventMask = EventMask(1 << 20);
    /// [`Event::BlockClosed`](crate::event::Event::BlockClosed).
    pub const BLOCK_CLOSED: EventMask = EventMask(1 << 21);
    /// [`Event::BlockFreed`](crate::event::Event::BlockFreed).
    pub const BLOCK_FREED: EventMask = EventMask(1 << 22);
    /// [`Event::LowSpace`](crate::event::Event::LowSpace).
    pub const LOW_SPACE: EventMask = EventMask(1 << 23);
    /// [`Event::BufferHit`](crate::event::Event::BufferHit).
    pub const BUFFER_HIT: EventMask = EventMask(1 << 24);
    /// [`Event::PageUnbuffered`](crate::event::Event::PageUnbuffered).
    pub const PAGE_UNBUFFERED: EventMask = EventMask(1 << 25);
    /// [`Event::BufferFlushed`](crate::event::Event::BufferFlushed).
    pub const BUFFER_FLUSHED: EventMask = EventMask(1 << 26);
    /// [`Event::UsesKnown`](crate::event::Event::UsesKnown).
    pub const USES_KNOWN: EventMask = EventMask(1 << 27);
    /// [`Event::JobDropped`](crate::event::Event::JobDropped).
    pub const JOB_DROPPED: EventMask = EventMask(1 << 28);
    /// [`Event::RoundDue`](crate::event::Event::RoundDue).
    pub const ROUND_DUE: EventMask = EventMask(1 << 29);
    /// [`Event::DriveStarted`](crate::event::Event::DriveStarted).
    pub const DRIVE_STARTED: EventMask = EventMask(1 << 30);
    /// [`Event::MigrationDropped`](crate::event::Event::MigrationDropped).
    pub const MIGRATION_DROPPED: EventMask = EventMask(1 << 31);
    /// [`Event::ProgramOutdated`](crate::event::Event::ProgramOutdated).
    pub const PROGRAM_OUTDATED: EventMask = EventMask(1 << 32);

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

    /// Not a kind of event. Asks that [`Event::PageRead`](crate::event::Event::PageRead) holds the
    /// number of errors, which takes time to compute.
    pub const READ_ERRORS: EventMask = EventMask(1 << 63);

    /// Not a kind of event. Asks that [`Event::PageRead`](crate::event::Event::PageRead) holds the
    /// age of the data and the P/E cycles of the block.
    pub const READ_AGES: EventMask = EventMask(1 << 62);

    /// Number of kinds.
    pub const KINDS: usize = 33;

    /// Returns each kind as a set of its own.
    pub fn all() -> impl Iterator<Item = EventMask> {
        (0..EventMask::KINDS).map(|kind| EventMask(1 << kind))
    }

    /// Returns the number of the first kind in the set, in the order of [`EventMask::all`].
    pub const fn index(self) -> usize {
        self.0.trailing_zeros() as usize
    }

    /// Returns the kind of event that the drive publishes when an operation of this kind ends.
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
    pub const fn has(self, any_of: EventMask) -> bool {
        self.0 & any_of.0 != 0
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
