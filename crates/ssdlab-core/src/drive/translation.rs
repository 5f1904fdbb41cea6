//! The way of a page operation to the flash: its turn on its page, its place in the buffer, its entry of the map.

use super::Drive;
use super::routing::Step;
use crate::flash::{Owner, TxnId};

impl Drive {
    /// Sends a page operation on to the flash unless an earlier one to the same page is under way.
    #[inline(always)]
    pub(super) fn acquire(&mut self, id: TxnId) -> Step {
        let changes = self.flash.txns[id].changes_page();
        if self.host.hazards.acquire(&mut self.flash.txns, id, changes) {
            self.translate(id)
        } else {
            Step::UnderWay
        }
    }

    /// Finds the plane of a page operation and enqueues it there, as soon as its page is in the buffer,
    /// if it leaves that, and the entry of its page is held.
    #[inline]
    pub(super) fn translate(&mut self, id: TxnId) -> Step {
        if self.is_in_buffer(id) && self.ensure_mapping_cached(id) {
            self.continue_with_entry(id)
        } else {
            Step::UnderWay
        }
    }

    /// Whether a write whose turn on its page has come may go on: not a page that leaves the
    /// buffer and has not moved in.
    #[inline]
    pub(super) fn is_in_buffer(&mut self, id: TxnId) -> bool {
        match self.flash.txns[id].owner {
            Owner::Buffer { number, .. } => {
                self.buffer.as_mut().expect("a buffer").departures.may_continue(number)
            }
            _ => true,
        }
    }
}
