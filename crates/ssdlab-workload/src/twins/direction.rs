//! Where the requests of one kind, reads or writes, go.

use rand::Rng;
use ssdlab_base::rng::{Stream, below, mix, unit};

use super::quantiles::Quantiles;
use super::sweep::Sweep;
use crate::generate::sizes::Sizes;
use crate::generate::{Ranks, Scatter};

/// The places of the last requests of a kind.
pub(super) struct Ring {
    places: Box<[u64]>,
    count: u64,
    /// Where the last of them ended behind which known places lie, and how many there were.
    ends: [u64; ENDS],
    end_count: u64,
}

/// Requests that a ring holds, a power of two.
const RING: usize = 1 << 16;
/// Ends that a ring holds, a power of two.
pub(super) const ENDS: usize = 1 << 7;
/// In place of a place that was asked for again later, or an end that one went on from.
const GONE: u64 = u64::MAX;
/// The largest number of returns that is told apart.
const MOST_TIMES: u64 = 1 << (REGULARS - 2);
/// How many neighbours are looked at when a place is gone.
const NEAR: usize = 64;
/// Places are told apart by how often they were returned to: never, once, 2 or 3 times, and so on.
pub(super) const REGULARS: usize = 8;
/// In the ring, the bits of a place that say how often it was returned to.
const TIMES: u32 = 56;

/// Which of the [`REGULARS`] a place is that was returned to so often.
pub(super) fn regular(times: u64) -> usize {
    ((u64::BITS - times.leading_zeros()) as usize).min(REGULARS - 1)
}

impl Ring {
    pub(super) fn new() -> Ring {
        Ring { places: vec![GONE; RING].into(), count: 0, ends: [GONE; ENDS], end_count: 0 }
    }

    fn push(&mut self, place: u64, times: u64) {
        self.places[self.count as usize & (RING - 1)] = place | times.min(MOST_TIMES) << TIMES;
        self.count += 1;
    }

    /// Where the place is that was last asked for `lag` requests before the next, or about then, as
    /// near as can be one of these regulars; `None` if there is none, or it is too long ago.
    fn back(&self, lag: u64, wanted: Option<usize>) -> Option<usize> {
        if lag > self.count || lag > RING as u64 {
            return None;
        }
        let at = (self.count - lag) as usize;
        let there = |slot: &usize| self.places[*slot] != GONE;
        let first = near(at, RING).find(there);
        let (Some(wanted), Some(_)) = (wanted, first) else { return first };
        // Half as late to half as late again: returns come as late as they are to come.
        let about = near(at, RING).take(1 + (lag as usize).min(NEAR)).filter(there);
        let mut best = (usize::MAX, first);
        for slot in about {
            let off = regular(self.places[slot] >> TIMES).abs_diff(wanted);
            if off < best.0 {
                best = (off, Some(slot));
            }
            if off == 0 {
                break;
            }
        }
        best.1
    }

    /// The place in a slot.
    fn place(&self, slot: usize) -> u64 {
        self.places[slot] & ((1 << TIMES) - 1)
    }

    /// Takes a place out: it is now asked for again, and no longer `lag` requests ago. With how
    /// often it was returned to, this time included.
    fn take(&mut self, slot: usize) -> (u64, u64) {
        let taken = std::mem::replace(&mut self.places[slot], GONE);
        (taken & ((1 << TIMES) - 1), (taken >> TIMES) + 1)
    }

    fn push_end(&mut self, end: u64) {
        self.ends[self.end_count as usize & (ENDS - 1)] = end;
        self.end_count += 1;
    }

    /// The end `back` ends before the next, or about there, that none went on from; `None` if there
    /// is none.
    fn end(&self, back: u64) -> Option<usize> {
        let at = self.end_count.wrapping_sub(back.min(ENDS as u64)) as usize;
        near(at, ENDS).find(|slot| self.ends[*slot] != GONE)
    }
}

/// The slots at and about `at` of a ring of `length`, the nearest first.
fn near(at: usize, length: usize) -> impl Iterator<Item = usize> {
    let near = (0..NEAR).map(move |step| match step % 2 {
        0 => at.wrapping_add(step / 2),
        _ => at.wrapping_sub(step.div_ceil(2)),
    });
    near.map(move |at| at & (length - 1))
}

/// The hot set: slots of equal size, asked for by Zipf's law.
pub(super) struct Hot {
    /// Its first sector, and sectors of a slot.
    pub(super) first: u64,
    pub(super) slot: u64,
    /// Whether each slot's requests begin at a sector of its own, and may go on into the next slot.
    pub(super) anywhere: bool,
    pub(super) ranks: Ranks,
    pub(super) scatter: Scatter,
}

