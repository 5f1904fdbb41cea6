//! The addresses of one kind of requests, reads or writes.

use rand::Rng;
use ssdlab_base::rng::{Stream, below, mix, unit};

use super::quantiles::Quantiles;
use super::sweep::Sweep;
use crate::generate::sizes::Sizes;
use crate::generate::{Ranks, Scatter};

/// The places of the last requests of one kind.
pub(super) struct Ring {
    places: Box<[u64]>,
    count: u64,
    /// The last request ends that border on known places, and the number of ends so far.
    ends: [u64; ENDS],
    end_count: u64,
}

/// The number of requests in a ring, a power of two.
const RING: usize = 1 << 16;
/// The number of ends in a ring, a power of two.
pub(super) const ENDS: usize = 1 << 7;
/// Marks a slot whose place was used again later, or an end that a later request continued.
const GONE: u64 = u64::MAX;
/// The largest number of returns that is kept apart.
const MAX_TIMES: u64 = 1 << (REGULARS - 2);
/// The number of neighboring slots to search if a place is gone.
const NEAR: usize = 64;
/// Classes of places by their number of returns: never, once, 2 or 3 times, and so on.
pub(super) const REGULARS: usize = 8;
/// The bit position of the return count in a ring entry; the lower bits are the place.
const TIMES: u32 = 56;

/// Returns the class in [`REGULARS`] of a place with this many returns.
pub(super) fn regular(times: u64) -> usize {
    ((u64::BITS - times.leading_zeros()) as usize).min(REGULARS - 1)
}

impl Ring {
    pub(super) fn new() -> Ring {
        Ring { places: vec![GONE; RING].into(), count: 0, ends: [GONE; ENDS], end_count: 0 }
    }

    fn push(&mut self, place: u64, times: u64) {
        self.places[self.count as usize & (RING - 1)] = place | times.min(MAX_TIMES) << TIMES;
        self.count += 1;
    }

    /// Returns the slot of the place last used about `lag` requests ago. If `class` is given,
    /// prefers a place of the nearest class. Returns `None` if there is none, or if it is too long
    /// ago.
    fn back(&self, lag: u64, class: Option<usize>) -> Option<usize> {
        if lag > self.count || lag > RING as u64 {
            return None;
        }
        let at = (self.count - lag) as usize;
        let there = |slot: &usize| self.places[*slot] != GONE;
        let first = near(at, RING).find(there);
        let (Some(class), Some(_)) = (class, first) else { return first };
        // Search only slots within half the lag, so that lags keep their distribution.
        let about = near(at, RING).take(1 + (lag as usize).min(NEAR)).filter(there);
        let mut best = (usize::MAX, first);
        for slot in about {
            let off = regular(self.places[slot] >> TIMES).abs_diff(class);
            if off < best.0 {
                best = (off, Some(slot));
            }
            if off == 0 {
                break;
            }
        }
        best.1
    }

    /// Returns the place in a slot.
    fn place(&self, slot: usize) -> u64 {
        self.places[slot] & ((1 << TIMES) - 1)
    }

    /// Removes a place, because the next request uses it again. Returns it with its number of
    /// returns, including this one.
    fn take(&mut self, slot: usize) -> (u64, u64) {
        let taken = std::mem::replace(&mut self.places[slot], GONE);
        (taken & ((1 << TIMES) - 1), (taken >> TIMES) + 1)
    }

    fn push_end(&mut self, end: u64) {
        self.ends[self.end_count as usize & (ENDS - 1)] = end;
        self.end_count += 1;
    }

    /// Returns the slot of about the `back`-th last end that no request continued from, or `None`.
    fn end(&self, back: u64) -> Option<usize> {
        let at = self.end_count.wrapping_sub(back.min(ENDS as u64)) as usize;
        near(at, ENDS).find(|slot| self.ends[*slot] != GONE)
    }
}

/// Returns the slots around `at` in a ring of `length`, nearest first.
fn near(at: usize, length: usize) -> impl Iterator<Item = usize> {
    let near = (0..NEAR).map(move |step| match step % 2 {
        0 => at.wrapping_add(step / 2),
        _ => at.wrapping_sub(step.div_ceil(2)),
    });
    near.map(move |at| at & (length - 1))
}

/// The hot set: slots of equal size with a Zipf distribution.
pub(super) struct Hot {
    /// The first sector of the hot set, and the sectors in a slot.
    pub(super) first: u64,
    pub(super) slot: u64,
    /// Whether each slot has its own start sector for requests, which may then reach into the next
    /// slot.
    pub(super) anywhere: bool,
    pub(super) ranks: Ranks,
    pub(super) scatter: Scatter,
}

