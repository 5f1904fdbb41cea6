//! CCF-LRU. Z. Li et al., "CCF-LRU: a new buffer replacement algorithm for flash memory", IEEE
//! Transactions on Consumer Electronics 55(3), 2009.
//!
//! Clean pages that were used once are in a separate list, and leave first. All other pages are in
//! the mixed list. If there is no cold clean page, the least recently used page of the mixed list
//! leaves if it is cold. If it is hot, it becomes cold and gets a second chance. A dirty page then
//! counts as used now. A clean page joins the list of cold clean pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use ssdlab_policy::event::{Event, EventContext, EventMask};
use ssdlab_policy::eviction::{EvictionPolicy, EvictionView, Links};
use ssdlab_policy::{Policy, PolicyContext};

/// Settings of `ccf_lru`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CcfLruConfig {
    /// Whether a page that enters by a write is hot at once. Descriptions of the paper differ; no,
    /// since hot means used again. Assumed.
    pub writes_are_hot: bool,
}

/// Evicts cold clean pages first; others get second chances.
#[derive(Clone, Debug)]
pub struct CcfLru {
    writes_are_hot: bool,
    cold_clean: Links,
    /// Hot clean pages, and dirty ones.
    mixed: Links,
    dirty: Box<[bool]>,
    cold: Box<[bool]>,
}

impl Policy for CcfLru {
    type Config = CcfLruConfig;

    fn build(config: &CcfLruConfig, context: &PolicyContext) -> CcfLru {
        let pages = context.buffer_pages;
        let marks = vec![false; pages as usize].into_boxed_slice();
        CcfLru {
            writes_are_hot: config.writes_are_hot,
            cold_clean: Links::new(pages),
            mixed: Links::new(pages),
            dirty: marks.clone(),
            cold: marks,
        }
    }

    fn events(&self) -> EventMask {
        EventMask::BUFFER_SLOTS
    }

    fn on_event(&mut self, event: &Event, _: &mut EventContext) {
        match *event {
            Event::PageBuffered { slot, written, .. } => {
                self.dirty[slot as usize] = written;
                self.cold[slot as usize] = !(written && self.writes_are_hot);
                let list = if written { &mut self.mixed } else { &mut self.cold_clean };
                list.push_front(slot);
            }
            Event::BufferHit { slot, written, .. } => {
                self.take_out(slot);
                self.dirty[slot as usize] |= written;
                self.cold[slot as usize] = false;
                self.mixed.push_front(slot);
            }
            Event::PageUnbuffered { slot, .. } => self.take_out(slot),
            Event::BufferFlushed => self.clean_all(),
            _ => {}
        }
    }
}

impl CcfLru {
    fn take_out(&mut self, slot: u32) {
        self.cold_clean.unlink(slot);
        self.mixed.unlink(slot);
    }

    /// Marks all pages clean after a flush. Cold ones join the cold clean pages.
    fn clean_all(&mut self) {
        self.dirty.fill(false);
        let mut next = self.mixed.back();
        while let Some(slot) = next {
            next = self.mixed.before(slot);
            if self.cold[slot as usize] {
                self.mixed.unlink(slot);
                self.cold_clean.push_front(slot);
            }
        }
    }
}

