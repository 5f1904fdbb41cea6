//! The page map: the physical page of each logical page, and the logical page for which each
//! physical page was written.
//!
//! Both tables are zero where nothing was written, so the operating system provides memory only for
//! entries that were used. A physical page is valid if its logical page still maps to it.

use std::ops::Range;

use serde::de::SeqAccess;
use serde::ser::SerializeTuple;
use ssdlab_base::prefetch;
use ssdlab_nand::{Lpn, Ppn};

use crate::saved::{self, Limits, SavedPart};

/// The page map in both directions.
#[derive(Debug)]
pub struct Map {
    /// The physical page of each logical page, plus one; 0 for none.
    forward: Vec<u32>,
    /// The logical page for which each physical page was last written, plus one; 0 for none.
    reverse: Vec<u32>,
    /// The sectors of each mapped page that were never written, a bit each; zero for pages written
    /// whole. Empty if not recorded.
    missing: Vec<u64>,
    /// All sectors of a page, a bit each; 0 if missing sectors are not recorded.
    whole: u64,
    /// The logical pages that were trimmed since their last write, a bit each; empty before the
    /// first trim.
    trimmed: Vec<u64>,
    mapped: u32,
}

/// The part of a [`Map`] that cannot be computed from the rest.
#[derive(Clone, Debug)]
pub struct SavedMap {
    pub(super) forward: Vec<u32>,
    pub(super) missing: Vec<u64>,
    pub(super) trimmed: Vec<u64>,
}

impl SavedPart for SavedMap {
    const COLUMNS: usize = 3;

