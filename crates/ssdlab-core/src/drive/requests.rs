//! A host request comes in, divides into page operations, and ends.

use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::geometry::sector_mask;
use ssdlab_nand::{Lpn, PlaneId, Ppn};

use super::Drive;
use super::watch::watch;
use crate::account::{Cause, OpKind, Part, RequestAttrs};
use crate::config::{PartialWrites, UnwrittenReads};
use crate::flash::{Owner, Rank, Room, TxnId};
use crate::host::{Active, Completion, Op, Refused, Request};
use crate::media;
use crate::metadata::page_hotness::Hotness;
use crate::policy::PlacementHint;
use crate::policy::event::{Event, EventMask};
use crate::policy::placement::{PageView, PlacementView};
use crate::policy::scheduler::SchedulerView;
use crate::policy::suspend::{SuspendView, Verdict};

impl Drive {
    pub(super) fn accept(&mut self, request: Request) -> Result<(), Refused> {
        if request.queue as usize >= self.host.queues() {
            return Err(Refused::OutOfRange);
        }
        let end = request.lba.checked_add(u64::from(request.sectors));
        let on_drive = end.is_some_and(|end| end <= self.resolved.sectors());
        if request.op != Op::Flush && (request.sectors == 0 || !on_drive) {
            return Err(Refused::OutOfRange);
        }
        if !self.host.has_room(request.queue) {
            return Err(Refused::Full);
        }
        let touched = self.geometry.pages_touched(request.lba, request.sectors);
        let first = touched.start as u32;
        let pages = if request.op == Op::Flush { 0 } else { (touched.end - touched.start) as u32 };
        // One more than the pages until all of them have begun: none of them ends the request.
        // What arrived before the statistics began and had to wait outside is left out of them.
        let counted = request.arrival.as_ns() >= self.stats.since;
        let active = Active {
            request,
            remaining: pages + 1,
            pages,
            counted,
            transferred_in: self.now,
            arrival_seq: self.flash.next_to_come(),
            dispatched: false,
            hint: PlacementHint::default(),
            page_type: None,
        };
        let slot = self.host.insert(active);
        if self.policies.wants.has(EventMask::REQUEST_ARRIVED) {
            let request = &self.attrs(Owner::Request(slot));
            let op = self.host[slot].request.op;
            self.policies.publish(&Event::RequestArrived { op, request, now: self.now });
        }
        if request.op == Op::Write && self.buffer.is_none() {
            let attrs = self.attrs(Owner::Request(slot));
            self.host[slot].hint = self.hint_of(attrs, Cause::Host, true, None);
        }
        watch!(self, accepted(slot, &request, self.now));
        match request.op {
            Op::Read | Op::Write => self.divide(slot, &request, first, pages),
            Op::Trim => self.trim(slot, pages),
            Op::Flush => self.flush(slot),
        }
        if self.host.part_ended(slot) {
            self.end_of_no_operation(slot, self.now);
        }
        Ok(())
    }

    /// Makes a page operation of each page that a request covers.
    fn divide(&mut self, slot: u32, request: &Request, first: u32, pages: u32) {
        let spp = self.sectors_per_page;
        let mut offset = (request.lba % u64::from(spp)) as u32;
        let mut left = request.sectors;
        for lpn in first..first + pages {
            let count = left.min(spp - offset);
            let id = self.flash.txns.insert(request.arrival.as_ns());
            self.flash.comes(id);
            let txn = &mut self.flash.txns[id];
            txn.lpn = Lpn(lpn);
            txn.owner = Owner::Request(slot);
            txn.kind = if request.op == Op::Read { OpKind::Read } else { OpKind::Program };
            txn.cause = Cause::Host;
            txn.sectors = count as u16;
            txn.mask = sector_mask(offset, count);
            txn.charge(Part::HostQueue, self.now);
            watch!(self, begins(id, &self.flash.txns[id], request.op));
            match self.buffer.is_some() {
                true => self.enter_buffer(id),
                false => self.acquire(id),
            }
            left -= count;
            offset = 0;
        }
    }

