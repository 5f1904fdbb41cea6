//! Runs several plans in parallel. Each has one thread, and one more that reads its requests.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ssdlab_base::Fault;
use ssdlab_base::threads::in_up_to;

use crate::control::{Control, Progress};
use crate::feed::Feed;
use crate::need;
use crate::observe::Observer;
use crate::plan::{Plan, with_pipes_read};
use crate::prepare::{Prepared, prepare_all};
use crate::replay::Replay;
use crate::result::{Course, RunResult, Stopwatch};
use crate::series_length;
use crate::settle::{Exhausted, SettledFigure};
use crate::setup::{Begun, prefill_footprint, publish_uses, run_first_pass, set_up};
use crate::sharing::{starts, traces};
use crate::source::Requests;
use crate::warnings;

/// The outcome of several plans.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The results, in the order of the plans. `None` stands for a plan that was stopped before its
    /// run began, or that a fault ended.
    pub results: Vec<Option<RunResult>>,
    /// The first fault of any run. Results that were complete by then remain. So does the result of
    /// a run that could not write one of its files. Runs that the fault stopped have no result.
    pub fault: Option<Fault>,
}

/// The share of a drive's data that may be new in the counted windows of a settled figure.
const FILLING: f64 = 0.01;

/// A result, and the fault of a file that could not be written.
type Ran = (RunResult, Option<Fault>);

/// Runs every plan, `jobs` at a time. Without `jobs`, it runs as many as cores and memory allow.
/// The results do not depend on the number of jobs. `control` must have been made for as many
/// plans.
///
/// # Errors
/// The first fault found before the first run. All plans are checked then.
pub fn run_all(plans: &[Plan], jobs: Option<usize>, control: &Control) -> Result<Outcome, Fault> {
    let plans = &*with_pipes_read(plans)?;
    let mut prepared = prepare_all(plans)?;
    need::check(&prepared, jobs)?;
    let jobs = jobs.unwrap_or_else(|| starts::at_a_time(&prepared));
    for plan in &mut prepared {
        plan.workload.trace.stop = control.stop();
    }
    if !traces::lay_out(&prepared, control)? {
        return Ok(Outcome { results: plans.iter().map(|_| None).collect(), fault: None });
    }
    traces::share(&mut prepared);
    let order = starts::share(&mut prepared, jobs);
    // Find an unreadable trace before another plan has run for an hour.
    for plan in &prepared {
        Requests::open(plan, &mut Vec::new())?;
    }
    control.keep();
    let next = AtomicUsize::new(0);
    let ran: Vec<Mutex<Result<Option<Ran>, Fault>>> =
        prepared.iter().map(|_| Mutex::new(Ok(None))).collect();
    in_up_to(jobs.min(prepared.len()), || {
        while let Some(&at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let one = run_one(&prepared[at], control, &control.progress[at]);
            if !matches!(one, Ok(None | Some((_, None)))) {
                control.stop.store(true, Ordering::Relaxed);
            }
            control.progress[at].finish();
            *ran[at].lock().expect("no thread panics while it holds a result") = one;
        }
    });
    let ran = ran.into_iter().map(|one| one.into_inner().expect("no thread panics with it"));
    Ok(outcome(ran.collect()))
}

/// Collects the results of the runs and the first fault.
fn outcome(ran: Vec<Result<Option<Ran>, Fault>>) -> Outcome {
    let failed = |one: &Result<Option<Ran>, Fault>| !matches!(one, Ok(None | Some((_, None))));
    let has_failed = ran.iter().any(failed);
    let mut outcome = Outcome::default();
    for one in ran {
        let (result, fault) = match one {
            Ok(None) => (None, None),
            Ok(Some((result, fault))) => {
                let is_reported = !has_failed || fault.is_some() || !result.partial;
                (Some(result).filter(|_| is_reported), fault)
            }
            Err(fault) => (None, Some(fault)),
        };
        outcome.fault = outcome.fault.or(fault);
        outcome.results.push(result);
    }
    outcome
}

/// Runs every plan as [`run_all`] does, without a way to stop.
///
/// # Errors
/// Those of [`run_all`], and the first fault of a run.
pub fn run_uninterrupted(plans: &[Plan], jobs: usize) -> Result<Vec<RunResult>, Fault> {
    let outcome = run_all(plans, Some(jobs), &Control::new(plans.len()))?;
    match outcome.fault {
        Some(fault) => Err(fault),
        None => Ok(outcome.results.into_iter().flatten().collect()),
    }
}

/// Returns how many of these plans can run at a time, given the cores and the memory. It assumes
/// the largest plans.
///
/// # Errors
/// The first fault of any plan.
pub fn at_a_time(plans: &[Plan]) -> Result<usize, Fault> {
    Ok(starts::at_a_time(&prepare_all(&with_pipes_read(plans)?)?))
}

