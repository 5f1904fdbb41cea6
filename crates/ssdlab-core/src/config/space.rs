//! The division of the flash between data and the blocks kept for writing and garbage collection.

use ssdlab_base::rng;
use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{BlockId, PlaneId};

use super::{DriveConfig, HistoryConfig, MapCacheConfig, PartialWrites, Resolved, StartOwners};
use crate::ftl::Streams;
use ssdlab_schemes::{AnyBackground, AnyPlacement, PlacementChoice};

/// Free blocks of a plane that only garbage collection and wear leveling may open.
pub const RESERVE_BLOCKS: usize = 1;
/// Blocks of a plane that never hold user data: the reserve, and the open blocks of the host and of
/// garbage collection.
pub(super) const BLOCKS_UNUSABLE: u32 = RESERVE_BLOCKS as u32 + 2;

impl Resolved {
    /// Returns whether data of the start belongs to no priority, in blocks of its own.
    pub(crate) fn has_unowned(&self) -> bool {
        self.config.has_unowned()
    }

    /// Returns the history of the start, if the drive begins with data.
    pub fn history(&self) -> Option<&HistoryConfig> {
        self.config.start.history.get().filter(|_| self.config.start.fill.get() > 0.0)
    }

    /// Returns the number of classes of blocks, with that of the data that no priority owns.
    pub(crate) fn classes_of_blocks(&self) -> usize {
        self.classes.count + usize::from(self.has_unowned())
    }

    /// Returns all sectors of a page, a bit each, if the drive records written sectors; else 0.
    pub fn tracked_sectors(&self) -> u64 {
        let keeps = self.config.ftl.partial_writes == PartialWrites::SectorBitmap;
        if keeps { self.geometry().page_mask() } else { 0 }
    }

    /// Returns the number of logical pages, the map's own pages included.
    pub fn mapped_pages(&self) -> u32 {
        self.logical_pages + self.map_cache.map_or(0, |shape| shape.pages())
    }

    /// Returns the number of sectors that the host can address.
    pub fn sectors(&self) -> u64 {
        u64::from(self.logical_pages) * u64::from(self.geometry().sectors_per_page())
    }
}

impl DriveConfig {
    /// Returns whether each priority has blocks of its own.
    pub(super) fn separates_priorities(&self) -> bool {
        self.metadata.block_class.layout(&self.geometry).by_priority
    }

    fn has_unowned(&self) -> bool {
        self.start.owners == Some(StartOwners::Unowned) && self.separates_priorities()
    }

    /// Returns the streams for which a writer has blocks open. The link of the placement chain with
    /// the most streams decides.
    pub fn streams(&self) -> Streams {
        let links = self.placement.iter().map(AnyPlacement::streams);
        links.fold(Streams::ONE, |most, own| if own.count > most.count { own } else { most })
    }

    /// Returns the placement chain as it takes part in drawing a start. It does if it chooses among
    /// streams, which decide which blocks are open; otherwise the list is empty.
    pub(crate) fn drawn_placement(&self) -> &[PlacementChoice] {
        if self.streams().count > 1 { &self.placement } else { &[] }
    }
}

/// Returns the number of entries of a translation page.
pub(super) fn entries(config: &DriveConfig, cache: &MapCacheConfig) -> Result<u32, Refusal> {
    let page = config.geometry.page_size;
    match page.get().checked_div(cache.entry.get()) {
        Some(entries @ 1..) => Ok(entries as u32),
        _ => {
            let expected = format!("from 1B to a page of {page}");
            Err(Refusal::new("ftl.map_cache.entry", cache.entry, expected))
        }
    }
}

/// The purpose of the hash that draws bad blocks.
const BAD: u64 = 0xbad;

/// Returns whether a block was bad when the drive left the factory. The value is a hash, so the
/// order of the draws does not matter.
pub fn is_bad(seed: u64, block: BlockId, share: f64) -> bool {
    rng::unit(rng::hash(seed, BAD, u64::from(block.0))) < share
}

/// Returns the mean number of good blocks of a plane.
pub(crate) fn usable_blocks(config: &DriveConfig) -> u32 {
    let good = 1.0 - config.ftl.bad_blocks.get();
    (f64::from(config.geometry.blocks) * good).round() as u32
}

/// Returns the mean number of blocks of a plane that hold no data when the drive is full.
pub fn spare_blocks(config: &DriveConfig, logical_pages: u32) -> u32 {
    let geometry = &config.geometry;
    let data = logical_pages.div_ceil(geometry.plane_count()).div_ceil(geometry.pages);
    usable_blocks(config).saturating_sub(data)
}

