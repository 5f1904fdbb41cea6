//! What a drive holds, without its policies: to be kept, and to be given to other drives.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Drive, Start};
use crate::belief::hotness::Hotness;
use crate::config::Resolved;
use crate::flash::Facts;
use crate::ftl::{Allocator, BlockTable, SavedMap};

/// The contents of an idle drive: map, block table, open blocks, and what happened to the cells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Media {
    pub(super) map: SavedMap,
    pub(super) blocks: BlockTable,
    pub(super) alloc: Allocator,
    pub(super) facts: Facts,
    /// What every logical page was found to be used for, if the controller knows.
    hotness: Option<Vec<Hotness>>,
}

impl Drive {
    /// What the flash and the tables of it hold, which takes no memory beside the drive's; `None` while
    /// something is under way, or the buffer holds what has not been programmed.
    pub fn media(self) -> Option<Media> {
        let mut buffered = self.buffer.iter().flat_map(|buffer| buffer.pages());
        let unwritten = buffered.any(|(_, page)| page.dirty != 0);
        (self.is_idle() && !unwritten).then(|| Media {
            map: self.ftl.map.save(),
            blocks: self.ftl.blocks,
            alloc: self.ftl.alloc,
            facts: self.flash.cells.save(self.now),
            hotness: self.hot.map(|pages| pages.all().to_vec()),
        })
    }

    /// A drive as configured that holds this; `None` if the contents are those of a drive of
    /// another shape.
    pub fn with_media(resolved: Arc<Resolved>, mut media: Media) -> Option<Drive> {
        let hotness = media.hotness.take();
        let start = Start::of(&resolved, media)?;
        let mut drive = Drive::begin(resolved, start);
        if let (Some(pages), Some(known)) = (&mut drive.hot, hotness) {
            pages.recall(known);
        }
        if let Some(moves) = &mut drive.moves {
            moves.recount(&drive.ftl.map, &drive.geometry, &drive.order_of_planes);
        }
        Some(drive)
    }
}
