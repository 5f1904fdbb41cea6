//! PT-LRU. J. Cui et al., "PT-LRU: a probabilistic page replacement algorithm for NAND flash-based
//! consumer electronics", IEEE Transactions on Consumer Electronics 60(4), 2014.
//!
//! PT-LRU has three lists: cold clean, cold dirty and hot pages. Cold clean pages leave first. If
//! there is none, a random draw decides: with the higher probability the least recently used cold
//! dirty page leaves, with the lower one a hot page. So hot clean pages do not stay forever.
//!
//! The implementation follows the paper's abstract. Settings cover the points that the abstract
//! leaves open.

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_base::rng;

use ssdlab_policy::columns::{Column, Per};
use ssdlab_policy::event::{Event, EventContext, EventMask};
use ssdlab_policy::eviction::{EvictionPolicy, EvictionView, Links};
use ssdlab_policy::{Policy, PolicyContext};

/// The rule for a dirty page that is the least recently used hot page, when a hot page must leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HotDirty {
    /// The page joins the cold dirty pages, and one of these leaves.
    #[default]
    Demote,
    /// The page leaves.
    Evict,
}

/// Settings of `pt_lru`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PtLruConfig {
    /// Probability that a cold dirty page leaves rather than a hot one, if there are both and no
    /// cold clean page. Assumed: the abstract says only that it is the higher one.
    pub cold_dirty: Share,
    /// The rule for the least recently used hot page, if dirty: `demote` (it joins the cold dirty
    /// pages, and one of these leaves) or `evict`. Assumed.
    pub hot_dirty: HotDirty,
    /// Whether the first write of a cold clean page makes it hot; if not, it becomes cold dirty.
    /// Assumed.
    pub first_write_is_hot: bool,
}

impl Default for PtLruConfig {
    fn default() -> PtLruConfig {
        PtLruConfig {
            cold_dirty: Share::new(0.6),
            hot_dirty: HotDirty::Demote,
            first_write_is_hot: true,
        }
    }
}

/// Evicts cold clean pages first, then cold dirty or hot ones at random.
#[derive(Clone, Debug)]
pub struct PtLru {
    config: PtLruConfig,
    cold_clean: Links,
    cold_dirty: Links,
    hot: Links,
    /// Which hot pages are dirty.
    dirty: Box<[bool]>,
    random: rng::Stream,
}

impl Policy for PtLru {
    type Config = PtLruConfig;

    fn build(config: &PtLruConfig, context: &PolicyContext) -> PtLru {
        let pages = context.buffer_pages;
        PtLru {
            config: config.clone(),
            cold_clean: Links::new(pages),
            cold_dirty: Links::new(pages),
            hot: Links::new(pages),
            dirty: vec![false; pages as usize].into_boxed_slice(),
            random: rng::stream(context.seed, "eviction.pt_lru"),
        }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        // The buffer begins empty, and so do the lists. Only the simulator has to draw the same
        // numbers again.
        vec![Column::new("pt_lru_random", Per::Drive, self.random.words()).uncounted()]
    }

    fn events(&self) -> EventMask {
        EventMask::BUFFER_SLOTS
    }

    fn on_event(&mut self, event: &Event, _: &mut EventContext) {
        match *event {
            Event::PageBuffered { slot, written, .. } => {
                let list = if written { &mut self.cold_dirty } else { &mut self.cold_clean };
                list.push_front(slot);
            }
            Event::BufferHit { slot, written, .. } => self.used(slot, written),
            Event::PageUnbuffered { slot, .. } => {
                self.cold_clean.unlink(slot);
                self.cold_dirty.unlink(slot);
                self.hot.unlink(slot);
            }
            Event::BufferFlushed => {
                self.dirty.fill(false);
                while let Some(slot) = self.cold_dirty.back() {
                    self.cold_dirty.unlink(slot);
                    self.cold_clean.push_front(slot);
                }
            }
            _ => {}
        }
    }
}

impl PtLru {
    /// Handles another use of a page: it becomes hot, or cold dirty at its first write.
    fn used(&mut self, slot: u32, written: bool) {
        let was_cold_clean = self.cold_clean.unlink(slot);
        let was_hot = self.hot.unlink(slot);
        let was_cold_dirty = self.cold_dirty.unlink(slot);
        if was_cold_clean && written && !self.config.first_write_is_hot {
            self.cold_dirty.push_front(slot);
            return;
        }
        let was_dirty = was_cold_dirty || was_hot && self.dirty[slot as usize];
        self.dirty[slot as usize] = was_dirty || written;
        self.hot.push_front(slot);
    }
}

