//! `program.always`: every page is programmed with the same voltages. HIRE's comparisons HVC and LVC
//! (section 4.1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use crate::policy::program::{ProgramPolicy, ProgramView};
use crate::policy::{Answer, Setup, Wish};

/// Settings of `always`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AlwaysConfig {
    /// The voltages, a name in `timing.voltages`. Default: `boosted`. Source: HIRE, section 4.1 (HVC).
    pub voltages: String,
}

impl Default for AlwaysConfig {
    fn default() -> AlwaysConfig {
        AlwaysConfig { voltages: "boosted".into() }
    }
}

/// Programs every page alike.
#[derive(Clone, Debug)]
pub struct Always(u8);

const KEY: &str = "program.always.voltages";

impl Answer for Always {
    type Config = AlwaysConfig;

    fn check(config: &AlwaysConfig, setup: &Setup) -> Result<(), Refusal> {
        setup.voltage(KEY, &config.voltages).map(|_| ())
    }

    fn build(config: &AlwaysConfig, setup: &Setup) -> Always {
        Always(setup.voltage(KEY, &config.voltages).unwrap_or(0))
    }
}

impl ProgramPolicy for Always {
    #[inline]
    fn wish(&mut self, _: &ProgramView, wish: &mut Wish) {
        wish.voltage.get_or_insert(self.0);
    }
}