impl EvictionPolicy for CcfLru {
    fn victim(&mut self, _: &EvictionView) -> Option<u32> {
        if let Some(slot) = self.cold_clean.back() {
            return Some(slot);
        }
        while let Some(slot) = self.mixed.back() {
            if self.cold[slot as usize] {
                return Some(slot);
            }
            self.cold[slot as usize] = true;
            self.mixed.unlink(slot);
            let list =
                if self.dirty[slot as usize] { &mut self.mixed } else { &mut self.cold_clean };
            list.push_front(slot);
        }
        // Every page was hot and clean.
        self.cold_clean.back()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::buffers::trial::{self, Buffered, Page, READ, WRITE, acts, departures, leave};

    fn ccf_lru(writes_are_hot: bool, pages: u32) -> CcfLru {
        CcfLru::build(&CcfLruConfig { writes_are_hot }, &trial::context(pages))
    }

    #[test]
    fn cold_clean_pages_leave_first_and_hot_ones_get_a_second_chance() {
        let left = [false, true].map(|writes_are_hot| {
            // 0 is written once, 1 read twice, 2 and 3 read once, 4 read and then written.
            let mut ccf = ccf_lru(writes_are_hot, 5);
            for (slot, write) in [(0, WRITE), (1, READ), (2, READ), (3, READ), (4, READ)] {
                ccf.insert(slot, write);
            }
            ccf.touch(1, READ);
            ccf.touch(4, WRITE);
            leave(&mut ccf, 5)
        });
        // A cold dirty page leaves at once. Then 1 joins the cold clean pages, and 4, the only page
        // left in the mixed list, has its turn again.
        assert_eq!(left[0], [2, 3, 0, 4, 1]);
        // 0, 1 and 4 get their chances before 0 has its turn again. Then 1 is a cold clean page.
        assert_eq!(left[1], [2, 3, 0, 1, 4]);
    }

    #[test]
    fn where_all_is_hot_and_clean_the_page_not_used_for_longest_leaves() {
        let mut ccf = ccf_lru(false, 3);
        for slot in [0, 1, 2] {
            ccf.insert(slot, READ);
        }
        for slot in [1, 2, 0] {
            ccf.touch(slot, READ);
        }
        assert_eq!(leave(&mut ccf, 3), [1, 2, 0]);
    }

    #[test]
    fn what_was_flushed_is_clean() {
        let mut ccf = ccf_lru(false, 3);
        for slot in [0, 1, 2] {
            ccf.insert(slot, WRITE);
        }
        ccf.touch(0, READ);
        ccf.flushed();
        // 1 and 2 were used once, 0 twice.
        assert_eq!(leave(&mut ccf, 3), [1, 2, 0]);
    }

    /// The algorithm as in the paper: two lists, with the page used last at their fronts.
    struct Plain {
        cold_clean: Vec<Page>,
        mixed: Vec<Page>,
        writes_are_hot: bool,
    }

    impl Buffered for Plain {
        fn insert(&mut self, slot: u32, written: bool) {
            let cold = !written || !self.writes_are_hot;
            let page = Page { slot, dirty: written, cold };
            if written { self.mixed.insert(0, page) } else { self.cold_clean.insert(0, page) }
        }

        fn touch(&mut self, slot: u32, written: bool) {
            let page = trial::take([&mut self.cold_clean, &mut self.mixed], slot);
            self.mixed.insert(0, Page { dirty: page.dirty || written, cold: false, ..page });
        }

        fn remove(&mut self, slot: u32) {
            trial::take([&mut self.cold_clean, &mut self.mixed], slot);
        }

        fn flushed(&mut self) {
            self.mixed.iter_mut().for_each(|page| page.dirty = false);
            let (cold, hot) = self.mixed.iter().partition(|page| page.cold);
            self.mixed = hot;
            let before: Vec<Page> = std::mem::replace(&mut self.cold_clean, cold);
            self.cold_clean.extend(before);
        }

        fn next_to_leave(&mut self) -> Option<u32> {
            if self.cold_clean.is_empty() {
                while let Some(page) = self.mixed.pop() {
                    if page.cold {
                        self.mixed.push(page);
                        return Some(page.slot);
                    }
                    let list = if page.dirty { &mut self.mixed } else { &mut self.cold_clean };
                    list.insert(0, Page { cold: true, ..page });
                }
            }
            self.cold_clean.last().map(|page| page.slot)
        }
    }

    proptest! {
        #[test]
        fn it_does_what_the_paper_says(acts in acts(), writes_are_hot: bool) {
            let plain = Plain { cold_clean: Vec::new(), mixed: Vec::new(), writes_are_hot };
            let plain = departures(8, &acts, plain);
            prop_assert_eq!(departures(8, &acts, ccf_lru(writes_are_hot, 8)), plain);
        }
    }
}
