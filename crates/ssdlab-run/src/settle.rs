//! Ends a run once a figure has settled: its confidence interval over windows is narrow enough.
//!
//! A run begins with a transient, and how long it lasts is not known. So the windows grow with the
//! run, and only those of its second half count (a form of batch means: Law and Kelton, *Simulation
//! Modeling and Analysis*, chapter 9). The interval is widened if neighboring windows are alike,
//! and the counted windows must have no trend.
//!
//! A replay of a trace repeats its requests, so its windows are no independent ones. The interval
//! then counts at most as many windows as one pass of the trace has. Bursts of a trace may come
//! late, after windows that are all alike. So a figure settles at the end of the first pass at the
//! earliest.
//!
//! A load without any request of the figure ends after its first replay.

mod figure;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::quantity::Share;
use ssdlab_base::{Fault, SimTime};
use ssdlab_core::account::{Cause, OpKind};
use ssdlab_core::{Completion, Drive};

use self::figure::{Figure, Of};
use crate::plan::Plan;

/// The option, as users type it.
const OPTION: &str = "--until-settled";
/// The relative half-width of the interval at which a figure counts as settled, if none is given.
const WIDTH: f64 = 0.05;
/// The windows of a run. When there are this many, every two neighbors are merged.
const MAX_WINDOWS: usize = 64;
/// The 97.5 % quantiles of Student's t for 16, 20, 24, 28 and 32 counted windows.
const T_975: [f64; 5] = [2.131, 2.093, 2.069, 2.052, 2.040];
/// The windows at the first check. At each check, half of the windows count.
const FIRST: usize = 32;
/// The windows between two checks.
const STEP: usize = 8;

/// The figure that ends a run, and the relative half-width of its interval.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Goal {
    figure: Figure,
    width: f64,
}

impl Goal {
    /// Returns the goal of a plan for a drive with this many queues; `None` if the plan has none.
    ///
    /// # Errors
    /// If the drive has no such figure, or the width is none.
    pub(crate) fn of(plan: &Plan, queues: u8) -> Result<Option<Goal>, Fault> {
        let Some(text) = &plan.until_settled else { return Ok(None) };
        let (name, width) = match text.split_once('@') {
            None => (text.as_str(), WIDTH),
            Some((name, width)) => {
                let share = width.parse().map(Share::get).unwrap_or(0.0);
                if share <= 0.0 || share >= 1.0 {
                    let fault = Fault::new(OPTION, "invalid width").got(format!("{width:?}"));
                    return Err(fault.expected("a share above 0 and below 1, such as \"5%\""));
                }
                (name, share)
            }
        };
        let names = Figure::names(queues);
        match name.parse() {
            Ok(figure) if names.iter().any(|known| known == name) => {
                Ok(Some(Goal { figure, width }))
            }
            _ => Err(Fault::new(OPTION, "unknown figure")
                .got(format!("{name:?}"))
                .expected("waf or a latency of this drive's results, such as read.latency_us.mean")
                .suggest(name, names.iter().map(String::as_str))),
        }
    }
}

/// Why no number of further replays settles a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// No request of a whole replay counts toward the figure.
    NoRequest,
    /// Replays repeat this many requests of the figure, which are too few for an interval.
    Repeats(u64),
}

/// How a run settled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SettledFigure {
    /// The figure, by its name in this result.
    pub figure: String,
    /// Whether it settled. Otherwise the load ended first.
    pub settled: bool,
    /// The requested half-width of the interval, as a share of the mean.
    pub width: f64,
    /// Mean of the counted windows; null before the first check.
    pub mean: Option<f64>,
    /// Half the width of the 95 % interval of this mean; null before the first check.
    pub half_width_95: Option<f64>,
    /// Number of counted windows at the last check; like the following figures, 0 before the first.
    pub windows: u64,
    /// Requests of the figure in each window.
    pub window_requests: u64,
    /// Requests of the figure that ended before the counted windows: the transient.
    pub transient_requests: u64,
    /// Requests of the figure up to the end of the last window.
    pub requests: u64,
    /// Simulated seconds from the end of the warm-up to the counted windows.
    pub transient_s: f64,
    /// Simulated seconds from the end of the warm-up to the last window.
    pub duration_s: f64,
    /// Pages programmed for the host in that time.
    pub host_pages: u64,
    /// Whether garbage collection ran in that time. Write amplification does not settle before.
    pub collected: bool,
    /// How many more logical pages held data after the counted windows than before, as a share of
    /// those after. Write amplification drifts while it is above 0.
    pub filling: f64,
}

/// The requests of some time.
#[derive(Clone, Debug, Default)]
struct Window {
    requests: u64,
    sum_ns: u128,
    /// The latencies, if the figure is a percentile.
    latencies: Option<Histogram<u32>>,
    /// Pages programmed for the host, and in all.
    pages: [u64; 2],
    end: SimTime,
    /// Logical pages that hold data at the end.
    mapped: u32,
}

