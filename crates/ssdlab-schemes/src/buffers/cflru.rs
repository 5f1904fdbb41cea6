//! CFLRU. S.-Y. Park et al., "CFLRU: a replacement algorithm for flash memory", CASES 2006.
//!
//! The window, or clean-first region, holds the least recently used pages. The least recently used
//! clean page of the window leaves first. If all its pages are dirty, the least recently used page
//! leaves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;

use ssdlab_policy::event::{Event, EventContext, EventMask};
use ssdlab_policy::eviction::{EvictionPolicy, EvictionView, Links};
use ssdlab_policy::{Policy, PolicyContext};

/// Settings of `cflru`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CflruConfig {
    /// Size of the window (the clean-first region), as a share of the buffer's pages. Assumed.
    pub window: Share,
}

impl Default for CflruConfig {
    fn default() -> CflruConfig {
        CflruConfig { window: Share::new(0.5) }
    }
}

/// Evicts a clean page of the window first.
#[derive(Clone, Debug)]
pub struct Cflru {
    /// The working region: pages used more recently than those of the window.
    working: Links,
    window: Links,
    /// The clean pages of the window, in its order.
    clean: Links,
    dirty: Box<[bool]>,
    /// Number of further pages that fit into the window.
    room: u64,
}

impl Policy for Cflru {
    type Config = CflruConfig;

    fn build(config: &CflruConfig, context: &PolicyContext) -> Cflru {
        let pages = context.buffer_pages;
        Cflru {
            working: Links::new(pages),
            window: Links::new(pages),
            clean: Links::new(pages),
            dirty: vec![false; pages as usize].into_boxed_slice(),
            room: config.window.of(u64::from(pages)),
        }
    }

    fn events(&self) -> EventMask {
        EventMask::BUFFER_SLOTS
    }

    fn on_event(&mut self, event: &Event, _: &mut EventContext) {
        match *event {
            Event::PageBuffered { slot, written, .. } => {
                self.dirty[slot as usize] = written;
                self.working.push_front(slot);
                self.fill_window();
            }
            Event::BufferHit { slot, written, .. } => {
                self.take_out(slot);
                self.dirty[slot as usize] |= written;
                self.working.push_front(slot);
                self.fill_window();
            }
            Event::PageUnbuffered { slot, .. } => {
                self.take_out(slot);
                self.fill_window();
            }
            Event::BufferFlushed => self.clean_all(),
            _ => {}
        }
    }
}

impl Cflru {
    fn take_out(&mut self, slot: u32) {
        self.working.unlink(slot);
        self.clean.unlink(slot);
        self.room += u64::from(self.window.unlink(slot));
    }

    /// Marks all pages clean after a flush. The pages of the window keep their order.
    fn clean_all(&mut self) {
        self.dirty.fill(false);
        let mut next = self.window.back();
        while let Some(slot) = next {
            self.clean.unlink(slot);
            self.clean.push_front(slot);
            next = self.window.before(slot);
        }
    }

    /// Moves the next page of the working region into the window, if the window has room.
    fn fill_window(&mut self) {
        let Some(slot) = self.working.back().filter(|_| self.room > 0) else { return };
        self.working.unlink(slot);
        self.window.push_front(slot);
        self.room -= 1;
        if !self.dirty[slot as usize] {
            self.clean.push_front(slot);
        }
    }
}

impl EvictionPolicy for Cflru {
    fn victim(&mut self, _: &EvictionView) -> Option<u32> {
        self.clean.back().or_else(|| self.window.back()).or_else(|| self.working.back())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::buffers::trial::{self, Buffered, Page, READ, WRITE, acts, departures, leave};
    use ssdlab_policy::eviction::Lru;

    fn cflru(window: f64, pages: u32) -> Cflru {
        Cflru::build(&CflruConfig { window: Share::new(window) }, &trial::context(pages))
    }

    #[test]
    fn the_papers_example() {
        // P8 is the least recently used page. P5 to P8 form the window, and P5 and P7 are clean.
        let mut cflru = cflru(0.5, 8);
        for page in (1..=8).rev() {
            let write = ![5, 7].contains(&page);
            cflru.insert(page - 1, write);
        }
        let left: Vec<u32> = leave(&mut cflru, 4).into_iter().map(|slot| slot + 1).collect();
        assert_eq!(left, [7, 5, 8, 6]);
    }

    #[test]
    fn clean_pages_outside_the_window_are_safe_and_those_that_were_flushed_are_clean() {
        let mut cflru = cflru(0.5, 4);
        for (slot, write) in [(0, WRITE), (1, WRITE), (2, READ), (3, READ)] {
            cflru.insert(slot, write);
        }
        assert_eq!(cflru.victim(&EvictionView::BEFORE_RUN), Some(0));
        cflru.touch(0, READ);
        assert_eq!(cflru.victim(&EvictionView::BEFORE_RUN), Some(2));
        cflru.flushed();
        assert_eq!(leave(&mut cflru, 4), [1, 2, 3, 0]);
    }

    /// The algorithm as in the paper: one list, with the page used last at its front.
    struct Plain {
        list: Vec<Page>,
        window: usize,
    }

    impl Buffered for Plain {
        fn insert(&mut self, slot: u32, written: bool) {
            self.list.insert(0, Page { slot, dirty: written, cold: false });
        }

        fn touch(&mut self, slot: u32, written: bool) {
            let page = trial::take([&mut self.list], slot);
            self.list.insert(0, Page { dirty: page.dirty || written, ..page });
        }

        fn remove(&mut self, slot: u32) {
            trial::take([&mut self.list], slot);
        }

        fn flushed(&mut self) {
            self.list.iter_mut().for_each(|page| page.dirty = false);
        }

        fn next_to_leave(&mut self) -> Option<u32> {
            let window = &self.list[self.list.len().saturating_sub(self.window)..];
            let clean = window.iter().rfind(|page| !page.dirty);
            clean.or(self.list.last()).map(|page| page.slot)
        }
    }

    proptest! {
        #[test]
        fn it_does_what_the_paper_says(acts in acts(), window in 0usize..=8) {
            let plain = departures(8, &acts, Plain { list: Vec::new(), window });
            prop_assert_eq!(departures(8, &acts, cflru(window as f64 / 8.0, 8)), plain);
        }

        #[test]
        fn without_a_window_it_is_lru(acts in acts()) {
            let lru = Lru::build(&Default::default(), &trial::context(8));
            prop_assert_eq!(departures(8, &acts, cflru(0.0, 8)), departures(8, &acts, lru));
        }
    }
}
