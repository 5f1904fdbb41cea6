//! What blocks read like under any conditions, for whoever looks at them from outside: no drive, no
//! time that passes. The truth, and no policy's business.

use ssdlab_base::Nanos;
use ssdlab_nand::chip::{Chip, Conditions};
use ssdlab_nand::page_order::PageOrder;
use ssdlab_nand::program_mode::ProgramMode;
use ssdlab_nand::{BlockId, Level, PageInBlock, PageType};

use super::{FlashSetup, Moved};

/// Under which conditions a page of a block is read.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The voltage class with which it was programmed.
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

/// How a page reads.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// Raw bit error rate at the first attempt.
    pub rber: f64,
    /// The level at which it decodes; `None` if the last does not suffice.
    pub level: Option<Level>,
}

/// The parts of a read that makes one attempt.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// Sensing, and again after an attempt one level below failed.
    pub sense: Nanos,
    /// See `sense`.
    pub sense_on: Nanos,
    /// A whole page on the channel.
    pub transfer: Nanos,
    /// Decoding.
    pub decode: Nanos,
}

/// The chips of a drive, to be asked about any block.
#[derive(Clone, Debug)]
pub struct Survey<'a> {
    chip: &'a Chip,
    order: &'a PageOrder,
    /// A whole page at the bus's own rate.
    page: Moved,
}

impl<'a> Survey<'a> {
    /// Of these chips, whose pages move as `flash` says.
    pub fn new(chip: &'a Chip, order: &'a PageOrder, flash: &FlashSetup) -> Survey<'a> {
        Survey { chip, order, page: flash.whole_page() }
    }

    /// The rate with which a block was made.
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

    /// The page of a block that decides how well it reads.
    pub fn worst_page(&self, block: u32) -> u16 {
        self.chip.worst_page(BlockId(block)).0
    }

    /// The page of a block, of so many, that reads best.
    pub fn best_page(&self, block: u32, pages: u16, at: At) -> u16 {
        let rate =
            |page: &u16| self.chip.rber(BlockId(block), &self.conditions(PageInBlock(*page), at));
        (0..pages).min_by(|a, b| rate(a).total_cmp(&rate(b))).unwrap_or(0)
    }

    /// Raw bit errors of a codeword of a page at the first attempt, as a controller counts them.
    pub fn errors(&self, block: u32, page: u16, at: At) -> u32 {
        self.chip.errors(BlockId(block), &self.conditions(PageInBlock(page), at))
    }

    /// The level at which a page decodes; the last if not even that suffices.
    pub fn level(&self, block: u32, page: u16, at: At) -> Level {
        let conditions = self.conditions(PageInBlock(page), at);
        self.chip
            .level_needed(BlockId(block), &conditions)
            .unwrap_or(Level::last_of(self.chip.levels()))
    }

    /// Time to erase a block of so many P/E cycles.
    pub fn erase(&self, block: u32, pe_cycles: f64) -> Nanos {
        self.chip.erase_time(BlockId(block), pe_cycles as f32)
    }

    /// How the worst page of a block reads.
    pub fn read(&self, block: u32, at: At) -> Read {
        let block = BlockId(block);
        let conditions = self.conditions(self.chip.worst_page(block), at);
        Read {
            rber: self.chip.rber(block, &conditions),
            level: self.chip.level_needed(block, &conditions),
        }
    }

    /// An attempt at this level, of a page of the lowest type.
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

    /// How much a program with these voltages wears a block, in parts of the normal ones.
    pub fn wear(&self, program_mode: ProgramMode) -> f64 {
        self.chip.wear_weight(program_mode)
    }

    /// Time to program a page, the mean over the types of pages.
    pub fn program(&self, program_mode: ProgramMode, types: u8) -> Nanos {
        let time = |page| self.chip.program_time(PageType(page), program_mode);
        Nanos::from_ns((0..types).map(time).sum::<Nanos>().as_ns() / u64::from(types))
    }
}
