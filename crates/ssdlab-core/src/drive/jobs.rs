//! What the background policies want done: a block's valid pages move elsewhere on its plane, then it is
//! erased. One job at a time on a plane, one operation of it at a time.

use ssdlab_nand::{BlockId, Level, PageInBlock, PlaneId, Ppn};

use super::Drive;
use super::policies::BackgroundAt;
use crate::account::{Cause, OpKind};
use crate::flash::{Owner, Rank, TxnId};
use crate::ftl::{Ftl, Writer};
use crate::policy::background::{Job, PlaneView};
use crate::policy::event::Event;
use ssdlab_schemes::AnyBackground;

/// Pages of a block that are looked at ahead together.
const AHEAD: u16 = 32;

/// A job under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    pub(super) job: Job,
    /// The next page of the block to look at, and the first that was not looked at ahead.
    cursor: u16,
    ahead: u16,
    /// Where the page that is being moved comes from.
    pub(super) from: Ppn,
    /// The background policy that wanted it.
    pub(super) policy: BackgroundAt,
    /// Pages that were moved, and the block that took the last of them.
    pub(super) moved: u32,
    pub(super) took: Option<BlockId>,
}

/// The jobs of every plane.
#[derive(Clone, Debug)]
pub struct Jobs {
    running: Box<[Option<Running>]>,
    /// Whether a job runs, by plane.
    collecting: Box<[bool]>,
    /// Free pages of a plane with which no background policy has anything to do.
    contents: u32,
    /// Free pages of a plane below which jobs go before the host.
    urgent: u32,
    /// Whether all free pages count for both, not those of free blocks alone.
    counts_pages: bool,
}

impl Jobs {
    pub fn new(planes: u32, policies: &[AnyBackground]) -> Jobs {
        let needs = || policies.iter().map(AnyBackground::needs);
        let contents = needs().map(|needs| needs.free_page_target).max();
        let urgent = needs().map(|needs| needs.urgent_below).max();
        Jobs {
            running: vec![None; planes as usize].into_boxed_slice(),
            collecting: vec![false; planes as usize].into_boxed_slice(),
            contents: contents.unwrap_or(0),
            urgent: urgent.unwrap_or(0),
            counts_pages: needs().any(|needs| needs.counts_pages),
        }
    }

    /// For each plane, whether a block of it is being emptied.
    pub fn collecting(&self) -> &[bool] {
        &self.collecting
    }

    /// The block that is being emptied on a plane.
    pub fn block(&self, plane: PlaneId) -> Option<BlockId> {
        self.running[plane.index()].map(|running| running.job.block)
    }

    /// The job under way on a plane.
    #[inline]
    pub(super) fn of(&mut self, plane: PlaneId) -> &mut Running {
        self.running[plane.index()].as_mut().expect("a job under way")
    }

    /// Whether a plane has no job.
    #[inline]
    pub(super) fn is_free(&self, plane: PlaneId) -> bool {
        self.running[plane.index()].is_none()
    }

    /// Free pages of a plane from which on no policy has anything to do.
    #[inline]
    pub(super) fn contents(&self) -> u32 {
        self.contents
    }

    /// A job has ended.
    pub(super) fn end(&mut self, plane: PlaneId) -> Running {
        self.collecting[plane.index()] = false;
        self.running[plane.index()].take().expect("a job under way")
    }

    /// The writer that takes the pages of a plane's job.
    #[inline]
    pub fn writer(&self, plane: PlaneId) -> Writer {
        self.running[plane.index()].expect("a job under way").job.to
    }
}

/// What a background policy sees of a plane.
pub(super) fn plane_view(ftl: &Ftl, plane: PlaneId) -> PlaneView<'_> {
    PlaneView {
        plane,
        pool: ftl.blocks.pool(plane),
        free_blocks: ftl.alloc.free_blocks(plane) as u32,
        open_pages: ftl.alloc.open_pages(plane, Writer::Gc),
        free_pages: ftl.alloc.usable_pages(plane),
    }
}

impl Drive {
    /// Free pages of a plane as the background policies count them.
    #[inline]
    pub(super) fn free(&self, plane: PlaneId) -> u32 {
        self.ftl.alloc.counted(plane, self.background.jobs.counts_pages)
    }

    /// Begins a job on a plane that none runs on.
    pub(super) fn begin_job(&mut self, plane: PlaneId, policy: BackgroundAt, job: Job) {
        debug_assert!(self.ftl.may_empty(job.block), "{:?} is being programmed", job.block);
        self.stats.unprogrammed += u64::from(self.ftl.begin_collection(job.block));
        self.background.jobs.running[plane.index()] =
            Some(Running { job, cursor: 0, from: Ppn(0), policy, moved: 0, took: None, ahead: 0 });
        self.background.drive_wide.begins(&job);
        if let Some(streams) = self.history.streams.as_mut().filter(|_| job.cause == Cause::Gc) {
            streams.collected(job.block, self.ftl.blocks.valid(job.block));
        }
        self.policies.publish(&Event::BlockCollected(job.block));
        self.background.jobs.collecting[plane.index()] = true;
        let id = self.flash.txns.insert(self.now);
        self.next_of_job(id, plane);
    }

    /// Enqueues the next operation of a plane's job: the read of its next valid page, or the erase
    /// once there is none.
    pub(super) fn next_of_job(&mut self, id: TxnId, plane: PlaneId) {
        let running = self.background.jobs.of(plane);
        let block = running.job.block;
        let mut kind = OpKind::Erase;
        let mut page = self.geometry.page(block, PageInBlock(0));
        if self.ftl.blocks.valid(block) > 0 {
            if running.cursor >= running.ahead {
                let end = (running.cursor + AHEAD).min(self.geometry.pages as u16);
                let ahead = [running.cursor, end].map(|at| page.0 + u32::from(at));
                self.ftl.map.expect_moves(ahead[0]..ahead[1]);
                running.ahead = end;
            }
            for offset in running.cursor..self.geometry.pages as u16 {
                let ppn = self.geometry.page(block, PageInBlock(offset));
                if let Some(lpn) = self.ftl.map.valid(ppn) {
                    running.cursor = offset + 1;
                    running.from = ppn;
                    (kind, page) = (OpKind::Read, ppn);
                    self.flash.txns[id].lpn = lpn;
                    break;
                }
            }
        }
        let cause = running.job.cause;
        let txn = &mut self.flash.txns[id];
        (txn.kind, txn.ppn, txn.plane, txn.cause) = (kind, page, plane, cause);
        txn.owner = Owner::Job(plane);
        txn.sectors = self.geometry.sectors_per_page() as u16;
        txn.failed = 0;
        txn.level = Level::FIRST;
        self.enqueue_job(id, plane);
    }

    pub(super) fn enqueue_job(&mut self, id: TxnId, plane: PlaneId) {
        let is_urgent = match self.flash.txns[id].cause {
            Cause::Gc => self.free(plane) < self.background.jobs.urgent,
            // What makes no room goes first only where it is what the host waits for.
            _ => self.flash.blocks_programs(plane),
        };
        let rank = if is_urgent { Rank::URGENT } else { Rank::BACKGROUND };
        self.flash.txns[id].since = self.now;
        self.flash.comes(id);
        self.flash.enqueue(id, rank, self.now);
    }

    /// Whether a job makes room for pages that are read often.
    pub(super) fn is_cold_out(&self, job: &Job) -> bool {
        job.cause == Cause::Migration && self.background.moves.is_some()
    }
}
