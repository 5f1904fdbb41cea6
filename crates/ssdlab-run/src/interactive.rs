//! A drive under manual control: the caller submits requests one by one and advances the time.

use std::collections::BTreeMap;

use serde::Serialize;
use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_base::{Bytes, Fault, SimTime};
use ssdlab_core::account::Part;
use ssdlab_core::stats::Ended;
use ssdlab_core::{Drive, Op, Refused, Request};
use ssdlab_workload::{MAX_HINT, MAX_REQUEST, MAX_TRIM};

use crate::control::Control;
use crate::deadlock;
use crate::need::{self, Room};
use crate::plan::Plan;
use crate::result::ops;
use crate::setup::{program_start, set_up_for};
use crate::source::LATEST;

/// A drive under manual control. Times are the drive's, in nanoseconds.
pub struct InteractiveDrive {
    drive: Drive,
    next: u64,
    rows: Vec<Ended>,
    room: Room,
}

/// A request that has ended.
#[derive(Clone, Debug, Serialize)]
pub struct Done {
    /// Its number, which `submit` returned.
    pub number: u64,
    /// Its operation.
    pub op: &'static str,
    /// Its submission queue.
    pub queue: u8,
    /// Its first sector.
    pub lba: u64,
    /// Its length in sectors.
    pub sectors: u32,
    /// When it arrived.
    pub arrival_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// The parts of its latency in nanoseconds. Parts of zero are left out.
    pub blame_ns: BTreeMap<&'static str, u64>,
}

/// Figures of a drive so far.
#[derive(Clone, Debug, Serialize)]
pub struct DriveCounts {
    /// Requests that have not ended.
    pub unfinished: u32,
    /// Write amplification: pages programmed in all, divided by those programmed for the host; null
    /// if the host programmed none.
    pub waf: Option<f64>,
    /// Flash operations by kind and cause.
    pub ops: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// Attempts of reads after the first attempt.
    pub retries: u64,
    /// Blocks that garbage collection emptied.
    pub gc_blocks: u64,
    /// Valid pages that garbage collection moved.
    pub gc_pages: u64,
    /// Logical pages that hold data.
    pub mapped_pages: u32,
}

/// A request of the caller.
#[derive(Clone, Copy, Debug)]
pub struct Submission<'a> {
    /// `read`, `write`, `trim` or `flush`.
    pub op: &'a str,
    /// The first sector; ignored for a flush.
    pub lba: u64,
    /// The length in sectors; ignored for a flush.
    pub sectors: u32,
    /// The arrival time in nanoseconds; absent for now.
    pub at_ns: Option<u64>,
    /// The submission queue.
    pub queue: u8,
    /// The latency hint.
    pub hint: u8,
}

impl InteractiveDrive {
    /// Creates the drive of a plan in its start state.
    ///
    /// # Errors
    /// When the plan is invalid, or sets an option that only a run has: a workload or an output.
    pub fn new(plan: &Plan) -> Result<InteractiveDrive, Fault> {
        let of_runs = [
            ("trace", plan.trace.is_some()),
            ("workload", plan.workload.is_some()),
            ("mix", !plan.mix.is_empty()),
            ("limit", plan.limit.is_some()),
            ("warmup", plan.warmup.is_some()),
            ("time_scale", plan.time_scale.is_some()),
            ("closed", plan.closed.is_some()),
            ("wrap", plan.wrap),
            ("detail", plan.detail),
            ("log", plan.log.is_some()),
            ("series", plan.series.is_some()),
            ("timeline", plan.timeline.is_some()),
        ];
        if let Some((name, _)) = of_runs.into_iter().find(|(_, is_set)| *is_set) {
            return Err(Fault::new(name, "an option of runs")
                .expected("no such option: the caller submits the requests of this drive"));
        }
        let prepared = plan.prepare()?;
        need::check(std::slice::from_ref(&prepared), None)?;
        let control = Control::new(1);
        // The caller submits the requests. The workload in the config is not used, so it sets no
        // tenants.
        let ready = set_up_for(|| Ok(Vec::new()), &prepared, &control, &control.progress[0])?;
        let mut drive = ready.expect("nobody stops it").drive;
        program_start(&prepared, &mut drive);
        drive.keep_log();
        Ok(InteractiveDrive { drive, next: 0, rows: Vec::new(), room: Room::new(0) })
    }

    /// Returns the number of sectors that the host can address.
    pub fn sectors(&self) -> u64 {
        self.drive.resolved().sectors()
    }

    /// Returns the present time of the drive.
    pub fn now_ns(&self) -> u64 {
        self.drive.now().as_ns()
    }

    /// Returns the time of the drive's next event; `None` when the drive is idle.
    pub fn next_event_ns(&self) -> Option<u64> {
        self.drive.next_event().map(SimTime::as_ns)
    }

