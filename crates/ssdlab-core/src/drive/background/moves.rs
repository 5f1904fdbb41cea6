//! Moves single pages: a page that the host has just read goes to better blocks of its plane, its
//! chip or the drive.
//!
//! If the host has read the whole page, the drive only programs it. Otherwise the drive first reads
//! the rest. As for any copy, the map follows only if the page was not written in the meantime.

use ssdlab_nand::{Geometry, Lpn, PlaneId, Ppn};

use super::Background;
use crate::account::{Cause, OpKind};
use crate::audit::audit_event;
use crate::config::{Allocation, Resolved};
use crate::drive::machine::Machine;
use crate::drive::translation::Translation;
use crate::flash::{NewTxn, Owner, Rank, TxnId};
use crate::ftl::{Map, PlaneOrder};
use crate::policy::PlacementHint;
use crate::policy::allocation::{BlockClass, StreamId};
use crate::policy::background::{HostRead, Trigger};
use crate::policy::columns::{Column, Per};
use crate::policy::event::{Event, EventMask};

/// The planes among which pages move, and the next plane of each kind of search.
#[derive(Clone, Debug)]
pub(in crate::drive) struct Moves {
    /// Number of consecutive planes, a part of the drive, among which a page moves.
    span: u32,
    /// By part, the first plane to ask for a place for the next page, counted within the part.
    takes: Box<[u32]>,
    /// By part and class, the first plane to ask to make room, counted within the part: the hand of
    /// CLOCK passes from plane to plane.
    hands: Box<[u32]>,
    /// Number of pages on each plane whose home is another plane. Empty if pages have no home or do
    /// not leave it.
    foreign: Box<[u32]>,
    max_foreign_pages: u32,
}

impl Moves {
    /// Returns the state of a drive on which no page has moved.
    pub(crate) fn new(resolved: &Resolved) -> Moves {
        let config = &resolved.config;
        let span = resolved.classes.move_span;
        let planes = resolved.geometry().plane_count();
        let parts = (planes / span) as usize;
        let leave_home = config.ftl.allocation == Allocation::Static && span > 1;
        Moves {
            span,
            takes: vec![0; parts].into(),
            hands: vec![0; parts * resolved.classes.count].into(),
            foreign: vec![0; if leave_home { planes as usize } else { 0 }].into(),
            max_foreign_pages: resolved.max_foreign_pages,
        }
    }

    /// Returns the columns that a state file carries.
    pub(crate) fn columns(&mut self) -> [Column<'_>; 2] {
        let last = u64::from(self.span) - 1;
        [
            Column::new("move_takes", Per::Drive, &mut self.takes).up_to(last),
            Column::new("move_hands", Per::Drive, &mut self.hands).up_to(last),
        ]
    }

    /// Counts the pages that are not on their home plane.
    pub(crate) fn recount(&mut self, map: &Map, geometry: &Geometry, homes: &PlaneOrder) {
        if self.foreign.is_empty() {
            return;
        }
        self.foreign.fill(0);
        for lpn in (0..map.logical_pages()).map(Lpn) {
            let plane = map.get(lpn).map(|ppn| geometry.plane_of_page(ppn));
            let away = plane.filter(|plane| *plane != homes.plane_of(lpn));
            away.into_iter().for_each(|plane| self.foreign[plane.index()] += 1);
        }
    }

    /// Returns the number of pages on each plane whose home is another plane; empty if the drive
    /// does not count them.
    pub(crate) fn foreign(&self) -> &[u32] {
        &self.foreign
    }

    fn part(&self, plane: PlaneId) -> usize {
        (plane.0 / self.span) as usize
    }

    fn hand(&mut self, plane: PlaneId, class: BlockClass) -> &mut u32 {
        let classes = self.hands.len() / self.takes.len();
        &mut self.hands[self.part(plane) * classes + class.index()]
    }

    /// Returns the planes of the part that contains a plane, starting with the plane of this
    /// number.
    fn planes(&self, plane: PlaneId, number: u32) -> impl Iterator<Item = PlaneId> + Clone + use<> {
        let (span, first) = (self.span, plane.0 - plane.0 % self.span);
        (0..span).map(move |step| PlaneId(first + (number + step) % span))
    }

