//! Counts requests when they are dispatched to the flash, and ends them.

use ssdlab_base::SimTime;
use ssdlab_nand::Lpn;

use super::Machine;
use crate::account::{Cause, OpKind, Part, Priority};
use crate::audit::audit_event;
use crate::flash::{NewTxn, Owner, TxnId};
use crate::host::{Active, Completion, Request};
use crate::policy::event::{Event, EventMask};

impl Machine {
    /// Counts a request the first time that a part of it is dispatched. A write that reads first is
    /// dispatched twice.
    pub(in crate::drive) fn count_dispatch(&mut self, owner: Owner, kind: OpKind, overtakes: bool) {
        let again = match owner {
            Owner::Request(slot) => std::mem::replace(&mut self.host[slot].dispatched, true),
            _ => false,
        };
        if !again {
            self.stats.dispatched(kind, overtakes);
        }
    }

    /// Charges an operation for its wait for a map entry.
    pub(in crate::drive) fn waited_for_entry(&mut self, id: TxnId) {
        self.flash.txns.charge(id, Part::Map, self.now);
        self.flash.txns.note_held_up(id);
    }

    /// Ends a request whose last page operation has ended. The request's latency has the parts of
    /// this operation.
    pub(in crate::drive) fn end_of_request(&mut self, slot: u32, last: TxnId) {
        let blame = &self.flash.txns[last].blame;
        let Active { request, counted, page_type, .. } = &self.host[slot];
        self.stats.digest(request.tag, self.now);
        if *counted {
            let behind = self.page_wait(last);
            self.stats.record(request, self.now, blame, behind);
            if let Some(slowest) = page_type {
                self.stats.page_types.slowest_page_type[slowest.index()] += 1;
            }
        }
        audit_event!(self, ended(slot, request, self.now, blame));
        if self.policies.subscribed.has(EventMask::REQUEST_ENDED) {
            let Request { tag, op, lba, .. } = *request;
            let first = Lpn((lba / u64::from(self.geometry.sectors_per_page())) as u32);
            let priority = Priority::of_queue(request.queue);
            let latency = self.now - request.arrival;
            let ended = Event::RequestEnded { tag, op, first, priority, latency };
            self.policies.publish(self.now, &ended);
        }
        debug_assert_eq!(
            blame.iter().sum::<u64>(),
            (self.now - request.arrival).as_ns(),
            "the parts of a latency sum to it"
        );
        self.host.completions.push(Completion {
            tag: request.tag,
            arrival: request.arrival,
            end: self.now,
            queue: request.queue,
            op: request.op,
        });
        self.host.remove(slot);
    }

    /// Ends a request that did not wait for a page operation. It waited in its queue until `began`,
    /// and then for the buffer.
    #[cold]
    pub(in crate::drive) fn end_of_no_operation(&mut self, slot: u32, began: SimTime) {
        let (owner, kind) = (Owner::Request(slot), OpKind::Erase);
        let new = NewTxn { lpn: Lpn(0), owner, kind, cause: Cause::Host, mask: 0, sectors: 0 };
        let id = self.flash.txns.begin(new, self.host[slot].request.arrival);
        self.flash.txns.charge(id, Part::HostQueue, began);
        self.flash.txns.charge(id, Part::Buffer, self.now);
        self.end_of_request(slot, id);
        self.flash.txns.remove(id);
    }

    /// Ends a flush's wait: all pages that were leaving the buffer when it came have been
    /// programmed.
    pub(in crate::drive) fn end_of_flush_wait(&mut self, slot: u32) {
        if self.host.end_part(slot) {
            self.end_of_no_operation(slot, self.host[slot].transferred_in);
        }
    }
}
