//! Retries sensed ahead: while an attempt is transferred and decoded, its unit already senses the
//! next one. Chips that read into a cache register can do this.

use ssdlab_base::quantity::Share;
use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::Level;

use super::txn::Txn;
use super::unit::{Pipelined, State};
use super::{Flash, FlashEvent, TxnId, UnitId};

/// The settings of sensing ahead.
#[derive(Clone, Debug)]
pub struct PipelinedRetry {
    /// The share by which the sensing of a retry is shorter.
    pub shorter: Share,
    /// Whether the sensing of every retry is shorter, not only of the retry that decodes.
    pub shorter_every: bool,
    /// Time from the end of the last attempt until a unit has aborted a sensing ahead.
    pub reset: Nanos,
    /// Whether the first retry is sensed ahead, too.
    pub first: bool,
}

impl PipelinedRetry {
    /// Returns the sensing time of a retry at `level` whose full sensing takes `span`.
    pub(crate) fn shortened(&self, span: Nanos, txn: &Txn, level: Level) -> Nanos {
        let is_shorter = self.shorter_every || level >= txn.level_needed;
        let less = if is_shorter { self.shorter.of(span.as_ns()) } else { 0 };
        Nanos::from_ns(span.as_ns() - less)
    }
}

impl Flash {
    /// Reports that a unit which outputs an attempt may sense the next one, if sensing ahead is
    /// allowed.
    pub(super) fn offer_pipelined_sense(&mut self, id: UnitId) {
        let Some(pipelined) = &self.setup.pipelined_retry else { return };
        let head = self.units[id].head;
        let may = pipelined.first || self.txns[head].failed > 0;
        let last = self.cells.last_level();
        if self.setup.holds_until_decoded()
            && may
            && self.held(id).any(|member| self.txns[member].level < last)
        {
            self.events.push(FlashEvent::Sensed(id));
        }
    }

    /// Senses the next attempts of the reads that a unit outputs, each at its `pipelined_level`.
    pub(crate) fn sense_pipelined(&mut self, id: UnitId, now: SimTime) {
        let Some(pipelined) = &self.setup.pipelined_retry else { return };
        let spans = self.held(id).map(|member| {
            let txn = &self.txns[member];
            pipelined.shortened(self.cells.pipelined_sense_time(txn), txn, txn.pipelined_level)
        });
        let longest = spans.max().unwrap_or(Nanos::ZERO);
        let ends = now + self.setup.command_time + longest;
        self.units[id].pipelined = Pipelined::Sensing;
        self.timers.set(id.index(), ends);
    }

    /// Ends a sensing ahead while the unit still outputs the attempt before.
    #[inline(never)]
    pub(super) fn pipelined_sense_ends(&mut self, id: UnitId) {
        self.units[id].pipelined = Pipelined::Sensed;
    }

    /// Frees a unit, and aborts its sensing ahead if there is one.
    #[inline]
    pub(super) fn free_pipelined(&mut self, id: UnitId, now: SimTime) {
        match self.units[id].pipelined {
            Pipelined::Nothing => self.free(id, now),
            _ => self.abort_pipelined(id, now),
        }
    }

    fn abort_pipelined(&mut self, id: UnitId, now: SimTime) {
        self.counts.sense_unused();
        let reset =
            self.setup.pipelined_retry.as_ref().map_or(Nanos::ZERO, |pipelined| pipelined.reset);
        let unit = &mut self.units[id];
        let pipelined = std::mem::replace(&mut unit.pipelined, Pipelined::Nothing);
        self.timers.set(id.index(), SimTime::NEVER);
        // A sensing that has ended leaves the array free.
        if pipelined == Pipelined::Sensed || reset == Nanos::ZERO {
            return self.free(id, now);
        }
        unit.head = TxnId::NONE;
        self.set_state(id, State::Resetting, now);
        self.timers.set(id.index(), now + reset);
    }
}