/// Returns two numbers of blocks of a plane: those kept for writing and garbage collection, and the
/// bad ones of the worst plane.
fn blocks_without_data(config: &DriveConfig, seed: u64) -> (u32, u32) {
    let geometry = &config.geometry;
    let planes = geometry.plane_count();
    let bad_share = config.ftl.bad_blocks.get();
    let worst = if bad_share <= 0.0 {
        0
    } else {
        (0..planes)
            .map(|plane| {
                let first = geometry.first_block(PlaneId(plane)).0;
                let blocks = (first..first + geometry.blocks).map(BlockId);
                blocks.filter(|&block| is_bad(seed, block, bad_share)).count() as u32
            })
            .max()
            .unwrap_or(0)
    };
    // A start state is drawn on a plane with the expected number of bad blocks.
    let worst = worst.max(geometry.blocks - usable_blocks(config));
    // Static wear leveling has an open block of its own; moves have one open block of each class.
    let wearing = u32::from(AnyBackground::any_uses(&config.background, |uses| uses.cold_blocks));
    let layout = config.metadata.block_class.layout(&config.geometry);
    let classes = layout.count as u32;
    let unowned = u32::from(config.has_unowned());
    // A block is open for each stream. Where the uses of pages are known, a block may be open for
    // each use.
    let streams = u32::from(config.streams().count);
    let of_class = streams.max(config.metadata.page_kinds().into());
    let kinds = classes * of_class;
    if layout.by_priority {
        // The host, too, has a block open for each priority.
        let jobs = (kinds + unowned * of_class) * (1 + wearing);
        let unusable = RESERVE_BLOCKS as u32 + classes + jobs;
        return (unusable, worst);
    }
    let unusable = BLOCKS_UNUSABLE + wearing + (kinds - 1) * (1 + wearing);
    (unusable, worst)
}

/// The share of the blocks left free by data that can be reserved. With no block left, the drive
/// would only collect garbage. Assumed.
const MAX_RESERVED_SHARE: f64 = 0.875;

/// The share of the remaining free blocks that pages of other planes may take under static
/// allocation; the rest is for the plane's own pages. A write moves a page back to its home plane.
/// Pages in blocks that are reserved count, too: they move to the remaining blocks when their
/// block is emptied. Assumed.
const MAX_FOREIGN_SHARE: f64 = 0.5;

/// Returns the blocks of a plane that data leave free.
fn left_free(config: &DriveConfig, mapped_pages: u32, seed: u64) -> f64 {
    let geometry = &config.geometry;
    let (unusable, worst) = blocks_without_data(config, seed);
    let data = mapped_pages.div_ceil(geometry.plane_count()).div_ceil(geometry.pages);
    f64::from(geometry.blocks.saturating_sub(worst + unusable + data))
}

/// Returns the most blocks of a plane that can be reserved while all data still fits.
pub(super) fn max_reserved_blocks(config: &DriveConfig, mapped_pages: u32, seed: u64) -> u32 {
    (left_free(config, mapped_pages, seed) * MAX_RESERVED_SHARE) as u32
}

/// Returns the most pages of other planes that a plane can take while its own pages still fit.
pub(super) fn max_foreign_pages(config: &DriveConfig, mapped_pages: u32, seed: u64) -> u32 {
    let blocks =
        left_free(config, mapped_pages, seed) * (1.0 - MAX_RESERVED_SHARE) * MAX_FOREIGN_SHARE;
    (blocks * f64::from(config.geometry.pages)) as u32
}

/// Returns the number of pages that the host may address, if the drive can hold them.
pub(super) fn logical_pages(config: &DriveConfig, seed: u64) -> Result<u32, Refusal> {
    let geometry = &config.geometry;
    let share = 1.0 - config.ftl.overprovisioning.get();
    let pages = (f64::from(geometry.page_count()) * share).floor() as u32;
    let planes = geometry.plane_count();
    // A map that the controller holds in part also takes space on the flash.
    let maps = match config.ftl.map_cache.get() {
        None => 0,
        Some(cache) => pages.div_ceil(entries(config, cache)?),
    };
    let max_on_a_plane = (pages + maps).div_ceil(planes);
    let (unusable, worst) = blocks_without_data(config, seed);
    let usable = geometry.blocks.saturating_sub(worst + unusable) * geometry.pages;
    if usable == 0 {
        let expected = format!(
            "more than {}: of a plane's blocks {unusable} are kept for writing and \
             collecting and {worst} are bad",
            worst + unusable
        );
        return Err(Refusal::new("geometry.blocks", geometry.blocks, expected));
    }
    if pages == 0 || max_on_a_plane > usable {
        let of_data = f64::from(pages) / f64::from((pages + maps).max(1));
        let most = f64::from(usable) / f64::from(geometry.blocks * geometry.pages) * of_data;
        let spare: f64 = 1.0 - most;
        let map = if maps > 0 { ", and its map lies on the flash, too" } else { "" };
        let expected = format!(
            "at least {:.4} and less than 1: of a plane's {} blocks {unusable} are kept \
             for writing and collecting and {worst} are bad{map}",
            (spare * 1e4).ceil() / 1e4,
            geometry.blocks,
        );
        let got = config.ftl.overprovisioning.get();
        return Err(Refusal::new("ftl.overprovisioning", got, expected));
    }
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_blocks_are_bad_as_the_share_says() {
        let blocks = || (0..1000).map(BlockId);
        let bad = blocks().filter(|&block| is_bad(5, block, 0.2)).count();
        assert!((150..250).contains(&bad), "{bad}");
        assert!(!blocks().any(|block| is_bad(5, block, 0.0)));
    }
}
