//! The part of the page map that the controller holds when it does not hold the whole map.
//!
//! The map lies on the flash in translation pages. Each holds the entries of as many neighboring
//! logical pages as fit. Translation pages have logical pages of their own, behind those of the
//! host, so garbage collection moves them like any other page. A small table always records where
//! they lie. The cache loads and drops whole translation pages, the least recently used first.
//! Source: A. Gupta, Y. Kim, B. Urgaonkar, "DFTL", ASPLOS 2009; PV-read, section IV.D (a tenth of
//! the entries).

use std::collections::BTreeMap;

use ssdlab_nand::Lpn;

/// No slot: also the end of a list of slots.
const NONE: u32 = u32::MAX;

/// The size of a map that is held in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapShape {
    /// Entries of a translation page.
    pub entries: u32,
    /// Translation pages that the controller holds.
    pub slots: u32,
    /// Logical pages of the host.
    pub logical: u32,
}

impl MapShape {
    /// Returns the number of translation pages.
    pub fn pages(&self) -> u32 {
        self.logical.div_ceil(self.entries)
    }
}

/// A translation page that the cache holds or loads.
#[derive(Clone, Copy, Debug)]
struct Slot {
    page: u32,
    /// Its neighbors in the order of use.
    newer: u32,
    older: u32,
    dirty: bool,
    loading: bool,
}

/// The state of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    /// The cache holds it.
    Here,
    /// The cache is loading its translation page.
    Coming,
    /// The cache does not hold it.
    Absent,
}

/// The result of a request for a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Room {
    /// A slot is free, and no page must be written for it.
    Free,
    /// A slot is free after this page, which was changed, has been written.
    AfterWriting(u32),
    /// No slot: the cache is loading all of its pages.
    None,
}

/// The held translation pages, their order of use, and the changes to make on the flash.
#[derive(Clone, Debug)]
pub(crate) struct MapCache {
    shape: MapShape,
    slots: Vec<Slot>,
    /// The slot of each translation page; [`NONE`] for none.
    slot_of: Vec<u32>,
    newest: u32,
    oldest: u32,
    /// Each translation page in change on the flash, and whether it must be changed once more.
    patched: BTreeMap<u32, bool>,
}

impl MapCache {
    /// Creates an empty cache.
    pub(crate) fn new(shape: MapShape) -> MapCache {
        MapCache {
            shape,
            slots: Vec::new(),
            slot_of: vec![NONE; shape.pages() as usize],
            newest: NONE,
            oldest: NONE,
            patched: BTreeMap::new(),
        }
    }

    /// Returns the translation page with the entry of a logical page.
    pub(crate) fn page_of(&self, lpn: Lpn) -> u32 {
        lpn.0 / self.shape.entries
    }

    /// Returns the first entry of a translation page, and its number of entries.
    pub(crate) fn entries_of(&self, page: u32) -> (Lpn, u32) {
        (Lpn(page * self.shape.entries), self.shape.entries)
    }

    /// Returns the logical page of a translation page itself.
    pub(crate) fn lpn_of(&self, page: u32) -> Lpn {
        Lpn(self.shape.logical + page)
    }

    /// Returns whether a logical page belongs to a translation page.
    pub(crate) fn is_translation(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.shape.logical
    }

    /// Looks up an entry and makes its page the most recently used one.
    pub(crate) fn look_up(&mut self, lpn: Lpn) -> Entry {
        let slot = self.slot_of[self.page_of(lpn) as usize];
        match self.slots.get(slot as usize) {
            None => Entry::Absent,
            Some(found) if found.loading => Entry::Coming,
            Some(_) => {
                if self.newest != slot {
                    self.unlink(slot);
                    self.link(slot);
                }
                Entry::Here
            }
        }
    }

    /// Assigns a slot to a translation page that is now loaded. In a full cache the least recently
    /// used page leaves.
    pub(crate) fn begin_load(&mut self, page: u32) -> Room {
        let (slot, room) = if (self.slots.len() as u32) < self.shape.slots {
            self.slots.push(Slot { page, newer: NONE, older: NONE, dirty: false, loading: true });
            ((self.slots.len() - 1) as u32, Room::Free)
        } else if self.oldest == NONE {
            return Room::None;
        } else {
            let slot = self.oldest;
            self.unlink(slot);
            let leaves = &mut self.slots[slot as usize];
            let room = if leaves.dirty { Room::AfterWriting(leaves.page) } else { Room::Free };
            self.slot_of[leaves.page as usize] = NONE;
            (leaves.page, leaves.dirty, leaves.loading) = (page, false, true);
            (slot, room)
        };
        self.slot_of[page as usize] = slot;
        room
    }

    /// Returns the slot of a translation page, if the cache holds or loads it.
    pub(crate) fn slot_of(&self, page: u32) -> Option<usize> {
        let slot = self.slot_of[page as usize];
        (slot != NONE).then_some(slot as usize)
    }

