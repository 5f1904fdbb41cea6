//! Burstiness of a workload: how its requests cluster in time, and in reads and writes.
//!
//! Time stamps have steps: some traces have stamps in whole seconds. All requests of a step share a
//! stamp, so counts in shorter windows measure the rounding of the stamps. The steps come from the
//! requests: they are taken to be as long as the shortest time between two different stamps. A
//! common divisor of the stamps would miss steps that are themselves rounded, such as those of
//! 6,553.6 µs in Financial1.
//!
//! An incomplete last window counts in no figure, because it is shorter than the others. A trace
//! that ends within a burst may then lack its largest one: most of the first 1,000 requests of
//! web_2 come in its last seconds. So a window length has no figure if the incomplete window holds
//! more requests than the mean, and would raise the figure by more than a tenth.

use std::num::NonZeroU64;

use serde::Serialize;
use ssdlab_base::Nanos;

use super::hurst::{Hurst, Octaves};
use super::runs::{KindRuns, RunLengths};

/// Lengths of the windows, in nanoseconds; each is [`STEP`] times the one before.
const WINDOWS_NS: [u64; 5] =
    [10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000];
const STEP: u64 = 10;
/// The least number of windows from which a figure is reported.
pub(crate) const MIN_WINDOWS: u64 = 20;
/// The largest rise of a dispersion by an incomplete last window, over the dispersion or over that
/// of a Poisson process, whichever is larger.
const MAX_RISE: f64 = 0.1;
/// The share of one kind from which a second is a phase of it, in percent.
const PHASE_PERCENT: u64 = 90;

/// The burstiness of reads and writes. Windows are counted from the first request; an incomplete
/// last window is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Burstiness {
    /// The shortest time between two different time stamps, in seconds; `None` if all are equal.
    /// Windows, bins and seconds have no figures if they are shorter.
    pub stamp_step_s: Option<f64>,
    /// The index of dispersion by window: 10 ms, 100 ms, 1 s, 10 s and 100 s, except the windows in
    /// `left_out`.
    pub windows: Vec<Window>,
    /// The windows without an index of dispersion.
    pub left_out: Vec<LeftOut>,
    /// The Hurst exponent; `None` if fewer than four octaves can be fitted.
    pub hurst: Option<Hurst>,
    /// Lengths of runs of reads; `None` without reads.
    pub read_runs: Option<RunLengths>,
    /// Lengths of runs of writes; `None` without writes.
    pub write_runs: Option<RunLengths>,
    /// Phases of reads and of writes; `None` if fewer than 20 seconds have requests, or if a second
    /// is shorter than the steps of the time stamps.
    pub phases: Option<Phases>,
}

/// The number of requests in windows of one length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Window {
    /// Length of a window, in seconds.
    pub window_s: f64,
    /// Number of windows, empty ones included.
    pub windows: u64,
    /// Mean number of requests in a window.
    pub mean_requests: f64,
    /// Index of dispersion: the variance of the number of requests over its mean. 1 for a Poisson
    /// process, 0 for the same number in each window.
    pub dispersion: f64,
}

/// Windows of one length that have no index of dispersion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LeftOut {
    /// Length of a window, in seconds.
    pub window_s: f64,
    /// The reason.
    pub why: WhyLeftOut,
}

/// The reason why windows of one length have no index of dispersion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyLeftOut {
    /// They are shorter than the steps of the time stamps, so the index would measure rounding.
    ShorterThanStampStep,
    /// Fewer than 20 complete ones fit into the span.
    FewWindows,
    /// The incomplete last one holds a burst that would raise the index by more than a tenth.
    BurstAtEnd,
}

/// How reads and writes alternate from second to second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Phases {
    /// Seconds with requests.
    pub seconds: u64,
    /// Share of these seconds in which at least 90 % of the requests are reads, from 0 to 1.
    pub read_share: f64,
    /// Share of these seconds in which at least 90 % of the requests are writes, from 0 to 1.
    pub write_share: f64,
    /// Correlation of the share of reads in a second with that in the next, from -1 to 1. Covers
    /// pairs in which both seconds have requests; `None` with fewer than 20 pairs, or if the share
    /// never changes.
    pub correlation: Option<f64>,
}

