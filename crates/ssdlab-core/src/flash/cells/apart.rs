//! How far apart the retries are that pages need: of the blocks that are read, and within one.

use ssdlab_nand::chip::Conditions;
use ssdlab_nand::{BlockId, Geometry, Level, PageInBlock};

use super::Cells;

/// Between the reads that were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// The retries that the worst page of a block needed as it was read: the fewest …
    fewest: u8,
    /// … and the most.
    most: u8,
    /// How many fewer than that its best page needed, at most.
    within: u8,
}

/// One read in this many is compared: all pages of its block are looked at.
pub(super) const COMPARED: u64 = 256;

impl Apart {
    pub(super) const NONE: Apart = Apart { fewest: u8::MAX, most: 0, within: 0 };

    /// Retries by which the worst pages of blocks differed; `None` before the first read.
    pub fn between_blocks(&self) -> Option<u8> {
        self.most.checked_sub(self.fewest)
    }

    /// Retries by which the best and the worst page of a block differed, at most.
    pub fn within_a_block(&self) -> u8 {
        self.within
    }

    fn count(&mut self, best: u8, worst: u8) {
        self.fewest = self.fewest.min(worst);
        self.most = self.most.max(worst);
        self.within = self.within.max(worst - best);
    }
}

impl Cells {
    /// Compares the pages of the blocks that the host reads from now on, of one read in 256.
    pub fn compare(&mut self) {
        self.apart = (!self.chip.is_flat()).then_some(Apart::NONE);
    }

    /// How far apart they were.
    pub fn apart(&self) -> Option<Apart> {
        self.apart
    }

    /// A block is read under these conditions, but for the page.
    #[cold]
    pub(super) fn compare_pages(&mut self, block: BlockId, geometry: &Geometry, of: Conditions) {
        let needed = |page: u16| {
            let page = PageInBlock(page);
            let page_type = self.order.page_type(page);
            let program_mode = self.program_mode_of(geometry.page(block, page));
            let conditions = Conditions { page, page_type, program_mode, ..of };
            self.chip.level_needed(block, &conditions).map_or(self.levels(), Level::retries)
        };
        let retries = (0..geometry.pages as u16).map(needed);
        let ends = retries.fold((u8::MAX, 0), |(best, worst), at| (best.min(at), worst.max(at)));
        if let Some(apart) = &mut self.apart {
            apart.count(ends.0, ends.1);
        }
    }
}