    /// Sends a page operation on to the flash unless an earlier one to the same page is under way.
    #[inline(always)]
    pub(super) fn acquire(&mut self, id: TxnId) {
        let changes = self.flash.txns[id].changes_page();
        if self.hazards.acquire(&mut self.flash.txns, id, changes) {
            self.translate(id);
        }
    }

    /// Ends a page operation's hold on its page and sends on those that waited for it.
    #[inline(always)]
    pub(super) fn release(&mut self, lpn: Lpn, changes: bool) {
        let outermost = self.ready.is_empty();
        self.hazards.release(&mut self.flash.txns, lpn, changes, &mut self.ready);
        if !outermost {
            // One that was sent on has ended at once; the loop below, further out, sees to these.
            return;
        }
        let mut next = 0;
        while let Some(&id) = self.ready.get(next) {
            next += 1;
            self.flash.txns[id].charge(Part::Page, self.now);
            self.flash.txns[id].was_held_up = true;
            self.translate(id);
        }
        self.ready.clear();
    }

    /// Finds the plane of a page operation and enqueues it there, as soon as its page is in the buffer,
    /// if it leaves that, and the entry of its page is held.
    #[inline]
    pub(super) fn translate(&mut self, id: TxnId) {
        if self.is_in_buffer(id) && self.ensure_mapping_cached(id) {
            self.go_on_with_entry(id);
        }
    }

    /// The entry of an operation's page is held.
    #[inline(always)]
    pub(super) fn go_on_with_entry(&mut self, id: TxnId) {
        match self.flash.txns[id].kind {
            OpKind::Read => self.translate_read(id),
            OpKind::Program => self.translate_write(id),
            OpKind::Erase => self.unmap(id),
        }
    }

    #[inline(always)]
    fn translate_read(&mut self, id: TxnId) {
        match self.locate(id) {
            Some(plane) => self.send(id, plane),
            None => self.end_of_unmapped(id),
        }
    }

    /// A read of a page that was never written ends without the flash.
    #[inline(never)]
    fn end_of_unmapped(&mut self, id: TxnId) {
        self.stats.unmapped_reads += 1;
        self.end_of_read(id);
    }

    /// Sets where a read's page lies now, and its plane; `None` if it lies nowhere.
    #[inline]
    pub(super) fn locate(&mut self, id: TxnId) -> Option<PlaneId> {
        let lpn = self.flash.txns[id].lpn;
        if let Some(ppn) = self.ftl.map.get(lpn) {
            let block = self.geometry.block_of(ppn);
            self.flash.cells.expect(ppn, block);
            if let Some(estimates) = &self.policies.metadata.retry_estimates {
                estimates.expect(block);
            }
            let txn = &mut self.flash.txns[id];
            (txn.ppn, txn.age) = (ppn, None);
            return Some(self.geometry.plane_of_page(ppn));
        }
        let txn = &self.flash.txns[id];
        if txn.age.is_some() {
            // It was looked up before, and lies where it did: nothing was written there since.
            return Some(txn.plane);
        }
        if !self.counts_as_preloaded(lpn) {
            return None;
        }
        let (ppn, age, plane) = self.preloaded_at(lpn);
        let laid_with = self.program_mode_of_unwritten(lpn, ppn);
        let txn = &mut self.flash.txns[id];
        (txn.ppn, txn.age, txn.laid_with) = (ppn, Some(age), laid_with);
        if !self.is_translation(lpn) {
            self.note_preloaded(lpn);
        }
        Some(plane)
    }

    /// Where a page lies that was written before the start and that no table holds, and its age.
    #[inline]
    pub(super) fn preloaded_at(&self, lpn: Lpn) -> (Ppn, Nanos, PlaneId) {
        let plane = self.order_of_planes.plane_of(lpn);
        let (ppn, age) = media::unwritten_reads(&self.resolved, lpn, plane);
        (ppn, age, plane)
    }

