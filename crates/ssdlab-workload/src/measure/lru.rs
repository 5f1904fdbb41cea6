//! Hit ratios of caches that evict the least recently used page (LRU), for several sizes at once.
//!
//! Sizes in pages come from reuse distances: a page is in a cache of `n` pages if fewer than `n`
//! other pages were used since its last use. Up to [`MAX_FOLLOWED`] pages the ratios are exact.
//! Beyond, a sample of the pages stands for all, so that memory is bounded.

use super::table::Numbers;
use super::{PAGE, Reuse};
use crate::record::Record;

/// The most pages that are followed.
const MAX_FOLLOWED: usize = 1 << 21;

/// The effect of a write on a cache of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// It looks up its pages and leaves them in the cache, as a read does.
    Cached,
    /// It drops its pages from the cache.
    Dropped,
}

/// LRU caches of pages of 4 KiB, all of them used by the same requests.
pub struct PageCaches {
    reuse: Reuse,
    writes: Writes,
    sizes: Vec<u64>,
    /// Page uses of reads and of writes, each with the weight of its sample.
    uses: [u64; 2],
    /// Those of them that hit, for each size.
    hits: Vec<[u64; 2]>,
    most: usize,
}

impl PageCaches {
    /// Returns empty caches of these sizes, in pages.
    pub fn new(sizes: &[u64], writes: Writes) -> PageCaches {
        PageCaches {
            reuse: Reuse::new(0),
            writes,
            sizes: sizes.to_vec(),
            uses: [0; 2],
            hits: vec![[0; 2]; sizes.len()],
            most: MAX_FOLLOWED,
        }
    }

    /// Adds requests, in their order.
    pub fn take(&mut self, records: &[Record]) {
        for record in records {
            let Some(read) = record.op.reads() else { continue };
            let kind = usize::from(!read);
            let end = record.lba + u64::from(record.sectors);
            if end > record.lba {
                (record.lba / PAGE..=(end - 1) / PAGE).for_each(|page| self.page(page, kind));
            }
        }
    }

    fn page(&mut self, page: u64, kind: usize) {
        if !self.reuse.samples(page) {
            return;
        }
        if kind == 1 && self.writes == Writes::Dropped {
            return self.reuse.drop_page(page);
        }
        let weight = 1 << self.reuse.sample();
        self.uses[kind] += weight;
        match self.reuse.take(page) {
            Some(distance) => {
                for (hits, size) in self.hits.iter_mut().zip(&self.sizes) {
                    hits[kind] += if distance < *size { weight } else { 0 };
                }
            }
            None if self.reuse.pages() > self.most => self.reuse.thin(),
            None => {}
        }
    }

    /// Returns the hit ratios of reads and of writes, for each size: page uses that hit over all.
    /// `None` without such uses.
    pub fn ratios(&self) -> Vec<[Option<f64>; 2]> {
        let ratio = |hits: u64, uses: u64| (uses > 0).then(|| hits as f64 / uses as f64);
        self.hits.iter().map(|hits| [0, 1].map(|kind| ratio(hits[kind], self.uses[kind]))).collect()
    }
}

/// LRU caches of places: each holds the data that begins at one sector, of any length. A place
/// takes the bytes of its last write, or else of the read that fetched it. Writes go into the
/// cache, but only reads count.
pub struct PlaceCaches {
    numbers: Numbers,
    caches: Vec<Bounded>,
    reads: u64,
}

/// A cache of places up to a number of sectors.
struct Bounded {
    most: u64,
    held: u64,
    hits: u64,
    /// The places from the latest used to the earliest: a list in a ring.
    places: Vec<Place>,
}

/// A place in the list, whose ends are both the place of index 0.
#[derive(Clone, Copy, Default)]
struct Place {
    sectors: u32,
    later: u32,
    earlier: u32,
}

impl PlaceCaches {
    /// Returns empty caches of these sizes, in bytes.
    pub fn new(sizes: &[u64]) -> PlaceCaches {
        let cache = |bytes: &u64| Bounded {
            most: *bytes / ssdlab_base::units::SECTOR_BYTES,
            held: 0,
            hits: 0,
            places: vec![Place::default()],
        };
        PlaceCaches { numbers: Numbers::new(), caches: sizes.iter().map(cache).collect(), reads: 0 }
    }

    /// Adds requests, in their order.
    pub fn take(&mut self, records: &[Record]) {
        for record in records.iter().filter(|record| record.sectors > 0) {
            let Some(read) = record.op.reads() else { continue };
            self.reads += u64::from(read);
            let place = self.numbers.of(record.lba).0 + 1;
            self.caches.iter_mut().for_each(|cache| cache.take(place, record.sectors, read));
        }
    }

    /// Returns the number of distinct places.
    pub fn places(&self) -> u64 {
        self.numbers.entries().count() as u64
    }

    /// Returns the hit ratio of reads for each size; `None` without reads.
    pub fn ratios(&self) -> Vec<Option<f64>> {
        let ratio = |cache: &Bounded| cache.hits as f64 / self.reads as f64;
        self.caches.iter().map(|cache| (self.reads > 0).then(|| ratio(cache))).collect()
    }
}

