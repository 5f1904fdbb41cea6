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
        let known = |name: &&String| !setup.voltages.contains(name);
        match config.voltages.iter().find(known) {
            None => Ok(()),
            Some(name) => {
                let expected = format!("names in timing.voltages: {}", setup.voltages.join(", "));
                Err(Refusal::new(KEY, format!("{name:?}"), expected))
            }
        }
    }

    fn build(config: &ByClassConfig, setup: &Setup) -> ByClass {
        let index = |name| setup.voltages.iter().position(|known| known == name).unwrap_or(0);
        let last = config.voltages.len() - 1;
        let of = |class: u8| {
            let is_last = class + 1 == setup.classes;
            let at = if is_last { last } else { usize::from(class).min(last.saturating_sub(1)) };
            index(&config.voltages[at]) as u8
        };
        ByClass { voltages: (0..setup.classes).map(of).collect() }
    }
}

impl ProgramPolicy for ByClass {
    #[inline]
    fn wish(&mut self, view: &ProgramView, wish: &mut Wish) {
        wish.voltage.get_or_insert(self.voltages[view.class as usize]);
    }
}