    /// Whether a page that is not mapped was written before the start.
    #[inline]
    pub(super) fn counts_as_preloaded(&self, lpn: Lpn) -> bool {
        // The map was on the flash from the start.
        self.is_translation(lpn)
            || self.resolved.config.start.unwritten_reads == UnwrittenReads::Lazy
                && !self.ftl.map.was_trimmed(lpn)
    }

    /// Whether a logical page is a translation page's.
    #[inline]
    fn is_translation(&self, lpn: Lpn) -> bool {
        self.mapping.as_ref().is_some_and(|mapping| mapping.is_translation(lpn))
    }

    /// Counts a page that was written before the start, once.
    fn note_preloaded(&mut self, lpn: Lpn) {
        if self.unwritten_reads.is_empty() {
            self.unwritten_reads = vec![0; self.resolved.logical_pages.div_ceil(64) as usize];
        }
        let word = &mut self.unwritten_reads[lpn.index() / 64];
        let bit = 1 << (lpn.0 % 64);
        if *word & bit == 0 {
            *word |= bit;
            self.stats.unwritten_reads += 1;
        }
    }

    #[inline(always)]
    fn translate_write(&mut self, id: TxnId) {
        self.make_hint(id);
        let rest = self.rest_to_read(id);
        if rest != 0 {
            let txn = &mut self.flash.txns[id];
            txn.sectors = rest.count_ones() as u16;
            txn.read_first = true;
            txn.kind = OpKind::Read;
            if txn.cause == Cause::Host {
                txn.cause = Cause::Rmw;
            }
            if let Some(plane) = self.locate(id) {
                return self.send(id, plane);
            }
            unreachable!("a page that must be read first lies somewhere");
        }
        let plane = self.plane_for_write(id);
        self.send(id, plane);
    }

    /// The sectors that a write in part must read before it programs its page.
    #[inline(always)]
    fn rest_to_read(&self, id: TxnId) -> u64 {
        let txn = &self.flash.txns[id];
        let rest = self.geometry.page_mask() & !txn.mask;
        if rest == 0 {
            return 0;
        }
        if matches!(txn.owner, Owner::Map { .. }) {
            // An entry is less than a sector.
            return self.geometry.page_mask();
        }
        let lies = || self.ftl.map.get(txn.lpn).is_some() || self.counts_as_preloaded(txn.lpn);
        match self.resolved.config.ftl.partial_writes {
            PartialWrites::ReadModifyWrite if lies() => rest,
            // A page that lies nowhere has no sectors.
            PartialWrites::SectorBitmap => rest & self.ftl.map.sectors(txn.lpn).unwrap_or(0),
            PartialWrites::ReadModifyWrite | PartialWrites::Pad => 0,
        }
    }

    /// A write's page was read: now it is programmed with what it already held.
    #[inline(never)]
    pub(super) fn write_after_read(&mut self, id: TxnId) {
        let txn = &mut self.flash.txns[id];
        watch!(self, merges(id, txn.mask));
        txn.read_first = false;
        txn.kind = OpKind::Program;
        if txn.cause == Cause::Rmw {
            txn.cause = Cause::Host;
        }
        txn.mask |= self.ftl.map.sectors(txn.lpn).unwrap_or(self.geometry.page_mask());
        txn.sectors = txn.mask.count_ones() as u16;
        // What failed while reading no longer explains what comes.
        txn.failed = 0;
        txn.level = 0;
        txn.age = None;
        let plane = self.plane_for_write(id);
        self.send(id, plane);
    }

    /// What the page of a transaction should be like: as all of its request, if it is part of one; as
    /// was wished when it left, if it comes from the buffer.
    #[inline(always)]
    pub(super) fn make_hint(&mut self, id: TxnId) {
        let txn = &self.flash.txns[id];
        let (owner, cause) = (txn.owner, txn.cause);
        let mut hint = match owner {
            Owner::Request(slot) => self.host[slot].hint,
            Owner::Buffer { .. } => txn.hint,
            _ => {
                let used = self.hotness_of(txn.lpn);
                self.hint_of(self.attrs(owner), cause, false, used)
            }
        };
        if self.asks_pages {
            self.fill_page(self.flash.txns[id].lpn, cause, &mut hint);
        }
        self.flash.txns[id].hint = hint;
    }