    /// Returns the number of the next plane after this one, counted within their part.
    fn behind(&self, plane: PlaneId) -> u32 {
        (plane.0 + 1) % self.span
    }

    /// Returns whether a plane may take one more page with this home from another plane.
    fn may_take(&self, plane: PlaneId, home: PlaneId) -> bool {
        let foreign = self.foreign.get(plane.index());
        plane == home || foreign.is_none_or(|&foreign| foreign < self.max_foreign_pages)
    }
}

impl Background {
    /// Offers the policies a page that the host has read from the flash: one may ask to move it.
    #[inline]
    pub(in crate::drive) fn host_has_read(&mut self, machine: &mut Machine, id: TxnId) {
        if machine.policies.subscribed.has(EventMask::HOST_READ) {
            self.may_migrate(machine, id);
        }
    }

    #[inline(never)]
    fn may_migrate(&mut self, machine: &mut Machine, id: TxnId) {
        let txn = &machine.flash.txns[id];
        let (lpn, ppn) = (txn.lpn, txn.ppn);
        // Some pages cannot move: pages without a map entry, pages that have moved since, and pages
        // that cannot be decoded.
        if !matches!(txn.owner, Owner::Request(_))
            || machine.ftl.map.get(lpn) != Some(ppn)
            || txn.uncorrectable
        {
            return;
        }
        let block = machine.geometry.block_of(ppn);
        let class = machine.ftl.blocks.class(block);
        let is_reserved = machine.ftl.blocks.is_reserved(block);
        let reads = machine.flash.cells.reads_of_host();
        let read = HostRead { lpn, block, is_reserved, class, reads };
        machine.publish(&Event::HostRead(&read));
        if let Some(to) = machine.policies.take_migration(lpn) {
            self.move_page(machine, (lpn, ppn), Some(id), to);
        }
    }

    /// Moves a page to blocks of this class and stream, if the page is mapped.
    #[cold]
    pub(super) fn migrate(
        &mut self,
        machine: &mut Machine,
        lpn: Lpn,
        to: (BlockClass, Option<StreamId>),
    ) {
        match machine.ftl.map.get(lpn) {
            Some(ppn) => self.move_page(machine, (lpn, ppn), None, to),
            None => machine.publish(&Event::MigrationDropped(lpn)),
        }
    }

    /// Moves a page to blocks of this class and stream. `read` is the operation that has just read
    /// it, if any.
    fn move_page(
        &mut self,
        machine: &mut Machine,
        (lpn, from): (Lpn, Ppn),
        read: Option<TxnId>,
        (class, stream): (BlockClass, Option<StreamId>),
    ) {
        let whole = machine.geometry.page_mask();
        let class = BlockClass(class.0.min(machine.resolved.classes.count as u8 - 1));
        self.moves.get_or_insert_with(|| {
            let mut moves = Moves::new(&machine.resolved);
            moves.recount(&machine.ftl.map, &machine.geometry, machine.planes.order());
            Box::new(moves)
        });
        let has_data = read.is_some_and(|read| machine.flash.txns[read].mask == whole);
        let lies_on = machine.geometry.plane_of_page(from);
        let Some(to) = self.plane_for_move(machine, lpn, lies_on, class) else {
            self.ask_for_room(machine, lpn, lies_on, class);
            return machine.publish(&Event::MigrationDropped(lpn));
        };
        let erases = machine.ftl.blocks.erases(machine.geometry.block_of(from));
        let new = NewTxn {
            lpn,
            owner: Owner::Move { from, erases },
            kind: OpKind::Read,
            cause: Cause::Migration,
            mask: whole,
            sectors: machine.geometry.sectors_per_page(),
        };
        let id = machine.flash.txns.begin(new, machine.now);
        if let Some(read) = read {
            audit_event!(machine, copies_read(id, read));
        }
        machine.flash.txns.set_page(id, from);
        machine.flash.txns.set_plane(id, lies_on);
        let hint = PlacementHint { quality: Some(class), stream, ..PlacementHint::default() };
        machine.flash.txns.set_hint(id, hint);
        machine.publish(&Event::MigrationBegan(lpn));
        if has_data {
            return self.program_moved(machine, id, to);
        }
        machine.flash.assign_seq(id);
        machine.flash.enqueue(id, Rank::BACKGROUND, machine.now);
    }

