//! How worn the blocks are.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_core::Drive;

/// How worn the blocks are at the end, in P/E cycles.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct WearResult {
    /// Mean over the blocks that are not bad.
    pub mean: f64,
    /// The least worn.
    pub min: u32,
    /// The most worn.
    pub max: u32,
    /// Of the blocks that hold each priority's data, the highest first; absent where priorities have no
    /// blocks of their own.
    pub priorities: Option<Vec<Wear>>,
}

/// How worn some blocks are, in P/E cycles; all are 0 if there are none.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Wear {
    /// Their mean.
    pub mean: f64,
    /// The least worn.
    pub min: u32,
    /// The most worn.
    pub max: u32,
}

impl Wear {
    fn of(cycles: impl Iterator<Item = u32>) -> Wear {
        let (mut count, mut sum, mut min, mut max) = (0u64, 0u64, u32::MAX, 0);
        for erases in cycles {
            count += 1;
            sum += u64::from(erases);
            (min, max) = (min.min(erases), max.max(erases));
        }
        Wear { mean: sum as f64 / count.max(1) as f64, min: min.min(max), max }
    }
}

impl WearResult {
    pub(super) fn of(drive: &Drive) -> WearResult {
        let blocks = &drive.ftl().blocks;
        let Wear { mean, min, max } = Wear::of(blocks.usable_erases());
        let grade = &drive.resolved().config.belief.grade;
        let of_class = |class| Wear::of(blocks.erases_of_class(class));
        let each = || (0..grade.classes() as u8).map(of_class).collect();
        WearResult { mean, min, max, priorities: grade.by_priority().then(each) }
    }
}
