//! Checks the block table of a state file. The file may come from anywhere, so any value is
//! possible.

use ssdlab_base::ensure;
use ssdlab_nand::{BlockId, Geometry};

use crate::blocks::{BlockState, BlockTable};

/// The largest accepted number of erases of a block, and of closings on a plane. Counting must be
/// able to go on from here.
const MAX_COUNT: u32 = u32::MAX / 2;

impl BlockTable {
    /// Checks that every column has as many rows as a drive of this shape has blocks, or planes.
    ///
    /// # Errors
    /// The first column of another length.
    pub fn check_lengths(&self, geometry: &Geometry) -> Result<(), String> {
        let blocks = geometry.block_count() as usize;
        let columns = [
            ("state", self.state.len()),
            ("written", self.written.len()),
            ("valid", self.valid.len()),
            ("erases", self.erases.len()),
            ("closed", self.closed.len()),
        ];
        if let Some((name, entries)) = columns.into_iter().find(|(_, entries)| *entries != blocks) {
            return Err(format!("column {name} has {entries} entries, not {blocks}"));
        }
        let planes = geometry.plane_count() as usize;
        ensure(self.clock.len() == planes, || {
            format!("{} clocks of {planes} planes", self.clock.len())
        })
    }

    /// Checks a block. `valid` is the number of its mapped pages. `handed_out` is the number of
    /// pages that the allocator has given out, if the block is in use.
    ///
    /// # Errors
    /// The first inconsistency.
    pub fn check_block(
        &self,
        block: BlockId,
        valid: u16,
        handed_out: Option<u32>,
    ) -> Result<(), String> {
        let at = block.index();
        let (state, written) = (self.state[at], u32::from(self.written[at]));
        let of = || format!("block {} is {state:?}", block.0);
        let fits = match state {
            BlockState::Free | BlockState::Bad => written == 0,
            BlockState::Closed => written == u32::from(self.pages_per_block),
            // No operation is under way, so every page that was given out is written.
            BlockState::Open | BlockState::Partial => handed_out == Some(written),
            BlockState::Victim => false,
        };
        ensure(fits, || format!("{} with {written} written pages", of()))?;
        let in_use = matches!(state, BlockState::Open | BlockState::Partial);
        ensure(handed_out.is_some() == in_use, || {
            format!("{} and in use: {}", of(), handed_out.is_some())
        })?;
        ensure(self.valid[at] == valid, || {
            format!("{}, has {valid} valid pages and counts {}", of(), self.valid[at])
        })?;
        let erases = self.erases[at];
        ensure(erases <= MAX_COUNT, || format!("{} and was erased {erases} times", of()))?;
        let (closed, clock) = (self.closed[at], self.clock[self.plane_of(block).index()]);
        ensure(closed <= clock, || {
            format!("{}, but its close time {closed} is after the clock {clock}", of())
        })
    }

    /// Checks that each plane has at least `reserve` free blocks.
    ///
    /// # Errors
    /// The first plane with fewer.
    pub fn check_planes(&self, reserve: usize) -> Result<(), String> {
        let free = |state: &&BlockState| **state == BlockState::Free;
        for (plane, states) in self.state.chunks(self.blocks_per_plane as usize).enumerate() {
            let free = states.iter().filter(free).count();
            ensure(free >= reserve, || format!("plane {plane} has {free} free blocks"))?;
        }
        let clock = self.clock.iter().find(|&&clock| clock > MAX_COUNT);
        ensure(clock.is_none(), || format!("{clock:?} blocks of a plane were closed"))
    }
}
