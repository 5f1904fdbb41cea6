//! Measured frame error rates: the code of `code.rs`, its decoder, and random channels.
//!
//! The measurement sends the all-zero codeword over the channel made symmetric. Channel and decoder
//! treat all codewords alike, so that any other codeword fails as often. The draws depend only on
//! seed, point and frame, not on the number of threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rand::Rng;
use serde::Serialize;
use ssdlab_base::rng;
use ssdlab_base::threads::in_up_to;

use crate::channel::Symmetric;
use crate::code::{CIRCULANT, COLUMNS, Code};
use crate::decode::{Decoder, Frame};
use crate::min_sum::quantized;
use crate::tail;

/// Iterations after which the decoder gives up. Assumed.
pub const ITERATIONS: u32 = 50;
/// Failures after which a point is precise enough, to a fifth of its value.
const FAILURES: u64 = 100;
/// A curve ends at a point with fewer failures, since the next point would have none.
const FEW: u64 = 10;
/// Frames drawn from one stream.
const CHUNK: u64 = 16;
/// Frames of the first round; each later round is twice as long. A point ends for its failures only
/// between rounds. The result therefore does not depend on which thread finishes first.
const ROUND: u64 = 256;

/// The size of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// The most frames at each point.
    Frames(u64),
    /// The seconds of the whole measurement.
    Seconds(f64),
}

/// The measurement at one raw bit error rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The raw bit error rate of hard decisions.
    pub rber: f64,
    /// Frames that the decoder tried to decode.
    pub frames: u64,
    /// Frames for which the decoder found no codeword, or a wrong one.
    pub failures: u64,
    /// Share of frames that failed.
    pub rate: f64,
    /// Lower end of the exact 95 % interval of `rate`.
    pub least: f64,
    /// Upper end of this interval.
    pub most: f64,
    /// Mean iterations of the frames that decoded; null if none did.
    pub iterations: Option<f64>,
}

/// The stop flag and the progress callback of a measurement.
pub struct Hooks<'a> {
    /// Set to stop. The measurement keeps its results so far.
    pub stop: &'a AtomicBool,
    /// Called with the share that is done, and with the frames so far.
    pub note: &'a (dyn Fn(f64, u64) + Sync),
}

/// The points to measure: a curve for each number of levels, from the highest rate down.
pub struct Plan<'a> {
    /// Numbers of levels, each with its raw bit error rates.
    pub curves: &'a [(usize, Vec<f64>)],
    /// Returns the channel at a number of levels and a raw bit error rate.
    pub channel: &'a (dyn Fn(usize, f64) -> Symmetric + Sync),
    /// The size of the measurement.
    pub budget: Budget,
    /// Seed of all draws.
    pub seed: u64,
    /// Number of threads.
    pub jobs: usize,
}

/// The counters of one point.
#[derive(Debug, Default)]
struct Count {
    frames: AtomicU64,
    failures: AtomicU64,
    iterations: AtomicU64,
}

/// Measures all curves. Returns the points of each curve, and whether the measurement was stopped.
pub fn measure(plan: &Plan<'_>, hooks: &Hooks<'_>) -> (Vec<Vec<Measured>>, bool) {
    let clock = Clock::start();
    let code = Code::flash();
    let whole: usize = plan.curves.iter().map(|(_, rates)| rates.len()).sum();
    let (mut begun, mut frames) = (0, 0);
    let mut curves = Vec::new();
    for (at, (levels, rates)) in plan.curves.iter().enumerate() {
        let end = match plan.budget {
            Budget::Frames(_) => f64::INFINITY,
            Budget::Seconds(all) => all * (at + 1) as f64 / plan.curves.len() as f64,
        };
        let mut points: Vec<Measured> = Vec::new();
        for (index, &rber) in rates.iter().enumerate() {
            let is_over = || hooks.stop.load(Ordering::Relaxed) || clock.seconds() >= end;
            if is_over() || points.last().is_some_and(|point| point.failures < FEW) {
                break;
            }
            let share = || match plan.budget {
                Budget::Frames(_) => (begun + index) as f64 / whole as f64,
                Budget::Seconds(all) => (clock.seconds() / all).min(1.0),
            };
            let place = Place { rber, number: (levels * 1_000 + index) as u64 };
            let note = |count: u64| (hooks.note)(share(), frames + count);
            let channel = (plan.channel)(*levels, rber);
            let found =
                point(plan, &code, &channel, &place, &Limits { is_over: &is_over, note: &note });
            frames += found.frames;
            points.extend((found.frames > 0).then_some(found));
        }
        begun += rates.len();
        curves.push(points);
    }
    (curves, hooks.stop.load(Ordering::Relaxed))
}

