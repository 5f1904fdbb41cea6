//! The metadata of a drive at its start.

use ssdlab_nand::{BlockId, Geometry};

use super::{Misfit, Start, allocator_config, restore_classes};
use crate::config::{RESERVE_BLOCKS, Resolved};
use crate::flash::Cells;
use crate::ftl::{Allocator, BlockState, Ftl};
use crate::media;
use crate::metadata::Metadata;
use crate::metadata::block_class::BlockClassChoice;
use crate::metadata::block_groups::{First, Groups, GroupsConfig};
use crate::metadata::page_hotness::HotPages;
use crate::policy::columns::SavedColumns;

/// Builds the metadata components for a start.
pub fn metadata(resolved: &Resolved, start: &mut Start) -> Metadata {
    let Start { ftl, cells, quality } = start;
    let mut retry_estimates = quality.take().map(Box::new);
    if let Some(estimates) = &mut retry_estimates {
        // The data that lies on the drive at the start was programmed then.
        for block in (0..resolved.geometry().block_count()).map(BlockId) {
            if let Some(stamp) = cells.stamp(block) {
                estimates.programmed(block, stamp);
            }
        }
    }
    let hotness = resolved.config.metadata.page_hotness.get();
    Metadata {
        block_groups: match &resolved.config.metadata.block_class {
            BlockClassChoice::Measured(config) => {
                Some(Box::new(set_apart(resolved, config, ftl, cells)))
            }
            _ => None,
        },
        retry_estimates,
        page_hotness: hotness.map(|hotness| {
            let (pages, buffered) = (resolved.logical_pages, resolved.buffer_pages);
            Box::new(HotPages::new(hotness, pages, buffered))
        }),
    }
}

/// Measures the blocks, and sets a part of the free ones apart.
fn set_apart(resolved: &Resolved, config: &GroupsConfig, ftl: &mut Ftl, cells: &Cells) -> Groups {
    let geometry: &Geometry = resolved.geometry();
    let all = (0..geometry.block_count()).map(BlockId);
    let erases: Vec<u32> = all.clone().map(|block| ftl.blocks.erases(block)).collect();
    let first = First {
        blocks_per_plane: geometry.blocks,
        most_apart: resolved.most_apart,
        levels: cells.levels(),
        most_errors: cells.most_errors(),
        known: cells.first_readings(geometry),
        erases,
        opens: resolved.config.ftl.free_block_policy,
    };
    let mut groups = Groups::new(config, first);
    set_turns(&groups, ftl);
    let is_free = |&block: &BlockId| ftl.blocks.state(block) == BlockState::Free;
    let mut free: Vec<BlockId> = all.filter(is_free).collect();
    // By chance: the first in order would be the first that the host is given, too.
    free.sort_by_cached_key(|&block| media::turn(resolved.seed, block));
    // A plane keeps one for jobs and one for the host; what is collected later may be set apart.
    let mut left = vec![0; geometry.plane_count() as usize];
    free.iter().for_each(|&block| left[geometry.plane_of(block).index()] += 1);
    for block in free {
        let left = &mut left[geometry.plane_of(block).index()];
        let class = groups.class_of_free(block, *left > RESERVE_BLOCKS + 1);
        *left -= usize::from(groups.is_apart(class));
        ftl.blocks.set_class(block, class);
    }
    sort_free_blocks(resolved, ftl);
    groups
}

/// Sets the turns of blocks by what they were measured to be, if free blocks are opened by that.
fn set_turns(groups: &Groups, ftl: &mut Ftl) {
    let all = (0..ftl.blocks.len() as u32).map(BlockId);
    let turns = all.map(|block| groups.turn(block, ftl.blocks.erases(block)));
    if let Some(turns) = turns.collect() {
        ftl.blocks.set_turns(turns);
    }
}

/// Has the allocator sort free blocks by their classes and turns.
fn sort_free_blocks(resolved: &Resolved, ftl: &mut Ftl) {
    let (open, geometry) = (ftl.alloc.save(), resolved.geometry());
    let alloc = Allocator::restore(&open, geometry, &mut ftl.blocks, allocator_config(resolved));
    ftl.alloc = alloc.expect("pages of the same order");
}

/// Sets the blocks apart that were set apart when a state file was written, if the file says which. `groups` have
/// been restored from it.
pub fn restore_apart(
    resolved: &Resolved,
    groups: &mut Groups,
    ftl: &mut Ftl,
    kept: &SavedColumns,
) -> Result<(), Misfit> {
    if !restore_classes(resolved, &mut ftl.blocks, kept)? {
        return Ok(());
    }
    let blocks = &ftl.blocks;
    groups.count_anew(|block| Some(blocks.class(block)).filter(|_| blocks.is_apart(block)));
    set_turns(groups, ftl);
    sort_free_blocks(resolved, ftl);
    Ok(())
}
