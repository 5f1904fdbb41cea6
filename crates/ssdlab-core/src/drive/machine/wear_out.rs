//! How a drive's blocks wear out, if wear runs forward: the data that the host had programmed when
//! given shares of the blocks became unreadable.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_nand::BlockId;

use super::Machine;
use crate::account::{Cause, OpKind};
use crate::ftl::BlockState;

/// Shares of the usable blocks at which the host's programmed bytes are noted. The first worn-out
/// block is noted, too.
const MARKS: [f64; 5] = [0.01, 0.02, 0.05, 0.1, 0.2];

/// A moment in a drive's life.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LifeMark {
    /// Worn-out blocks by then, as a share of all usable blocks. The first mark is the share of a
    /// single block.
    pub worn_out: f64,
    /// Bytes programmed for the host until then.
    pub host_bytes: u64,
    /// Mean P/E cycles of a block at that time.
    pub cycles: f64,
}

/// The life of a drive. Serialized in results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Life {
    /// Number of blocks that were worn out at the start: fresh data on them is beyond the last
    /// level.
    pub worn_at_start: u32,
    /// Number of blocks that are worn out.
    pub worn_out: u32,
    /// Bytes programmed for the host since the start.
    pub host_bytes: u64,
    /// Bytes programmed for the host until the first block had worn out since the start, and until
    /// 5 % of all had. Null before.
    pub first_bytes: Option<u64>,
    /// See `first_bytes`.
    pub five_percent_bytes: Option<u64>,
    /// The moments when the first block, and when each of some shares of all blocks, had worn out
    /// since the start.
    pub marks: Vec<LifeMark>,
}

/// The state that tracks worn-out blocks.
#[derive(Clone, Debug)]
pub(in crate::drive) struct WearOut {
    is_out: Box<[bool]>,
    /// Number of usable blocks: all shares are shares of these.
    blocks: u32,
    life: Life,
    /// Pages programmed for the host before the statistics began.
    pages_before: u64,
}

impl WearOut {
    fn since_start(&self) -> u32 {
        self.life.worn_out - self.life.worn_at_start
    }

    fn share(&self, blocks: u32) -> f64 {
        f64::from(blocks) / f64::from(self.blocks)
    }

    /// Returns the share of the blocks that were not worn out at the start.
    pub(in crate::drive) fn may_wear_out(&self) -> f64 {
        1.0 - self.share(self.life.worn_at_start)
    }

    /// Returns the share of the blocks that have worn out since the start.
    pub(in crate::drive) fn worn_out(&self) -> f64 {
        self.share(self.since_start())
    }
}

impl Machine {
    /// Starts to track worn-out blocks, if wear runs forward.
    pub(super) fn track_wear_out(&mut self) {
        if self.resolved.config.flash.cycles_per_erase == 1 {
            return;
        }
        let (blocks, cells) = (&self.ftl.blocks, &self.flash.cells);
        let all = (0..self.geometry.block_count()).map(BlockId);
        let is_out = all.map(|block| {
            let usable = blocks.state(block) != BlockState::Bad;
            usable && cells.is_worn_out(block, &self.geometry)
        });
        let is_out: Box<[bool]> = is_out.collect();
        let worn = is_out.iter().filter(|&&out| out).count() as u32;
        let life = Life { worn_at_start: worn, worn_out: worn, ..Life::default() };
        let blocks = blocks.usable_erases().count() as u32;
        self.lifetime.wear_out = Some(Box::new(WearOut { is_out, blocks, life, pages_before: 0 }));
    }

    /// Checks whether a block that was erased has worn out.
    pub(in crate::drive) fn block_wears(&mut self, block: BlockId) {
        let Some(wear_out) = &mut self.lifetime.wear_out else { return };
        if wear_out.is_out[block.index()] || !self.flash.cells.is_worn_out(block, &self.geometry) {
            return;
        }
        wear_out.is_out[block.index()] = true;
        wear_out.life.worn_out += 1;
        let (since, blocks) = (wear_out.since_start(), f64::from(wear_out.blocks));
        let reached = |share: f64| since == (share * blocks).ceil() as u32;
        if since == 1 || MARKS.into_iter().any(reached) {
            let worn_out = wear_out.share(since);
            let host_bytes = self.host_bytes();
            let cycles = self.ftl.blocks.usable_erases().map(f64::from).sum::<f64>() / blocks;
            let mark = LifeMark { worn_out, host_bytes, cycles };
            self.lifetime.wear_out.as_mut().expect("wear that is tracked").life.marks.push(mark);
        }
    }

    /// Returns the bytes programmed for the host since the start.
    fn host_bytes(&self) -> u64 {
        let before = self.lifetime.wear_out.as_ref().map_or(0, |wear_out| wear_out.pages_before);
        let since = self.flash.counts.ops()[OpKind::Program as usize][Cause::Host as usize];
        (before + since) * self.geometry.page_size.get()
    }

    /// Adds the counts of the statistics that are about to be reset.
    pub(in crate::drive) fn carry_counts(&mut self) {
        let since = self.flash.counts.ops()[OpKind::Program as usize][Cause::Host as usize];
        if let Some(wear_out) = &mut self.lifetime.wear_out {
            wear_out.pages_before += since;
        }
    }

    /// Returns how the blocks have worn out; `None` if wear does not run forward.
    pub(in crate::drive) fn life(&self) -> Option<Life> {
        let wear_out = self.lifetime.wear_out.as_ref()?;
        let life = &wear_out.life;
        let until = |share: f64| {
            let mark = life.marks.iter().find(|mark| mark.worn_out >= share);
            mark.map(|mark| mark.host_bytes)
        };
        Some(Life {
            host_bytes: self.host_bytes(),
            first_bytes: until(0.0),
            five_percent_bytes: until(0.05),
            ..life.clone()
        })
    }
}