    /// Programs a page that moves on this plane. The next page goes to another plane.
    fn program_moved(&mut self, machine: &mut Machine, id: TxnId, to: PlaneId) {
        let moves = self.moves.as_mut().expect(HAS_MOVES);
        moves.takes[moves.part(to)] = moves.behind(to);
        let PlacementHint { quality, stream, .. } = machine.flash.txns[id].hint;
        machine.make_hint(id);
        machine.flash.txns.program_copy(id);
        machine.flash.txns.set_plane(id, to);
        let hint = machine.flash.txns.hint_mut(id);
        (hint.quality, hint.stream) = (quality, stream.or(hint.stream));
        machine.flash.assign_seq(id);
        machine.flash.enqueue(id, Rank::BACKGROUND, machine.now);
    }

    /// Returns the plane that takes a page: the next one of its part that has a page of the class
    /// for it.
    fn plane_for_move(
        &self,
        machine: &Machine,
        lpn: Lpn,
        lies_on: PlaneId,
        class: BlockClass,
    ) -> Option<PlaneId> {
        let moves = self.moves.as_ref().expect(HAS_MOVES);
        let mut planes = moves.planes(lies_on, moves.takes[moves.part(lies_on)]);
        planes.find(|&plane| {
            machine.ftl.alloc.pages_to_move_to(plane, class) > 0
                && self.may_take(machine, plane, lpn, lies_on)
        })
    }

    /// Returns whether a page may go from one plane to another.
    fn may_take(&self, machine: &Machine, plane: PlaneId, lpn: Lpn, lies_on: PlaneId) -> bool {
        let moves = self.moves.as_ref().expect(HAS_MOVES);
        plane == lies_on || moves.may_take(plane, machine.planes.home(lpn))
    }

    /// Asks the background policies for room when no plane has a page of the class left. It asks
    /// plane by plane until a job begins. For each class, one block of a part is emptied at a time.
    fn ask_for_room(
        &mut self,
        machine: &mut Machine,
        lpn: Lpn,
        lies_on: PlaneId,
        class: BlockClass,
    ) {
        let moves = self.moves.as_mut().expect(HAS_MOVES);
        let hand = *moves.hand(lies_on, class);
        let planes = moves.planes(lies_on, hand);
        let is_emptied = |block| machine.ftl.blocks.class(block) == class;
        if planes.clone().any(|plane| {
            self.jobs.block(plane).is_some_and(is_emptied)
                && self.may_take(machine, plane, lpn, lies_on)
        }) {
            return;
        }
        let mut busy = None;
        for plane in planes {
            let reserved = machine.policies.metadata.reserved_blocks(plane, class);
            if reserved.unwrap_or(0) == 0 || !self.may_take(machine, plane, lpn, lies_on) {
                continue;
            }
            if self.jobs.block(plane).is_some() {
                busy = busy.or(Some(plane));
                continue;
            }
            machine.publish(&Event::NoSpace { plane, class });
            self.choose_job(machine, plane, Trigger::NoSpace);
            if self.jobs.block(plane).is_some() {
                let moves = self.moves.as_mut().expect(HAS_MOVES);
                *moves.hand(plane, class) = moves.behind(plane);
                return;
            }
        }
        // The idle planes have nothing to empty. The first busy plane is asked when its job has
        // ended.
        if let Some(plane) = busy {
            machine.publish(&Event::NoSpace { plane, class });
        }
    }

    /// Returns whether a move at the head of its queue may begin. If not, the drive drops it.
    #[inline(never)]
    pub(in crate::drive) fn may_move(&mut self, machine: &mut Machine, id: TxnId) -> bool {
        let txn = &machine.flash.txns[id];
        let Owner::Move { from, .. } = txn.owner else { return true };
        let fits = match txn.kind {
            OpKind::Read => machine.ftl.map.valid(txn.ppn) == Some(txn.lpn),
            _ => {
                let class = txn.hint.quality.expect("a move knows where to");
                machine.ftl.alloc.pages_to_move_to(txn.plane, class) > 0
                    && self.may_take(
                        machine,
                        txn.plane,
                        txn.lpn,
                        machine.geometry.plane_of_page(from),
                    )
            }
        };
        if !fits {
            machine.flash.pop(machine.flash.txns[id].plane, machine.flash.txns[id].plane_queue);
            machine.flash.wait_ends(id, machine.now);
            drop_move(machine, id);
        }
        fits
    }

