//! Subpools: the free blocks of the whole drive, sorted from best to worst and cut into one
//! contiguous run for each priority. Source: ReadGuard, section 5.2.

use std::collections::BTreeSet;

use ssdlab_nand::BlockId;
use ssdlab_policy::account::Priority;
use ssdlab_policy::allocation::BlockClass;

/// A free block in the order: its key, the smallest first, then its number.
pub(crate) type Ranked = (u32, u32);

/// The runs of free blocks, that of the highest priority first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Subpools {
    runs: Box<[BTreeSet<Ranked>]>,
}

/// A free block that changed runs because a boundary moved, and its new run.
pub(crate) type Passed = (BlockId, BlockClass);

impl Subpools {
    /// Cuts free blocks into `count` runs of equal length; the first runs get the remainder.
    pub(crate) fn cut(free: Vec<Ranked>, count: usize) -> Subpools {
        let (each, over) = (free.len() / count, free.len() % count);
        let sizes: Vec<usize> = (0..count).map(|run| each + usize::from(run < over)).collect();
        Subpools::cut_to(free, &sizes)
    }

    /// Cuts free blocks into runs of these lengths, which add up to their number.
    pub(crate) fn cut_to(mut free: Vec<Ranked>, sizes: &[usize]) -> Subpools {
        debug_assert_eq!(free.len(), sizes.iter().sum::<usize>());
        free.sort_unstable();
        let mut rest = free.into_iter();
        let runs = sizes.iter().map(|&size| rest.by_ref().take(size).collect());
        Subpools { runs: runs.collect() }
    }

    /// Returns the number of free blocks of each run.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = u32> + '_ {
        self.runs.iter().map(|run| run.len() as u32)
    }

    /// Returns each free block with its run.
    pub(crate) fn all(&self) -> impl Iterator<Item = Passed> + '_ {
        let runs = (0..).map(BlockClass).zip(&self.runs);
        runs.flat_map(|(run, blocks)| blocks.iter().map(move |&(_, block)| (BlockId(block), run)))
    }

    /// Removes a block that is no longer free from its run.
    pub(crate) fn take(&mut self, run: BlockClass, block: Ranked) {
        let was = self.runs[run.index()].remove(&block);
        debug_assert!(was, "a free block lies in the run of its class");
    }

    /// Inserts a block that has become free at its place in the order. Every boundary between that
    /// place and the run `gains` moves by one block, so `gains` has one block more. Without `gains`
    /// the run at that place grows. Returns the run at that place, then the blocks that changed
    /// runs, in this order.
    pub(crate) fn give(
        &mut self,
        block: Ranked,
        gains: Option<Priority>,
    ) -> (BlockClass, Vec<Passed>) {
        let reaches = |run: &BTreeSet<Ranked>| run.last().is_some_and(|&worst| block < worst);
        let own = self.runs.iter().position(reaches);
        // The block is worse than all free blocks: it goes to the last run that is not empty.
        let own = own.or_else(|| self.runs.iter().rposition(|run| !run.is_empty()));
        let own = own.or(gains.map(Priority::index)).unwrap_or(0);
        self.runs[own].insert(block);
        let gains = gains.map_or(own, Priority::index);
        let mut passed = Vec::new();
        let mut pass = |to: usize, block: Option<Ranked>, runs: &mut [BTreeSet<Ranked>]| {
            let block = block.expect("a run that was given one has one");
            runs[to].insert(block);
            passed.push((BlockId(block.1), BlockClass(to as u8)));
        };
        for run in (gains..own).rev() {
            let best = self.runs[run + 1].pop_first();
            pass(run, best, &mut self.runs);
        }
        for run in own..gains {
            let worst = self.runs[run].pop_last();
            pass(run + 1, worst, &mut self.runs);
        }
        (BlockClass(own as u8), passed)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn runs(subpools: &Subpools) -> Vec<Vec<u32>> {
        let run = |run: &BTreeSet<Ranked>| run.iter().map(|&(rank, _)| rank).collect();
        subpools.runs.iter().map(run).collect()
    }

    fn thirds() -> Subpools {
        Subpools::cut([60, 10, 30, 20, 50, 40, 70].map(|rank| (rank, rank)).to_vec(), 3)
    }

    #[test]
    fn at_the_start_each_priority_has_as_many_and_the_highest_has_the_best() {
        assert_eq!(runs(&thirds()), [vec![10, 20, 30], vec![40, 50], vec![60, 70]]);
        assert_eq!(thirds().sizes().collect::<Vec<_>>(), [3, 2, 2]);
    }

    #[test]
    fn a_block_that_fits_elsewhere_moves_the_boundaries_by_one() {
        let mut subpools = thirds();
        subpools.take(BlockClass(0), (20, 20));
        // One of the worst blocks, for the best run: at each boundary a block moves up.
        let (own, passed) = subpools.give((65, 65), Some(Priority(0)));
        assert_eq!(
            (own, passed),
            (BlockClass(2), vec![(BlockId(60), BlockClass(1)), (BlockId(40), BlockClass(0))])
        );
        assert_eq!(runs(&subpools), [vec![10, 30, 40], vec![50, 60], vec![65, 70]]);
        let (own, passed) = subpools.give((5, 5), Some(Priority(2)));
        assert_eq!(
            (own, passed),
            (BlockClass(0), vec![(BlockId(40), BlockClass(1)), (BlockId(60), BlockClass(2))])
        );
        assert_eq!(runs(&subpools), [vec![5, 10, 30], vec![40, 50], vec![60, 65, 70]]);
        assert_eq!(subpools.give((55, 55), None), (BlockClass(2), Vec::new()));
    }

    #[test]
    fn a_block_passes_empty_runs_to_the_gaining_one() {
        let mut subpools = Subpools::cut(Vec::new(), 3);
        assert_eq!(subpools.give((9, 9), Some(Priority(1))), (BlockClass(1), Vec::new()));
        assert_eq!(
            subpools.give((4, 4), Some(Priority(0))),
            (BlockClass(1), vec![(BlockId(4), BlockClass(0))])
        );
        assert_eq!(
            subpools.give((3, 3), Some(Priority(2))).1,
            [(BlockId(4), BlockClass(1)), (BlockId(9), BlockClass(2))]
        );
        assert_eq!(runs(&subpools), [vec![3], vec![4], vec![9]]);
    }

    proptest! {
        #[test]
        fn runs_stay_in_order_and_only_the_gaining_one_grows(
            first in prop::collection::btree_set(0u32..1000, 0..20),
            acts in prop::collection::vec((0u32..1000, prop::option::of(0u8..4), 0u8..4), 1..60),
        ) {
            let mut subpools = Subpools::cut(first.into_iter().map(|t| (t, t)).collect(), 4);
            for (number, (rank, gains, from)) in (2000u32..).zip(acts) {
                let before: Vec<u32> = subpools.sizes().collect();
                if let Some(&one) = subpools.runs[usize::from(from)].first() {
                    subpools.take(BlockClass(from), one);
                    prop_assert_eq!(subpools.sizes().sum::<u32>() + 1, before.iter().sum::<u32>());
                }
                let before: Vec<u32> = subpools.sizes().collect();
                let (own, _) = subpools.give((rank, number), gains.map(Priority));
                let mut grown = before;
                grown[usize::from(gains.unwrap_or(own.0))] += 1;
                prop_assert_eq!(subpools.sizes().collect::<Vec<_>>(), grown);
                let all: Vec<Ranked> = subpools.runs.iter().flatten().copied().collect();
                prop_assert!(all.is_sorted());
            }
        }
    }
}
