//! Arrival times as bursty over hours as over milliseconds: a multiplicative cascade.
//!
//! The span of a workload is halved again and again. Each half receives its part of the requests,
//! one half more than the other, and which half is drawn. Requests then cluster in clusters of
//! clusters, as those of real block traces do. The *index of dispersion* measures this: the
//! variance over the mean of the number of requests in windows of one length. It is 1 for
//! independent arrivals, and grows with the window in real traces.
//!
//! Source: the b-model of Wang, Madhyastha, Chan, Papadimitriou and Faloutsos, "Data mining meets
//! performance evaluation: fast algorithms for modeling bursty traffic" (ICDE 2002). With a Hurst
//! parameter, each halving has a bias of its own, as in the multifractal wavelet model of Riedi et
//! al. (IEEE Trans. Information Theory 45(3), 1999). Reads and writes are divided separately, so
//! that they come in phases.

use std::f64::consts::LN_2;

use rand::Rng;
use ssdlab_base::math;
use ssdlab_base::rng::{Stream, unit};

/// The length of the shortest parts of a generated workload, in nanoseconds: 1 us.
const SHORTEST: f64 = 1_000.0;
/// The most halvings: the index of a part then fits into a word.
const MAX_LEVELS: f64 = 60.0;
/// The largest number of requests that draw their halves one by one. For more, the number in a half
/// is nearly normal.
const DRAWN: u64 = 32;
/// The least number of halvings to the windows in which the bias determines the variance.
const MIN_ANCHOR: f64 = 4.0;
/// The least variance in these windows, over that of independent requests, which comes on top.
/// With less, chance hides the Hurst parameter.
const MIN_EXCESS: f64 = 1.0;

/// How one halving divides the requests: shares of the busier half, and agreement of the kinds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Split {
    /// The shares of the reads and of the writes in their busier half, times 65,536.
    busier: [u64; 2],
    /// The probability that reads and writes have the same busier half.
    together: f64,
}

impl Split {
    /// Returns a halving whose busier half has the share (1 + offset) / 2 of the reads, and of the
    /// writes.
    pub(crate) fn new(offsets: [f64; 2], together: f64) -> Split {
        Split { busier: offsets.map(busier), together }
    }

    /// Returns the probabilities that two reads, two writes, and one of each fall to one half.
    fn stay(&self) -> [f64; 3] {
        let [read, write] = self.busier.map(|share| 2.0 * share as f64 / WHOLE as f64 - 1.0);
        let both = (2.0 * self.together - 1.0) * read * write;
        [read * read, write * write, both].map(|product| 0.5 + 0.5 * product)
    }
}

/// A part of the span, and its reads and writes.
#[derive(Clone, Copy, Debug)]
struct Part {
    level: u32,
    /// The index among the parts of its level.
    index: u64,
    left: [u64; 2],
}

/// Reads and writes in the order of their times.
#[derive(Debug)]
pub(crate) struct Cascade {
    /// Begin and length of the span, in nanoseconds.
    begin: f64,
    span: f64,
    splits: Vec<Split>,
    /// The probabilities that two requests are still in one part after so many halvings: two
    /// reads, two writes, and one of each.
    stay: Vec<[f64; 3]>,
    /// The later parts, from the latest to the next.
    parts: Vec<Part>,
    /// The shortest part whose requests arrive now, and their number.
    now: Part,
    within: u64,
    stream: Stream,
}

impl Cascade {
    /// Returns the arrivals of `counts` reads and writes over a span in nanoseconds. Without a
    /// Hurst parameter, the busier half of every part has the share `bias`. With one, only the
    /// variance in windows of one request in the mean is that of the bias. `together` is the
    /// probability that reads and writes have the same busier half.
    pub(crate) fn self_similar(
        counts: [u64; 2],
        span: f64,
        (bias, hurst, together): (f64, Option<f64>, f64),
        stream: Stream,
    ) -> Cascade {
        let each = (2.0 * bias - 1.0) * (2.0 * bias - 1.0);
        let all = halvings_to_one(counts[0] + counts[1]);
        // The second moment after so many halvings. Between two halvings it changes by a power of
        // the length, as the energies of wavelets do that measure the Hurst parameter.
        let moment = |halvings: u32| match hurst {
            Some(hurst) => {
                let part = growth(hurst, f64::from(halvings)) / growth(hurst, all);
                1.0 + (math::pow(1.0 + each, all) - 1.0) * part
            }
            None => math::pow(1.0 + each, f64::from(halvings)),
        };
        let split = |level: u32| {
            let growth = moment(level + 1) / moment(level);
            Split::new([(growth - 1.0).sqrt(); 2], together)
        };
        let mut cascade = Cascade::empty(stream);
        cascade.start(counts, (0.0, span), (0..levels(span, SHORTEST)).map(split));
        cascade
    }

