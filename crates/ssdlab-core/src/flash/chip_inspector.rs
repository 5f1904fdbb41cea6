//! Reads of blocks under any conditions, for inspection from outside: there is no drive and no time
//! passes. The results are the truth; policies must not use them.

use ssdlab_base::Nanos;
use ssdlab_nand::chip::{Chip, Conditions};
use ssdlab_nand::page_order::PageOrder;
use ssdlab_nand::program_mode::ProgramMode;
use ssdlab_nand::{BlockId, Level, PageInBlock, PageType};

use super::{FlashSetup, Moved};

/// The conditions under which a page is read.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The mode that programmed the page.
    pub program_mode: ProgramMode,
    /// P/E cycles of the block.
    pub pe_cycles: f64,
    /// Time since the page was programmed.
    pub age: Nanos,
    /// Mean time between the block's erases.
    pub dwell: Nanos,
    /// Page reads of the block since its erase.
    pub reads: u32,
}

/// The result of a read.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// Raw bit error rate at the first attempt.
    pub rber: f64,
    /// The level at which it decodes; `None` if the last level fails.
    pub level: Option<Level>,
}

/// The times of a read with one attempt, by part.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// Sensing at this level in a first attempt.
    pub sense: Nanos,
    /// Sensing after an attempt one level below has failed.
    pub sense_on: Nanos,
    /// Transfer of a whole page over the channel.
    pub transfer: Nanos,
    /// Decoding.
    pub decode: Nanos,
}

/// The chips of a drive, for queries about any block.
#[derive(Clone, Debug)]
pub struct ChipInspector<'a> {
    chip: &'a Chip,
    order: &'a PageOrder,
    /// The transfer of a whole page at the bus rate.
    page: Moved,
}

impl<'a> ChipInspector<'a> {
    /// Creates an inspector of these chips; `flash` defines their transfers.
    pub fn new(chip: &'a Chip, order: &'a PageOrder, flash: &FlashSetup) -> ChipInspector<'a> {
        ChipInspector { chip, order, page: flash.whole_page() }
    }

    /// Returns the raw bit error rate of a new block.
    pub fn base(&self, block: u32) -> f64 {
        self.chip.base_rber(BlockId(block))
    }

    fn conditions(&self, page: PageInBlock, at: At) -> Conditions {
        Conditions {
            program_mode: at.program_mode,
            retention: at.age,
            dwell: at.dwell,
            reads: at.reads,
            ..Conditions::fresh(page, self.order.page_type(page), at.pe_cycles as f32)
        }
    }

    /// Returns the page of a block that determines how well the block reads.
    pub fn worst_page(&self, block: u32) -> u16 {
        self.chip.worst_page(BlockId(block)).0
    }

    /// Returns the page that reads best, among the first `pages` pages of a block.
    pub fn best_page(&self, block: u32, pages: u16, at: At) -> u16 {
        let rate =
            |page: &u16| self.chip.rber(BlockId(block), &self.conditions(PageInBlock(*page), at));
        (0..pages).min_by(|a, b| rate(a).total_cmp(&rate(b))).unwrap_or(0)
    }

    /// Returns the raw bit errors of a codeword of a page at the first attempt, as a controller
    /// counts them.
    pub fn errors(&self, block: u32, page: u16, at: At) -> u32 {
        self.chip.errors(BlockId(block), &self.conditions(PageInBlock(page), at))
    }

    /// Returns the level at which a page decodes; the last level if even that fails.
    pub fn level(&self, block: u32, page: u16, at: At) -> Level {
        let conditions = self.conditions(PageInBlock(page), at);
        self.chip
            .level_needed(BlockId(block), &conditions)
            .unwrap_or(Level::last_of(self.chip.levels()))
    }

    /// Returns the time to erase a block at `pe_cycles` P/E cycles.
    pub fn erase(&self, block: u32, pe_cycles: f64) -> Nanos {
        self.chip.erase_time(BlockId(block), pe_cycles as f32)
    }

    /// Returns the result of a read of a block's worst page.
    pub fn read(&self, block: u32, at: At) -> Read {
        let block = BlockId(block);
        let conditions = self.conditions(self.chip.worst_page(block), at);
        Read {
            rber: self.chip.rber(block, &conditions),
            level: self.chip.level_needed(block, &conditions),
        }
    }

    /// Returns the times of an attempt at this level, for a page of the lowest type.
    pub fn attempt(&self, program_mode: ProgramMode, level: Level) -> Attempt {
        let (by, page) = (program_mode, self.page);
        let sense = |on| self.chip.sense_time(PageType(0), by, level, on);
        Attempt {
            sense: sense(false),
            sense_on: sense(true),
            transfer: self.chip.transfer_time(by, level, page.bytes, page.time),
            decode: self.chip.decode_time(level),
        }
    }

    /// Returns the wear of a program in this mode, relative to the normal mode.
    pub fn wear(&self, program_mode: ProgramMode) -> f64 {
        self.chip.wear_weight(program_mode)
    }

    /// Returns the time to program a page, the mean over the page types.
    pub fn program(&self, program_mode: ProgramMode, types: u8) -> Nanos {
        let time = |page| self.chip.program_time(PageType(page), program_mode);
        (0..types).map(time).sum::<Nanos>() / u64::from(types)
    }
}
