//! The state in which a drive begins: fresh, or drawn as if it had been written.
//!
//! The drive is not written page by page. Instead, the tables of one plane are run without time,
//! under the drive's own background policies ([`pool`]). This ends when they are as full, as
//! outdated or as steady as requested. Every plane of the drive is then drawn from that model plane
//! ([`draw`]).

mod draw;
mod from_history;
mod metadata;
mod owners;
mod pool;
mod saved;
mod shuffled;

pub use draw::StartModel;
pub(crate) use from_history::{HistorySample, Record, by_rank, group_of};
pub(crate) use metadata::{begin, restore_reserved};
pub use owners::Tenant;
pub(crate) use owners::{Owners, areas};
use saved::{restore_classes, restore_free_ranks, resume_free_blocks, set_owners};
pub(crate) use saved::{save_classes, save_free_order, save_free_ranks};
use ssdlab_base::Nanos;
use ssdlab_nand::{BlockId, PageInBlock, PlaneId, Ppn};

use super::{Media, Misfit};
use crate::config::{DriveConfig, RESERVE_BLOCKS, Resolved, is_bad};
use crate::flash::{BlockHistory, Cells};
use crate::ftl::{Allocator, AllocatorConfig, BlockState, BlockTable, Ftl, Map, PlaneOrder};
use crate::media;
use crate::metadata::{Metadata, place_of};
use crate::policy::columns::SavedColumns;
use ssdlab_policy::blocks::BlockClasses;

/// Pages of data up to which a single thread draws the drive.
const DRAWN_ALONE: u32 = 1 << 20;

/// The contents of a drive when it begins, before any policy has seen them. Drives that begin alike
/// ([`Resolved::begins_as`]) can each use a copy.
#[derive(Clone, Debug)]
pub struct Start {
    pub(super) ftl: Ftl,
    pub(super) cells: Cells,
    /// The components, before they have seen the data.
    pub(super) metadata: Metadata,
}

impl Start {
    /// Draws a start without a history. If the drive separates blocks by priority, the data lies
    /// in blocks of these tenants.
    pub(super) fn drawn(resolved: &Resolved, tenants: &[Tenant]) -> Start {
        let mut cells = unused(resolved);
        worn(resolved, &mut cells);
        let metadata = metadata::build(resolved, None, &cells);
        let ftl = ftl(resolved, (&block_classes(resolved, &cells), &metadata), tenants);
        aged(resolved, &ftl, &mut cells);
        Start { ftl, cells, metadata }
    }

    /// Draws a start after the blocks of a sample that these tenants wrote and read.
    pub(super) fn after(resolved: &Resolved, tenants: &[Tenant], sample: &HistorySample) -> Start {
        Start::after_by(resolved, tenants, sample, threads_for(filled_pages(resolved)))
    }

    /// Draws the start that [`Start::after`] draws, with this many threads.
    pub(super) fn after_by(
        resolved: &Resolved,
        tenants: &[Tenant],
        sample: &HistorySample,
        threads: usize,
    ) -> Start {
        let mut cells = unused(resolved);
        worn(resolved, &mut cells);
        let metadata = metadata::build(resolved, None, &cells);
        let blocks = unwritten(resolved, &block_classes(resolved, &cells), &metadata);
        let filled = filled_pages(resolved);
        let areas = areas(resolved, tenants, filled);
        let owned = (&areas[..], tenants.len());
        let sorted =
            from_history::Sorted::new(resolved, sample, owned, resolved.free_blocks_of_plane());
        let order = PlaneOrder::new(&resolved.config.ftl.allocation_order, resolved.geometry());
        let model = (filled, draw::Model::History(&sorted));
        let tables = (unmapped(resolved), blocks);
        let mut drawn = draw::filled(resolved, &order, model, tables, threads);
        for (block, record) in std::mem::take(&mut drawn.taken) {
            let record = &sample.records[record as usize];
            set_history(resolved, (block, record), &mut drawn.blocks, &mut cells);
        }
        let metadata = metadata::build(resolved, Some(&drawn.blocks), &cells);
        metadata::set_free_ranks(resolved, &metadata, &mut drawn.blocks);
        let mut ftl = drawn.with_allocator(resolved);
        if let Some(subpools) = &sample.subpools {
            let sizes = in_proportion(subpools, free_blocks(&ftl));
            ftl.alloc.resume(&mut ftl.blocks, None, Some(&sizes));
        }
        Start { ftl, cells, metadata }
    }

