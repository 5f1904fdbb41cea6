//! Which physical page holds a logical page, and which logical page a physical page was written
//! for.
//!
//! Both tables are zero where nothing was ever written, so that the operating system gives memory
//! only for what is touched. A physical page is valid if the logical page it was written for still
//! points at it: overwriting therefore touches no second table.

use std::ops::Range;

use serde::de::SeqAccess;
use serde::ser::SerializeTuple;
use ssdlab_base::ahead;
use ssdlab_nand::{Lpn, Ppn};

use crate::kept::{self, Kept, Limits};

/// The page map in both directions.
#[derive(Debug)]
pub struct Map {
    /// The physical page of each logical page, plus one; 0 for none.
    forward: Vec<u32>,
    /// The logical page for which each physical page was last written, plus one; 0 for none.
    reverse: Vec<u32>,
    /// The sectors of each mapped page that were never written, a bit each, so that it is zero
    /// where pages were written whole; empty if not kept.
    missing: Vec<u64>,
    /// All sectors of a page, a bit each; 0 if what is missing is not kept.
    whole: u64,
    /// The logical pages that were trimmed since they were last written, a bit each; empty until
    /// one is.
    trimmed: Vec<u64>,
    mapped: u32,
}

/// What of a [`Map`] cannot be worked out from the rest.
#[derive(Clone, Debug)]
pub struct SavedMap {
    pub(super) forward: Vec<u32>,
    pub(super) missing: Vec<u64>,
    pub(super) trimmed: Vec<u64>,
}

impl Kept for SavedMap {
    const COLUMNS: usize = 3;

    fn write<S: SerializeTuple>(&self, to: &mut S) -> Result<(), S::Error> {
        kept::write(to, &self.forward)?;
        kept::write(to, &self.missing)?;
        kept::write(to, &self.trimmed)
    }

    fn read<'de, A: SeqAccess<'de>>(from: &mut A, limits: &Limits<'_>) -> Result<Self, A::Error> {
        Ok(SavedMap {
            forward: limits.column(from, limits.pages())?,
            missing: limits.column(from, limits.pages())?,
            trimmed: limits.column(from, limits.pages().div_ceil(64))?,
        })
    }
}

impl SavedMap {
    /// Logical pages.
    pub fn logical_pages(&self) -> usize {
        self.forward.len()
    }

    /// Logical pages that are mapped, of so many first ones.
    pub fn mapped(&self, first: usize) -> u32 {
        self.forward.iter().take(first).filter(|&&entry| entry != 0).count() as u32
    }

    /// The same with `pages` logical pages, of which the first `data` are those of the host; `None`
    /// if it is a map of other pages. A map that is held in part has pages of its own, which a
    /// drive that was aged without it lacks.
    pub fn sized(mut self, data: u32, pages: u32) -> Option<SavedMap> {
        let (data, pages) = (data as usize, pages as usize);
        if ![data, pages].contains(&self.forward.len()) {
            return None;
        }
        self.forward.resize(pages, 0);
        if !self.missing.is_empty() {
            self.missing.resize(pages, 0);
        }
        if !self.trimmed.is_empty() {
            self.trimmed.resize(pages.div_ceil(64), 0);
        }
        Some(self)
    }
}

impl Clone for Map {
    fn clone(&self) -> Map {
        let all = is_dense(self.mapped, &self.forward);
        let (reverse, mapped, whole) = (copy(&self.reverse, all), self.mapped, self.whole);
        let forward = copy(&self.forward, all);
        let (missing, trimmed) = (copy(&self.missing, false), copy(&self.trimmed, false));
        Map { forward, reverse, missing, whole, trimmed, mapped }
    }
}

/// Whether so many pages are mapped that hardly a page of memory of either table is untouched.
fn is_dense(mapped: u32, forward: &[u32]) -> bool {
    mapped as usize > forward.len() / 2
}

