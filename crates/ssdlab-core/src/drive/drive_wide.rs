//! Background work for the drive as a whole: jobs that wait for their planes, and timers.

use std::collections::VecDeque;

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::{BlockId, PlaneId};

use super::Drive;
use super::jobs::{Running, plane_view};
use super::policies::{BackgroundAt, Listener};
use crate::account::Priority;
use crate::ftl::{BlockState, BlockTable};
use crate::policy::background::{
    BlockEstimate, DriveView, EndedJob, Expected, Job, MOVES_FREE_LEAST, Trigger,
};
use crate::policy::event::{Action, Event};
use ssdlab_schemes::AnyBackground;

/// A job that waits until its plane is free.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    job: Job,
    policy: BackgroundAt,
    /// P/E cycles of its block when it was wanted: a block that has been erased since is another one.
    erases: u32,
    /// Pages that it was to move then.
    pages: u32,
}

/// A timer.
#[derive(Clone, Copy, Debug)]
struct Due {
    owner: Listener,
    at: SimTime,
    /// In the run's time, if it comes due again and again.
    interval: Option<Nanos>,
}

/// The jobs that wait, and the timers of policies and components.
#[derive(Clone, Debug)]
pub struct DriveWide {
    /// Whether a policy wants jobs for the drive as a whole, or has a timer.
    is_drive_wide: bool,
    /// By plane; empty as long as nobody has asked for a relocation.
    waiting: Vec<VecDeque<Waiting>>,
    planes: usize,
    /// Pages of all of them.
    pages_waiting: u64,
    /// Jobs under way from which each priority gains a block.
    coming: Vec<u32>,
    due: Vec<Due>,
    /// The cells' time that passes in a unit of the run's time.
    time_scale: u32,
    /// Whether the host has sent a request since the timers fired last.
    host_active: bool,
}

impl DriveWide {
    /// Nothing to do as yet; in the cells `time_scale` times as much time passes as in the run.
    pub fn new(policies: &[AnyBackground], planes: u32, time_scale: u32) -> DriveWide {
        let due = (0..).zip(policies).filter_map(|(at, policy)| {
            let interval = in_run(policy.needs().interval?, time_scale);
            let owner = Listener::Background(at);
            Some(Due { owner, at: SimTime::START + interval, interval: Some(interval) })
        });
        let due: Vec<Due> = due.collect();
        // Relocations may have to wait for more than their planes.
        let is_drive_wide = policies.iter().any(|one| one.needs().is_drive_wide) || !due.is_empty();
        let planes = planes as usize;
        DriveWide {
            is_drive_wide,
            waiting: Vec::new(),
            planes,
            pages_waiting: 0,
            coming: Vec::new(),
            due,
            time_scale,
            host_active: true,
        }
    }

    /// The host asks for something.
    #[inline]
    pub fn host_asks(&mut self) {
        self.host_active = true;
    }

    /// Sets the timer of a policy, or a component, to come due after so much of the cells' time.
    fn set_timer(&mut self, owner: Listener, now: SimTime, after: Nanos) {
        let at = now + in_run(after, self.time_scale);
        match self.due.iter_mut().find(|due| due.owner == owner) {
            Some(due) => due.at = at,
            None => self.due.push(Due { owner, at, interval: None }),
        }
    }

    fn gains(&mut self, priority: Priority) -> &mut u32 {
        let at = priority.index();
        if self.coming.len() <= at {
            self.coming.resize(at + 1, 0);
        }
        &mut self.coming[at]
    }

    /// The first job that waits for a plane; those whose block is no longer what it was are dropped.
    fn first(&mut self, plane: PlaneId, blocks: &BlockTable) -> Option<(BackgroundAt, Job)> {
        loop {
            let Waiting { job, policy, erases, .. } = *self.waiting.get(plane.index())?.front()?;
            let same = blocks.erases(job.block) == erases;
            if same && blocks.state(job.block) == BlockState::Closed {
                return Some((policy, job));
            }
            self.pop(plane);
        }
    }

    /// The first job that waits for a plane waits no longer.
    fn pop(&mut self, plane: PlaneId) {
        let gone = self.waiting[plane.index()].pop_front();
        self.pages_waiting -= gone.map_or(0, |waiting| u64::from(waiting.pages));
    }

    /// A job waits for a plane.
    fn push(&mut self, plane: PlaneId, waiting: Waiting) {
        self.pages_waiting += u64::from(waiting.pages);
        self.waiting.resize_with(self.planes, VecDeque::new);
        self.waiting[plane.index()].push_back(waiting);
    }

