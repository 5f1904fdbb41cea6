//! The settings of garbage collection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;

use super::Victim;

/// The default of `target`.
pub(super) const TARGET_DEFAULT: Share = Share::new(0.5);

/// Free blocks below which the host must wait. The collector itself needs one of them.
const MIN_HARD_THRESHOLD: u32 = 2;

/// When garbage collection goes before the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GcMode {
    /// Its operations wait for the host's until free blocks fall below the hard limit.
    #[default]
    Background,
    /// Its operations always go before the host's.
    Foreground,
}

/// The unit of free space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GcUnit {
    /// Erased blocks.
    #[default]
    Blocks,
    /// Free pages, including those of blocks in use.
    Pages,
}

/// Settings of garbage collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GcConfig {
    /// Collection starts when the free blocks of a plane fall below this share of its blocks.
    /// Source: MQSim's `GC_Exec_Threshold`.
    pub threshold: Share,
    /// The unit of free space: `blocks`, or `pages`, which includes the free pages of blocks in
    /// use; shares are then of all pages. Source: PA-SSD (ruled) for `pages`.
    pub unit: GcUnit,
    /// Below this share of free blocks collection goes before the host; never less than two blocks.
    /// Source: MQSim's `GC_Hard_Threshold`.
    pub hard_threshold: Share,
    /// `background` or `foreground`. Assumed.
    pub mode: GcMode,
    /// Upper limit of the space that collection keeps free where `threshold` asks for more. It is a
    /// share of the blocks that are spare when the drive is full; with `pages`, of the pages that
    /// hold no data now. The last free pages cost most, since collection must gather every invalid
    /// page. Default: 0.5. Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Share>,
    /// `greedy`, `random`, `d_choices`, `cost_benefit` or `fifo`. Assumed.
    pub victim: Victim,
    /// Whether blocks whose pages are not all programmed are victims like full ones. If not, one is
    /// taken only where no full block has an invalid page. Only the relaxed page order has such
    /// blocks. Default: true. Source: PA-SSD, section 4.3 (ruled; false is the other reading).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partly_programmed: Option<bool>,
    /// Number of blocks that `d_choices` draws; only with it. Default: 10. Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub d: Option<u32>,
}

impl Default for GcConfig {
    fn default() -> GcConfig {
        GcConfig {
            threshold: Share::new(0.05),
            hard_threshold: Share::new(0.005),
            mode: GcMode::default(),
            unit: GcUnit::default(),
            target: None,
            victim: Victim::default(),
            partly_programmed: None,
            d: None,
        }
    }
}

impl GcConfig {
    /// Returns the free pages of a plane below which collection starts, and those below which it
    /// goes before the host. The plane has `blocks` blocks of `pages` pages; `spare` blocks are
    /// free when the drive is full.
    pub fn limits(&self, blocks: u32, pages: u32, spare: u32) -> (u32, u32) {
        let of = |share: Share, all: u32| (share.get() * f64::from(all)).ceil() as u32;
        match self.unit {
            GcUnit::Blocks => {
                let hard = of(self.hard_threshold, blocks).max(MIN_HARD_THRESHOLD);
                let reach = of(self.target.unwrap_or(TARGET_DEFAULT), spare).max(hard + 1);
                (of(self.threshold, blocks).min(reach).max(hard) * pages, hard * pages)
            }
            GcUnit::Pages => {
                let hard = of(self.hard_threshold, blocks * pages).max(MIN_HARD_THRESHOLD * pages);
                (of(self.threshold, blocks * pages).max(hard), hard)
            }
        }
    }
}