    /// Returns the start of a drive with the contents of a drive that was written, and with the
    /// saved state of its components.
    ///
    /// # Errors
    /// If the contents come from a drive of another shape, or if the saved state of a component is
    /// impossible.
    pub fn of(resolved: &Resolved, media: Media, saved: &SavedColumns) -> Result<Start, Misfit> {
        let geometry = resolved.geometry();
        let (data, pages) = (resolved.logical_pages, resolved.mapped_pages());
        let Media { map, mut blocks, open, facts, .. } = media;
        let map = map.sized(data, pages).ok_or(Misfit::OtherShape)?;
        let map = Map::restore(map, geometry.page_count(), resolved.tracked_sectors());
        let map = map.ok_or(Misfit::OtherShape)?;
        let same_blocks = blocks.len() == geometry.block_count() as usize;
        let same_pages = map.logical_pages() == pages;
        let mut cells = unused(resolved);
        if !(same_blocks && same_pages && cells.restore(facts)) {
            return Err(Misfit::OtherShape);
        }
        blocks.count_full();
        blocks.set_classes(&block_classes(resolved, &cells));
        let mut metadata = metadata::build(resolved, Some(&blocks), &cells);
        for (_, component) in metadata.components() {
            let place = place_of(component.name());
            saved.restore(&place, &mut component.columns()).map_err(Misfit::Inconsistent)?;
        }
        metadata::set_free_ranks(resolved, &metadata, &mut blocks);
        restore_free_ranks(resolved, &mut blocks, saved)?;
        let sizes = set_owners(resolved, &mut blocks, saved)?;
        let alloc = Allocator::restore(&open, geometry, &mut blocks, allocator_config(resolved));
        let mut alloc = alloc.ok_or(Misfit::OtherShape)?;
        resume_free_blocks(&mut alloc, &mut blocks, saved, sizes.as_deref())?;
        Ok(Start { ftl: Ftl::new(geometry, map, blocks, alloc), cells, metadata })
    }
}

impl Resolved {
    /// Returns whether drives of these configs begin alike if their data has the same tenants:
    /// [`Start::draw`] returns the same for both. Calls `models_equal` if their background
    /// policies differ.
    pub fn begins_as(&self, other: &Resolved, models_equal: impl FnOnce() -> bool) -> bool {
        fn relevant(resolved: &Resolved) -> impl PartialEq {
            // The drive's design. Every section is listed by name: the author of a new section must
            // decide whether a start depends on it.
            let DriveConfig {
                geometry,
                timing,
                physics,
                flash,
                host: _,
                buffer: _,
                ftl,
                metadata,
                scheduler: _,
                // Policies: see below.
                placement: _,
                program_mode: _,
                read_start: _,
                suspend: _,
                eviction: _,
                background: _,
                start,
                workload: _,
            } = &resolved.config;
            // A component may measure blocks, and so depends on erase times. It also knows the
            // buffer.
            let has_components = !resolved.components().is_empty();
            let of_components = has_components.then(|| (timing, resolved.policy_context()));
            let modes = &timing.program_modes;
            let sections = (geometry, modes, physics, flash.time_scale, ftl, metadata, start);
            // The policies that the model plane runs, and all that they know of the drive.
            let policies = (resolved.config.drawn_placement(), pool::context(resolved));
            (sections, of_components, policies)
        }
        // A steady plane takes as long to compute as a drive to draw, and other background policies
        // seldom leave the same state.
        let equal_models = || !self.config.start.steady_state && models_equal();
        let history = self.history_config();
        relevant(self) == relevant(other)
            && history == other.history_config()
            && (history.is_some()
                || self.config.background == other.config.background
                || equal_models())
    }

    /// Returns the part of a start that depends on the background policies. This writes a model
    /// plane.
    pub fn start_model(&self) -> StartModel {
        StartModel::of(self, filled_pages(self))
    }
}

/// Returns the number of pages that hold data at the start.
fn filled_pages(resolved: &Resolved) -> u32 {
    resolved.config.start.fill.of(u64::from(resolved.logical_pages)) as u32
}

/// Returns cells that were never written.
fn unused(resolved: &Resolved) -> Cells {
    let (chip, order) = (resolved.chip.clone(), resolved.page_order.clone());
    Cells::new(chip, order, resolved.geometry(), resolved.config.flash.time_scale)
}

/// Returns the classes into which a drive sorts its blocks.
fn block_classes(resolved: &Resolved, cells: &Cells) -> BlockClasses {
    resolved.config.metadata.block_class.of(|| cells.base_rates(resolved.geometry()))
}

/// Returns the tables of the translation layer at the start.
fn ftl(
    resolved: &Resolved,
    (block_classes, metadata): (&BlockClasses, &Metadata),
    tenants: &[Tenant],
) -> Ftl {
    let geometry = resolved.geometry();
    let config = &resolved.config.ftl;
    let mut blocks = unwritten(resolved, block_classes, metadata);
    let used = resolved.config.start.used.of(u64::from(geometry.blocks)) as usize;
    for plane in (0..geometry.plane_count()).map(PlaneId) {
        let first = geometry.first_block(plane).0;
        let all = (first..first + geometry.blocks).map(BlockId);
        let free: Vec<_> = all.filter(|&it| blocks.state(it) == BlockState::Free).collect();
        free.into_iter().take(used).for_each(|it| blocks.prefill(it, geometry.pages as u16, 0));
    }
    let map = unmapped(resolved);
    let filled = filled_pages(resolved);
    if filled == 0 {
        let alloc = Allocator::new(geometry, &mut blocks, allocator_config(resolved));
        return Ftl::new(geometry, map, blocks, alloc);
    }
    let owners = Owners::new(resolved, tenants, filled);
    let order = PlaneOrder::new(&config.allocation_order, geometry);
    let model = (filled, draw::Model::Written(&owners));
    let drawn = draw::filled(resolved, &order, model, (map, blocks), threads_for(filled));
    drawn.with_allocator(resolved)
}

