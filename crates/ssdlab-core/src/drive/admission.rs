//! Accepts a host request and divides it into page operations.

use ssdlab_nand::Lpn;
use ssdlab_nand::geometry::sector_mask;

use super::Drive;
use crate::account::{Cause, OpKind, Part};
use crate::audit::audit_event;
use crate::flash::{NewTxn, Owner};
use crate::host::{Active, Op, Refused, Request};
use crate::policy::PlacementHint;
use crate::policy::event::{Event, EventMask};

impl Drive {
    pub(super) fn accept(&mut self, request: Request) -> Result<(), Refused> {
        if request.queue as usize >= self.machine.host.queues() {
            return Err(Refused::OutOfRange);
        }
        let end = request.lba.checked_add(u64::from(request.sectors));
        let on_drive = end.is_some_and(|end| end <= self.machine.resolved.sectors());
        if request.op != Op::Flush && (request.sectors == 0 || !on_drive) {
            return Err(Refused::OutOfRange);
        }
        if !self.machine.host.has_room(request.queue) {
            return Err(Refused::Full);
        }
        let touched = self.machine.geometry.pages_touched(request.lba, request.sectors);
        let first = touched.start as u32;
        let pages = if request.op == Op::Flush { 0 } else { (touched.end - touched.start) as u32 };
        // The count is one above the number of pages until all pages have begun. So none of them
        // ends the request early. A request that arrived before the statistics began and had to
        // wait outside the drive is not counted.
        let counted = request.arrival >= self.machine.stats.since;
        let active = Active {
            request,
            remaining: pages + 1,
            pages,
            counted,
            transferred_in: self.machine.now,
            arrival_seq: self.machine.flash.queues.next_seq(),
            dispatched: false,
            hint: PlacementHint::default(),
            page_type: None,
        };
        let slot = self.machine.host.insert(active);
        if self.machine.policies.subscribed.has(EventMask::REQUEST_ARRIVED) {
            let attrs = &self.machine.attrs(Owner::Request(slot));
            let Request { tag, op, .. } = request;
            let first = Lpn(first);
            self.machine.publish(&Event::RequestArrived { tag, op, first, request: attrs });
        }
        if request.op == Op::Write && self.buffer.pages.is_none() {
            let attrs = self.machine.attrs(Owner::Request(slot));
            self.machine.host[slot].hint =
                self.machine.hint_of(Lpn(first), attrs, Cause::Host, true, None);
        }
        audit_event!(self.machine, accepted(slot, &request, self.machine.now));
        match request.op {
            Op::Read | Op::Write => self.divide(slot, &request, first, pages),
            Op::Trim => self.trim(slot, pages),
            Op::Flush => self.buffer.flush(&mut self.machine, &mut self.translation, slot),
        }
        if self.machine.host.end_part(slot) {
            self.machine.end_of_no_operation(slot, self.machine.now);
        }
        Ok(())
    }

    /// Creates a page operation for each page of a request.
    fn divide(&mut self, slot: u32, request: &Request, first: u32, pages: u32) {
        let spp = self.machine.geometry.sectors_per_page();
        let mut offset = (request.lba % u64::from(spp)) as u32;
        let mut left = request.sectors;
        for lpn in first..first + pages {
            let count = left.min(spp - offset);
            let new = NewTxn {
                lpn: Lpn(lpn),
                owner: Owner::Request(slot),
                kind: if request.op == Op::Read { OpKind::Read } else { OpKind::Program },
                cause: Cause::Host,
                mask: sector_mask(offset, count),
                sectors: count,
            };
            let id = self.machine.flash.txns.begin(new, request.arrival);
            self.machine.flash.assign_seq(id);
            self.machine.flash.txns.charge(id, Part::HostQueue, self.machine.now);
            audit_event!(self.machine, begins(id, &self.machine.flash.txns[id], request.op));
            let step = if self.buffer.pages.is_some() {
                self.buffer.enter_buffer(&mut self.machine, &mut self.translation, id)
            } else {
                self.translation.acquire(&mut self.machine, id)
            };
            self.end_without_flash(id, step);
            left -= count;
            offset = 0;
        }
    }

    /// Unmaps the pages that a trim covers completely. Each unmapping waits for earlier operations
    /// on its page. `touched` is the number of pages that the trim touches.
    #[inline(never)]
    fn trim(&mut self, slot: u32, touched: u32) {
        let request = self.machine.host[slot].request;
        let covered = self.machine.geometry.pages_covered(request.lba, request.sectors);
        let skipped = touched - (covered.end - covered.start) as u32;
        for lpn in covered.start as u32..covered.end as u32 {
            let (owner, kind) = (Owner::Request(slot), OpKind::Erase);
            let new =
                NewTxn { lpn: Lpn(lpn), owner, kind, cause: Cause::Host, mask: 0, sectors: 0 };
            let id = self.machine.flash.txns.begin(new, request.arrival);
            self.machine.flash.txns.charge(id, Part::HostQueue, self.machine.now);
            audit_event!(self.machine, begins(id, &self.machine.flash.txns[id], request.op));
            self.buffer.drop_buffered(&mut self.machine, Lpn(lpn));
            let step = self.translation.acquire(&mut self.machine, id);
            self.end_without_flash(id, step);
        }
        self.machine.host[slot].remaining -= skipped;
    }
}
