//! A table of timers: each slot has at most one next moment, so setting it replaces the old one
//! and nothing is ever cancelled.
//!
//! A tournament tree: the earliest moment is at the root, and changing one slot replays only the
//! matches on its way up. At equal moments the lower slot wins, which fixes the order of events.
//! The way up from a slot that fires is replayed once it has been set anew, for what it is set to.

use ssdlab_base::SimTime;

/// A moment, counted from the table's zero, and its slot in the lowest bits: the lesser is the winner of a match.
type Entry = u64;

/// That of every slot that is not set.
const UNSET: Entry = Entry::MAX;

/// A fixed number of timers and the earliest of them.
#[derive(Clone, Debug)]
pub struct Timers {
    /// A binary tree from node 1, two nodes a row: those that meet in a match are in one. The leaves are the
    /// slots, and the last nodes.
    tree: Box<[[Entry; 2]]>,
    leaves: usize,
    /// The leaf of the slot that fires, whose way up is still to be replayed; else 0.
    fires: usize,
    /// From when moments are counted, in nanoseconds: so that a moment and a slot fit into one word.
    zero: u64,
    /// Bits for the slot.
    bits: u32,
}

impl Timers {
    /// `slots` timers, none of them set.
    pub fn new(slots: usize) -> Timers {
        let leaves = slots.max(2);
        // One bit more, so that no slot is that of an entry that is not set.
        let bits = leaves.next_power_of_two().ilog2() + 1;
        let tree = vec![[UNSET; 2]; leaves].into_boxed_slice();
        Timers { tree, leaves, fires: 0, zero: 0, bits }
    }

    /// The slot with the earliest moment, and that moment; `None` when no timer is set.
    #[inline]
    pub fn next(&self) -> Option<(SimTime, usize)> {
        debug_assert_eq!(self.fires, 0, "a slot still fires");
        let first = self.first();
        (first != UNSET).then(|| (self.moment(first), self.slot(first)))
    }

    /// Clears the slot with the earliest moment, which fires until [`Timers::fired`] or until it is set.
    #[inline]
    pub fn fire(&mut self) -> Option<(SimTime, usize)> {
        let (at, slot) = self.next()?;
        self.fires = self.leaves + slot;
        *self.node(self.fires) = UNSET;
        Some((at, slot))
    }

    /// Ends the firing of a slot.
    #[inline]
    pub fn fired(&mut self) {
        if self.fires > 0 {
            let node = std::mem::take(&mut self.fires);
            let entry = *self.node(node);
            self.replay(node, entry);
        }
    }

    /// Sets the slot with the earliest moment anew.
    #[inline]
    pub fn put_off(&mut self, slot: usize, at: SimTime) {
        debug_assert_eq!(self.next().map(|(_, first)| first), Some(slot), "the first one");
        let entry = self.entry(slot, at);
        self.replay(self.leaves + slot, entry);
    }

    /// Sets a slot's next moment; [`SimTime::NEVER`] clears it.
    #[inline]
    pub fn set(&mut self, slot: usize, at: SimTime) {
        let mut node = self.leaves + slot;
        let mut winner = self.entry(slot, at);
        if node == self.fires {
            self.fires = 0;
            return self.replay(node, winner);
        }
        while node > 1 {
            let row = &mut self.tree[node >> 1];
            row[node & 1] = winner;
            let other = row[!node & 1];
            node >>= 1;
            let won = *self.node(node);
            if self.slot(won) == slot {
                winner = winner.min(other);
            } else if won <= winner {
                // Who had won this match still wins it, and so nothing changes further up.
                return;
            }
        }
        *self.node(node) = winner;
    }

    /// Sets a leaf and replays every match on the way up from it: it had won them all.
    #[inline]
    fn replay(&mut self, leaf: usize, entry: Entry) {
        let (mut node, mut winner) = (leaf, entry);
        while node > 1 {
            let row = &mut self.tree[node >> 1];
            row[node & 1] = winner;
            winner = winner.min(row[!node & 1]);
            node >>= 1;
        }
        *self.node(node) = winner;
    }

