//! Checks that the state of the back end is consistent: every transaction is in one place, and
//! every unit, bus and engine performs one operation.

use ssdlab_base::{SimTime, ensure};

use super::census::{Census, UNIT};
use super::link::Link;
use super::unit::{Pipelined, State, Unit};
use super::{Flash, Next, Rank, TxnId, UnitId};
use crate::account::OpKind;

impl Flash {
    /// Checks the whole state of the back end, between two events.
    ///
    /// # Errors
    /// The first violation.
    pub fn audit(&self, now: SimTime, census: &mut Census) -> Result<(), String> {
        ensure(self.events.is_empty(), || "flash events were not handled".into())?;
        ensure(!self.units.has_idle(), || "a free unit was not served".into())?;
        self.queues.audit(&self.txns, census)?;
        for (id, unit) in self.units.iter() {
            let waiting: u32 = unit.planes().map(|plane| self.queues[plane].waiting()).sum();
            ensure(waiting == unit.waiting, || format!("{id:?} counts what waits for it wrongly"))?;
            self.audit_unit(id, unit, now, census)
                .map_err(|what| format!("unit {} ({:?}): {what}", id.0, unit.state))?;
        }
        for (at, channel) in self.channels.iter() {
            let (bus, engine) = (self.channels.bus_slot(at), self.channels.engine_slot(at));
            self.audit_link(&channel.bus, bus, at, "a bus", now, census)?;
            self.audit_link(&channel.engine, engine, at, "an ECC engine", now, census)?;
        }
        self.units.iter().try_for_each(|(id, unit)| self.audit_registers(id.0, unit, census))
    }

