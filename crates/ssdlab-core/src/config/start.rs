//! The data on the drive when the run begins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Nanos;
use ssdlab_base::quantity::Share;

/// The handling of reads of pages that were never written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnwrittenReads {
    /// The pages count as written before the start: on the plane of static allocation, with a block
    /// and an age drawn for each page.
    #[default]
    Lazy,
    /// A first pass over the workload puts the pages on the flash.
    Footprint,
    /// The drive answers the reads without the flash.
    None,
}

/// The program mode of the data on the drive at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartProgramMode {
    /// With the normal voltages.
    #[default]
    Normal,
    /// With the voltages that the policy would choose for a write now.
    Policy,
}

/// The owner of the pages of the start that belong to no tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartOwners {
    /// The priorities, in proportion to the pages of their tenants; equally if at most one priority
    /// has tenants.
    #[default]
    Footprint,
    /// The priorities, each as many.
    Equal,
    /// The lowest priority.
    Lowest,
    /// No priority. The data has blocks of its own, which hold it until the host overwrites it.
    Nobody,
}

/// The data on the drive when the run begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StartConfig {
    /// Handling of reads of pages that were never written: `lazy`, `footprint` or `none`. Default:
    /// `lazy`. Assumed.
    pub unwritten_reads: UnwrittenReads,
    /// Share of the host's pages that hold data. Default: 0. Assumed.
    pub fill: Share,
    /// Share of each plane's blocks that are full of outdated data; not beside `fill`. The pages
    /// that `unwritten_reads = "footprint"` puts on the flash lie in these blocks. Default: 0.
    /// Source: PA-SSD, section 5.1 (aged to 70 %; ruled).
    pub used: Share,
    /// Share of the written pages that random overwrites made outdated; only with `fill`. Default:
    /// 0. Assumed.
    pub invalid: Share,
    /// Whether the host overwrote the data at random, under the drive's own garbage collection,
    /// until the drive reached a steady state. Only with `fill`, not beside `invalid`. Default:
    /// false. Assumed.
    pub steady_state: bool,
    /// The owner of the pages that belong to no tenant, where blocks are kept apart by priority;
    /// only with `fill`. `footprint`: the priorities, in proportion to the pages of their tenants.
    /// `equal`: each priority as many. `lowest`: the lowest priority. `nobody`: no priority; their
    /// blocks are the worst, and `inversion_repair` leaves them out. Default: `footprint`. Source:
    /// ReadGuard, section 6.1 (ruled: `footprint`); MQSim for `equal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owners: Option<StartOwners>,
    /// P/E cycles of each block; they add bit errors with `physics.levels.wear` or
    /// `physics.retries`. Default: 0. Assumed.
    #[schemars(range(max = 1_000_000))]
    pub pe_cycles: u32,
    /// Spread of the P/E cycles: each block's value is drawn from `pe_cycles` ± this. Default: 0.
    /// Source: ReadGuard (ruled: 15).
    pub pe_spread: u32,
    /// Mean time between a block's erases before the start; only with `physics.retries`. Default:
    /// `0ns`. Assumed.
    pub dwell: Nanos,
    /// Smallest age of the data on the drive; ages are drawn evenly from it to `age_max`. Default:
    /// `0ns`. Assumed.
    pub age_min: Nanos,
    /// Largest age of the data on the drive; only with `physics.levels.retention` or
    /// `physics.retries`. Default: `0ns`. Source: DLV and ReadGuard (ruled: 90d).
    pub age_max: Nanos,
    /// Program mode of the data on the drive: the `normal` voltages, or the mode that the `policy`
    /// of `program_mode` would choose. Not with a loaded state. Default: `normal`. Source: HIRE
    /// (ruled).
    pub program_mode: StartProgramMode,
}

impl Default for StartConfig {
    fn default() -> StartConfig {
        StartConfig {
            unwritten_reads: UnwrittenReads::default(),
            fill: Share::new(0.0),
            used: Share::new(0.0),
            invalid: Share::new(0.0),
            steady_state: false,
            owners: None,
            pe_cycles: 0,
            pe_spread: 0,
            dwell: Nanos::ZERO,
            age_min: Nanos::ZERO,
            age_max: Nanos::ZERO,
            program_mode: StartProgramMode::default(),
        }
    }
}
