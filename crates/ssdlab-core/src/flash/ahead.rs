//! Retries sensed ahead: while an attempt is transferred and decoded, its unit already senses the
//! next one. Chips that read into a cache register can do this.

use ssdlab_base::quantity::Share;
use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::Level;

use super::txn::Txn;
use super::unit::{Ahead, State};
use super::{Event, Flash, TxnId, UnitId};

/// The settings of sensing ahead.
#[derive(Clone, Debug)]
pub struct SensedAhead {
    /// The share by which the sensing of a retry is shorter.
    pub shorter: Share,
    /// Whether the sensing of every retry is shorter, not only of the retry that decodes.
    pub shorter_every: bool,
    /// Time from the end of the last attempt until a unit has aborted a sensing ahead.
    pub reset: Nanos,
    /// Whether the first retry is sensed ahead, too.
    pub first: bool,
}

impl SensedAhead {
    /// Returns the sensing time of a retry at `level` whose full sensing takes `span`.
    #[inline]
    pub fn shortened(&self, span: Nanos, txn: &Txn, level: Level) -> Nanos {
        let is_shorter = self.shorter_every || level >= txn.level_needed;
        let less = if is_shorter { self.shorter.of(span.as_ns()) } else { 0 };
        Nanos::from_ns(span.as_ns() - less)
    }
}

impl Flash {
    /// Reports that a unit which outputs an attempt may sense the next one, if sensing ahead is
    /// allowed.
    pub(super) fn tell_of_room_ahead(&mut self, id: UnitId) {
        let Some(ahead) = &self.setup.ahead else { return };
        let head = self.units[id.0 as usize].head;
        let may = ahead.first || self.txns[head].failed > 0;
        let last = self.cells.last_level();
        if self.holds_until_decoded()
            && may
            && self.held(id).any(|member| self.txns[member].level < last)
        {
            self.events.push(Event::Sensed(id));
        }
    }

    /// Senses the next attempts of the reads that a unit outputs, each at its `level_ahead`.
    pub fn sense_ahead(&mut self, id: UnitId, now: SimTime) {
        let Some(ahead) = &self.setup.ahead else { return };
        let spans = self.held(id).map(|member| {
            let txn = &self.txns[member];
            ahead.shortened(self.cells.sense_time_ahead(txn), txn, txn.level_ahead)
        });
        let longest = spans.max().unwrap_or(Nanos::ZERO);
        let ends = now + self.setup.command_time + longest;
        self.units[id.0 as usize].ahead = Ahead::Sensing;
        self.timers.set(id.0 as usize, ends);
    }

    /// Ends a sensing ahead while the unit still outputs the attempt before.
    #[inline(never)]
    pub(super) fn sensed_ahead(&mut self, id: UnitId) {
        self.units[id.0 as usize].ahead = Ahead::Sensed;
    }

    /// Continues failed reads with the attempt that their unit has sensed ahead or still senses;
    /// returns false if there is none.
    pub fn continue_ahead(&mut self, id: UnitId, now: SimTime) -> bool {
        let unit = &mut self.units[id.0 as usize];
        let ahead = std::mem::replace(&mut unit.ahead, Ahead::Nothing);
        if ahead == Ahead::Nothing {
            return false;
        }
        let head = unit.head;
        self.for_members(head, |flash, member| {
            flash.txns[member].level = flash.txns[member].level_ahead;
        });
        match ahead {
            Ahead::Sensing => self.set_state(id, State::Sensing, now),
            _ => self.sensed_before(id, now),
        }
        true
    }

    /// Continues with an attempt whose sensing has already ended.
    #[inline(never)]
    fn sensed_before(&mut self, id: UnitId, now: SimTime) {
        self.sensed(id, now);
    }

    /// Frees a unit, and aborts its sensing ahead if there is one.
    #[inline]
    pub(super) fn free_from_ahead(&mut self, id: UnitId, now: SimTime) {
        match self.units[id.0 as usize].ahead {
            Ahead::Nothing => self.free(id, now),
            _ => self.give_up_ahead(id, now),
        }
    }

    fn give_up_ahead(&mut self, id: UnitId, now: SimTime) {
        self.in_vain += 1;
        let reset = self.setup.ahead.as_ref().map_or(Nanos::ZERO, |ahead| ahead.reset);
        let unit = &mut self.units[id.0 as usize];
        let ahead = std::mem::replace(&mut unit.ahead, Ahead::Nothing);
        self.timers.set(id.0 as usize, SimTime::NEVER);
        // A sensing that has ended leaves the array free.
        if ahead == Ahead::Sensed || reset == Nanos::ZERO {
            return self.free(id, now);
        }
        unit.head = TxnId::NONE;
        self.set_state(id, State::Resetting, now);
        self.timers.set(id.0 as usize, now + reset);
    }

    /// Returns the sensings ahead that no read used, since the counts began.
    pub fn in_vain(&self) -> u64 {
        self.in_vain
    }
}