/// Returns the number of threads that draw this many pages. A small drive is faster without.
fn threads_for(filled: u32) -> usize {
    if filled < DRAWN_ALONE {
        1
    } else {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}

/// Returns a map without data.
fn unmapped(resolved: &Resolved) -> Map {
    Map::new(resolved.mapped_pages(), resolved.geometry().page_count(), resolved.tracked_sectors())
}

/// Returns the number of free blocks of a drive.
fn free_blocks(ftl: &Ftl) -> usize {
    let blocks = (0..ftl.blocks.len() as u32).map(BlockId);
    blocks.filter(|&block| ftl.blocks.state(block) == BlockState::Free).count()
}

/// Divides `whole` in proportion to these sizes.
fn in_proportion(sizes: &[u32], whole: usize) -> Vec<usize> {
    let all = sizes.iter().map(|&size| u64::from(size)).sum::<u64>().max(1);
    let (mut summed, mut handed_out) = (0, 0);
    let mut own = |size: &u32| {
        summed += u64::from(*size);
        let upto = (whole as u64 * summed / all) as usize;
        upto - std::mem::replace(&mut handed_out, upto)
    };
    let mut shares: Vec<usize> = sizes.iter().map(&mut own).collect();
    if let Some(last) = shares.last_mut() {
        *last += whole - handed_out;
    }
    shares
}

/// Sets the history of a block as a record of the sample has it, on top of its own wear at the
/// start.
fn set_history(
    resolved: &Resolved,
    (block, record): (BlockId, &Record),
    blocks: &mut BlockTable,
    cells: &mut Cells,
) {
    let more = record.more_erases;
    let began = media::start_wear(resolved, block);
    let erases = record.erases.saturating_add(more.round() as u32);
    blocks.set_erases(block, began.saturating_add(erases));
    if let Some(history) = &record.history {
        let wear = began as f32 + history.wear + more as f32;
        cells.set_block_history(block, &BlockHistory { wear, ..*history });
    }
    let first = resolved.geometry().page(block, PageInBlock(0)).0;
    for (page, &mode) in (first..).map(Ppn).zip(&record.modes[..]) {
        cells.set_program_mode(page, mode);
    }
}

/// Returns the blocks of a drive without data, with their classes, ranks and wear.
fn unwritten(resolved: &Resolved, block_classes: &BlockClasses, metadata: &Metadata) -> BlockTable {
    let geometry = resolved.geometry();
    let mut blocks = BlockTable::new(geometry);
    blocks.set_classes(block_classes);
    metadata::set_free_ranks(resolved, metadata, &mut blocks);
    let bad = resolved.config.ftl.bad_blocks.get();
    let worn = resolved.config.start.pe_cycles > 0;
    if bad > 0.0 || worn {
        for block in (0..geometry.block_count()).map(BlockId) {
            if is_bad(resolved.seed, block, bad) {
                blocks.set_state(block, BlockState::Bad);
            } else if worn {
                blocks.set_erases(block, media::start_wear(resolved, block));
            }
        }
    }
    blocks
}

/// Returns the settings of the block allocator.
pub(crate) fn allocator_config(resolved: &Resolved) -> AllocatorConfig {
    AllocatorConfig {
        reserve: RESERVE_BLOCKS as u32,
        free_block_policy: resolved.config.ftl.free_block_policy,
        classes: resolved.classes_of_blocks(),
        reserved_classes: resolved.classes.reserved_classes,
        order: resolved.config.ftl.page_order,
        gc_stream: resolved.config.ftl.gc_stream.unwrap_or_default(),
        by_priority: resolved.classes.by_priority,
        unowned: resolved.has_unowned(),
        streams: resolved.config.streams(),
    }
}

/// Returns the age of a block's data at the start, if it has any. A block that is being written
/// counts as new, like the pages that will follow: a block has one time stamp for all its pages.
pub(crate) fn age(resolved: &Resolved, ftl: &Ftl, block: BlockId) -> Option<Nanos> {
    match ftl.blocks.state(block) {
        BlockState::Open | BlockState::Partial => Some(Nanos::ZERO),
        _ => (ftl.blocks.written(block) > 0).then(|| media::start_age(resolved, block)),
    }
}

/// Sets the wear of the cells at the start.
fn worn(resolved: &Resolved, cells: &mut Cells) {
    if resolved.chip.is_flat() {
        return;
    }
    for block in (0..resolved.geometry().block_count()).map(BlockId) {
        let wear = media::start_wear(resolved, block);
        cells.set_start(block, wear, resolved.config.start.dwell, None);
    }
}

/// Sets the age of the data at the start.
fn aged(resolved: &Resolved, ftl: &Ftl, cells: &mut Cells) {
    if resolved.chip.is_flat() {
        return;
    }
    for block in (0..resolved.geometry().block_count()).map(BlockId) {
        if let Some(age) = age(resolved, ftl, block) {
            cells.set_age(block, age);
        }
    }
}
