//! `program_mode.fixed`: every page is programmed with the same voltages. HIRE's comparisons HVC
//! and LVC (section 4.1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::ProgramMode;
use ssdlab_nand::refusal::Refusal;

use ssdlab_policy::program_mode::{ProgramModeNeeds, ProgramModePolicy, ProgramModeView};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// Settings of `fixed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FixedModeConfig {
    /// The voltages, a name in `timing.program_modes`. Default: `boosted`. Source: HIRE, section
    /// 4.1 (HVC).
    pub mode: String,
}

impl Default for FixedModeConfig {
    fn default() -> FixedModeConfig {
        FixedModeConfig { mode: "boosted".into() }
    }
}

/// Programs every page with the same voltages.
#[derive(Clone, Debug)]
pub struct FixedMode(ProgramMode);

const KEY: &str = "program_mode.fixed.mode";

impl Policy for FixedMode {
    type Config = FixedModeConfig;

    fn check(config: &FixedModeConfig, context: &PolicyContext) -> Result<(), Refusal> {
        context.program_mode(KEY, &config.mode).map(|_| ())
    }

    fn build(config: &FixedModeConfig, context: &PolicyContext) -> FixedMode {
        FixedMode(context.program_mode(KEY, &config.mode).unwrap_or_default())
    }
}

impl ProgramModePolicy for FixedMode {
    fn needs(_: &FixedModeConfig) -> ProgramModeNeeds {
        ProgramModeNeeds { chooses: true, decides_all: true, hotness: false }
    }

    fn fill(&mut self, _: &ProgramModeView, hint: &mut PlacementHint) {
        hint.program_mode.get_or_insert(self.0);
    }
}
