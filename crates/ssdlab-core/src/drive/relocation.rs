//! A job goes on, and ends: its pages have moved, its block is erased and joins the free ones.

use ssdlab_nand::{BlockId, PlaneId};

use super::Drive;
use super::jobs::Running;
use super::watch::watch;
use crate::account::{Cause, OpKind, Priority};
use crate::config::RESERVE_BLOCKS;
use crate::flash::TxnId;
use crate::policy::event::{Action, EventMask, FreedBlock, Probe};

impl Drive {
    /// An operation of a plane's job ended.
    #[inline(never)]
    pub(super) fn continue_job(&mut self, id: TxnId, plane: PlaneId) {
        match self.flash.txns[id].kind {
            OpKind::Read => {
                self.flash.txns[id].kind = OpKind::Program;
                self.flash.txns[id].failed = 0;
                self.make_hint(id);
                let job = self.background.jobs.of(plane).job;
                if job.stream.is_some() {
                    self.flash.txns[id].hint.stream = job.stream;
                }
                if let Some(class) = job.class {
                    self.flash.txns[id].hint.quality = Some(class);
                } else if self.resolved.config.metadata.block_class.by_priority() {
                    // Whose it was, its page stays.
                    let class = self.ftl.blocks.class(job.block);
                    self.flash.txns[id].hint.priority = Some(Priority::of_class(class));
                }
                self.enqueue_job(id, plane);
            }
            OpKind::Program => {
                let running = self.background.jobs.of(plane);
                let (lpn, to) = (self.flash.txns[id].lpn, self.flash.txns[id].ppn);
                running.moved += 1;
                running.took = Some(self.geometry.block_of(to));
                let Running { job, from, .. } = *running;
                watch!(self, programmed(id, &self.flash.txns[id], &self.ftl));
                if self.ftl.commit_copy(lpn, from, to) {
                    self.entry_moved(lpn, plane);
                    let moved = [job.block, self.geometry.block_of(to)];
                    self.publish_migrated(lpn, moved, job.cause, false);
                }
                self.publish_if_closed(to);
                self.stats.gc.1 += u64::from(job.cause == Cause::Gc);
                self.stats.migration.cold += u64::from(self.is_cold_out(&job));
                self.next_of_job(id, plane);
            }
            OpKind::Erase => self.end_of_job(id, plane),
        }
    }

    fn end_of_job(&mut self, id: TxnId, plane: PlaneId) {
        let ended = self.background.jobs.end(plane);
        let block: BlockId = ended.job.block;
        self.flash.txns.remove(id);
        watch!(self, gone(id));
        watch!(self, erased(block));
        self.reassess(block);
        let counts_for = self.resolved.config.flash.cycles_per_erase;
        self.ftl.commit_erase(block, counts_for, ended.job.gains);
        self.block_wears(block);
        self.change_moved(plane);
        match ended.job.cause {
            Cause::Gc => {
                self.stats.gc.0 += 1;
                self.stats.gc_for_subpools += u64::from(ended.job.gains.is_some());
            }
            Cause::Wl => self.stats.wear_leveled += 1,
            _ => self.stats.migration.emptied += u64::from(self.is_cold_out(&ended.job)),
        }
        self.publish_ended_job(&ended);
        if self.planes.is_dynamic() {
            // What waits on a full plane may now go to this one.
            self.flash.unblock_all();
        } else {
            self.flash.block_programs(plane, false);
        }
        self.start_drive_wide_jobs();
        match &mut self.hold {
            Some(hold) => hold.job_ended(plane),
            None => self.next_job(plane),
        }
    }

    /// A block was erased, which its P/E cycles do not count yet: its class and its turn from now on.
    pub(super) fn reassess(&mut self, block: BlockId) {
        if !self.policies.wants.has(EventMask::BLOCK_FREED) {
            return;
        }
        let cycles_per_erase = self.resolved.config.flash.cycles_per_erase;
        let cells = &self.flash.cells;
        // A job may have used the block that is kept for jobs: then this one takes its place.
        let plane = self.geometry.plane_of(block);
        let freed = FreedBlock {
            block,
            class: self.ftl.blocks.class(block),
            pe_cycles: self.ftl.blocks.erases(block) + cycles_per_erase,
            cycles_per_erase,
            cell_time: cells.time(self.now),
            has_spare: self.ftl.alloc.free_blocks(plane) >= RESERVE_BLOCKS,
            probe: Probe(&|cycles| cells.look(block, cycles)),
        };
        self.policies.publish_freed(&freed);
        for action in self.policies.take_reassessments() {
            match action {
                Action::SetClass { block, class } => self.ftl.blocks.set_class(block, class),
                Action::SetTurn { block, turn } => self.ftl.blocks.set_turn(block, turn),
                Action::Relocate(_) | Action::MigratePage { .. } | Action::SetTimer { .. } => {}
            }
        }
    }
}
