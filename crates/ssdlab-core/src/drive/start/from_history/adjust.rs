//! The valid pages of the blocks of a plane, as many of each group as it holds.

use rand::RngExt;
use ssdlab_base::rng;
use ssdlab_nand::BlockId;

use super::{Slot, Sorted};
use crate::policy::allocation::BlockClass;

/// Returns the valid pages of blocks by block and group, those of their records. The last few are
/// exchanged, added or removed at random, so that the blocks of each class hold as many of each
/// group as they need. `need` lists these by class and group.
pub(crate) fn adjusted(
    sorted: &Sorted,
    held: &[(BlockId, Slot)],
    need: &[Vec<u32>],
    random: &mut rng::Stream,
) -> Vec<u16> {
    let count = sorted.sample.groups;
    let mut valid = Vec::with_capacity(held.len() * count);
    for (_, slot) in held {
        let record = sorted.record(slot.record);
        if record.written == slot.written && record.class == slot.class {
            valid.extend_from_slice(sorted.valid(slot.record));
        } else {
            valid.resize(valid.len() + count, 0);
        }
    }
    let sum = |at: usize| -> u16 { valid[at * count..][..count].iter().sum() };
    let room = held.iter().enumerate().map(|(at, (_, slot))| slot.written - sum(at)).collect();
    let mut adjustment = Adjustment { valid, room, count, random };
    let mut missing = vec![0; count];
    for (class, need) in (0..).map(BlockClass).zip(need) {
        let of_class = |at: &usize| held[*at].1.class == class;
        let blocks: Vec<usize> = (0..held.len()).filter(of_class).collect();
        for (group, left) in adjustment.fit(&blocks, need).into_iter().enumerate() {
            missing[group] += left;
        }
    }
    for (group, missing) in missing.into_iter().enumerate() {
        let left = adjustment.add(group, missing, (0..held.len()).collect());
        assert_eq!(left, 0, "a plane has room for its data");
    }
    adjustment.valid
}

/// Valid pages that become as many as each group needs.
struct Adjustment<'a> {
    /// By block and group.
    valid: Vec<u16>,
    /// By block: written pages that are not valid.
    room: Vec<u16>,
    count: usize,
    random: &'a mut rng::Stream,
}

impl Adjustment<'_> {
    /// Gives these blocks as many pages of each group as they need. Returns the pages of each group
    /// that found no room.
    fn fit(&mut self, blocks: &[usize], need: &[u32]) -> Vec<u32> {
        let mut have = vec![0u32; self.count];
        for &at in blocks {
            let own = &self.valid[at * self.count..][..self.count];
            own.iter().zip(&mut have).for_each(|(&own, have)| *have += u32::from(own));
        }
        for more in 0..self.count {
            for less in 0..self.count {
                let over = have[more].saturating_sub(need[more]);
                let times = over.min(need[less].saturating_sub(have[less]));
                let done = self.exchange((more, less), times, blocks);
                have[more] -= done;
                have[less] += done;
            }
        }
        for group in 0..self.count {
            let times = have[group].saturating_sub(need[group]);
            have[group] -= self.remove(group, times, blocks);
        }
        let missing = need.iter().zip(have).map(|(need, have)| need.saturating_sub(have));
        let missing: Vec<u32> = missing.collect();
        (0..self.count)
            .map(|group| {
                let left = self.add(group, missing[group], self.having(group, blocks));
                self.add(group, left, blocks.to_vec())
            })
            .collect()
    }

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

    /// Returns those of these blocks that hold pages of a group.
    fn having(&self, group: usize, blocks: &[usize]) -> Vec<usize> {
        let has = |&&at: &&usize| self.valid[at * self.count + group] > 0;
        blocks.iter().filter(has).copied().collect()
    }

    /// Turns up to `times` pages of `more` into pages of `less`, in blocks that hold both. Returns
    /// how many.
    fn exchange(&mut self, (more, less): (usize, usize), times: u32, blocks: &[usize]) -> u32 {
        let both = self.having(less, &self.having(more, blocks));
        self.change(both, times, |own, at| {
            let has = *own.of(at, more) > 0;
            if has {
                *own.of(at, more) -= 1;
                *own.of(at, less) += 1;
            }
            has
        })
    }

    /// Removes up to `times` pages of a group. Returns how many.
    fn remove(&mut self, group: usize, times: u32, blocks: &[usize]) -> u32 {
        self.change(self.having(group, blocks), times, |own, at| {
            let has = *own.of(at, group) > 0;
            if has {
                *own.of(at, group) -= 1;
                own.room[at] += 1;
            }
            has
        })
    }

    /// Adds up to `times` pages of a group. Returns how many found no room.
    fn add(&mut self, group: usize, times: u32, blocks: Vec<usize>) -> u32 {
        let done = self.change(blocks, times, |own, at| {
            let has = own.room[at] > 0;
            if has {
                *own.of(at, group) += 1;
                own.room[at] -= 1;
            }
            has
        });
        times - done
    }
}