    /// The moment a slot is set to.
    pub fn get(&self, slot: usize) -> SimTime {
        let leaf = self.leaves + slot;
        match self.tree[leaf >> 1][leaf & 1] {
            UNSET => SimTime::NEVER,
            set => self.moment(set),
        }
    }

    /// The entry of the earliest moment.
    #[inline]
    fn first(&self) -> Entry {
        self.tree[0][1]
    }

    #[inline]
    fn node(&mut self, node: usize) -> &mut Entry {
        &mut self.tree[node >> 1][node & 1]
    }

    #[inline]
    fn slot(&self, entry: Entry) -> usize {
        (entry & ((1 << self.bits) - 1)) as usize
    }

    #[inline]
    fn moment(&self, entry: Entry) -> SimTime {
        SimTime::from_ns(self.zero + (entry >> self.bits))
    }

    /// Nanoseconds that an entry can tell.
    #[inline]
    fn range(&self) -> u64 {
        1 << (Entry::BITS - self.bits)
    }

    #[inline]
    fn entry(&mut self, slot: usize, at: SimTime) -> Entry {
        if at == SimTime::NEVER {
            return UNSET;
        }
        let mut since = at.as_ns() - self.zero;
        if since >= self.range() {
            since = self.count_anew(at.as_ns());
        }
        since << self.bits | slot as Entry
    }

    /// Counts moments from one that is long before the earliest that is set, and before this one; how long
    /// that is before this one. Both are later than the present by the time of an operation at most.
    #[cold]
    fn count_anew(&mut self, at: u64) -> u64 {
        // Perhaps that of the slot that fires, which is not later than any other.
        let first = match self.first() {
            UNSET => u64::MAX,
            first => first >> self.bits,
        };
        let later = first.min(at - self.zero).saturating_sub(self.range() / 2);
        self.zero += later;
        let entries = self.tree.as_flattened_mut().iter_mut().filter(|entry| **entry != UNSET);
        entries.for_each(|entry| *entry -= later << self.bits);
        let since = at - self.zero;
        assert!(since < self.range(), "timers set for moments that lie {since} ns apart");
        since
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
            // How far apart: moments are never counted anew, or again and again.
            unit in prop::sample::select(vec![1u64, 1 << 48]),
            // Some before which the first slot fires, and some before which it has fired.
            sets in prop::collection::vec((0usize..70, 0u64..40, 0u8..4), 0..300),
        ) {
            let mut timers = Timers::new(slots);
            let mut plain = vec![u64::MAX; slots];
            let mut now = 0;
            for (slot, time, act) in sets {
                let first = (0..slots).min_by_key(|&s| (plain[s], s)).unwrap();
                if act < 3 {
                    timers.fired();
                    let expected = (plain[first] != u64::MAX)
                        .then_some((SimTime::from_ns(plain[first]), first));
                    prop_assert_eq!(timers.next(), expected);
                    if act == 0 {
                        prop_assert_eq!(timers.fire(), expected);
                        now = if expected.is_some() { plain[first] } else { now + 100 * unit };
                        plain[first] = u64::MAX;
                    }
                }
                let slot = if time % 2 == 0 { first } else { slot % slots };
                let time = if time >= 30 { u64::MAX } else { now + time * unit };
                timers.set(slot, SimTime::from_ns(time));
                plain[slot] = time;
                prop_assert_eq!(timers.get(slot).as_ns(), time);
            }
        }
    }

    #[test]
    fn nothing_happens_for_years_and_then_something() {
        let mut timers = Timers::new(80);
        let moments = [1, 1 << 61, (1 << 61) + 5, 3 << 61].map(SimTime::from_ns);
        for (slot, at) in moments.into_iter().enumerate() {
            timers.set(slot, at);
            assert_eq!(timers.fire(), Some((at, slot)));
            timers.fired();
            assert_eq!(timers.next(), None);
        }
    }
}
