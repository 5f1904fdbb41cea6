//! Carries out the actions of policies, and fires their timers.

use ssdlab_base::SimTime;

use super::Background;
use super::drive_wide::Waiting;
use crate::drive::machine::Machine;
use crate::drive::machine::policies::Listener;
use crate::policy::event::{Action, Event, Round};

impl Background {
    /// Fires the timers that are due now; only the scheduler's while jobs of others are under way.
    /// Returns whether the scheduler's fired. `is_idle` tells whether the drive has no other event.
    #[cold]
    pub(in crate::drive) fn fire_timers(&mut self, machine: &mut Machine, is_idle: bool) -> bool {
        let now = machine.now;
        let all = self.drive_wide.host_active || is_idle;
        let mut to_scheduler = false;
        for at in 0..self.drive_wide.due.len() {
            let due = &mut self.drive_wide.due[at];
            let of_scheduler = due.owner == Listener::Scheduler;
            if due.at > now || !(all || of_scheduler) {
                continue;
            }
            to_scheduler |= of_scheduler;
            // The scheduler's timer neither waits for jobs nor lets others wait.
            self.drive_wide.host_active &= of_scheduler;
            // A late timer does not bring the next ones closer. Rounds that it has missed are left
            // out.
            match due.interval {
                Some(interval) => {
                    while due.at <= now {
                        due.at += interval;
                    }
                }
                None => due.at = SimTime::NEVER,
            }
            let (owner, is_round) = (due.owner, due.interval.is_some());
            if is_round {
                self.drop_waiting(machine, Some(owner));
                let full = self.estimates(machine);
                let across_classes = machine.policies.across_classes();
                let round = Round { full: &full, across_classes };
                machine.policies.publish_to(machine.now, owner, &Event::RoundDue(round));
            } else {
                machine.policies.publish_to(machine.now, owner, &Event::Timer);
            }
            self.carry_out_actions(machine);
        }
        to_scheduler
    }

    /// Carries out the actions of policies. Blocks to relocate wait for their planes. The first of
    /// each plane begins if it may.
    #[cold]
    pub(in crate::drive) fn carry_out_actions(&mut self, machine: &mut Machine) {
        let now = machine.now;
        for (owner, action) in machine.policies.take_pending() {
            let job = match action {
                Action::Relocate(job) => job,
                Action::SetTimer { after } => {
                    self.drive_wide.set_timer(owner, now, after);
                    continue;
                }
                Action::MigratePage { lpn, class, stream } => {
                    self.migrate(machine, lpn, (class, stream));
                    continue;
                }
                Action::SetFreeRank { block, free_rank }
                    if machine.ftl.alloc.rerank(&mut machine.ftl.blocks, block, free_rank) =>
                {
                    continue;
                }
                Action::SetClass { .. } | Action::SetFreeRank { .. } => {
                    machine.policies.reassess_later(action);
                    continue;
                }
            };
            let erases = machine.ftl.blocks.erases(job.block);
            let pages = u32::from(machine.ftl.blocks.valid(job.block));
            let plane = machine.geometry.plane_of(job.block);
            self.drive_wide.push(plane, Waiting { job, owner, erases, pages });
        }
        self.begin_all_waiting(machine);
    }
}