    /// Advances the drive to the arrival time and submits a request. Returns its number, or `None`
    /// if its queue is full.
    ///
    /// # Errors
    /// When the request is invalid, lies beyond the drive, or arrives in the past or too late.
    pub fn submit(&mut self, submission: Submission<'_>) -> Result<Option<u64>, Fault> {
        if submission.hint > MAX_HINT {
            let fault = Fault::new("hint", "no such hint").got(submission.hint);
            return Err(fault.expected(format!("0 (none) to {MAX_HINT} (long)")));
        }
        let op = Op::ALL.into_iter().find(|op| op.name() == submission.op).ok_or_else(|| {
            Fault::new("op", "unknown operation")
                .got(format!("{:?}", submission.op))
                .expected(Op::NAMES.join(", "))
                .suggest(submission.op, Op::NAMES)
        })?;
        let now = self.now_ns();
        let at = submission.at_ns.unwrap_or(now);
        if at < now {
            return Err(Fault::new("at_ns", "an arrival in the past")
                .got(at)
                .expected(format!("at least the drive's time, {now}")));
        }
        if at > LATEST.as_ns() {
            let fault = Fault::new("at_ns", "an arrival too late to simulate").got(at);
            return Err(fault.expected(format!("at most {}", LATEST.as_ns())));
        }
        if op != Op::Flush {
            self.check_size(op, submission.sectors)?;
        }
        self.go_on(SimTime::from_ns(at));
        let request = Request {
            tag: self.next,
            arrival: SimTime::from_ns(at),
            op,
            lba: if op == Op::Flush { 0 } else { submission.lba },
            sectors: if op == Op::Flush { 0 } else { submission.sectors },
            queue: submission.queue,
            hint: submission.hint,
        };
        match self.drive.submit(request.arrival, request) {
            Ok(()) => {
                self.next += 1;
                Ok(Some(request.tag))
            }
            Err(Refused::Full) => Ok(None),
            Err(Refused::OutOfRange) => Err(Fault::new("request", "does not lie on the drive")
                .got(format!(
                    "{} sectors from {} in queue {}",
                    submission.sectors, submission.lba, submission.queue
                ))
                .expected(format!(
                    "at least 1 sector, all below {}, in a queue below {}",
                    self.sectors(),
                    self.drive.resolved().config.host.queues
                ))),
        }
    }

    /// Refuses a request that is larger than the limit of a request, or than free memory.
    fn check_size(&mut self, op: Op, sectors: u32) -> Result<(), Fault> {
        let (size, most) = (
            Bytes::new(u64::from(sectors) * SECTOR_BYTES),
            if op == Op::Trim { MAX_TRIM } else { MAX_REQUEST },
        );
        if size > most {
            let fault = Fault::new("sectors", "a request too large").got(sectors);
            let expected = format!("at most {}, {most}", most.get() / SECTOR_BYTES);
            return Err(fault.expected(expected));
        }
        let pages = sectors / self.drive.resolved().geometry().sectors_per_page() + 2;
        self.room.touch(pages.into())?;
        self.room.check(&[], &self.drive, pages as usize, || 0)
    }

    /// Advances the drive up to and including a time, or until it is idle. Returns the requests
    /// that ended since the last call, in the order of their ends.
    ///
    /// # Errors
    /// When the time has passed or is too late, or when the drive gains no free space.
    pub fn advance(&mut self, to_ns: Option<u64>) -> Result<Vec<Done>, Fault> {
        let now = self.now_ns();
        match to_ns {
            Some(to) if to < now => {
                return Err(Fault::new("until_ns", "a moment in the past")
                    .got(to)
                    .expected(format!("at least the drive's time, {now}")));
            }
            Some(to) if to > LATEST.as_ns() => {
                let fault = Fault::new("until_ns", "a moment too late to simulate").got(to);
                return Err(fault.expected(format!("at most {}", LATEST.as_ns())));
            }
            Some(to) => self.go_on(SimTime::from_ns(to)),
            None => deadlock::finish(&mut self.drive, &mut Vec::new())?,
        }
        self.drive.take_log(&mut self.rows);
        Ok(self.rows.drain(..).map(|ended| done(&ended)).collect())
    }

    fn go_on(&mut self, to: SimTime) {
        // The drive's log records these completions in more detail.
        self.drive.advance(to, &mut Vec::new());
    }

    /// Returns the figures of the drive so far.
    pub fn counts(&self) -> DriveCounts {
        let stats = self.drive.stats();
        DriveCounts {
            unfinished: self.drive.unfinished(),
            waf: self.drive.write_amplification(),
            ops: ops(&self.drive),
            retries: self.drive.flash().error_counts().0,
            gc_blocks: stats.gc.0,
            gc_pages: stats.gc.1,
            mapped_pages: self.drive.ftl().map.mapped(),
        }
    }
}

fn done(ended: &Ended) -> Done {
    let request = &ended.request;
    let parts = Part::NAMES.into_iter().zip(ended.blame).filter(|(_, ns)| *ns > 0);
    Done {
        number: request.tag,
        op: request.op.name(),
        queue: request.queue,
        lba: request.lba,
        sectors: request.sectors,
        arrival_ns: request.arrival.as_ns(),
        end_ns: ended.end.as_ns(),
        blame_ns: parts.collect(),
    }
}
