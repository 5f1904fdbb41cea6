//! Continues and ends jobs: their pages have moved, their block is erased and joins the free
//! blocks.

use ssdlab_nand::{BlockId, PlaneId};

use super::Background;
use super::jobs::Running;
use crate::account::{Cause, OpKind, Priority};
use crate::audit::audit_event;
use crate::drive::machine::Machine;
use crate::drive::translation::Translation;
use crate::flash::TxnId;
use crate::policy::background::Job;
use crate::policy::event::Event;

impl Background {
    /// Continues a plane's job after one of its operations.
    #[inline(never)]
    pub(in crate::drive) fn continue_job(
        &mut self,
        machine: &mut Machine,
        translation: &mut Translation,
        id: TxnId,
        plane: PlaneId,
    ) {
        match machine.flash.txns[id].kind {
            OpKind::Read => {
                machine.make_hint(id);
                let job = &self.jobs.of(plane).job;
                machine.flash.txns.program_copy(id);
                let hint = machine.flash.txns.hint_mut(id);
                hint.stream = job.stream.or(hint.stream);
                if let Some(class) = job.class {
                    hint.quality = Some(class);
                } else if machine.resolved.classes.by_priority {
                    // The page stays in blocks of its priority.
                    let class = machine.ftl.blocks.class(job.block);
                    hint.priority = Some(Priority::of_class(class));
                }
                self.enqueue_job(machine, id, plane);
            }
            OpKind::Program => {
                audit_event!(machine, programmed(id, &machine.flash.txns[id], &machine.ftl, false));
                let running = self.jobs.of(plane);
                let (lpn, to) = (machine.flash.txns[id].lpn, machine.flash.txns[id].ppn);
                let took = machine.geometry.block_of(to);
                running.moved += 1;
                running.took = Some(took);
                let Running { job: Job { block, cause, .. }, from, .. } = *running;
                if machine.ftl.commit_copy(lpn, from, to) {
                    translation.entry_moved(lpn, plane);
                    machine.publish_migrated(lpn, [block, took], cause, false);
                } else {
                    machine.publish(&Event::ProgramOutdated { lpn, block: took });
                }
                machine.publish_if_closed(to);
                match cause {
                    Cause::Gc => machine.stats.gc.1 += 1,
                    cause => machine.stats.migration.cold += u64::from(self.is_cold_out(cause)),
                }
                self.next_of_job(machine, id, plane);
            }
            OpKind::Erase => self.end_of_job(machine, translation, id, plane),
        }
    }

    #[inline(never)]
    fn end_of_job(
        &mut self,
        machine: &mut Machine,
        translation: &mut Translation,
        id: TxnId,
        plane: PlaneId,
    ) {
        let ended = self.jobs.end(plane);
        machine.collecting[plane.index()] = false;
        let block: BlockId = ended.job.block;
        machine.flash.txns.remove(id);
        audit_event!(machine, gone(id));
        audit_event!(machine, erased(block));
        machine.reassess(block);
        let counts_for = machine.resolved.config.flash.cycles_per_erase;
        machine.ftl.commit_erase(block, counts_for, ended.job.gains);
        machine.block_wears(block);
        translation.change_moved(machine, plane);
        match ended.job.cause {
            Cause::Gc => {
                machine.stats.gc.0 += 1;
                machine.stats.gc_for_subpools += u64::from(ended.job.gains.is_some());
            }
            Cause::Wl => machine.stats.wear_leveled += 1,
            _ => machine.stats.migration.emptied += u64::from(self.is_cold_out(ended.job.cause)),
        }
        self.publish_ended_job(machine, &ended);
        if machine.planes.is_dynamic() {
            // Writes that wait on a full plane may now go to this one.
            machine.flash.unblock_all();
        } else {
            machine.flash.block_programs(plane, false);
        }
        self.start_drive_wide_jobs(machine);
        if !translation.dispatch.job_ended(plane) {
            self.next_job(machine, plane);
        }
    }
}
