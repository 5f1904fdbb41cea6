//! The metadata components of a drive at its start.

use ssdlab_base::{CellTime, Nanos};
use ssdlab_nand::{BlockId, Geometry};

use super::{Misfit, allocator_config, restore_classes};
use crate::account::{BlockProbe, Reading};
use crate::config::{RESERVE_BLOCKS, Resolved};
use crate::flash::Cells;
use crate::ftl::{Allocator, BlockState, BlockTable, FreeBlockPolicy, Ftl};
use crate::media;
use crate::metadata::Metadata;
use crate::policy::PolicyContext;
use crate::policy::columns::SavedColumns;
use crate::policy::component::{StartBlocks, StartView};

/// The blocks of a drive at its start.
struct Blocks<'a> {
    resolved: &'a Resolved,
    cells: &'a Cells,
    /// The block table, if it exists already.
    table: Option<&'a BlockTable>,
}

impl StartBlocks for Blocks<'_> {
    fn pe_cycles(&self, block: BlockId) -> u32 {
        match self.table {
            Some(table) => table.erases(block),
            None => media::start_wear(self.resolved, block),
        }
    }

    fn dwell(&self, block: BlockId) -> Nanos {
        self.cells.dwell(block)
    }

    fn reads(&self, block: BlockId) -> u32 {
        self.cells.reads(block)
    }

    fn programmed(&self, block: BlockId) -> Option<CellTime> {
        self.cells.stamp(block)
    }

    fn probe(&self, block: BlockId, pe_cycles: u32) -> BlockProbe {
        self.cells.probe(block, pe_cycles)
    }

    fn worst_reading(&self, block: BlockId) -> Reading {
        self.cells.first_reading(block, self.resolved.geometry())
    }
}

impl Blocks<'_> {
    fn view<'a>(&'a self, context: &'a PolicyContext) -> StartView<'a> {
        StartView {
            context,
            host_pages: self.resolved.logical_pages,
            free_block_policy: self.resolved.config.ftl.free_block_policy,
            max_reserved_blocks: self.resolved.max_reserved_blocks,
            max_errors: self.cells.max_errors(),
            days_in_a_nano: self.cells.days_in_a_nano(),
            blocks: self,
        }
    }
}

/// Builds the components of a drive without data. `table` is the block table, if it exists already.
pub(super) fn build(resolved: &Resolved, table: Option<&BlockTable>, cells: &Cells) -> Metadata {
    let context = resolved.policy_context();
    let blocks = Blocks { resolved, cells, table };
    Metadata::build(&resolved.config.metadata, &blocks.view(&context))
}

/// Shows the components the data of the start, and sorts the free blocks if a component classifies
/// them.
pub(crate) fn begin(resolved: &Resolved, metadata: &mut Metadata, ftl: &mut Ftl, cells: &Cells) {
    let context = resolved.policy_context();
    let blocks = Blocks { resolved, cells, table: Some(&ftl.blocks) };
    metadata.begin(&blocks.view(&context));
    if metadata.classifies() {
        classify(resolved, metadata, ftl);
    }
}

/// Gives each free block the class that a component returns for it, and has the allocator sort the
/// blocks.
fn classify(resolved: &Resolved, metadata: &mut Metadata, ftl: &mut Ftl) {
    let geometry: &Geometry = resolved.geometry();
    set_free_ranks(resolved, metadata, &mut ftl.blocks);
    let all = (0..geometry.block_count()).map(BlockId);
    let is_free = |&block: &BlockId| ftl.blocks.state(block) == BlockState::Free;
    let mut free: Vec<BlockId> = all.filter(is_free).collect();
    // In random order: otherwise the host would get the first blocks in numerical order.
    free.sort_by_cached_key(|&block| media::random_key(resolved.seed, block));
    // A plane keeps one block for jobs and one for the host. Blocks that are collected later may be
    // reserved.
    let mut left = vec![0; geometry.plane_count() as usize];
    free.iter().for_each(|&block| left[geometry.plane_of(block).index()] += 1);
    for block in free {
        let left = &mut left[geometry.plane_of(block).index()];
        let may_join = *left > RESERVE_BLOCKS + 1;
        let Some(class) = metadata.class_of_free(block, may_join) else { continue };
        ftl.blocks.set_class(block, class);
        *left -= usize::from(ftl.blocks.is_reserved(block));
    }
    sort_free_blocks(resolved, ftl);
}

/// Sets the rank of each block, if a component ranks blocks. Where policies rank them by actions,
/// each block begins with rank 0.
pub(super) fn set_free_ranks(resolved: &Resolved, metadata: &Metadata, blocks: &mut BlockTable) {
    if resolved.config.ftl.free_block_policy == FreeBlockPolicy::LowestRank {
        return blocks.rank_by_actions();
    }
    let all = (0..blocks.len() as u32).map(BlockId);
    let free_ranks = all.map(|block| metadata.free_rank(block, blocks.erases(block)));
    if let Some(free_ranks) = free_ranks.collect() {
        blocks.set_free_ranks(free_ranks);
    }
}

/// Has the allocator sort free blocks by their classes and ranks.
fn sort_free_blocks(resolved: &Resolved, ftl: &mut Ftl) {
    let (open, geometry) = (ftl.alloc.save(), resolved.geometry());
    let order = ftl.alloc.free_order(ftl.blocks.len());
    let alloc = Allocator::restore(&open, geometry, &mut ftl.blocks, allocator_config(resolved));
    ftl.alloc = alloc.expect("pages of the same order");
    if order.is_some() {
        ftl.alloc.resume(&mut ftl.blocks, order.as_deref(), None);
    }
}

/// Restores from a state file which blocks are reserved, if the file holds it. The components were
/// restored before.
pub(crate) fn restore_reserved(
    resolved: &Resolved,
    metadata: &mut Metadata,
    ftl: &mut Ftl,
    saved: &SavedColumns,
) -> Result<(), Misfit> {
    if !(metadata.classifies() && restore_classes(resolved, &mut ftl.blocks, saved)?) {
        return Ok(());
    }
    let blocks = &ftl.blocks;
    let reserved_class = |block| Some(blocks.class(block)).filter(|_| blocks.is_reserved(block));
    metadata.classes_restored(&reserved_class);
    set_free_ranks(resolved, metadata, &mut ftl.blocks);
    sort_free_blocks(resolved, ftl);
    Ok(())
}
