//! The arrival times of a twin: short gaps within bursts, long gaps between them.

use rand::Rng;
use ssdlab_base::rng::{Stream, unit};

use super::quantiles::Quantiles;
use super::shape::Shape;

/// Draws the times between requests, so that the last request ends the span.
pub(super) struct Clock {
    gaps: Quantiles,
    /// The share of the gaps that are short.
    short: f64,
    /// Factors on the short and on the long gaps, in nanoseconds per microsecond.
    short_scale: f64,
    long_scale: f64,
    /// The parts of the mean gap from short and from long gaps after scaling, in nanoseconds per
    /// request.
    short_mean: f64,
    long_mean: f64,
    /// The number of short gaps in a row; the factor on it that gives the right number of short
    /// gaps; and the number left in the current row.
    bursts: Quantiles,
    burst_scale: f64,
    burst_left: u64,
    /// The quantile eighth of the last short gap, and the probability that the next gap is in the
    /// same eighth.
    eighth: f64,
    gap_run: f64,
    /// The prevailing eighth. `gap_phase` is the share of the other short gaps that are in it, and
    /// `gap_phase_run` the probability that it continues to prevail.
    phase: f64,
    /// A permutation of the eighths, with those that have already prevailed at the end, and their
    /// number.
    eighths: [u8; 8],
    prevailed: usize,
    gap_phase: f64,
    gap_phase_run: f64,
    /// The number of gaps left, and the time left for them, in nanoseconds.
    left: u64,
    time_left: f64,
    stream: Stream,
}

impl Clock {
    pub(super) fn new(shape: &Shape, left: u64, span: f64, stream: Stream) -> Clock {
        let (gaps, bursts) = (shape.gaps_us.clone(), shape.bursts.clone());
        let (mean, _) = gaps.parts_of_mean(gaps.count());
        let split = gaps.steps_below(mean);
        let (below, above) = gaps.parts_of_mean(split);
        let short = split as f64 / gaps.count() as f64;
        let wanted = span / 1e3 / left.max(1) as f64;
        // Bursts keep their times, unless the bursts alone exceed the span.
        let (short_scale, long_scale) = if wanted > 1.1 * below && above > 0.0 {
            (1e3, 1e3 * (wanted - below) / above)
        } else {
            let scale = 1e3 * wanted / (below + above).max(1e-9);
            (scale, scale)
        };
        let (row, _) = bursts.parts_of_mean(bursts.count());
        let burst_scale = if row > 0.0 { short / (1.0 - short) / row } else { 0.0 };
        Clock {
            gaps,
            short,
            short_scale,
            long_scale,
            short_mean: below * short_scale,
            long_mean: above * long_scale,
            bursts,
            burst_scale,
            burst_left: 0,
            eighth: 0.0,
            gap_run: shape.gap_run.get(),
            phase: 0.0,
            eighths: [0, 1, 2, 3, 4, 5, 6, 7],
            prevailed: 0,
            gap_phase: shape.gap_phase.get(),
            gap_phase_run: shape.gap_phase_run.get(),
            left,
            time_left: span,
            stream,
        }
    }

    /// Returns the time from this request to the next, in nanoseconds.
    pub(super) fn next_gap(&mut self) -> u64 {
        let part = unit(self.stream.next_u64());
        let (share, scale) = if self.burst_left > 0 {
            self.burst_left -= 1;
            self.turn_eighth();
            (0.125 * (self.eighth + part) * self.short, self.short_scale)
        } else {
            let row = self.bursts.at(unit(self.stream.next_u64())) * self.burst_scale;
            // Rounds up with the probability of the fraction, which keeps the mean.
            self.burst_left = (row + unit(self.stream.next_u64())) as u64;
            (self.short + part * (1.0 - self.short), self.long_scale * self.pace())
        };
        let drawn = self.gaps.at(share) * scale;
        // The last gap ends the span, and no earlier gap exceeds it.
        let most =
            (self.time_left - self.left as f64 * self.short_mean).max(drawn.min(self.short_mean));
        let gap = if self.left == 1 { self.time_left.max(0.0) } else { drawn.min(most) };
        let gap = (gap + 0.5) as u64;
        self.left = self.left.saturating_sub(1);
        self.time_left -= gap as f64;
        gap
    }

    /// Chooses the quantile eighth of the next short gap.
    fn turn_eighth(&mut self) {
        let mut draw = || unit(self.stream.next_u64());
        if self.gap_phase > 0.0 && draw() >= self.gap_phase_run {
            // Each eighth prevails once before any prevails again. The gaps then soon follow their
            // distribution.
            let place = (draw() * (8 - self.prevailed) as f64) as usize;
            let last = 7 - self.prevailed;
            self.eighths.swap(place, last);
            self.phase = f64::from(self.eighths[last]);
            self.prevailed = (self.prevailed + 1) % 8;
        }
        if self.gap_run == 0.0 || draw() >= self.gap_run {
            self.eighth = if self.gap_phase > 0.0 && draw() < self.gap_phase {
                self.phase
            } else {
                (8.0 * draw()).floor()
            };
        }
    }

    /// Returns the factor on a long gap that makes the requests end in time.
    fn pace(&self) -> f64 {
        let left = self.left.max(1) as f64;
        let wanted = (self.time_left / left - self.short_mean) / self.long_mean;
        if wanted.is_finite() { wanted.clamp(0.1, 10.0) } else { 1.0 }
    }
}