    /// Returns a cascade without requests.
    pub(crate) fn empty(stream: Stream) -> Cascade {
        let now = Part { level: 0, index: 0, left: [0, 0] };
        let (splits, stay, parts) = (Vec::new(), Vec::new(), Vec::new());
        Cascade { begin: 0.0, span: 0.0, splits, stay, parts, now, within: 0, stream }
    }

    /// Continues with `counts` reads and writes over a span: its begin and its length, in
    /// nanoseconds. None may be left of those before.
    pub(crate) fn start(
        &mut self,
        counts: [u64; 2],
        (begin, span): (f64, f64),
        splits: impl Iterator<Item = Split>,
    ) {
        (self.begin, self.span) = (begin, span);
        self.splits.clear();
        self.splits.extend(splits);
        self.stay.clear();
        let mut stay = [1.0; 3];
        self.stay.push(stay);
        for split in &self.splits {
            let now = split.stay();
            stay = [0, 1, 2].map(|pair| stay[pair] * now[pair]);
            self.stay.push(stay);
        }
        self.parts.reserve(self.splits.len() + 2);
        self.parts.push(Part { level: 0, index: 0, left: counts });
    }

    /// Returns whether no request is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.now.left == [0, 0]
    }

    /// Returns the time of the next request, and whether it is a read. One must be left.
    pub(crate) fn next(&mut self) -> (u64, bool) {
        while self.now.left == [0, 0] {
            let Some(part) = self.parts.pop() else { break };
            match part.left {
                [1, 0] | [0, 1] => return self.alone(part),
                [2, 0] | [0, 2] | [1, 1] => {
                    if let Some(first) = self.pair(part) {
                        return first;
                    }
                }
                [reads, writes] if part.level as usize == self.splits.len() => {
                    (self.now, self.within) = (part, reads + writes);
                }
                _ => self.divide(part),
            }
        }
        let [reads, writes] = self.now.left;
        let left = reads + writes;
        let read = writes == 0 || self.draw() * (left as f64) < reads as f64;
        let at = (self.within - left) as f64 + self.draw();
        let one = &mut self.now.left[usize::from(!read)];
        *one = one.saturating_sub(1);
        (self.time(self.now, at / self.within as f64), read)
    }

    /// Divides a part with two requests until they are apart, with one draw. Returns the first of
    /// them, or `None` if they stay together down to the shortest part.
    fn pair(&mut self, part: Part) -> Option<(u64, bool)> {
        let kinds = match part.left {
            [2, 0] => 0,
            [0, 2] => 1,
            _ => 2,
        };
        let from = part.level as usize;
        let word = self.stream.next_u64();
        let least = unit(word) * self.stay[from][kinds];
        let together = self.stay[from + 1..].iter().take_while(|stay| stay[kinds] > least).count();
        let level = part.level + together as u32;
        let bits = if together == 0 { 0 } else { self.stream.next_u64() >> (64 - together) };
        let index = part.index << together | bits;
        if level as usize == self.splits.len() {
            (self.now, self.within) = (Part { level, index, left: part.left }, 2);
            return None;
        }
        // The lowest bits of the word have no part in the number that it was drawn for.
        let read_first = kinds == 0 || kinds == 2 && word & 1 == 0;
        let half = |side: u64, read: bool| {
            let left = [u64::from(read), u64::from(!read)];
            Part { level: level + 1, index: 2 * index + side, left }
        };
        let read_second = kinds == 0 || kinds == 2 && !read_first;
        self.parts.push(half(1, read_second));
        Some(self.alone(half(0, read_first)))
    }

    /// Returns the arrival of the only request of a part, at any time within it.
    fn alone(&mut self, part: Part) -> (u64, bool) {
        let within = self.draw();
        (self.time(part, within), part.left[0] == 1)
    }

    fn time(&self, part: Part, within: f64) -> u64 {
        let length = self.span * power(part.level);
        (self.begin + (part.index as f64 + within) * length) as u64
    }

    fn divide(&mut self, part: Part) {
        let Split { busier, together } = self.splits[part.level as usize];
        let word = self.stream.next_u64();
        let read_first = word & 1 == 1;
        let write_first = read_first == (unit(word) < together);
        let share =
            |kind: usize, first: bool| if first { busier[kind] } else { WHOLE - busier[kind] };
        let first = [
            self.part_of(part.left[0], share(0, read_first)),
            self.part_of(part.left[1], share(1, write_first)),
        ];
        let second = [part.left[0] - first[0], part.left[1] - first[1]];
        let half =
            |side: u64, left| Part { level: part.level + 1, index: 2 * part.index + side, left };
        if second != [0, 0] {
            self.parts.push(half(1, second));
        }
        if first != [0, 0] {
            self.parts.push(half(0, first));
        }
    }

    /// Draws how many of `count` requests fall to a half of this share.
    fn part_of(&mut self, count: u64, share: u64) -> u64 {
        if count == 0 || share == 0 || share == WHOLE {
            return if share == 0 { 0 } else { count };
        }
        let word = self.stream.next_u64();
        if count > DRAWN {
            let share = share as f64 / WHOLE as f64;
            let mean = count as f64 * share;
            let drawn = mean + (mean * (1.0 - share)).sqrt() * nearly_normal(word);
            return (drawn + 0.5).clamp(0.0, count as f64) as u64;
        }
        let (mut left, mut word, mut part) = (count, word, 0);
        while left > 0 {
            if left < count && (count - left).is_multiple_of(4) {
                word = self.stream.next_u64();
            }
            part += u64::from(word & (WHOLE - 1) < share);
            word >>= WHOLE.trailing_zeros();
            left -= 1;
        }
        part
    }

    fn draw(&mut self) -> f64 {
        unit(self.stream.next_u64())
    }
}

