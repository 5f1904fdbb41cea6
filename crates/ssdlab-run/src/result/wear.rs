//! Wear of the blocks.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_core::Drive;
use ssdlab_core::policy::allocation::BlockClass;

/// Wear of the blocks at the end of the run, in P/E cycles.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct WearResult {
    /// Wear of the blocks that are not bad.
    #[serde(flatten)]
    pub all: Wear,
    /// Wear of the blocks that hold each priority's data, the highest priority first; null where
    /// priorities have no blocks of their own.
    pub priorities: Option<Vec<Wear>>,
}

/// Wear of a group of blocks, in P/E cycles; all values are 0 for an empty group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Wear {
    /// Mean wear.
    pub mean: f64,
    /// Wear of the least worn block.
    pub min: u32,
    /// Wear that a quarter of the blocks do not exceed.
    pub quarter: u32,
    /// Wear that half of the blocks do not exceed.
    pub median: u32,
    /// Wear that three quarters of the blocks do not exceed.
    pub three_quarters: u32,
    /// Wear of the most worn block.
    pub max: u32,
}

impl Wear {
    fn of(cycles: impl Iterator<Item = u32>) -> Wear {
        let mut cycles: Vec<u32> = cycles.collect();
        cycles.sort_unstable();
        let sum: u64 = cycles.iter().copied().map(u64::from).sum();
        let upto = |quarters: usize| {
            let rank = (cycles.len() * quarters).div_ceil(4);
            cycles.get(rank.saturating_sub(1)).copied().unwrap_or(0)
        };
        Wear {
            mean: sum as f64 / cycles.len().max(1) as f64,
            min: upto(0),
            quarter: upto(1),
            median: upto(2),
            three_quarters: upto(3),
            max: upto(4),
        }
    }
}

impl WearResult {
    pub(super) fn of(drive: &Drive) -> WearResult {
        let blocks = &drive.ftl().blocks;
        let classes = drive.resolved().classes;
        let of_class = |class| Wear::of(blocks.erases_of_class(class));
        let each = || BlockClass::numbered(0..classes.count).map(of_class).collect();
        let all = Wear::of(blocks.usable_erases());
        WearResult { all, priorities: classes.by_priority.then(each) }
    }
}

#[cfg(test)]
mod tests {
    use super::Wear;

    #[test]
    fn wear_is_reported_by_quartiles() {
        let wear = Wear::of([7, 1, 9, 3, 5].into_iter());
        let quartiles = [wear.min, wear.quarter, wear.median, wear.three_quarters, wear.max];
        assert_eq!((wear.mean, quartiles), (5.0, [1, 3, 5, 7, 9]));
        let of = |cycles: &[u32]| Wear::of(cycles.iter().copied());
        assert_eq!((of(&[4, 2]).median, of(&[4, 2]).three_quarters), (2, 4));
        assert_eq!(of(&[]), Wear::default());
    }
}
