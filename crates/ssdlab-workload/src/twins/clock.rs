//! The arrival times of a twin: cascades over octaves of its span.
//!
//! Octaves are the parts of the span up to a half, a quarter, an eighth and so on. Each has its
//! part of the reads and of the writes, so that a run which stops early sees the mean rate too. A
//! cascade divides each octave. Its halvings are as uneven as the dispersions of the twin's
//! [`Arrivals`](super::arrivals::Arrivals) require.

use rand::Rng;
use ssdlab_base::rng::{Stream, unit};

use super::arrivals::{Row, row_at};
use super::shape::Shape;
use crate::cascade::{Cascade, Split, levels};

/// Draws the times and the kinds of the requests. The first comes at 0, the last ends the span.
pub(super) struct Clock {
    rows: Vec<Row>,
    growth: f64,
    /// The kinds of the first and of the last request: whether it is a read.
    first: Option<bool>,
    last: Option<bool>,
    /// The number of reads and of writes between them.
    counts: [u64; 2],
    span: f64,
    /// The requests left, and the octaves left, from the shortest to half of the span.
    left: u64,
    octaves: u32,
    octave: u32,
    cascade: Cascade,
}

/// The length of the shortest parts, in nanoseconds. Requests that stay together come at once.
const SHORTEST: f64 = 1.0;
/// The least number of requests in the first octave.
const FIRST_OCTAVE: f64 = 64.0;
/// The largest variance of a half in windows longer than all of the table. Up to 1, all requests
/// come in one half.
const MAX_VARIANCE: f64 = 0.8;
/// A factor on the excess of a dispersion. Measured windows straddle the parts of a cascade, which
/// cluster less across their borders than within.
const STRADDLED: f64 = 1.15;
/// The least product moment of reads and writes, both non-negative.
const MIN_MOMENT: f64 = 0.05;

impl Clock {
    pub(super) fn new(shape: &Shape, counts: [u64; 2], span: f64, mut stream: Stream) -> Clock {
        let mut counts = counts;
        let all = (counts[0] + counts[1]) as f64;
        let rows = shape.arrivals.rows(counts[0] as f64 / all.max(1.0));
        let mut alone = || {
            let left = counts[0] + counts[1];
            let is_read = unit(stream.next_u64()) * (left as f64) < counts[0] as f64;
            let one = &mut counts[usize::from(!is_read)];
            *one = one.saturating_sub(1);
            (left > 0).then_some(is_read)
        };
        let (first, last) = (alone(), alone());
        let left = counts[0] + counts[1];
        let mut octaves = 0;
        while left as f64 / (2u64 << octaves) as f64 >= FIRST_OCTAVE {
            octaves += 1;
        }
        Clock {
            rows,
            growth: shape.growth.get(),
            first,
            last,
            counts,
            span,
            left,
            octaves,
            octave: octaves + 1,
            cascade: Cascade::empty(stream),
        }
    }

    /// Returns the time of the next request in nanoseconds, and whether it is a read.
    #[inline]
    pub(super) fn next(&mut self) -> (u64, bool) {
        if let Some(is_read) = self.first.take() {
            return (0, is_read);
        }
        if self.left == 0 {
            return ((self.span + 0.5) as u64, self.last.unwrap_or(false));
        }
        self.left -= 1;
        while self.cascade.is_empty() && self.octave > 0 {
            self.start_octave();
        }
        self.cascade.next()
    }

    fn start_octave(&mut self) {
        let upto = |octave: u32| match octave {
            none if none > self.octaves => (0.0, [0, 0]),
            octave => {
                let part = 1.0 / (1u64 << octave) as f64;
                (self.span * part, self.counts.map(|count| (count as f64 * part + 0.5) as u64))
            }
        };
        let ((begin, before), (end, after)) = (upto(self.octave), upto(self.octave - 1));
        self.octave -= 1;
        let counts = [0, 1].map(|kind| after[kind] - before[kind]);
        let splits = splits(&self.rows, self.growth, counts, end - begin);
        self.cascade.start(counts, (begin, end - begin), splits);
    }
}

/// Returns the halvings of a span with so many reads and writes.
///
/// The second moment of a half is 1 plus the variance of its part. Its product over all halvings
/// down to a window is 1 plus the excess of the dispersion over the mean number in the window.
fn splits(rows: &[Row], growth: f64, counts: [u64; 2], span: f64) -> impl Iterator<Item = Split> {
    let counts = counts.map(|count| count as f64);
    let mut moments = counts.map(|count| 1.0 - 1.0 / count.max(2.0));
    let mut both = 1.0f64;
    (1..=levels(span, SHORTEST)).map(move |level| {
        let part = 1.0 / (1u64 << level) as f64;
        let row = row_at(rows, growth, span * part);
        let means = counts.map(|count| (count * part).max(1e-30));
        let longest = rows[rows.len() - 1].window_ns;
        let most = if span * part > longest { MAX_VARIANCE } else { 1.0 };
        let variances = [0, 1].map(|kind| {
            let target = 1.0 + STRADDLED * row.excess[kind] / means[kind];
            (target / moments[kind] - 1.0).clamp(0.0, most)
        });
        let offsets = variances.map(f64::sqrt);
        let spread = [0, 1].map(|kind| (STRADDLED * row.excess[kind] + 1.0) / means[kind]);
        let target = (1.0 + row.together * (spread[0] * spread[1]).sqrt()).max(MIN_MOMENT);
        let most = offsets[0] * offsets[1];
        let covariance = (target / both - 1.0).clamp(-most, most);
        moments = [0, 1].map(|kind| moments[kind] * (1.0 + variances[kind]));
        both *= 1.0 + covariance;
        let together = if most > 0.0 { 0.5 + 0.5 * covariance / most } else { 0.5 };
        Split::new(offsets, together)
    })
}
