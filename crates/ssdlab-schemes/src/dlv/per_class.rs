//! `program_mode = per_class`: each class of blocks has separate voltages. DLV programs strong
//! blocks with a larger ΔVp (section II-C).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::ProgramMode;
use ssdlab_nand::refusal::Refusal;

use ssdlab_policy::allocation::BlockClass;
use ssdlab_policy::program_mode::{ProgramModePolicy, ProgramModeView};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// Settings of `per_class`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PerClassConfig {
    /// The voltages (a name in `timing.program_modes`) of each class of blocks, the best first. The
    /// last class has the last name; classes between the listed ones have the last but one.
    /// Default: `strong`, `normal`: all classes but the last are strong. Source: DLV, section II-C.
    pub modes: Vec<String>,
}

impl Default for PerClassConfig {
    fn default() -> PerClassConfig {
        PerClassConfig { modes: vec!["strong".into(), "normal".into()] }
    }
}

/// Programs each class of blocks with separate voltages.
#[derive(Clone, Debug)]
pub struct PerClass {
    /// The program mode of each class of blocks.
    program_modes: Box<[ProgramMode]>,
}

const KEY: &str = "program_mode.per_class.modes";

impl Policy for PerClass {
    type Config = PerClassConfig;

    fn check(config: &PerClassConfig, context: &PolicyContext) -> Result<(), Refusal> {
        if config.modes.is_empty() {
            return Err(Refusal::new(KEY, "none", "a name for each class of blocks"));
        }
        if context.classes.count < 2 {
            let expected = "classes of blocks to tell apart (metadata.block_class)";
            return Err(Refusal::new("program_mode", "per_class", expected));
        }
        config.modes.iter().try_for_each(|name| context.program_mode(KEY, name).map(|_| ()))
    }

    fn build(config: &PerClassConfig, context: &PolicyContext) -> PerClass {
        let listed = config.modes.len();
        let of = |class| {
            context
                .program_mode(KEY, &config.modes[place(class, context.classes.count, listed)])
                .unwrap_or_default()
        };
        PerClass {
            program_modes: BlockClass::numbered(0..context.classes.count.into()).map(of).collect(),
        }
    }
}

/// Returns the place of a class's voltages in a list of `listed` names. The last class has the
/// last.
fn place(class: BlockClass, classes: u8, listed: usize) -> usize {
    if class.0 + 1 == classes { listed - 1 } else { class.index().min(listed.saturating_sub(2)) }
}

impl ProgramModePolicy for PerClass {
    #[inline]
    fn fill(&mut self, view: &ProgramModeView, hint: &mut PlacementHint) {
        hint.program_mode.get_or_insert(self.program_modes[view.class.index()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_classes_but_the_last_are_strong() {
        let places = |classes, listed| -> Vec<usize> {
            (0..classes).map(|class| place(BlockClass(class), classes, listed)).collect()
        };
        assert_eq!(places(2, 2), [0, 1]);
        assert_eq!(places(4, 2), [0, 0, 0, 1]);
        assert_eq!(places(4, 4), [0, 1, 2, 3]);
        assert_eq!(places(4, 3), [0, 1, 1, 2]);
        assert_eq!(places(3, 1), [0, 0, 0]);
    }
}
