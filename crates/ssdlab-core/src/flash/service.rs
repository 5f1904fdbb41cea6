//! The steps of a transaction after a unit has begun to serve it.

use ssdlab_base::{Nanos, SimTime};

use super::channels::Server;
use super::unit::{Pipelined, State};
use super::{Act, Flash, FlashEvent, TxnId, UnitId};
use crate::account::{OpKind, Part};

impl Flash {
    /// Starts the operation of `head` and of all transactions joined to it, all of one kind.
    ///
    /// Programs and reads must have their physical page, and reads their first level.
    #[inline(always)]
    pub fn start(&mut self, id: UnitId, head: TxnId, now: SimTime) {
        let unit = &mut self.units[id];
        debug_assert_eq!(unit.state, State::Idle);
        unit.count_busy(now);
        if self.setup.max_passes > 0 {
            self.count_pass(id, head);
        }
        let unit = &mut self.units[id];
        unit.head = head;
        unit.cause = self.txns[head].cause;
        unit.left = Nanos::MAX;
        self.for_members(head, |flash, member| {
            flash.charge_wait(member, now);
            let txn = flash.txns.get_mut(member);
            flash.cells.begin(txn, &flash.geometry);
            if txn.kind == OpKind::Read {
                txn.level_needed = flash.cells.level_needed(txn, &flash.geometry, now);
                flash.cells.begin_read(txn);
            }
        });
        match self.txns[head].kind {
            OpKind::Program => self.transfer_in(id, head, now),
            _ => self.command(id, now),
        }
    }

    /// Counts an operation that begins on a unit and passes other host operations.
    #[inline(never)]
    fn count_pass(&mut self, id: UnitId, head: TxnId) {
        let unit = &mut self.units[id];
        if let Some(passes) = self.selector.passes_after(unit, &self.txns[head], &self.queues) {
            unit.passes = passes;
        }
    }

    /// Continues the reads that a unit holds, each at its next level.
    pub(crate) fn sense_again(&mut self, id: UnitId, now: SimTime) {
        self.command(id, now);
    }

    /// Continues failed reads with the attempt that their unit has sensed ahead or still senses;
    /// returns false if there is none.
    pub(crate) fn continue_pipelined(&mut self, id: UnitId, now: SimTime) -> bool {
        let unit = &mut self.units[id];
        let pipelined = std::mem::replace(&mut unit.pipelined, Pipelined::Nothing);
        if pipelined == Pipelined::Nothing {
            return false;
        }
        let head = unit.head;
        self.for_members(head, |flash, member| {
            flash.txns.get_mut(member).level = flash.txns[member].pipelined_level;
        });
        match pipelined {
            Pipelined::Sensing => self.set_state(id, State::Sensing, now),
            _ => self.continue_sensed(id, now),
        }
        true
    }

    /// Continues with an attempt whose sensing has already ended.
    #[inline(never)]
    fn continue_sensed(&mut self, id: UnitId, now: SimTime) {
        self.sensed(id, now);
    }

    /// Sends a unit the command for its read or erase.
    #[inline(always)]
    fn command(&mut self, id: UnitId, now: SimTime) {
        if self.setup.command_time == Nanos::ZERO {
            self.execute(id, now);
        } else {
            self.send_command(id, now);
        }
    }

    #[inline(never)]
    fn send_command(&mut self, id: UnitId, now: SimTime) {
        self.set_state(id, State::Commanded, now);
        let head = self.units[id].head;
        self.txns.get_mut(head).commanded = true;
        self.request_bus(id, head, now);
    }

    /// Performs the read or the erase that the command started.
    #[inline(always)]
    fn execute(&mut self, id: UnitId, now: SimTime) {
        let head = self.units[id].head;
        match self.txns[head].kind {
            OpKind::Read => self.sense(id, now),
            _ => self.erase(id, head, now),
        }
    }

    /// Handles the arrival of the command for `head` at the flash.
    fn commanded(&mut self, head: TxnId, now: SimTime) {
        let id = self.units.id_of(self.txns[head].plane);
        self.txns.get_mut(head).commanded = false;
        let others = self.txns[head].sibling;
        self.for_members(others, |flash, member| flash.txns.charge(member, Part::Bus, now));
        self.execute(id, now);
    }

