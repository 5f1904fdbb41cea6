//! Reuse distances: the number of distinct other pages used before a page is used again.
//!
//! Exact distances come from a Fenwick tree over the times of the last uses (Bennett and Kruskal,
//! "LRU stack processing", IBM J. Res. Dev. 19(4), 1975). A sample chooses pages by hash and scales
//! their distances up (Waldspurger et al., "Efficient MRC construction with SHARDS", FAST '15).

use std::collections::BinaryHeap;

use ssdlab_base::rng::mix;

use super::table::Numbers;

/// Reuse distances of all pages, or of one page in a power of two.
pub struct Reuse {
    numbers: Numbers,
    /// The position of the last use of each page, by the page's number.
    last: Vec<u32>,
    /// The page's number at each position; [`NONE`] if it is not the page's last use.
    user: Vec<u32>,
    /// A Fenwick tree over the positions, which counts last uses.
    tree: Vec<u32>,
    next: usize,
    sample: u32,
    /// The positions of the pages that were dropped, until a later use fills them.
    holes: BinaryHeap<u32>,
}

const NONE: u32 = u32::MAX;
/// Marks the position of a dropped page.
const HOLE: u32 = u32::MAX - 1;
/// The number of positions at the start, a power of two.
const POSITIONS: usize = 1 << 16;

impl Reuse {
    /// Returns distances for one page in 2^`sample`; 0 follows all pages.
    pub fn new(sample: u32) -> Reuse {
        Reuse {
            numbers: Numbers::new(),
            last: Vec::new(),
            user: vec![NONE; POSITIONS],
            tree: vec![0; POSITIONS + 1],
            next: 0,
            sample,
            holes: BinaryHeap::new(),
        }
    }

    /// Adds a use of `page`. Returns the number of other pages used since its last use, or `None`
    /// if the page is new or not in the sample.
    pub fn take(&mut self, page: u64) -> Option<u64> {
        if mix(page) & ((1 << self.sample) - 1) != 0 {
            return None;
        }
        if self.next == self.user.len() {
            self.compact();
        }
        let (number, new) = self.numbers.of(page);
        let mut distance = None;
        if new {
            self.last.push(NONE);
        }
        let before = self.last[number as usize];
        // Places at the top of the cache move down to fill the first hole.
        let hole = self.holes.peek().copied().filter(|hole| before == NONE || *hole > before);
        if before != NONE {
            let later = self.sum(self.next) - self.sum(before as usize + 1);
            distance = Some(u64::from(later) << self.sample);
            if hole.is_some() {
                self.user[before as usize] = HOLE;
            } else {
                self.clear(before);
            }
        }
        if let Some(hole) = hole {
            self.holes.pop();
            self.clear(hole);
            if before != NONE {
                self.holes.push(before);
            }
        }
        self.last[number as usize] = self.next as u32;
        self.user[self.next] = number;
        self.add(self.next, 1);
        self.next += 1;
        distance
    }

    /// Drops a page, as a cache does whose page is written past it. Its place stays empty until a
    /// later use fills it, and its next use is as the first. A thinner sample forgets empty places.
    pub(crate) fn drop_page(&mut self, page: u64) {
        if !self.samples(page) {
            return;
        }
        let Some(number) = self.numbers.known(page) else { return };
        let last = std::mem::replace(&mut self.last[number as usize], NONE);
        if last != NONE {
            self.user[last as usize] = HOLE;
            self.holes.push(last);
        }
    }

    fn clear(&mut self, position: u32) {
        self.add(position as usize, -1);
        self.user[position as usize] = NONE;
    }

    /// Returns whether this page is in the sample.
    pub fn samples(&self, page: u64) -> bool {
        mix(page) & ((1 << self.sample) - 1) == 0
    }

    /// Returns the number of pages followed.
    pub fn pages(&self) -> usize {
        self.last.len()
    }

    /// Returns the bytes that `more` further pages take.
    pub(super) fn growth(&self, more: u64) -> u64 {
        let number = size_of::<u32>() as u64;
        let positions = (2 * (self.last.len() as u64 + more)).next_power_of_two();
        // The positions are stored in two lists.
        let uses = if positions > self.user.len() as u64 { 2 * positions * number } else { 0 };
        self.numbers.growth(more) + uses + more * number
    }

    /// Returns the sample as an exponent: one page in 2^`sample` is followed.
    pub fn sample(&self) -> u32 {
        self.sample
    }

    /// Halves the sample: follows only the pages of the next smaller sample from now on.
    pub(crate) fn thin(&mut self) {
        let mut pages = vec![0; self.last.len()];
        for (page, number) in self.numbers.entries() {
            pages[number as usize] = page;
        }
        // The old lists except `user` are freed before the new ones grow.
        let Reuse { user, .. } = std::mem::replace(self, Reuse::new(self.sample + 1));
        for number in user.into_iter().filter(|number| *number < HOLE) {
            self.take(pages[number as usize]);
        }
    }

    fn add(&mut self, position: usize, by: i32) {
        let mut at = position + 1;
        while at < self.tree.len() {
            self.tree[at] = self.tree[at].wrapping_add_signed(by);
            at += at & at.wrapping_neg();
        }
    }

    /// Returns the number of last uses before `position`.
    fn sum(&self, position: usize) -> u32 {
        let (mut at, mut sum) = (position, 0u32);
        while at > 0 {
            sum = sum.wrapping_add(self.tree[at]);
            at &= at - 1;
        }
        sum
    }

    /// Closes the gaps between positions, and makes room for as many positions again.
    fn compact(&mut self) {
        let live: Vec<u32> = self.user.iter().copied().filter(|user| *user != NONE).collect();
        let room = (live.len() * 2).next_power_of_two().max(POSITIONS);
        self.user = vec![NONE; room];
        self.tree = vec![0; room + 1];
        self.holes.clear();
        for (position, number) in live.iter().enumerate() {
            self.user[position] = *number;
            if *number == HOLE {
                self.holes.push(position as u32);
            } else {
                self.last[*number as usize] = position as u32;
            }
            self.tree[position + 1] = 1;
        }
        for at in 1..=room {
            let above = at + (at & at.wrapping_neg());
            if above <= room {
                self.tree[above] += self.tree[at];
            }
        }
        self.next = live.len();
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_base::rng::{below, hash};

    use super::Reuse;

    #[test]
    fn distances_are_those_of_a_list() {
        let mut reuse = Reuse::new(0);
        let mut list: Vec<u64> = Vec::new();
        for step in 0..300_000 {
            let page = below(hash(1, 2, step), 1 + below(hash(1, 3, step), 500));
            let place = list.iter().rev().position(|known| *known == page);
            assert_eq!(reuse.take(page), place.map(|place| place as u64), "step {step}");
            if let Some(place) = place {
                list.remove(list.len() - 1 - place);
            }
            list.push(page);
        }
    }

    #[test]
    fn a_sample_finds_the_mean() {
        let (mut all, mut some) = (Reuse::new(0), Reuse::new(4));
        let (mut sums, mut counts) = ([0, 0], [0, 0]);
        for step in 0..1_000_000 {
            let page = below(hash(1, 2, step), 20_000);
            for (index, reuse) in [&mut all, &mut some].into_iter().enumerate() {
                if let Some(distance) = reuse.take(page) {
                    sums[index] += distance;
                    counts[index] += 1;
                }
            }
        }
        let [exact, sampled] = [0, 1].map(|index| sums[index] as f64 / counts[index] as f64);
        // In a list sorted by last use, every place is equally likely.
        assert!((exact - 9_999.5).abs() < 150.0 && (sampled / exact - 1.0).abs() < 0.1);
    }
}