/// A measurement of burstiness in progress. Its memory does not depend on the trace.
pub(super) struct Bursts {
    first: Option<Nanos>,
    /// Time since the first request.
    since: Nanos,
    /// The shortest time between two different stamps, in nanoseconds.
    step: Option<NonZeroU64>,
    counts: Counts,
    octaves: Octaves,
    runs: KindRuns,
    seconds: Seconds,
}

impl Bursts {
    pub(super) fn new() -> Bursts {
        Bursts {
            first: None,
            since: Nanos::ZERO,
            step: None,
            counts: Counts::default(),
            octaves: Octaves::new(),
            runs: KindRuns::default(),
            seconds: Seconds::default(),
        }
    }

    /// Adds a read or a write. Times must not go back.
    pub(super) fn take(&mut self, at: Nanos, is_read: bool) {
        let since = at - *self.first.get_or_insert(at);
        if let Some(gap) = NonZeroU64::new((since - self.since).as_ns()) {
            self.step = Some(self.step.map_or(gap, |step| step.min(gap)));
        }
        self.since = since;
        self.counts.take(self.since);
        self.octaves.take(self.since);
        self.runs.take(is_read);
        self.seconds.take(self.since, is_read);
    }

    pub(super) fn finish(self) -> Burstiness {
        if self.first.is_none() {
            return Burstiness::default();
        }
        let [write_runs, read_runs] = self.runs.finish();
        let step = self.step.map_or(0, NonZeroU64::get);
        let mut windows = Vec::new();
        let mut left_out = Vec::new();
        for (place, length) in WINDOWS_NS.into_iter().enumerate() {
            let window_s = length as f64 / 1e9;
            match self.counts.window(place, self.since, step) {
                Ok(window) => windows.push(window),
                Err(why) => left_out.push(LeftOut { window_s, why }),
            }
        }
        Burstiness {
            stamp_step_s: self.step.map(|step| step.get() as f64 / 1e9),
            windows,
            left_out,
            hurst: self.octaves.finish(step),
            read_runs,
            write_runs,
            phases: self.seconds.finish().filter(|_| step <= SECOND_NS),
        }
    }
}

/// Requests in windows of every length. A window passes its count on to the longer one that holds
/// it, so a request costs one comparison. Empty windows add nothing to the sums.
#[derive(Default)]
struct Counts {
    /// The open window of the shortest length.
    open: u64,
    /// Requests in the open windows, less those in open windows of shorter lengths.
    counts: [u64; WINDOWS_NS.len()],
    /// Sums of the counts of complete windows, and of their squares.
    sums: [u64; WINDOWS_NS.len()],
    squares: [u128; WINDOWS_NS.len()],
}

impl Counts {
    fn take(&mut self, since: Nanos) {
        let window = since.as_ns() / WINDOWS_NS[0];
        if window != self.open {
            self.close(window);
        }
        self.counts[0] += 1;
    }

    /// Closes every window that ends before the shortest window `next` begins.
    fn close(&mut self, next: u64) {
        let (mut old, mut new) = (self.open, next);
        for place in 0..WINDOWS_NS.len() {
            if old == new {
                break;
            }
            let count = std::mem::take(&mut self.counts[place]);
            self.sums[place] += count;
            self.squares[place] += u128::from(count) * u128::from(count);
            if let Some(longer) = self.counts.get_mut(place + 1) {
                *longer += count;
            }
            (old, new) = (old / STEP, new / STEP);
        }
        self.open = next;
    }