/// A copy of a table that takes memory only for what was touched; that is all of it, perhaps.
fn copy<T: Copy + Default + PartialEq>(table: &[T], all: bool) -> Vec<T> {
    /// Entries that are looked at together: a page of memory, or two.
    const TOGETHER: usize = 1 << 10;
    let untouched = [T::default(); TOGETHER];
    let mut copy = vec![T::default(); table.len()];
    if all {
        ahead::expect_all(&mut copy);
    }
    for (to, from) in copy.chunks_mut(TOGETHER).zip(table.chunks(TOGETHER)) {
        if *from != untouched[..from.len()] {
            to.copy_from_slice(from);
        }
    }
    copy
}

impl Map {
    /// What must be kept of it.
    pub fn save(self) -> SavedMap {
        let Map { forward, missing, trimmed, .. } = self;
        SavedMap { forward, missing, trimmed }
    }

    /// The map that was saved, over `physical` pages, each of these sectors if it is to remember
    /// them; `None` if it cannot have been one.
    pub fn restore(saved: SavedMap, physical: u32, whole: u64) -> Option<Map> {
        let mut reverse = vec![0; physical as usize];
        let held = saved.forward.iter().filter(|&&entry| entry != 0).count();
        if is_dense(held as u32, &saved.forward) {
            ahead::expect_all(&mut reverse);
        }
        let mut mapped = 0;
        for (lpn, &entry) in (1..).zip(&saved.forward) {
            let Some(ppn) = entry.checked_sub(1) else { continue };
            let back = reverse.get_mut(ppn as usize)?;
            if *back != 0 {
                return None;
            }
            *back = lpn;
            mapped += 1;
        }
        let SavedMap { forward, missing, trimmed } = saved;
        let fits = missing.len() == if whole == 0 { 0 } else { forward.len() };
        fits.then_some(Map { forward, reverse, missing, whole, trimmed, mapped })
    }

    /// An empty map of `logical` pages over `physical` ones, which remembers which sectors of a
    /// page were written if `whole` says which there are, a bit each.
    pub fn new(logical: u32, physical: u32, whole: u64) -> Map {
        Map {
            forward: vec![0; logical as usize],
            reverse: vec![0; physical as usize],
            missing: vec![0; if whole == 0 { 0 } else { logical as usize }],
            whole,
            trimmed: Vec::new(),
            mapped: 0,
        }
    }

    /// Logical pages of the drive.
    pub fn logical_pages(&self) -> u32 {
        self.forward.len() as u32
    }

    /// Logical pages that are mapped.
    pub fn mapped(&self) -> u32 {
        self.mapped
    }

    /// The physical page of a logical page.
    #[inline]
    pub fn get(&self, lpn: Lpn) -> Option<Ppn> {
        self.forward[lpn.index()].checked_sub(1).map(Ppn)
    }

    /// The logical page that this physical page holds, if it still does.
    #[inline]
    pub fn valid(&self, ppn: Ppn) -> Option<Lpn> {
        self.reverse[ppn.index()].checked_sub(1).map(Lpn)
    }

    /// Maps a logical page; the physical page that held it before.
    #[inline]
    pub fn set(&mut self, lpn: Lpn, ppn: Ppn) -> Option<Ppn> {
        self.reverse[ppn.index()] = lpn.0 + 1;
        let old = std::mem::replace(&mut self.forward[lpn.index()], ppn.0 + 1);
        self.mapped += u32::from(old == 0);
        let old = Ppn(old.checked_sub(1)?);
        self.reverse[old.index()] = 0;
        Some(old)
    }

    /// Asks for the entry of the physical page that a logical page will leave soon; which page it
    /// is.
    #[inline]
    pub fn expect_overwrite(&self, lpn: Lpn) -> Option<Ppn> {
        let old = self.get(lpn)?;
        ahead::fetch(&self.reverse, old.index());
        Some(old)
    }

