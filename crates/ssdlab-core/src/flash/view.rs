//! Views of the back end for the drive and its policies.

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::{Level, PlaneId, ProgramMode};

use super::{Flash, FlashSetup, Next, Rank, State, TxnId, UnitId};
use crate::account::OpKind;
use crate::policy::suspend::InService;

impl Flash {
    /// Returns the setup.
    pub fn setup(&self) -> &FlashSetup {
        &self.setup
    }

    /// Returns the next operation of a unit; [`Next::Nothing`] if the unit is not free.
    #[inline(always)]
    pub(crate) fn next_of(&self, id: UnitId) -> Next {
        self.selector.next_of(&self.units[id], &self.txns, &self.queues)
    }

    /// Returns the transactions that a unit serves.
    pub fn held(&self, id: UnitId) -> impl Iterator<Item = TxnId> + '_ {
        self.txns.members(self.units[id].head)
    }

    /// Returns the load of a plane: its waiting transactions, plus one if its unit is busy.
    #[inline]
    pub fn load(&self, plane: PlaneId) -> u32 {
        let unit = self.units.of(plane);
        let busy = !unit.is_free() || unit.suspended.is_some();
        self.queues[plane].waiting() + u32::from(busy)
    }

    /// Returns the data sheet's time of a read alone that decodes at this level.
    pub fn nominal_read(&mut self, id: TxnId, level: Level) -> Nanos {
        let txn = self.txns.get_mut(id);
        let before = std::mem::replace(&mut txn.level, level);
        self.cells.begin(txn, &self.geometry);
        let moved = self.setup.command_time + self.cells.read_transfer(txn, &self.setup.moves);
        let time = self.cells.sense_time(txn) + moved + self.cells.decode_time(txn);
        txn.level = before;
        time
    }

    /// Returns the data sheet's time to transfer and program a page in this mode, the mean over the
    /// page types.
    pub fn nominal_program(&self, program_mode: ProgramMode) -> Nanos {
        let page = self.setup.whole_page().time;
        let types = self.geometry.cell.bits() as u8;
        self.setup.command_time + page + self.cells.nominal_program(program_mode, types)
    }

    /// Returns the first host read that waits for a unit.
    pub(crate) fn waiting_read(&self, id: UnitId) -> Option<TxnId> {
        self.queues.first_of(&self.txns, self.units[id].planes(), Rank::HOST_READS)
    }

    /// Returns the facts about a unit's operation that a policy may use.
    pub fn in_service(&self, id: UnitId, now: SimTime) -> InService {
        let unit = &self.units[id];
        let kind = match unit.state {
            State::Programming => Some(OpKind::Program),
            State::Erasing => Some(OpKind::Erase),
            State::Sensing => Some(OpKind::Read),
            _ => None,
        };
        let ends = self.timers.get(id.index());
        let mut left = ends.saturating_since(now).min(unit.left);
        let mut aborts = 0;
        if let Some(loops) = unit.loops(self.setup.loops) {
            left = (left + unit.work.beyond).min(unit.left);
            aborts = unit.work.aborts_of(unit.work.current_loop(left, loops));
        }
        InService {
            kind,
            cause: unit.cause,
            remaining: left,
            suspended: unit.suspends,
            has_suspended: unit.suspended.is_some(),
            aborts,
        }
    }
}
