//! The valid pages of the blocks of a plane, as many of each group as it holds.

use rand::RngExt;
use ssdlab_base::rng;
use ssdlab_nand::BlockId;

use super::{Slot, Sorted};

/// Returns the valid pages of blocks by block and group, those of their records. The last few are
/// exchanged, added or removed at random, so that each group has as many as it needs.
pub fn adjusted(
    sorted: &Sorted,
    held: &[(BlockId, Slot)],
    need: &[u32],
    random: &mut rng::Stream,
) -> Vec<u16> {
    let count = sorted.sample.groups;
    let mut valid = Vec::with_capacity(held.len() * count);
    for (_, slot) in held {
        let record = sorted.record(slot.record);
        if record.written == slot.written && record.class.index() == slot.class {
            valid.extend_from_slice(sorted.valid(slot.record));
        } else {
            valid.resize(valid.len() + count, 0);
        }
    }
    let sum = |at: usize| -> u16 { valid[at * count..][..count].iter().sum() };
    let room = held.iter().enumerate().map(|(at, (_, slot))| slot.written - sum(at)).collect();
    let mut have = vec![0u32; count];
    for own in valid.chunks(count.max(1)) {
        own.iter().zip(&mut have).for_each(|(&own, have)| *have += u32::from(own));
    }
    let mut adjustment = Adjustment { valid, room, have, count, random };
    for more in 0..count {
        for less in 0..count {
            if sorted.classes[more] == sorted.classes[less] {
                adjustment.exchange((more, less), need);
            }
        }
    }
    (0..count).for_each(|group| adjustment.remove(group, need[group]));
    for (group, &need) in need.iter().enumerate().take(count) {
        let class = sorted.classes[group];
        let of_class: Vec<bool> = held.iter().map(|(_, slot)| slot.class == class).collect();
        adjustment.add(group, need, &of_class);
    }
    adjustment.valid
}

/// Valid pages that become as many as each group needs.
struct Adjustment<'a> {
    /// By block and group.
    valid: Vec<u16>,
    /// By block: written pages that are not valid.
    room: Vec<u16>,
    /// By group.
    have: Vec<u32>,
    count: usize,
    random: &'a mut rng::Stream,
}

impl Adjustment<'_> {
    fn of(&mut self, at: usize, group: usize) -> &mut u16 {
        &mut self.valid[at * self.count + group]
    }

    /// Calls `act` with random ones of these blocks, up to `times` times. `act` returns whether it
    /// could change the block. A block that it could not change leaves the list.
    fn change(
        &mut self,
        mut list: Vec<usize>,
        times: u32,
        act: impl Fn(&mut Self, usize) -> bool,
    ) -> u32 {
        let mut left = times;
        while left > 0 && !list.is_empty() {
            let nth = self.random.random_range(0..list.len());
            if act(self, list[nth]) {
                left -= 1;
            } else {
                list.swap_remove(nth);
            }
        }
        times - left
    }

    /// Returns the blocks that hold pages of a group.
    fn having(&self, group: usize) -> Vec<usize> {
        let all = self.valid.chunks(self.count.max(1)).enumerate();
        all.filter(|(_, own)| own[group] > 0).map(|(at, _)| at).collect()
    }

    /// Turns surplus pages of `more` into missing pages of `less`, in blocks that hold both.
    fn exchange(&mut self, (more, less): (usize, usize), need: &[u32]) {
        let over = self.have[more].saturating_sub(need[more]);
        let times = over.min(need[less].saturating_sub(self.have[less]));
        let mut both = self.having(more);
        both.retain(|&at| self.valid[at * self.count + less] > 0);
        let done = self.change(both, times, |own, at| {
            let has = *own.of(at, more) > 0;
            if has {
                *own.of(at, more) -= 1;
                *own.of(at, less) += 1;
            }
            has
        });
        self.have[more] -= done;
        self.have[less] += done;
    }

    /// Removes pages of a group until it has no more than it needs.
    fn remove(&mut self, group: usize, need: u32) {
        let times = self.have[group].saturating_sub(need);
        let done = self.change(self.having(group), times, |own, at| {
            let has = *own.of(at, group) > 0;
            if has {
                *own.of(at, group) -= 1;
                own.room[at] += 1;
            }
            has
        });
        self.have[group] -= done;
    }

    /// Adds pages of a group until it has as many as it needs: in blocks that hold it, else in
    /// others of its class, else in any.
    fn add(&mut self, group: usize, need: u32, of_class: &[bool]) {
        let all = 0..of_class.len();
        let lists =
            [self.having(group), all.clone().filter(|&at| of_class[at]).collect(), all.collect()];
        for list in lists {
            let times = need.saturating_sub(self.have[group]);
            let done = self.change(list, times, |own, at| {
                let has = own.room[at] > 0;
                if has {
                    *own.of(at, group) += 1;
                    own.room[at] -= 1;
                }
                has
            });
            self.have[group] += done;
        }
        assert_eq!(self.have[group], need, "a plane has room for its data");
    }
}
