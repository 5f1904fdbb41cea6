//! How the requests are spread over time.

use serde::Serialize;

/// Requests over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Load {
    /// Length of an interval, seconds.
    pub interval_s: f64,
    /// Reads and writes in each interval, from the first of them on; at most 128 intervals.
    pub requests: Vec<u64>,
    /// Most reads and writes in one second; seconds count from the first of them.
    pub peak_per_s: u64,
    /// The same over the mean of all seconds.
    pub peak_to_mean: f64,
}

/// Most intervals.
const MOST: usize = 128;
const SECOND_NS: u64 = 1_000_000_000;

/// Counts requests over time, in intervals that widen as the trace goes on.
pub(super) struct Counting {
    first: Option<u64>,
    interval_ns: u64,
    counts: Vec<u64>,
    second: u64,
    in_second: u64,
    peak: u64,
}

impl Counting {
    pub(super) fn new() -> Counting {
        let counts = Vec::with_capacity(MOST);
        Counting { first: None, interval_ns: 1 << 20, counts, second: 0, in_second: 0, peak: 0 }
    }

    #[inline]
    pub(super) fn take(&mut self, at: u64) {
        let since = at - *self.first.get_or_insert(at);
        while since / self.interval_ns >= MOST as u64 {
            self.widen();
        }
        let place = (since / self.interval_ns) as usize;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
        if since / SECOND_NS != self.second {
            self.second = since / SECOND_NS;
            self.in_second = 0;
        }
        self.in_second += 1;
        self.peak = self.peak.max(self.in_second);
    }

    fn widen(&mut self) {
        self.counts = self.counts.chunks(2).map(|pair| pair.iter().sum()).collect();
        self.interval_ns *= 2;
    }

    pub(super) fn finish(self) -> Load {
        let requests: u64 = self.counts.iter().sum();
        let mean = requests as f64 / (self.second + 1) as f64;
        Load {
            interval_s: self.interval_ns as f64 / 1e9,
            requests: self.counts,
            peak_per_s: self.peak,
            peak_to_mean: if requests == 0 { 0.0 } else { self.peak as f64 / mean },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counting, MOST};

    #[test]
    fn intervals_widen_and_lose_nothing() {
        let mut counting = Counting::new();
        (0..10_000u64).for_each(|n| counting.take(5_000_000_000 + n * 7_000_000));
        let load = counting.finish();
        assert_eq!(load.requests.iter().sum::<u64>(), 10_000);
        assert!((MOST / 2..=MOST).contains(&load.requests.len()));
        assert!((load.interval_s - (1 << 30) as f64 / 1e9).abs() < 1e-9);
        assert_eq!(load.peak_per_s, 143);
        assert!((load.peak_to_mean - 143.0 * 70.0 / 10_000.0).abs() < 1e-9);
    }

    #[test]
    fn one_request_is_its_own_peak() {
        let mut counting = Counting::new();
        counting.take(9);
        let load = counting.finish();
        assert_eq!((load.requests, load.peak_per_s, load.peak_to_mean), (vec![1], 1, 1.0));
    }
}
