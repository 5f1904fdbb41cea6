//! Replays requests on the drive in virtual time.
//!
//! Open loop: each request arrives at the time of its record. If its queue is full, it waits here
//! in the order of arrival. The replay offers it again whenever a request ends. Its latency counts
//! from its arrival. Closed loop: a fixed number of requests is kept outstanding, and each arrives
//! when it is submitted.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use ssdlab_base::{Fault, Nanos, SimTime};
use ssdlab_core::account::OpKind;
use ssdlab_core::{Completion, Drive, Refused, Request};
use ssdlab_workload::{Op, Record};

use crate::control::{Control, Progress};
use crate::deadlock::{DeadlockDetector, stalled};
use crate::feed::Feed;
use crate::need::Room;
use crate::observe::Observer;
use crate::prepare::{Prepared, Warmup};
use crate::result::{Course, ReplayResult};
use crate::settle::SettleMonitor;
use crate::source::op;

/// A replay in progress.
pub(crate) struct Replay<'a> {
    drive: &'a mut Drive,
    progress: &'a Progress,
    control: &'a Control,
    done: Vec<Completion>,
    waiting: Vec<VecDeque<Request>>,
    /// The number of requests in `waiting`.
    backlogged: usize,
    /// Requests that have arrived and not ended. `since` is the time of the last change of this
    /// number.
    in_system: u64,
    since: SimTime,
    warm: bool,
    warmup: Warmup,
    /// The share of worn-out blocks that ends the replays.
    until_worn: Option<f64>,
    /// The windows of the figure that ends the run once it has settled.
    settle: Option<SettleMonitor>,
    course: Course,
    /// Sectors of all requests up to the last check.
    probed_at: u64,
    /// Checks the memory for everything that accumulates.
    room: Room,
    sectors_per_page: u32,
    observer: Observer,
}

/// Requests between two checks of the stop flag.
const CHECK_EVERY: u64 = 1 << 12;
/// Sectors after which a check is due, even after fewer requests.
const CHECK_SECTORS: u64 = CHECK_EVERY << 8;

