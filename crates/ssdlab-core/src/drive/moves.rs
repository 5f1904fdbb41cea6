//! Pages that move one by one: what the host has just read goes to better blocks, of its plane, its chip
//! or the drive.
//!
//! A page that was read whole is at hand and only programmed; of another the rest is read first, where
//! it lies. As for any copy, the map follows only if the page was not written meanwhile.

use ssdlab_nand::{Geometry, Lpn, PlaneId, Ppn};

use super::Drive;
use super::watch::watch;
use crate::account::{Cause, OpKind};
use crate::config::{Allocation, Resolved};
use crate::flash::{Owner, Rank, TxnId};
use crate::ftl::{Map, PlaneOrder};
use crate::metadata::block_class::BlockClassChoice;
use crate::policy::PlacementHint;
use crate::policy::allocation::BlockClass;
use crate::policy::background::{HostRead, Trigger};
use crate::policy::event::{Event, EventMask};

/// Where pages may move, and whose turn it is.
#[derive(Clone, Debug)]
pub(super) struct Moves {
    /// A page moves among so many planes that follow one another, a part of the drive.
    span: u32,
    /// By part, the plane that is asked first to take the next page, counted within the part.
    takes: Box<[u32]>,
    /// By part and class, the plane that is asked first to make room, counted within the part: CLOCK's
    /// hand goes from plane to plane.
    hands: Box<[u32]>,
    /// Pages on each plane whose home is another; empty where pages have no home or do not leave it.
    foreign: Box<[u32]>,
    most_foreign: u32,
}

impl Moves {
    /// Nothing has moved; `None` if no block is better than another.
    pub fn new(resolved: &Resolved) -> Option<Moves> {
        let config = &resolved.config;
        let block_class = &config.metadata.block_class;
        let span = match block_class {
            BlockClassChoice::Measured(groups) => groups.scope.planes(resolved.geometry()),
            // A priority has blocks on every plane.
            BlockClassChoice::Predicted(_) => 1,
            BlockClassChoice::None(_) | BlockClassChoice::Factory(_) => return None,
        };
        let planes = resolved.geometry().plane_count();
        let parts = (planes / span) as usize;
        let leave_home = config.ftl.allocation == Allocation::Static && span > 1;
        Some(Moves {
            span,
            takes: vec![0; parts].into(),
            hands: vec![0; parts * block_class.classes()].into(),
            foreign: vec![0; if leave_home { planes as usize } else { 0 }].into(),
            most_foreign: resolved.most_foreign,
        })
    }

    /// Counts the pages that are not at home.
    pub fn recount(&mut self, map: &Map, geometry: &Geometry, homes: &PlaneOrder) {
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

    /// Pages on each plane whose home is another; empty if nobody counts them.
    pub fn foreign(&self) -> &[u32] {
        &self.foreign
    }

    fn part(&self, plane: PlaneId) -> usize {
        (plane.0 / self.span) as usize
    }

    fn hand(&mut self, plane: PlaneId, class: BlockClass) -> &mut u32 {
        let classes = self.hands.len() / self.takes.len();
        &mut self.hands[self.part(plane) * classes + class.index()]
    }

    /// The planes of the part in which a plane lies, the one of this number first.
    fn planes(&self, plane: PlaneId, number: u32) -> impl Iterator<Item = PlaneId> + Clone + use<> {
        let (span, first) = (self.span, plane.0 - plane.0 % self.span);
        (0..span).map(move |step| PlaneId(first + (number + step) % span))
    }

    /// The number of the plane behind this one, counted within their part.
    fn behind(&self, plane: PlaneId) -> u32 {
        (plane.0 + 1) % self.span
    }

    /// Whether a plane may take one page more that lies elsewhere and has this home.
    fn may_take(&self, plane: PlaneId, home: PlaneId) -> bool {
        let foreign = self.foreign.get(plane.index());
        plane == home || foreign.is_none_or(|&foreign| foreign < self.most_foreign)
    }
}

impl Drive {
    /// The host has read a page from the flash: it may have to move.
    #[inline]
    pub(super) fn host_has_read(&mut self, id: TxnId) {
        if self.background.moves.is_some() && self.policies.wants.has(EventMask::HOST_READ) {
            self.may_migrate(id);
        }
    }

