//! Pages that move one by one: what the host has just read goes to better blocks of the same plane.
//!
//! A page that was read whole is at hand and only programmed; of another the rest is read first. As for
//! any copy, the map follows only if the page was not written meanwhile.

use ssdlab_nand::{PlaneId, Ppn};

use super::Drive;
use super::watch::watch;
use crate::account::{Cause, OpKind};
use crate::flash::{Owner, Rank, TxnId};
use crate::policy::Wish;
use crate::policy::tend::{PageRead, TendPolicy, Trigger};

impl Drive {
    /// The host has read a page from the flash: it is counted, and may have to move.
    pub(super) fn count_read(&mut self, id: TxnId) {
        let Some(counts) = &mut self.heat else { return };
        let txn = &self.flash.txns[id];
        let (lpn, ppn) = (txn.lpn, txn.ppn);
        // What no table knows cannot move, and what has moved was read as it was.
        if !matches!(txn.owner, Owner::Request(_)) || self.ftl.map.get(lpn) != Some(ppn) {
            return;
        }
        let block = self.geometry.block_of(ppn);
        let count = counts.read(lpn);
        let group = self.groups.as_ref().map_or(0, |groups| groups.group(block));
        let is_apart = self.ftl.blocks.is_apart(block);
        let read = PageRead { block, is_apart, group, count };
        let to = self.answers.tend.iter_mut().find_map(|tender| tender.page_read(&read));
        if let Some(class) = to {
            self.move_page(id, class);
        }
    }

    /// Moves the page that an operation has read to blocks of this class, which is set apart.
    fn move_page(&mut self, read: TxnId, class: u8) {
        let Some(plane) = self.has_room_for_moves(read, class) else { return };
        let txn = &self.flash.txns[read];
        let (lpn, from) = (txn.lpn, txn.ppn);
        let whole = u64::MAX >> (64 - self.sectors_per_page);
        let at_hand = txn.mask == whole && !txn.uncorrectable;
        let id = self.flash.txns.insert(self.now);
        self.flash.comes(id);
        watch!(self, takes_over(id, read));
        let erases = self.ftl.blocks.erases(self.geometry.block_of(from));
        let txn = &mut self.flash.txns[id];
        (txn.lpn, txn.ppn, txn.plane) = (lpn, from, plane);
        txn.owner = Owner::Move { from, erases };
        txn.kind = if at_hand { OpKind::Program } else { OpKind::Read };
        txn.cause = Cause::Migration;
        txn.mask = whole;
        txn.sectors = self.sectors_per_page as u16;
        txn.wish = Wish { quality: Some(class), ..Wish::default() };
        if let Some(counts) = &mut self.heat {
            counts.forget(lpn);
        }
        self.flash.enqueue(id, Rank::BACKGROUND, self.now);
    }

    /// The plane of a page that was read, if a page more of this class can be had there; if not, the
    /// tenders hear of it.
    fn has_room_for_moves(&mut self, read: TxnId, class: u8) -> Option<PlaneId> {
        let plane = self.geometry.plane_of_page(self.flash.txns[read].ppn);
        if self.ftl.alloc.pages_apart(plane, class) > 0 {
            return Some(plane);
        }
        self.answers.tend.iter_mut().for_each(|tender| tender.lacks_room(plane, class));
        self.tend_if_idle(plane, Trigger::Changed);
        None
    }

    /// Whether a move that has come to the head of its lane may begin; if not, it is given up.
    pub(super) fn may_move(&mut self, id: TxnId) -> bool {
        let txn = &self.flash.txns[id];
        let fits = match txn.kind {
            OpKind::Read => self.ftl.map.valid(txn.ppn) == Some(txn.lpn),
            _ => {
                let class = txn.wish.quality.expect("a move knows where to");
                self.ftl.alloc.pages_apart(txn.plane, class) > 0
            }
        };
        if !fits {
            self.stats.moves.given_up += 1;
            self.flash.pop(self.flash.txns[id].plane, self.flash.txns[id].lane);
            self.flash.wait_ends(id, self.now);
            self.flash.txns.remove(id);
            watch!(self, gone(id));
        }
        fits
    }

    /// An operation of a move has ended.
    pub(super) fn move_goes_on(&mut self, id: TxnId, from: Ppn, erases: u32) {
        if self.flash.txns[id].kind == OpKind::Read {
            let txn = &mut self.flash.txns[id];
            txn.kind = OpKind::Program;
            txn.failed = 0;
            txn.since = self.now;
            self.flash.comes(id);
            return self.flash.enqueue(id, Rank::BACKGROUND, self.now);
        }
        watch!(self, programmed(id, &self.flash.txns[id], &self.ftl));
        let txn = &self.flash.txns[id];
        let (lpn, to, plane) = (txn.lpn, txn.ppn, txn.plane);
        self.flash.txns.remove(id);
        watch!(self, gone(id));
        // The page may lie there again, with other data.
        let same = self.ftl.blocks.erases(self.geometry.block_of(from)) == erases;
        let from = if same { from } else { Ppn(u32::MAX) };
        if self.ftl.commit_copy(lpn, from, to) {
            self.stats.moves.hot_in += 1;
            self.entry_changed(lpn);
        } else {
            self.stats.moves.outdated += 1;
        }
        self.tend_changed(plane);
    }
}
