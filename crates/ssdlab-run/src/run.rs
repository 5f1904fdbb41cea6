//! Several plans at once, each in a thread of its own beside that of its requests.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ssdlab_base::Fault;

use crate::control::{Control, Progress};
use crate::doubts;
use crate::feed::Feed;
use crate::observe::Observer;
use crate::plan::{Plan, with_pipes_read};
use crate::prepare::Prepared;
use crate::replay::Replay;
use crate::result::{RunResult, Watch};
use crate::setup::{Begun, lay_down_footprint, rehearse, set_up, tell_heat};
use crate::sharing::{starts, traces};
use crate::source::Requests;

/// Runs every plan, `jobs` at a time, or as many as there are cores and memory for. The results are in the
/// order of the plans, whatever the number of jobs, and `None` for a plan that was stopped before its run
/// began. `control` must have been made for as many plans.
///
/// # Errors
/// The first fault of any plan. All plans are checked before the first one runs.
pub fn run_all(
    plans: &[Plan],
    jobs: Option<usize>,
    control: &Control,
) -> Result<Vec<Option<RunResult>>, Fault> {
    let plans = &*with_pipes_read(plans)?;
    let mut prepared: Vec<Prepared> = plans.iter().map(Plan::prepare).collect::<Result<_, _>>()?;
    let jobs = jobs.unwrap_or_else(|| starts::at_a_time(&prepared));
    for plan in &mut prepared {
        plan.workload.trace.stop = control.stop();
    }
    if !traces::lay_out(&prepared, control)? {
        return Ok(plans.iter().map(|_| None).collect());
    }
    traces::share(&mut prepared);
    let order = starts::share(&mut prepared, jobs);
    // A trace that cannot be read is found before another plan has run for an hour.
    for plan in &prepared {
        Requests::open(plan, &mut Vec::new())?;
    }
    control.keep();
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Result<Option<RunResult>, Fault>>> =
        prepared.iter().map(|_| Mutex::new(Ok(None))).collect();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, prepared.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let Some(&at) = order.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                    let result = run_one(&prepared[at], control, &control.progress[at]);
                    if result.is_err() {
                        control.stop.store(true, Ordering::Relaxed);
                    }
                    control.progress[at].finish();
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
    let results = run_all(plans, Some(jobs), &Control::new(plans.len()))?;
    Ok(results.into_iter().flatten().collect())
}

/// How many of these plans, the largest of them, can run at a time: as there are cores and memory.
///
/// # Errors
/// The first fault of any plan.
pub fn at_a_time(plans: &[Plan]) -> Result<usize, Fault> {
    let plans = with_pipes_read(plans)?;
    Ok(starts::at_a_time(&plans.iter().map(Plan::prepare).collect::<Result<Vec<_>, _>>()?))
}

fn run_one(
    prepared: &Prepared,
    control: &Control,
    progress: &Progress,
) -> Result<Option<RunResult>, Fault> {
    if control.stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let watch = Watch::start();
    let mut remarks: Vec<String> = doubts::of_start(prepared)?.into_iter().collect();
    remarks.extend(doubts::of_clock(prepared));
    remarks.extend(prepared.shared.begins_alone.clone());
    let Some(begun) = set_up(prepared, control, progress)? else { return Ok(None) };
    let Begun { mut drive, settled, copied } = begun;
    tell_heat(prepared, &mut drive, control)?;
    if drive.goes_unrehearsed() {
        let what = "belief.hotness.buffer.preload = \"classified\": there was no first pass of the workload";
        let why =
            "the drive was written before, which taught it what its pages are and programmed them";
        remarks.push(format!("{what}: {why}"));
    }
    rehearse(prepared, &mut drive, control)?;
    lay_down_footprint(prepared, &mut drive, control)?;
    if control.stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    prepared.check_footprint()?;
    let mut feed = Feed::open(prepared, &mut remarks)?;
    let ready = watch.elapsed();
    let observer = Observer::new(prepared)?;
    if prepared.plan.timeline.is_none() {
        drive.foresee();
    }
    let replay = Replay::new(&mut drive, prepared.warmup, control, progress, observer);
    let run = replay.run(prepared, &mut feed);
    let looped = watch.elapsed() - ready;
    let requests = feed.end();
    let (course, observer) = run?;
    remarks.extend(requests.source().doubts());
    let by_priority = prepared.resolved.config.belief.grade.by_priority();
    if drive.counts_reads() && !by_priority && drive.blocks_apart() == 0 {
        let blocks = prepared.resolved.geometry().blocks;
        let what = "no block is set apart, so that no page can move";
        let why = "data and belief.grade.measured.apart leave none";
        remarks.push(format!("{what}: of a plane's {blocks} {why}"));
    }
    if let Some(why) = course.never_worn {
        let last = course.replays.len();
        remarks.push(format!("--until-worn was given up after replay {last}: {why}"));
    }
    remarks.extend(doubts::of_hints(prepared, requests.seen.hinted));
    let mut result =
        RunResult::new(prepared, &drive, &course, &requests, settled, remarks, (ready, looped))?;
    result.sim.start_copied = copied;
    result.workload = result.provenance.workload(result.workload);
    let mut about = result.provenance.about();
    about.push(("workload", result.workload.clone()));
    // What has not ended at the end of a run: of one that ran to its end, nothing.
    let unfinished = if course.partial { course.backlog } else { 0 };
    result.detail = observer.finish(&mut drive, unfinished, &about, &mut result.remarks)?;
    Ok(Some(result))
}
