//! Background work for the whole drive: jobs that wait for their planes, and timers.

use std::collections::VecDeque;

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::{BlockId, PlaneId};

use super::Background;
use super::jobs::Running;
use crate::account::Priority;
use crate::drive::machine::Machine;
use crate::drive::machine::policies::Listener;
use crate::flash::TxnId;
use crate::ftl::{BlockState, Writer};
use crate::policy::background::{
    BlockEstimate, DriveView, EndedJob, Job, MIN_FREE_TO_MOVE, Trigger,
};
use crate::policy::columns::{Column, Per, SavedColumns};
use crate::policy::component::Components;
use crate::policy::event::{BlockOpened, Event, EventMask};
use ssdlab_schemes::AnyBackground;

/// A job that waits until its plane is free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) job: Job,
    /// The policy or component that asked for it.
    pub(super) owner: Listener,
    /// P/E cycles of its block at the time of the request. If the block has been erased since, the
    /// job is out of date.
    pub(super) erases: u32,
    /// Number of pages that it was to move then.
    pub(super) pages: u32,
}

/// A timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    pub(super) owner: Listener,
    pub(super) at: SimTime,
    /// The interval of a periodic timer, in simulated time.
    pub(super) interval: Option<Nanos>,
}

/// The waiting jobs of one owner: their number, and that of their pages.
#[derive(Clone, Copy, Debug)]
struct Owned {
    owner: Listener,
    jobs: u64,
    pages: u64,
}

/// The jobs that wait, and the timers of policies and components.
#[derive(Clone, Debug)]
pub(crate) struct DriveWide {
    /// Whether a policy requests jobs for the drive as a whole, or has periodic rounds.
    is_drive_wide: bool,
    /// By plane; empty until the first request for a relocation.
    waiting: Vec<VecDeque<Waiting>>,
    planes: usize,
    /// The waiting jobs of each owner that ever had one.
    owned: Vec<Owned>,
    /// Number of running jobs from which each priority gains a block.
    coming: Vec<u32>,
    pub(super) due: Vec<Due>,
    /// The cells' time that passes in a unit of simulated time.
    time_scale: u32,
    /// Whether the host has sent a request since the timers fired last.
    pub(super) host_active: bool,
}

impl DriveWide {
    /// Returns the state of a drive without jobs. `time_scale` is the ratio of the cells' time to
    /// simulated time.
    pub(crate) fn new(policies: &[AnyBackground], planes: u32, time_scale: u32) -> DriveWide {
        let due = (0..).zip(policies).filter_map(|(at, policy)| {
            let interval = in_run(policy.needs().interval?, time_scale);
            let owner = Listener::Background(at);
            Some(Due { owner, at: SimTime::START + interval, interval: Some(interval) })
        });
        let due: Vec<Due> = due.collect();
        // Waiting relocations may depend on more than their planes.
        let is_drive_wide = policies.iter().any(|one| one.needs().is_drive_wide) || !due.is_empty();
        let planes = planes as usize;
        DriveWide {
            is_drive_wide,
            waiting: Vec::new(),
            planes,
            owned: Vec::new(),
            coming: Vec::new(),
            due,
            time_scale,
            host_active: true,
        }
    }

    /// Notes that the host has sent a request.
    pub(crate) fn host_asks(&mut self) {
        self.host_active = true;
    }

    /// Sets the timer of a policy or component, to fire after this much of the cells' time.
    pub(super) fn set_timer(&mut self, owner: Listener, now: SimTime, after: Nanos) {
        let at = now + in_run(after, self.time_scale);
        match self.due.iter_mut().find(|due| due.owner == owner) {
            Some(due) => due.at = at,
            None => self.due.push(Due { owner, at, interval: None }),
        }
    }

    /// Saves the timers, periodic ones included: for each, the remaining time of the cells.
    pub(in crate::drive) fn save_timers(
        &self,
        now: SimTime,
        places: &[(Listener, String)],
        to: &mut SavedColumns,
    ) {
        for due in self.due.iter().filter(|due| due.at < SimTime::NEVER) {
            let place = places.iter().find(|(listener, _)| *listener == due.owner);
            let left = due.at.saturating_since(now).as_ns();
            let mut left = left.saturating_mul(self.time_scale.into()).min(MAX_TIMER);
            if let Some((_, place)) = place {
                to.add(&timer_of(place), &[Column::new(TIMER, Per::Drive, &mut left)]);
            }
        }
    }

