//! Turns of operations on the same page.

use super::Machine;
use crate::audit::audit_event;
use crate::config::PartialWrites;
use crate::flash::{Fifo, Owner, TxnId};
use crate::host::{Acquired, Programmed, Write};

impl Machine {
    /// Starts an operation on its page. Returns true if it may continue; if false, it waits, or
    /// ends with an earlier write that it supersedes. `is_here` tells whether the data of a write
    /// is in the drive.
    #[inline(always)]
    pub(in crate::drive) fn acquire_page(&mut self, id: TxnId, is_here: bool) -> bool {
        let changes = self.flash.txns[id].changes_page();
        if changes && self.host.hazards.supersedes() {
            return self.acquire_to_write(id, is_here);
        }
        self.host.hazards.acquire(&mut self.flash.txns, id, changes)
    }

    #[inline(never)]
    fn acquire_to_write(&mut self, id: TxnId, is_here: bool) -> bool {
        let covers = self.flash.txns[id].mask == self.geometry.page_mask();
        let pads = self.resolved.config.ftl.partial_writes == PartialWrites::Pad;
        let write = Write { is_here, whole: covers || pads };
        let acquired = self.host.hazards.acquire_to_write(&mut self.flash.txns, id, write);
        if let Acquired::With(first) = acquired {
            self.supersede(first, id);
        }
        acquired == Acquired::Now
    }

    /// Ends the turn of a write that has been programmed.
    #[inline(always)]
    pub(in crate::drive) fn write_ends(&mut self, id: TxnId) -> Programmed {
        let txn = &self.flash.txns[id];
        if self.host.hazards.supersedes() && !matches!(txn.owner, Owner::Map { .. }) {
            return self.host.hazards.write_ends(txn.lpn, id);
        }
        Programmed { outdated: false, joined: Fifo::EMPTY }
    }

    /// Adds the data of a later write to an earlier write of the page.
    fn supersede(&mut self, first: TxnId, later: TxnId) {
        self.stats.superseded += 1;
        let mask = self.flash.txns[later].mask;
        audit_event!(self, joins(first, later, mask));
        self.flash.txns.add_sectors(first, mask);
    }
}