    /// Asks for the entries of what these physical pages hold, which will be moved soon.
    pub fn expect_moves(&self, pages: Range<u32>) {
        let held = self.reverse[pages.start as usize..pages.end as usize].iter();
        let held = held.filter_map(|entry| entry.checked_sub(1));
        held.for_each(|lpn| ahead::fetch(&self.forward, lpn as usize));
    }

    /// Asks for the entries of logical pages that will be looked up soon, of the first of them if
    /// they are many.
    #[inline]
    pub fn expect(&self, first: Lpn, pages: u32) {
        /// Entries in a line of memory, and the most lines that are worth asking for.
        const LINE: usize = 16;
        const LINES: usize = 4;
        let lpns = first.index()..first.index() + pages as usize;
        let entries = lpns.clone().step_by(LINE).take(LINES);
        entries.for_each(|lpn| ahead::fetch(&self.forward, lpn));
        // What is kept of sectors is twice as wide.
        let kept = lpns.step_by(LINE / 2).take(LINES);
        kept.for_each(|lpn| ahead::fetch(&self.missing, lpn));
    }

    /// Tells that so many pages are about to be mapped, all over the drive.
    pub fn expect_filled(&mut self, pages: u32) {
        if is_dense(pages, &self.forward) {
            ahead::expect_all(&mut self.forward);
            ahead::expect_all(&mut self.reverse);
        }
    }

    /// What so many physical pages hold each, to be written side by side by [`ReversePart::set`].
    pub fn reverse_parts(&mut self, pages: u32) -> impl Iterator<Item = ReversePart<'_>> {
        let firsts = (0..).step_by(pages as usize);
        let parts = firsts.zip(self.reverse.chunks_mut(pages as usize));
        parts.map(|(first, entries)| ReversePart { first, entries })
    }

    /// Where so many of the first `filled` logical pages lie each, to be written side by side by
    /// [`Pointers::point`]; they count once [`Map::add_mapped`] says so.
    pub fn pointers(&mut self, filled: u32, pages: u32) -> impl Iterator<Item = Pointers<'_>> {
        let firsts = (0..).step_by(pages as usize);
        let parts = firsts.zip(self.forward[..filled as usize].chunks_mut(pages as usize));
        parts.map(|(first, entries)| Pointers { first, entries })
    }

    /// Counts logical pages that were nowhere.
    pub fn add_mapped(&mut self, pages: u32) {
        self.mapped += pages;
    }

    /// Unmaps a logical page; the physical page that held it.
    pub fn clear(&mut self, lpn: Lpn) -> Option<Ppn> {
        let old = std::mem::replace(&mut self.forward[lpn.index()], 0);
        self.mapped -= u32::from(old != 0);
        if let Some(held) = old.checked_sub(1) {
            self.reverse[held as usize] = 0;
        }
        if self.trimmed.is_empty() {
            self.trimmed = vec![0; self.forward.len().div_ceil(64)];
        }
        self.trimmed[lpn.index() / 64] |= 1 << (lpn.0 % 64);
        if let Some(missing) = self.missing.get_mut(lpn.index()) {
            *missing = 0;
        }
        old.checked_sub(1).map(Ppn)
    }

    /// Whether a page that is not mapped is so because it was trimmed.
    pub fn was_trimmed(&self, lpn: Lpn) -> bool {
        self.trimmed.get(lpn.index() / 64).is_some_and(|word| word >> (lpn.0 % 64) & 1 == 1)
    }

    /// The sectors of a logical page that were written; `None` if that is not kept.
    #[inline]
    pub fn sectors(&self, lpn: Lpn) -> Option<u64> {
        let missing = self.missing.get(lpn.index())?;
        Some(if self.get(lpn).is_some() { self.whole & !missing } else { 0 })
    }

    /// Remembers that these sectors of a mapped page were written, and no others if it was nowhere
    /// before.
    #[inline]
    pub fn add_sectors(&mut self, lpn: Lpn, mask: u64, was_nowhere: bool) {
        if let Some(missing) = self.missing.get_mut(lpn.index()) {
            let before = if was_nowhere { self.whole } else { *missing };
            // What does not change is not to take memory.
            if *missing != before & !mask {
                *missing = before & !mask;
            }
        }
    }
}