    /// Returns whether a slot is free or can be freed.
    pub(crate) fn has_room(&self) -> bool {
        self.oldest != NONE || (self.slots.len() as u32) < self.shape.slots
    }

    /// Ends the load of a translation page.
    pub(crate) fn loaded(&mut self, page: u32) {
        let slot = self.slot_of[page as usize];
        self.slots[slot as usize].loading = false;
        self.link(slot);
    }

    /// Records a change of an entry. Returns false if its page is not held and must be changed on
    /// the flash.
    pub(crate) fn change(&mut self, lpn: Lpn) -> bool {
        self.change_page(self.page_of(lpn))
    }

    /// Records changes of a translation page; returns false if the page is not held.
    pub(crate) fn change_page(&mut self, page: u32) -> bool {
        let slot = self.slot_of[page as usize];
        match self.slots.get_mut(slot as usize) {
            Some(found) => {
                found.dirty = true;
                true
            }
            None => false,
        }
    }

    /// Requests a change of a translation page on the flash. Returns true if the change must start
    /// now, false if one is in progress and will be repeated.
    pub(crate) fn owe(&mut self, page: u32) -> bool {
        match self.patched.get_mut(&page) {
            Some(again) => {
                *again = true;
                false
            }
            None => self.patched.insert(page, false).is_none(),
        }
    }

    /// Ends a change of a translation page on the flash; returns whether it must be changed once
    /// more.
    pub(crate) fn paid(&mut self, page: u32) -> bool {
        match self.patched.remove(&page) {
            Some(true) => self.owe(page),
            _ => false,
        }
    }

    fn link(&mut self, slot: u32) {
        let before = std::mem::replace(&mut self.newest, slot);
        let entry = &mut self.slots[slot as usize];
        (entry.newer, entry.older) = (NONE, before);
        match self.slots.get_mut(before as usize) {
            Some(older) => older.newer = slot,
            None => self.oldest = slot,
        }
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { newer, older, .. } = self.slots[slot as usize];
        match self.slots.get_mut(newer as usize) {
            Some(next) => next.older = older,
            None => self.newest = older,
        }
        match self.slots.get_mut(older as usize) {
            Some(next) => next.newer = newer,
            None => self.oldest = newer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a cache of two slots for translation pages of ten entries.
    fn two() -> MapCache {
        MapCache::new(MapShape { entries: 10, slots: 2, logical: 95 })
    }

    fn load(cache: &mut MapCache, page: u32) -> Room {
        let room = cache.begin_load(page);
        cache.loaded(page);
        room
    }

    #[test]
    fn the_page_used_least_recently_leaves() {
        let mut cache = two();
        assert_eq!((cache.shape.pages(), cache.lpn_of(9)), (10, Lpn(104)));
        assert_eq!(cache.look_up(Lpn(17)), Entry::Absent);
        assert_eq!((load(&mut cache, 1), load(&mut cache, 2)), (Room::Free, Room::Free));
        assert_eq!(cache.look_up(Lpn(17)), Entry::Here);
        assert_eq!(load(&mut cache, 3), Room::Free);
        assert_eq!(cache.look_up(Lpn(25)), Entry::Absent);
        assert_eq!((cache.look_up(Lpn(30)), cache.look_up(Lpn(10))), (Entry::Here, Entry::Here));
    }

    #[test]
    fn a_changed_page_is_written_once_when_it_leaves() {
        let mut cache = two();
        load(&mut cache, 0);
        assert!(cache.change(Lpn(5)) && cache.change(Lpn(6)) && !cache.change(Lpn(11)));
        load(&mut cache, 1);
        assert_eq!(load(&mut cache, 2), Room::AfterWriting(0));
        assert_eq!(load(&mut cache, 3), Room::Free);
    }

    #[test]
    fn a_translation_page_being_loaded_is_not_evicted() {
        let mut cache = two();
        assert_eq!((cache.begin_load(0), cache.begin_load(1)), (Room::Free, Room::Free));
        assert_eq!(cache.look_up(Lpn(3)), Entry::Coming);
        assert!(!cache.has_room());
        assert_eq!(cache.begin_load(2), Room::None);
        cache.loaded(1);
        assert_eq!(cache.begin_load(2), Room::Free);
        assert_eq!((cache.slot_of(1), cache.slot_of(2)), (None, Some(1)));
    }

    #[test]
    fn a_page_is_changed_on_the_flash_once_at_a_time() {
        let mut cache = two();
        assert!(cache.owe(4) && !cache.owe(4) && !cache.owe(4) && cache.owe(5));
        assert!(cache.paid(4), "changed again meanwhile");
        assert!(!cache.paid(4) && !cache.paid(5) && cache.owe(4));
    }
}
