//! The spread of retries: between the blocks that are read, and between the pages of one block.

use ssdlab_nand::chip::Conditions;
use ssdlab_nand::{BlockId, Geometry, Level, PageInBlock};

use super::Cells;

/// The spread of retries over the reads that were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetrySpread {
    /// The fewest retries that the worst page of a block needed.
    fewest: u8,
    /// The most retries that the worst page of a block needed.
    most: u8,
    /// The largest difference in retries between the worst and the best page of a block.
    within: u8,
}

/// One read in this many is compared: the comparison covers all pages of its block.
pub(super) const COMPARED: u64 = 256;

impl RetrySpread {
    pub(super) const NONE: RetrySpread = RetrySpread { fewest: u8::MAX, most: 0, within: 0 };

    /// Returns the difference in retries between the worst pages of blocks; `None` before the first
    /// read.
    pub fn between_blocks(&self) -> Option<u8> {
        self.most.checked_sub(self.fewest)
    }

    /// Returns the largest difference in retries between the best and the worst page of a block.
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
    /// Starts the comparison of pages in the blocks that the host reads, for one read in 256.
    pub fn compare(&mut self) {
        self.retry_spread = (!self.chip.is_flat()).then_some(RetrySpread::NONE);
    }

    /// Returns the spread, if it is recorded.
    pub fn retry_spread(&self) -> Option<RetrySpread> {
        self.retry_spread
    }

    /// Compares the pages of a block under the conditions of a read.
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
        if let Some(retry_spread) = &mut self.retry_spread {
            retry_spread.count(ends.0, ends.1);
        }
    }
}
