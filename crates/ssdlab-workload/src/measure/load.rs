//! The distribution of requests over time.

use serde::Serialize;

/// The number of requests over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Load {
    /// Length of an interval, in seconds.
    pub interval_s: f64,
    /// Reads and writes in each interval, counted from the first request; at most 128 intervals.
    pub requests: Vec<u64>,
    /// Reads in each interval.
    pub reads: Vec<u64>,
    /// Distinct pages touched up to the end of each interval.
    pub footprint_pages: Vec<u64>,
    /// The most reads and writes in one second; seconds count from the first request.
    pub peak_per_s: u64,
    /// The same, divided by the mean over all seconds.
    pub peak_to_mean: f64,
}

/// The most intervals.
const MAX_INTERVALS: usize = 128;
const SECOND_NS: u64 = 1_000_000_000;

/// Counts requests in intervals. Doubles the interval length as the trace goes on.
pub(super) struct Counting {
    first: Option<u64>,
    interval_ns: u64,
    counts: Vec<Interval>,
    second: u64,
    in_second: u64,
    peak: u64,
}

/// The counts of an interval.
#[derive(Clone, Copy, Default)]
struct Interval {
    requests: u64,
    reads: u64,
    touched: u64,
}

impl Counting {
    pub(super) fn new() -> Counting {
        let counts = Vec::with_capacity(MAX_INTERVALS);
        Counting { first: None, interval_ns: 1 << 20, counts, second: 0, in_second: 0, peak: 0 }
    }

    /// Counts a read or a write; `touched` is the number of distinct pages so far.
    pub(super) fn take(&mut self, at: u64, is_read: bool, touched: u64) {
        let since = at - *self.first.get_or_insert(at);
        while since / self.interval_ns >= MAX_INTERVALS as u64 {
            self.widen();
        }
        let place = (since / self.interval_ns) as usize;
        if place >= self.counts.len() {
            let idle = Interval { requests: 0, reads: 0, ..self.last() };
            self.counts.resize(place + 1, idle);
        }
        let interval = &mut self.counts[place];
        interval.requests += 1;
        interval.reads += u64::from(is_read);
        interval.touched = touched;
        if since / SECOND_NS != self.second {
            self.second = since / SECOND_NS;
            self.in_second = 0;
        }
        self.in_second += 1;
        self.peak = self.peak.max(self.in_second);
    }

    fn last(&self) -> Interval {
        self.counts.last().copied().unwrap_or_default()
    }

    fn widen(&mut self) {
        let join = |pair: &[Interval]| Interval {
            requests: pair.iter().map(|interval| interval.requests).sum(),
            reads: pair.iter().map(|interval| interval.reads).sum(),
            touched: pair[pair.len() - 1].touched,
        };
        self.counts = self.counts.chunks(2).map(join).collect();
        self.interval_ns *= 2;
    }

    pub(super) fn finish(self) -> Load {
        let each = |what: fn(&Interval) -> u64| self.counts.iter().map(what).collect();
        let requests: u64 = self.counts.iter().map(|interval| interval.requests).sum();
        let mean = requests as f64 / (self.second + 1) as f64;
        Load {
            interval_s: self.interval_ns as f64 / 1e9,
            requests: each(|interval| interval.requests),
            reads: each(|interval| interval.reads),
            footprint_pages: each(|interval| interval.touched),
            peak_per_s: self.peak,
            peak_to_mean: if requests == 0 { 0.0 } else { self.peak as f64 / mean },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counting, MAX_INTERVALS};

    #[test]
    fn intervals_widen_and_lose_nothing() {
        let mut counting = Counting::new();
        (0..10_000u64)
            .for_each(|n| counting.take(5_000_000_000 + n * 7_000_000, n % 4 == 0, n / 2 + 1));
        let load = counting.finish();
        assert_eq!(load.requests.iter().sum::<u64>(), 10_000);
        assert_eq!(load.reads.iter().sum::<u64>(), 2_500);
        let mut total = 0;
        for (requests, touched) in load.requests.iter().zip(&load.footprint_pages) {
            total += requests;
            assert_eq!(*touched, (total - 1) / 2 + 1);
        }
        assert!((MAX_INTERVALS / 2..=MAX_INTERVALS).contains(&load.requests.len()));
        assert!((load.interval_s - (1 << 30) as f64 / 1e9).abs() < 1e-9);
        assert_eq!(load.peak_per_s, 143);
        assert!((load.peak_to_mean - 143.0 * 70.0 / 10_000.0).abs() < 1e-9);
    }

    #[test]
    fn a_pause_touches_nothing() {
        let mut counting = Counting::new();
        counting.take(0, false, 3);
        counting.take(5 << 20, true, 4);
        let load = counting.finish();
        assert_eq!(load.requests, [1, 0, 0, 0, 0, 1]);
        assert_eq!(load.reads, [0, 0, 0, 0, 0, 1]);
        assert_eq!(load.footprint_pages, [3, 3, 3, 3, 3, 4]);
    }

    #[test]
    fn one_request_is_its_own_peak() {
        let mut counting = Counting::new();
        counting.take(9, true, 1);
        let load = counting.finish();
        assert_eq!((load.requests, load.peak_per_s, load.peak_to_mean), (vec![1], 1, 1.0));
    }
}
