//! The readings of blocks, in columns.

use ssdlab_nand::BlockId;
use ssdlab_policy::account::Reading;

/// A reading of each block that was read.
#[derive(Clone, Debug)]
pub(crate) struct Readings {
    /// By block, the level at which it decoded, counted from 1; 0 if the block was not read.
    pub level: Box<[u8]>,
    /// By block, the raw bit errors of a codeword.
    pub errors: Box<[u32]>,
}

impl Readings {
    /// Returns empty readings of `blocks` blocks.
    pub(crate) fn none(blocks: usize) -> Readings {
        Readings { level: vec![0; blocks].into(), errors: vec![0; blocks].into() }
    }

    /// Returns these readings, one of each block.
    pub(crate) fn of(all: &[Reading]) -> Readings {
        let level = all.iter().map(|reading| reading.level.0 + 1).collect();
        Readings { level, errors: all.iter().map(|reading| reading.errors).collect() }
    }

    /// Combines a block's reading with a new one: keeps the worse level and the worse errors.
    pub(crate) fn worsen(&mut self, block: BlockId, reading: Reading) {
        let at = block.index();
        self.level[at] = self.level[at].max(reading.level.0 + 1);
        self.errors[at] = self.errors[at].max(reading.errors);
    }

    /// Replaces a block's reading by that in `others`, if it is there, and removes it there.
    pub(crate) fn take(&mut self, block: BlockId, others: &mut Readings) {
        let at = block.index();
        if others.level[at] > 0 {
            self.level[at] = std::mem::take(&mut others.level[at]);
            self.errors[at] = std::mem::take(&mut others.errors[at]);
        }
    }
}
