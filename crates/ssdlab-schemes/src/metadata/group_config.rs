//! Settings of groups of blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_nand::Geometry;

/// How far a page moves that is read often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Within its plane.
    Plane,
    /// To any plane of its chip.
    #[default]
    Chip,
    /// To any plane.
    Drive,
}

impl Scope {
    /// Returns the number of consecutive planes among which a page moves.
    pub fn planes(self, geometry: &Geometry) -> u32 {
        match self {
            Scope::Plane => 1,
            Scope::Chip => geometry.dies * geometry.planes,
            Scope::Drive => geometry.plane_count(),
        }
    }
}

/// Settings of `measured`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GroupsConfig {
    /// The bounds between the groups: `{ levels = [..] }` or `{ shares = [..] }`. Default: the
    /// levels [1, 4], three groups. Source: PV-read, Table I; ruled for shares.
    pub boundaries: Boundaries,
    /// Share of the blocks of each group but the last that is set apart for pages that are read
    /// often. Default: 0.1. Source: PV-read, section V.B.
    pub read_hot_share: Share,
    /// P/E cycles of a block after which it is measured again. Default: 100. Source: PV-read
    /// (ruled).
    pub interval: u32,
    /// Exponent of the P/E cycles with which the controller expects error rates to grow; only with
    /// `ftl.free_block_policy` = `healthiest`, which predicts by it. Default: 0.66. Source: PV-read
    /// (ruled: 0.0041 at 1500 cycles, 0.0078 at 4000).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<f64>,
    /// How far a page moves that is read often, and where the drive makes room for it: its `plane`,
    /// its `chip` or the whole `drive`. Default: `chip`. Source: PV-read, section IV.B (per chip).
    pub scope: Scope,
}

/// The default of `growth`.
pub(super) const GROWTH: f64 = 0.66;

/// The bounds between the groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Boundaries {
    /// The highest level of each group but the last, from level 1 up; none for a single group.
    Levels(Vec<u8>),
    /// Shares of a plane's blocks in each group but the last, by rank of their measured errors. The
    /// groups are divided again whenever a block is measured.
    Shares(Vec<Share>),
}

impl Default for GroupsConfig {
    fn default() -> GroupsConfig {
        GroupsConfig {
            boundaries: Boundaries::Levels(vec![1, 4]),
            read_hot_share: Share::new(0.1),
            interval: 100,
            growth: None,
            scope: Scope::default(),
        }
    }
}

impl GroupsConfig {
    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        1 + match &self.boundaries {
            Boundaries::Levels(upto) => upto.len(),
            Boundaries::Shares(shares) => shares.len(),
        }
    }
}