impl Window {
    fn join(&mut self, next: &Window) {
        self.requests += next.requests;
        self.sum_ns += next.sum_ns;
        match (&mut self.latencies, &next.latencies) {
            (Some(own), Some(next)) => own.add(next).expect("a histogram that grows as needed"),
            (own, next) => *own = own.take().or_else(|| next.clone()),
        }
        self.pages = [self.pages[0] + next.pages[0], self.pages[1] + next.pages[1]];
        (self.end, self.mapped) = (next.end, next.mapped);
    }
}

/// An estimate of the figure from windows of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Estimate {
    mean: f64,
    half_width_95: f64,
    /// Whether the windows have no trend.
    steady: bool,
}

impl Estimate {
    /// Returns the estimate from the values of windows, by their number in steps of [`STEP`] / 2.
    /// `independent` of them, at least 16, are independent.
    fn of(values: &[f64], independent: usize) -> Estimate {
        let count = values.len() as f64;
        let independent = independent.min(values.len());
        let t = T_975[((independent - FIRST / 2) / (STEP / 2)).min(T_975.len() - 1)];
        let repeats = (count / independent as f64).sqrt();
        let mean = values.iter().sum::<f64>() / count;
        let off: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let half_width_95 =
            t * (squares(&off) / (count - 1.0) / count).sqrt() * widened(&off) * repeats;
        // The straight line through the windows; its slope must not differ from zero.
        let place = |at: usize| at as f64 - (count - 1.0) / 2.0;
        let spread: f64 = (0..values.len()).map(|at| place(at).powi(2)).sum();
        let slope = off.iter().enumerate().map(|(at, off)| place(at) * off).sum::<f64>() / spread;
        let rest: Vec<f64> =
            off.iter().enumerate().map(|(at, off)| off - slope * place(at)).collect();
        let error = (squares(&rest) / (count - 2.0) / spread).sqrt() * widened(&rest);
        let steady = slope.abs() <= t * error;
        Estimate { mean, half_width_95, steady }
    }
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

/// Returns the factor that correlation of neighbors adds to an interval's width, for a first-order
/// autoregressive process.
fn widened(off: &[f64]) -> f64 {
    let products: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let all = squares(off);
    let alike = if all > 0.0 { (products / all).clamp(0.0, 0.99) } else { 0.0 };
    ((1.0 + alike) / (1.0 - alike)).sqrt()
}

/// Watches the figure that ends a run.
#[derive(Clone, Debug)]
pub(crate) struct SettleMonitor {
    goal: Goal,
    /// Whether later replays have the same requests.
    repeats: bool,
    /// Whether the warm-up has ended.
    is_warm: bool,
    began: SimTime,
    windows: Vec<Window>,
    open: Window,
    /// Requests of a full window.
    full: u64,
    /// The drive's counters of pages at the end of the last window.
    before: [u64; 2],
    /// Whether garbage collection has run.
    collected: bool,
    /// Requests of the figure so far, and in the first replay of a load that later ones repeat.
    requests: u64,
    once: Option<u64>,
    /// Requests of this replay that the figure needs, with those of the warm-up.
    needed: u64,
    /// The result of the last check.
    last: SettledFigure,
}

impl SettleMonitor {
    /// Returns a monitor that has seen no request. `repeats` says whether all replays have the same
    /// requests.
    pub(crate) fn new(goal: Goal, repeats: bool) -> SettleMonitor {
        let full = goal.figure.first_window();
        let (figure, width) = (goal.figure.to_string(), goal.width);
        let last = SettledFigure { figure, width, ..SettledFigure::default() };
        SettleMonitor {
            goal,
            repeats,
            is_warm: false,
            began: SimTime::START,
            windows: Vec::with_capacity(MAX_WINDOWS),
            open: Window::default(),
            full,
            before: [0; 2],
            collected: false,
            requests: 0,
            once: None,
            needed: 0,
            last,
        }
    }

    /// Begins to measure, at the end of the warm-up.
    pub(crate) fn begin(&mut self, drive: &Drive) {
        (self.is_warm, self.began, self.before) = (true, drive.now(), pages(drive));
    }

    /// Ends a replay. Returns why further ones cannot settle the figure, if so.
    pub(crate) fn end_pass(&mut self) -> Option<Exhausted> {
        let needed = std::mem::take(&mut self.needed);
        if self.repeats && self.once.is_none() {
            self.once = Some(self.requests);
            if self.windows.len() >= FIRST {
                self.check();
            }
        }
        match self.once {
            _ if self.last.settled => None,
            _ if needed == 0 => Some(Exhausted::NoRequest),
            Some(once) if self.independent().is_none() => Some(Exhausted::Repeats(once)),
            _ => None,
        }
    }