/// The kind of place that the last request used.
#[derive(Clone, Copy, PartialEq)]
enum PlaceKind {
    New,
    Visit,
    Back { lag: u64, across: bool },
    Along,
    Hot,
}

/// The state and the parameters of one kind of requests.
pub(super) struct Direction {
    parts: Parts,
    pub(super) ring: Ring,
    kind: PlaceKind,
    sectors: u32,
    /// The number of returns to the place of this request.
    times: u64,
}

/// The parameters of a [`Direction`].
pub(super) struct Parts {
    pub(super) stream: Stream,
    pub(super) sizes: Sizes,
    /// Mean sectors of a sweep that a request consumes.
    pub(super) mean_taken: f64,
    /// The sweep over the rest of the footprint, and the sweep over the complete hot set.
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
    /// Cumulative shares of the returns to each of the [`REGULARS`]; empty if the classes do not
    /// matter.
    pub(super) regulars: Vec<f64>,
    /// Whether only hot places are used again. Pages outside the hot set are then used once.
    pub(super) only_hot: bool,
    /// The sectors of its pages, hot set and rest, if it may use no others.
    pub(super) own: Option<[(u64, u64); 2]>,
    pub(super) align: u64,
    /// The end of the footprint, in sectors.
    pub(super) end: u64,
    /// Requests of at least this many sectors go through the footprint in order.
    pub(super) in_order: u64,
}

impl Direction {
    pub(super) fn new(parts: Parts) -> Direction {
        Direction { parts, ring: Ring::new(), kind: PlaceKind::New, sectors: 0, times: 0 }
    }

    /// Returns the place and the length of the next request in sectors; `left` requests of this
    /// kind remain.
    pub(super) fn next(&mut self, other: &mut Ring, left: u64) -> (u64, u32) {
        let sectors = self.size();
        let taken = u64::from(sectors).next_multiple_of(self.parts.align);
        if taken >= self.parts.in_order {
            return (self.parts.cold.next(taken), sectors);
        }
        let needed = left as f64 * self.parts.mean_taken;
        let pressed = (self.parts.cold.left + self.parts.visit.left) as f64 >= needed;
        let go_on = match self.kind {
            PlaceKind::New if self.parts.cold.left > 0 => self.parts.run,
            PlaceKind::Visit if self.parts.visit.left > 0 => self.parts.run,
            PlaceKind::Back { .. } => self.parts.follow,
            _ => 0.0,
        };
        if pressed {
            self.draw_kind(needed);
        } else if go_on == 0.0 || unit(self.parts.stream.next_u64()) >= go_on {
            self.stay_or_draw(needed);
        }
        self.times = 0;
        let place = match self.kind {
            PlaceKind::New => self.parts.cold.next(taken),
            PlaceKind::Visit => self.parts.visit.next(taken),
            PlaceKind::Along => match self.along(taken) {
                Some(place) => place,
                None => {
                    self.draw_return();
                    self.again(other, taken)
                }
            },
            PlaceKind::Hot | PlaceKind::Back { .. } => self.again(other, taken),
        };
        if !self.parts.only_hot || !matches!(self.kind, PlaceKind::New) {
            self.ring.push(place, self.times);
            let end = place + u64::from(sectors);
            if self.parts.along > 0.0 && self.knows(end) {
                self.ring.push_end(end);
            }
        }
        (place, sectors)
    }

    /// Returns a place to use again, recent or hot.
    fn again(&mut self, other: &mut Ring, taken: u64) -> u64 {
        let place = self.known_place(other, taken);
        self.clamped(place, taken)
    }

    /// Moves a request that would leave the pages of this kind to their end.
    fn clamped(&self, place: u64, taken: u64) -> u64 {
        let ranges = self.parts.own.iter().flatten();
        match ranges.copied().find(|(first, end)| (*first..*end).contains(&place)) {
            Some((first, end)) if place + taken > end => end.saturating_sub(taken).max(first),
            _ => place,
        }
    }

    fn known_place(&mut self, other: &mut Ring, taken: u64) -> u64 {
        let PlaceKind::Back { lag, across } = self.kind else { return self.hot_place(taken) };
        let class = self.draw_class();
        let there = if across { other.back(lag, class) } else { None };
        let there = there.filter(|slot| self.owns(other.place(*slot)));
        let found = match there {
            Some(slot) => Some(other.take(slot)),
            None => self.ring.back(lag, class).map(|slot| self.ring.take(slot)),
        };
        match found {
            Some((place, times)) => {
                self.times = times;
                place
            }
            None => self.fallback_place(taken),
        }
    }