    fn write<S: SerializeTuple>(&self, to: &mut S) -> Result<(), S::Error> {
        saved::write(to, &self.forward)?;
        saved::write(to, &self.missing)?;
        saved::write(to, &self.trimmed)
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
    /// Returns the number of logical pages.
    pub fn logical_pages(&self) -> usize {
        self.forward.len()
    }

    /// Returns the number of mapped pages among the `first` logical pages.
    pub fn mapped(&self, first: usize) -> u32 {
        self.forward.iter().take(first).filter(|&&entry| entry != 0).count() as u32
    }

    /// Resizes the map to `pages` logical pages, the first `data` of which belong to the host.
    /// Returns `None` if the map has neither size. A map held in part has pages of its own, which a
    /// drive aged without it lacks.
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

/// Returns whether so many pages are mapped that both tables use nearly all of their memory.
fn is_dense(mapped: u32, forward: &[u32]) -> bool {
    mapped as usize > forward.len() / 2
}

/// Copies a table; unless `all` holds, memory that was never touched stays untouched in the copy.
fn copy<T: Copy + Default + PartialEq>(table: &[T], all: bool) -> Vec<T> {
    /// Entries compared at once: one or two pages of memory.
    const TOGETHER: usize = 1 << 10;
    let untouched = [T::default(); TOGETHER];
    let mut copy = vec![T::default(); table.len()];
    if all {
        prefetch::advise_huge_pages(&mut copy);
    }
    for (to, from) in copy.chunks_mut(TOGETHER).zip(table.chunks(TOGETHER)) {
        if *from != untouched[..from.len()] {
            to.copy_from_slice(from);
        }
    }
    copy
}

impl Map {
    /// Returns the part of the map to save.
    pub fn save(self) -> SavedMap {
        let Map { forward, missing, trimmed, .. } = self;
        SavedMap { forward, missing, trimmed }
    }

    /// Restores a saved map over `physical` pages; `whole` holds the sectors of a page to record,
    /// or 0. Returns `None` if the saved map is invalid.
    pub fn restore(saved: SavedMap, physical: u32, whole: u64) -> Option<Map> {
        let mut reverse = vec![0; physical as usize];
        let held = saved.forward.iter().filter(|&&entry| entry != 0).count();
        if is_dense(held as u32, &saved.forward) {
            prefetch::advise_huge_pages(&mut reverse);
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

    /// Creates an empty map of `logical` pages over `physical` ones. If `whole` holds the sectors
    /// of a page, a bit each, the map records which were written; with 0 it does not.
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

    /// Returns the number of logical pages of the drive.
    pub fn logical_pages(&self) -> u32 {
        self.forward.len() as u32
    }

    /// Returns the number of mapped logical pages.
    pub fn mapped(&self) -> u32 {
        self.mapped
    }

    /// Returns the physical page of a logical page.
    #[inline]
    pub fn get(&self, lpn: Lpn) -> Option<Ppn> {
        self.forward[lpn.index()].checked_sub(1).map(Ppn)
    }

    /// Returns the logical page that a physical page holds, if the page is valid.
    #[inline]
    pub fn valid(&self, ppn: Ppn) -> Option<Lpn> {
        self.reverse[ppn.index()].checked_sub(1).map(Lpn)
    }

    /// Maps a logical page to `ppn`; returns the physical page that held it before.
    #[inline]
    pub fn set(&mut self, lpn: Lpn, ppn: Ppn) -> Option<Ppn> {
        self.reverse[ppn.index()] = lpn.0 + 1;
        let old = std::mem::replace(&mut self.forward[lpn.index()], ppn.0 + 1);
        self.mapped += u32::from(old == 0);
        let old = Ppn(old.checked_sub(1)?);
        self.reverse[old.index()] = 0;
        Some(old)
    }

    /// Prefetches the reverse entry of the physical page that a logical page will soon leave;
    /// returns that page.
    #[inline]
    pub(crate) fn prefetch_overwrite(&self, lpn: Lpn) -> Option<Ppn> {
        let old = self.get(lpn)?;
        prefetch::fetch(&self.reverse, old.index());
        Some(old)
    }

    /// Prefetches the entries of the logical pages in these physical pages, which will soon move.
    pub(crate) fn prefetch_moves(&self, pages: Range<u32>) {
        let held = self.reverse[pages.start as usize..pages.end as usize].iter();
        let held = held.filter_map(|entry| entry.checked_sub(1));
        held.for_each(|lpn| prefetch::fetch(&self.forward, lpn as usize));
    }

    /// Prefetches the entries of logical pages that will soon be looked up; of many pages only the
    /// first.
    pub fn prefetch(&self, first: Lpn, pages: u32) {
        /// Entries in a cache line, and the most lines worth a prefetch.
        const LINE: usize = 16;
        const LINES: usize = 4;
        let lpns = first.index()..first.index() + pages as usize;
        let entries = lpns.clone().step_by(LINE).take(LINES);
        entries.for_each(|lpn| prefetch::fetch(&self.forward, lpn));
        // The entries of sectors are twice as wide.
        let masks = lpns.step_by(LINE / 2).take(LINES);
        masks.for_each(|lpn| prefetch::fetch(&self.missing, lpn));
    }

    /// Prepares the tables for the mapping of `pages` pages all over the drive.
    pub(crate) fn prepare_filled(&mut self, pages: u32) {
        if is_dense(pages, &self.forward) {
            prefetch::advise_huge_pages(&mut self.forward);
            prefetch::advise_huge_pages(&mut self.reverse);
        }
    }

    /// Splits the reverse table into parts of `pages` entries, for [`ReversePart::set`] in
    /// parallel.
    pub(crate) fn reverse_parts(&mut self, pages: u32) -> impl Iterator<Item = ReversePart<'_>> {
        let firsts = (0..).step_by(pages as usize);
        let parts = firsts.zip(self.reverse.chunks_mut(pages as usize));
        parts.map(|(first, entries)| ReversePart { first, entries })
    }

    /// Splits the entries of the first `filled` logical pages into parts of `pages` entries, for
    /// [`Pointers::point`] in parallel. [`Map::add_mapped`] must then count them.
    pub(crate) fn pointers(
        &mut self,
        filled: u32,
        pages: u32,
    ) -> impl Iterator<Item = Pointers<'_>> {
        let firsts = (0..).step_by(pages as usize);
        let parts = firsts.zip(self.forward[..filled as usize].chunks_mut(pages as usize));
        parts.map(|(first, entries)| Pointers { first, entries })
    }

    /// Counts `pages` newly mapped logical pages.
    pub(crate) fn add_mapped(&mut self, pages: u32) {
        self.mapped += pages;
    }

    /// Unmaps a logical page; returns the physical page that held it.
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

    /// Returns whether an unmapped page is unmapped because of a trim.
    pub fn was_trimmed(&self, lpn: Lpn) -> bool {
        self.trimmed.get(lpn.index() / 64).is_some_and(|word| word >> (lpn.0 % 64) & 1 == 1)
    }

    /// Returns the written sectors of a logical page; `None` if they are not recorded.
    pub fn sectors(&self, lpn: Lpn) -> Option<u64> {
        let missing = self.missing.get(lpn.index())?;
        Some(if self.get(lpn).is_some() { self.whole & !missing } else { 0 })
    }

    /// Records that these sectors of a mapped page were written. If the page was not mapped before,
    /// no other sectors count as written.
    #[inline]
    pub(crate) fn add_sectors(&mut self, lpn: Lpn, mask: u64, was_nowhere: bool) {
        if let Some(missing) = self.missing.get_mut(lpn.index()) {
            let before = if was_nowhere { self.whole } else { *missing };
            // A write of an unchanged entry would touch its memory.
            if *missing != before & !mask {
                *missing = before & !mask;
            }
        }
    }
}

/// A run of neighboring physical pages in the reverse table.
pub(crate) struct ReversePart<'a> {
    first: u32,
    entries: &'a mut [u32],
}

impl ReversePart<'_> {
    /// Records that this physical page was written for a logical page that is not mapped: one half
    /// of [`Map::set`].
    pub(crate) fn set(&mut self, ppn: Ppn, lpn: Lpn) {
        self.entries[(ppn.0 - self.first) as usize] = lpn.0 + 1;
    }
}

/// A run of neighboring logical pages in the map.
pub(crate) struct Pointers<'a> {
    first: u32,
    entries: &'a mut [u32],
}

impl Pointers<'_> {
    /// Returns the numbers of the pages.
    pub(crate) fn pages(&self) -> Range<u32> {
        self.first..self.first + self.entries.len() as u32
    }

    /// Maps a logical page: the other half of [`Map::set`].
    pub(crate) fn point(&mut self, lpn: Lpn, ppn: Ppn) {
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
