//! Sweeps cover a range with requests: each place is used equally often.

use rand::Rng;
use ssdlab_base::rng::{Stream, below};

/// Sequential walks over parts of a range. Together they cover it a given number of times.
pub(super) struct Sweep {
    walks: Vec<Walk>,
    /// The index of the current walk.
    current: usize,
    /// Sectors still to cover.
    pub(super) left: u64,
    /// Sectors in an extent, a power of two.
    extent: u64,
}

struct Walk {
    first: u64,
    end: u64,
    at: u64,
    left: u64,
    /// Whether it has covered its part once.
    again: bool,
}

impl Walk {
    /// Moves on by `sectors`, which end with the walk's part at the latest.
    fn advance(&mut self, sectors: u64) {
        self.at += sectors;
        if self.at == self.end {
            (self.at, self.again) = (self.first, true);
        }
    }
}

/// Sectors of a page of 4 KiB.
const PAGE: u64 = 8;
/// The number of walks.
const WALKS: u64 = 16;

impl Sweep {
    /// Returns a sweep over the sectors from `first` to before `end`, `passes` times, for requests
    /// of at most `most` sectors. Both borders lie between pages.
    pub(super) fn new((first, end): (u64, u64), passes: f64, extent: u64, most: u64) -> Sweep {
        let pages = (end - first) / PAGE;
        let walks = ((end - first) / most.max(PAGE)).clamp(1, WALKS).min(pages);
        let border = |walk: u64| first + pages * walk / walks.max(1) * PAGE;
        let walk = |index: u64| {
            let (first, end) = (border(index), border(index + 1));
            let left = ((end - first) as f64 * passes).round() as u64;
            Walk { first, end, at: first, left, again: false }
        };
        let walks: Vec<Walk> = (0..walks).map(walk).collect();
        let left = walks.iter().map(|walk| walk.left).sum();
        Sweep { walks, current: 0, left, extent }
    }

    /// Switches to another unfinished walk, at a page that was not used yet. Starts at the
    /// beginning of the page, or at any of its sectors if requests are not `aligned` to pages.
    pub(super) fn switch_walk(&mut self, stream: &mut Stream, aligned: bool) {
        let count = self.walks.len();
        let start = below(stream.next_u64(), count as u64) as usize;
        let open = (0..count).map(|step| (start + step) % count);
        self.current = open.clone().find(|walk| self.walks[*walk].left > 0).unwrap_or(start);
        let walk = &mut self.walks[self.current];
        let within = if aligned { 0 } else { below(stream.next_u64(), PAGE) };
        // A further pass begins with the first page.
        let rest = (walk.at.next_multiple_of(PAGE) + within).min(walk.end) - walk.at;
        if rest > 0 && rest < walk.left {
            walk.advance(rest);
            walk.left -= rest;
            self.left -= rest;
        }
    }

    /// Returns whether the walk has used the page of this sector, or no walk covers the sector.
    pub(super) fn knows(&self, sector: u64) -> bool {
        let page = sector / PAGE * PAGE;
        let walk = self.walks.iter().find(|walk| (walk.first..walk.end).contains(&sector));
        walk.is_none_or(|walk| walk.again || walk.left == 0 || page < walk.at)
    }

    /// Returns the sectors from a walk's place to the end of its extent or of its part.
    fn room(&self, walk: usize) -> u64 {
        let walk = &self.walks[walk];
        (self.extent - (walk.at & (self.extent - 1))).min(walk.end - walk.at)
    }

    /// Returns the next place, in sectors, for a request of `length`. No request crosses the end of
    /// an extent: without room, it goes to another walk, or else begins earlier.
    pub(super) fn next(&mut self, length: u64) -> u64 {
        if length > self.room(self.current) {
            let count = self.walks.len();
            let mut others = (1..count).map(|step| (self.current + step) % count);
            let fits =
                |walk: &usize| self.walks[*walk].left >= length && self.room(*walk) >= length;
            self.current = others.find(fits).unwrap_or(self.current);
        }
        let room = self.room(self.current);
        let walk = &mut self.walks[self.current];
        let place = if length > room {
            (walk.at + room).saturating_sub(length).max(walk.first)
        } else {
            walk.at
        };
        let taken = length.min(room).min(walk.left.max(1));
        walk.advance(length.min(room));
        let over = walk.left > 0 && taken == walk.left;
        walk.left = walk.left.saturating_sub(taken);
        self.left = self.left.saturating_sub(taken);
        if over && let Some(next) = self.walks.iter().position(|walk| walk.left > 0) {
            self.current = next;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_base::rng::stream;

    use super::Sweep;

    #[test]
    fn every_sector_is_requested_as_often_as_configured() {
        let mut sweep = Sweep::new((3 * 64, 40 * 64), 2.0, 64, 64);
        let mut seen = vec![0; 50 * 64];
        let mut chance = stream(1, "test");
        while sweep.left > 0 {
            sweep.switch_walk(&mut chance, true);
            let place = sweep.next(8) as usize;
            seen[place..place + 8].iter_mut().for_each(|times| *times += 1);
        }
        assert!((3 * 64..40 * 64).all(|sector| seen[sector] == 2));
        assert_eq!(seen.iter().sum::<i32>(), 37 * 64 * 2);
    }

    #[test]
    fn further_passes_stay_in_the_range_from_any_sector() {
        let mut sweep = Sweep::new((3 * 64, 40 * 64), 7.5, 64, 64);
        let mut chance = stream(1, "test");
        while sweep.left > 0 {
            sweep.switch_walk(&mut chance, false);
            assert!((3 * 64..=40 * 64 - 5).contains(&sweep.next(5)));
        }
    }
}