    #[inline(always)]
    fn sense(&mut self, id: UnitId, now: SimTime) {
        let mut longest = Nanos::ZERO;
        let head = self.units[id].head;
        self.for_members(head, |flash, member| {
            let txn = &flash.txns[member];
            let span = flash.cells.sense_time(txn);
            longest = longest.max(match &flash.setup.pipelined_retry {
                Some(pipelined_retry) if txn.failed > 0 => {
                    pipelined_retry.shortened(span, txn, txn.level)
                }
                _ => span,
            });
        });
        self.perform(id, State::Sensing, now, longest);
    }

    fn erase(&mut self, id: UnitId, head: TxnId, now: SimTime) {
        let mut longest = Nanos::ZERO;
        self.for_members(head, |flash, member| {
            let block = flash.geometry.block_of(flash.txns[member].ppn);
            longest = longest.max(flash.cells.erase_time(block));
        });
        self.begin_work(id, longest, now);
        self.perform(id, State::Erasing, now, longest);
        self.tell_of_waiting_read(id);
    }

    /// Requests the bus for the pages that a unit will program.
    fn transfer_in(&mut self, id: UnitId, head: TxnId, now: SimTime) {
        if self.lookahead.precomputes_programs() {
            return self.precompute_program(id, head, now);
        }
        self.set_state(id, State::In, now);
        self.units[id].pending = 0;
        self.for_members(head, |flash, member| {
            flash.units[id].pending += 1;
            flash.request_bus(id, member, now);
        });
    }

    /// Processes attempts that fail without a report, up to `until`, then the next event if it is
    /// not later. Returns the time of the last of these.
    #[inline(always)]
    pub(crate) fn fire(&mut self, until: SimTime) -> SimTime {
        if self.lookahead.precomputes_failures()
            && let Some(time) = self.fire_precomputed(until)
        {
            return time;
        }
        let (now, slot) = self.timers.fire().expect("a moment was announced");
        self.lookahead.fired(now, slot);
        match self.channels.server(slot) {
            Server::Unit(id) => self.unit_fires(id, now),
            Server::Bus(channel) => self.bus_fires(channel, now),
            Server::Engine(channel) => self.engine_fires(channel, now),
        }
        now
    }

    #[inline(always)]
    fn unit_fires(&mut self, id: UnitId, now: SimTime) {
        match self.units[id].state {
            State::Sensing => self.sensed(id, now),
            State::Programming | State::Erasing if self.units[id].work.beyond > Nanos::ZERO => {
                self.loop_ends(id, now);
            }
            State::Programming => self.array_ends(id, OpKind::Program, now),
            State::Erasing => self.erase_ends(id, now),
            State::Suspending => self.suspend_ends(id, now),
            State::Out => self.pipelined_sense_ends(id),
            State::Resetting => self.free(id, now),
            state => unreachable!("a unit that is {state:?} has no timer"),
        }
    }

    #[inline(always)]
    fn array_ends(&mut self, id: UnitId, kind: OpKind, now: SimTime) {
        let unit = &self.units[id];
        debug_assert!(
            !self.setup.may_suspend || unit.adds_up(Nanos::ZERO, now).is_ok(),
            "{:?} ends at {now:?}",
            unit.work
        );
        let head = self.units[id].head;
        self.for_members(head, |flash, member| {
            let txn = flash.txns.get_mut(member);
            txn.charge(Part::Program, now);
            flash.counts.op_ended(kind, txn.cause);
            let (page, block) = (txn.ppn, flash.geometry.block_of(txn.ppn));
            match kind {
                OpKind::Erase => flash.cells.erased(block, now, flash.setup.cycles_per_erase),
                _ => {
                    flash.cells.keep_voltage(page, txn.program_mode);
                    flash.cells.programmed(block, now);
                }
            }
            flash.events.push(FlashEvent::Done(member));
        });
        self.units[id].suspends = 0;
        self.free(id, now);
    }

