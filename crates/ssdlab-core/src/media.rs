//! The data on the flash when a run begins. Each value is a hash, so the order of the draws does
//! not matter.

use ssdlab_base::{Nanos, rng};
use ssdlab_nand::{BlockId, Geometry, Lpn, PageInBlock, PlaneId, Ppn};

use crate::config::Resolved;

/// Purposes of the hashes, one for each kind of draw.
const WEAR: u64 = 0x3ea2;
const AGE: u64 = 0xa6e;
const PLACE: u64 = 0x91ace;
const PAGE_AGE: u64 = 0x9a6e;
const RANDOM_KEY: u64 = 0x7042;

/// Returns the sort key of a block for an order at random.
pub(crate) fn random_key(seed: u64, block: BlockId) -> u64 {
    rng::hash(seed, RANDOM_KEY, u64::from(block.0))
}

/// Returns the P/E cycles of a block at the start, drawn evenly from `pe_cycles` ± `pe_spread`.
pub(crate) fn start_wear(resolved: &Resolved, block: BlockId) -> u32 {
    let start = &resolved.config.start;
    let width = u64::from(2 * start.pe_spread + 1);
    let draw = rng::below(rng::hash(resolved.seed, WEAR, u64::from(block.0)), width) as u32;
    start.pe_cycles - start.pe_spread + draw
}

/// Returns the age of a block's data at the start.
pub(crate) fn start_age(resolved: &Resolved, block: BlockId) -> Nanos {
    draw_age(resolved, rng::hash(resolved.seed, AGE, u64::from(block.0)))
}

fn draw_age(resolved: &Resolved, word: u64) -> Nanos {
    let (least, most) = (resolved.config.start.age_min, resolved.config.start.age_max);
    least + Nanos::from_ns(rng::below(word, (most - least).as_ns() + 1))
}

/// Returns the physical page and the age of a logical page that was written before the start and
/// that no table records. A hash of (seed, LPN) selects a block and a page of `plane`. The age is
/// the same for all such pages of a block.
pub(crate) fn unwritten_reads(resolved: &Resolved, lpn: Lpn, plane: PlaneId) -> (Ppn, Nanos) {
    let geometry: &Geometry = resolved.geometry();
    let draw = rng::hash(resolved.seed, PLACE, u64::from(lpn.0));
    let first = geometry.first_block(plane).0;
    let block = BlockId(first + rng::below(draw, u64::from(geometry.blocks)) as u32);
    let page = rng::below(rng::mix(draw), u64::from(geometry.pages)) as u16;
    let age = draw_age(resolved, rng::hash(resolved.seed, PAGE_AGE, u64::from(block.0)));
    (geometry.page(block, PageInBlock(page)), age)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn resolved(start: &str) -> Resolved {
        let config = format!(
            "geometry = {{ channels = 2, chips = 1, dies = 1, planes = 1, blocks = 500, pages = 6, \
             page_size = \"4KiB\", cell = \"tlc\" }}\n\
             timing = {{ read = \"50us\", program = \"200us\", erase = \"1ms\" }}\n\
             physics = {{ retries = {{}} }}\n\
             [start]\n{start}"
        );
        Resolved::new(&toml::from_str(&config).unwrap(), 5).unwrap()
    }

    /// Returns how often each value occurs.
    fn count<T: Ord>(values: impl Iterator<Item = T>) -> BTreeMap<T, u32> {
        let mut counts = BTreeMap::new();
        values.for_each(|value| *counts.entry(value).or_default() += 1);
        counts
    }

    /// Asserts that the `n` values from `least` to `most` occur, no others, and each about equally
    /// often.
    fn even<T: Ord + Copy + std::fmt::Debug>(counts: &BTreeMap<T, u32>, least: T, most: T, n: u32) {
        assert_eq!((counts.first_key_value().unwrap().0, counts.len()), (&least, n as usize));
        assert_eq!(counts.last_key_value().unwrap().0, &most);
        let mean = counts.values().sum::<u32>() / n;
        assert!(counts.values().all(|&count| count.abs_diff(mean) < mean / 2), "{counts:?}");
    }

    #[test]
    fn wear_and_age_of_blocks_are_drawn_evenly_between_their_bounds() {
        let resolved =
            resolved("pe_cycles = 1000\npe_spread = 3\nage_min = \"90ns\"\nage_max = \"92ns\"");
        let blocks = || (0..1000).map(BlockId);
        even(&count(blocks().map(|block| start_wear(&resolved, block))), 997, 1003, 7);
        let age = |ns| Nanos::from_ns(ns);
        even(&count(blocks().map(|block| start_age(&resolved, block))), age(90), age(92), 3);
    }

    #[test]
    fn pages_from_before_the_start_lie_anywhere_on_their_plane_each_block_of_one_age() {
        let resolved = resolved("age_min = \"90ns\"\nage_max = \"92ns\"");
        let geometry = resolved.geometry();
        let mut ages: BTreeMap<u32, Nanos> = BTreeMap::new();
        let mut pages = Vec::new();
        for lpn in (0..3000).map(Lpn) {
            let plane = PlaneId(lpn.0 % 2);
            let (ppn, age) = unwritten_reads(&resolved, lpn, plane);
            assert_eq!(geometry.plane_of_page(ppn), plane);
            assert_eq!(*ages.entry(geometry.block_of(ppn).0).or_insert(age), age);
            pages.push(geometry.page_in_block(ppn).0);
        }
        even(&count(pages.into_iter()), 0, 5, 6);
        assert!(ages.len() > 900, "of 1000 blocks, {}", ages.len());
        even(&count(ages.into_values()), Nanos::from_ns(90), Nanos::from_ns(92), 3);
    }
}
