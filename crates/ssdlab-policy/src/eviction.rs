//! `eviction`: which buffered page leaves?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Policy, PolicyContext};

/// What is known of a page when it is used.
#[derive(Clone, Copy, Debug)]
pub struct BufferUse {
    /// The page's slot in the buffer.
    pub slot: u32,
    /// Whether it is written, or read.
    pub write: bool,
}

/// Which page leaves a full buffer. The buffer tells of every page that comes, is used, or goes.
pub trait EvictionPolicy {
    /// A page has come into a slot.
    fn insert(&mut self, view: &BufferUse);
    /// A page in the buffer was used.
    fn touch(&mut self, view: &BufferUse);
    /// The page in this slot is gone.
    fn remove(&mut self, slot: u32);
    /// Everything that was written has been put on the flash, and stays in the buffer.
    fn flushed(&mut self) {}
    /// The slot whose page leaves now; `None` if the policy holds none. It is removed next.
    fn victim(&mut self) -> Option<u32>;
}

/// `lru` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LruConfig {}

/// The page that was not used for longest.
#[derive(Clone, Debug)]
pub struct Lru {
    links: Links,
}

impl Policy for Lru {
    type Config = LruConfig;

    fn build(_: &LruConfig, setup: &PolicyContext) -> Lru {
        Lru { links: Links::new(setup.buffer_pages) }
    }
}

impl EvictionPolicy for Lru {
    fn insert(&mut self, view: &BufferUse) {
        self.links.push_front(view.slot);
    }

    fn touch(&mut self, view: &BufferUse) {
        self.links.unlink(view.slot);
        self.links.push_front(view.slot);
    }

    fn remove(&mut self, slot: u32) {
        self.links.unlink(slot);
    }

    fn victim(&mut self) -> Option<u32> {
        self.links.back()
    }
}

/// A doubly linked list of slots, linked by index; each slot is in it at most once.
#[derive(Clone, Debug)]
pub struct Links {
    /// (previous, next) of each slot; the last entry is the list's own end.
    links: Box<[(u32, u32)]>,
}

const UNLINKED: u32 = u32::MAX;

impl Links {
    /// An empty list over `slots` slots.
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

    /// Takes a slot out; false if it was not in the list.
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

    /// The slot at the back.
    pub fn back(&self) -> Option<u32> {
        self.before(self.end())
    }

    /// The slot in front of a listed one.
    pub fn before(&self, slot: u32) -> Option<u32> {
        let previous = self.links[slot as usize].0;
        (previous != self.end()).then_some(previous)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_page_that_leaves_was_not_used_for_longest(
            acts in prop::collection::vec((0u32..8, 0u8..4), 0..200),
        ) {
            let mut lru = Lru { links: Links::new(8) };
            let mut plain: VecDeque<u32> = VecDeque::new();
            for (slot, act) in acts {
                let view = BufferUse { slot, write: false };
                let held = plain.contains(&slot);
                plain.retain(|&other| other != slot);
                match (held, act) {
                    (_, 0) => lru.remove(slot),
                    (true, _) => lru.touch(&view),
                    (false, _) => lru.insert(&view),
                }
                if act > 0 {
                    plain.push_front(slot);
                }
                prop_assert_eq!(lru.victim(), plain.back().copied());
            }
        }
    }
}
