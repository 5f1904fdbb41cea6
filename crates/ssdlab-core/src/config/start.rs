//! The data on the drive when the run begins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_base::{Bytes, Nanos};

use crate::Toggle;

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

/// The policies that ran in the history of a start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HistoryPolicies {
    /// The drive's own.
    #[default]
    Own,
    /// Garbage collection and placement; no other background policy, and a plain scheduler.
    Conventional,
}

/// The history of a start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HistoryConfig {
    /// Length of the history, on the cells' clock. Data without an overwrite meanwhile is older
    /// than `age_min` and `age_max` by this. Default: `90d`. Source: ReadGuard (ruled: 90d).
    pub span: Nanos,
    /// The policies that ran: `own`, or `conventional` (garbage collection and placement alone).
    /// Default: `own`. Assumed.
    pub policies: HistoryPolicies,
    /// The tenants. Their data lies one after another from the first page on. Default: the
    /// workload's queues, at the rates of its first million requests. Assumed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tenants: Vec<HistoryTenant>,
}

impl Default for HistoryConfig {
    fn default() -> HistoryConfig {
        HistoryConfig {
            span: Nanos::from_ms(90 * 86_400_000),
            policies: HistoryPolicies::default(),
            tenants: Vec::new(),
        }
    }
}

/// A tenant in the history of a start. It writes and reads its pages at random, each equally often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryTenant {
    /// Its submission queue. Default: 0. Assumed.
    #[serde(default)]
    pub queue: u8,
    /// The size of its data. No default. Assumed.
    pub footprint: Bytes,
    /// The data that it writes in a day of the cells' clock, in whole pages. Default: `0B`.
    /// Assumed.
    #[serde(default = "nothing")]
    pub writes_per_day: Bytes,
    /// The data that it reads in a day of the cells' clock, in whole pages. Default: `0B`.
    /// Assumed.
    #[serde(default = "nothing")]
    pub reads_per_day: Bytes,
    /// The size of each of its writes, in whole pages. The pages of a write follow one another.
    /// Placement sees the size. Default: one page. Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_size: Option<Bytes>,
}

fn nothing() -> Bytes {
    Bytes::new(0)
}

fn is_off<T>(toggle: &Toggle<T>) -> bool {
    toggle.get().is_none()
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
    Unowned,
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
    /// `equal`: each priority as many. `lowest`: the lowest priority. `unowned`: no priority; their
    /// blocks are the worst, and monitors of block quality leave them out. Default: `footprint`.
    /// Source: ReadGuard, section 6.1 (ruled: `footprint`); MQSim for `equal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owners: Option<StartOwners>,
    /// A time that the drive lived through since the state which the other keys describe: `false`,
    /// `true` or a table with settings; only with `fill`. Its tenants wrote and read, and policies
    /// ran. Ages, wear, reads and places of the data follow, by a scaled drive that really ran.
    /// Default: false.
    #[serde(skip_serializing_if = "is_off")]
    pub history: Toggle<HistoryConfig>,
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
            history: Toggle::off(),
            pe_cycles: 0,
            pe_spread: 0,
            dwell: Nanos::ZERO,
            age_min: Nanos::ZERO,
            age_max: Nanos::ZERO,
            program_mode: StartProgramMode::default(),
        }
    }
}
