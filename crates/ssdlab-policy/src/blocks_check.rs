//! Whether a block table that was kept of an idle drive can be true. It is of unknown origin.

use ssdlab_base::ensure;
use ssdlab_nand::{BlockId, Geometry};

use crate::blocks::{BlockState, BlockTable};

/// The most erases of a block, and closed blocks of a plane, that are counted: counts go on from
/// here.
const COUNT_MOST: u32 = u32::MAX / 2;

impl BlockTable {
    /// Checks that every column has as many rows as a drive of this shape has blocks, or planes.
    ///
    /// # Errors
    /// The first column that has not.
    pub fn check_lengths(&self, geometry: &Geometry) -> Result<(), String> {
        let blocks = geometry.block_count() as usize;
        let columns = [
            ("state", self.state.len()),
            ("written", self.written.len()),
            ("valid", self.valid.len()),
            ("erases", self.erases.len()),
            ("closed", self.closed.len()),
        ];
        let wrong = columns.into_iter().find(|(_, entries)| *entries != blocks);
        ensure(wrong.is_none(), || format!("the table of {blocks} blocks has a column {wrong:?}"))?;
        let planes = geometry.plane_count() as usize;
        ensure(self.clock.len() == planes, || {
            format!("{} clocks of {planes} planes", self.clock.len())
        })
    }

    /// Checks a block of which so many pages are mapped and, if it is in use, so many were given
    /// out.
    ///
    /// # Errors
    /// The first thing that is not as it must be.
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
            // Nothing is under way: what was given out is written.
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
        ensure(erases <= COUNT_MOST, || format!("{} and was erased {erases} times", of()))?;
        let (closed, clock) = (self.closed[at], self.clock[self.plane_of(block).index()]);
        ensure(closed <= clock, || format!("{}, closed as {closed}th of {clock}", of()))
    }

    /// Checks that each plane has so many free blocks at least.
    ///
    /// # Errors
    /// The first plane that has not.
    pub fn check_planes(&self, reserve: usize) -> Result<(), String> {
        let free = |state: &&BlockState| **state == BlockState::Free;
        for (plane, states) in self.state.chunks(self.blocks_per_plane as usize).enumerate() {
            let free = states.iter().filter(free).count();
            ensure(free >= reserve, || format!("plane {plane} has {free} free blocks"))?;
        }
        let clock = self.clock.iter().find(|&&clock| clock > COUNT_MOST);
        ensure(clock.is_none(), || format!("{clock:?} blocks of a plane were closed"))
    }
}