/// What physical pages hold that follow one another.
pub struct ReversePart<'a> {
    first: u32,
    entries: &'a mut [u32],
}

impl ReversePart<'_> {
    /// A half of [`Map::set`] for a logical page that is nowhere: this physical page was written
    /// for it.
    #[inline]
    pub fn set(&mut self, ppn: Ppn, lpn: Lpn) {
        self.entries[(ppn.0 - self.first) as usize] = lpn.0 + 1;
    }
}

/// Where logical pages lie that follow one another.
pub struct Pointers<'a> {
    first: u32,
    entries: &'a mut [u32],
}

impl Pointers<'_> {
    /// The numbers of the pages.
    pub fn pages(&self) -> Range<u32> {
        self.first..self.first + self.entries.len() as u32
    }

    /// The other half of [`Map::set`].
    #[inline]
    pub fn point(&mut self, lpn: Lpn, ppn: Ppn) {
        self.entries[(lpn.0 - self.first) as usize] = ppn.0 + 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_map_is_that_of_two_plain_tables(
            acts in prop::collection::vec((0u32..100, 0u32..300, 0u8..4), 0..400),
        ) {
            let mut map = Map::new(100, 300, 0b1111);
            let mut pages: BTreeMap<u32, u32> = BTreeMap::new();
            let (mut sectors, mut trimmed) = (BTreeMap::new(), BTreeSet::new());
            for (lpn, ppn, act) in acts {
                if act == 0 {
                    prop_assert_eq!(map.clear(Lpn(lpn)), pages.remove(&lpn).map(Ppn));
                    sectors.remove(&lpn);
                    trimmed.insert(lpn);
                } else if !pages.values().any(|&taken| taken == ppn) {
                    let old = map.set(Lpn(lpn), Ppn(ppn));
                    prop_assert_eq!(old, pages.insert(lpn, ppn).map(Ppn));
                    map.add_sectors(Lpn(lpn), 1 << act, old.is_none());
                    *sectors.entry(lpn).or_default() |= 1u64 << act;
                }
                prop_assert_eq!(map.get(Lpn(lpn)), pages.get(&lpn).copied().map(Ppn));
                prop_assert_eq!(map.mapped() as usize, pages.len());
                prop_assert_eq!(map.sectors(Lpn(lpn)), Some(*sectors.get(&lpn).unwrap_or(&0)));
                prop_assert_eq!(map.was_trimmed(Lpn(lpn)), trimmed.contains(&lpn));
                let holder = pages.iter().find(|entry| *entry.1 == ppn).map(|entry| Lpn(*entry.0));
                prop_assert_eq!(map.valid(Ppn(ppn)), holder);
            }
            for again in [Map::restore(map.clone().save(), 300, 0b1111).unwrap(), map.clone()] {
                prop_assert_eq!(format!("{map:?}"), format!("{again:?}"));
            }
        }
    }

    #[test]
    fn a_map_that_cannot_be_is_not_restored() {
        let two_on_one = SavedMap { forward: vec![3, 3], missing: vec![], trimmed: vec![] };
        assert!(Map::restore(two_on_one, 10, 0).is_none());
        let beyond = SavedMap { forward: vec![11], missing: vec![], trimmed: vec![] };
        assert!(Map::restore(beyond.clone(), 10, 0).is_none());
        assert!(Map::restore(beyond.clone(), 11, 0).is_some());
        assert!(Map::restore(beyond, 11, 0b1111).is_none(), "one that keeps no sectors");
        let of_sectors = Map::new(4, 10, 0b1111).save();
        assert!(Map::restore(of_sectors.clone(), 10, 0b1111).is_some());
        assert!(Map::restore(of_sectors, 10, 0).is_none(), "one that keeps them");
    }
}