    /// Asks what depends on the page itself that is to be written.
    pub(super) fn fill_page(&mut self, lpn: Lpn, cause: Cause, hint: &mut PlacementHint) {
        let from = self.ftl.map.get(lpn).map(|ppn| self.geometry.block_of(ppn));
        let view = PageView { lpn, cause, now: self.now, from };
        self.policies.placement.iter_mut().for_each(|link| link.fill_page(&view, hint));
    }

    /// What a page should be like that is written for such a request.
    pub(super) fn hint_of(
        &mut self,
        attrs: RequestAttrs,
        cause: Cause,
        buffer_full: bool,
        used: Option<Hotness>,
    ) -> PlacementHint {
        let RequestAttrs { priority, hint, pages, bytes } = attrs;
        let view = PlacementView {
            cause,
            priority,
            hint,
            pages,
            bytes,
            unfinished: self.host.unfinished(),
            buffer_full,
            hotness: used,
            free: self.ftl.alloc.free_by_type().unwrap_or_default(),
        };
        let mut hint = PlacementHint { hotness: used, ..PlacementHint::default() };
        for link in &mut self.policies.placement {
            link.fill(&view, &mut hint);
        }
        hint
    }

    /// The request that a transaction works for. For a page that leaves the buffer it is the write that
    /// waits for its place; if none does, it can wait for everybody.
    #[inline]
    pub(super) fn attrs(&self, owner: Owner) -> RequestAttrs {
        match owner {
            Owner::Request(slot) => {
                let Active { request, pages, .. } = &self.host[slot];
                let bytes = u64::from(request.sectors) * SECTOR_BYTES;
                RequestAttrs { priority: request.queue, hint: request.hint, pages: *pages, bytes }
            }
            Owner::Buffer { room: Room::For(write), .. } => {
                self.attrs(self.flash.txns[write].owner)
            }
            // Anybody may wait for the map.
            Owner::Map { .. } => self.of_a_page(0),
            _ => self.of_a_page(self.host.queues() as u8 - 1),
        }
    }

    /// A page for which no request is known.
    #[inline]
    fn of_a_page(&self, priority: u8) -> RequestAttrs {
        RequestAttrs { priority, hint: 0, pages: 1, bytes: self.geometry.page_size.get() }
    }

    /// The plane on which the page of a write is written.
    #[inline]
    pub(super) fn plane_for_write(&mut self, id: TxnId) -> PlaneId {
        let txn = &self.flash.txns[id];
        if !self.dynamic {
            return self.order_of_planes.plane_of(txn.lpn);
        }
        let class = txn.hint.pick().class;
        let planes = self.order_of_planes.planes();
        let mut best: Option<(u32, usize)> = None;
        for step in 0..planes.len() {
            let at = (self.cursor + step) % planes.len();
            let load = self.flash.load(planes[at]);
            if best.is_some_and(|(least, _)| load >= least) {
                continue;
            }
            // A plane that waits for an erase takes no more work while another can.
            let full = self.ftl.is_full(planes[at], class);
            let load = load + if full { u32::MAX / 2 } else { 0 };
            if best.is_none_or(|(least, _)| load < least) {
                best = Some((load, at));
            }
            if load == 0 {
                break;
            }
        }
        let (_, at) = best.expect("a drive has planes");
        self.cursor = (at + 1) % planes.len();
        planes[at]
    }