    /// Continues a move after one of its operations.
    #[inline(never)]
    pub(in crate::drive) fn continue_move(
        &mut self,
        machine: &mut Machine,
        translation: &mut Translation,
        id: TxnId,
        from: Ppn,
        erases: u32,
    ) {
        let lies_on = machine.geometry.plane_of_page(from);
        let txn = &machine.flash.txns[id];
        let lpn = txn.lpn;
        if txn.kind == OpKind::Read && txn.uncorrectable {
            return drop_move(machine, id);
        }
        if txn.kind == OpKind::Read {
            let class = txn.hint.quality.expect("a move knows where to");
            machine.flash.txns.count_from(id, machine.now);
            return match self.plane_for_move(machine, lpn, lies_on, class) {
                Some(to) => self.program_moved(machine, id, to),
                None => drop_move(machine, id),
            };
        }
        audit_event!(machine, programmed(id, &machine.flash.txns[id], &machine.ftl, false));
        let txn = &machine.flash.txns[id];
        let (to, plane) = (txn.ppn, txn.plane);
        machine.flash.txns.remove(id);
        audit_event!(machine, gone(id));
        // The page may be at that place again, with other data.
        let same = machine.ftl.blocks.erases(machine.geometry.block_of(from)) == erases;
        let from = if same { from } else { Ppn(u32::MAX) };
        if machine.ftl.commit_copy(lpn, from, to) {
            machine.stats.migration.hot += 1;
            let moved = [machine.geometry.block_of(from), machine.geometry.block_of(to)];
            machine.publish_migrated(lpn, moved, Cause::Migration, true);
            translation.entry_changed(machine, lpn);
            if plane != lies_on {
                self.on_page_mapped(machine, plane, lpn);
            }
            self.on_page_invalidated(machine, lpn, (lies_on, plane), Trigger::Changed);
        } else {
            machine.stats.migration.outdated += 1;
            let block = machine.geometry.block_of(to);
            machine.publish(&Event::ProgramOutdated { lpn, block });
            machine.publish(&Event::MigrationDropped(lpn));
        }
        machine.publish_if_closed(to);
        self.plane_changed(machine, plane, Trigger::Changed);
    }

    /// Counts a page that has moved to a plane.
    fn on_page_mapped(&mut self, machine: &mut Machine, plane: PlaneId, lpn: Lpn) {
        if let Some(count) = self.foreign_on(machine, plane, lpn) {
            *count += 1;
        }
    }

    /// Counts a page that a plane no longer holds.
    pub(in crate::drive) fn on_page_unmapped(
        &mut self,
        machine: &mut Machine,
        plane: PlaneId,
        lpn: Lpn,
    ) {
        if let Some(count) = self.foreign_on(machine, plane, lpn) {
            *count -= 1;
        }
    }

    /// Returns the counter of a plane's foreign pages, if the page has another home.
    fn foreign_on(&mut self, machine: &mut Machine, plane: PlaneId, lpn: Lpn) -> Option<&mut u32> {
        let moves = self.moves.as_mut()?;
        let away = machine.planes.home(lpn) != plane;
        moves.foreign.get_mut(plane.index()).filter(|_| away)
    }

    /// Handles a page that became invalid on `plane`, when its new copy is on the plane `written`.
    #[inline]
    pub(in crate::drive) fn on_page_invalidated(
        &mut self,
        machine: &mut Machine,
        lpn: Lpn,
        (plane, written): (PlaneId, PlaneId),
        trigger: Trigger,
    ) {
        if plane != written {
            self.on_page_unmapped(machine, plane, lpn);
            self.plane_changed(machine, plane, trigger);
        }
    }
}

fn drop_move(machine: &mut Machine, id: TxnId) {
    machine.stats.migration.dropped += 1;
    let lpn = machine.flash.txns[id].lpn;
    machine.flash.txns.remove(id);
    audit_event!(machine, gone(id));
    machine.publish(&Event::MigrationDropped(lpn));
}

/// The panic text of code that only runs on a drive whose pages move.
const HAS_MOVES: &str = "a drive whose pages move";
