//! The conditions under which a page is read.

use ssdlab_base::Nanos;

use crate::geometry::PageInBlock;
use crate::page_order::PageType;
use crate::program_mode::ProgramMode;

/// All inputs that decide how well a page reads, except the block that holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// Position of the page in its block.
    pub page: PageInBlock,
    /// Type of the page.
    pub page_type: PageType,
    /// Program mode of the page.
    pub program_mode: ProgramMode,
    /// Program/erase cycles of the block, each weighted by the wear of its program mode.
    pub pe_cycles: f32,
    /// Time since the page was programmed, at the drive's temperature.
    pub retention: Nanos,
    /// Page reads of the block since it was erased.
    pub reads: u32,
    /// Mean time between the block's erases, at the drive's temperature. Only `physics.retries`
    /// uses it.
    pub dwell: Nanos,
}

impl Conditions {
    /// Returns the conditions of a page just programmed in the normal mode. Its block has
    /// `pe_cycles` cycles and no reads.
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
