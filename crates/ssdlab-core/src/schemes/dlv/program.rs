//! `program = by_class`: each class of blocks is programmed with voltages of its own. DLV programs
//! strong blocks with a larger ΔVp (section II-C).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use crate::policy::program::{ProgramPolicy, ProgramView};
use crate::policy::{Answer, Setup, Wish};

/// Settings of `by_class`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ByClassConfig {
    /// The voltages (a name in `timing.voltages`) of each class of blocks, the best first. The last
    /// class has the last; classes between those that are listed have the last but one. Default:
    /// `strong`, `normal`: all classes but the last are strong. Source: DLV, section II-C.
    pub voltages: Vec<String>,
}

impl Default for ByClassConfig {
    fn default() -> ByClassConfig {
        ByClassConfig { voltages: vec!["strong".into(), "normal".into()] }
    }
}

/// Programs each class of blocks with voltages of its own.
#[derive(Clone, Debug)]
pub struct ByClass {
    /// By class of blocks.
    voltages: Box<[u8]>,
}

const KEY: &str = "program.by_class.voltages";

impl Answer for ByClass {
    type Config = ByClassConfig;

    fn check(config: &ByClassConfig, setup: &Setup) -> Result<(), Refusal> {
        if config.voltages.is_empty() {
            return Err(Refusal::new(KEY, "none", "a name for each class of blocks"));
        }
        if setup.classes < 2 {
            let expected = "classes of blocks to tell apart (belief.grade)";
            return Err(Refusal::new("program", "by_class", expected));
        }
        config.voltages.iter().try_for_each(|name| setup.voltage(KEY, name).map(|_| ()))
    }

    fn build(config: &ByClassConfig, setup: &Setup) -> ByClass {
        let listed = config.voltages.len();
        let of = |class| {
            setup.voltage(KEY, &config.voltages[place(class, setup.classes, listed)]).unwrap_or(0)
        };
        ByClass { voltages: (0..setup.classes).map(of).collect() }
    }
}

/// The place of a class's voltages in a list of so many: the last class has the last.
fn place(class: u8, classes: u8, listed: usize) -> usize {
    match class + 1 == classes {
        true => listed - 1,
        false => usize::from(class).min(listed.saturating_sub(2)),
    }
}

impl ProgramPolicy for ByClass {
    #[inline]
    fn wish(&mut self, view: &ProgramView, wish: &mut Wish) {
        wish.voltage.get_or_insert(self.voltages[view.class as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_classes_but_the_last_are_strong() {
        let places = |classes, listed| -> Vec<usize> {
            (0..classes).map(|class| place(class, classes, listed)).collect()
        };
        assert_eq!(places(2, 2), [0, 1]);
        assert_eq!(places(4, 2), [0, 0, 0, 1]);
        assert_eq!(places(4, 4), [0, 1, 2, 3]);
        assert_eq!(places(4, 3), [0, 1, 1, 2]);
        assert_eq!(places(3, 1), [0, 0, 0]);
    }
}