fn run_one(
    prepared: &Prepared,
    control: &Control,
    progress: &Progress,
) -> Result<Option<Ran>, Fault> {
    if control.stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    series_length::check(prepared, control)?;
    let stopwatch = Stopwatch::start();
    let mut remarks: Vec<String> = warnings::of_start(prepared)?.into_iter().collect();
    remarks.extend(warnings::of_clock(prepared));
    remarks.extend(prepared.shared.begins_alone.clone());
    let Some(begun) = set_up(prepared, control, progress)? else { return Ok(None) };
    let Begun { mut drive, settled, copied } = begun;
    publish_uses(prepared, &mut drive, control)?;
    remarks.extend(warnings::of_first_pass(&drive));
    run_first_pass(prepared, &mut drive, control)?;
    prefill_footprint(prepared, &mut drive, control)?;
    if control.stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    prepared.check_footprint()?;
    let mut feed = Feed::open(prepared, &mut remarks)?;
    let ready = stopwatch.elapsed();
    let observer = Observer::new(prepared)?;
    if prepared.plan.timeline.is_none() {
        drive.enable_lookahead();
    }
    let replay = Replay::new(&mut drive, prepared.warmup, control, progress, observer);
    let run = replay.run(prepared, &mut feed);
    let looped = stopwatch.elapsed() - ready;
    let requests = feed.end();
    let (course, observer) = run?;
    remarks.extend(requests.source().warnings());
    let has_reserved = prepared.resolved.classes.reserved_classes > 0;
    if drive.migrates() && has_reserved && drive.reserved_blocks() == 0 {
        let blocks = prepared.resolved.geometry().blocks;
        let what = "no block is set apart, so that no page can move";
        let why = "data and metadata.block_class.measured.read_hot_share leave none";
        remarks.push(format!("{what}: of a plane's {blocks} {why}"));
    }
    remarks.extend(unreached_ends(&course));
    remarks.extend(repeated_requests(prepared, &course));
    remarks.extend(warnings::of_hints(prepared, requests.seen.hinted));
    let mut result = RunResult::new(
        prepared,
        &mut drive,
        &course,
        &requests,
        settled,
        remarks,
        (ready, looped),
    )?;
    result.sim.start_copied = copied;
    result.workload = result.provenance.workload(result.workload);
    let mut about = result.provenance.about();
    about.push(("workload", result.workload.clone()));
    // A run that ended by itself leaves no request unfinished.
    let unfinished = if course.partial { course.backlog } else { 0 };
    let (detail, fault) = observer.finish(&mut drive, unfinished, &about, &mut result.remarks);
    result.detail = detail;
    Ok(Some((result, fault)))
}

/// Returns a remark for each end that a plan asks for and that its run did not reach, or reached
/// before its time.
fn unreached_ends(course: &Course) -> impl Iterator<Item = String> {
    let last = course.replays.len();
    let worn = |why| format!("--until-worn was given up after replay {last}: {why}");
    let unsettled = course.settled.as_ref().filter(|found| !found.settled);
    let unsettled = unsettled.map(|found| {
        let figure = &found.figure;
        let why = match course.exhausted {
            None => String::new(),
            Some(Exhausted::NoRequest) => format!("; none of its requests counts toward {figure}"),
            Some(Exhausted::Repeats(once)) => {
                format!("; its {once} requests of this figure repeat in each replay")
            }
        };
        format!("--until-settled was given up: the load ended before {figure} settled{why}")
    });
    let fresh = course.settled.as_ref().filter(|found| found.settled && !found.collected);
    let fresh = fresh.filter(|found| found.host_pages > 0).map(|found| {
        let figure = &found.figure;
        format!("{figure} settled before garbage collection began (start.fill fills the drive)")
    });
    let filling = |found: &&SettledFigure| found.collected && found.filling > FILLING;
    let filling = course.settled.as_ref().filter(|found| found.settled).filter(filling);
    let filling = filling.map(|found| {
        let (figure, new) = (&found.figure, 100.0 * found.filling);
        format!(
            "{figure} settled while the drive filled up: {new:.1} % of its data is new since the \
             counted windows began, so {figure} may still change (start.fill fills the drive)"
        )
    });
    course.never_worn.map(worn).into_iter().chain(unsettled).chain(fresh).chain(filling)
}

/// Returns a remark if a figure settled only as a trace was replayed. A replay repeats the
/// requests.
fn repeated_requests(prepared: &Prepared, course: &Course) -> Option<String> {
    let found = course.settled.as_ref().filter(|found| found.settled)?;
    let replays = course.replays.len();
    (prepared.plan.reads_traces() && replays > 1).then(|| {
        let figure = &found.figure;
        format!("{figure} settled in replay {replays}: its interval rests on the same requests, repeated")
    })
}
