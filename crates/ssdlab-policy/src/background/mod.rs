//! `background`: what is moved, leveled, erased?
//!
//! Background policies are independent of one another. Each is asked about a plane when something
//! changed there, and answers with a job or with nothing; the drive runs one job at a time on a
//! plane, in the order in which the policies are listed. Some look at the drive as a whole: they
//! are asked first, when a subpool runs short or a block was erased. What a policy asks for by an
//! action waits until nobody else wants the plane.

mod gc;
mod static_wear_leveling;
mod victim;

pub use gc::{Gc, GcConfig, GcMode, GcUnit};
pub use static_wear_leveling::{StaticWearLeveling, StaticWearLevelingConfig};
pub use victim::Victim;

use ssdlab_base::Nanos;
use ssdlab_nand::{BlockId, Lpn, PlaneId};

use crate::Policy;
use crate::account::{Cause, Priority};
use crate::allocation::{BlockClass, StreamId, Writer};
use crate::blocks::{BlockTable, Pool};
use crate::component::{Components, Expected};

/// What a background policy may look at.
#[derive(Clone, Copy, Debug)]
pub struct PlaneView<'a> {
    /// The plane.
    pub plane: PlaneId,
    /// The plane's blocks.
    pub pool: Pool<'a>,
    /// Free blocks of the plane.
    pub free_blocks: u32,
    /// Pages that can still be written in the block that the collector has open.
    pub open_pages: u32,
    /// Free pages of the plane, those of blocks in use among them; none if the host can write none.
    pub free_pages: u32,
    /// The metadata components that the drive keeps.
    pub components: Components<'a>,
}

/// Why a background policy is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// A page of the plane was written or became invalid.
    Changed,
    /// A job of this plane ended.
    JobEnded,
    /// A page that was to move here found no room.
    NoSpace,
}

/// Free blocks of a plane without which wear leveling and repairs begin nothing: one for what they
/// move and one for the host. Collection goes first then.
pub const MOVES_FREE_LEAST: u32 = 2;

/// Something to be done on a plane: a block's valid pages are moved, then it is erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    /// The block to be emptied and erased. Nothing is done while one of its pages is being
    /// programmed: the next policy is asked, and who wants the block must want it again.
    pub block: BlockId,
    /// What its operations are counted as.
    pub cause: Cause,
    /// The writer that takes its valid pages.
    pub to: Writer,
    /// The class of blocks that they should go to, if that is not left to the placement chain.
    pub class: Option<BlockClass>,
    /// The stream that they should go to, if that is not left to the placement chain.
    pub stream: Option<StreamId>,
    /// The priority whose subpool has a block more once the block is free; without one it is that
    /// of the block's place in the order.
    pub gains: Option<Priority>,
}

impl Job {
    /// Returns a job that leaves class and stream to the placement chain.
    pub const fn new(block: BlockId, cause: Cause, to: Writer) -> Job {
        Job { block, cause, to, class: None, stream: None, gains: None }
    }
}

/// What a background policy may look at that works for the drive as a whole.
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
    /// The metadata components that the drive keeps.
    pub components: Components<'a>,
}

/// A full block, and how it is expected to read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BlockEstimate {
    /// The block.
    pub block: BlockId,
    /// Whose it is.
    pub priority: Priority,
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
    /// Whether the policy that learns of it wanted it.
    pub own: bool,
    /// Pages of the relocations that still wait for their turn, as many as they were to move when
    /// they were asked for.
    pub waiting: u64,
}

/// A page that the host has read, as a background policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct HostRead {
    /// The logical page.
    pub lpn: Lpn,
    /// Its block.
    pub block: BlockId,
    /// Whether the block is set apart for what is read often.
    pub is_apart: bool,
    /// The group of the block, 0 the best: its class by the last measurement.
    pub group: BlockClass,
}

/// What a background policy needs of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BackgroundNeeds {
    /// Free pages of a plane from which on it is not asked about that plane.
    pub free_page_target: u32,
    /// Free pages of a plane below which the host waits for its jobs.
    pub urgent_below: u32,
    /// Whether all free pages count for these two, not those of free blocks alone.
    pub counts_pages: bool,
    /// Free blocks that it keeps of the whole drive.
    pub keeps_of_drive: u32,
    /// Whether it moves pages that the host has read.
    pub migrates: bool,
    /// Whether it is asked about the drive as a whole when a subpool runs short or a block was
    /// erased.
    pub is_drive_wide: bool,
    /// After how much of the cells' time its timer comes due, again and again; if ever.
    pub interval: Option<Nanos>,
}

/// What a background policy uses of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BackgroundUses {
    /// The name of the metadata component that the policy uses.
    pub component: Option<&'static str>,
    /// Blocks of their own, for [`Writer::Cold`].
    pub cold_blocks: bool,
    /// Pages that move as the host reads them.
    pub migration: bool,
}

/// A background policy.
pub trait BackgroundPolicy: Policy {
    /// Returns what it uses of the drive with these settings.
    fn uses(_: &Self::Config) -> BackgroundUses {
        BackgroundUses::default()
    }

    /// What it needs of the drive.
    fn needs(&self) -> BackgroundNeeds {
        BackgroundNeeds::default()
    }

    /// What should be done on this plane now.
    fn job(&mut self, _: Trigger, _: &PlaneView) -> Option<Job> {
        None
    }

    /// What should be done anywhere on the drive now; asked until it wants nothing.
    fn drive_job(&mut self, _: &DriveView) -> Option<Job> {
        None
    }

    /// Whether a block that it wants relocated, which would move so many pages, may be emptied now.
    /// It waits else, and is asked about again.
    fn may_start(&mut self, _pages: u32) -> bool {
        true
    }

    /// Whether wear is leveled across priorities now.
    fn levels_across(&self) -> bool {
        false
    }
}
