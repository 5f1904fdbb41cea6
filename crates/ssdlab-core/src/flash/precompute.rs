//! The steps of lookahead: starts programs whose ends are known, and fails attempts without an
//! event.

use ssdlab_base::{Nanos, SimTime};

use super::channels::Server;
use super::unit::{State, Unit};
use super::{Flash, TxnId, UnitId};
use crate::account::{OpKind, Part};

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
        let fails = self.setup.holds_until_decoded() && by_one && self.cells.attempts_take_time();
        let programs = !setup.may_suspend && !probed_at;
        if fails || programs && !self.setup.holds_until_decoded() {
            self.lookahead.enable(fails, programs, self.channels.busy(now), now);
        }
    }

    /// Reserves the bus for a page and, for a read that its unit holds until it has decoded, the
    /// engine.
    #[inline(always)]
    pub(super) fn reserve(&mut self, channel: usize, id: TxnId, now: SimTime) {
        let txn = self.txns.get_mut(id);
        self.lookahead.reserve(channel, txn, &self.cells, &self.setup.moves, now);
        let decodes = self.lookahead.precomputes_failures() && txn.kind == OpKind::Read;
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

    /// Starts the program of a unit's incoming pages, which nothing interrupts.
    pub(super) fn precompute_program(&mut self, id: UnitId, head: TxnId, now: SimTime) {
        let channel = usize::from(self.units[id].channel);
        let mut longest = Nanos::ZERO;
        self.for_members(head, |flash, member| {
            let txn = flash.txns.get_mut(member);
            flash.lookahead.reserve(channel, txn, &flash.cells, &flash.setup.moves, now);
            longest = longest.max(flash.cells.program_time(txn));
        });
        let loaded = self.lookahead.bus_is_free(channel);
        // The first pages wait for the bus to transfer the others.
        self.for_members(head, |flash, member| flash.txns.charge(member, Part::Bus, loaded));
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
        self.lookahead.fired(now, id.index());
        let unit = &mut self.units[id];
        let txn = self.txns.get_mut(unit.head);
        txn.charge(Part::Sense, now);
        let channel = usize::from(unit.channel);
        self.lookahead.reserve_read(channel, txn, &self.cells, &self.setup.moves, now);
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
        if self.lookahead.precomputes_failures() && self.setup.reads_pass {
            self.undo_lookahead(id, now);
        }
    }

    #[inline(never)]
    fn undo_lookahead(&mut self, id: UnitId, now: SimTime) {
        let unit = &self.units[id];
        if !self.lookahead.has_yet_to_fail(unit, self.channels.engine_slot(unit.channel.into())) {
            return;
        }
        let (head, channel) = (unit.head, usize::from(unit.channel));
        let txn = self.txns.get_mut(head);
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

    /// Returns the attempts that were counted as failed and have yet to fail.
    pub(super) fn retries_to_come(&self) -> u64 {
        let to_come = |unit: &Unit| {
            let engine = self.channels.engine_slot(unit.channel.into());
            self.lookahead.has_yet_to_fail(unit, engine)
        };
        self.units.iter().filter(|(_, unit)| to_come(unit)).count() as u64
    }
}
