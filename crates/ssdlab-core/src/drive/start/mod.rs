//! The state in which a drive begins: fresh, or drawn as if it had been written.
//!
//! Nothing is written page by page. The books of one plane are run without time, under the drive's
//! own tenders, until they are as full, as outdated or as steady as asked ([`pool`]); every plane
//! of the drive is then drawn after that one ([`draw`]).

mod draw;
mod lay;
mod owners;
mod pool;

pub use lay::Laying;
pub use owners::{Owners, Tenant};
use ssdlab_base::Nanos;
use ssdlab_nand::{BlockId, PlaneId};

use crate::belief::grade::Grades;
use crate::belief::quality::{Before, Quality};
use crate::config::{RESERVE_BLOCKS, Resolved};
use crate::flash::Cells;
use crate::ftl::{Allocator, BlockState, BlockTable, Ftl, Manner, Map, PlaneOrder};
use crate::media;

/// Pages of data of a drive that one thread draws.
const DRAWN_ALONE: u32 = 1 << 20;

/// The translation layer's books at the start.
pub fn ftl(
    resolved: &Resolved,
    order: &PlaneOrder,
    (grades, quality): (&Grades, Option<&Quality>),
    tenants: &[Tenant],
) -> Ftl {
    let geometry = resolved.geometry();
    let config = &resolved.config.ftl;
    let mut blocks = BlockTable::new(geometry);
    blocks.grade(grades);
    set_turns(&mut blocks, quality);
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
        let alloc = Allocator::new(geometry, &mut blocks, manner(resolved));
        return Ftl::new(geometry, map, blocks, alloc);
    }
    let owners = Owners::new(resolved, tenants, filled);
    // Threads are not worth it for a small drive.
    let threads = match filled < DRAWN_ALONE {
        true => 1,
        false => std::thread::available_parallelism().map_or(1, usize::from),
    };
    draw::filled(resolved, order, (filled, &owners), (map, blocks), threads)
}

/// Sets when each block's turn to be opened comes, by the retries that are believed.
pub fn set_turns(blocks: &mut BlockTable, quality: Option<&Quality>) {
    if let Some(quality) = quality {
        let all = (0..blocks.len() as u32).map(BlockId);
        blocks.set_turns(all.map(|block| quality.turn(block)).collect());
    }
}

/// Deals out the blocks that hold data to priorities where no one knows whose they are: in the order of
/// their turns, the best to the highest, the same number to each.
pub fn set_owners(resolved: &Resolved, blocks: &mut BlockTable) {
    let grade = &resolved.config.belief.grade;
    if !grade.by_priority() {
        return;
    }
    let all = (0..blocks.len() as u32).map(BlockId);
    let mut used: Vec<BlockId> = all.filter(|&block| blocks.written(block) > 0).collect();
    used.sort_by_key(|&block| (blocks.turn(block), block.0));
    let each = used.len().div_ceil(grade.classes()).max(1);
    for (class, run) in (0..).zip(used.chunks(each)) {
        run.iter().for_each(|&block| blocks.set_class(block, class));
    }
}

/// What the controller believes of blocks that are as their cells are.
pub fn quality(resolved: &Resolved, blocks: Option<&BlockTable>, cells: &Cells) -> Option<Quality> {
    if !resolved.believes() {
        return None;
    }
    let choice = &resolved.config.belief.retries;
    let all = (0..resolved.geometry().block_count()).map(BlockId);
    let before: Vec<Before> = all
        .map(|block| Before {
            erases: match blocks {
                Some(blocks) => blocks.erases(block),
                None => media::start_wear(resolved, block),
            },
            dwell: cells.dwell(block),
            reads: cells.reads(block),
        })
        .collect();
    let look = |block, pe_cycles| cells.look(block, pe_cycles);
    Quality::new(choice, cells.days_in_a_nano(), &before, look)
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
        by_priority: resolved.config.belief.grade.by_priority(),
        kinds: resolved.config.belief.hotness.kinds(),
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

/// What the cells have been through at the start.
pub fn worn(resolved: &Resolved, cells: &mut Cells) {
    if resolved.chip.is_flat() {
        return;
    }
    for block in (0..resolved.geometry().block_count()).map(BlockId) {
        let wear = media::start_wear(resolved, block);
        cells.set_start(block, wear, resolved.config.start.dwell, None);
    }
}

/// How old what they hold is.
pub fn aged(resolved: &Resolved, ftl: &Ftl, cells: &mut Cells) {
    if resolved.chip.is_flat() {
        return;
    }
    for block in (0..resolved.geometry().block_count()).map(BlockId) {
        if let Some(age) = age(resolved, ftl, block) {
            cells.set_age(block, age);
        }
    }
}