    /// Returns transactions that a unit serves together, at most one more than there are planes.
    fn members(&self, head: TxnId) -> impl Iterator<Item = TxnId> + '_ {
        self.txns.members(head).take(self.geometry.plane_count() as usize + 1)
    }

    fn audit_unit(
        &self,
        id: UnitId,
        unit: &Unit,
        now: SimTime,
        census: &mut Census,
    ) -> Result<(), String> {
        let timed = matches!(
            unit.state,
            State::Sensing
                | State::Programming
                | State::Erasing
                | State::Suspending
                | State::Resetting
        ) || unit.pipelined == Pipelined::Sensing;
        let gives_out = unit.pipelined == Pipelined::Nothing || unit.state == State::Out;
        ensure(gives_out, || "it senses ahead of nothing".into())?;
        let timer = self.timers.get(id.index());
        ensure(timed == (timer != SimTime::NEVER), || "its timer does not fit".into())?;
        ensure(timer >= now, || "it should have ended something".into())?;
        let kind = match unit.state {
            State::Idle | State::Suspending | State::Resetting => None,
            // A read or an erase: the kind of the first transaction.
            State::Commanded => Some(self.txns[unit.head].kind),
            State::Sensing | State::Out | State::Sensed => Some(OpKind::Read),
            State::In | State::Programming => Some(OpKind::Program),
            State::Erasing => Some(OpKind::Erase),
        };
        if unit.state == State::Idle {
            ensure(!unit.head.is_some(), || "it is free and serves something".into())?;
            ensure(self.next_of(id) == Next::Nothing, || "it rests and could work".into())?;
        }
        self.audit_work(id, now)?;
        self.audit_suspended_reads(unit, census)?;
        if let Some(suspended) = &unit.suspended {
            let possible = !matches!(unit.state, State::In | State::Programming | State::Erasing);
            ensure(possible, || "it writes beside a suspended operation".into())?;
            ensure(unit.suspends > 0, || {
                "an operation is suspended that was never interrupted".into()
            })?;
            self.audit_members(unit, suspended.head, suspended.kind)?;
            for member in self.members(suspended.head) {
                census.found(member, "the suspended operations")?;
            }
        } else {
            ensure(unit.state != State::Suspending, || "it suspends nothing".into())?;
        }
        if let Some(kind) = kind {
            ensure(unit.head.is_some(), || "it has no transaction in service".into())?;
            self.audit_members(unit, unit.head, kind)?;
            for member in self.members(unit.head) {
                census.found(member, UNIT)?;
            }
        }
        Ok(())
    }

    /// Checks the reads that a unit has suspended. Each group has a higher rank than the group
    /// below it. None is urgent, all have failed, and no erase of their blocks is in progress.
    fn audit_suspended_reads(&self, unit: &Unit, census: &mut Census) -> Result<(), String> {
        for id in unit.suspended_reads(&self.txns).take(self.txns.slots()) {
            census.found(id, "the suspended operations")?;
            let txn = &self.txns[id];
            let fits = txn.failed > 0 && Rank::of(txn) != Rank::URGENT;
            ensure(fits, || format!("read {} is suspended without cause", id.0))?;
        }
        let (mut head, mut counted) = (unit.suspended_reads, 0);
        while head.is_some() {
            counted += 1;
            self.audit_members(unit, head, OpKind::Read)?;
            let below = self.txns[head].next;
            let overtook =
                !below.is_some() || Rank::of(&self.txns[head]) < Rank::of(&self.txns[below]);
            ensure(overtook, || "reads are suspended in the wrong order".into())?;
            head = below;
        }
        ensure(counted == unit.suspended_read_count, || {
            "it counts its suspended reads wrongly".into()
        })?;
        let erased = (unit.state == State::Erasing).then_some(unit.head);
        let suspended = unit
            .suspended
            .filter(|suspended| suspended.kind == OpKind::Erase)
            .map(|suspended| suspended.head);
        let mut erases = erased.into_iter().chain(suspended).flat_map(|head| self.members(head));
        let is_safe = erases.all(|erase| self.may_start(erase));
        ensure(is_safe, || "it erases a block that a suspended read reads".into())
    }

    /// Checks transactions served together: one kind, one plane each, one die, equal offsets.
    fn audit_members(&self, unit: &Unit, head: TxnId, kind: OpKind) -> Result<(), String> {
        let first = &self.txns[head];
        let mut planes = Vec::new();
        for member in self.members(head) {
            let txn = &self.txns[member];
            let is_own = unit.planes().any(|own| own == txn.plane);
            ensure(is_own, || format!("it serves {:?}", txn.plane))?;
            ensure(txn.kind == kind, || format!("it has a {:?}", txn.kind))?;
            let there = self.geometry.plane_of_page(txn.ppn) == txn.plane;
            ensure(there, || format!("{:?} is not on {:?}", txn.ppn, txn.plane))?;
            let die = self.geometry.die_of(txn.plane) == self.geometry.die_of(first.plane);
            ensure(die, || "two dies at a time".into())?;
            let offset = |ppn| self.geometry.page_in_block(ppn);
            let level = kind == OpKind::Erase || offset(txn.ppn) == offset(first.ppn);
            ensure(level, || "planes at unequal page offsets".into())?;
            ensure(!planes.contains(&txn.plane), || "one plane does two things".into())?;
            planes.push(txn.plane);
        }
        Ok(())
    }

    fn audit_link(
        &self,
        link: &Link,
        timer: usize,
        channel: usize,
        place: &'static str,
        now: SimTime,
        census: &mut Census,
    ) -> Result<(), String> {
        let ends = self.timers.get(timer);
        let timed = link.holder().is_some() == (ends != SimTime::NEVER);
        ensure(timed && ends >= now, || format!("{place}'s timer does not fit"))?;
        let mut waiting = link.waiting(&self.txns).peekable();
        let served = link.holder().is_some() || waiting.peek().is_none();
        ensure(served, || format!("{place} rests while somebody waits"))?;
        for id in link.holder().into_iter().chain(waiting) {
            census.linked(id, place)?;
            let plane = self.txns[id].plane;
            let here = self.geometry.channel_of(plane).index() == channel;
            ensure(here, || format!("{place} serves another channel's {plane:?}"))?;
        }
        Ok(())
    }

    /// Checks a unit's counts of pages in its registers against the transactions at buses and
    /// engines.
    fn audit_registers(&self, id: u32, unit: &Unit, census: &Census) -> Result<(), String> {
        let linked = |id: &TxnId| census.is_linked(*id);
        if unit.state == State::Commanded {
            let commands: Vec<TxnId> = self.members(unit.head).filter(linked).collect();
            let one = commands == [unit.head] && self.txns[unit.head].commanded;
            ensure(one, || format!("unit {id} waits for more than one command"))?;
        }
        if matches!(unit.state, State::In | State::Out) {
            let moving = self.members(unit.head).filter(linked).count();
            let counted = moving == unit.pending as usize && moving > 0;
            ensure(counted, || format!("unit {id} counts its pending pages wrongly"))?;
        }
        let bus = &self.channels[unit.channel as usize].bus;
        let on_bus = bus.holder().into_iter().chain(bus.waiting(&self.txns));
        let cached = on_bus.filter(|id| {
            let member = census.place_of(*id) == Some(UNIT);
            !member && unit.planes().any(|own| own == self.txns[*id].plane)
        });
        let counted = cached.count() == unit.cached as usize;
        ensure(counted, || format!("unit {id} counts its cached pages wrongly"))?;
        ensure(unit.state != State::Resetting || !unit.head.is_some(), || {
            format!("unit {id} serves somebody while it resets")
        })?;
        let writes = matches!(unit.state, State::In | State::Programming | State::Erasing);
        let alone = !writes || unit.cached == 0;
        ensure(alone, || format!("unit {id} writes beside a page in its cache register"))?;
        let full = unit.state != State::Sensed || unit.cached > 0;
        ensure(full, || format!("unit {id} waits for a free cache register"))
    }
}
