//! Measures how requests cluster in time, and how reads and writes alternate.

use ssdlab_base::Nanos;

use super::arrivals::Arrivals;
use crate::record::Record;

/// A measurement of arrivals in progress. Its memory does not depend on the number of requests.
///
/// Windows are counted from the first request. An incomplete last one is left out.
pub struct Meter {
    from_us: f64,
    first: Option<Nanos>,
    /// Time since the first request.
    since: Nanos,
    windows: Vec<Counts>,
    /// Reads and writes, and runs of each.
    requests: [u64; 2],
    runs: [u64; 2],
    last: Option<usize>,
}

/// The least number of windows in the span for a figure, and the least share of the requests that
/// they hold: an incomplete last window may have most.
const MIN_WINDOWS: u64 = 10;
const MIN_SHARE: f64 = 0.5;
/// The least number of requests of a kind for its figures.
const MIN_REQUESTS: u64 = 20;
/// The least number of runs for their mean lengths.
const MIN_RUNS: u64 = 20;
/// Each window is so many times as long as the one before, from the shortest to the longest.
const STEP: u64 = 10;
const LONGEST_NS: u64 = 1_000_000_000_000;

impl Meter {
    /// Returns a measurement in windows from `from_us` microseconds to 1,000 s, each ten times the
    /// one before.
    pub fn new(from_us: f64) -> Meter {
        let first = (from_us * 1e3) as u64;
        let lengths = std::iter::successors(Some(first.max(1)), |length| Some(length * STEP));
        let windows = lengths.take_while(|length| *length <= LONGEST_NS);
        let windows = windows.map(|length| Counts { length, ..Counts::default() }).collect();
        Meter {
            from_us,
            first: None,
            since: Nanos::ZERO,
            windows,
            requests: [0; 2],
            runs: [0; 2],
            last: None,
        }
    }

    /// Adds requests, in the order of their times. Counts reads and writes only.
    pub fn take(&mut self, records: &[Record]) {
        for record in records {
            let Some(read) = record.op.reads() else { continue };
            let kind = usize::from(!read);
            self.since = record.at - *self.first.get_or_insert(record.at);
            self.requests[kind] += 1;
            self.runs[kind] += u64::from(self.last != Some(kind));
            self.last = Some(kind);
            for counts in &mut self.windows {
                counts.take(self.since, kind);
            }
        }
    }

    /// Returns the arrivals.
    pub fn finish(&self, source: &str) -> Arrivals {
        let mut out = Arrivals { source: source.to_owned(), ..Arrivals::default() };
        let [reads, writes] = self.requests.map(|count| count >= MIN_REQUESTS);
        let all: u64 = self.requests.iter().sum();
        if reads && writes && self.runs.iter().sum::<u64>() >= MIN_RUNS {
            let mean = |kind: usize| self.requests[kind] as f64 / self.runs[kind] as f64;
            out.runs = vec![self.requests[0] as f64 / all as f64, mean(0), mean(1)];
        }
        for counts in &self.windows {
            let windows = self.since.as_ns() / counts.length;
            let counted = counts.sums.iter().sum::<u64>() as f64;
            if windows < MIN_WINDOWS || counted < MIN_SHARE * all as f64 {
                break;
            }
            let [all, read, write] = counts.dispersions(windows);
            let first = self.from_us * 1e3;
            let length = counts.length as f64;
            out.windows_us.push(if length == first { self.from_us } else { length / 1e3 });
            out.all.push(all);
            out.reads.extend(reads.then_some(read));
            out.writes.extend(writes.then_some(write));
            out.together.extend((reads && writes).then(|| counts.correlation(windows)));
        }
        out
    }
}

/// Sums of the numbers of reads and of writes in the complete windows of one length.
#[derive(Default)]
struct Counts {
    length: u64,
    /// The end of the open window, in nanoseconds since the first request, and its requests.
    end: u64,
    within: [u64; 2],
    sums: [u64; 2],
    squares: [u128; 2],
    product: u128,
}

impl Counts {
    fn take(&mut self, since: Nanos, kind: usize) {
        let since = since.as_ns();
        if since >= self.end {
            self.close();
            self.end = (since / self.length + 1) * self.length;
        }
        self.within[kind] += 1;
    }

    fn close(&mut self) {
        let within = std::mem::take(&mut self.within);
        for (kind, count) in within.into_iter().enumerate() {
            self.sums[kind] += count;
            self.squares[kind] += u128::from(count) * u128::from(count);
        }
        self.product += u128::from(within[0]) * u128::from(within[1]);
    }

    /// Returns the dispersions of all requests, of reads and of writes; 0 without requests.
    fn dispersions(&self, windows: u64) -> [f64; 3] {
        let [reads, writes] = self.sums;
        let squares = self.squares[0] + self.squares[1] + 2 * self.product;
        let each = [(reads + writes, squares), (reads, self.squares[0]), (writes, self.squares[1])];
        each.map(|(sum, squares)| {
            let mean = sum as f64 / windows as f64;
            if sum == 0 { 0.0 } else { covariance(windows, [sum, sum], squares) / mean }
        })
    }

    fn correlation(&self, windows: u64) -> f64 {
        let variance = |kind: usize| covariance(windows, [self.sums[kind]; 2], self.squares[kind]);
        let [read, write] = [0, 1].map(variance);
        let both = covariance(windows, self.sums, self.product);
        if read * write > 0.0 { (both / (read * write).sqrt()).clamp(-1.0, 1.0) } else { 0.0 }
    }
}

/// Returns the unbiased covariance of counts with these sums and this sum of products.
fn covariance(windows: u64, [one, other]: [u64; 2], products: u128) -> f64 {
    // Whole numbers, so that no digits cancel.
    let spread = u128::from(windows) * products;
    let least = u128::from(one) * u128::from(other);
    let sign = if spread >= least { 1.0 } else { -1.0 };
    sign * spread.abs_diff(least) as f64 / (windows as f64 * (windows - 1) as f64)
}
