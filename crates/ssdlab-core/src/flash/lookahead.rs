//! Lookahead: times that are computed in advance instead of event by event, once a read is sensed
//! or a program begins.
//!
//! A bus and an ECC engine serve in order, so each end of service is known at the request. The
//! sensing after a failed attempt is known, unless a read arrives before it that may overtake. The
//! end of a program that nothing interrupts is known. Lookahead reduces the number of events;
//! results stay identical to the bit.

use ssdlab_base::{Nanos, SimTime};

use super::txn::Txn;
use super::unit::{State, Unit};
use super::{Cells, Moved};
use crate::account::{OpKind, Part};

/// The times until which a channel is reserved.
#[derive(Clone, Copy, Debug, Default)]
struct Reservation {
    /// When its bus and its ECC engine become free.
    bus: SimTime,
    engine: SimTime,
    /// Nanoseconds of the bus, reserved ones included.
    carried: u64,
}

impl Reservation {
    /// Returns the busy nanoseconds of the bus until `now`. Reserved time begins now and has no
    /// gaps.
    fn busy(&self, now: SimTime) -> u64 {
        self.carried - self.bus.saturating_since(now).as_ns()
    }

    /// Reserves the bus for `span`; returns the start of the reservation.
    #[inline]
    fn carry(&mut self, span: Nanos, now: SimTime) -> SimTime {
        let begins = self.bus.max(now);
        self.bus = begins + span;
        self.carried += span.as_ns();
        begins
    }

    /// Reserves bus and engine for a read, and charges the read with its transfer and decoding.
    #[inline(always)]
    fn read(&mut self, txn: &mut Txn, cells: &Cells, moves: &[Moved], now: SimTime) {
        let begins = self.carry(cells.read_transfer(txn, moves), now);
        self.engine = self.engine.max(self.bus) + cells.decode_time(txn);
        if txn.failed == 0 {
            txn.charge(Part::Bus, begins);
            txn.charge(Part::Transfer, self.bus);
        }
        txn.charge(Part::Decode, self.engine);
    }
}

/// What is computed in advance, and the reserved times of the channels.
#[derive(Clone, Debug)]
pub struct Lookahead {
    /// The reserved times of each channel; empty while lookahead is off.
    reservations: Box<[Reservation]>,
    precomputes_failures: bool,
    precomputes_programs: bool,
    /// The time of the last event, and the last slot that fired at that time.
    fired: (SimTime, usize),
}

impl Default for Lookahead {
    fn default() -> Lookahead {
        Lookahead {
            reservations: Box::default(),
            precomputes_failures: false,
            precomputes_programs: false,
            // No attempt has begun, so none can still fail.
            fired: (SimTime::START, usize::MAX),
        }
    }
}

impl Lookahead {
    /// Turns lookahead on from now. `failures` and `programs` say what is computed in advance,
    /// `busy` holds the busy nanoseconds of every bus until now, which still count.
    pub(super) fn enable(&mut self, failures: bool, programs: bool, busy: Vec<u64>, now: SimTime) {
        let begin = |carried| Reservation { carried, ..Reservation::default() };
        self.reservations = busy.into_iter().map(begin).collect();
        (self.precomputes_failures, self.precomputes_programs) = (failures, programs);
        self.all_fired(now);
    }

    /// Returns whether lookahead is on.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.reservations.is_empty()
    }

    /// Returns whether failures of attempts and ends of decoding are computed in advance.
    pub(super) fn precomputes_failures(&self) -> bool {
        self.precomputes_failures
    }

    /// Returns whether the end of a program is computed when its page starts to move to the unit.
    pub(super) fn precomputes_programs(&self) -> bool {
        self.precomputes_programs
    }

    /// Records that all events up to and including `at` have happened.
    pub(crate) fn all_fired(&mut self, at: SimTime) {
        self.fired(at, usize::MAX);
    }

    /// Records that a slot's event has happened, and all before it.
    #[inline]
    pub(super) fn fired(&mut self, now: SimTime, slot: usize) {
        if self.precomputes_failures {
            self.fired = self.fired.max((now, slot));
        }
    }

    /// Returns whether a unit is in state `Sensing` although its attempt before has yet to fail.
    /// The attempt fails when its channel's engine fires, whose slot is `engine`.
    pub(super) fn has_yet_to_fail(&self, unit: &Unit, engine: usize) -> bool {
        unit.state == State::Sensing && (unit.fails_at, engine) > self.fired
    }

    /// Reserves bus and engine for a transaction, and charges it with all its time there.
    #[inline(always)]
    pub(super) fn reserve(
        &mut self,
        channel: usize,
        txn: &mut Txn,
        cells: &Cells,
        moves: &[Moved],
        now: SimTime,
    ) {
        let span = match txn.kind {
            OpKind::Read if self.precomputes_failures => {
                return self.reserve_read(channel, txn, cells, moves, now);
            }
            OpKind::Read => cells.read_transfer(txn, moves),
            _ => moves[txn.sectors as usize].time,
        };
        let reservation = &mut self.reservations[channel];
        let begins = reservation.carry(span, now);
        txn.charge(Part::Bus, begins);
        txn.charge(Part::Transfer, reservation.bus);
    }

    /// Reserves bus and engine for a read that its unit holds until it has decoded.
    #[inline(always)]
    pub(super) fn reserve_read(
        &mut self,
        channel: usize,
        txn: &mut Txn,
        cells: &Cells,
        moves: &[Moved],
        now: SimTime,
    ) {
        self.reservations[channel].read(txn, cells, moves, now);
    }

    /// Returns when a channel's bus becomes free.
    #[inline]
    pub(super) fn bus_is_free(&self, channel: usize) -> SimTime {
        self.reservations[channel].bus
    }

    /// Returns the busy nanoseconds of every bus until `now`.
    pub(super) fn busy(&self, now: SimTime) -> Vec<u64> {
        self.reservations.iter().map(|reservation| reservation.busy(now)).collect()
    }
}
