//! Numbers for keys, in the order in which the keys come: a hash table without chance.

use ssdlab_base::rng::mix;

/// Gives each key the next number when it first comes.
pub(super) struct Numbers {
    /// Key and number, by hash; a key of [`FREE`] is none.
    slots: Vec<(u64, u32)>,
    count: u32,
}

const FREE: u64 = u64::MAX;

impl Numbers {
    pub(super) fn new() -> Numbers {
        Numbers { slots: vec![(FREE, 0); 1024], count: 0 }
    }

    /// The number of `key`, and whether it is new.
    #[inline]
    pub(super) fn of(&mut self, key: u64) -> (u32, bool) {
        debug_assert_ne!(key, FREE);
        let slot = self.slot(key);
        if self.slots[slot].0 == key {
            return (self.slots[slot].1, false);
        }
        let number = self.count;
        self.slots[slot] = (key, number);
        self.count += 1;
        if self.count as usize * 2 > self.slots.len() {
            self.grow();
        }
        (number, true)
    }

    /// The keys with their numbers, in no order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u64, u32)> {
        self.slots.iter().copied().filter(|(key, _)| *key != FREE)
    }

    /// Where `key` is or would be.
    #[inline]
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