/// A point: its rate, and the number that seeds its draws.
struct Place {
    rber: f64,
    number: u64,
}

struct Limits<'a> {
    is_over: &'a (dyn Fn() -> bool + Sync),
    note: &'a (dyn Fn(u64) + Sync),
}

/// Measures one point, in rounds.
fn point(
    plan: &Plan<'_>,
    code: &Code,
    channel: &Symmetric,
    place: &Place,
    limits: &Limits<'_>,
) -> Measured {
    let most = match plan.budget {
        Budget::Frames(most) => most,
        Budget::Seconds(_) => u64::MAX,
    };
    let source = Source::new(channel);
    let count = Count::default();
    let (mut begun, mut round) = (0, ROUND);
    while begun < most && count.failures.load(Ordering::Relaxed) < FAILURES && !(limits.is_over)() {
        let end = most.min(begun + round);
        let next = AtomicU64::new(begun);
        in_up_to(plan.jobs, || {
            let mut decoder = Decoder::new(code.clone(), ITERATIONS);
            while !(limits.is_over)() {
                let first = next.fetch_add(CHUNK, Ordering::Relaxed);
                if first >= end {
                    break;
                }
                let seed = rng::hash(plan.seed, place.number, first);
                chunk(&mut decoder, &source, seed, CHUNK.min(end - first), &count);
                (limits.note)(count.frames.load(Ordering::Relaxed));
            }
        });
        begun = end;
        round *= 2;
    }
    count.measured(place.rber)
}

/// Decodes `frames` frames of one stream.
fn chunk(decoder: &mut Decoder, source: &Source, seed: u64, frames: u64, count: &Count) {
    let mut stream = rng::stream(seed, "ldpc frames");
    let mut frame: Box<Frame> = Box::new([[0; CIRCULANT]; COLUMNS]);
    for _ in 0..frames {
        source.draw(&mut stream, &mut frame);
        let iterations = decoder.decode(&mut frame);
        // A codeword that was not sent is a failure too.
        let is_right = frame.iter().flatten().all(|&bit| bit > 0);
        match iterations.filter(|_| is_right) {
            Some(iterations) => count.iterations.fetch_add(iterations.into(), Ordering::Relaxed),
            None => count.failures.fetch_add(1, Ordering::Relaxed),
        };
        count.frames.fetch_add(1, Ordering::Relaxed);
    }
}

impl Count {
    fn measured(&self, rber: f64) -> Measured {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (frames, failures) = (get(&self.frames), get(&self.failures));
        let decoded = frames - failures;
        let (least, most) = if frames == 0 { (0.0, 1.0) } else { tail::interval(frames, failures) };
        Measured {
            rber,
            frames,
            failures,
            rate: failures as f64 / frames.max(1) as f64,
            least,
            most,
            iterations: (decoded > 0).then(|| get(&self.iterations) as f64 / decoded as f64),
        }
    }
}

/// A sampler of the channel's outputs for a zero.
struct Source {
    /// For each output, the lowest 32-bit draw that gives it, and the output.
    outputs: Vec<(u32, i8)>,
}

impl Source {
    fn new(channel: &Symmetric) -> Source {
        let mut before = 0.0;
        let outputs = channel.points().iter().map(|point| {
            let start = (before * 2f64.powi(32)) as u32;
            before += point.probability;
            (start, quantized(point.ratio))
        });
        Source { outputs: outputs.collect() }
    }

    fn draw(&self, stream: &mut rng::Stream, frame: &mut Frame) {
        for bit in frame.iter_mut().flatten() {
            let draw = stream.next_u32();
            // Comparing with every answer avoids a branch that the processor must predict.
            *bit = self.outputs.iter().fold(
                0,
                |output, &(start, other)| {
                    if draw >= start { other } else { output }
                },
            );
        }
    }
}

/// The wall clock, by which the user states a budget in seconds.
struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "a budget of seconds is one of the wall clock")]
    fn start() -> Clock {
        Clock(Instant::now())
    }

    fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Applies `of` to each thing, on up to `jobs` threads. Returns the results in the order of the
/// things.
pub fn each<T: Sync, R: Send>(things: &[T], jobs: usize, of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicU64::new(0);
    let found = Mutex::new(Vec::new());
    in_up_to(jobs, || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed) as usize;
            let Some(thing) = things.get(at) else { break };
            let result = of(thing);
            found.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, result)| result).collect()
}
