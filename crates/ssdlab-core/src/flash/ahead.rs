//! Retries that are sensed ahead: while an attempt is transferred and decoded, its unit senses the
//! next one already, as chips do that read into a cache register.

use ssdlab_base::quantity::Share;
use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::Level;

use super::txn::Txn;
use super::unit::{Ahead, State};
use super::{Event, Flash, TxnId, UnitId};

/// How retries are sensed ahead.
#[derive(Clone, Debug)]
pub struct SensedAhead {
    /// The share by which the sensing of a retry is shorter.
    pub shorter: Share,
    /// Whether that of every retry is, not only of the one that decodes.
    pub shorter_every: bool,
    /// From the end of the last attempt until a unit has given up what it senses ahead.
    pub reset: Nanos,
    /// Whether the first retry is sensed ahead, too.
    pub first: bool,
}

impl SensedAhead {
    /// How long a read is sensed at a level as a retry that would take so long.
    #[inline]
    pub fn shortened(&self, span: Nanos, txn: &Txn, level: Level) -> Nanos {
        let is_shorter = self.shorter_every || level >= txn.level_needed;
        let less = if is_shorter { self.shorter.of(span.as_ns()) } else { 0 };
        Nanos::from_ns(span.as_ns() - less)
    }
}

impl Flash {
    /// Tells that a unit which gives out an attempt may sense the next one, if there is one that it
    /// may sense ahead.
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

    /// Senses the next attempts of the reads that a unit gives out, each at the level that it was
    /// given for that.
    pub fn sense_ahead(&mut self, id: UnitId, now: u64) {
        let Some(ahead) = &self.setup.ahead else { return };
        let spans = self.held(id).map(|member| {
            let txn = &self.txns[member];
            ahead.shortened(self.cells.sense_time_ahead(txn), txn, txn.level_ahead)
        });
        let longest = spans.max().unwrap_or(Nanos::ZERO);
        let ends = SimTime::from_ns(now) + self.setup.command_time + longest;
        self.units[id.0 as usize].ahead = Ahead::Sensing;
        self.timers.set(id.0 as usize, ends);
    }

    /// The attempt that a unit sensed ahead is there, while it still gives out the one before.
    #[inline(never)]
    pub(super) fn sensed_ahead(&mut self, id: UnitId) {
        self.units[id.0 as usize].ahead = Ahead::Sensed;
    }

    /// Reads that failed go on with the attempt that their unit has sensed ahead, or still senses;
    /// false if there is none.
    pub fn continue_ahead(&mut self, id: UnitId, now: u64) -> bool {
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

    /// The attempt that goes on was sensed to its end before.
    #[inline(never)]
    fn sensed_before(&mut self, id: UnitId, now: u64) {
        self.sensed(id, now);
    }

    /// Makes a unit free that may have sensed ahead in vain.
    #[inline]
    pub(super) fn free_from_ahead(&mut self, id: UnitId, now: u64) {
        match self.units[id.0 as usize].ahead {
            Ahead::Nothing => self.free(id, now),
            _ => self.give_up_ahead(id, now),
        }
    }

    fn give_up_ahead(&mut self, id: UnitId, now: u64) {
        self.in_vain += 1;
        let reset = self.setup.ahead.as_ref().map_or(Nanos::ZERO, |ahead| ahead.reset);
        let unit = &mut self.units[id.0 as usize];
        let ahead = std::mem::replace(&mut unit.ahead, Ahead::Nothing);
        self.timers.set(id.0 as usize, SimTime::NEVER);
        // What was sensed to its end has left the array free.
        if ahead == Ahead::Sensed || reset == Nanos::ZERO {
            return self.free(id, now);
        }
        unit.head = TxnId::NONE;
        self.set_state(id, State::Resetting, now);
        self.timers.set(id.0 as usize, SimTime::from_ns(now) + reset);
    }

    /// Sensings ahead that nobody needed, since the counts began.
    pub fn in_vain(&self) -> u64 {
        self.in_vain
    }
}