    #[inline(never)]
    fn may_migrate(&mut self, id: TxnId) {
        let txn = &self.flash.txns[id];
        let (lpn, ppn) = (txn.lpn, txn.ppn);
        // What no table knows cannot move, what has moved was read as it was, and what cannot be decoded
        // has nothing to move.
        if !matches!(txn.owner, Owner::Request(_))
            || self.ftl.map.get(lpn) != Some(ppn)
            || txn.uncorrectable
        {
            return;
        }
        let block = self.geometry.block_of(ppn);
        let class = || self.ftl.blocks.class(block);
        let groups = self.policies.metadata.block_groups.as_ref();
        let group = groups.map_or_else(class, |groups| groups.group(block));
        let is_apart = self.ftl.blocks.is_apart(block);
        let read = HostRead { lpn, block, is_apart, group };
        self.policies.publish(&Event::HostRead(&read));
        if let Some(class) = self.policies.take_migration() {
            self.move_page(id, class);
        }
    }

    /// Moves the page that an operation has read to blocks of this class, which is set apart or a
    /// priority's.
    fn move_page(&mut self, read: TxnId, class: BlockClass) {
        let txn = &self.flash.txns[read];
        let (lpn, from) = (txn.lpn, txn.ppn);
        let whole = u64::MAX >> (64 - self.geometry.sectors_per_page());
        let at_hand = txn.mask == whole;
        let lies_on = self.geometry.plane_of_page(from);
        let Some(to) = self.plane_for_move(lpn, lies_on, class) else {
            return self.ask_for_room(lpn, lies_on, class);
        };
        let id = self.flash.txns.insert(self.now);
        watch!(self, takes_over(id, read));
        let erases = self.ftl.blocks.erases(self.geometry.block_of(from));
        let txn = &mut self.flash.txns[id];
        (txn.lpn, txn.ppn, txn.plane) = (lpn, from, lies_on);
        txn.owner = Owner::Move { from, erases };
        txn.kind = OpKind::Read;
        txn.cause = Cause::Migration;
        txn.mask = whole;
        txn.sectors = self.geometry.sectors_per_page() as u16;
        txn.hint = PlacementHint { quality: Some(class), ..PlacementHint::default() };
        self.policies.publish(&Event::MigrationBegan(lpn));
        if at_hand {
            return self.program_moved(id, to);
        }
        self.flash.comes(id);
        self.flash.enqueue(id, Rank::BACKGROUND, self.now);
    }

    /// A page that moves is at hand: it is programmed on this plane, and the next one elsewhere.
    fn program_moved(&mut self, id: TxnId, to: PlaneId) {
        let moves = self.background.moves.as_mut().expect(HAS_MOVES);
        moves.takes[moves.part(to)] = moves.behind(to);
        let txn = &mut self.flash.txns[id];
        (txn.kind, txn.plane) = (OpKind::Program, to);
        self.flash.comes(id);
        self.flash.enqueue(id, Rank::BACKGROUND, self.now);
    }

    /// The plane to which a page goes that lies here: the next that has a page of the class for it.
    fn plane_for_move(&self, lpn: Lpn, lies_on: PlaneId, class: BlockClass) -> Option<PlaneId> {
        let moves = self.background.moves.as_ref().expect(HAS_MOVES);
        let mut planes = moves.planes(lies_on, moves.takes[moves.part(lies_on)]);
        planes.find(|&plane| {
            self.ftl.alloc.pages_to_move_to(plane, class) > 0 && self.may_take(plane, lpn, lies_on)
        })
    }

    /// Whether a page may go from one plane to another.
    fn may_take(&self, plane: PlaneId, lpn: Lpn, lies_on: PlaneId) -> bool {
        let moves = self.background.moves.as_ref().expect(HAS_MOVES);
        plane == lies_on || moves.may_take(plane, self.planes.home(lpn))
    }

    /// No plane to which a page might go has a page of the class left: the background policies learn of it, plane by
    /// plane, until a job begins. Of each class one block of a part is emptied at a time.
    fn ask_for_room(&mut self, lpn: Lpn, lies_on: PlaneId, class: BlockClass) {
        let moves = self.background.moves.as_mut().expect(HAS_MOVES);
        let hand = *moves.hand(lies_on, class);
        let planes = moves.planes(lies_on, hand);
        let is_emptied = |block| self.ftl.blocks.class(block) == class;
        if planes.clone().any(|plane| {
            self.background.jobs.block(plane).is_some_and(is_emptied)
                && self.may_take(plane, lpn, lies_on)
        }) {
            return;
        }
        let mut busy = None;
        for plane in planes {
            let groups = self.policies.metadata.block_groups.as_ref();
            let none_apart = groups.is_none_or(|groups| groups.apart(plane, class) == 0);
            if none_apart || !self.may_take(plane, lpn, lies_on) {
                continue;
            }
            if self.background.jobs.block(plane).is_some() {
                busy = busy.or(Some(plane));
                continue;
            }
            self.wants_room(plane, class);
            self.choose_job(plane, Trigger::LacksRoom);
            if self.background.jobs.block(plane).is_some() {
                let moves = self.background.moves.as_mut().expect(HAS_MOVES);
                *moves.hand(plane, class) = moves.behind(plane);
                return;
            }
        }
        // The others have nothing to empty: the first of these is asked once its job has ended.
        if let Some(plane) = busy {
            self.wants_room(plane, class);
        }
    }

