//! Checks that the saved tables of an idle drive agree. Their origin is unknown: each number is
//! bounded before it serves as an index.

use ssdlab_base::ensure;
use ssdlab_nand::page_order::PageOrder;
use ssdlab_nand::{BlockId, Geometry, Ppn};

use super::saved::Allocated;
use super::{BlockState, BlockTable, SavedMap, SavedOpen};

/// Returns the most bytes that [`check`] allocates: tables of blocks, and one bit for each page.
pub(crate) fn check_takes(geometry: &Geometry) -> u64 {
    let block = size_of::<Option<Allocated>>() + size_of::<u16>();
    u64::from(geometry.block_count()) * block as u64 + u64::from(geometry.page_count()).div_ceil(8)
}

/// Checks the saved translation layer of an idle drive of this shape, which keeps `reserve` blocks
/// of a plane free.
///
/// # Errors
/// The first violation.
/// The first thing that is not as it must be.
pub(crate) fn check(
    geometry: &Geometry,
    map: &SavedMap,
    blocks: &BlockTable,
    open: &SavedOpen,
    reserve: usize,
) -> Result<(), String> {
    blocks.check_lengths(geometry)?;
    map.check_columns(geometry)?;
    let allocated = open.allocated(geometry)?;
    let valid = map.count_valid(geometry, blocks, &allocated)?;
    for (block, allocated) in (0..).map(BlockId).zip(allocated) {
        blocks.check_block(block, valid[block.index()], allocated.map(Allocated::total))?;
    }
    blocks.check_planes(reserve)
}

impl SavedMap {
    fn check_columns(&self, geometry: &Geometry) -> Result<(), String> {
        let pages = self.forward.len();
        ensure((1..=geometry.page_count() as usize).contains(&pages), || {
            format!("the map has {pages} logical pages")
        })?;
        let fits = [0, pages].contains(&self.missing.len());
        ensure(fits, || format!("sectors are kept of {} pages", self.missing.len()))?;
        let words = pages.div_ceil(64);
        let fits = [0, words].contains(&self.trimmed.len());
        ensure(fits, || format!("trims are kept in {} words, not {words}", self.trimmed.len()))?;
        let beyond = match pages % 64 {
            0 => 0,
            used => u64::MAX << used,
        };
        let last = self.trimmed.last().copied().unwrap_or(0);
        ensure(last & beyond == 0, || "a page beyond the last was trimmed".into())?;
        // An unmapped page misses no sectors.
        let misses = |(&at, &missing): (&u32, &u64)| {
            let can_miss = if at == 0 { 0 } else { geometry.page_mask() };
            missing & !can_miss != 0
        };
        let wrong = self.forward.iter().zip(&self.missing).position(misses);
        match wrong {
            Some(page) => Err(format!("logical page {page} marks impossible sectors as missing")),
            None => Ok(()),
        }
    }

    /// Counts the mapped pages of each block; each must lie on a written page of its own.
    fn count_valid(
        &self,
        geometry: &Geometry,
        blocks: &BlockTable,
        allocated: &[Option<Allocated>],
    ) -> Result<Vec<u16>, String> {
        let order = PageOrder::conventional(geometry.cell, geometry.pages);
        let mut valid = vec![0u16; blocks.len()];
        let mut taken = vec![0u64; (geometry.page_count() as usize).div_ceil(64)];
        for (lpn, &entry) in self.forward.iter().enumerate() {
            let Some(ppn) = entry.checked_sub(1).map(Ppn) else { continue };
            let here = || format!("logical page {lpn} is on physical page {}", ppn.0);
            ensure(ppn.0 < geometry.page_count(), || format!("{}, beyond the drive", here()))?;
            let (word, bit) = (ppn.index() / 64, 1 << (ppn.0 % 64));
            ensure(taken[word] & bit == 0, || format!("{}, which holds another", here()))?;
            taken[word] |= bit;
            let block = geometry.block_of(ppn);
            let page = geometry.page_in_block(ppn);
            let is_allocated = |allocated: Allocated| allocated.contains(&order, page);
            let written = blocks.state(block) == BlockState::Closed
                || allocated[block.index()].is_some_and(is_allocated);
            ensure(written, || format!("{}, which is not written", here()))?;
            valid[block.index()] += 1;
        }
        Ok(valid)
    }
}
