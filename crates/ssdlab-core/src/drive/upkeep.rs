//! What is done for the drive as a whole: jobs that wait for their planes, and rounds by the clock.

use std::collections::VecDeque;

use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::{BlockId, PlaneId};

use super::Drive;
use crate::ftl::{BlockState, BlockTable};
use crate::policy::tend::{DriveView, EndedJob, Graded, Job, Repairs, TendPolicy};
use crate::slots::Tend;

/// A job that waits until its plane is free.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    job: Job,
    tender: u8,
    /// P/E cycles of its block when it was wanted: a block that has been erased since is another one.
    erases: u32,
}

/// When a tender's next round is.
#[derive(Clone, Copy, Debug)]
struct Due {
    tender: u8,
    at: SimTime,
    /// In the run's time.
    interval: Nanos,
}

/// Jobs and rounds of tenders that mind the drive as a whole.
#[derive(Clone, Debug)]
pub struct Upkeep {
    minds_all: bool,
    /// By plane; empty if no tender minds the drive as a whole.
    waiting: Box<[VecDeque<Waiting>]>,
    /// By plane, whether a job waits or runs.
    busy: Box<[bool]>,
    /// Jobs under way and waiting from which each priority gains a block.
    coming: Vec<u32>,
    due: Vec<Due>,
    /// Whether it is asking: what a tender wants may free or open blocks.
    asking: bool,
}

impl Upkeep {
    /// Nothing to do as yet; in the cells `time_scale` times as much time passes as in the run.
    pub fn new(tenders: &[Tend], planes: u32, time_scale: u32) -> Upkeep {
        let due = (0..).zip(tenders).filter_map(|(tender, policy)| {
            let interval = Nanos::from_ns(policy.interval()?.as_ns() / u64::from(time_scale));
            Some(Due { tender, at: SimTime::from_ns(0) + interval, interval })
        });
        let due: Vec<Due> = due.collect();
        let minds_all = tenders.iter().any(TendPolicy::minds_all);
        let planes = if minds_all || !due.is_empty() { planes as usize } else { 0 };
        Upkeep {
            minds_all,
            waiting: vec![VecDeque::new(); planes].into_boxed_slice(),
            busy: vec![false; planes].into_boxed_slice(),
            coming: Vec::new(),
            due,
            asking: false,
        }
    }

    /// Whether a tender minds the drive as a whole.
    #[inline]
    pub fn minds_all(&self) -> bool {
        self.minds_all
    }

    fn gains(&mut self, priority: u8) -> &mut u32 {
        let at = usize::from(priority);
        if self.coming.len() <= at {
            self.coming.resize(at + 1, 0);
        }
        &mut self.coming[at]
    }

    fn wait(&mut self, plane: PlaneId, waiting: Waiting) {
        if let Some(priority) = waiting.job.gains {
            *self.gains(priority) += 1;
        }
        self.busy[plane.index()] = true;
        self.waiting[plane.index()].push_back(waiting);
    }

    /// The next job that waits for a plane, which is free; those whose block is no longer what it was are
    /// dropped.
    pub fn next(&mut self, plane: PlaneId, blocks: &BlockTable) -> Option<(u8, Job)> {
        loop {
            let Waiting { job, tender, erases } =
                self.waiting.get_mut(plane.index())?.pop_front()?;
            if let Some(priority) = job.gains {
                // It counts again once it begins.
                *self.gains(priority) -= 1;
            }
            let same = blocks.erases(job.block) == erases;
            if same && blocks.state(job.block) == BlockState::Closed {
                return Some((tender, job));
            }
        }
    }

    /// A job begins on a plane.
    pub fn begins(&mut self, plane: PlaneId, job: &Job) {
        if let Some(busy) = self.busy.get_mut(plane.index()) {
            *busy = true;
        }
        if let Some(priority) = job.gains {
            *self.gains(priority) += 1;
        }
    }

    /// A job has ended on a plane.
    fn ends(&mut self, plane: PlaneId, job: &Job) {
        if let Some(priority) = job.gains {
            *self.gains(priority) -= 1;
        }
        if let Some(busy) = self.busy.get_mut(plane.index()) {
            *busy = !self.waiting[plane.index()].is_empty();
        }
    }
}

