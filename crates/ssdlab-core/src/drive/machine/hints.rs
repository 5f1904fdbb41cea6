//! The hints of pages that are written: the request's attributes, and the answers of the placement
//! chain.

use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_nand::{Lpn, Ppn, ProgramMode};

use super::Machine;
use crate::account::{Cause, Priority, RequestAttrs};
use crate::config::StartProgramMode;
use crate::flash::{Owner, Room, TxnId};
use crate::host::Active;
use crate::metadata::Metadata;
use crate::policy::allocation::BlockClass;
use crate::policy::component::Components;
use crate::policy::event::{Event, EventMask};
use crate::policy::placement::{PageView, PlacementView};
use crate::policy::program_mode::ProgramModeView;
use crate::policy::{Hotness, PlacementHint};

impl Machine {
    /// Sets the placement hint of a transaction. A page of a request takes the hint of the request.
    /// A page from the buffer keeps the hint that was made when it left.
    #[inline(always)]
    pub(in crate::drive) fn make_hint(&mut self, id: TxnId) {
        let txn = &self.flash.txns[id];
        let (owner, cause) = (txn.owner, txn.cause);
        let mut hint = match owner {
            Owner::Request(slot) => self.host[slot].hint,
            Owner::Buffer { .. } => txn.hint,
            _ => {
                let used = self.hotness_of(txn.lpn);
                self.hint_of(txn.lpn, self.attrs(owner), cause, false, used)
            }
        };
        if self.policies.asks_pages {
            self.fill_page(self.flash.txns[id].lpn, self.attrs(owner), cause, &mut hint);
        }
        self.flash.txns.set_hint(id, hint);
    }

    /// Asks the placement chain for the parts of the hint that depend on the page itself.
    pub(in crate::drive) fn fill_page(
        &mut self,
        lpn: Lpn,
        attrs: RequestAttrs,
        cause: Cause,
        hint: &mut PlacementHint,
    ) {
        let RequestAttrs { priority, bytes, .. } = attrs;
        let from = self.ftl.map.get(lpn).map(|ppn| self.geometry.block_of(ppn));
        let now = self.now;
        let components = seen(&self.policies.metadata, self.policies.sees_components);
        let view = PageView { lpn, cause, now, priority, bytes, from, components };
        self.policies.placement.iter_mut().for_each(|link| link.fill_page(&view, hint));
    }

    /// Returns the hint of a page that is written for such a request.
    pub(in crate::drive) fn hint_of(
        &mut self,
        lpn: Lpn,
        attrs: RequestAttrs,
        cause: Cause,
        buffer_full: bool,
        used: Option<Hotness>,
    ) -> PlacementHint {
        let mut filled = PlacementHint { hotness: used, ..PlacementHint::default() };
        if self.policies.placement.is_empty() {
            return filled;
        }
        let RequestAttrs { priority, hint, pages, bytes } = attrs;
        let view = PlacementView {
            cause,
            now: self.now,
            lpn,
            priority,
            hint,
            pages,
            bytes,
            unfinished: self.host.unfinished(),
            buffer_full,
            hotness: used,
            free: self.ftl.alloc.free_by_type().unwrap_or_default(),
            components: seen(&self.policies.metadata, self.policies.sees_components),
        };
        for link in &mut self.policies.placement {
            link.fill(&view, &mut filled);
        }
        filled
    }

    /// Returns the attributes of the request that a transaction works for. For a page that leaves
    /// the buffer it is the write that waits for its slot. If no write waits, the page gets the
    /// lowest priority.
    #[inline]
    pub(in crate::drive) fn attrs(&self, owner: Owner) -> RequestAttrs {
        match owner {
            Owner::Request(slot) => {
                let Active { request, pages, .. } = &self.host[slot];
                let bytes = u64::from(request.sectors) * SECTOR_BYTES;
                let priority = Priority::of_queue(request.queue);
                RequestAttrs { priority, hint: request.hint, pages: *pages, bytes }
            }
            Owner::Buffer { room: Room::For(write), .. } => {
                self.attrs(self.flash.txns[write].owner)
            }
            // A request of any priority may wait for the map.
            Owner::Map { .. } => self.of_a_page(Priority::HIGHEST),
            _ => self.of_a_page(Priority::of_queue(self.host.queues() as u8 - 1)),
        }
    }

