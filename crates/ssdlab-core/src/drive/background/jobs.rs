//! The jobs of background policies: a block's valid pages move elsewhere on its plane, then the
//! block is erased. A plane runs one job at a time, and a job runs one operation at a time.

use ssdlab_nand::{BlockId, Lpn, PageInBlock, PlaneId, Ppn};

use super::Background;
use crate::account::{Cause, OpKind};
use crate::drive::machine::Machine;
use crate::drive::machine::policies::Listener;
use crate::flash::{NewTxn, Owner, Rank, Txn, TxnId};
use crate::ftl::Writer;
use crate::policy::background::Job;
use crate::policy::event::Event;
use ssdlab_schemes::AnyBackground;

/// Number of pages of a block whose map entries are prefetched together.
const PREFETCHED: u16 = 32;

/// A job under way.
#[derive(Clone, Copy, Debug)]
pub(in crate::drive) struct Running {
    pub(in crate::drive) job: Job,
    /// The next page of the block to look at, and the first page that was not prefetched.
    cursor: u16,
    prefetched: u16,
    /// The source of the page that is moving.
    pub(in crate::drive) from: Ppn,
    /// The policy or component that requested the job.
    pub(in crate::drive) owner: Listener,
    /// Number of pages moved so far, and the block that took the last of them.
    pub(in crate::drive) moved: u32,
    pub(in crate::drive) took: Option<BlockId>,
}

/// The jobs of every plane.
#[derive(Clone, Debug)]
pub(crate) struct Jobs {
    running: Box<[Option<Running>]>,
    /// Free pages of a plane that satisfy every background policy.
    free_page_target: u32,
    /// Free pages of a plane below which jobs go before the host.
    urgent: u32,
    /// Whether both limits count all free pages, not only those of free blocks.
    counts_pages: bool,
}

impl Jobs {
    pub(crate) fn new(planes: u32, policies: &[AnyBackground]) -> Jobs {
        let needs = || policies.iter().map(AnyBackground::needs);
        let free_page_target = needs().map(|needs| needs.free_page_target).max();
        let urgent = needs().map(|needs| needs.urgent_below).max();
        Jobs {
            running: vec![None; planes as usize].into_boxed_slice(),
            free_page_target: free_page_target.unwrap_or(0),
            urgent: urgent.unwrap_or(0),
            counts_pages: needs().any(|needs| needs.counts_pages),
        }
    }

    /// Returns the block that the plane's job empties.
    pub(crate) fn block(&self, plane: PlaneId) -> Option<BlockId> {
        self.running[plane.index()].map(|running| running.job.block)
    }

    /// Returns the job of a plane.
    #[inline]
    pub(in crate::drive) fn of(&mut self, plane: PlaneId) -> &mut Running {
        self.running[plane.index()].as_mut().expect("a job under way")
    }

    /// Returns whether a plane has no job.
    pub(in crate::drive) fn is_free(&self, plane: PlaneId) -> bool {
        self.running[plane.index()].is_none()
    }

    /// Returns the free pages of a plane that satisfy every policy.
    pub(super) fn free_page_target(&self) -> u32 {
        self.free_page_target
    }

    /// Removes and returns the job of a plane, which has ended.
    pub(in crate::drive) fn end(&mut self, plane: PlaneId) -> Running {
        self.running[plane.index()].take().expect("a job under way")
    }

    /// Returns the writer that takes the pages of a plane's job.
    #[inline]
    pub(crate) fn writer(&self, plane: PlaneId) -> Writer {
        self.running[plane.index()].expect("a job under way").job.to
    }
}

impl Background {
    /// Returns the free pages of a plane as the background policies count them.
    pub(in crate::drive) fn free(&self, machine: &Machine, plane: PlaneId) -> u32 {
        machine.ftl.alloc.counted(plane, self.jobs.counts_pages)
    }

