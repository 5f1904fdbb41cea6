//! Which record each block of a plane gets.

use rand::RngExt;
use ssdlab_base::rng;

use super::{Record, Sorted, SortedPlane};
use crate::config::{RESERVE_BLOCKS, Resolved};
use crate::policy::allocation::BlockClass;

/// The future of a block of the drive: its class, and the record that it gets.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    /// Its rank.
    pub rank: f64,
    /// The record.
    pub record: u32,
    /// Its class.
    pub class: BlockClass,
    /// Its written pages.
    pub written: u16,
}

/// Ranks within which two records may be exchanged.
const NEIGHBORS: usize = 4;

/// Assigns the records of the sample to the blocks of a plane.
struct Assignment<'a> {
    sorted: &'a Sorted<'a>,
    like: &'a SortedPlane,
    pages: u16,
    random: &'a mut rng::Stream,
    slots: Vec<Slot>,
}

impl Assignment<'_> {
    fn add(&mut self, record: u32, class: BlockClass, written: u16) {
        // Ranks of blocks that take after the same record differ a little.
        let jitter = (self.random.random::<f64>() - 0.5) / self.sorted.sample.blocks;
        let rank = self.sorted.record(record).rank + jitter;
        self.slots.push(Slot { rank, record, class, written });
    }

    /// Adds `count` blocks that take after these records, each about equally often.
    fn spread(&mut self, list: &[u32], count: usize, class: BlockClass, written: u16) {
        let offset: f64 = self.random.random();
        for nth in 0..count {
            let at = ((nth as f64 + offset) * list.len() as f64 / count as f64) as usize;
            self.add(list[at.min(list.len() - 1)], class, written);
        }
    }

    /// Exchanges records of the slots from `first` on with their neighbors in the list, until the
    /// blocks of a class hold nearly as many valid pages as it needs. To add and remove single
    /// pages would spread the numbers of valid pages.
    fn balance(&mut self, list: &[u32], (first, class): (usize, BlockClass), need: u32) {
        let sorted = self.sorted;
        let valid =
            |record: u32| -> i64 { sorted.valid(record).iter().map(|&v| i64::from(v)).sum() };
        let open = self.slots[..first].iter().filter(|slot| slot.class == class);
        let own = open.chain(&self.slots[first..]).map(|slot| valid(slot.record));
        let mut off = own.sum::<i64>() - i64::from(need);
        for _ in 0..4 * (self.slots.len() - first) {
            if off.unsigned_abs() < u64::from(self.pages).div_ceil(4) {
                break;
            }
            let slot = self.random.random_range(first..self.slots.len());
            let at = list.iter().position(|&record| record == self.slots[slot].record);
            let Some(at) = at else { continue };
            let near = at.saturating_sub(NEIGHBORS)..(at + NEIGHBORS + 1).min(list.len());
            let other = list[self.random.random_range(near)];
            let then = off + valid(other) - valid(self.slots[slot].record);
            if then.abs() < off.abs() {
                (self.slots[slot].record, off) = (other, then);
            }
        }
    }

    /// Returns the full blocks, or others if there are none, after which those of a class take.
    fn full_like(&self, class: BlockClass) -> Vec<u32> {
        let planes = [self.like].into_iter().chain(&self.sorted.planes);
        let own = planes.clone().map(|plane| &plane.full[class.index()]);
        let mut lists = own.chain(planes.flat_map(|plane| &plane.full));
        let some = lists.find(|list| !list.is_empty());
        let all = || (0..self.sorted.sample.records.len() as u32).collect();
        some.cloned().unwrap_or_else(all)
    }
}

/// Returns the future of the `usable` blocks of a plane, after a plane of the sample. `need` lists
/// the pages that the plane holds, by class and group.
pub(crate) fn slots(
    resolved: &Resolved,
    sorted: &Sorted,
    usable: usize,
    need: &[Vec<u32>],
    random: &mut rng::Stream,
) -> Vec<Slot> {
    let (sample, pages) = (sorted.sample, resolved.geometry().pages as u16);
    let min_free = RESERVE_BLOCKS + 1;
    let like = &sorted.planes[random.random_range(0..sorted.planes.len())];
    let mut assignment =
        Assignment { sorted, like, pages, random, slots: Vec::with_capacity(usable) };
    let mut in_open = vec![0; like.full.len()];
    for &at in like.open.iter().take(usable.saturating_sub(min_free)) {
        let Record { class, written, .. } = sorted.record(at);
        assignment.add(at, *class, *written);
        in_open[class.index()] += u32::from(*written);
    }
    // Free blocks beyond those that policies keep grow with the plane.
    let beyond = like.free.len() as f64 - sample.free_blocks;
    let grown = if beyond > 0.0 { usable as f64 / sample.blocks } else { 1.0 };
    let free = (sorted.free_blocks + beyond * grown).round().max(min_free as f64) as usize;
    let rest = usable - assignment.slots.len();
    let free = (free.min(rest), min_free.min(rest));
    let need: Vec<u32> = need.iter().map(|of_class| of_class.iter().sum()).collect();
    let full = full_blocks(like, rest, free, (&need, &in_open, pages.into()));
    for (class, count) in (0..).map(BlockClass).zip(full) {
        let (list, first) = (assignment.full_like(class), assignment.slots.len());
        assignment.spread(&list, count, class, assignment.pages);
        assignment.balance(&list, (first, class), need[class.index()]);
    }
    let left = usable.saturating_sub(assignment.slots.len());
    assignment.spread(&like.free, left, BlockClass::BEST, 0);
    assignment.slots
}

/// Returns how many blocks of each class are full, if `free` of `rest` blocks should stay free, and
/// at least as many as its second number. Classes divide them as in the sample, but each has at
/// least those that its data needs. `need` lists its pages by class, `in_open` those that open
/// blocks hold.
fn full_blocks(
    like: &SortedPlane,
    rest: usize,
    (free, min_free): (usize, usize),
    (need, in_open, pages): (&[u32], &[u32], u32),
) -> Vec<usize> {
    let all: usize = like.full.iter().map(Vec::len).sum();
    let least = |class: usize| need[class].saturating_sub(in_open[class]).div_ceil(pages) as usize;
    let least: Vec<usize> = (0..like.full.len()).map(least).collect();
    let share = |list: &Vec<u32>| {
        ((rest - free) as f64 * list.len() as f64 / all.max(1) as f64).round() as usize
    };
    let full = like.full.iter().zip(&least);
    let mut full: Vec<usize> = full.map(|(list, &least)| share(list).max(least)).collect();
    while full.iter().sum::<usize>() > rest - min_free {
        let surplus = |&class: &usize| full[class] - least[class];
        let most = (0..full.len()).max_by_key(surplus).filter(|class| surplus(class) > 0);
        let Some(most) = most else { break };
        full[most] -= 1;
    }
    full
}
