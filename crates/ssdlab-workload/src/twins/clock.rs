//! When a twin's requests come: short gaps within bursts, long ones between them.

use rand::Rng;
use ssdlab_base::rng::{Stream, unit};

use super::quantiles::Quantiles;
use super::shape::Shape;

/// Draws the times between requests so that the last comes when the span is over.
pub(super) struct Clock {
    gaps: Quantiles,
    /// The share of gaps that are short.
    short: f64,
    /// Factors on the short gaps and on the long ones, in nanoseconds a microsecond.
    short_scale: f64,
    long_scale: f64,
    /// Means of both parts after scaling, in nanoseconds a request.
    short_mean: f64,
    long_mean: f64,
    /// Short gaps in a row, the factor on them that makes them as many as there are to be, and
    /// how many are left of this row.
    bursts: Quantiles,
    burst_scale: f64,
    burst_left: u64,
    /// The eighth of the short gaps that the last one was in, and the probability that the next is
    /// in it, too.
    eighth: f64,
    gap_run: f64,
    /// The eighth that prevails, how many of the others are in it, and for how long.
    phase: f64,
    /// The eighths, behind those that have not prevailed those that have, and how many have.
    eighths: [u8; 8],
    prevailed: usize,
    gap_phase: f64,
    gap_phase_run: f64,
    /// Gaps still to come, and the time for them.
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
        // Bursts keep their times, unless they alone are longer than the whole.
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

    /// The time from this request to the next, in nanoseconds.
    pub(super) fn next_gap(&mut self) -> u64 {
        let part = unit(self.stream.next_u64());
        let (share, scale) = if self.burst_left > 0 {
            self.burst_left -= 1;
            self.turn_eighth();
            (0.125 * (self.eighth + part) * self.short, self.short_scale)
        } else {
            let row = self.bursts.at(unit(self.stream.next_u64())) * self.burst_scale;
            // Rounded up as often as its fraction says: the mean stays.
            self.burst_left = (row + unit(self.stream.next_u64())) as u64;
            (self.short + part * (1.0 - self.short), self.long_scale * self.pace())
        };
        let drawn = self.gaps.at(share) * scale;
        // The last gap ends with the span, and none before goes over it.
        let most =
            (self.time_left - self.left as f64 * self.short_mean).max(drawn.min(self.short_mean));
        let gap = if self.left == 1 { self.time_left.max(0.0) } else { drawn.min(most) };
        let gap = (gap + 0.5) as u64;
        self.left = self.left.saturating_sub(1);
        self.time_left -= gap as f64;
        gap
    }

    /// The eighth that the next short gap is in.
    fn turn_eighth(&mut self) {
        let mut draw = || unit(self.stream.next_u64());
        if self.gap_phase > 0.0 && draw() >= self.gap_phase_run {
            // Each eighth prevails once before one does so again: gaps soon are distributed as
            // said.
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

    /// What a long gap is stretched by, to end in time.
    fn pace(&self) -> f64 {
        let left = self.left.max(1) as f64;
        let wanted = (self.time_left / left - self.short_mean) / self.long_mean;
        if wanted.is_finite() { wanted.clamp(0.1, 10.0) } else { 1.0 }
    }
}
