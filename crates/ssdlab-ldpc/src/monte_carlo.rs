//! How often frames really fail: the code of `code.rs`, its decoder, drawn channels.
//!
//! The all-zero codeword is sent on the channel made symmetric; channel and decoder treat all
//! codewords alike, so that any other fails as often. What is drawn depends on seed, point and
//! frame alone, not on how many threads there are.

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
use crate::min_sum::quantised;
use crate::tail;

/// Iterations after which the decoder gives up. Assumed.
pub const ITERATIONS: u32 = 50;
/// Failures after which a point is known well enough, to a fifth of itself.
const FAILURES: u64 = 100;
/// A curve ends at a point that has fewer: the next would have none.
const FEW: u64 = 10;
/// Frames that are drawn from one stream.
const CHUNK: u64 = 16;
/// Frames of the first round; each next one is twice as long. Only between rounds does a point end
/// because it is known well enough, so that this does not depend on who was first.
const ROUND: u64 = 256;

/// How much is to be measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// So many frames at most at each point.
    Frames(u64),
    /// So many seconds in all.
    Seconds(f64),
}

/// What is measured at one raw bit error rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The raw bit error rate of hard decisions.
    pub rber: f64,
    /// Frames that were decoded.
    pub frames: u64,
    /// Those of which the decoder found no codeword, or a wrong one.
    pub failures: u64,
    /// Their share.
    pub rate: f64,
    /// The lower end of its exact 95 % interval.
    pub least: f64,
    /// The upper end.
    pub most: f64,
    /// Mean iterations of the frames that were decoded; null if none was.
    pub iterations: Option<f64>,
}

/// How a measurement is stopped, and where it reports its progress.
pub struct Hooks<'a> {
    /// Set to stop; what was measured until then is kept.
    pub stop: &'a AtomicBool,
    /// Called with the share that is done and the frames so far.
    pub note: &'a (dyn Fn(f64, u64) + Sync),
}

/// Points to be measured: a curve for each number of levels, from the highest rate down.
pub struct Plan<'a> {
    /// Levels, and the raw bit error rates.
    pub curves: &'a [(usize, Vec<f64>)],
    /// What is answered at a number of levels and a raw bit error rate.
    pub channel: &'a (dyn Fn(usize, f64) -> Symmetric + Sync),
    /// How much is to be measured.
    pub budget: Budget,
    /// Of all chance.
    pub seed: u64,
    /// Threads.
    pub jobs: usize,
}

/// What has happened at a point.
#[derive(Debug, Default)]
struct Count {
    frames: AtomicU64,
    failures: AtomicU64,
    iterations: AtomicU64,
}

/// Measures; the points of each curve, and whether it was stopped.
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

/// A point, by its rate and by the number that its chance has.
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

/// Decodes some frames of one stream.
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

/// A channel's answers to a zero, to be drawn.
struct Source {
    /// The draws of 32 bits from which on an answer comes, and the answer.
    answers: Vec<(u32, i8)>,
}

impl Source {
    fn new(channel: &Symmetric) -> Source {
        let mut before = 0.0;
        let answers = channel.points().iter().map(|point| {
            let start = (before * 2f64.powi(32)) as u32;
            before += point.probability;
            (start, quantised(point.ratio))
        });
        Source { answers: answers.collect() }
    }

    fn draw(&self, stream: &mut rng::Stream, frame: &mut Frame) {
        for bit in frame.iter_mut().flatten() {
            let draw = stream.next_u32();
            // Chosen rather than searched: no branch to guess.
            *bit = self.answers.iter().fold(
                0,
                |answer, &(start, other)| {
                    if draw >= start { other } else { answer }
                },
            );
        }
    }
}

/// The wall clock: a budget of seconds is one of the user's.
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

/// Applies a function to each of some things, several at a time; results in their order.
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