    /// Begins a job on a plane without one.
    pub(super) fn begin_job(
        &mut self,
        machine: &mut Machine,
        plane: PlaneId,
        owner: Listener,
        job: Job,
    ) {
        debug_assert!(machine.ftl.may_empty(job.block), "{:?} is being programmed", job.block);
        machine.stats.unprogrammed += u64::from(machine.ftl.begin_collection(job.block));
        self.jobs.running[plane.index()] = Some(Running {
            job,
            cursor: 0,
            from: Ppn(0),
            owner,
            moved: 0,
            took: None,
            prefetched: 0,
        });
        self.drive_wide.begins(&job);
        if let Some(streams) = machine.lifetime.streams.as_mut().filter(|_| job.cause == Cause::Gc)
        {
            streams.collected(job.block, machine.ftl.blocks.valid(job.block));
        }
        machine.publish(&Event::BlockCollected(job.block));
        machine.collecting[plane.index()] = true;
        let new = NewTxn {
            lpn: Lpn(0),
            owner: Owner::Job(plane),
            kind: OpKind::Erase,
            cause: job.cause,
            mask: machine.geometry.page_mask(),
            sectors: machine.geometry.sectors_per_page(),
        };
        let id = machine.flash.txns.begin(new, machine.now);
        machine.flash.txns.set_plane(id, plane);
        self.next_of_job(machine, id, plane);
    }

    /// Enqueues the next operation of a plane's job: the read of its next valid page, or the erase
    /// if there is none.
    pub(super) fn next_of_job(&mut self, machine: &mut Machine, id: TxnId, plane: PlaneId) {
        let running = self.jobs.of(plane);
        let block = running.job.block;
        if machine.ftl.blocks.valid(block) > 0 {
            if running.cursor >= running.prefetched {
                let end = (running.cursor + PREFETCHED).min(machine.geometry.pages as u16);
                let page = machine.geometry.page(block, PageInBlock(0));
                let prefetched = [running.cursor, end].map(|at| page.0 + u32::from(at));
                machine.ftl.map.prefetch_moves(prefetched[0]..prefetched[1]);
                running.prefetched = end;
            }
            for offset in running.cursor..machine.geometry.pages as u16 {
                let ppn = machine.geometry.page(block, PageInBlock(offset));
                if let Some(lpn) = machine.ftl.map.valid(ppn) {
                    running.cursor = offset + 1;
                    running.from = ppn;
                    machine.flash.txns.read_next(id, (lpn, ppn));
                    return self.enqueue_job(machine, id, plane);
                }
            }
        }
        machine.flash.txns.erase(id, machine.geometry.page(block, PageInBlock(0)));
        self.enqueue_job(machine, id, plane);
    }

    pub(super) fn enqueue_job(&mut self, machine: &mut Machine, id: TxnId, plane: PlaneId) {
        let is_urgent = match machine.flash.txns[id].cause {
            Cause::Gc => self.free(machine, plane) < self.jobs.urgent,
            // Jobs that free no space go before the host only if blocked host programs wait for
            // them.
            _ => machine.flash.queues[plane].blocks_programs(),
        };
        let rank = if is_urgent { Rank::URGENT } else { Rank::BACKGROUND };
        machine.flash.txns.count_from(id, machine.now);
        machine.flash.assign_seq(id);
        machine.flash.enqueue(id, rank, machine.now);
    }

    /// Returns whether a job makes room for pages that are read often.
    pub(super) fn is_cold_out(&self, cause: Cause) -> bool {
        cause == Cause::Migration && self.migrates
    }

    /// Skips a page that a job was to read and that is no longer valid. The job continues with the
    /// next page.
    #[cold]
    pub(in crate::drive) fn skip_page(&mut self, machine: &mut Machine, id: TxnId) {
        let Txn { plane, plane_queue, .. } = machine.flash.txns[id];
        machine.flash.pop(plane, plane_queue);
        self.next_of_job(machine, id, plane);
    }

    /// Returns the writer of this owner's pages.
    #[inline]
    pub(in crate::drive) fn writer_of(&self, owner: Owner) -> Writer {
        match owner {
            Owner::Job(plane) => self.jobs.writer(plane),
            Owner::Move { .. } => Writer::Gc,
            Owner::Request(_) | Owner::Buffer { .. } | Owner::Map { .. } => Writer::Host,
        }
    }

    /// Returns the offset in its block of the page that a transaction reads or would program.
    pub(in crate::drive) fn offset_of(
        &self,
        machine: &Machine,
        id: TxnId,
        plane: PlaneId,
    ) -> Option<PageInBlock> {
        let txn = &machine.flash.txns[id];
        match txn.kind {
            OpKind::Program => {
                machine.ftl.next_page(plane, self.writer_of(txn.owner), txn.hint.request())
            }
            _ => Some(machine.geometry.page_in_block(txn.ppn)),
        }
    }
}