    /// Sets the timers that [`DriveWide::save_timers`] has saved.
    ///
    /// # Errors
    /// If a timer is set for later than a run can last.
    pub(in crate::drive) fn restore_timers(
        &mut self,
        places: &[(Listener, String)],
        from: &SavedColumns,
    ) -> Result<(), String> {
        for (owner, place) in places {
            let mut left = 0;
            let mut column = [Column::new(TIMER, Per::Drive, &mut left).up_to(MAX_TIMER)];
            if from.restore(&timer_of(place), &mut column)? {
                self.set_timer(*owner, SimTime::START, Nanos::from_ns(left));
            }
        }
        // A round comes no later than after one interval, even if the saved one was longer.
        for due in &mut self.due {
            if let Some(interval) = due.interval {
                due.at = due.at.min(SimTime::START + interval);
            }
        }
        Ok(())
    }

    fn gains(&mut self, priority: Priority) -> &mut u32 {
        let at = priority.index();
        if self.coming.len() <= at {
            self.coming.resize(at + 1, 0);
        }
        &mut self.coming[at]
    }

    /// Returns a job that waits for a plane, the first at 0.
    fn at(&self, plane: PlaneId, at: usize) -> Option<Waiting> {
        self.waiting.get(plane.index())?.get(at).copied()
    }

    /// Removes a job that waits for a plane.
    fn take(&mut self, plane: PlaneId, at: usize) {
        if let Some(gone) = self.waiting[plane.index()].remove(at) {
            self.uncount(&gone);
        }
    }

    /// Adds a job that waits for a plane.
    pub(super) fn push(&mut self, plane: PlaneId, waiting: Waiting) {
        let own = self.owned.iter().position(|owned| owned.owner == waiting.owner);
        let own = own.unwrap_or_else(|| {
            self.owned.push(Owned { owner: waiting.owner, jobs: 0, pages: 0 });
            self.owned.len() - 1
        });
        self.owned[own].jobs += 1;
        self.owned[own].pages += u64::from(waiting.pages);
        self.waiting.resize_with(self.planes, VecDeque::new);
        self.waiting[plane.index()].push_back(waiting);
    }

    fn uncount(&mut self, gone: &Waiting) {
        let own = self.owned.iter_mut().find(|owned| owned.owner == gone.owner);
        let own = own.expect("a job that was counted");
        own.jobs -= 1;
        own.pages -= u64::from(gone.pages);
    }

    /// Returns the number of pages that the waiting jobs of an owner move.
    fn pages_of(&self, owner: Listener) -> u64 {
        let own = self.owned.iter().find(|owned| owned.owner == owner);
        own.map_or(0, |owned| owned.pages)
    }

    /// Returns whether a job of another owner waits.
    fn has_others(&self, owner: Listener) -> bool {
        self.owned.iter().any(|owned| owned.owner != owner && owned.jobs > 0)
    }

    /// Removes the waiting jobs of one owner, or of all, and returns them.
    fn remove(&mut self, owner: Option<Listener>) -> Vec<Waiting> {
        let is_removed = |waiting: &Waiting| owner.is_none_or(|owner| waiting.owner == owner);
        let mut removed = Vec::new();
        for jobs in &mut self.waiting {
            removed.extend(jobs.iter().copied().filter(is_removed));
            jobs.retain(|waiting| !is_removed(waiting));
        }
        removed.iter().for_each(|gone| self.uncount(gone));
        removed
    }

    /// Counts a job that begins.
    pub(crate) fn begins(&mut self, job: &Job) {
        if let Some(priority) = job.gains {
            *self.gains(priority) += 1;
        }
    }

    /// Counts a job that has ended.
    fn ends(&mut self, job: &Job) {
        if let Some(priority) = job.gains {
            *self.gains(priority) -= 1;
        }
    }
}

/// The name of a timer's column in a state file, and its largest value.
const TIMER: &str = "left";
const MAX_TIMER: u64 = 1 << 62;

/// Returns the place in a state file of the timer of the policy at a place in the config.
fn timer_of(place: &str) -> String {
    format!("{place}/timer")
}

/// Converts a span of the cells' time to simulated time, at least 1 ns. So time passes between two
/// timers.
fn in_run(span: Nanos, time_scale: u32) -> Nanos {
    (span / u64::from(time_scale)).max(Nanos::from_ns(1))
}

impl Background {
    /// Returns when the next timer fires. `is_idle` tells whether the drive has no other event,
    /// `holds` whether the scheduler holds requests.
    ///
    /// [`Drive::next_event`](crate::Drive::next_event) announces only the timer of a scheduler that
    /// holds requests: otherwise an idle drive stays idle, and due timers fire when time advances.
    /// Without host requests, any other timer waits until the jobs of the last one have ended.
    /// Otherwise, timers whose jobs take longer than their interval would keep a drive busy
    /// forever.
    #[inline]
    pub(in crate::drive) fn next_timer(
        &self,
        machine: &Machine,
        is_idle: bool,
        holds: impl FnOnce() -> bool,
    ) -> SimTime {
        if !self.drive_wide.host_active && !is_idle {
            return if holds() { self.next_of_scheduler(machine) } else { SimTime::NEVER };
        }
        let due = self.drive_wide.due.iter().map(|due| due.at).min();
        due.map_or(SimTime::NEVER, |at| at.max(machine.now))
    }