impl EvictionPolicy for PtLru {
    fn victim(&mut self, _: &EvictionView) -> Option<u32> {
        if let Some(slot) = self.cold_clean.back() {
            return Some(slot);
        }
        let (Some(hot), cold) = (self.hot.back(), self.cold_dirty.back()) else {
            return self.cold_dirty.back();
        };
        if cold.is_some() && rng::unit(self.random.next_u64()) < self.config.cold_dirty.get() {
            return cold;
        }
        if !self.dirty[hot as usize] || self.config.hot_dirty == HotDirty::Evict {
            return Some(hot);
        }
        self.hot.unlink(hot);
        self.cold_dirty.push_front(hot);
        self.cold_dirty.back()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::buffers::trial::{self, Buffered, Page, READ, WRITE, acts, departures, leave};

    fn config(cold_dirty: f64, hot_dirty: HotDirty, first_write_is_hot: bool) -> PtLruConfig {
        PtLruConfig { cold_dirty: Share::new(cold_dirty), hot_dirty, first_write_is_hot }
    }

    /// Returns the pages that leave a buffer with 0 written once, 1 read twice, 2 read once, 3 read
    /// and then written, 4 written twice.
    fn left(config: &PtLruConfig) -> Vec<u32> {
        let mut pt = PtLru::build(config, &trial::context(5));
        for (slot, write) in [(0, WRITE), (1, READ), (2, READ), (3, READ), (4, WRITE)] {
            pt.insert(slot, write);
        }
        for (slot, write) in [(4, WRITE), (1, READ), (3, WRITE)] {
            pt.touch(slot, write);
        }
        leave(&mut pt, 5)
    }

    #[test]
    fn a_cold_clean_page_leaves_then_a_cold_dirty_or_a_hot_one() {
        use HotDirty::{Demote, Evict};
        // Always a cold dirty one while there is one; then hot ones have to.
        assert_eq!(left(&config(1.0, Evict, true)), [2, 0, 4, 1, 3]);
        // Never a cold dirty one while there is a hot one.
        assert_eq!(left(&config(0.0, Evict, true)), [2, 4, 1, 3, 0]);
        // 4 and 3 become cold dirty in their turns.
        assert_eq!(left(&config(0.0, Demote, true)), [2, 0, 1, 4, 3]);
        // 3 is cold dirty since it was written.
        assert_eq!(left(&config(1.0, Evict, false)), [2, 0, 3, 4, 1]);
    }

    #[test]
    fn chance_is_as_set() {
        let mut pt = PtLru::build(&PtLruConfig::default(), &trial::context(2));
        pt.insert(0, READ);
        pt.touch(0, READ);
        pt.insert(1, WRITE);
        let cold = (0..10_000).filter(|_| pt.victim(&EvictionView::BEFORE_RUN) == Some(1)).count();
        assert!((5_800..6_200).contains(&cold), "{cold} of 10,000");
    }

    /// The rules of the abstract: three lists, with the page used last at their fronts.
    struct Plain {
        config: PtLruConfig,
        cold_clean: Vec<Page>,
        cold_dirty: Vec<Page>,
        hot: Vec<Page>,
        random: rng::Stream,
    }

    impl Plain {
        fn take(&mut self, slot: u32) -> Page {
            trial::take([&mut self.cold_clean, &mut self.cold_dirty, &mut self.hot], slot)
        }

        fn put(&mut self, page: Page) {
            let list = match (page.cold, page.dirty) {
                (true, false) => &mut self.cold_clean,
                (true, true) => &mut self.cold_dirty,
                (false, _) => &mut self.hot,
            };
            list.insert(0, page);
        }
    }

    impl Buffered for Plain {
        fn insert(&mut self, slot: u32, written: bool) {
            self.put(Page { slot, dirty: written, cold: true });
        }

        fn touch(&mut self, slot: u32, written: bool) {
            let page = self.take(slot);
            let first_write = page.cold && !page.dirty && written;
            let cold = first_write && !self.config.first_write_is_hot;
            self.put(Page { dirty: page.dirty || written, cold, ..page });
        }

        fn remove(&mut self, slot: u32) {
            self.take(slot);
        }

        fn flushed(&mut self) {
            self.hot.iter_mut().for_each(|page| page.dirty = false);
            for page in std::mem::take(&mut self.cold_dirty).into_iter().rev() {
                self.put(Page { dirty: false, ..page });
            }
        }

        fn next_to_leave(&mut self) -> Option<u32> {
            let last = |list: &Vec<Page>| list.last().map(|page| page.slot);
            if !self.cold_clean.is_empty() {
                return last(&self.cold_clean);
            }
            let both = !self.cold_dirty.is_empty() && !self.hot.is_empty();
            let share = self.config.cold_dirty.get();
            let chosen = both && rng::unit(self.random.next_u64()) < share;
            if chosen || self.hot.is_empty() {
                return last(&self.cold_dirty);
            }
            let page = *self.hot.last()?;
            if page.dirty && self.config.hot_dirty == HotDirty::Demote {
                self.hot.pop();
                self.put(Page { cold: true, ..page });
                return last(&self.cold_dirty);
            }
            Some(page.slot)
        }
    }

    proptest! {
        #[test]
        fn it_does_as_the_plain_one(
            acts in acts(),
            share in 0.0..=1.0,
            cools: bool,
            heats: bool,
        ) {
            let hot_dirty = if cools { HotDirty::Demote } else { HotDirty::Evict };
            let config = config(share, hot_dirty, heats);
            let context = trial::context(8);
            let plain = Plain {
                config: config.clone(),
                cold_clean: Vec::new(),
                cold_dirty: Vec::new(),
                hot: Vec::new(),
                random: rng::stream(context.seed, "eviction.pt_lru"),
            };
            let pt = PtLru::build(&config, &context);
            prop_assert_eq!(departures(8, &acts, pt), departures(8, &acts, plain));
        }
    }
}
