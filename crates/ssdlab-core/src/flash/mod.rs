//! The flash back end: array units, channel buses and ECC engines, and the transactions in them.
//!
//! The drive enqueues transactions and selects the one that a free unit serves next. This module
//! performs the steps that follow:
//!
//! ```text
//! read      command (bus) → sense (unit) → transfer (bus) → decode (ECC) → done, or once more
//! program   command and transfer (bus) → program (unit) → done
//! erase     command (bus) → erase (unit) → done
//! ```
//!
//! Where the command time is zero, reads and erases begin at once.
//!
//! Only this module asks the physics how long an operation takes and whether a read decodes.
//! Callers outside of the drive inspect blocks through its [`ChipInspector`].

mod audit;
mod cells;
mod census;
mod channels;
mod chip_inspector;
mod counts;
mod events;
mod link;
mod lookahead;
mod pipelined_retry;
mod plane_queues;
mod precompute;
mod queues;
mod selector;
mod service;
mod setup;
mod suspension;
mod timeline;
mod txn;
mod unit;
mod units;
mod view;

pub use cells::{BlockHistory, Cells, Facts};
pub use census::Census;
pub use chip_inspector::{At, Attempt, ChipInspector, Read};
pub use counts::{BusyTimes, Counts, SuspendCounts};
pub use events::{Events, FlashEvent};
pub use link::Moved;
pub use lookahead::Lookahead;
pub use pipelined_retry::PipelinedRetry;
pub use plane_queues::{HOST_RANKS, Rank};
pub use queues::Queues;
pub use selector::Next;
pub use setup::FlashSetup;
pub use timeline::{Act, Span, Timeline};
pub use txn::{Fifo, Owner, Room, Txn, TxnId, Txns};
pub use unit::State;
pub use units::{UnitId, Units};

use ssdlab_base::SimTime;
use ssdlab_nand::{Geometry, PlaneId};

use crate::timers::Timers;
use channels::Channels;

/// The back end of a drive.
#[derive(Clone, Debug)]
pub struct Flash {
    /// All transactions of the drive.
    pub txns: Txns,
    /// The true state of the cells.
    pub cells: Cells,
    /// The counts since the last reset.
    pub counts: Counts,
    /// The events for the drive.
    pub events: Events,
    /// What is computed in advance.
    pub lookahead: Lookahead,
    /// The recorded activities.
    pub timeline: Timeline,
    /// The array units.
    pub units: Units,
    /// The waiting transactions.
    pub queues: Queues,
    setup: FlashSetup,
    geometry: Geometry,
    channels: Channels,
    timers: Timers,
}

impl Flash {
    /// Creates an idle back end.
    pub fn new(geometry: &Geometry, setup: FlashSetup, cells: Cells) -> Flash {
        let units = Units::new(geometry, setup.planes_per_unit);
        let channels = Channels::new(geometry.channels as usize, units.count());
        Flash {
            txns: Txns::default(),
            cells,
            counts: Counts::default(),
            events: Events::default(),
            queues: Queues::new(geometry.plane_count()),
            timers: Timers::new(channels.slots()),
            channels,
            lookahead: Lookahead::default(),
            units,
            setup,
            geometry: geometry.clone(),
            timeline: Timeline::default(),
        }
    }

    /// Returns the time of the next event in the flash.
    #[inline]
    pub fn next_event(&self) -> SimTime {
        self.timers.next().map_or(SimTime::NEVER, |(time, _)| time)
    }

    /// Assigns a transaction the next arrival number.
    #[inline]
    pub fn assign_seq(&mut self, id: TxnId) {
        self.queues.assign_seq(&mut self.txns[id]);
    }

    /// Assigns a transaction the arrival number of another; from now on transactions may share
    /// theirs.
    #[inline]
    pub fn inherit_seq(&mut self, id: TxnId, seq: u64) {
        self.queues.inherit_seq(&mut self.txns[id], seq);
    }