    fn wants_room(&mut self, plane: PlaneId, class: BlockClass) {
        self.policies.publish(&Event::NoSpace { plane, class });
    }

    /// Whether a move that has come to the head of its lane may begin; if not, it is given up.
    #[inline(never)]
    pub(super) fn may_move(&mut self, id: TxnId) -> bool {
        let txn = &self.flash.txns[id];
        let Owner::Move { from, .. } = txn.owner else { return true };
        let fits = match txn.kind {
            OpKind::Read => self.ftl.map.valid(txn.ppn) == Some(txn.lpn),
            _ => {
                let class = txn.hint.quality.expect("a move knows where to");
                self.ftl.alloc.pages_to_move_to(txn.plane, class) > 0
                    && self.may_take(txn.plane, txn.lpn, self.geometry.plane_of_page(from))
            }
        };
        if !fits {
            self.flash.pop(self.flash.txns[id].plane, self.flash.txns[id].lane);
            self.flash.wait_ends(id, self.now);
            self.give_up_move(id);
        }
        fits
    }

    fn give_up_move(&mut self, id: TxnId) {
        self.stats.migration.abandoned += 1;
        self.flash.txns.remove(id);
        watch!(self, gone(id));
    }

    /// An operation of a move has ended.
    #[inline(never)]
    pub(super) fn continue_move(&mut self, id: TxnId, from: Ppn, erases: u32) {
        let lies_on = self.geometry.plane_of_page(from);
        let txn = &mut self.flash.txns[id];
        let lpn = txn.lpn;
        if txn.kind == OpKind::Read && txn.uncorrectable {
            return self.give_up_move(id);
        }
        if txn.kind == OpKind::Read {
            txn.failed = 0;
            txn.since = self.now;
            let class = txn.hint.quality.expect("a move knows where to");
            return match self.plane_for_move(lpn, lies_on, class) {
                Some(to) => self.program_moved(id, to),
                None => self.give_up_move(id),
            };
        }
        watch!(self, programmed(id, &self.flash.txns[id], &self.ftl));
        let txn = &self.flash.txns[id];
        let (to, plane) = (txn.ppn, txn.plane);
        self.flash.txns.remove(id);
        watch!(self, gone(id));
        // The page may lie there again, with other data.
        let same = self.ftl.blocks.erases(self.geometry.block_of(from)) == erases;
        let from = if same { from } else { Ppn(u32::MAX) };
        if self.ftl.commit_copy(lpn, from, to) {
            self.stats.migration.hot += 1;
            let moved = [self.geometry.block_of(from), self.geometry.block_of(to)];
            self.publish_migrated(lpn, moved, Cause::Migration, true);
            self.entry_changed(lpn);
            if plane != lies_on {
                self.holds(plane, lpn);
            }
            self.leaves(lpn, lies_on, plane);
        } else {
            self.stats.migration.outdated += 1;
        }
        self.publish_if_closed(to);
        self.plane_changed(plane);
    }

    /// A page has come to a plane on which it did not lie.
    fn holds(&mut self, plane: PlaneId, lpn: Lpn) {
        if let Some(count) = self.foreign_on(plane, lpn) {
            *count += 1;
        }
    }

    /// A plane holds a page no longer.
    pub(super) fn no_longer_holds(&mut self, plane: PlaneId, lpn: Lpn) {
        if let Some(count) = self.foreign_on(plane, lpn) {
            *count -= 1;
        }
    }

    /// The count to which a page on a plane belongs, if its home is another.
    fn foreign_on(&mut self, plane: PlaneId, lpn: Lpn) -> Option<&mut u32> {
        let moves = self.background.moves.as_mut()?;
        let away = self.planes.home(lpn) != plane;
        moves.foreign.get_mut(plane.index()).filter(|_| away)
    }

    /// A page became invalid on a plane and lies on another, perhaps, where it was written.
    #[inline]
    pub(super) fn leaves(&mut self, lpn: Lpn, plane: PlaneId, written: PlaneId) {
        if plane != written {
            self.no_longer_holds(plane, lpn);
            self.plane_changed(plane);
        }
    }
}

/// What reads lead to only where pages may move.
const HAS_MOVES: &str = "a drive whose pages move";
