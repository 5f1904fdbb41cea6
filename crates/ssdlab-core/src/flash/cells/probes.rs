//! The condition of blocks: as a controller measures it at rest, and as it truly is.

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::chip::Conditions;
use ssdlab_nand::program_mode::ProgramMode;
use ssdlab_nand::{BlockId, Geometry, Level, PageInBlock, PageType};

use super::{Cells, UNKNOWN};
use crate::account::{BlockProbe, Reading, WorstPage};

impl Cells {
    /// Returns the raw bit error rate of each new block, as a factory test measures it.
    pub fn base_rates(&self, geometry: &Geometry) -> Vec<f64> {
        (0..geometry.block_count()).map(|block| self.chip.base_rber(BlockId(block))).collect()
    }

    /// Returns a controller's measurement of a block at `pe_cycles` P/E cycles: its erase time, and
    /// the errors of its first page right after a program. It adds, for oracles, the true state of
    /// the worst page.
    pub fn probe(&self, block: BlockId, pe_cycles: u32) -> BlockProbe {
        let dwell = self.history(block).dwell;
        let at = |page| Conditions {
            dwell,
            ..Conditions::fresh(page, self.order.page_type(page), pe_cycles as f32)
        };
        let worst = at(self.chip.worst_page(block));
        BlockProbe {
            erase_us: self.chip.erase_time(block, pe_cycles as f32).as_us(),
            first_errors: self.chip.errors(block, &at(PageInBlock(0))).into(),
            worst: Some(WorstPage {
                retries: self
                    .chip
                    .level_needed(block, &worst)
                    .map_or(self.levels(), Level::retries),
                rber: self.chip.rber(block, &worst),
            }),
        }
    }

    /// Returns the retries that the worst page of a block needs now: truth, for oracles.
    pub(crate) fn retries_of(&self, block: BlockId, now: SimTime) -> u8 {
        let history = self.history(block);
        let page = self.chip.worst_page(block);
        let since = |born| self.time(now).saturating_since(born);
        let conditions = Conditions {
            retention: history.born().map_or(Nanos::ZERO, since),
            reads: history.reads,
            dwell: history.dwell,
            ..Conditions::fresh(page, self.order.page_type(page), history.wear)
        };
        self.chip.level_needed(block, &conditions).map_or(self.levels(), Level::retries)
    }

    /// Returns the reading of a block's worst page at the present wear, right after a program.
    pub fn first_reading(&self, block: BlockId, geometry: &Geometry) -> Reading {
        let (level, errors) = self.fresh(block, geometry);
        Reading { level: level.min(self.last_level()), errors }
    }

    /// Returns whether even the last level fails to read a block's worst page at its present wear,
    /// right after a program.
    pub(crate) fn is_worn_out(&self, block: BlockId, geometry: &Geometry) -> bool {
        self.fresh(block, geometry).0 == Level::BEYOND
    }

    /// Returns the level that reads a block's worst page right after a program, [`Level::BEYOND`]
    /// if none does, and the errors of a codeword.
    fn fresh(&self, block: BlockId, geometry: &Geometry) -> (Level, u32) {
        let history = self.history(block);
        let of = |page_type| {
            let conditions = Conditions {
                page: self.chip.worst_page(block),
                page_type: PageType(page_type),
                program_mode: ProgramMode::NORMAL,
                pe_cycles: history.wear,
                retention: Nanos::ZERO,
                reads: 0,
                dwell: history.dwell,
            };
            let level = self.chip.level_needed(block, &conditions).unwrap_or(Level::BEYOND);
            (level, self.chip.errors(block, &conditions))
        };
        (0..geometry.cell.bits() as u8).map(of).max().expect("a type of page")
    }

    /// Returns the true raw bit error rate of a block's worst page now, with its pages' modes;
    /// `None` without data and under flat physics.
    pub(crate) fn rber_of(&self, block: BlockId, now: SimTime) -> Option<f64> {
        let history = self.history(block);
        let born = history.born()?;
        let rate = |page, program_mode| {
            let conditions = Conditions {
                page,
                page_type: self.order.page_type(page),
                program_mode,
                pe_cycles: history.wear,
                retention: self.time(now).saturating_since(born),
                reads: history.reads,
                dwell: history.dwell,
            };
            self.chip.rber(block, &conditions)
        };
        let classes = &self.facts.program_mode[self.pages_of(block.index())];
        let mut known = classes.iter().copied().filter(|class| *class != UNKNOWN);
        let first = known.next().unwrap_or(ProgramMode::NORMAL.0);
        if known.all(|class| class == first) {
            return Some(rate(self.chip.worst_page(block), ProgramMode(first)));
        }
        let pages = (0..).map(PageInBlock).zip(classes).filter(|(_, class)| **class != UNKNOWN);
        Some(pages.map(|(page, &class)| rate(page, ProgramMode(class))).fold(0.0, f64::max))
    }
}