/// What the last request of this kind did.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    New,
    Visit,
    Back { lag: u64, across: bool },
    Along,
    Hot,
}

/// One kind of requests: what it is built from, and where it is.
pub(super) struct Direction {
    parts: Parts,
    pub(super) ring: Ring,
    way: Way,
    sectors: u32,
    /// How often the place of this request was returned to.
    times: u64,
}

/// What a [`Direction`] is built from.
pub(super) struct Parts {
    pub(super) stream: Stream,
    pub(super) sizes: Sizes,
    /// Mean sectors that a request takes of a sweep.
    pub(super) mean_taken: f64,
    /// The rest of the footprint, and the hot set once in full.
    pub(super) cold: Sweep,
    pub(super) visit: Sweep,
    pub(super) hot: Option<Hot>,
    pub(super) lags: Quantiles,
    pub(super) run: f64,
    pub(super) follow: f64,
    pub(super) new_run: f64,
    pub(super) known_run: f64,
    pub(super) along: f64,
    pub(super) along_lags: Quantiles,
    pub(super) again: f64,
    pub(super) size_run: f64,
    pub(super) across: f64,
    /// Shares of the returns up to each of the [`REGULARS`]; empty: none are told apart.
    pub(super) regulars: Vec<f64>,
    /// Whether only hot places are returned to: pages outside the hot set are asked for once.
    pub(super) only_hot: bool,
    /// Where its pages lie, in sectors, if it goes nowhere else: the hot set and the rest.
    pub(super) own: Option<[(u64, u64); 2]>,
    pub(super) align: u64,
    /// Sectors of the footprint.
    pub(super) end: u64,
    /// Requests of so many sectors go on through the footprint.
    pub(super) in_order: u64,
}

impl Direction {
    pub(super) fn new(parts: Parts) -> Direction {
        Direction { parts, ring: Ring::new(), way: Way::New, sectors: 0, times: 0 }
    }

    /// Place and length of the next request in sectors, with `left` of this kind to come.
    pub(super) fn next(&mut self, other: &mut Ring, left: u64) -> (u64, u32) {
        let sectors = self.size();
        let taken = u64::from(sectors).next_multiple_of(self.parts.align);
        if taken >= self.parts.in_order {
            return (self.parts.cold.next(taken), sectors);
        }
        let needed = left as f64 * self.parts.mean_taken;
        let pressed = (self.parts.cold.left + self.parts.visit.left) as f64 >= needed;
        let go_on = match self.way {
            Way::New if self.parts.cold.left > 0 => self.parts.run,
            Way::Visit if self.parts.visit.left > 0 => self.parts.run,
            Way::Back { .. } => self.parts.follow,
            _ => 0.0,
        };
        if pressed {
            self.turn(needed);
        } else if go_on == 0.0 || unit(self.parts.stream.next_u64()) >= go_on {
            self.stay_or_turn(needed);
        }
        self.times = 0;
        let place = match self.way {
            Way::New => self.parts.cold.next(taken),
            Way::Visit => self.parts.visit.next(taken),
            Way::Along => match self.along(taken) {
                Some(place) => place,
                None => {
                    self.turn_back();
                    self.again(other, taken)
                }
            },
            Way::Hot | Way::Back { .. } => self.again(other, taken),
        };
        if !self.parts.only_hot || !matches!(self.way, Way::New) {
            self.ring.push(place, self.times);
            let end = place + u64::from(sectors);
            if self.parts.along > 0.0 && self.knows(end) {
                self.ring.push_end(end);
            }
        }
        (place, sectors)
    }

    /// A place that is returned to, recent or hot.
    fn again(&mut self, other: &mut Ring, taken: u64) -> u64 {
        let Way::Back { lag, across } = self.way else { return self.hot_place(taken) };
        let wanted = self.wanted();
        let there = if across { other.back(lag, wanted) } else { None };
        let there = there.filter(|slot| self.owns(other.place(*slot)));
        let found = match there {
            Some(slot) => Some(other.take(slot)),
            None => self.ring.back(lag, wanted).map(|slot| self.ring.take(slot)),
        };
        match found {
            Some((place, times)) => {
                self.times = times;
                place
            }
            None => self.elsewhere(taken),
        }
    }

