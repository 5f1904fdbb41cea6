//! The state in which a drive begins: fresh, or drawn as if it had been written.
//!
//! Nothing is written page by page. The books of one plane are run without time, under the drive's
//! own tenders, until they are as full, as outdated or as steady as asked ([`pool`]); every plane
//! of the drive is then drawn after that one ([`draw`]).

mod draw;
mod lay;
mod pool;

pub use lay::Laying;
use ssdlab_base::Nanos;
use ssdlab_nand::{BlockId, PlaneId};

use crate::belief::grade::Grades;
use crate::config::{RESERVE_BLOCKS, Resolved};
use crate::flash::Cells;
use crate::ftl::{Allocator, BlockState, BlockTable, Ftl, Manner, Map, PlaneOrder};
use crate::media;

/// The translation layer's books at the start.
pub fn ftl(resolved: &Resolved, order: &PlaneOrder, grades: &Grades) -> Ftl {
    let geometry = resolved.geometry();
    let config = &resolved.config.ftl;
    let mut blocks = BlockTable::new(geometry);
    blocks.grade(grades);
    let bad = config.bad_blocks.get();
    let worn = resolved.config.start.pe_cycles > 0;
    if bad > 0.0 || worn {
        for block in (0..geometry.block_count()).map(BlockId) {
            if media::is_bad(resolved.seed, block, bad) {
                blocks.set_state(block, BlockState::Bad);
            } else if worn {
                blocks.set_erases(block, media::start_wear(resolved, block));
            }
        }
    }
    let used = resolved.config.start.used.of(u64::from(geometry.blocks)) as usize;
    for plane in (0..geometry.plane_count()).map(PlaneId) {
        let first = geometry.first_block(plane).0;
        let all = (first..first + geometry.blocks).map(BlockId);
        let free: Vec<_> = all.filter(|&it| blocks.state(it) == BlockState::Free).collect();
        free.into_iter().take(used).for_each(|it| blocks.lay(it, geometry.pages as u16, 0));
    }
    let map = Map::new(resolved.mapped_pages(), geometry.page_count(), resolved.keeps_sectors());
    let filled = resolved.config.start.fill.of(u64::from(resolved.logical_pages)) as u32;
    if filled == 0 {
        let alloc = Allocator::new(geometry, &blocks, manner(resolved));
        return Ftl::new(geometry, map, blocks, alloc);
    }
    draw::filled(resolved, order, filled, map, blocks)
}

/// How a drive keeps its blocks and gives them out.
pub fn manner(resolved: &Resolved) -> Manner {
    Manner {
        reserve: RESERVE_BLOCKS as u32,
        opens: resolved.config.ftl.opens,
        classes: resolved.config.belief.grade.classes(),
        apart: resolved.config.belief.grade.apart(),
        order: resolved.config.ftl.page_order,
        copies: resolved.config.ftl.copies.unwrap_or_default(),
    }
}

/// The age of a block's data at the start, if it has any. A block that is being written is as young
/// as what will be written in it: one stamp stands for all pages of a block.
pub fn age(resolved: &Resolved, ftl: &Ftl, block: BlockId) -> Option<Nanos> {
    match ftl.blocks.state(block) {
        BlockState::Open | BlockState::Partial => Some(Nanos::ZERO),
        _ => (ftl.blocks.written(block) > 0).then(|| media::start_age(resolved, block)),
    }
}

/// What the cells hold at the start.
pub fn truth(resolved: &Resolved, ftl: &Ftl, cells: &mut Cells) {
    if resolved.chip.is_flat() {
        return;
    }
    for block in (0..resolved.geometry().block_count()).map(BlockId) {
        let wear = media::start_wear(resolved, block);
        cells.set_start(block, wear, resolved.config.start.dwell, age(resolved, ftl, block));
    }
}
