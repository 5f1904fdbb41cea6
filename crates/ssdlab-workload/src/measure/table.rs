//! Numbers keys in the order of their first use: a hash table without randomness.

use ssdlab_base::rng::mix;

/// Gives each key the next number at its first use.
pub(super) struct Numbers {
    /// Keys and numbers, by hash; the key [`FREE`] marks an empty slot.
    slots: Vec<(u64, u32)>,
    count: u32,
}

const FREE: u64 = u64::MAX;

impl Numbers {
    pub(super) fn new() -> Numbers {
        Numbers { slots: vec![(FREE, 0); 1024], count: 0 }
    }

    /// Returns the number of `key`, and whether the key is new.
    pub(super) fn of(&mut self, key: u64) -> (u32, bool) {
        debug_assert_ne!(key, FREE);
        let slot = self.slot(key);
        if self.slots[slot].0 == key {
            return (self.slots[slot].1, false);
        }
        let number = self.count;
        self.slots[slot] = (key, number);
        self.count += 1;
        // Half of the slots plus one: reuse distances follow a power of two of pages, plus one.
        if self.count as usize * 2 > self.slots.len() + 2 {
            self.grow();
        }
        (number, true)
    }

    /// Returns the number of `key`, if it has one.
    pub(super) fn known(&self, key: u64) -> Option<u32> {
        let (found, number) = self.slots[self.slot(key)];
        (found == key).then_some(number)
    }

    /// Returns the bytes that `more` keys take: the table moves into one of twice its size.
    pub(super) fn growth(&self, more: u64) -> u64 {
        let entry = size_of::<(u64, u32)>() as u64;
        let slots = self.slots.len() as u64;
        let keys = u64::from(self.count) + more;
        let wanted = (2 * keys.saturating_sub(1)).next_power_of_two();
        if wanted > slots { wanted * entry } else { 0 }
    }

    /// Returns the bytes of the table.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> u64 {
        size_of_val(&*self.slots) as u64
    }

    /// Returns the keys with their numbers, in no particular order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u64, u32)> {
        self.slots.iter().copied().filter(|(key, _)| *key != FREE)
    }

    /// Returns the slot where `key` is or would go.
    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = mix(key) as usize & mask;
        while self.slots[slot].0 != key && self.slots[slot].0 != FREE {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let wider = vec![(FREE, 0); self.slots.len() * 2];
        for (key, number) in std::mem::replace(&mut self.slots, wider) {
            if key != FREE {
                let slot = self.slot(key);
                self.slots[slot] = (key, number);
            }
        }
    }
}