    /// Which regulars this request is to return to, if they are told apart.
    fn wanted(&mut self) -> Option<usize> {
        if self.parts.regulars.is_empty() {
            return None;
        }
        let drawn = unit(self.parts.stream.next_u64());
        Some(self.parts.regulars.iter().take_while(|upto| drawn >= **upto).count())
    }

    /// The size of the next request in sectors.
    fn size(&mut self) -> u32 {
        let again = self.sectors > 0
            && self.parts.size_run > 0.0
            && unit(self.parts.stream.next_u64()) < self.parts.size_run;
        if !again {
            self.sectors = self.parts.sizes.draw();
        }
        self.sectors
    }

    /// Whether this sector is one of those that it asks for, and was asked for.
    fn knows(&self, sector: u64) -> bool {
        sector < self.parts.end && self.parts.cold.knows(sector) && self.owns(sector)
    }

    /// Behind an earlier request, if that is a known place.
    fn along(&mut self, taken: u64) -> Option<u64> {
        let lag = self.parts.along_lags.at(unit(self.parts.stream.next_u64())) as u64;
        let slot = self.ring.end(lag.max(1))?;
        let place = self.ring.ends[slot].next_multiple_of(self.parts.align);
        self.knows(place + taken - 1).then(|| {
            self.ring.ends[slot] = GONE;
            place
        })
    }

    /// Whether `place` is one of those that it asks for.
    fn owns(&self, place: u64) -> bool {
        let within = |ranges: &[(u64, u64); 2]| {
            ranges.iter().any(|(first, end)| (*first..*end).contains(&place))
        };
        self.parts.own.as_ref().is_none_or(within)
    }

    /// New places after new ones and known after known ones, or what a draw says.
    fn stay_or_turn(&mut self, needed: f64) {
        let stay = match self.way {
            Way::New if self.parts.cold.left > 0 => self.parts.new_run,
            Way::Along | Way::Back { .. } | Way::Hot => self.parts.known_run,
            _ => 0.0,
        };
        if stay == 0.0 || unit(self.parts.stream.next_u64()) >= stay {
            self.turn(needed);
        } else if self.way == Way::New {
            self.parts.cold.turn(&mut self.parts.stream, self.parts.align > 1);
        } else {
            self.turn_known();
        }
    }

    /// Draws what this request does, so that the sweeps end with the last of `needed` sectors.
    fn turn(&mut self, needed: f64) {
        let aligned = self.parts.align > 1;
        let mut word = unit(self.parts.stream.next_u64()) * needed;
        if word < self.parts.cold.left as f64 {
            self.parts.cold.turn(&mut self.parts.stream, aligned);
            self.way = Way::New;
            return;
        }
        word -= self.parts.cold.left as f64;
        if word < self.parts.visit.left as f64 {
            self.parts.visit.turn(&mut self.parts.stream, aligned);
            self.way = Way::Visit;
            return;
        }
        self.turn_known();
    }

    /// Draws which known place this request asks for.
    fn turn_known(&mut self) {
        if self.parts.along > 0.0 && unit(self.parts.stream.next_u64()) < self.parts.along {
            self.way = Way::Along;
            return;
        }
        self.turn_back();
    }

    /// Draws which known place this request returns to, other than behind an earlier one.
    fn turn_back(&mut self) {
        if self.parts.hot.is_some() && unit(self.parts.stream.next_u64()) >= self.parts.again {
            self.way = Way::Hot;
            return;
        }
        let lag = self.parts.lags.at(unit(self.parts.stream.next_u64())) as u64;
        let across = unit(self.parts.stream.next_u64()) < self.parts.across;
        self.way = Way::Back { lag: lag.max(1), across };
    }

    /// A place when there is nothing to return to yet.
    fn elsewhere(&mut self, taken: u64) -> u64 {
        if self.parts.cold.left == 0 || self.parts.only_hot {
            self.way = Way::Hot;
            return self.hot_place(taken);
        }
        self.way = Way::New;
        self.parts.cold.turn(&mut self.parts.stream, self.parts.align > 1);
        self.parts.cold.next(taken)
    }

    fn hot_place(&mut self, taken: u64) -> u64 {
        let Some(hot) = &self.parts.hot else { return self.parts.cold.next(taken) };
        let slot = hot.scatter.place(hot.ranks.draw(&mut self.parts.stream) - 1);
        let within = match hot.slot / taken {
            _ if hot.anywhere => mix(slot) % hot.slot,
            0 | 1 => 0,
            places => below(self.parts.stream.next_u64(), places) * taken,
        };
        hot.first + slot * hot.slot + within
    }
}
