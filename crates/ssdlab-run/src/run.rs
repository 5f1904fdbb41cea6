//! Several plans at once, each in a thread of its own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use ssdlab_base::Fault;
use ssdlab_core::audit::Pace;
use ssdlab_core::config::Preload;
use ssdlab_core::{Drive, Op};

use crate::plan::{Plan, Prepared};
use crate::precondition::{self, Settled};
use crate::replay::Replay;
use crate::result::{RunResult, Watch};
use crate::source::Feed;
use crate::state;

/// How far a plan has come, to be read from another thread.
#[derive(Debug, Default)]
pub struct Progress {
    /// Parts per million of the requests, of the preparation with the top bit set; or unknown.
    share: AtomicU64,
    requests: AtomicU64,
    finished: AtomicBool,
}

const PREPARING: u64 = 1 << 63;
const UNKNOWN: u64 = PREPARING - 1;

impl Progress {
    /// The replay has come this far.
    pub fn note(&self, share: Option<f64>, requests: u64) {
        let share = share.map_or(UNKNOWN, |share| (share * 1e6) as u64);
        self.share.store(share, Ordering::Relaxed);
        self.requests.store(requests, Ordering::Relaxed);
    }

    /// The drive is being written before the run, and this share of a capacity is done.
    pub fn preparing(&self, share: f64) {
        self.share.store((share * 1e6) as u64 | PREPARING, Ordering::Relaxed);
    }

    /// `(share done if that is known, requests done, still preparing, finished)`.
    pub fn read(&self) -> (Option<f64>, u64, bool, bool) {
        let share = self.share.load(Ordering::Relaxed);
        let requests = self.requests.load(Ordering::Relaxed);
        let finished = self.finished.load(Ordering::Relaxed);
        let done = (share != UNKNOWN).then_some((share & !PREPARING) as f64 / 1e6);
        (done, requests, share & PREPARING != 0, finished)
    }
}

/// The reins of a run that is under way in other threads.
#[derive(Debug, Default)]
pub struct Control {
    /// Set to stop: what was measured until then is returned, marked partial.
    pub stop: AtomicBool,
    /// How far each plan has come.
    pub progress: Vec<Progress>,
}

impl Control {
    /// Reins for this many plans.
    pub fn new(plans: usize) -> Control {
        let progress = (0..plans).map(|_| Progress::default()).collect();
        Control { stop: AtomicBool::new(false), progress }
    }
}

/// Runs every plan, `jobs` at a time; the results are in the order of the plans, whatever the
/// number of jobs, and `None` for a plan that was stopped before its run began. `control` must
/// have been made for as many plans.
///
/// # Errors
/// The first fault of any plan. All plans are checked before the first one runs.
pub fn run_all(
    plans: &[Plan],
    jobs: usize,
    control: &Control,
) -> Result<Vec<Option<RunResult>>, Fault> {
    let prepared: Vec<Prepared> = plans.iter().map(Plan::prepare).collect::<Result<_, _>>()?;
    // A trace that cannot be read is found before another plan has run for an hour.
    for plan in &prepared {
        Feed::open(plan, &mut Vec::new())?;
    }
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Result<Option<RunResult>, Fault>>> =
        prepared.iter().map(|_| Mutex::new(Ok(None))).collect();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, prepared.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(plan) = prepared.get(at) else { return };
                    let result = run_one(plan, control, &control.progress[at]);
                    if result.is_err() {
                        control.stop.store(true, Ordering::Relaxed);
                    }
                    control.progress[at].finished.store(true, Ordering::Relaxed);
                    *results[at].lock().expect("no thread panics while it holds a result") = result;
                }
            });
        }
    });
    let results = results.into_iter();
    results.map(|result| result.into_inner().expect("no thread panics with it")).collect()
}

/// Runs every plan as [`run_all`] does, with nobody at the reins.
///
/// # Errors
/// As [`run_all`].
pub fn run_uninterrupted(plans: &[Plan], jobs: usize) -> Result<Vec<RunResult>, Fault> {
    let results = run_all(plans, jobs, &Control::new(plans.len()))?;
    Ok(results.into_iter().flatten().collect())
}

fn run_one(
    prepared: &Prepared,
    control: &Control,
    progress: &Progress,
) -> Result<Option<RunResult>, Fault> {
    let watch = Watch::start();
    let mut remarks = Vec::new();
    let Some((mut drive, settled)) = set_up(prepared, control, progress)? else { return Ok(None) };
    prepared.check_footprint()?;
    let mut feed = Feed::open(prepared, &mut remarks)?;
    let ready = watch.elapsed();
    let course =
        Replay::new(&mut drive, prepared.warmup, control, progress).run(prepared, &mut feed)?;
    let looped = watch.elapsed() - ready;
    RunResult::new(prepared, &drive, &course, &feed, settled, remarks, (ready, looped)).map(Some)
}

/// The drive of a plan as it is when the run begins, and how it became steady if it was to; `None`
/// if it was stopped before that.
pub(crate) fn set_up(
    prepared: &Prepared,
    control: &Control,
    progress: &Progress,
) -> Result<Option<(Drive, Option<Settled>)>, Fault> {
    let mut drive = match &prepared.plan.state {
        Some(path) => state::drive_from(prepared, path)?,
        None => Drive::new(prepared.resolved.clone()),
    };
    if prepared.plan.paranoid {
        drive.watch(Pace::Affordable);
    }
    let seed = prepared.plan.seed;
    let mut settled = None;
    if prepared.steady {
        settled = precondition::steady(&mut drive, seed, control, progress);
        drive.reset_stats();
    }
    if prepared.resolved.config.start.preload == Preload::Footprint {
        lay_down_footprint(prepared, &mut drive)?;
    }
    let stopped = control.stop.load(Ordering::Relaxed);
    Ok((!stopped).then_some((drive, settled)))
}

/// Lays down every page that the workload reads before it writes it.
fn lay_down_footprint(prepared: &Prepared, drive: &mut Drive) -> Result<(), Fault> {
    let mut feed = Feed::open(prepared, &mut Vec::new())?;
    let pages = drive.resolved().logical_pages as usize;
    let sectors = u64::from(drive.resolved().geometry().sectors_per_page());
    let mut seen = vec![0u64; pages.div_ceil(64)];
    while let Some(record) = feed.next()? {
        if !matches!(op_of(&record), Op::Read | Op::Write) {
            continue;
        }
        let first = record.lba / sectors;
        let last = (record.lba + u64::from(record.sectors) - 1) / sectors;
        for page in first..=last {
            let (word, bit) = (page as usize / 64, 1 << (page % 64));
            if seen[word] & bit != 0 {
                continue;
            }
            seen[word] |= bit;
            if op_of(&record) == Op::Read && !drive.lay_down(page as u32) {
                return Err(feed.fault("a footprint that the drive cannot hold"));
            }
        }
    }
    Ok(())
}

fn op_of(record: &ssdlab_workload::Record) -> Op {
    crate::replay::op(record.op)
}