    /// Drops what waits of a background policy.
    fn drop_all_of(&mut self, policy: u8) {
        let others = |waiting: &Waiting| waiting.policy != Some(policy);
        self.waiting.iter_mut().for_each(|jobs| jobs.retain(others));
        self.pages_waiting =
            self.waiting.iter().flatten().map(|waiting| u64::from(waiting.pages)).sum();
    }

    /// A job begins.
    pub fn begins(&mut self, job: &Job) {
        if let Some(priority) = job.gains {
            *self.gains(priority) += 1;
        }
    }

    /// A job has ended.
    fn ends(&mut self, job: &Job) {
        if let Some(priority) = job.gains {
            *self.gains(priority) -= 1;
        }
    }
}

/// A span of the cells' time in the run's time, at least 1 ns, so that time goes on between two
/// timers.
fn in_run(span: Nanos, time_scale: u32) -> Nanos {
    Nanos::from_ns((span.as_ns() / u64::from(time_scale)).max(1))
}

impl Drive {
    /// When the next timer comes due, on a drive that is idle or not. [`Drive::next_event`] does not announce it: an
    /// idle drive stays idle, and timers that have come due fire when time goes on. Without requests of the host a
    /// timer waits until the jobs of the last one have ended. Otherwise timers whose jobs take longer than their
    /// interval would keep a drive busy for ever.
    #[inline]
    pub(super) fn next_timer(&self, is_idle: bool) -> SimTime {
        let due = self.background.drive_wide.due.iter().map(|due| due.at).min();
        match due {
            Some(at) if self.background.drive_wide.host_active || is_idle => {
                at.max(SimTime::from_ns(self.now))
            }
            _ => SimTime::NEVER,
        }
    }

    /// Fires the timers that are due now.
    #[cold]
    pub(super) fn fire_timers(&mut self) {
        self.background.drive_wide.host_active = false;
        let across = self.levels_across();
        let now = SimTime::from_ns(self.now);
        for at in 0..self.background.drive_wide.due.len() {
            let due = &mut self.background.drive_wide.due[at];
            if due.at > now {
                continue;
            }
            // One that was held late does not bring the next ones nearer, and those that it outlasted are left out.
            match due.interval {
                Some(interval) => {
                    while due.at <= now {
                        due.at += interval;
                    }
                }
                None => due.at = SimTime::NEVER,
            }
            let owner = due.owner;
            let Some(policy) = owner.background() else {
                self.policies.publish_to(owner, &Event::Timer(&[]));
                self.carry_out_actions();
                continue;
            };
            self.background.drive_wide.drop_all_of(policy);
            if across {
                self.policies.publish_to(owner, &Event::TimerSkipped);
                continue;
            }
            self.policies.publish_to(owner, &Event::Timer(&self.estimates()));
            self.carry_out_actions();
        }
    }

    /// Carries out what policies have asked for: blocks wait for their planes, and the first of each that may be
    /// emptied is.
    #[cold]
    pub(super) fn carry_out_actions(&mut self) {
        let now = SimTime::from_ns(self.now);
        for (owner, action) in self.policies.take_pending() {
            let job = match action {
                Action::Relocate(job) => job,
                Action::SetTimer { after } => {
                    self.background.drive_wide.set_timer(owner, now, after);
                    continue;
                }
                // A page moves when it is read, and a block is classed when it is freed, or not at all.
                Action::MigratePage { .. } | Action::SetClass { .. } | Action::SetTurn { .. } => {
                    continue;
                }
            };
            let policy = owner.background();
            let erases = self.ftl.blocks.erases(job.block);
            let pages = u32::from(self.ftl.blocks.valid(job.block));
            let plane = self.geometry.plane_of(job.block);
            self.background.drive_wide.push(plane, Waiting { job, policy, erases, pages });
        }
        self.begin_all_waiting();
    }

    /// The full blocks that no job empties or is to empty, and how they are expected to read.
    fn estimates(&self) -> Vec<BlockEstimate> {
        let blocks = &self.ftl.blocks;
        let waiting = self.background.drive_wide.waiting.iter().flatten();
        let mut taken: Vec<BlockId> = waiting.map(|waiting| waiting.job.block).collect();
        taken.sort_unstable();
        let all = (0..self.geometry.block_count()).map(BlockId);
        let full = all.filter(|&block| blocks.state(block) == BlockState::Closed);
        full.filter(|block| taken.binary_search(block).is_err())
            .map(|block| BlockEstimate {
                block,
                priority: Priority::of_class(blocks.class(block)),
                valid: blocks.valid(block),
                expected: self.expected(block),
            })
            .collect()
    }

