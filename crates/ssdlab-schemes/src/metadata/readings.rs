//! What readings of blocks have told, a column a fact.

use ssdlab_nand::BlockId;
use ssdlab_policy::account::Reading;

/// A reading of each block: the level counted from 1, 0 without one; and the errors.
#[derive(Clone, Debug)]
pub struct Readings {
    /// By block.
    pub level: Box<[u8]>,
    /// By block.
    pub errors: Box<[u32]>,
}

impl Readings {
    /// None of so many blocks.
    pub fn none(blocks: usize) -> Readings {
        Readings { level: vec![0; blocks].into(), errors: vec![0; blocks].into() }
    }

    /// One of each block.
    pub fn of(all: &[Reading]) -> Readings {
        let level = all.iter().map(|reading| reading.level.0 + 1).collect();
        Readings { level, errors: all.iter().map(|reading| reading.errors).collect() }
    }

    /// Keeps the worse of what is there and this.
    #[inline]
    pub fn worsen(&mut self, block: BlockId, reading: Reading) {
        let at = block.index();
        self.level[at] = self.level[at].max(reading.level.0 + 1);
        self.errors[at] = self.errors[at].max(reading.errors);
    }

    /// Takes a block's reading from others, which forget it, if they have one.
    pub fn take(&mut self, block: BlockId, others: &mut Readings) {
        let at = block.index();
        if others.level[at] > 0 {
            self.level[at] = std::mem::take(&mut others.level[at]);
            self.errors[at] = std::mem::take(&mut others.errors[at]);
        }
    }
}