/// Returns the number of halvings down to parts with one request in the mean.
fn halvings_to_one(requests: u64) -> f64 {
    math::log2(requests.max(1) as f64).max(MIN_ANCHOR)
}

/// Returns how much the variance has grown after so many halvings, up to a factor. In windows half
/// as long, the variance over the squared mean is larger by 2 to the power of 2 - 2 `hurst`.
fn growth(hurst: f64, halvings: f64) -> f64 {
    math::exp_m1((2.0 - 2.0 * hurst) * halvings * LN_2)
}

/// Returns the least and the largest bias that so many requests can have with this Hurst
/// parameter. With less, chance hides the bursts; with more, half of the span has more than all
/// requests.
pub(crate) fn biases(hurst: f64, requests: u64) -> [f64; 2] {
    let all = halvings_to_one(requests);
    let largest = growth(hurst, all) / growth(hurst, 1.0);
    [MIN_EXCESS, largest].map(|excess| {
        let each = math::pow(1.0 + excess, 1.0 / all) - 1.0;
        0.5 + 0.5 * each.sqrt()
    })
}

/// Returns a draw with mean 0 and deviation 1: the sum of four even ones.
fn nearly_normal(word: u64) -> f64 {
    let pieces = [0, 16, 32, 48].map(|from| (word >> from) & (WHOLE - 1));
    let sum = (pieces.iter().sum::<u64>() + 2) as f64 / WHOLE as f64;
    (sum - 2.0) * 3f64.sqrt()
}

/// Returns 2 to the power of `-level`; at most 60.
fn power(level: u32) -> f64 {
    f64::from_bits(u64::from(1023 - level) << 52)
}

/// A share of 1 in [`Split::busier`].
const WHOLE: u64 = 1 << 16;

/// Returns the number of halvings down to parts of this length.
pub(crate) fn levels(span: f64, shortest: f64) -> u32 {
    math::log2((span / shortest).max(1.0)).ceil().min(MAX_LEVELS) as u32
}

/// Returns the share (1 + offset) / 2 of the busier half, as [`Split::busier`].
fn busier(offset: f64) -> u64 {
    ((0.5 + 0.5 * offset) * WHOLE as f64 + 0.5) as u64
}
