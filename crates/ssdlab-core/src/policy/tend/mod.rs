//! `tend`: what is moved, levelled, erased?
//!
//! Tenders are independent of one another. Each is asked about a plane when something changed
//! there, and answers with a job or with nothing; the machine runs one job at a time on a plane,
//! in the order in which the tenders are listed.

mod gc;
mod static_wear;
mod victim;

pub use gc::{Counts, Gc, GcConfig, Mode};
pub use static_wear::{StaticWear, StaticWearConfig};
pub use victim::Victim;

use ssdlab_nand::{BlockId, PlaneId};

use crate::account::Cause;
use crate::ftl::{Ftl, Pool, Stream};

/// What a tender may look at.
#[derive(Clone, Copy, Debug)]
pub struct TendView<'a> {
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

impl<'a> TendView<'a> {
    /// What there is to see of a plane.
    pub fn new(ftl: &'a Ftl, plane: PlaneId) -> TendView<'a> {
        TendView {
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

/// Something to be done on a plane: a block's valid pages are moved, then it is erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    /// The block to be emptied and erased.
    pub block: BlockId,
    /// What its operations are counted as.
    pub cause: Cause,
    /// The stream that takes its valid pages.
    pub to: Stream,
    /// The class of blocks that they should go to, if that is not left to the placement chain.
    pub class: Option<u8>,
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
pub trait TendPolicy {
    /// The least number of free pages of a plane with which this tender has nothing to do.
    fn content_with(&self) -> u32;
    /// What should be done on this plane now.
    fn job(&mut self, trigger: Trigger, view: &TendView) -> Option<Job>;
    /// The number of free pages below which the host waits for this tender's jobs.
    fn urgent_below(&self) -> u32;
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
    fn lacks_room(&mut self, _: PlaneId, _class: u8) {}

    /// Bits that a controller needs for what it keeps, by structure, where so many blocks are set
    /// apart.
    fn metadata_bits(&self, _apart: u64) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}