    /// Adds a transaction to its queue, at its position in the order of arrival.
    #[inline(always)]
    pub fn enqueue(&mut self, id: TxnId, rank: Rank, now: SimTime) {
        let txn = &mut self.txns[id];
        txn.plane_queue = rank.queue(txn.kind);
        self.enqueue_again(id, now);
    }

    /// Returns a transaction to its queue, before all that arrived later.
    #[inline(always)]
    pub fn enqueue_again(&mut self, id: TxnId, now: SimTime) {
        self.txns[id].sibling = TxnId::NONE;
        let unit = self.units.id_of(self.txns[id].plane);
        self.note_wait(id, now);
        self.queues.push(&mut self.txns, id);
        self.units[unit].waiting += 1;
        self.units.list(unit);
        self.recheck_lookahead(unit, now);
    }

    /// Records how long the unit has worked for each cause when a transaction begins to wait.
    #[inline]
    pub fn note_wait(&mut self, id: TxnId, now: SimTime) {
        let txn = &mut self.txns[id];
        self.units.of_mut(txn.plane).note_wait(txn, now);
    }

    /// Ends the wait of a transaction that leaves its queue for another one.
    pub fn wait_ends(&mut self, id: TxnId, now: SimTime) {
        self.charge_wait(id, now);
    }

    /// Ends a transaction's wait and divides it among the causes that its unit worked for.
    #[inline(always)]
    fn charge_wait(&mut self, id: TxnId, now: SimTime) {
        let txn = &mut self.txns[id];
        self.units.of_mut(txn.plane).charge_wait(txn, now);
    }

    /// Blocks or unblocks the host's programs on a plane.
    pub fn block_programs(&mut self, plane: PlaneId, blocked: bool) {
        self.queues.set_blocked(plane, blocked);
        if !blocked {
            self.units.list(self.units.id_of(plane));
        }
    }

    /// Unblocks the host's programs on all planes.
    pub fn unblock_all(&mut self) {
        for plane in (0..self.geometry.plane_count()).map(PlaneId) {
            if self.queues.blocks_programs(plane) {
                self.block_programs(plane, false);
            }
        }
    }

    /// Takes the first transaction of a queue of a plane.
    #[inline(always)]
    pub fn pop(&mut self, plane: PlaneId, queue: u8) -> TxnId {
        self.units.of_mut(plane).waiting -= 1;
        self.queues.pop(&mut self.txns, plane, queue)
    }

    /// Calls `act` for `head` and for each transaction served with it.
    #[inline(always)]
    fn for_members(&mut self, head: TxnId, mut act: impl FnMut(&mut Flash, TxnId)) {
        let mut member = head;
        while member.is_some() {
            // `act` may end the member, and its slot may be reused.
            let next = self.txns[member].sibling;
            act(self, member);
            member = next;
        }
    }

    /// Returns the numbers of retries, of reads that no level decoded, and of suspensions.
    pub fn error_counts(&self) -> (u64, u64, u64) {
        self.counts.errors(self.retries_to_come())
    }

    /// Returns the busy nanoseconds until `now` of every array unit and of every bus.
    pub fn busy(&self, now: SimTime) -> BusyTimes {
        let units = self.units.busy(now);
        let is_ahead = self.lookahead.is_on();
        let buses = if is_ahead { self.lookahead.busy(now) } else { self.channels.busy(now) };
        (units, buses)
    }

    /// Returns [`Flash::busy`] since the counts were last reset.
    pub fn busy_counted(&self, now: SimTime) -> BusyTimes {
        self.counts.busy(self.busy(now))
    }

    /// Counts a page that was read for the host, by its program mode.
    #[inline]
    pub fn count_read(&mut self, id: TxnId) {
        self.cells.count_read(&self.txns[id]);
    }

    /// Resets the counts of operations and busy times.
    pub fn reset_counts(&mut self, now: SimTime) {
        self.cells.reset_counts();
        self.counts.reset(self.retries_to_come(), self.busy(now));
    }
}