    /// Returns the figures of the windows at this place in [`WINDOWS_NS`], or why there are none.
    /// `since` is the time from the first request to the last, and `step` that of the stamps.
    fn window(&self, place: usize, since: Nanos, step: u64) -> Result<Window, WhyLeftOut> {
        let length = WINDOWS_NS[place];
        let windows = since.as_ns() / length;
        if length < step {
            return Err(WhyLeftOut::ShorterThanStampStep);
        }
        if windows < MIN_WINDOWS {
            return Err(WhyLeftOut::FewWindows);
        }
        let (sum, squares) = (self.sums[place], self.squares[place]);
        let dispersion = dispersion(windows, sum, squares);
        // A window holds the requests of the open windows of shorter lengths, too.
        let last: u64 = self.counts[..=place].iter().sum();
        let with_last = squares + u128::from(last) * u128::from(last);
        let raised = self::dispersion(windows + 1, sum + last, with_last);
        // With fewer requests than the mean, it only shows that it is incomplete.
        let has_more = u128::from(last) * u128::from(windows) > u128::from(sum);
        if has_more && raised - dispersion > MAX_RISE * dispersion.max(1.0) {
            return Err(WhyLeftOut::BurstAtEnd);
        }
        Ok(Window {
            window_s: length as f64 / 1e9,
            windows,
            mean_requests: sum as f64 / windows as f64,
            dispersion,
        })
    }
}

/// Returns the index of dispersion of windows that hold so many requests in all, and so many when
/// the count of each is squared. The variance is unbiased.
fn dispersion(windows: u64, sum: u64, squares: u128) -> f64 {
    let (count, whole) = (u128::from(windows), u128::from(sum));
    // Whole numbers, so that no digits cancel.
    let spread = (count * squares - whole * whole) as f64;
    let variance = spread / (windows as f64 * (windows - 1) as f64);
    variance / (sum as f64 / windows as f64)
}

/// The length of a second, in nanoseconds.
const SECOND_NS: u64 = 1_000_000_000;

/// Shares of reads from second to second.
#[derive(Default)]
struct Seconds {
    open: u64,
    reads: u64,
    requests: u64,
    /// The last complete second with requests, and its share of reads.
    last: Option<(u64, f64)>,
    seconds: u64,
    /// Seconds that are almost all reads, and almost all writes.
    reading: u64,
    writing: u64,
    pairs: Pairs,
}

impl Seconds {
    fn take(&mut self, since: Nanos, is_read: bool) {
        let second = since.as_ns() / SECOND_NS;
        if second != self.open {
            self.close(second);
        }
        self.requests += 1;
        self.reads += u64::from(is_read);
    }

    fn close(&mut self, next: u64) {
        if self.requests > 0 {
            let share = self.reads as f64 / self.requests as f64;
            let most = |count: u64| u64::from(count * 100 >= self.requests * PHASE_PERCENT);
            self.seconds += 1;
            self.reading += most(self.reads);
            self.writing += most(self.requests - self.reads);
            if let Some((_, before)) = self.last.filter(|(last, _)| last + 1 == self.open) {
                self.pairs.take(before, share);
            }
            self.last = Some((self.open, share));
        }
        (self.open, self.reads, self.requests) = (next, 0, 0);
    }

    fn finish(&self) -> Option<Phases> {
        let share = |count: u64| count as f64 / self.seconds as f64;
        (self.seconds >= MIN_WINDOWS).then(|| Phases {
            seconds: self.seconds,
            read_share: share(self.reading),
            write_share: share(self.writing),
            correlation: self.pairs.correlation(),
        })
    }
}

/// Running means and central moments of pairs.
#[derive(Default)]
struct Pairs {
    count: u64,
    means: [f64; 2],
    squares: [f64; 2],
    product: f64,
}

impl Pairs {
    fn take(&mut self, one: f64, other: f64) {
        self.count += 1;
        let off = [one - self.means[0], other - self.means[1]];
        for (mean, off) in self.means.iter_mut().zip(off) {
            *mean += off / self.count as f64;
        }
        let rest = [one - self.means[0], other - self.means[1]];
        self.squares[0] += off[0] * rest[0];
        self.squares[1] += off[1] * rest[1];
        self.product += off[0] * rest[1];
    }

    fn correlation(&self) -> Option<f64> {
        /// The least variance that is no rounding error, of shares between 0 and 1.
        const MIN_VARIANCE: f64 = 1e-12;
        let varies = self.squares.iter().all(|squares| *squares > MIN_VARIANCE * self.count as f64);
        (self.count >= MIN_WINDOWS && varies)
            .then(|| self.product / (self.squares[0] * self.squares[1]).sqrt())
    }
}
