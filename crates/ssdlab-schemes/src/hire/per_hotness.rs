//! `program_mode.per_hotness`: pages that are mostly read are programmed with higher voltages,
//! which read faster. Pages that are mostly written are programmed with lower voltages, which wear
//! the cells less. Source: HIRE, section 3.2 (the voltage controller).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::ProgramMode;
use ssdlab_nand::refusal::Refusal;

use ssdlab_policy::Hotness;
use ssdlab_policy::program_mode::{ProgramModeNeeds, ProgramModePolicy, ProgramModeView};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// Settings of `per_hotness`: each is a name in `timing.program_modes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PerHotnessConfig {
    /// The voltages of pages that are mostly read. Default: `boosted`. Source: HIRE, section 3.2.
    pub read_hot: String,
    /// The voltages of pages that are both read and written, or of unknown hotness. Default:
    /// `normal`. Source: HIRE, section 3.2.
    pub mixed: String,
    /// The voltages of pages that are mostly written. Default: `reduced`. Source: HIRE, section
    /// 3.2.
    pub write_hot: String,
}

impl Default for PerHotnessConfig {
    fn default() -> PerHotnessConfig {
        PerHotnessConfig {
            read_hot: "boosted".into(),
            mixed: "normal".into(),
            write_hot: "reduced".into(),
        }
    }
}

impl PerHotnessConfig {
    /// Returns the program mode of each hotness.
    fn resolved(&self, context: &PolicyContext) -> Result<[ProgramMode; Hotness::COUNT], Refusal> {
        let program_mode = |name: &str, of: &str| {
            context.program_mode(&format!("program_mode.per_hotness.{of}"), name)
        };
        Ok([
            program_mode(&self.read_hot, "read_hot")?,
            program_mode(&self.mixed, "mixed")?,
            program_mode(&self.write_hot, "write_hot")?,
        ])
    }
}

/// Programs pages by their hotness.
#[derive(Clone, Debug)]
pub struct PerHotness {
    of: [ProgramMode; Hotness::COUNT],
}

impl Policy for PerHotness {
    type Config = PerHotnessConfig;

    fn check(config: &PerHotnessConfig, context: &PolicyContext) -> Result<(), Refusal> {
        super::needs_hotness(context, "program_mode", "per_hotness")?;
        config.resolved(context).map(|_| ())
    }

    fn build(config: &PerHotnessConfig, context: &PolicyContext) -> PerHotness {
        PerHotness { of: config.resolved(context).unwrap_or_default() }
    }
}

impl ProgramModePolicy for PerHotness {
    fn needs(_: &PerHotnessConfig) -> ProgramModeNeeds {
        ProgramModeNeeds { chooses: true, decides_all: true, hotness: true }
    }

    fn fill(&mut self, view: &ProgramModeView, hint: &mut PlacementHint) {
        hint.program_mode.get_or_insert(self.of[view.hotness.unwrap_or_default() as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_policy::account::Cause;
    use ssdlab_policy::allocation::BlockClass;
    use ssdlab_policy::component::Components;
    use ssdlab_policy::testing::SMALL;

    #[test]
    fn what_is_read_is_boosted_and_what_is_written_reduced() {
        let program_modes = ["normal", "boosted", "reduced"].map(String::from).to_vec();
        let plain = PolicyContext::plain(SMALL, 1);
        let components = vec!["page_hotness"];
        let context = PolicyContext { program_modes, components, buffer_pages: 1, ..plain };
        let mut policy = PerHotness::build(&PerHotnessConfig::default(), &context);
        let hot = [None, Some(Hotness::Read), Some(Hotness::Mixed), Some(Hotness::Write)];
        let requested = hot.map(|hotness| {
            let mut hint = PlacementHint::default();
            let class = BlockClass::BEST;
            let (cause, components) = (Cause::Host, Components::NONE);
            policy.fill(
                &ProgramModeView {
                    cause,
                    class,
                    hotness,
                    components,
                    ..ProgramModeView::of_a_class(class)
                },
                &mut hint,
            );
            hint.program_mode
        });
        assert_eq!(requested, [0, 1, 0, 2].map(|mode| Some(ProgramMode(mode))));
        let other = PerHotnessConfig { read_hot: "high".into(), ..PerHotnessConfig::default() };
        assert_eq!(
            PerHotness::check(&other, &context).unwrap_err().key,
            "program_mode.per_hotness.read_hot"
        );
    }
}
