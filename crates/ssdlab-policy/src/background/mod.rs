//! `background`: garbage collection, wear leveling, migration and refresh.
//!
//! Background policies are independent of one another. When a plane changes, the drive asks them
//! about it one after another, in the order in which the catalog lists them. The first job that a
//! policy returns starts. The drive runs one job at a time on a plane.
//!
//! Some policies work for the drive as a whole. The drive asks these first, when a block was opened
//! or erased. A relocation that a policy requests by an action waits until no policy wants another
//! job on its plane.

mod gc;
mod gc_config;
mod static_wear_leveling;
mod victim;

pub use gc::Gc;
pub use gc_config::{GcConfig, GcMode, GcUnit};
pub use static_wear_leveling::{StaticWearLeveling, StaticWearLevelingConfig};
pub use victim::Victim;

use ssdlab_base::{CellTime, Nanos, SimTime};
use ssdlab_nand::{BlockId, Lpn, PlaneId};

use crate::Policy;
use crate::account::{Cause, Priority};
use crate::allocation::{BlockClass, StreamId, Writer};
use crate::blocks::{BlockTable, Pool};
use crate::component::{Components, Expected};

/// The view of a background policy for one plane.
#[derive(Clone, Copy, Debug)]
pub struct PlaneView<'a> {
    /// The current time.
    pub now: SimTime,
    /// The plane.
    pub plane: PlaneId,
    /// The plane's blocks.
    pub pool: Pool<'a>,
    /// Free blocks of the plane.
    pub free_blocks: u32,
    /// Free pages in the open blocks of the collector.
    pub open_pages: u32,
    /// Free pages of the plane, including those of blocks in use; 0 if the host can write none.
    pub free_pages: u32,
    /// The metadata components that the drive keeps.
    pub components: Components<'a>,
}

/// Why the drive asks a background policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// A page of data was written to the plane or became invalid there.
    Changed,
    /// A page of the map was written to the plane or became invalid there. Collection itself causes
    /// such writes, because it moves data.
    MapChanged,
    /// A job of the plane ended.
    JobEnded,
    /// A page that was to move to the plane found no room.
    NoSpace,
}

/// Free blocks that a plane needs before wear leveling or a repair starts: one for the pages that
/// move and one for the host. Below this number garbage collection goes first.
pub const MIN_FREE_TO_MOVE: u32 = 2;

/// A job on a plane: the drive moves the valid pages of a block and then erases the block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    /// The block to empty and erase. The drive refuses the job while a page of the block is being
    /// programmed. It then asks the next policy; the policy must return the job again later.
    pub block: BlockId,
    /// The cause that the job's operations count as.
    pub cause: Cause,
    /// The writer that takes the valid pages.
    pub to: Writer,
    /// The class of blocks that take the pages. `None` leaves it to the placement chain.
    pub class: Option<BlockClass>,
    /// The stream that takes the pages. `None` leaves it to the placement chain.
    pub stream: Option<StreamId>,
    /// The priority whose subpool gains the free block. `None` leaves it to the block's place in
    /// the order of free blocks.
    pub gains: Option<Priority>,
}

impl Job {
    /// Returns a job that leaves class and stream to the placement chain.
    pub const fn new(block: BlockId, cause: Cause, to: Writer) -> Job {
        Job { block, cause, to, class: None, stream: None, gains: None }
    }
}

/// The view of a background policy that works for the drive as a whole.
#[derive(Clone, Copy, Debug)]
pub struct DriveView<'a> {
    /// The current time.
    pub now: SimTime,
    /// The blocks.
    pub blocks: &'a BlockTable,
    /// Free blocks of each subpool, the highest priority first; empty on a drive without subpools.
    pub free: &'a [u32],
    /// Number of running jobs from which each subpool gains a block.
    pub coming: &'a [u32],
    /// By plane, whether a job runs there. A new job needs a plane without one.
    pub busy: &'a [bool],
    /// The metadata components that the drive keeps.
    pub components: Components<'a>,
}

