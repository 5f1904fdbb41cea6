//! What a drive holds, without its policies: to be kept, and to be given to other drives.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Drive, start};
use crate::belief::hotness::Hotness;
use crate::config::Resolved;
use crate::flash::Facts;
use crate::ftl::{Allocator, BlockState, BlockTable, Ftl, Map, SavedMap};

/// The contents of an idle drive: map, block table, open blocks, and what happened to the cells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Media {
    map: SavedMap,
    blocks: BlockTable,
    alloc: Allocator,
    facts: Facts,
    /// What every logical page was found to be used for, if the controller knows.
    hotness: Option<Vec<Hotness>>,
}

impl Drive {
    /// What the flash and the tables hold; `None` while something is under way, or the buffer holds what
    /// has not been programmed.
    pub fn media(&self) -> Option<Media> {
        let mut buffered = self.buffer.iter().flat_map(|buffer| buffer.pages());
        let unwritten = buffered.any(|(_, page)| page.dirty != 0);
        (self.is_idle() && !unwritten).then(|| Media {
            map: self.ftl.map.save(),
            blocks: self.ftl.blocks.clone(),
            alloc: self.ftl.alloc.clone(),
            facts: self.flash.cells.save(self.now),
            hotness: self.hot.as_ref().map(|pages| pages.all().to_vec()),
        })
    }

    /// A drive as configured that holds this; `None` if the contents are those of a drive of
    /// another shape.
    pub fn with_media(resolved: Arc<Resolved>, media: Media) -> Option<Drive> {
        let mut drive = Drive::new(resolved);
        let geometry = drive.geometry.clone();
        let (data, pages) = (drive.resolved.logical_pages, drive.resolved.mapped_pages());
        let same_blocks = media.blocks.len() == geometry.block_count() as usize;
        let map = Map::restore(media.map.sized(data, pages)?, geometry.page_count())?;
        let same_pages =
            map.logical_pages() == pages && map.keeps_sectors() == drive.resolved.keeps_sectors();
        let idle = !media.blocks.any(BlockState::Victim);
        if !(same_blocks && same_pages && idle && drive.flash.cells.restore(media.facts)) {
            return None;
        }
        let mut blocks = media.blocks;
        blocks.count_full();
        blocks.grade(&drive.grades());
        let quality = start::quality(&drive.resolved, Some(&blocks), &drive.flash.cells);
        start::set_turns(&mut blocks, quality.as_ref());
        start::set_owners(&drive.resolved, &mut blocks);
        let alloc = media.alloc.adopted(&geometry, &mut blocks, start::manner(&drive.resolved))?;
        drive.quality = quality.map(Box::new);
        drive.ftl = Ftl::new(&geometry, map, blocks, alloc);
        if let (Some(pages), Some(known)) = (&mut drive.hot, media.hotness) {
            pages.recall(known);
        }
        drive.set_apart();
        drive.stamp();
        drive.follow_lives();
        if let Some(moves) = &mut drive.moves {
            moves.recount(&drive.ftl.map, &drive.geometry, &drive.order_of_planes);
        }
        Some(drive)
    }
}
