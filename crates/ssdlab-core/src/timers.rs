//! A table of timers: each slot has at most one next moment, so setting it replaces the old one
//! and nothing is ever cancelled.
//!
//! A tournament tree: the earliest moment is at the root, and changing one slot replays only the
//! matches on its way up. At equal moments the lower slot wins, which fixes the order of events.
//! The way up from a slot that fires is replayed once it has been set anew, for what it is set to.

use ssdlab_base::SimTime;

/// A moment and its slot, so that the lesser is the winner of a match.
type Entry = u128;

fn entry(time: SimTime, slot: usize) -> Entry {
    Entry::from(time.as_ns()) << 64 | slot as Entry
}

fn time(entry: Entry) -> SimTime {
    SimTime::from_ns((entry >> 64) as u64)
}

/// A fixed number of timers and the earliest of them.
#[derive(Clone, Debug)]
pub struct Timers {
    /// A complete binary tree from index 1; the leaves are the slots.
    tree: Box<[Entry]>,
    leaves: usize,
    /// The leaf of the slot that fires, whose way up is still to be replayed; else 0.
    fires: usize,
}

impl Timers {
    /// `slots` timers, none of them set.
    pub fn new(slots: usize) -> Timers {
        let leaves = slots.next_power_of_two().max(2);
        let mut tree = vec![0; 2 * leaves].into_boxed_slice();
        for (slot, leaf) in tree[leaves..].iter_mut().enumerate() {
            *leaf = entry(SimTime::NEVER, slot);
        }
        for node in (1..leaves).rev() {
            tree[node] = tree[2 * node].min(tree[2 * node + 1]);
        }
        Timers { tree, leaves, fires: 0 }
    }

    /// The slot with the earliest moment, and that moment; `None` when no timer is set.
    #[inline]
    pub fn next(&self) -> Option<(SimTime, usize)> {
        debug_assert_eq!(self.fires, 0, "a slot still fires");
        let first = self.tree[1];
        (time(first) != SimTime::NEVER).then_some((time(first), first as u64 as usize))
    }

    /// Clears the slot with the earliest moment, which fires until [`Timers::fired`] or until it is set.
    #[inline]
    pub fn fire(&mut self) -> Option<(SimTime, usize)> {
        let (at, slot) = self.next()?;
        self.fires = self.leaves + slot;
        self.tree[self.fires] = entry(SimTime::NEVER, slot);
        Some((at, slot))
    }

    /// Ends the firing of a slot.
    #[inline]
    pub fn fired(&mut self) {
        if self.fires > 0 {
            self.replay_fired();
        }
    }

    /// Sets a slot's next moment; [`SimTime::NEVER`] clears it.
    #[inline]
    pub fn set(&mut self, slot: usize, at: SimTime) {
        let mut node = self.leaves + slot;
        self.tree[node] = entry(at, slot);
        if node == self.fires {
            return self.replay_fired();
        }
        while node > 1 {
            let winner = self.tree[node].min(self.tree[node ^ 1]);
            node >>= 1;
            // A match whose result is what it was changes nothing further up.
            if self.tree[node] == winner {
                return;
            }
            self.tree[node] = winner;
        }
    }

    /// Replays every match on the way up from the slot that fires: it had won them all.
    #[inline]
    fn replay_fired(&mut self) {
        let mut node = std::mem::take(&mut self.fires);
        let mut winner = self.tree[node];
        while node > 1 {
            winner = winner.min(self.tree[node ^ 1]);
            node >>= 1;
            self.tree[node] = winner;
        }
    }

    /// The moment a slot is set to.
    pub fn get(&self, slot: usize) -> SimTime {
        time(self.tree[self.leaves + slot])
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
            // Some before which the first slot fires, and some before which it has fired.
            sets in prop::collection::vec((0usize..70, 0u64..40, 0u8..4), 0..300),
        ) {
            let mut timers = Timers::new(slots);
            let mut plain = vec![u64::MAX; slots];
            for (slot, time, act) in sets {
                let first = (0..slots).min_by_key(|&s| (plain[s], s)).unwrap();
                if act < 3 {
                    timers.fired();
                    let expected = (plain[first] != u64::MAX)
                        .then_some((SimTime::from_ns(plain[first]), first));
                    prop_assert_eq!(timers.next(), expected);
                    if act == 0 {
                        prop_assert_eq!(timers.fire(), expected);
                        plain[first] = u64::MAX;
                    }
                }
                let slot = if time % 2 == 0 { first } else { slot % slots };
                let time = if time >= 30 { u64::MAX } else { time };
                timers.set(slot, SimTime::from_ns(time));
                plain[slot] = time;
                prop_assert_eq!(timers.get(slot).as_ns(), time);
            }
        }
    }
}
