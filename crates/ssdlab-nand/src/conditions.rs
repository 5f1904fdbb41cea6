//! Under which conditions a page is read.

use ssdlab_base::Nanos;

use crate::geometry::PageInBlock;
use crate::page_order::PageType;
use crate::program_mode::ProgramMode;

/// All that decides how well a page reads, besides the block that holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// The page's place in its block.
    pub page: PageInBlock,
    /// The page's type.
    pub page_type: PageType,
    /// How the page was programmed.
    pub program_mode: ProgramMode,
    /// Program/erase cycles of the block, each counted by the wear of its voltages.
    pub pe_cycles: f32,
    /// Time since the page was programmed, at the drive's temperature.
    pub retention: Nanos,
    /// Page reads of the block since it was erased.
    pub reads: u32,
    /// Mean time between the block's erases, at the drive's temperature; heeded by
    /// `physics.retries` alone.
    pub dwell: Nanos,
}

impl Conditions {
    /// A page that has just been programmed in the normal way, never read, in a block of this wear.
    pub fn fresh(page: PageInBlock, page_type: PageType, pe_cycles: f32) -> Conditions {
        Conditions {
            page,
            page_type,
            program_mode: ProgramMode::NORMAL,
            pe_cycles,
            retention: Nanos::ZERO,
            reads: 0,
            dwell: Nanos::ZERO,
        }
    }
}