    #[inline(never)]
    fn erase_ends(&mut self, id: UnitId, now: SimTime) {
        self.array_ends(id, OpKind::Erase, now);
    }

    #[inline(always)]
    fn sensed(&mut self, id: UnitId, now: SimTime) {
        let head = self.units[id].head;
        self.for_members(head, |flash, member| flash.txns.charge(member, Part::Sense, now));
        if !self.setup.cache_read {
            self.set_state(id, State::Out, now);
            self.units[id].pending = 0;
            self.for_members(head, |flash, member| {
                flash.units[id].pending += 1;
                flash.request_bus(id, member, now);
            });
            if self.setup.pipelined_retry.is_some() {
                self.offer_pipelined_sense(id);
            }
        } else if self.units[id].cached == 0 {
            self.move_to_cache(id, now);
        } else {
            self.set_state(id, State::Sensed, now);
        }
    }

    fn move_to_cache(&mut self, id: UnitId, now: SimTime) {
        let head = self.units[id].head;
        self.for_members(head, |flash, member| {
            flash.units[id].cached += 1;
            flash.txns.get_mut(member).sibling = TxnId::NONE;
            flash.request_bus(id, member, now);
        });
        self.free(id, now);
    }

    #[inline(always)]
    fn request_bus(&mut self, id: UnitId, member: TxnId, now: SimTime) {
        let channel = self.units[id].channel as usize;
        if self.lookahead.is_on() {
            return self.reserve(channel, member, now);
        }
        let txn = &self.txns[member];
        let brings_out = txn.kind == OpKind::Read && !txn.commanded;
        let urgent = brings_out && self.setup.data_out_first;
        if self.channels[channel].bus.request(&mut self.txns, member, urgent, now) {
            self.transfer(channel, member, now);
        }
    }

    /// Begins the transfer of the transaction in service of a bus, or of its command.
    #[inline]
    fn transfer(&mut self, channel: usize, id: TxnId, now: SimTime) {
        let txn = self.txns.get_mut(id);
        txn.charge(Part::Bus, now);
        let span = match txn.kind {
            _ if txn.commanded => self.setup.command_time * self.txns.members(id).count() as u64,
            OpKind::Read => self.cells.read_transfer(txn, &self.setup.moves),
            _ => self.setup.moves[txn.sectors as usize].time + self.setup.command_time,
        };
        let (slot, txn) = (self.channels.bus_slot(channel), &self.txns[id]);
        self.timers.set(slot, now + span);
        self.timeline.begins(slot, Act::of_bus(txn), txn, now);
    }

    #[inline(always)]
    fn bus_fires(&mut self, channel: usize, now: SimTime) {
        self.timeline.ends(self.channels.bus_slot(channel), now);
        let (ended, next) = self.channels[channel].bus.release(&self.txns, now);
        match next {
            Some(next) if self.lookahead.is_on() => {
                self.timers.set(self.channels.bus_slot(channel), self.txns[next].since)
            }
            Some(next) => self.transfer(channel, next, now),
            None => {}
        }
        let txn = self.txns.get_mut(ended);
        txn.charge(Part::Transfer, now);
        match txn.kind {
            _ if txn.commanded => self.commanded(ended, now),
            OpKind::Read => self.transferred(ended, now),
            _ => self.loaded(ended, now),
        }
    }

    /// Handles the arrival at the flash of a page to program.
    #[inline]
    fn loaded(&mut self, id: TxnId, now: SimTime) {
        let unit_id = self.units.id_of(self.txns[id].plane);
        let unit = &mut self.units[unit_id];
        unit.pending -= 1;
        if unit.pending > 0 {
            return;
        }
        let head = unit.head;
        let mut longest = Nanos::ZERO;
        self.for_members(head, |flash, member| {
            // The first pages waited for the bus to transfer the others.
            flash.txns.charge(member, Part::Bus, now);
            longest = longest.max(flash.cells.program_time(&flash.txns[member]));
        });
        self.begin_work(unit_id, longest, now);
        self.perform(unit_id, State::Programming, now, longest);
        self.tell_of_waiting_read(unit_id);
    }

