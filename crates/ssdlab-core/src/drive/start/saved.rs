//! Classes, ranks and order of the blocks of a drive, as a state file stores them.

use ssdlab_nand::BlockId;
use ssdlab_policy::allocation::{BlockClass, FreeBlockPolicy};

use super::Misfit;
use crate::config::Resolved;
use crate::ftl::{Allocator, BlockState, BlockTable, Ftl};
use crate::policy::columns::{Column, Per, SavedColumns};

/// Returns where a state file holds the class of each block; `None` if the config alone decides it.
/// A drive that sorts its blocks in another way, or into another number of classes, has another
/// place.
fn place_of_classes(resolved: &Resolved) -> Option<String> {
    let place = resolved.config.metadata.place_of_classes(resolved.classes.count);
    resolved.classes.is_learned.then_some(place)
}

const CLASSES: &str = "block_classes";

/// Saves the class of each block, if the drive has learned it.
pub(crate) fn save_classes(resolved: &Resolved, blocks: &BlockTable, to: &mut SavedColumns) {
    if let Some(place) = place_of_classes(resolved) {
        let all = (0..blocks.len() as u32).map(BlockId);
        let mut classes: Vec<u8> = all.map(|block| blocks.class(block).0).collect();
        to.add(&place, &[Column::new(CLASSES, Per::Block, &mut classes)]);
    }
}

/// Gives blocks the classes that a state file holds for them. Returns whether it holds any.
pub(crate) fn restore_classes(
    resolved: &Resolved,
    blocks: &mut BlockTable,
    saved: &SavedColumns,
) -> Result<bool, Misfit> {
    let Some(place) = place_of_classes(resolved) else { return Ok(false) };
    let mut classes = vec![0; blocks.len()];
    let last = resolved.classes_of_blocks() as u64 - 1;
    let mut column = [Column::new(CLASSES, Per::Block, &mut classes).up_to(last)];
    let found = saved.restore(&place, &mut column).map_err(Misfit::Inconsistent)?;
    if found {
        let all = (0..).map(BlockId).zip(classes);
        all.for_each(|(block, class)| blocks.set_class(block, BlockClass(class)));
    }
    Ok(found)
}

/// The place and the name of the order of free blocks in a state file.
const FREE_BLOCKS: &str = "drive/free_blocks";
const FREE_ORDER: &str = "free_order";

/// Saves the order in which blocks became free, if the drive opens them in this order.
pub(crate) fn save_free_order(ftl: &Ftl, to: &mut SavedColumns) {
    if let Some(mut order) = ftl.alloc.free_order(ftl.blocks.len()) {
        to.add(FREE_BLOCKS, &[Column::new(FREE_ORDER, Per::Block, &mut order)]);
    }
}

/// The place and the name of the ranks of blocks in a state file.
const RANKED_BLOCKS: &str = "drive/ranked_blocks";
const FREE_RANKS: &str = "free_ranks";

/// Saves the rank of each block, if policies set the ranks by actions.
pub(crate) fn save_free_ranks(resolved: &Resolved, ftl: &Ftl, to: &mut SavedColumns) {
    if resolved.config.ftl.free_block_policy == FreeBlockPolicy::LowestRank {
        let all = (0..ftl.blocks.len() as u32).map(BlockId);
        let mut ranks: Vec<u32> = all.map(|block| ftl.blocks.free_rank(block)).collect();
        to.add(RANKED_BLOCKS, &[Column::new(FREE_RANKS, Per::Block, &mut ranks)]);
    }
}

/// Gives each block its saved rank back, if policies set the ranks by actions.
pub(super) fn restore_free_ranks(
    resolved: &Resolved,
    blocks: &mut BlockTable,
    saved: &SavedColumns,
) -> Result<(), Misfit> {
    if resolved.config.ftl.free_block_policy == FreeBlockPolicy::LowestRank {
        let mut ranks = vec![0; blocks.len()];
        let mut column = [Column::new(FREE_RANKS, Per::Block, &mut ranks)];
        saved.restore(RANKED_BLOCKS, &mut column).map_err(Misfit::Inconsistent)?;
        blocks.set_free_ranks(ranks);
    }
    Ok(())
}

/// Sorts the free blocks as a saved drive did. `sizes` holds the number of free blocks of each
/// subpool, if the state file holds it.
pub(super) fn resume_free_blocks(
    alloc: &mut Allocator,
    blocks: &mut BlockTable,
    saved: &SavedColumns,
    sizes: Option<&[usize]>,
) -> Result<(), Misfit> {
    let mut order = alloc.free_order(blocks.len());
    if let Some(own) = &mut order {
        let most = own.len() as u64;
        let mut column = [Column::new(FREE_ORDER, Per::Block, own).up_to(most)];
        saved.restore(FREE_BLOCKS, &mut column).map_err(Misfit::Inconsistent)?;
    }
    if order.is_some() || sizes.is_some() {
        alloc.resume(blocks, order.as_deref(), sizes);
    }
    Ok(())
}

/// Gives each block its saved class back. If blocks belong to priorities, returns the number of
/// free blocks of each. If the state file has no owners, the blocks with data are divided evenly in
/// the order of their ranks, the best to the highest priority.
pub(super) fn set_owners(
    resolved: &Resolved,
    blocks: &mut BlockTable,
    saved: &SavedColumns,
) -> Result<Option<Vec<usize>>, Misfit> {
    let found = restore_classes(resolved, blocks, saved)?;
    if !resolved.classes.by_priority {
        return Ok(None);
    }
    if found {
        let mut sizes = vec![0; resolved.classes.count];
        let all = (0..blocks.len() as u32).map(BlockId);
        for block in all.filter(|&block| blocks.state(block) == BlockState::Free) {
            let size = sizes.get_mut(blocks.class(block).index()).ok_or_else(|| {
                Misfit::Inconsistent(format!("block {} is free, and in no subpool", block.0))
            })?;
            *size += 1;
        }
        return Ok(Some(sizes));
    }
    let all = (0..blocks.len() as u32).map(BlockId);
    let mut used: Vec<BlockId> = all.filter(|&block| blocks.written(block) > 0).collect();
    used.sort_by_key(|&block| (blocks.free_rank(block), block.0));
    let each = used.len().div_ceil(resolved.classes.count).max(1);
    for (class, run) in (0..).map(BlockClass).zip(used.chunks(each)) {
        run.iter().for_each(|&block| blocks.set_class(block, class));
    }
    Ok(None)
}
