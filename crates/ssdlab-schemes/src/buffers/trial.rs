//! Tests each policy against the plain text of its paper, on the same uses of a buffer.

use proptest::prelude::*;

use ssdlab_nand::Lpn;
use ssdlab_policy::PolicyContext;
use ssdlab_policy::event::Event;
use ssdlab_policy::eviction::{EvictionPolicy, EvictionView};
use ssdlab_policy::testing::{SMALL, publish};

pub(crate) const READ: bool = false;
pub(crate) const WRITE: bool = true;

/// An act on a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    Use { page: u32, write: bool },
    Trim(u32),
    Flush,
}

/// A page as the papers describe it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    pub slot: u32,
    pub dirty: bool,
    pub cold: bool,
}

/// The calls to a policy, or to the plain text of its paper.
pub(crate) trait Buffered {
    /// Notes a page that enters a slot.
    fn insert(&mut self, slot: u32, written: bool);
    /// Notes a use of a page in the buffer.
    fn touch(&mut self, slot: u32, written: bool);
    /// Notes that the page of this slot has left.
    fn remove(&mut self, slot: u32);
    /// Notes that all pages are clean.
    fn flushed(&mut self);
    /// Returns the slot whose page leaves next.
    fn next_to_leave(&mut self) -> Option<u32>;
}

impl<P: EvictionPolicy> Buffered for P {
    fn insert(&mut self, slot: u32, written: bool) {
        publish(self, &Event::PageBuffered { lpn: Lpn(0), slot, written });
    }

    fn touch(&mut self, slot: u32, written: bool) {
        publish(self, &Event::BufferHit { lpn: Lpn(0), slot, written });
    }

    fn remove(&mut self, slot: u32) {
        publish(self, &Event::PageUnbuffered { lpn: Lpn(0), slot });
    }

    fn flushed(&mut self) {
        publish(self, &Event::BufferFlushed);
    }

    fn next_to_leave(&mut self) -> Option<u32> {
        self.victim(&EvictionView::BEFORE_RUN)
    }
}

pub(crate) fn context(buffer_pages: u32) -> PolicyContext {
    let geometry = SMALL;
    PolicyContext { buffer_pages, seed: 7, ..PolicyContext::plain(geometry, 1) }
}

pub(crate) fn acts() -> impl Strategy<Value = Vec<Act>> {
    let used = || (0u32..16, any::<bool>()).prop_map(|(page, write)| Act::Use { page, write });
    let act = prop_oneof![
        30 => used(),
        2 => (0u32..16).prop_map(Act::Trim),
        1 => Just(Act::Flush),
    ];
    prop::collection::vec(act, 0..300)
}

pub(crate) fn reads() -> impl Strategy<Value = Vec<Act>> {
    prop::collection::vec((0u32..16).prop_map(|page| Act::Use { page, write: READ }), 0..300)
}

/// Returns the page that each act evicts from a buffer of this number of pages.
pub(crate) fn departures(pages: u32, acts: &[Act], mut policy: impl Buffered) -> Vec<Option<u32>> {
    let mut slots: Vec<Option<u32>> = vec![None; pages as usize];
    let mut gone = Vec::new();
    for act in acts {
        let at = |wanted: Option<u32>| slots.iter().position(|held| *held == wanted);
        match *act {
            Act::Flush => policy.flushed(),
            Act::Trim(page) => {
                if let Some(slot) = at(Some(page)) {
                    policy.remove(slot as u32);
                    slots[slot] = None;
                }
            }
            Act::Use { page, write } => {
                if let Some(slot) = at(Some(page)) {
                    policy.touch(slot as u32, write);
                    gone.push(None);
                    continue;
                }
                let free = at(None);
                let slot = free.unwrap_or_else(|| leave(&mut policy, 1)[0] as usize);
                gone.push(slots[slot].replace(page));
                policy.insert(slot as u32, write);
            }
        }
    }
    gone
}

/// Returns the next pages to leave.
pub(crate) fn leave(policy: &mut impl Buffered, count: usize) -> Vec<u32> {
    let one = |_| {
        let slot = policy.next_to_leave().expect("a page");
        policy.remove(slot);
        slot
    };
    (0..count).map(one).collect()
}

/// Removes and returns a page from its list.
pub(crate) fn take<const N: usize>(lists: [&mut Vec<Page>; N], slot: u32) -> Page {
    let found = lists.into_iter().find_map(|list| {
        let at = list.iter().position(|page| page.slot == slot)?;
        Some(list.remove(at))
    });
    found.expect("a page in the buffer")
}