    /// Returns when the scheduler's timer fires.
    pub(in crate::drive) fn next_of_scheduler(&self, machine: &Machine) -> SimTime {
        let due = self.drive_wide.due.iter().find(|due| due.owner == Listener::Scheduler);
        due.map_or(SimTime::NEVER, |due| due.at.max(machine.now))
    }

    /// Returns the full blocks that no running or waiting job empties, and how they are expected to
    /// read. Blocks that no priority owns are left out.
    pub(super) fn estimates(&self, machine: &Machine) -> Vec<BlockEstimate> {
        let blocks = &machine.ftl.blocks;
        let waiting = self.drive_wide.waiting.iter().flatten();
        let mut taken: Vec<BlockId> = waiting.map(|waiting| waiting.job.block).collect();
        taken.sort_unstable();
        let all = (0..machine.geometry.block_count()).map(BlockId);
        let classes = machine.resolved.classes.count;
        let is_owned = |block| blocks.class(block).index() < classes;
        let full = all.filter(|&block| blocks.state(block) == BlockState::Closed);
        let full = full.filter(|&block| is_owned(block));
        full.filter(|block| taken.binary_search(block).is_err())
            .map(|block| BlockEstimate {
                block,
                priority: Priority::of_class(blocks.class(block)),
                valid: blocks.valid(block),
                pe_cycles: blocks.erases(block),
                programmed: machine.flash.cells.stamp(block),
                expected: machine.expected(block),
            })
            .collect()
    }

    /// Drops the waiting jobs of one owner, or of all, and sends their owners `JobDropped`.
    #[cold]
    pub(in crate::drive) fn drop_waiting(&mut self, machine: &mut Machine, of: Option<Listener>) {
        for Waiting { job, owner, .. } in self.drive_wide.remove(of) {
            machine.policies.publish_to(machine.now, owner, &Event::JobDropped(job));
        }
    }

    /// Returns the next job that waits for an idle plane and may start. Drops the jobs before it
    /// whose block was erased or opened in the meantime. A policy that lets its job wait holds up
    /// its own later jobs, and none of another.
    ///
    /// No job starts while the jobs of a policy mix classes: a relocation would give those blocks
    /// back.
    fn next_waiting(&mut self, machine: &mut Machine, plane: PlaneId) -> Option<(Listener, Job)> {
        let is_as_it_was = |machine: &Machine, waiting: &Waiting| {
            let (blocks, block) = (&machine.ftl.blocks, waiting.job.block);
            blocks.erases(block) == waiting.erases && blocks.state(block) == BlockState::Closed
        };
        let (mut at, mut held_up) = (0, 0_u64);
        loop {
            let waiting = self.drive_wide.at(plane, at)?;
            let (policy, job) = (waiting.owner.background(), waiting.job);
            let own = policy.map_or(0, |policy| 1 << policy);
            if held_up & own != 0 {
                at += 1;
                continue;
            }
            if !is_as_it_was(machine, &waiting) {
                self.drive_wide.take(plane, at);
                let dropped = Event::JobDropped(job);
                machine.policies.publish_to(machine.now, waiting.owner, &dropped);
                continue;
            }
            if machine.ftl.alloc.free_blocks(plane) < MIN_FREE_TO_MOVE as usize
                || machine.policies.across_classes()
            {
                return None;
            }
            let pages = u32::from(machine.ftl.blocks.valid(job.block));
            let owner = policy.map(|at| &mut machine.policies.background[usize::from(at)]);
            if owner.is_none_or(|owner| owner.may_start(pages)) {
                self.drive_wide.take(plane, at);
                return Some((waiting.owner, job));
            }
            if !self.drive_wide.has_others(waiting.owner) {
                return None;
            }
            held_up |= own;
            at += 1;
        }
    }

    /// Begins the first waiting job of each plane without a running job, if it may start.
    pub(super) fn begin_all_waiting(&mut self, machine: &mut Machine) {
        if self.drive_wide.waiting.iter().all(VecDeque::is_empty) {
            return;
        }
        for plane in (0..machine.geometry.plane_count()).map(PlaneId) {
            if !machine.collecting[plane.index()]
                && let Some((owner, job)) = self.next_waiting(machine, plane)
            {
                self.begin_job(machine, plane, owner, job);
            }
        }
    }