    /// Puts an operation for the host into the queue of a plane.
    #[inline]
    pub(super) fn enqueue_host(&mut self, id: TxnId, plane: PlaneId) {
        let txn = &mut self.flash.txns[id];
        txn.plane = plane;
        let (kind, owner) = (txn.kind, txn.owner);
        let RequestAttrs { priority, hint, .. } = self.attrs(owner);
        let level = self.policies.scheduler.rank(&SchedulerView { kind, priority, hint });
        self.flash.enqueue(id, Rank::host(level), self.now);
        if kind == OpKind::Read {
            self.ask_to_suspend(plane, priority);
        }
    }

    /// Asks whether a read that has come, or was there first, interrupts what its unit does.
    #[inline]
    pub(super) fn ask_to_suspend(&mut self, plane: PlaneId, priority: u8) {
        if !self.flash.may_suspend() {
            return;
        }
        let unit = self.flash.unit_of(plane);
        let running = self.flash.in_service(unit, self.now);
        if running.aside || !matches!(running.kind, Some(OpKind::Program | OpKind::Erase)) {
            return;
        }
        let head = self.flash.held(unit).next().expect("an operation in service");
        let own = self.attrs(self.flash.txns[head].owner).priority;
        let view = SuspendView { running, priority, works_for_higher: own < priority };
        match self.policies.suspend.verdict(&view) {
            Verdict::Wait => {}
            Verdict::Suspend => self.flash.suspend(unit, self.now),
            Verdict::DropLoop => self.flash.drop_loop(unit, self.now),
            Verdict::AfterLoop => self.flash.stop_after_loop(unit, self.now),
        }
    }

    /// A request ends that no page operation was waited for: until it began it was in its queue, and then
    /// waited for the buffer.
    #[cold]
    pub(super) fn end_of_no_operation(&mut self, slot: u32, began: u64) {
        let id = self.flash.txns.insert(self.host[slot].request.arrival.as_ns());
        self.flash.txns[id].charge(Part::HostQueue, began);
        self.flash.txns[id].charge(Part::Buffer, self.now);
        self.end_of_request(slot, id);
        self.flash.txns.remove(id);
    }

    /// A request's last page operation has ended; where its time went is where that of this one did.
    pub(super) fn end_of_request(&mut self, slot: u32, last: TxnId) {
        let blame = &self.flash.txns[last].blame;
        let Active { request, counted, page_type, .. } = &self.host[slot];
        self.stats.digest(request.tag, self.now);
        if *counted {
            self.stats.record(request, self.now, blame);
            if let Some(slowest) = page_type {
                self.stats.page_types.slowest_page_type[slowest.index()] += 1;
            }
        }
        watch!(self, ended(slot, request, self.now, blame));
        self.policies.publish(&Event::RequestEnded {
            op: request.op,
            priority: request.queue,
            latency: self.now - request.arrival.as_ns(),
        });
        debug_assert_eq!(
            blame.iter().sum::<u64>(),
            self.now - request.arrival.as_ns(),
            "the parts of a latency sum to it"
        );
        self.completions.push(Completion {
            tag: request.tag,
            arrival: request.arrival,
            end: SimTime::from_ns(self.now),
            queue: request.queue,
            op: request.op,
        });
        self.host.remove(slot);
    }

    /// Unmaps the pages that a trim covers whole, of those that it touches, each after what came before
    /// it.
    #[inline(never)]
    fn trim(&mut self, slot: u32, touched: u32) {
        let request = self.host[slot].request;
        let covered = self.geometry.pages_covered(request.lba, request.sectors);
        let skipped = touched - (covered.end - covered.start) as u32;
        for lpn in covered.start as u32..covered.end as u32 {
            let id = self.flash.txns.insert(request.arrival.as_ns());
            let txn = &mut self.flash.txns[id];
            txn.lpn = Lpn(lpn);
            txn.owner = Owner::Request(slot);
            txn.kind = OpKind::Erase;
            txn.charge(Part::HostQueue, self.now);
            watch!(self, begins(id, &self.flash.txns[id], request.op));
            self.drop_buffered(Lpn(lpn));
            self.acquire(id);
        }
        self.host[slot].remaining -= skipped;
    }
}
