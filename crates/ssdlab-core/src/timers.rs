//! A table of timers. Each slot has at most one time. Setting a slot replaces its time, so no timer
//! ever needs to be canceled.
//!
//! The table is a sorted list of the set timers, the earliest at its end. Few parts of a drive work
//! at a time. Most of those have just begun or end soon, so an insertion moves hardly any entry. At
//! equal times the lower slot fires first, which fixes the order of events.

use ssdlab_base::{Nanos, SimTime};

/// A time relative to the table's zero, with its slot in the lowest bits. The smaller entry fires
/// first.
type Entry = u64;

/// The entry of a slot that is not set.
const UNSET: Entry = Entry::MAX;

/// The most set timers for which an insertion uses a linear search; above it, a binary search.
const FEW: usize = 24;

/// A fixed number of timers, sorted by time.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    /// The entry of each slot.
    slots: Box<[Entry]>,
    /// The entries that are set, the latest first.
    waiting: Vec<Entry>,
    /// The time from which entries count. Relative to it, a time and a slot fit into one word.
    zero: SimTime,
    /// Number of bits of an entry that hold its slot.
    bits: u32,
    /// The mask of these bits.
    slot_mask: Entry,
    /// The number of nanoseconds that an entry can represent.
    range: u64,
}

impl Timers {
    /// Creates `slots` timers, none of them set.
    pub(crate) fn new(slots: usize) -> Timers {
        // One bit more than the slots need, so that no set entry equals `UNSET`.
        let bits = slots.max(2).next_power_of_two().ilog2() + 1;
        let waiting = Vec::with_capacity(slots);
        Timers {
            slots: vec![UNSET; slots].into_boxed_slice(),
            waiting,
            zero: SimTime::START,
            bits,
            slot_mask: (1 << bits) - 1,
            range: 1 << (Entry::BITS - bits),
        }
    }

    /// Returns the earliest time and its slot, or `None` if no timer is set.
    #[inline]
    pub(crate) fn next(&self) -> Option<(SimTime, usize)> {
        self.waiting.last().map(|&first| (self.moment(first), self.slot(first)))
    }

    /// Fires the earliest timer: clears its slot and returns its time and slot.
    #[inline]
    pub(crate) fn fire(&mut self) -> Option<(SimTime, usize)> {
        let first = self.waiting.pop()?;
        let slot = self.slot(first);
        self.slots[slot] = UNSET;
        Some((self.moment(first), slot))
    }

    /// Sets the time of a slot; [`SimTime::NEVER`] clears the slot.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, at: SimTime) {
        if self.slots[slot] != UNSET {
            self.clear(slot);
        }
        if at == SimTime::NEVER {
            return;
        }
        let entry = self.entry(slot, at);
        self.slots[slot] = entry;
        let place = self.waiting.len();
        if place > FEW {
            return self.insert_among_many(entry);
        }
        self.waiting.push(entry);
        self.make_room(place, entry);
    }

    #[inline(never)]
    fn insert_among_many(&mut self, entry: Entry) {
        let place = self.waiting.partition_point(|&other| other > entry);
        self.waiting.insert(place, entry);
    }

    /// Moves the earliest timer to another time; [`SimTime::NEVER`] clears it.
    #[inline(always)]
    pub(crate) fn put_off(&mut self, at: SimTime) {
        let Some(place) = self.waiting.len().checked_sub(1) else { return };
        let slot = self.slot(self.waiting[place]);
        if place > FEW || at == SimTime::NEVER {
            return self.set(slot, at);
        }
        let entry = self.entry(slot, at);
        self.slots[slot] = entry;
        self.make_room(place, entry);
    }

    /// Inserts an entry at or before `place` in the sorted list, and drops the old entry at
    /// `place`.
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
    #[inline(never)]
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

    /// Returns the time of a slot, or [`SimTime::NEVER`] if it is not set.
    pub(crate) fn get(&self, slot: usize) -> SimTime {
        match self.slots[slot] {
            UNSET => SimTime::NEVER,
            set => self.moment(set),
        }
    }

    #[inline]
    fn slot(&self, entry: Entry) -> usize {
        (entry & self.slot_mask) as usize
    }

    fn moment(&self, entry: Entry) -> SimTime {
        self.zero + Nanos::from_ns(entry >> self.bits)
    }

    #[inline]
    fn entry(&mut self, slot: usize, at: SimTime) -> Entry {
        let mut since = (at - self.zero).as_ns();
        if since >= self.range {
            since = self.count_anew(at);
        }
        since << self.bits | slot as Entry
    }

    /// Moves the table's zero and returns the time of `at` relative to the new zero. The new zero
    /// lies half the range of an entry before the earlier of `at` and the earliest set timer. Both
    /// lie at most the time of one operation after the present.
    #[cold]
    fn count_anew(&mut self, at: SimTime) -> u64 {
        let first = self.waiting.last().map_or(u64::MAX, |first| first >> self.bits);
        let later = first.min((at - self.zero).as_ns()).saturating_sub(self.range / 2);
        self.zero += Nanos::from_ns(later);
        let set = self.slots.iter_mut().filter(|entry| **entry != UNSET);
        set.chain(&mut self.waiting).for_each(|entry| *entry -= later << self.bits);
        let since = (at - self.zero).as_ns();
        assert!(since < self.range, "timers set for moments that lie {since} ns apart");
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
            // With 1 the zero never moves; with 1 << 48 it moves again and again.
            unit in prop::sample::select(vec![1u64, 1 << 48]),
            // `act`: 0 fires the earliest timer before the set, 1 only moves the earliest, others
            // only set.
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
    fn timers_fire_after_centuries_without_an_event() {
        let mut timers = Timers::new(80);
        let moments = [1, 1 << 61, (1 << 61) + 5, 3 << 61].map(SimTime::from_ns);
        for (slot, at) in moments.into_iter().enumerate() {
            timers.set(slot, at);
            assert_eq!(timers.fire(), Some((at, slot)));
            assert_eq!(timers.next(), None);
        }
    }
}