    /// Starts the jobs that policies request for the drive as a whole.
    pub(super) fn start_drive_wide_jobs(&mut self, machine: &mut Machine) {
        if !self.drive_wide.is_drive_wide {
            return;
        }
        for at in 0..machine.policies.background.len() {
            while machine.policies.background[at].needs().is_drive_wide {
                let free = machine.ftl.alloc.subpools().unwrap_or_default();
                self.drive_wide.coming.resize(free.len().max(self.drive_wide.coming.len()), 0);
                let view = DriveView {
                    now: machine.now,
                    blocks: &machine.ftl.blocks,
                    free: &free,
                    coming: &self.drive_wide.coming,
                    busy: &machine.collecting,
                    components: Components::new(&machine.policies.metadata),
                };
                let job = machine.policies.background[at].drive_job(&view);
                let Some(job) = job.filter(|job| machine.ftl.may_empty(job.block)) else { break };
                let plane = machine.geometry.plane_of(job.block);
                self.begin_job(machine, plane, Listener::Background(at as u8), job);
            }
        }
        let across = machine.policies.across_classes();
        machine.ftl.alloc.level_across(across);
    }

    /// Publishes that a job has ended.
    pub(super) fn publish_ended_job(&mut self, machine: &mut Machine, ended: &Running) {
        let Running { job, moved, took, owner, .. } = *ended;
        self.drive_wide.ends(&job);
        let ended = EndedJob { job, moved, took, own: false, waiting: 0 };
        let waiting = |listener| self.drive_wide.pages_of(listener);
        machine.policies.publish_ended(machine.now, ended, owner, waiting);
    }

    /// Asks the background policies about a plane on which a page was written or became invalid:
    /// one of data, or of the map.
    #[inline]
    pub(in crate::drive) fn plane_changed(
        &mut self,
        machine: &mut Machine,
        plane: PlaneId,
        trigger: Trigger,
    ) {
        let free = self.free(machine, plane);
        if free < self.jobs.free_page_target() && self.jobs.is_free(plane) {
            self.choose_job(machine, plane, trigger);
        }
    }

    /// Asks the background policies for another job after a plane's job has ended, and begins jobs
    /// that wait.
    pub(in crate::drive) fn next_job(&mut self, machine: &mut Machine, plane: PlaneId) {
        // A job for the drive as a whole may have begun already.
        if self.jobs.is_free(plane) {
            self.choose_job(machine, plane, Trigger::JobEnded);
        }
        self.begin_all_waiting(machine);
    }

    /// Asks the background policies about a plane without a job.
    #[inline(never)]
    pub(in crate::drive) fn choose_job(
        &mut self,
        machine: &mut Machine,
        plane: PlaneId,
        trigger: Trigger,
    ) {
        let components = Components::new(&machine.policies.metadata);
        let ftl = &machine.ftl;
        let view = ftl.plane_view(plane, machine.now, components);
        let mut policies = (0..).zip(&mut machine.policies.background);
        let job = policies.find_map(|(at, policy)| {
            let job = policy.job(trigger, &view).filter(|job| ftl.may_empty(job.block));
            Some((Listener::Background(at), job?))
        });
        let Some((owner, job)) = job.or_else(|| self.next_waiting(machine, plane)) else {
            return;
        };
        self.begin_job(machine, plane, owner, job);
    }

    /// Handles the opening of a block for this page: its subpool may run short.
    pub(in crate::drive) fn block_opened(
        &mut self,
        machine: &mut Machine,
        id: TxnId,
        writer: Writer,
    ) {
        if machine.policies.subscribed.has(EventMask::BLOCK_OPENED) {
            let txn = &machine.flash.txns[id];
            let block = machine.geometry.block_of(txn.ppn);
            let stream = machine.resolved.config.streams().of(txn.hint.stream);
            machine.publish(&Event::BlockOpened(&BlockOpened { block, writer, stream }));
        }
        if machine.policies.subscribed.has(EventMask::LOW_SPACE) {
            self.publish_low_space(machine, machine.flash.txns[id].plane);
        }
        self.start_drive_wide_jobs(machine);
    }

    /// Asks the background policies for room after a write found none on a plane, or on any plane
    /// under dynamic allocation.
    pub(in crate::drive) fn collect_full_plane(&mut self, machine: &mut Machine, plane: PlaneId) {
        if machine.planes.is_dynamic() {
            (0..machine.geometry.plane_count())
                .for_each(|p| self.plane_changed(machine, PlaneId(p), Trigger::Changed))
        } else {
            self.plane_changed(machine, plane, Trigger::Changed);
        }
    }

    /// Publishes that a plane is low on space, if it is. A block was just opened there.
    #[cold]
    fn publish_low_space(&mut self, machine: &mut Machine, plane: PlaneId) {
        if self.free(machine, plane) < self.jobs.free_page_target() {
            let free_blocks = machine.ftl.alloc.free_blocks(plane) as u32;
            machine.publish(&Event::LowSpace { plane, free_blocks });
        }
    }
}
