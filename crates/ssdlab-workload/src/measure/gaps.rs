//! Times between requests: mean, spread, burstiness.

/// Statistics of the times between requests.
#[derive(Default)]
pub(super) struct Gaps {
    first: Option<u64>,
    last: u64,
    count: u64,
    mean: f64,
    squares: f64,
    /// Counts of gaps by their leading bits: see [`bucket`].
    buckets: Vec<u64>,
    /// Requests in the current second; `counts` has the sum and the sum of squares over all
    /// seconds.
    second: u64,
    in_second: u64,
    counts: [f64; 2],
}

/// The number of sub-buckets in an octave, as a power of two.
const FINE: u32 = 5;

/// Returns the bucket of a gap: its octave and the bits after the leading one.
pub(super) fn bucket(gap: u64) -> usize {
    if gap < 1 << FINE {
        return gap as usize;
    }
    let octave = gap.ilog2() - FINE;
    (((u64::from(octave) + 1) << FINE) + ((gap >> octave) - (1 << FINE))) as usize
}

/// Returns the value in the middle of a bucket.
pub(super) fn middle(bucket: usize) -> f64 {
    let (octave, fine) = (bucket >> FINE, (bucket & ((1 << FINE) - 1)) as u64);
    match octave {
        0 => fine as f64,
        octave => {
            let width = 1u64 << (octave - 1);
            ((fine + (1 << FINE)) * width) as f64 + 0.5 * (width - 1) as f64
        }
    }
}

/// Returns the quantile at `share` of the `count` values in the buckets; 0 without any.
pub(super) fn quantile(buckets: &[u64], count: u64, share: f64) -> f64 {
    let wanted = (share * count as f64).ceil().max(1.0) as u64;
    let mut below = 0;
    let place = buckets.iter().position(|count| {
        below += count;
        below >= wanted
    });
    place.map_or(0.0, middle)
}

/// Returns the distribution in the buckets as a curve: `[value, share of all values that are not
/// larger]`, rising. Steps are about one percent, and finer toward the end. Returns no points if
/// nothing was counted.
pub(super) fn curve(buckets: &[u64], unit: f64) -> Vec<[f64; 2]> {
    let all: u64 = buckets.iter().sum();
    let (mut below, mut shown) = (0, 0.0);
    let mut points = Vec::new();
    for (place, count) in buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
        below += count;
        let share = below as f64 / all as f64;
        if points.is_empty() || share - shown >= STEP || 1.0 - share <= 0.5 * (1.0 - shown) {
            points.push([middle(place) / unit, share]);
            shown = share;
        }
    }
    points
}

/// The least rise of a curve from one point to the next.
const STEP: f64 = 1.0 / 128.0;

impl Gaps {
    pub(super) fn take(&mut self, at: u64) {
        let second = at / 1_000_000_000;
        if self.first.is_none() {
            self.first = Some(at);
            (self.last, self.second) = (at, second);
        } else {
            let gap = at - self.last;
            self.last = at;
            self.count += 1;
            let off = gap as f64 - self.mean;
            self.mean += off / self.count as f64;
            self.squares += off * (gap as f64 - self.mean);
            let bucket = bucket(gap);
            if bucket >= self.buckets.len() {
                self.buckets.resize(bucket + 1, 0);
            }
            self.buckets[bucket] += 1;
        }
        if second != self.second {
            self.close_second();
            self.second = second;
        }
        self.in_second += 1;
    }

    fn close_second(&mut self) {
        let count = self.in_second as f64;
        self.counts[0] += count;
        self.counts[1] += count * count;
        self.in_second = 0;
    }

    pub(super) fn span(&self) -> u64 {
        self.last - self.first.unwrap_or(self.last)
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns the standard deviation over the mean.
    pub(super) fn variation(&self) -> f64 {
        if self.count > 1 && self.mean > 0.0 {
            (self.squares / (self.count - 1) as f64).sqrt() / self.mean
        } else {
            0.0
        }
    }

    /// Returns the quantile of the gaps at `share`, with an error of at most 1.6 %.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        quantile(&self.buckets, self.count, share)
    }

    /// Returns the distribution of the gaps in microseconds: see [`curve`].
    pub(super) fn curve(&self) -> Vec<[f64; 2]> {
        curve(&self.buckets, 1e3)
    }

    /// Returns the variance over the mean of the requests in each second, empty seconds included.
    pub(super) fn dispersion(&self) -> f64 {
        let Some(first) = self.first else { return 0.0 };
        let seconds = (self.second - first / 1_000_000_000 + 1) as f64;
        let last = self.in_second as f64;
        let mean = (self.counts[0] + last) / seconds;
        ((self.counts[1] + last * last) / seconds - mean * mean) / mean
    }
}