    /// The next job that waits for a plane on which none runs, if it may begin: not while wear is leveled
    /// across priorities, whose blocks a repair would give back.
    pub(super) fn next_waiting(&mut self, plane: PlaneId) -> Option<(BackgroundAt, Job)> {
        let (policy, job) = self.background.drive_wide.first(plane, &self.ftl.blocks)?;
        if self.ftl.alloc.free_blocks(plane) < MOVES_FREE_LEAST as usize || self.levels_across() {
            return None;
        }
        let pages = u32::from(self.ftl.blocks.valid(job.block));
        let owner = policy.map(|at| &mut self.policies.background[usize::from(at)]);
        if owner.is_some_and(|owner| !owner.may_start(pages)) {
            return None;
        }
        self.background.drive_wide.pop(plane);
        Some((policy, job))
    }

    /// Begins the first job that waits for each plane on which none runs, if it may.
    pub(super) fn begin_all_waiting(&mut self) {
        if self.background.drive_wide.waiting.iter().all(VecDeque::is_empty) {
            return;
        }
        for plane in (0..self.geometry.plane_count()).map(PlaneId) {
            if !self.background.jobs.collecting()[plane.index()]
                && let Some((policy, job)) = self.next_waiting(plane)
            {
                self.begin_job(plane, policy, job);
            }
        }
    }

    /// Starts the jobs that policies want for the drive as a whole.
    pub(super) fn start_drive_wide_jobs(&mut self) {
        if !self.background.drive_wide.is_drive_wide {
            return;
        }
        for at in 0..self.policies.background.len() {
            while self.policies.background[at].needs().is_drive_wide {
                let free = self.ftl.alloc.subpools().unwrap_or_default();
                self.background
                    .drive_wide
                    .coming
                    .resize(free.len().max(self.background.drive_wide.coming.len()), 0);
                let view = DriveView {
                    blocks: &self.ftl.blocks,
                    free: &free,
                    coming: &self.background.drive_wide.coming,
                    busy: self.background.jobs.collecting(),
                };
                let job = self.policies.background[at].drive_job(&view);
                let Some(job) = job.filter(|job| self.ftl.may_empty(job.block)) else { break };
                let plane = self.geometry.plane_of(job.block);
                self.begin_job(plane, Some(at as u8), job);
            }
        }
        let across = self.levels_across();
        self.ftl.alloc.level_across(across);
    }

    /// Tells the background policies of a job that has ended.
    pub(super) fn publish_ended_job(&mut self, ended: &Running) {
        let Running { job, moved, took, policy: owner, .. } = *ended;
        self.background.drive_wide.ends(&job);
        let waiting = self.background.drive_wide.pages_waiting;
        self.policies.publish_ended(EndedJob { job, moved, took, own: false, waiting }, owner);
    }

    /// Whether wear is leveled across priorities now.
    pub fn levels_across(&self) -> bool {
        self.policies.background.iter().any(|policy| policy.levels_across())
    }

    /// A page of the plane was written or became invalid: the background policies may want something.
    #[inline]
    pub(super) fn plane_changed(&mut self, plane: PlaneId) {
        let free = self.free(plane);
        if free < self.background.jobs.contents() && self.background.jobs.is_free(plane) {
            self.choose_job(plane, Trigger::Changed);
        }
    }

    /// A plane's job has ended: the background policies may want another, and some that wait may begin.
    pub(super) fn next_job(&mut self, plane: PlaneId) {
        // One for the drive as a whole may have begun.
        if self.background.jobs.is_free(plane) {
            self.choose_job(plane, Trigger::JobEnded);
        }
        self.begin_all_waiting();
    }

    /// Asks the background policies about a plane that no job runs on.
    #[inline(never)]
    pub(super) fn choose_job(&mut self, plane: PlaneId, trigger: Trigger) {
        let (ftl, view) = (&self.ftl, plane_view(&self.ftl, plane));
        let mut policies = (0..).zip(&mut self.policies.background);
        let job = policies.find_map(|(at, policy)| {
            let job = policy.job(trigger, &view).filter(|job| ftl.may_empty(job.block));
            Some((Some(at), job?))
        });
        let Some((policy, job)) = job.or_else(|| self.next_waiting(plane)) else {
            return;
        };
        self.begin_job(plane, policy, job);
    }

    /// How a block is expected to read now.
    pub(super) fn expected(&self, block: BlockId) -> Expected {
        let Some(estimates) = &self.policies.metadata.retry_estimates else {
            return Expected::default();
        };
        let now = self.flash.cells.time(self.now);
        let expected = estimates.expected(block, self.ftl.blocks.erases(block), now);
        if estimates.is_oracle() {
            Expected { retries: self.flash.cells.retries_of(block, self.now), ..expected }
        } else {
            expected
        }
    }
}