impl Drive {
    /// When the next round is. It is no event that the drive would announce: an idle drive stays idle, and
    /// the rounds that have come due are made up for when time goes on.
    #[inline]
    pub(super) fn next_round(&self) -> SimTime {
        self.upkeep.due.iter().map(|due| due.at).min().unwrap_or(SimTime::NEVER)
    }

    /// Holds the rounds that are due now.
    #[cold]
    pub(super) fn round(&mut self) {
        let across = self.levels_across();
        let graded = if across { Vec::new() } else { self.graded() };
        let now = SimTime::from_ns(self.now);
        for at in 0..self.upkeep.due.len() {
            let due = &mut self.upkeep.due[at];
            if due.at > now {
                continue;
            }
            due.at = due.at + due.interval;
            let tender = due.tender;
            let policy = &mut self.answers.tend[usize::from(tender)];
            if across {
                policy.round_left_out();
                continue;
            }
            let mut jobs = Vec::new();
            policy.round(&graded, &mut jobs);
            jobs.into_iter().for_each(|job| self.take_on(tender, job));
        }
    }

    /// The full blocks that no job empties or is to empty, and how they are expected to read.
    fn graded(&self) -> Vec<Graded> {
        let blocks = &self.ftl.blocks;
        let waiting = self.upkeep.waiting.iter().flatten();
        let mut taken: Vec<BlockId> = waiting.map(|waiting| waiting.job.block).collect();
        taken.sort_unstable();
        let all = (0..self.geometry.block_count()).map(BlockId);
        let full = all.filter(|&block| blocks.state(block) == BlockState::Closed);
        full.filter(|block| taken.binary_search(block).is_err())
            .map(|block| Graded {
                block,
                priority: blocks.class(block),
                expected: self.expected(block),
            })
            .collect()
    }

    /// A job begins if its plane is free, and else waits.
    fn take_on(&mut self, tender: u8, job: Job) {
        let plane = self.geometry.plane_of(job.block);
        if !self.jobs.collecting()[plane.index()] {
            return self.begin_job(plane, tender, job);
        }
        let erases = self.ftl.blocks.erases(job.block);
        self.upkeep.wait(plane, Waiting { job, tender, erases });
    }

    /// Asks those who mind the drive as a whole what is to be done.
    pub(super) fn mind_all(&mut self) {
        if !self.upkeep.minds_all || std::mem::replace(&mut self.upkeep.asking, true) {
            return;
        }
        let mut tenders = std::mem::take(&mut self.answers.tend);
        for (tender, policy) in (0..).zip(&mut tenders).filter(|(_, policy)| policy.minds_all()) {
            loop {
                let free = self.ftl.alloc.subpools().unwrap_or_default();
                self.upkeep.coming.resize(free.len().max(self.upkeep.coming.len()), 0);
                let view = DriveView {
                    blocks: &self.ftl.blocks,
                    free: &free,
                    coming: &self.upkeep.coming,
                    busy: &self.upkeep.busy,
                };
                let Some(job) = policy.job_anywhere(&view) else { break };
                self.take_on(tender, job);
            }
        }
        self.answers.tend = tenders;
        let across = self.levels_across();
        self.ftl.alloc.level_across(across);
        self.upkeep.asking = false;
    }

    /// Tells the tenders of a job that has ended.
    pub(super) fn tell_tenders(&mut self, plane: PlaneId, tender: u8, job: &Job, moved: u32) {
        self.upkeep.ends(plane, job);
        for (at, policy) in (0..).zip(&mut self.answers.tend) {
            policy.ended(&EndedJob { job: *job, moved, own: at == tender });
        }
    }

    /// Whether wear is levelled across priorities now.
    pub fn levels_across(&self) -> bool {
        self.answers.tend.iter().any(TendPolicy::levels_across)
    }

    /// What was repaired of blocks of one priority that were worse than those of a lower one, if anybody
    /// looks for them.
    pub fn repairs(&self) -> Option<Repairs> {
        self.answers.tend.iter().find_map(TendPolicy::repairs)
    }
}
