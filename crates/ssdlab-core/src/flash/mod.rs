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
//! [`Flash`] performs these steps. Its parts keep the state, and none of them knows [`Flash`]. The
//! files of [`Flash`] call only those below them:
//!
//! ```text
//! enqueue, readout, audit     the drive's ways in, the figures, the checks
//! service                     the steps of reads, programs and erases
//! precompute, suspension, pipelined_retry     what changes these steps
//! view, mod                   queries; the basic steps
//! ```
//!
//! The rest of the drive may look at transactions. It begins one with [`NewTxn`] and changes one by
//! the steps in `changes` only.
//!
//! Only this module asks the physics how long an operation takes and whether a read decodes.
//! Callers outside of the drive inspect blocks through its [`ChipInspector`].

mod audit;
mod cells;
mod census;
mod changes;
mod channels;
mod chip_inspector;
mod counts;
mod enqueue;
mod events;
mod fifo;
mod link;
mod lookahead;
mod pipelined_retry;
mod plane_queues;
mod precompute;
mod queues;
mod readout;
mod selector;
mod service;
mod setup;
mod suspension;
mod timeline;
mod txn;
mod unit;
mod units;
mod view;
mod work;

pub use cells::Cells;
pub(crate) use cells::{BlockHistory, Facts};
pub(crate) use census::Census;
pub use chip_inspector::{At, Attempt, ChipInspector, Read};
pub use counts::SuspendCounts;
pub(crate) use counts::{BusyTimes, Counts};
pub(crate) use events::{Events, FlashEvent};
pub(crate) use fifo::Fifo;
pub(crate) use link::Moved;
pub(crate) use lookahead::Lookahead;
pub(crate) use pipelined_retry::PipelinedRetry;
pub(crate) use plane_queues::HOST_RANKS;
pub use plane_queues::Rank;
pub(crate) use queues::Queues;
pub(crate) use selector::Next;
pub(crate) use setup::FlashSetup;
pub(crate) use timeline::Timeline;
pub use timeline::{Act, Span};
pub use txn::{NewTxn, Owner};
pub(crate) use txn::{Room, Txn, TxnId, Txns};
pub(crate) use unit::State;
pub use units::UnitId;
pub(crate) use units::Units;

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::Geometry;

use crate::timers::Timers;
use channels::Channels;
use selector::Selector;

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
    selector: Selector,
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
            selector: Selector::new(geometry, setup.max_passes),
            units,
            setup,
            geometry: geometry.clone(),
            timeline: Timeline::default(),
        }
    }

    /// Returns the time of the next event in the flash.
    pub fn next_event(&self) -> SimTime {
        self.timers.next().map_or(SimTime::NEVER, |(time, _)| time)
    }

    /// Records how long the unit has worked for each cause when a transaction begins to wait.
    pub(crate) fn note_wait(&mut self, id: TxnId, now: SimTime) {
        let txn = self.txns.get_mut(id);
        self.units.of_mut(txn.plane).note_wait(txn, now);
    }

    /// Ends a transaction's wait and divides it among the causes that its unit worked for.
    #[inline(always)]
    fn charge_wait(&mut self, id: TxnId, now: SimTime) {
        let txn = self.txns.get_mut(id);
        self.units.of_mut(txn.plane).charge_wait(txn, now);
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

    /// Sets the state of a unit from now on.
    #[inline]
    fn set_state(&mut self, id: UnitId, state: State, now: SimTime) {
        self.units[id].state = state;
        if self.timeline.is_on() {
            self.record_state(id, now);
        }
    }

    #[cold]
    fn record_state(&mut self, id: UnitId, now: SimTime) {
        self.timeline.unit_begins(id.index(), &self.units[id], &self.txns, now);
    }

    /// Sets the state of a unit, which ends after `span`.
    #[inline(always)]
    fn perform(&mut self, id: UnitId, state: State, now: SimTime, span: Nanos) {
        self.set_state(id, state, now);
        self.timers.set(id.index(), now + span);
    }

    /// Records the start of a program or an erase that takes `span`.
    fn begin_work(&mut self, id: UnitId, span: Nanos, now: SimTime) {
        if self.setup.may_suspend {
            self.units[id].begin_work(span, now);
        }
    }

    /// Frees a unit and lists it.
    #[inline(always)]
    fn free(&mut self, id: UnitId, now: SimTime) {
        let unit = &mut self.units[id];
        unit.count_busy(now);
        unit.head = TxnId::NONE;
        self.set_state(id, State::Idle, now);
        self.units.list(id);
    }
}
