//! Lookahead: times that are computed in advance instead of event by event, once a read is sensed
//! or a program begins.
//!
//! A bus and an ECC engine serve in order, so each end of service is known at the request. The
//! sensing after a failed attempt is known, unless a read arrives before it that may overtake. The
//! end of a program that nothing interrupts is known. Lookahead reduces the number of events;
//! results stay identical to the bit.

use ssdlab_base::{Nanos, SimTime};

use super::channels::Server;
use super::unit::{State, Unit};
use super::{Cells, Flash, Moved, Txn, TxnId, UnitId};
use crate::account::{OpKind, Part};

/// The times until which a channel is reserved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reservation {
    /// When its bus and its ECC engine become free.
    bus: SimTime,
    engine: SimTime,
    /// Nanoseconds of the bus, reserved ones included.
    carried: u64,
}

impl Reservation {
    /// Returns the busy nanoseconds of the bus until `now`. Reserved time begins now and has no
    /// gaps.
    pub fn busy(&self, now: SimTime) -> u64 {
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

impl Flash {
    /// Turns lookahead on from now, if this back end permits it; no operation may be in progress.
    /// `by_one` says that reads climb the ladder level by level, `probed_at` that a scheduler
    /// inspects units.
    pub fn enable_lookahead(&mut self, by_one: bool, probed_at: bool, now: SimTime) {
        let setup = &self.setup;
        let in_order = !setup.data_out_first && setup.command_time == Nanos::ZERO;
        if setup.pipelined_retry.is_some() || !in_order || self.timeline.is_on() {
            return;
        }
        let fails = self.holds_until_decoded() && by_one && self.cells.attempts_take_time();
        let programs = !setup.may_suspend && !probed_at;
        if fails || programs && !self.holds_until_decoded() {
            // The busy time of the buses before now still counts.
            let begin = |carried| Reservation { carried, ..Reservation::default() };
            self.reservations = self.channels.busy(now).into_iter().map(begin).collect();
            (self.precomputes_failures, self.precomputes_programs) = (fails, programs);
            self.all_fired(now);
        }
    }

    /// Returns whether lookahead is on.
    #[inline]
    pub fn looks_ahead(&self) -> bool {
        !self.reservations.is_empty()
    }

    /// Reserves the bus for a page and, for a read that its unit holds until it has decoded, the
    /// engine.
    #[inline(always)]
    pub(super) fn reserve(&mut self, channel: usize, id: TxnId, now: SimTime) {
        self.charge_reserved(channel, id, now);
        let decodes = self.precomputes_failures && self.txns[id].kind == OpKind::Read;
        let (slot, link) = if decodes {
            (self.channels.engine_slot(channel), &mut self.channels[channel].engine)
        } else {
            (self.channels.bus_slot(channel), &mut self.channels[channel].bus)
        };
        let is_first = link.request_until(&mut self.txns, id);
        if is_first {
            self.timers.set(slot, self.txns[id].since);
        }
    }

    /// Reserves bus and engine for a transaction, and charges it with all its time there.
    #[inline(always)]
    fn charge_reserved(&mut self, channel: usize, id: TxnId, now: SimTime) {
        let (reservation, txn) = (&mut self.reservations[channel], &mut self.txns[id]);
        let moves = &self.setup.moves;
        let span = match txn.kind {
            OpKind::Read if self.precomputes_failures => {
                return reservation.read(txn, &self.cells, moves, now);
            }
            OpKind::Read => self.cells.read_transfer(txn, moves),
            _ => moves[txn.sectors as usize].time,
        };
        let begins = reservation.carry(span, now);
        txn.charge(Part::Bus, begins);
        txn.charge(Part::Transfer, reservation.bus);
    }

    /// Starts the program of a unit's incoming pages, which nothing interrupts.
    pub(super) fn precompute_program(&mut self, id: UnitId, head: TxnId, now: SimTime) {
        let channel = usize::from(self.units[id].channel);
        let mut longest = Nanos::ZERO;
        self.for_members(head, |flash, member| {
            flash.charge_reserved(channel, member, now);
            longest = longest.max(flash.cells.program_time(&flash.txns[member]));
        });
        let loaded = self.reservations[channel].bus;
        // The first pages wait for the bus to transfer the others.
        self.for_members(head, |flash, member| flash.txns[member].charge(Part::Bus, loaded));
        self.perform(id, State::Programming, loaded, longest);
    }

    /// Processes attempts that fail without a report, as long as they are the next events and not
    /// later than `until`. The first is processed even if it is later. Returns the time of the last
    /// one, if the next event is later than `until`.
    #[inline]
    pub(super) fn fire_precomputed(&mut self, until: SimTime) -> Option<SimTime> {
        let (mut time, mut slot) = self.timers.next()?;
        while let Server::Unit(id) = self.channels.server(slot)
            && self.surely_fails(id)
        {
            self.precompute_failure(id, time);
            let failed = time;
            (time, slot) = self.timers.next()?;
            if time > until {
                return Some(failed);
            }
        }
        None
    }

    /// Returns whether a unit senses an attempt that will fail, and no operation now waiting may
    /// come between it and the next attempt.
    #[inline]
    fn surely_fails(&self, unit: UnitId) -> bool {
        let unit = &self.units[unit];
        if unit.state != State::Sensing {
            return false;
        }
        let txn = &self.txns[unit.head];
        let fails = txn.level < txn.level_needed && txn.level < self.cells.last_level();
        fails && !txn.sibling.is_some() && !self.is_overtaken(unit)
    }

    /// Fails the attempt of the unit whose timer is the earliest; the unit then senses at the next
    /// level after the failure.
    #[inline]
    fn precompute_failure(&mut self, id: UnitId, now: SimTime) {
        self.fired = self.fired.max((now, id.index()));
        let unit = &mut self.units[id];
        let txn = &mut self.txns[unit.head];
        txn.charge(Part::Sense, now);
        self.reservations[usize::from(unit.channel)].read(txn, &self.cells, &self.setup.moves, now);
        self.counts.retry();
        txn.failed += 1;
        (txn.pipelined_level, txn.level) = (txn.level, txn.level.next());
        unit.fails_at = txn.since;
        let sensed = txn.since + self.cells.sense_time(txn);
        self.timers.put_off(sensed);
    }

    /// Takes back a failure computed in advance, if the transaction that joined a unit's queues may
    /// overtake the read there.
    #[inline]
    pub(super) fn recheck_lookahead(&mut self, id: UnitId, now: SimTime) {
        if self.precomputes_failures && self.setup.reads_pass {
            self.undo_lookahead(id, now);
        }
    }

    #[inline(never)]
    fn undo_lookahead(&mut self, id: UnitId, now: SimTime) {
        let unit = &self.units[id];
        if !self.has_yet_to_fail(unit) {
            return;
        }
        let (head, channel) = (unit.head, usize::from(unit.channel));
        let txn = &mut self.txns[head];
        txn.failed -= 1;
        self.counts.take_back_retry();
        txn.level = txn.pipelined_level;
        self.set_state(id, State::Out, now);
        self.units[id].pending = 1;
        self.timers.set(id.index(), SimTime::NEVER);
        if self.channels[channel].engine.request_until(&mut self.txns, head) {
            let slot = self.channels.engine_slot(channel);
            self.timers.set(slot, self.txns[head].since);
        }
    }

    /// Returns whether a unit is in state `Sensing` although its attempt before has yet to fail.
    fn has_yet_to_fail(&self, unit: &Unit) -> bool {
        // The attempt fails when its channel's engine fires.
        let fails = (unit.fails_at, self.channels.engine_slot(unit.channel.into()));
        unit.state == State::Sensing && fails > self.fired
    }

    /// Returns the attempts that were counted as failed and have yet to fail.
    pub(super) fn retries_to_come(&self) -> u64 {
        self.units.iter().filter(|(_, unit)| self.has_yet_to_fail(unit)).count() as u64
    }
}
