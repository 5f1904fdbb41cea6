//! What the rest of the drive may change in a transaction, each as a step of its life.

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::program_mode::ProgramMode;
use ssdlab_nand::{Level, Lpn, PlaneId, Ppn};

use super::{Owner, TxnId, Txns};
use crate::account::{Cause, OpKind, Part};
use crate::policy::PlacementHint;

impl Txns {
    /// Charges the time since the last charge to `part`, or to `Retry` if the read has failed
    /// before.
    pub fn charge(&mut self, id: TxnId, part: Part, now: SimTime) {
        self.get_mut(id).charge(part, now);
    }

    /// Records that a transaction waited for another one, or for the scheduler.
    pub(crate) fn note_held_up(&mut self, id: TxnId) {
        self.get_mut(id).was_held_up = true;
    }

    /// Makes a transaction work for another part of the drive.
    pub(crate) fn change_owner(&mut self, id: TxnId, owner: Owner) {
        self.get_mut(id).owner = owner;
    }

    /// Gives a transaction its plane, where it is yet to be enqueued.
    #[inline]
    pub fn set_plane(&mut self, id: TxnId, plane: PlaneId) {
        self.get_mut(id).plane = plane;
    }

    /// Gives a transaction its physical page.
    pub fn set_page(&mut self, id: TxnId, ppn: Ppn) {
        self.get_mut(id).ppn = ppn;
    }

    /// Gives a read the physical page that the map has. Its age is known from the table of pages.
    #[inline]
    pub(crate) fn locate_mapped(&mut self, id: TxnId, ppn: Ppn) {
        let txn = self.get_mut(id);
        (txn.ppn, txn.age) = (ppn, None);
    }

    /// Gives a read the page of data that was written before the run and that no table records,
    /// with the data's age at the start and its program mode.
    pub(crate) fn locate_unwritten(&mut self, id: TxnId, ppn: Ppn, age: Nanos, mode: ProgramMode) {
        let txn = self.get_mut(id);
        (txn.ppn, txn.age, txn.unwritten_mode) = (ppn, Some(age), mode);
    }

    /// Sets the level of a read's next attempt.
    pub(crate) fn set_level(&mut self, id: TxnId, level: Level) {
        self.get_mut(id).level = level;
    }

    /// Sets the level that a read senses ahead.
    pub(crate) fn set_pipelined_level(&mut self, id: TxnId, level: Level) {
        self.get_mut(id).pipelined_level = level;
    }

    /// Gives a program another hint.
    #[inline]
    pub(crate) fn set_hint(&mut self, id: TxnId, hint: PlacementHint) {
        self.get_mut(id).hint = hint;
    }

    /// Gives the hint of a program to its policies, which fill in its fields.
    pub(crate) fn hint_mut(&mut self, id: TxnId) -> &mut PlacementHint {
        &mut self.get_mut(id).hint
    }

    /// Adds the sectors of a later write to a write of the same page.
    pub(crate) fn add_sectors(&mut self, id: TxnId, mask: u64) {
        let txn = self.get_mut(id);
        txn.mask |= mask;
        // A write that reads the rest of its page first counts the sectors of that read until then.
        if !txn.read_first {
            txn.sectors = txn.mask.count_ones() as u16;
        }
    }

    /// Makes a write read the rest of its page first: the sectors in `rest`.
    pub(crate) fn read_rest_first(&mut self, id: TxnId, rest: u64) {
        let txn = self.get_mut(id);
        txn.sectors = rest.count_ones() as u16;
        txn.read_first = true;
        txn.kind = OpKind::Read;
        if txn.cause == Cause::Host {
            txn.cause = Cause::Rmw;
        }
    }

    /// Turns a write that has read the rest of its page into its program, which covers `page`, too.
    pub(crate) fn program_with_rest(&mut self, id: TxnId, page: u64) {
        let txn = self.get_mut(id);
        txn.read_first = false;
        txn.kind = OpKind::Program;
        if txn.cause == Cause::Rmw {
            txn.cause = Cause::Host;
        }
        txn.mask |= page;
        txn.sectors = txn.mask.count_ones() as u16;
        // The failed attempts of the read do not concern the program.
        txn.failed = 0;
        txn.level = Level::FIRST;
        txn.age = None;
    }

    /// Turns the read of a copy into its program. The failed attempts of the read do not concern
    /// the program.
    #[inline]
    pub(crate) fn program_copy(&mut self, id: TxnId) {
        let txn = self.get_mut(id);
        (txn.kind, txn.failed) = (OpKind::Program, 0);
    }

    /// Makes a job's transaction read the next page of its block.
    #[inline]
    pub(crate) fn read_next(&mut self, id: TxnId, (lpn, ppn): (Lpn, Ppn)) {
        let txn = self.get_mut(id);
        (txn.kind, txn.lpn, txn.ppn) = (OpKind::Read, lpn, ppn);
        (txn.failed, txn.level) = (0, Level::FIRST);
    }

    /// Makes a job's transaction erase the block that begins with this page.
    pub fn erase(&mut self, id: TxnId, first: Ppn) {
        let txn = self.get_mut(id);
        (txn.kind, txn.ppn) = (OpKind::Erase, first);
        (txn.failed, txn.level) = (0, Level::FIRST);
    }

    /// Counts a transaction's time from now on.
    #[inline]
    pub(crate) fn count_from(&mut self, id: TxnId, now: SimTime) {
        self.get_mut(id).since = now;
    }
}