impl<'a> Replay<'a> {
    /// Creates a replay on this drive, from its present time on.
    pub(crate) fn new(
        drive: &'a mut Drive,
        warmup: Warmup,
        control: &'a Control,
        progress: &'a Progress,
        mut observer: Observer,
    ) -> Replay<'a> {
        let began = drive.now();
        let warm = warmup == Warmup::Requests(0) || warmup == Warmup::Time(Nanos::ZERO);
        if warm {
            observer.begin(drive);
        }
        let queues = drive.resolved().config.host.queues as usize;
        let sectors_per_page = drive.resolved().geometry().sectors_per_page();
        let room = Room::new(CHECK_EVERY as usize * 2 + pages_of(drive, CHECK_SECTORS));
        Replay {
            drive,
            progress,
            control,
            done: Vec::new(),
            waiting: vec![VecDeque::new(); queues],
            backlogged: 0,
            in_system: 0,
            since: began,
            warm,
            warmup,
            until_worn: None,
            settle: None,
            course: Course {
                began,
                zero: began,
                last_arrival: began,
                last_end: began,
                ..Course::default()
            },
            probed_at: 0,
            room,
            sectors_per_page,
            observer,
        }
    }

    /// Replays every request of the feed, once for each replay of the plan. The drive's statistics
    /// are those of the last replay.
    ///
    /// # Errors
    /// When the input of the feed is invalid, when the drive makes no progress, or when memory runs
    /// short.
    pub(crate) fn run(
        mut self,
        prepared: &Prepared,
        feed: &mut Feed,
    ) -> Result<(Course, Observer), Fault> {
        self.until_worn = prepared.until_worn;
        let repeats = prepared.plan.reads_traces();
        self.settle = prepared.until_settled.clone().map(|it| SettleMonitor::new(it, repeats));
        if let Some(settle) = self.settle.as_mut().filter(|_| self.warm) {
            settle.begin(self.drive);
        }
        loop {
            self.once(prepared, feed)?;
            if prepared.replays > 1 {
                let replay = ReplayResult::new(self.drive, &self.course);
                self.course.replays.push(replay);
            }
            let worn = self.until_worn.is_some_and(|share| self.drive.worn_out() >= share);
            self.course.never_worn = self.until_worn.filter(|_| !worn).and_then(|share| {
                let reached = self.drive.may_wear_out() >= share;
                match (reached, self.programmed()) {
                    (false, _) => Some("fewer blocks than that were not worn out at the start"),
                    (true, false) => Some("a replay programmed nothing"),
                    (true, true) => None,
                }
            });
            let settle = self.settle.as_mut().filter(|_| !self.course.partial);
            self.course.exhausted = settle.and_then(SettleMonitor::end_pass);
            let vain = self.course.never_worn.is_some() || self.course.exhausted.is_some();
            if self.course.partial || worn || vain || self.has_settled() {
                break;
            }
            if !feed.again(prepared)? {
                self.course.never_worn = self.until_worn.map(|_| "that was the last replay");
                break;
            }
            self.begin_next_replay();
        }
        self.course.settled = self.settle.take().map(SettleMonitor::into_result);
        self.course.residence += u128::from(self.in_system)
            * u128::from((self.drive.now().max(self.since) - self.since).as_ns());
        if prepared.plan.paranoid {
            self.check()?;
            self.check_the_end()?;
        }
        Ok((self.course, self.observer))
    }

    /// Replays the feed's requests once, until the last one has ended.
    fn once(&mut self, prepared: &Prepared, feed: &mut Feed) -> Result<(), Fault> {
        match prepared.plan.closed {
            None => self.open_loop(feed)?,
            Some(outstanding) => self.closed_loop(outstanding, feed)?,
        }
        self.course.backlog = self.in_system;
        if !self.warm {
            if !self.course.partial {
                return Err(self.never_warm(prepared, feed));
            }
            self.begin_statistics();
        }
        if self.course.partial { Ok(()) } else { self.wait(0) }
    }

    /// Begins the next replay on the drive as the last one left it.
    fn begin_next_replay(&mut self) {
        self.observer.before_reset(self.drive);
        if let Some(settle) = &mut self.settle {
            settle.before_reset(self.drive);
        }
        self.course.page_ops_before += self.page_ops();
        self.drive.reset_stats();
        let now = self.drive.now();
        let before = self.course.completed;
        let course = std::mem::take(&mut self.course);
        self.course = Course { before, began: now, last_arrival: now, last_end: now, ..course };
    }

    /// Returns an error if the drive's auditor found a violation.
    fn check(&self) -> Result<(), Fault> {
        match self.drive.violation() {
            None => Ok(()),
            Some(what) => Err(internal(what)),
        }
    }

    /// Checks the invariants of an idle drive, and Little's law, which holds exactly here.
    fn check_the_end(&self) -> Result<(), Fault> {
        self.drive.audit().map_err(|what| internal(&what))?;
        let Course { latency_sum, residence, partial, .. } = self.course;
        if partial || latency_sum == residence {
            return Ok(());
        }
        let what = format!("latencies sum to {latency_sum} ns, requests were there {residence} ns");
        Err(internal(&what))
    }

    fn open_loop(&mut self, feed: &mut Feed) -> Result<(), Fault> {
        while let Some(record) = feed.next()? {
            let arrival = self.course.began + record.at;
            self.look_ahead(feed);
            self.run_to(arrival);
            self.make_room(&record)?;
            self.warm_up(feed.handed_out() - 1, arrival);
            self.arrive(request(feed.handed_out() - 1, arrival, &record));
            self.check()?;
            if self.must_stop(feed)? || self.has_settled() {
                return Ok(());
            }
        }
        self.was_stopped();
        Ok(())
    }

    fn closed_loop(&mut self, outstanding: u32, feed: &mut Feed) -> Result<(), Fault> {
        while let Some(record) = feed.next()? {
            self.look_ahead(feed);
            self.wait(u64::from(outstanding) - 1)?;
            if self.course.partial {
                return Ok(());
            }
            self.make_room(&record)?;
            let now = self.drive.now();
            self.warm_up(feed.handed_out() - 1, now);
            self.arrive(request(feed.handed_out() - 1, now, &record));
            self.check()?;
            if self.must_stop(feed)? || self.has_settled() {
                return Ok(());
            }
        }
        self.was_stopped();
        Ok(())
    }

    /// Checks that memory suffices for the pages that a request reaches. For a very large request,
    /// it also checks the memory for its operations.
    fn make_room(&mut self, record: &Record) -> Result<(), Fault> {
        self.room.touch(1 + u64::from(record.sectors / self.sectors_per_page))?;
        let sectors = u64::from(record.sectors);
        if sectors < CHECK_SECTORS {
            return Ok(());
        }
        let (observer, pages) = (&self.observer, pages_of(self.drive, sectors));
        self.room.check(&self.waiting, self.drive, pages, || observer.growth())
    }

    /// Checks that memory suffices until the next check.
    fn check_room(&mut self) -> Result<(), Fault> {
        let observer = &self.observer;
        self.room.check(&self.waiting, self.drive, 0, || observer.growth())
    }

    /// Marks the run as partial if the requests ended because of a stop.
    fn was_stopped(&mut self) {
        self.course.partial |= self.control.stop.load(Ordering::Relaxed);
    }

    /// Announces the next requests to the drive, so that it can prefetch their data structures.
    fn look_ahead(&self, feed: &Feed) {
        let [next, after] = feed.soon();
        if let Some(after) = after {
            self.drive.prefetch(after.lba, after.sectors);
        }
        if let Some(next) = next.filter(|next| next.op == Op::Read) {
            self.drive.prefetch_read(next.lba, next.sectors);
        }
    }

    /// Begins the statistics at the end of the warm-up.
    fn warm_up(&mut self, before: u64, now: SimTime) {
        if self.warm {
            return;
        }
        self.warm = match self.warmup {
            Warmup::Requests(requests) => before >= requests,
            Warmup::Time(span) => now >= self.course.began + span,
        };
        if self.warm {
            self.begin_statistics();
        }
    }

    fn begin_statistics(&mut self) {
        self.course.page_ops_before = self.page_ops();
        self.drive.reset_stats();
        self.observer.begin(self.drive);
        if let Some(settle) = &mut self.settle {
            settle.begin(self.drive);
        }
    }

    /// Returns whether the figure that ends the run has settled.
    fn has_settled(&self) -> bool {
        self.settle.as_ref().is_some_and(SettleMonitor::has_settled)
    }

    /// Returns whether any page was programmed since the statistics began.
    fn programmed(&self) -> bool {
        self.drive.flash().counts.ops()[OpKind::Program as usize].iter().any(|&count| count > 0)
    }

    /// Returns the page operations since the statistics began.
    fn page_ops(&self) -> u64 {
        let ops = self.drive.flash().counts.ops();
        [OpKind::Read, OpKind::Program].iter().flat_map(|&kind| ops[kind as usize].iter()).sum()
    }

    fn must_stop(&mut self, feed: &Feed) -> Result<bool, Fault> {
        let sectors = self.course.sectors - self.probed_at;
        if !feed.handed_out().is_multiple_of(CHECK_EVERY) && sectors < CHECK_SECTORS {
            return Ok(false);
        }
        self.probed_at = self.course.sectors;
        self.check_room()?;
        self.observer.drain_log(self.drive);
        let done = match self.until_worn {
            Some(share) => Some((self.drive.worn_out() / share).min(1.0)),
            // How long a figure takes to settle is not known.
            None if self.settle.is_some() => None,
            None => feed.progress(),
        };
        self.progress.note(done, feed.handed_out());
        self.course.partial = self.is_stopped();
        Ok(self.course.partial)
    }

    /// Adds the time since the last change of the number of requests in the system.
    fn count_residence(&mut self, now: SimTime) {
        let span = u128::from((now - self.since).as_ns());
        self.course.residence += u128::from(self.in_system) * span;
        self.since = now;
    }

    fn arrive(&mut self, request: Request) {
        self.course.sectors += u64::from(request.sectors);
        self.count_residence(request.arrival);
        self.in_system += 1;
        self.course.last_arrival = request.arrival;
        let queue = request.queue as usize;
        if self.waiting[queue].is_empty() && self.offer(request) {
            return;
        }
        self.waiting[queue].push_back(request);
        self.backlogged += 1;
    }

    /// Submits a request now; false if its queue is full.
    fn offer(&mut self, request: Request) -> bool {
        match self.drive.submit(self.drive.now().max(request.arrival), request) {
            Ok(()) => true,
            Err(Refused::Full) => false,
            Err(Refused::OutOfRange) => unreachable!("the feed gives what lies on the drive"),
        }
    }

    /// Advances the drive to `to`, and closes the intervals that end on the way.
    fn run_to(&mut self, to: SimTime) {
        if self.observer.due() <= to {
            self.observer.check_rows_until(to);
        }
        while self.observer.due() <= to {
            self.end_interval();
        }
        self.go_on(to);
    }

    /// Advances the drive to the end of the open interval and closes it.
    fn end_interval(&mut self) {
        self.go_on(SimTime::from_ns(self.observer.due().as_ns() - 1));
        self.observer.close(self.drive, self.in_system);
    }

    fn go_on(&mut self, to: SimTime) {
        while self.backlogged > 0 {
            if !self.drive.advance_once(to, &mut self.done) {
                break;
            }
            self.count_completions();
        }
        self.drive.advance(to, &mut self.done);
        self.count_completions();
    }

    /// Handles the next event or the end of an interval; false if there is neither.
    fn step(&mut self) -> bool {
        let Some(next) = self.drive.next_event() else { return false };
        if self.observer.due() <= next {
            self.end_interval();
            return true;
        }
        self.drive.advance_once(next, &mut self.done);
        self.count_completions();
        true
    }

    /// Waits until at most `most` requests are in the system, or until stopped.
    fn wait(&mut self, most: u64) -> Result<(), Fault> {
        let mut detector = DeadlockDetector::default();
        while self.in_system > most {
            if !self.step() {
                return Err(stalled(self.in_system));
            }
            if detector.event() {
                detector.check(self.drive)?;
                // A timeline still grows while the drive finishes a backlog.
                self.check_room()?;
                self.poll();
                if self.course.partial {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Records the requests in the drive's log, and checks the stop flag.
    #[cold]
    fn poll(&mut self) {
        // Otherwise the drive's log would grow with a long backlog.
        self.observer.drain_log(self.drive);
        self.course.partial = self.is_stopped();
    }

    /// Returns whether the run must end early. A file that cannot be written ends it, too: the user
    /// would otherwise learn of it only after hours.
    fn is_stopped(&self) -> bool {
        self.control.stop.load(Ordering::Relaxed) || self.observer.is_broken()
    }

    /// Returns the fault for a warm-up that is longer than the run.
    fn never_warm(&self, prepared: &Prepared, feed: &Feed) -> Fault {
        let got = prepared.plan.warmup.clone().unwrap_or_default();
        let span = (self.course.last_arrival - self.course.began).as_secs();
        Fault::new("--warmup", "longer than the run").got(got).expected(format!(
            "less than the run's {} requests over {span:.3} s",
            feed.handed_out()
        ))
    }

    /// Counts the completions, and offers waiting requests to the drive.
    fn count_completions(&mut self) {
        for at in 0..self.done.len() {
            let completion = self.done[at];
            self.count_residence(completion.end);
            self.in_system -= 1;
            self.course.completed += 1;
            self.course.last_end = completion.end;
            self.course.latency_sum += u128::from((completion.end - completion.arrival).as_ns());
            if let Some(settle) = &mut self.settle {
                settle.count(self.drive, &completion);
            }
        }
        if self.backlogged > 0 && !self.done.is_empty() {
            self.offer_waiting();
        }
        self.done.clear();
    }

    fn offer_waiting(&mut self) {
        for queue in 0..self.waiting.len() {
            while let Some(&request) = self.waiting[queue].front() {
                if !self.offer(request) {
                    break;
                }
                self.waiting[queue].pop_front();
                self.backlogged -= 1;
            }
        }
    }
}

/// Returns the most pages that this many consecutive sectors touch.
fn pages_of(drive: &Drive, sectors: u64) -> usize {
    (sectors / u64::from(drive.resolved().geometry().sectors_per_page())) as usize + 2
}

/// Returns the fault for a bug in ssdlab.
fn internal(what: &str) -> Fault {
    Fault::new("", "internal: the drive contradicts itself").got(what)
}

fn request(tag: u64, arrival: SimTime, record: &Record) -> Request {
    Request {
        tag,
        arrival,
        op: op(record.op),
        lba: record.lba,
        sectors: record.sectors,
        queue: record.queue,
        hint: record.hint,
    }
}