impl Bounded {
    fn take(&mut self, place: u32, sectors: u32, read: bool) {
        if place as usize >= self.places.len() {
            self.places.resize(place as usize + 1, Place::default());
        }
        let known = self.places[place as usize].sectors;
        if known > 0 {
            self.hits += u64::from(read);
            self.remove(place);
        }
        self.insert(place, if read && known > 0 { known } else { sectors });
        while self.held > self.most {
            self.remove(self.places[0].later);
        }
    }

    fn remove(&mut self, place: u32) {
        let Place { sectors, later, earlier } = std::mem::take(&mut self.places[place as usize]);
        self.places[later as usize].earlier = earlier;
        self.places[earlier as usize].later = later;
        self.held -= u64::from(sectors);
    }

    fn insert(&mut self, place: u32, sectors: u32) {
        let latest = self.places[0].earlier;
        self.places[place as usize] = Place { sectors, later: 0, earlier: latest };
        self.places[latest as usize].later = place;
        self.places[0].earlier = place;
        self.held += u64::from(sectors);
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_base::Nanos;
    use ssdlab_base::rng::{below, hash};

    use super::*;
    use crate::record::Op;

    const SIZES: [u64; 5] = [1, 7, 40, 200, 5000];

    /// Returns requests of one to four pages; four of five go to few pages.
    fn requests(count: u64) -> Vec<Record> {
        let draw = |step, what, most| below(hash(what, 7, step), most);
        let request = |step| {
            let page = if draw(step, 1, 5) == 0 { draw(step, 2, 800) } else { draw(step, 3, 60) };
            let op = if draw(step, 4, 3) == 0 { Op::Write } else { Op::Read };
            let sectors = (PAGE * (1 + draw(step, 5, 4))) as u32;
            let lba = page * PAGE;
            Record { at: Nanos::from_ns(step), lba, sectors, op, queue: 0, hint: 0 }
        };
        (0..count).map(request).collect()
    }

    /// Returns the hits of reads and of writes in one cache, which is a list with empty places.
    fn listed(requests: &[Record], size: u64, writes: Writes) -> [u64; 2] {
        let (mut list, mut hits) = (vec![None; size as usize], [0; 2]);
        for record in requests {
            let kind = usize::from(record.op == Op::Write);
            for page in record.lba / PAGE..(record.lba + u64::from(record.sectors)) / PAGE {
                let found = list.iter().position(|held| *held == Some(page));
                if kind == 1 && writes == Writes::Dropped {
                    found.into_iter().for_each(|place| list[place] = None);
                    continue;
                }
                hits[kind] += u64::from(found.is_some());
                let empty = list.iter().position(Option::is_none);
                let end = list.len() - 1;
                let gap = match (found, empty) {
                    (Some(found), Some(empty)) if empty < found => {
                        list[found] = None;
                        empty
                    }
                    (Some(found), _) => found,
                    (None, empty) => empty.unwrap_or(end),
                };
                list.remove(gap);
                list.insert(0, Some(page));
            }
        }
        hits
    }

    #[test]
    fn caches_of_pages_hit_as_a_list_does() {
        let requests = requests(6_000);
        for writes in [Writes::Cached, Writes::Dropped] {
            let mut caches = PageCaches::new(&SIZES, writes);
            caches.take(&requests);
            let hits: Vec<[u64; 2]> =
                SIZES.iter().map(|size| listed(&requests, *size, writes)).collect();
            assert_eq!(caches.hits, hits, "{writes:?}");
        }
    }

    #[test]
    fn a_sample_of_the_pages_finds_the_ratios() {
        let requests = requests(300_000);
        let ratios = |most| {
            let mut caches = PageCaches { most, ..PageCaches::new(&SIZES, Writes::Cached) };
            caches.take(&requests);
            assert!(caches.reuse.pages() <= most);
            caches.ratios()[3]
        };
        let ([exact, _], [sampled, _]) = (ratios(1 << 20), ratios(400));
        assert!((exact.unwrap() - sampled.unwrap()).abs() < 0.05, "{exact:?} {sampled:?}");
    }

    #[test]
    fn caches_of_places_hit_as_a_list_does() {
        let requests = requests(6_000);
        for sectors in [40, 500, 9000] {
            let mut caches = PlaceCaches::new(&[sectors * 512]);
            caches.take(&requests);
            let (mut list, mut hits, mut reads) = (Vec::<(u64, u32)>::new(), 0, 0);
            for record in &requests {
                let read = record.op == Op::Read;
                let found = list.iter().position(|(place, _)| *place == record.lba);
                let held = found.map(|found| list.remove(found).1);
                hits += u64::from(read && held.is_some());
                reads += u64::from(read);
                list.insert(0, (record.lba, held.filter(|_| read).unwrap_or(record.sectors)));
                while list.iter().map(|(_, sectors)| u64::from(*sectors)).sum::<u64>() > sectors {
                    list.pop();
                }
            }
            let ratio = hits as f64 / reads as f64;
            assert_eq!(caches.ratios(), [Some(ratio)], "{sectors}");
        }
    }
}
