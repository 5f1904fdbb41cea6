//! Runs of consecutive requests of one kind.

use serde::Serialize;

use super::gaps::{bucket, curve, quantile};

/// Lengths of runs of one kind, in requests. A run ends at a request of the other kind or with the
/// trace. Trims and flushes do not end it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunLengths {
    /// Number of runs.
    pub runs: u64,
    /// Mean length, in requests. Where kinds are independent, reads have 1 / (1 - share of reads).
    pub mean_requests: f64,
    /// Median length, in requests; exact up to 63, beyond to 1.6 %, and at most the longest.
    pub median_requests: f64,
    /// 90th percentile, in requests, as exact as the median.
    pub p90_requests: f64,
    /// 99th percentile, in requests, as exact as the median.
    pub p99_requests: f64,
    /// Distribution: `[requests, share of the runs that are not longer]`, rising. At most about 160
    /// points.
    pub points: Vec<[f64; 2]>,
}

/// Runs of writes and of reads, in this order.
#[derive(Default)]
pub(super) struct KindRuns {
    /// The open run: its kind and its length so far; 0 before the first request.
    is_read: bool,
    length: u64,
    /// Requests in complete runs, the longest run, and runs by length: see [`bucket`].
    requests: [u64; 2],
    longest: [u64; 2],
    buckets: [Vec<u64>; 2],
}

impl KindRuns {
    pub(super) fn take(&mut self, is_read: bool) {
        if is_read != self.is_read {
            self.close();
            self.is_read = is_read;
        }
        self.length += 1;
    }

    fn close(&mut self) {
        if self.length == 0 {
            return;
        }
        let kind = usize::from(self.is_read);
        let place = bucket(self.length);
        if place >= self.buckets[kind].len() {
            self.buckets[kind].resize(place + 1, 0);
        }
        self.buckets[kind][place] += 1;
        self.requests[kind] += self.length;
        self.longest[kind] = self.longest[kind].max(self.length);
        self.length = 0;
    }

    pub(super) fn finish(mut self) -> [Option<RunLengths>; 2] {
        self.close();
        [0, 1].map(|kind| {
            let buckets = &self.buckets[kind];
            let runs: u64 = buckets.iter().sum();
            let longest = self.longest[kind] as f64;
            let at = |share| quantile(buckets, runs, share).min(longest);
            let [median, p90, p99] = [0.5, 0.9, 0.99].map(at);
            (runs > 0).then(|| RunLengths {
                runs,
                mean_requests: self.requests[kind] as f64 / runs as f64,
                median_requests: median,
                p90_requests: p90,
                p99_requests: p99,
                points: curve(buckets, 1.0),
            })
        })
    }
}
