//! `read_start = measured_level`: a read starts at the level at which the drive measured its block.
//! If each level has a class of its own, it starts at the level that the factory measured. The
//! paper does not say where its reads start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::Level;
use ssdlab_nand::refusal::Refusal;

use crate::metadata::block_groups::Groups;
use ssdlab_policy::read_start::{ReadStartNeeds, ReadStartPolicy, ReadStartView};
use ssdlab_policy::{Policy, PolicyContext};

/// `measured_level` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasuredLevelConfig {}

/// Starts at the level at which the block was measured, and climbs one level at a time.
#[derive(Clone, Debug)]
pub struct MeasuredLevel {
    /// Whether the class of a block is its level.
    per_class: bool,
}

impl Policy for MeasuredLevel {
    type Config = MeasuredLevelConfig;

    fn check(_: &MeasuredLevelConfig, context: &PolicyContext) -> Result<(), Refusal> {
        let expected = "blocks that are measured by the level at which they are read (metadata.block_class = \"measured\"), \
            or a class for each level (metadata.block_class = \"factory\")";
        let shares = context.classes.shares.len();
        let per_class = shares > 0 && shares + 1 == usize::from(context.levels);
        if context.classes.groups.is_some() || per_class {
            Ok(())
        } else {
            Err(Refusal::new("read_start", "measured_level", expected))
        }
    }

    fn build(_: &MeasuredLevelConfig, context: &PolicyContext) -> MeasuredLevel {
        MeasuredLevel { per_class: context.classes.groups.is_none() }
    }
}

/// Returns the level at which the drive measured the block. Not inlined: otherwise every other
/// policy of the slot would save the registers that this search needs.
#[inline(never)]
fn measured(view: &ReadStartView) -> Level {
    let groups = view.components.get::<Groups>();
    groups.map_or(Level::FIRST, |groups| groups.level(view.block))
}

impl ReadStartPolicy for MeasuredLevel {
    fn start(&mut self, view: &ReadStartView) -> Level {
        if self.per_class { Level(view.class.0) } else { measured(view) }
    }

    fn needs(&self) -> ReadStartNeeds {
        ReadStartNeeds { by_one: true, ..ReadStartNeeds::default() }
    }
}