/// A full block and how it is expected to read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BlockEstimate {
    /// The block.
    pub block: BlockId,
    /// The priority that the block belongs to.
    pub priority: Priority,
    /// Number of its pages that hold the newest copy of a logical page.
    pub valid: u16,
    /// Its P/E cycles.
    pub pe_cycles: u32,
    /// When its first page was programmed after its last erase, on the cells' clock, as a
    /// controller stamps it; `None` under flat physics.
    pub programmed: Option<CellTime>,
    /// How the worst page is expected to read now.
    pub expected: Expected,
}

/// A job that has ended.
#[derive(Clone, Copy, Debug)]
pub struct EndedJob {
    /// The job.
    pub job: Job,
    /// Number of pages that the job moved.
    pub moved: u32,
    /// The block that took the last of these pages.
    pub took: Option<BlockId>,
    /// Whether the policy that receives the event requested the job.
    pub own: bool,
    /// Number of pages that the policy's own waiting relocations move, as counted when they were
    /// requested.
    pub waiting: u64,
}

/// A page that the host has read, as a background policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct HostRead {
    /// The logical page.
    pub lpn: Lpn,
    /// Its block.
    pub block: BlockId,
    /// Whether the block is reserved for pages that are read often.
    pub is_reserved: bool,
    /// The class of the block, 0 the best.
    pub class: BlockClass,
    /// The number of reads that this one stands for: 1, except in the history of a start.
    pub reads: u32,
}

/// The needs of a background policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BackgroundNeeds {
    /// Free pages of a plane. The drive asks about a changed plane only while it has fewer free
    /// pages than the largest target of its policies.
    pub free_page_target: u32,
    /// Free pages of a plane below which its garbage collection goes before the host.
    pub urgent_below: u32,
    /// Whether these two limits count all free pages, not only those of free blocks.
    pub counts_pages: bool,
    /// Free blocks of the whole drive that the policy keeps.
    pub free_blocks_of_drive: u32,
    /// Whether the policy moves pages that the host has read.
    pub migrates: bool,
    /// Whether the drive asks the policy about the drive as a whole
    /// ([`BackgroundPolicy::drive_job`]).
    pub is_drive_wide: bool,
    /// Whether the policy's jobs mix blocks of different classes now. Until that ends, relocations
    /// wait, and the allocator ignores classes when it opens blocks for moved pages.
    pub across_classes: bool,
    /// The interval of the policy's rounds ([`Event::RoundDue`](crate::event::Event::RoundDue)), in
    /// the cells' time; `None` without rounds.
    pub interval: Option<Nanos>,
}

/// The parts of a drive that a background policy uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BackgroundUses {
    /// Whether it needs separate blocks for [`Writer::Cold`].
    pub cold_blocks: bool,
    /// Whether pages move when the host reads them.
    pub migration: bool,
    /// Whether the policy turns invalid pages into free blocks. A drive that starts in a steady
    /// state needs such a policy.
    pub collects_garbage: bool,
}

/// A background policy.
pub trait BackgroundPolicy: Policy {
    /// Returns the parts of the drive that the policy uses with these settings.
    fn uses(_: &Self::Config) -> BackgroundUses {
        BackgroundUses::default()
    }

    /// Returns the same settings for a drive with this share of the planes: numbers of blocks of
    /// the whole drive shrink with it.
    #[must_use]
    fn for_part(config: &Self::Config, _share: f64) -> Self::Config
    where
        Self::Config: Clone,
    {
        config.clone()
    }

    /// Returns the policy's needs.
    fn needs(&self) -> BackgroundNeeds {
        BackgroundNeeds::default()
    }

    /// Returns the job that the plane should run now.
    fn job(&mut self, _: Trigger, _: &PlaneView) -> Option<Job> {
        None
    }

    /// Returns a job that should start now anywhere on the drive. The drive asks again until it
    /// gets `None`.
    fn drive_job(&mut self, _: &DriveView) -> Option<Job> {
        None
    }

    /// Returns whether a relocation that the policy requested may start now. It would move this
    /// number of pages. If not, it waits and the drive asks again later.
    fn may_start(&mut self, _pages: u32) -> bool {
        true
    }
}
