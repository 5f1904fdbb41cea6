//! The facts of a drive that outlive a reset of its statistics.

use ssdlab_nand::Lpn;
use ssdlab_schemes::AnyPlacement;

use super::page_waits::PageWaits;
use super::wear_out::WearOut;
use crate::config::{DriveConfig, Resolved};
use crate::policy::columns::{Column, Per};
use crate::stats::StreamStats;

/// Counts, marks and waits that a reset of the statistics keeps.
#[derive(Clone, Debug)]
pub(in crate::drive) struct Lifetime {
    /// Counts by stream, if the drive has several streams.
    pub(in crate::drive) streams: Option<Box<StreamStats>>,
    /// How the blocks wear out, if wear runs forward.
    pub(in crate::drive) wear_out: Option<Box<WearOut>>,
    /// The waits of requests for their pages, while requests are logged.
    pub(super) page_waits: Option<Box<PageWaits>>,
    /// The pages that were read and count as written before the start, one bit each; empty until
    /// the first such read.
    unwritten_reads: Vec<u64>,
}

impl Lifetime {
    /// Returns the counts of a drive that starts.
    pub(in crate::drive) fn new(resolved: &Resolved) -> Lifetime {
        let blocks = resolved.geometry().block_count();
        let streams = StreamStats::new(resolved.config.streams(), blocks).map(Box::new);
        Lifetime { streams, wear_out: None, page_waits: None, unwritten_reads: Vec::new() }
    }

    /// Returns the columns that a state file carries, under the name of the policy that chooses
    /// streams.
    pub(in crate::drive) fn columns(
        &mut self,
        config: &DriveConfig,
    ) -> Option<(String, [Column<'_>; 1])> {
        let streams = self.streams.as_mut()?;
        let count = config.streams().count;
        let chooses =
            config.placement.iter().find(|link| AnyPlacement::streams(link).count == count)?;
        let column =
            Column::new("block_streams", Per::Block, streams.of_blocks()).up_to(count.into());
        Some((format!("streams/{}/{count}", chooses.name()), [column]))
    }

    /// Marks one of `pages` pages as read. Returns whether this was its first read.
    pub(super) fn is_first_read(&mut self, lpn: Lpn, pages: u32) -> bool {
        if self.unwritten_reads.is_empty() {
            self.unwritten_reads = vec![0; pages.div_ceil(64) as usize];
        }
        let word = &mut self.unwritten_reads[lpn.index() / 64];
        let bit = 1 << (lpn.0 % 64);
        let is_first = *word & bit == 0;
        *word |= bit;
        is_first
    }
}
