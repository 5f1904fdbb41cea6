//! `eviction`: which buffered page leaves?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::SimTime;
use ssdlab_nand::Lpn;

use crate::component::Components;
use crate::event::{Event, EventContext, EventMask};
use crate::{Policy, PolicyContext};

/// The view of an eviction policy: the buffer needs room.
#[derive(Clone, Copy, Debug)]
pub struct EvictionView<'a> {
    /// The current time.
    pub now: SimTime,
    /// The written page that waits for a slot; `None` if the page leaves ahead of need, or for a
    /// page that was read.
    pub waiting: Option<Lpn>,
    /// The metadata components that the drive keeps.
    pub components: Components<'a>,
}

impl EvictionView<'_> {
    /// Returns a view before the run begins.
    pub const BEFORE_RUN: EvictionView<'static> =
        EvictionView { now: SimTime::START, waiting: None, components: Components::NONE };
}

/// Decides which page leaves a full buffer. Events tell the policy which slots of the buffer hold
/// pages ([`EventMask::BUFFER_SLOTS`]).
///
/// A drive whose state is saved first programs the written pages of its buffer. A drive that begins
/// from the state has an empty buffer. So lists of slots also begin empty, and are not columns. All
/// other state must be in columns: a random stream, or pages that have left.
pub trait EvictionPolicy: Policy {
    /// Returns the slot whose page leaves now; `None` if the policy knows of none.
    /// [`Event::PageUnbuffered`] follows.
    fn victim(&mut self, view: &EvictionView) -> Option<u32>;
}

/// `lru` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LruConfig {}

/// Chooses the least recently used page.
#[derive(Clone, Debug)]
pub struct Lru {
    links: Links,
}

impl Policy for Lru {
    type Config = LruConfig;

    fn build(_: &LruConfig, context: &PolicyContext) -> Lru {
        Lru { links: Links::new(context.buffer_pages) }
    }
    fn events(&self) -> EventMask {
        EventMask::BUFFER_SLOTS
    }

    fn on_event(&mut self, event: &Event, _: &mut EventContext) {
        match *event {
            Event::PageBuffered { slot, .. } => self.links.push_front(slot),
            Event::BufferHit { slot, .. } => self.links.move_to_front(slot),
            Event::PageUnbuffered { slot, .. } => {
                self.links.unlink(slot);
            }
            _ => {}
        }
    }
}

impl EvictionPolicy for Lru {
    fn victim(&mut self, _: &EvictionView) -> Option<u32> {
        self.links.back()
    }
}

/// A doubly linked list of slots, linked by index. Each slot is in the list at most once.
#[derive(Clone, Debug)]
pub struct Links {
    /// (previous, next) of each slot. The last entry is the end of the list.
    links: Box<[(u32, u32)]>,
}

const UNLINKED: u32 = u32::MAX;

impl Links {
    /// Returns an empty list of `slots` slots.
    pub fn new(slots: u32) -> Links {
        let mut links = vec![(UNLINKED, UNLINKED); slots as usize + 1].into_boxed_slice();
        links[slots as usize] = (slots, slots);
        Links { links }
    }

    fn end(&self) -> u32 {
        (self.links.len() - 1) as u32
    }

    /// Adds a slot at the front.
    pub fn push_front(&mut self, slot: u32) {
        let end = self.end();
        let first = self.links[end as usize].1;
        debug_assert_eq!(self.links[slot as usize].0, UNLINKED, "a slot is listed once");
        self.links[slot as usize] = (end, first);
        self.links[end as usize].1 = slot;
        self.links[first as usize].0 = slot;
    }

    /// Removes a slot; returns false if it was not in the list.
    pub fn unlink(&mut self, slot: u32) -> bool {
        let (previous, next) = self.links[slot as usize];
        if previous == UNLINKED {
            return false;
        }
        self.links[previous as usize].1 = next;
        self.links[next as usize].0 = previous;
        self.links[slot as usize] = (UNLINKED, UNLINKED);
        true
    }

    /// Moves a listed slot to the front.
    pub fn move_to_front(&mut self, slot: u32) {
        self.unlink(slot);
        self.push_front(slot);
    }

    /// Returns the slot at the back.
    pub fn back(&self) -> Option<u32> {
        self.before(self.end())
    }

    /// Returns the slot in front of a listed one.
    pub fn before(&self, slot: u32) -> Option<u32> {
        let previous = self.links[slot as usize].0;
        (previous != self.end()).then_some(previous)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;
    use ssdlab_nand::Lpn;

    use super::*;
    use crate::testing::publish;

    proptest! {
        #[test]
        fn the_page_that_leaves_was_not_used_for_longest(
            acts in prop::collection::vec((0u32..8, 0u8..4), 0..200),
        ) {
            let mut lru = Lru { links: Links::new(8) };
            let mut plain: VecDeque<u32> = VecDeque::new();
            for (slot, act) in acts {
                let (lpn, written) = (Lpn(0), false);
                let held = plain.contains(&slot);
                plain.retain(|&other| other != slot);
                let event = match (held, act) {
                    (_, 0) => Event::PageUnbuffered { lpn, slot },
                    (true, _) => Event::BufferHit { lpn, slot, written },
                    (false, _) => Event::PageBuffered { lpn, slot, written },
                };
                publish(&mut lru, &event);
                if act > 0 {
                    plain.push_front(slot);
                }
                prop_assert_eq!(lru.victim(&EvictionView::BEFORE_RUN), plain.back().copied());
            }
        }
    }
}
