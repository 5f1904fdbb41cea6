//! LRU-WSR. H. Jung et al., "LRU-WSR: integration of LRU and writes sequence reordering for flash
//! memory", IEEE Transactions on Consumer Electronics 54(3), 2008.
//!
//! The least recently used page leaves if it is clean or marked cold. A dirty page without the mark
//! is marked cold and counts as used now. Any use of a page removes its mark.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use ssdlab_policy::event::{Event, EventContext, EventMask};
use ssdlab_policy::eviction::{EvictionPolicy, EvictionView, Links};
use ssdlab_policy::{Policy, PolicyContext};

/// `lru_wsr` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LruWsrConfig {}

/// Gives dirty pages a second chance.
#[derive(Clone, Debug)]
pub struct LruWsr {
    links: Links,
    dirty: Box<[bool]>,
    cold: Box<[bool]>,
}

impl Policy for LruWsr {
    type Config = LruWsrConfig;

    fn build(_: &LruWsrConfig, context: &PolicyContext) -> LruWsr {
        let marks = vec![false; context.buffer_pages as usize].into_boxed_slice();
        LruWsr { links: Links::new(context.buffer_pages), dirty: marks.clone(), cold: marks }
    }

    fn events(&self) -> EventMask {
        EventMask::BUFFER_SLOTS
    }

    fn on_event(&mut self, event: &Event, _: &mut EventContext) {
        match *event {
            Event::PageBuffered { slot, written, .. } => {
                self.dirty[slot as usize] = written;
                self.cold[slot as usize] = false;
                self.links.push_front(slot);
            }
            Event::BufferHit { slot, written, .. } => {
                self.dirty[slot as usize] |= written;
                self.cold[slot as usize] = false;
                self.links.move_to_front(slot);
            }
            Event::PageUnbuffered { slot, .. } => {
                self.links.unlink(slot);
            }
            Event::BufferFlushed => self.dirty.fill(false),
            _ => {}
        }
    }
}

impl EvictionPolicy for LruWsr {
    fn victim(&mut self, _: &EvictionView) -> Option<u32> {
        loop {
            let slot = self.links.back()?;
            if !self.dirty[slot as usize] || self.cold[slot as usize] {
                return Some(slot);
            }
            self.cold[slot as usize] = true;
            self.links.move_to_front(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::buffers::trial::{
        self, Buffered, Page, READ, WRITE, acts, departures, leave, reads,
    };
    use ssdlab_policy::eviction::Lru;

    fn lru_wsr(pages: u32) -> LruWsr {
        LruWsr::build(&LruWsrConfig {}, &trial::context(pages))
    }

    #[test]
    fn a_marked_dirty_page_leaves_at_the_end_of_the_list_unless_it_was_used() {
        let mut wsr = lru_wsr(4);
        for (slot, write) in [(0, WRITE), (1, WRITE), (2, READ), (3, WRITE)] {
            wsr.insert(slot, write);
        }
        // 0 and 1 are marked and go behind 3; 2 is clean.
        assert_eq!(leave(&mut wsr, 1), [2]);
        // 3 is marked in its turn. 0 is used, which removes its mark, so 1 leaves, and then 3.
        wsr.touch(0, READ);
        assert_eq!(leave(&mut wsr, 3), [1, 3, 0]);
    }

    /// The algorithm as in the paper: one list, with the page used last at its front.
    struct Plain(Vec<Page>);

    impl Buffered for Plain {
        fn insert(&mut self, slot: u32, written: bool) {
            self.0.insert(0, Page { slot, dirty: written, cold: false });
        }

        fn touch(&mut self, slot: u32, written: bool) {
            let page = trial::take([&mut self.0], slot);
            self.0.insert(0, Page { dirty: page.dirty || written, cold: false, ..page });
        }

        fn remove(&mut self, slot: u32) {
            trial::take([&mut self.0], slot);
        }

        fn flushed(&mut self) {
            self.0.iter_mut().for_each(|page| page.dirty = false);
        }

        fn next_to_leave(&mut self) -> Option<u32> {
            while let Some(page) = self.0.last() {
                if !page.dirty || page.cold {
                    return Some(page.slot);
                }
                let page = self.0.pop()?;
                self.0.insert(0, Page { cold: true, ..page });
            }
            None
        }
    }

    proptest! {
        #[test]
        fn it_does_what_the_paper_says(acts in acts()) {
            let plain = departures(8, &acts, Plain(Vec::new()));
            prop_assert_eq!(departures(8, &acts, lru_wsr(8)), plain);
        }

        #[test]
        fn where_nothing_is_written_it_is_lru(acts in reads()) {
            let lru = Lru::build(&Default::default(), &trial::context(8));
            prop_assert_eq!(departures(8, &acts, lru_wsr(8)), departures(8, &acts, lru));
        }
    }
}