    /// Prepares for a reset of the drive's counters before the next replay.
    pub(crate) fn before_reset(&mut self, drive: &Drive) {
        let counted = pages(drive);
        self.open_pages(counted);
        self.before = [0; 2];
    }

    fn open_pages(&mut self, counted: [u64; 2]) {
        let own = self.open.pages.iter_mut().zip(self.before).zip(counted);
        own.for_each(|((sum, before), counted)| *sum += counted - before);
        self.before = counted;
    }

    /// Returns whether the figure has settled.
    pub(crate) fn has_settled(&self) -> bool {
        self.last.settled
    }

    /// Counts a request that ended.
    pub(crate) fn count(&mut self, drive: &Drive, ended: &Completion) {
        self.needed += u64::from(self.goal.figure.needs(ended));
        if !self.is_warm || self.last.settled || !self.goal.figure.counts(ended) {
            return;
        }
        let latency = (ended.end - ended.arrival).as_ns();
        self.open.requests += 1;
        self.requests += 1;
        self.open.sum_ns += u128::from(latency);
        if let Of::Latency { quantile: Some(_), .. } = self.goal.figure.of {
            let new = || Histogram::new(3).expect("a number of digits");
            let latencies = self.open.latencies.get_or_insert_with(new);
            latencies.record(latency).expect("a histogram that grows as needed");
        }
        if self.open.requests == self.full {
            self.open_pages(pages(drive));
            self.collected |= drive.stats().gc.0 > 0;
            (self.open.end, self.open.mapped) = (ended.end, drive.ftl().map.mapped());
            self.close();
        }
    }

    fn close(&mut self) {
        self.windows.push(std::mem::take(&mut self.open));
        let count = self.windows.len();
        if count >= FIRST && count.is_multiple_of(STEP) {
            self.check();
        }
        if count == MAX_WINDOWS && !self.last.settled {
            let pairs = self.windows.chunks_exact(2).map(|pair| {
                let mut window = pair[0].clone();
                window.join(&pair[1]);
                window
            });
            self.windows = pairs.collect();
            self.full *= 2;
        }
    }

    /// Estimates the figure from the second half of the windows.
    fn check(&mut self) {
        let (transient, counted) = self.windows.split_at(self.windows.len() / 2);
        let values: Option<Vec<f64>> =
            counted.iter().map(|window| self.goal.figure.of_window(window)).collect();
        let Some(values) = values else { return };
        let Some(independent) = self.independent() else { return };
        let estimate = Estimate::of(&values, independent);
        // Before garbage collection begins, every window has the same write amplification.
        let is_due = self.collected || self.goal.figure.of != Of::Waf;
        let is_whole = !self.repeats || self.once.is_some();
        let narrow = estimate.half_width_95 <= self.goal.width * estimate.mean.abs();
        let requests = |windows: &[Window]| windows.iter().map(|one| one.requests).sum::<u64>();
        let seconds = |windows: &[Window]| {
            windows.last().map_or(0.0, |last| last.end.saturating_since(self.began).as_secs())
        };
        let mapped = |windows: &[Window]| windows.last().map_or(0, |last| last.mapped);
        let grown = mapped(&self.windows).saturating_sub(mapped(transient));
        self.last = SettledFigure {
            settled: is_due && narrow && estimate.steady && is_whole,
            mean: Some(estimate.mean),
            half_width_95: Some(estimate.half_width_95),
            windows: counted.len() as u64,
            window_requests: self.full,
            transient_requests: requests(transient),
            requests: requests(&self.windows),
            transient_s: seconds(transient),
            duration_s: seconds(&self.windows),
            collected: self.collected,
            filling: f64::from(grown) / f64::from(mapped(&self.windows).max(1)),
            host_pages: self.windows.iter().map(|window| window.pages[0]).sum(),
            ..std::mem::take(&mut self.last)
        };
    }

    /// Returns how many windows are independent at most; `None` if too few for an interval.
    fn independent(&self) -> Option<usize> {
        let Some(once) = self.once else { return Some(MAX_WINDOWS) };
        let windows = (once / self.full) as usize;
        (windows >= FIRST / 2).then_some(windows)
    }

    /// Returns how the run settled.
    pub(crate) fn into_result(self) -> SettledFigure {
        self.last
    }
}

/// Returns the pages programmed for the host and in all since the drive's statistics began.
fn pages(drive: &Drive) -> [u64; 2] {
    let programs = drive.flash().counts.ops()[OpKind::Program as usize];
    [programs[Cause::Host as usize], programs.iter().sum()]
}

#[cfg(test)]
mod tests;