    /// Draws the class of places to return to, if classes matter.
    fn draw_class(&mut self) -> Option<usize> {
        if self.parts.regulars.is_empty() {
            return None;
        }
        let drawn = unit(self.parts.stream.next_u64());
        Some(self.parts.regulars.iter().take_while(|upto| drawn >= **upto).count())
    }

    /// Returns the size of the next request in sectors.
    fn size(&mut self) -> u32 {
        let again = self.sectors > 0
            && self.parts.size_run > 0.0
            && unit(self.parts.stream.next_u64()) < self.parts.size_run;
        if !again {
            self.sectors = self.parts.sizes.draw();
        }
        self.sectors
    }

    /// Returns whether this kind may use the sector, and its page has been used.
    fn knows(&self, sector: u64) -> bool {
        sector < self.parts.end && self.parts.cold.knows(sector) && self.owns(sector)
    }

    /// Returns the place behind an earlier request, if it is known.
    fn along(&mut self, taken: u64) -> Option<u64> {
        let lag = self.parts.along_lags.at(unit(self.parts.stream.next_u64())) as u64;
        let slot = self.ring.end(lag.max(1))?;
        let place = self.ring.ends[slot].next_multiple_of(self.parts.align);
        self.knows(place + taken - 1).then(|| {
            self.ring.ends[slot] = GONE;
            place
        })
    }

    /// Returns whether this kind may use `place`.
    fn owns(&self, place: u64) -> bool {
        let within = |ranges: &[(u64, u64); 2]| {
            ranges.iter().any(|(first, end)| (*first..*end).contains(&place))
        };
        self.parts.own.as_ref().is_none_or(within)
    }

    /// Keeps to new places after new ones and to known places after known ones, or draws again.
    fn stay_or_draw(&mut self, needed: f64) {
        let stay = match self.kind {
            PlaceKind::New if self.parts.cold.left > 0 => self.parts.new_run,
            PlaceKind::Along | PlaceKind::Back { .. } | PlaceKind::Hot => self.parts.known_run,
            _ => 0.0,
        };
        if stay == 0.0 || unit(self.parts.stream.next_u64()) >= stay {
            self.draw_kind(needed);
        } else if self.kind == PlaceKind::New {
            self.parts.cold.switch_walk(&mut self.parts.stream, self.parts.align > 1);
        } else {
            self.draw_known();
        }
    }

    /// Draws the kind of the next place. The sweeps end with the last of `needed` sectors.
    fn draw_kind(&mut self, needed: f64) {
        let aligned = self.parts.align > 1;
        let mut word = unit(self.parts.stream.next_u64()) * needed;
        if word < self.parts.cold.left as f64 {
            self.parts.cold.switch_walk(&mut self.parts.stream, aligned);
            self.kind = PlaceKind::New;
            return;
        }
        word -= self.parts.cold.left as f64;
        if word < self.parts.visit.left as f64 {
            self.parts.visit.switch_walk(&mut self.parts.stream, aligned);
            self.kind = PlaceKind::Visit;
            return;
        }
        self.draw_known();
    }

    /// Draws which known place the request uses.
    fn draw_known(&mut self) {
        if self.parts.along > 0.0 && unit(self.parts.stream.next_u64()) < self.parts.along {
            self.kind = PlaceKind::Along;
            return;
        }
        self.draw_return();
    }

    /// Draws a recent or a hot place, but none behind an earlier request.
    fn draw_return(&mut self) {
        if self.parts.hot.is_some() && unit(self.parts.stream.next_u64()) >= self.parts.again {
            self.kind = PlaceKind::Hot;
            return;
        }
        let lag = self.parts.lags.at(unit(self.parts.stream.next_u64())) as u64;
        let across = unit(self.parts.stream.next_u64()) < self.parts.across;
        self.kind = PlaceKind::Back { lag: lag.max(1), across };
    }

    /// Returns a place if there is nothing to return to yet.
    fn fallback_place(&mut self, taken: u64) -> u64 {
        if self.parts.cold.left == 0 || self.parts.only_hot {
            self.kind = PlaceKind::Hot;
            return self.hot_place(taken);
        }
        self.kind = PlaceKind::New;
        self.parts.cold.switch_walk(&mut self.parts.stream, self.parts.align > 1);
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
