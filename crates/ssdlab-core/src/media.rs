//! What is on the flash when a run begins, drawn by hash so that the order of visits does not
//! matter.

use ssdlab_base::{Nanos, rng};
use ssdlab_nand::{BlockId, Geometry, Lpn, PageInBlock, PlaneId, Ppn};

use crate::config::Resolved;

/// Purposes of the draws made here.
const BAD: u64 = 0xbad;
const WEAR: u64 = 0x3ea2;
const AGE: u64 = 0xa6e;
const PLACE: u64 = 0x91ace;
const PAGE_AGE: u64 = 0x9a6e;

/// Whether a block was bad when the drive left the factory.
pub fn is_bad(seed: u64, block: BlockId, share: f64) -> bool {
    rng::unit(rng::hash(seed, BAD, u64::from(block.0))) < share
}

/// P/E cycles of a block at the start.
pub fn start_wear(resolved: &Resolved, block: BlockId) -> u32 {
    let start = &resolved.config.start;
    let width = u64::from(2 * start.pe_spread + 1);
    let draw = rng::below(rng::hash(resolved.seed, WEAR, u64::from(block.0)), width) as u32;
    start.pe_cycles - start.pe_spread + draw
}

/// Age of a block's data at the start.
pub fn start_age(resolved: &Resolved, block: BlockId) -> Nanos {
    draw_age(resolved, rng::hash(resolved.seed, AGE, u64::from(block.0)))
}

fn draw_age(resolved: &Resolved, word: u64) -> Nanos {
    let (least, most) = (resolved.config.start.age_min, resolved.config.start.age_max);
    least + Nanos::from_ns(rng::below(word, (most - least).as_ns() + 1))
}

/// Where a page lies, and how old its data is at the start, if it was written before the start
/// and no table says where: a block and a page of its plane drawn by (seed, LPN).
pub fn preloaded(resolved: &Resolved, lpn: Lpn, plane: PlaneId) -> (Ppn, Nanos) {
    let geometry: &Geometry = resolved.geometry();
    let draw = rng::hash(resolved.seed, PLACE, u64::from(lpn.0));
    let first = geometry.first_block(plane).0;
    let block = BlockId(first + rng::below(draw, u64::from(geometry.blocks)) as u32);
    let page = rng::below(rng::mix(draw), u64::from(geometry.pages)) as u16;
    let age = draw_age(resolved, rng::hash(resolved.seed, PAGE_AGE, u64::from(block.0)));
    (geometry.page(block, PageInBlock(page)), age)
}
