//! What the controller learns of how well its blocks read.

use ssdlab_nand::BlockId;

use super::Drive;
use crate::account::OpKind;
use crate::flash::TxnId;
use crate::metadata::retry_estimate::Expected;

impl Drive {
    /// Notes when the data was programmed with which the drive starts.
    pub(super) fn stamp(&mut self) {
        let Some(quality) = &mut self.quality else { return };
        for block in (0..self.geometry.block_count()).map(BlockId) {
            if let Some(stamp) = self.flash.cells.stamp(block) {
                quality.programmed(block, stamp);
            }
        }
    }

    /// Notes that a block was read or programmed.
    #[inline(never)]
    pub(super) fn note(&mut self, id: TxnId) {
        let quality = self.quality.as_mut().expect("a grader");
        let txn = &self.flash.txns[id];
        let block = self.geometry.block_of(txn.ppn);
        match txn.kind {
            // What no table knows lies in no block.
            OpKind::Read if txn.age.is_none() => quality.read(block, txn.level),
            OpKind::Program => quality.programmed(block, self.flash.cells.clock(self.now)),
            OpKind::Read | OpKind::Erase => {}
        }
    }

    /// A block was erased, which its P/E cycles do not count yet: what is believed of it now.
    pub(super) fn reassess(&mut self, block: BlockId) {
        let Some(quality) = &mut self.quality else { return };
        let counts_for = self.resolved.config.flash.cycles_per_erase;
        let erases = self.ftl.blocks.erases(block) + counts_for;
        let cells = &self.flash.cells;
        let now = cells.clock(self.now);
        quality.erased(block, now, (erases, counts_for), |cycles| cells.look(block, cycles));
        self.ftl.blocks.set_turn(block, quality.turn(block));
    }

    /// How a block is expected to read now.
    pub(super) fn expected(&self, block: BlockId) -> Expected {
        let Some(quality) = &self.quality else { return Expected::default() };
        let now = self.flash.cells.clock(self.now);
        let expected = quality.expected(block, self.ftl.blocks.erases(block), now);
        match quality.is_oracle() {
            true => Expected { retries: self.flash.cells.retries_of(block, self.now), ..expected },
            false => expected,
        }
    }
}
