//! `background`: what is moved, levelled, erased?
//!
//! Tenders are independent of one another. Each is asked about a plane when something changed
//! there, and answers with a job or with nothing; the machine runs one job at a time on a plane,
//! in the order in which the tenders are listed. Some mind the drive as a whole: they are asked first, when a
//! subpool runs short or a block was erased. What they want by the clock waits until nobody else wants the
//! plane.

mod gc;
mod repairs;
mod static_wear_leveling;
mod victim;

pub use gc::{Gc, GcConfig, GcMode, GcUnit};
pub use repairs::Repairs;
pub use static_wear_leveling::{StaticWearLeveling, StaticWearLevelingConfig};
pub use victim::Victim;

use ssdlab_base::Nanos;
use ssdlab_nand::{BlockId, PlaneId};

use crate::account::Cause;
use crate::ftl::{BlockTable, Ftl, Pool, Stream};
use crate::metadata::retry_estimate::Expected;

/// What a tender may look at.
#[derive(Clone, Copy, Debug)]
pub struct PlaneView<'a> {
    /// The plane, as a number.
    pub plane: u32,
    /// The plane's blocks.
    pub pool: Pool<'a>,
    /// Free blocks of the plane.
    pub free_blocks: u32,
    /// Pages that can still be written in the block that the collector has open.
    pub open_pages: u32,
    /// Free pages of the plane, those of blocks in use among them; none if the host can write none.
    pub free_pages: u32,
}

impl<'a> PlaneView<'a> {
    /// What there is to see of a plane.
    pub fn new(ftl: &'a Ftl, plane: PlaneId) -> PlaneView<'a> {
        PlaneView {
            plane: plane.0,
            pool: ftl.blocks.pool(plane),
            free_blocks: ftl.alloc.free_blocks(plane) as u32,
            open_pages: ftl.alloc.open_pages(plane, Stream::Gc),
            free_pages: ftl.alloc.usable_pages(plane),
        }
    }
}

/// Why a tender is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// A page of the plane was written or became invalid.
    Changed,
    /// A job of this plane ended.
    JobEnded,
    /// A page that was to move here found no room.
    LacksRoom,
}

/// Free blocks of a plane without which wear levelling and repairs begin nothing: one for what they move and one
/// for the host. Collection goes first then.
pub const MOVES_FREE_LEAST: u32 = 2;

/// Something to be done on a plane: a block's valid pages are moved, then it is erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    /// The block to be emptied and erased. Nothing is done while one of its pages is being programmed: the
    /// next tender is asked, and who wants the block must want it again.
    pub block: BlockId,
    /// What its operations are counted as.
    pub cause: Cause,
    /// The stream that takes its valid pages.
    pub to: Stream,
    /// The class of blocks that they should go to, if that is not left to the placement chain.
    pub class: Option<u8>,
    /// The priority whose subpool has a block more once the block is free; without one it is that of the
    /// block's place in the order.
    pub gains: Option<u8>,
}

/// What a tender may look at that minds the drive as a whole.
#[derive(Clone, Copy, Debug)]
pub struct DriveView<'a> {
    /// The blocks.
    pub blocks: &'a BlockTable,
    /// Free blocks of each subpool, the highest priority's first; empty where there are none.
    pub free: &'a [u32],
    /// Jobs under way from which each subpool gains a block.
    pub coming: &'a [u32],
    /// By plane, whether a job runs there: what is done now must be done elsewhere.
    pub busy: &'a [bool],
}

/// A full block, and how it is expected to read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BlockEstimate {
    /// The block.
    pub block: BlockId,
    /// Whose it is, 0 the highest priority's.
    pub priority: u8,
    /// Its pages that hold the newest copy of something.
    pub valid: u16,
    /// How its worst page is expected to read now.
    pub expected: Expected,
}

/// A job that has ended.
#[derive(Clone, Copy, Debug)]
pub struct EndedJob {
    /// The job.
    pub job: Job,
    /// Pages that it moved.
    pub moved: u32,
    /// The block that took the last of them.
    pub took: Option<BlockId>,
    /// Whether the tender that is told wanted it.
    pub own: bool,
    /// Pages of the jobs of rounds that still wait for their turn, as many as they were to move when they
    /// were wanted.
    pub waiting: u64,
}

/// A page that the host has read, as a tender sees it.
#[derive(Clone, Copy, Debug)]
pub struct PageRead {
    /// Its block.
    pub block: BlockId,
    /// Whether the block is set apart for what is read often.
    pub is_apart: bool,
    /// The group of the block, 0 the best.
    pub group: u8,
    /// How often it was read while its entry of the page map was held, this time included.
    pub count: u8,
}

/// A tender.
pub trait BackgroundPolicy {
    /// The least number of free pages of a plane with which this tender has nothing to do.
    fn free_page_target(&self) -> u32 {
        0
    }

    /// Free blocks that it keeps of the whole drive.
    fn keeps_of_drive(&self) -> u32 {
        0
    }

    /// What should be done on this plane now.
    fn job(&mut self, _: Trigger, _: &PlaneView) -> Option<Job> {
        None
    }

    /// The number of free pages below which the host waits for this tender's jobs.
    fn urgent_below(&self) -> u32 {
        0
    }

    /// Whether all free pages count for these two, not those of free blocks alone.
    fn counts_pages(&self) -> bool {
        false
    }

    /// Up to how many reads of a page it tells apart; 0 if it does not ask.
    fn counts_reads(&self) -> u8 {
        0
    }

    /// The host has read a page: the class that is set apart to which it should move, if to any.
    fn page_read(&mut self, _: &PageRead) -> Option<u8> {
        None
    }

    /// A page should have moved to this class of a plane, which has no page left; tenders are asked
    /// for jobs next.
    fn on_no_space(&mut self, _: PlaneId, _class: u8) {}

    /// Whether it minds the drive as a whole when a subpool runs short or a block was erased.
    fn is_drive_wide(&self) -> bool {
        false
    }

    /// What should be done anywhere on the drive now; asked until it wants nothing.
    fn drive_job(&mut self, _: &DriveView) -> Option<Job> {
        None
    }

    /// After how much of the cells' time it is asked for a round, if ever.
    fn interval(&self) -> Option<Nanos> {
        None
    }

    /// Its time has come: what should be done, by and by. `full` are the full blocks on no plane's list of
    /// jobs.
    fn round(&mut self, _full: &[BlockEstimate], _jobs: &mut Vec<Job>) {}

    /// Whether a job of its own, which would move so many pages, may begin now; it waits else, and is
    /// asked about again by and by. Jobs that still wait when its next round comes are dropped before.
    fn may_start(&mut self, _pages: u32) -> bool {
        true
    }

    /// A round that was left out, for wear is levelled across priorities.
    fn round_left_out(&mut self) {}

    /// A job has ended, its own or another's.
    fn ended(&mut self, _: &EndedJob) {}

    /// Whether wear is levelled across priorities now.
    fn levels_across(&self) -> bool {
        false
    }

    /// What it has repaired since the counts began, if that is its business.
    fn repairs(&self) -> Option<Repairs> {
        None
    }

    /// What it counts for results begins anew.
    fn reset_counts(&mut self) {}

    /// Bits that a controller needs for what it keeps, by structure, where so many blocks are set
    /// apart.
    fn metadata_bits(&self, _apart: u64) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}