    /// Reports that a unit begins to program or to erase while a host read waits for it.
    fn tell_of_waiting_read(&mut self, id: UnitId) {
        if self.setup.may_suspend && self.waiting_read(id).is_some() {
            self.events.push(FlashEvent::Began(id));
        }
    }

    /// Handles the arrival at the controller of a page that was read.
    #[inline(always)]
    fn transferred(&mut self, id: TxnId, now: SimTime) {
        if !self.setup.holds_until_decoded() {
            self.leave_register(id, now);
        }
        let span = self.cells.decode_time(&self.txns[id]);
        if span == Nanos::ZERO {
            return self.attempt_ends(id, now);
        }
        let unit = self.units.id_of(self.txns[id].plane);
        let channel = self.units[unit].channel as usize;
        if self.channels[channel].engine.request(&mut self.txns, id, false, now) {
            self.decode(channel, id, span, now);
        }
    }

    fn decode(&mut self, channel: usize, id: TxnId, span: Nanos, now: SimTime) {
        let slot = self.channels.engine_slot(channel);
        self.timers.set(slot, now + span);
        self.timeline.begins(slot, Act::Decode, &self.txns[id], now);
    }

    fn engine_fires(&mut self, channel: usize, now: SimTime) {
        let slot = self.channels.engine_slot(channel);
        self.timeline.ends(slot, now);
        let (ended, next) = self.channels[channel].engine.release(&self.txns, now);
        match next {
            Some(next) if self.lookahead.precomputes_failures() => {
                self.timers.set(slot, self.txns[next].since)
            }
            Some(next) => {
                let span = self.cells.decode_time(&self.txns[next]);
                self.decode(channel, next, span, now);
            }
            None => {}
        }
        self.txns.charge(ended, Part::Decode, now);
        self.attempt_ends(ended, now);
    }

    /// Frees the register of a transferred page.
    #[inline(always)]
    fn leave_register(&mut self, id: TxnId, now: SimTime) {
        let unit_id = self.units.id_of(self.txns[id].plane);
        let unit = &mut self.units[unit_id];
        if !self.setup.cache_read {
            unit.leave(&mut self.txns, id);
            return self.free_when_empty(unit_id, now);
        }
        unit.cached -= 1;
        if unit.cached > 0 {
            return;
        }
        match unit.state {
            State::Sensed => self.move_to_cache(unit_id, now),
            _ => self.units.list(unit_id),
        }
    }

    #[inline]
    fn free_when_empty(&mut self, id: UnitId, now: SimTime) {
        if self.units[id].pending == 0 {
            self.free(id, now);
        }
    }

    /// Ends an attempt to read, which decoded or failed.
    #[inline(always)]
    fn attempt_ends(&mut self, id: TxnId, now: SimTime) {
        let txn = self.txns.get_mut(id);
        let decoded = txn.level >= txn.level_needed;
        let last = txn.level >= self.cells.last_level();
        if decoded || last {
            txn.uncorrectable = !decoded;
            self.counts.read_ended(txn.cause, !decoded);
            self.events.push(FlashEvent::Done(id));
            if self.setup.holds_until_decoded() {
                let unit = self.units.id_of(self.txns[id].plane);
                self.units[unit].leave(&mut self.txns, id);
                self.finish_held(unit, now);
            }
            return;
        }
        txn.failed += 1;
        let plane = txn.plane;
        self.counts.retry();
        if !self.setup.holds_until_decoded() {
            return self.events.push(FlashEvent::Again(id));
        }
        let unit = self.units.id_of(plane);
        self.units[unit].pending -= 1;
        self.finish_held(unit, now);
    }

    /// When every attempt that a unit holds has ended, reports the failed ones or frees the unit.
    fn finish_held(&mut self, id: UnitId, now: SimTime) {
        if self.units[id].pending > 0 {
            return;
        }
        if self.units[id].head.is_some() {
            self.events.push(FlashEvent::Failed(id));
        } else {
            self.free_pipelined(id, now);
        }
    }
}
