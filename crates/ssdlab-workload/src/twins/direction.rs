//! Where the requests of one kind, reads or writes, go.

use rand::Rng;
use ssdlab_base::rng::{Stream, below, unit};

use super::quantiles::Quantiles;
use super::sweep::Sweep;
use crate::generate::sizes::Sizes;
use crate::generate::{Ranks, Scatter};

/// The places of the last requests of a kind.
pub(super) struct Ring {
    places: Box<[u64]>,
    count: u64,
}

/// Requests that a ring holds, a power of two.
const RING: usize = 1 << 16;
/// In place of a place that was asked for again later.
const GONE: u64 = u64::MAX;
/// How many neighbours are looked at when a place is gone.
const NEAR: usize = 64;

impl Ring {
    pub(super) fn new() -> Ring {
        Ring { places: vec![GONE; RING].into(), count: 0 }
    }

    #[inline]
    fn push(&mut self, place: u64) {
        self.places[self.count as usize & (RING - 1)] = place;
        self.count += 1;
    }

    /// Where the place is that was last asked for `lag` requests before the next, or about then;
    /// `None` if there is none, or it is too long ago.
    #[inline]
    fn back(&self, lag: u64) -> Option<usize> {
        if lag > self.count || lag > RING as u64 {
            return None;
        }
        let at = (self.count - lag) as usize;
        let near = (0..NEAR).map(|step| match step % 2 {
            0 => at.wrapping_add(step / 2),
            _ => at.wrapping_sub(step.div_ceil(2)),
        });
        near.map(|at| at & (RING - 1)).find(|slot| self.places[*slot] != GONE)
    }

    /// Takes a place out: it is now asked for again, and no longer `lag` requests ago.
    #[inline]
    fn take(&mut self, slot: usize) -> u64 {
        std::mem::replace(&mut self.places[slot], GONE)
    }
}

/// The hot set: slots of equal size, asked for by Zipf's law.
pub(super) struct Hot {
    /// Its first sector, and sectors of a slot.
    pub(super) first: u64,
    pub(super) slot: u64,
    pub(super) ranks: Ranks,
    pub(super) scatter: Scatter,
}

/// What the last request of this kind did.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    New,
    Visit,
    Back { lag: u64, across: bool },
    Hot,
}

/// One kind of requests: what it is built from, and where it is.
pub(super) struct Direction {
    parts: Parts,
    pub(super) ring: Ring,
    way: Way,
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
    pub(super) again: f64,
    pub(super) across: f64,
    /// Whether only hot places are returned to: pages outside the hot set are asked for once.
    pub(super) only_hot: bool,
    /// Where its pages lie, in sectors, if it goes nowhere else: the hot set and the rest.
    pub(super) own: Option<[(u64, u64); 2]>,
    pub(super) align: u64,
    /// Requests of so many sectors go on through the footprint.
    pub(super) in_order: u64,
}

impl Direction {
    pub(super) fn new(parts: Parts) -> Direction {
        Direction { parts, ring: Ring::new(), way: Way::New }
    }

    /// Place and length of the next request in sectors, with `left` of this kind to come.
    #[inline]
    pub(super) fn next(&mut self, other: &mut Ring, left: u64) -> (u64, u32) {
        let sectors = self.parts.sizes.draw();
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
        if pressed || unit(self.parts.stream.next_u64()) >= go_on {
            self.turn(needed);
        }
        let place = match self.way {
            Way::New => self.parts.cold.next(taken),
            Way::Visit => self.parts.visit.next(taken),
            Way::Hot => self.hot_place(taken),
            Way::Back { lag, across } => {
                let there = if across { other.back(lag) } else { None };
                let there = there.filter(|slot| self.owns(other.places[*slot]));
                match (there, self.ring.back(lag)) {
                    (Some(slot), _) => other.take(slot),
                    (None, Some(slot)) => self.ring.take(slot),
                    (None, None) => self.elsewhere(taken),
                }
            }
        };
        if !self.parts.only_hot || !matches!(self.way, Way::New) {
            self.ring.push(place);
        }
        (place, sectors)
    }

    /// Whether `place` is one of those that it asks for.
    #[inline]
    fn owns(&self, place: u64) -> bool {
        let within = |ranges: &[(u64, u64); 2]| {
            ranges.iter().any(|(first, end)| (*first..*end).contains(&place))
        };
        self.parts.own.as_ref().is_none_or(within)
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

    #[inline]
    fn hot_place(&mut self, taken: u64) -> u64 {
        let Some(hot) = &self.parts.hot else { return self.parts.cold.next(taken) };
        let slot = hot.scatter.place(hot.ranks.draw(&mut self.parts.stream) - 1);
        let within = match hot.slot / taken {
            0 | 1 => 0,
            places => below(self.parts.stream.next_u64(), places) * taken,
        };
        hot.first + slot * hot.slot + within
    }
}
