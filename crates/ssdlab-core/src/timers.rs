//! A table of timers: each slot has at most one next moment, so setting it replaces the old one
//! and nothing is ever cancelled.
//!
//! A list of those that are set, in their order, the earliest at its end: few of a drive's parts
//! are at work at a time, most of which have just begun or end soon, so that hardly any has to make
//! room. At equal moments the lower slot goes first, which fixes the order of events.

use ssdlab_base::SimTime;

/// A moment, counted from the table's zero, and its slot in the lowest bits: the lesser goes first.
type Entry = u64;

/// That of every slot that is not set.
const UNSET: Entry = Entry::MAX;

/// As long as no more are set, a place among them is found by walking, else by halving.
const FEW: usize = 24;

/// A fixed number of timers and the earliest of them.
#[derive(Clone, Debug)]
pub struct Timers {
    /// What each slot is set to.
    slots: Box<[Entry]>,
    /// Those that are set, the latest first.
    waiting: Vec<Entry>,
    /// From when moments are counted, in nanoseconds: so that a moment and a slot fit into one
    /// word.
    zero: u64,
    /// Bits for the slot.
    bits: u32,
}

impl Timers {
    /// `slots` timers, none of them set.
    pub fn new(slots: usize) -> Timers {
        // One bit more, so that no slot is that of an entry that is not set.
        let bits = slots.max(2).next_power_of_two().ilog2() + 1;
        let waiting = Vec::with_capacity(slots);
        Timers { slots: vec![UNSET; slots].into_boxed_slice(), waiting, zero: 0, bits }
    }

    /// The slot with the earliest moment, and that moment; `None` when no timer is set.
    #[inline]
    pub fn next(&self) -> Option<(SimTime, usize)> {
        self.waiting.last().map(|&first| (self.moment(first), self.slot(first)))
    }

    /// Clears the slot with the earliest moment, which fires.
    #[inline]
    pub fn fire(&mut self) -> Option<(SimTime, usize)> {
        let first = self.waiting.pop()?;
        let slot = self.slot(first);
        self.slots[slot] = UNSET;
        Some((self.moment(first), slot))
    }

    /// Sets a slot's next moment; [`SimTime::NEVER`] clears it.
    #[inline]
    pub fn set(&mut self, slot: usize, at: SimTime) {
        if self.slots[slot] != UNSET {
            self.clear(slot);
        }
        if at == SimTime::NEVER {
            return;
        }
        let entry = self.entry(slot, at);
        self.slots[slot] = entry;
        let mut place = self.waiting.len();
        if place > FEW {
            place = self.waiting.partition_point(|&other| other > entry);
            return self.waiting.insert(place, entry);
        }
        self.waiting.push(entry);
        self.make_room(place, entry);
    }

    /// Sets the slot with the earliest moment to another one.
    #[inline(always)]
    pub fn put_off(&mut self, at: SimTime) {
        let Some(place) = self.waiting.len().checked_sub(1) else { return };
        let slot = self.slot(self.waiting[place]);
        if place > FEW || at == SimTime::NEVER {
            return self.set(slot, at);
        }
        let entry = self.entry(slot, at);
        self.slots[slot] = entry;
        self.make_room(place, entry);
    }

    /// Puts an entry at a place of its own, from this one down, whose entry is dropped.
    #[inline(always)]
    fn make_room(&mut self, mut place: usize, entry: Entry) {
        let waiting = &mut self.waiting[..=place];
        while place > 0 && waiting[place - 1] < entry {
            waiting[place] = waiting[place - 1];
            place -= 1;
        }
        waiting[place] = entry;
    }

    /// Clears a slot that is set.
    #[inline]
    fn clear(&mut self, slot: usize) {
        let entry = std::mem::replace(&mut self.slots[slot], UNSET);
        if self.waiting.last() == Some(&entry) {
            self.waiting.pop();
            return;
        }
        let place = self.waiting.partition_point(|&other| other > entry);
        let gone = self.waiting.remove(place);
        debug_assert_eq!(gone, entry, "a slot that is set waits");
    }

    /// The moment a slot is set to.
    pub fn get(&self, slot: usize) -> SimTime {
        match self.slots[slot] {
            UNSET => SimTime::NEVER,
            set => self.moment(set),
        }
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
        let mut since = at.as_ns() - self.zero;
        if since >= self.range() {
            since = self.count_anew(at.as_ns());
        }
        since << self.bits | slot as Entry
    }

    /// Counts moments from one that is long before the earliest that is set, and before this one;
    /// how long that is before this one. Both are later than the present by the time of an
    /// operation at most.
    #[cold]
    fn count_anew(&mut self, at: u64) -> u64 {
        let first = self.waiting.last().map_or(u64::MAX, |first| first >> self.bits);
        let later = first.min(at - self.zero).saturating_sub(self.range() / 2);
        self.zero += later;
        let set = self.slots.iter_mut().filter(|entry| **entry != UNSET);
        set.chain(&mut self.waiting).for_each(|entry| *entry -= later << self.bits);
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
            // Some before which the first slot fires, and some that are set while it does.
            sets in prop::collection::vec((0usize..70, 0u64..40, 0u8..4), 0..300),
        ) {
            let mut timers = Timers::new(slots);
            let mut plain = vec![u64::MAX; slots];
            let mut now = 0;
            for (slot, time, act) in sets {
                let first = (0..slots).min_by_key(|&s| (plain[s], s)).unwrap();
                if act < 3 {
                    let expected = (plain[first] != u64::MAX)
                        .then_some((SimTime::from_ns(plain[first]), first));
                    prop_assert_eq!(timers.next(), expected);
                    if act == 0 {
                        prop_assert_eq!(timers.fire(), expected);
                        now = if expected.is_some() { plain[first] } else { now + 100 * unit };
                        plain[first] = u64::MAX;
                    }
                    if act == 1 && plain[first] != u64::MAX {
                        plain[first] = if time >= 30 { u64::MAX } else { plain[first] + time * unit };
                        timers.put_off(SimTime::from_ns(plain[first]));
                        prop_assert_eq!(timers.get(first).as_ns(), plain[first]);
                        continue;
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
            assert_eq!(timers.next(), None);
        }
    }
}
