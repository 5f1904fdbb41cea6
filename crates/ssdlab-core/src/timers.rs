//! A table of timers: each slot has at most one next moment, so setting it replaces the old one
//! and nothing is ever cancelled.
//!
//! A tournament tree: the earliest moment is at the root, and changing one slot replays only the
//! matches on its way up. At equal moments the lower slot wins, which fixes the order of events.

use ssdlab_base::SimTime;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    time: u64,
    slot: u32,
}

/// A fixed number of timers and the earliest of them.
#[derive(Clone, Debug)]
pub struct Timers {
    /// A complete binary tree from index 1; the leaves are the slots.
    tree: Box<[Entry]>,
    leaves: usize,
}

impl Timers {
    /// `slots` timers, none of them set.
    pub fn new(slots: usize) -> Timers {
        let leaves = slots.next_power_of_two().max(2);
        let never = Entry { time: SimTime::NEVER.as_ns(), slot: 0 };
        let mut tree = vec![never; 2 * leaves].into_boxed_slice();
        for (slot, leaf) in tree[leaves..].iter_mut().enumerate() {
            leaf.slot = slot as u32;
        }
        let mut timers = Timers { tree, leaves };
        for node in (1..leaves).rev() {
            timers.tree[node] = timers.winner(node);
        }
        timers
    }

    /// The slot with the earliest moment, and that moment; `None` when no timer is set.
    #[inline]
    pub fn next(&self) -> Option<(SimTime, usize)> {
        let Entry { time, slot } = self.tree[1];
        (time != SimTime::NEVER.as_ns()).then_some((SimTime::from_ns(time), slot as usize))
    }

    /// Sets a slot's next moment; [`SimTime::NEVER`] clears it.
    #[inline]
    pub fn set(&mut self, slot: usize, at: SimTime) {
        let mut node = self.leaves + slot;
        self.tree[node].time = at.as_ns();
        while node > 1 {
            node >>= 1;
            let winner = self.winner(node);
            // A match whose result is what it was changes nothing further up.
            if self.tree[node] == winner {
                return;
            }
            self.tree[node] = winner;
        }
    }

    /// The moment a slot is set to.
    pub fn get(&self, slot: usize) -> SimTime {
        SimTime::from_ns(self.tree[self.leaves + slot].time)
    }

    #[inline]
    fn winner(&self, node: usize) -> Entry {
        let (left, right) = (self.tree[2 * node], self.tree[2 * node + 1]);
        if right.time < left.time { right } else { left }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_earliest_is_that_of_a_linear_search(
            slots in 1usize..70,
            sets in prop::collection::vec((0usize..70, 0u64..40), 0..300),
        ) {
            let mut timers = Timers::new(slots);
            let mut plain = vec![u64::MAX; slots];
            for (slot, time) in sets {
                let slot = slot % slots;
                let time = if time >= 30 { u64::MAX } else { time };
                timers.set(slot, SimTime::from_ns(time));
                plain[slot] = time;
                let first = (0..slots).min_by_key(|&s| (plain[s], s)).unwrap();
                let expected = (plain[first] != u64::MAX)
                    .then_some((SimTime::from_ns(plain[first]), first));
                prop_assert_eq!(timers.next(), expected);
                prop_assert_eq!(timers.get(slot).as_ns(), time);
            }
        }
    }
}