    /// Returns the attributes of a page without a known request.
    #[inline]
    pub(in crate::drive) fn of_a_page(&self, priority: Priority) -> RequestAttrs {
        RequestAttrs { priority, hint: 0, pages: 1, bytes: self.geometry.page_size.get() }
    }

    /// Returns the hotness of a page, if the drive learns it.
    pub(crate) fn hotness_of(&self, lpn: Lpn) -> Option<Hotness> {
        self.policies.metadata.hotness(lpn)
    }

    /// Returns the program mode that a page of this hotness would get at its physical place.
    pub(super) fn program_mode_for(
        &mut self,
        (lpn, hotness): (Lpn, Option<Hotness>),
        ppn: Ppn,
        cause: Cause,
    ) -> ProgramMode {
        let block = self.geometry.block_of(ppn);
        let view = ProgramModeView {
            now: self.now,
            cause,
            lpn,
            block,
            page: self.geometry.page_in_block(ppn),
            page_type: self.ftl.page_type(ppn),
            pe_cycles: self.ftl.blocks.erases(block),
            class: self.ftl.blocks.class(block),
            hotness,
            components: Components::new(&self.policies.metadata),
        };
        let mut hint = PlacementHint::default();
        self.policies.program_mode.iter_mut().for_each(|link| link.fill(&view, &mut hint));
        hint.program_mode.unwrap_or_default()
    }

    /// Sets the program mode of the page that a transaction was given, and counts the granted class
    /// and page type.
    #[inline(always)]
    pub(in crate::drive) fn choose_program(&mut self, id: TxnId) {
        let txn = &self.flash.txns[id];
        let (owner, block) = (txn.owner, self.geometry.block_of(txn.ppn));
        let class = self.ftl.blocks.class(block);
        if let Some(streams) = &mut self.lifetime.streams {
            streams.programmed(txn.ppn, &self.geometry, txn.hint.stream, txn.cause);
        }
        let page_type = self.ftl.page_type(txn.ppn);
        let view = ProgramModeView {
            now: self.now,
            cause: txn.cause,
            lpn: txn.lpn,
            block,
            page: self.geometry.page_in_block(txn.ppn),
            page_type,
            pe_cycles: self.ftl.blocks.erases(block),
            class,
            hotness: txn.hint.hotness,
            components: Components::new(&self.policies.metadata),
        };
        let hint = self.flash.txns.hint_mut(id);
        for link in &mut self.policies.program_mode {
            link.fill(&view, hint);
        }
        if !matches!(owner, Owner::Job(_) | Owner::Move { .. } | Owner::Map { .. }) {
            let txn = &self.flash.txns[id];
            self.stats.granted(txn.hint.request().class, class);
            self.stats.typed(txn.hint.page_type, page_type);
            if let Owner::Request(slot) = owner {
                let slowest = &mut self.host[slot].page_type;
                *slowest = (*slowest).max(Some(page_type));
            }
            if self.policies.subscribed.has(EventMask::PAGE_ALLOCATED) {
                let class = txn.hint.quality.unwrap_or(BlockClass::BEST);
                let (plane, arrival) = (txn.plane, txn.began());
                self.policies.publish(self.now, &Event::PageAllocated { plane, class, arrival });
            }
        }
    }

    /// Sets the program mode of one page that was laid down.
    pub(in crate::drive) fn program_prefilled(&mut self, lpn: Lpn) {
        if self.resolved.config.start.program_mode == StartProgramMode::Policy
            && let Some(ppn) = self.ftl.map.get(lpn)
        {
            let program_mode = self.program_mode_for((lpn, self.hotness_of(lpn)), ppn, Cause::Host);
            self.flash.cells.set_program_mode(ppn, program_mode);
        }
    }
}

/// Returns the components that the placement chain sees.
#[inline(always)]
fn seen(metadata: &Metadata, is_needed: bool) -> Components<'_> {
    if is_needed { Components::new(metadata) } else { Components::NONE }
}
