//! `program.by_hotness`: pages that are mostly read are programmed with higher voltages, which read faster,
//! and those that are mostly written with lower ones, which wear less. Source: HIRE, section 3.2 (the voltage
//! controller).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::Refusal;

use crate::belief::hotness::Hotness;
use crate::policy::program::{ProgramPolicy, ProgramView};
use crate::policy::{Answer, Setup, Wish};

/// Settings of `by_hotness`: each is a name in `timing.voltages`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VoltagesConfig {
    /// The voltages of pages that are mostly read. Default: `boosted`. Source: HIRE, section 3.2.
    pub read_hot: String,
    /// Those of pages that are both read and written, or of which nothing is known. Default: `normal`.
    /// Source: HIRE, section 3.2.
    pub mixed: String,
    /// Those of pages that are mostly written. Default: `reduced`. Source: HIRE, section 3.2.
    pub write_hot: String,
}

impl Default for VoltagesConfig {
    fn default() -> VoltagesConfig {
        VoltagesConfig {
            read_hot: "boosted".into(),
            mixed: "normal".into(),
            write_hot: "reduced".into(),
        }
    }
}

impl VoltagesConfig {
    /// The voltages of each hotness.
    fn resolved(&self, setup: &Setup) -> Result<[u8; Hotness::COUNT], Refusal> {
        let voltage =
            |name: &str, of: &str| setup.voltage(&format!("program.by_hotness.{of}"), name);
        Ok([
            voltage(&self.read_hot, "read_hot")?,
            voltage(&self.mixed, "mixed")?,
            voltage(&self.write_hot, "write_hot")?,
        ])
    }
}

/// Programs pages by what they are mostly used for.
#[derive(Clone, Debug)]
pub struct Voltages {
    of: [u8; Hotness::COUNT],
}

impl Answer for Voltages {
    type Config = VoltagesConfig;

    fn check(config: &VoltagesConfig, setup: &Setup) -> Result<(), Refusal> {
        setup.needs_hotness("program")?;
        config.resolved(setup).map(|_| ())
    }

    fn build(config: &VoltagesConfig, setup: &Setup) -> Voltages {
        Voltages { of: config.resolved(setup).unwrap_or_default() }
    }
}

impl ProgramPolicy for Voltages {
    #[inline]
    fn wish(&mut self, view: &ProgramView, wish: &mut Wish) {
        wish.voltage.get_or_insert(self.of[view.hotness.unwrap_or_default() as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SMALL;
    use crate::account::Cause;

    #[test]
    fn what_is_read_is_boosted_and_what_is_written_reduced() {
        let voltages = ["normal", "boosted", "reduced"].map(String::from).to_vec();
        let setup = Setup { voltages, knows_hotness: true, ..Setup::plain(SMALL, 1) };
        let mut policy = Voltages::build(&VoltagesConfig::default(), &setup);
        let hot = [None, Some(Hotness::Read), Some(Hotness::Mixed), Some(Hotness::Write)];
        let wished = hot.map(|hotness| {
            let mut wish = Wish::default();
            policy.wish(&ProgramView { cause: Cause::Host, class: 0, hotness }, &mut wish);
            wish.voltage
        });
        assert_eq!(wished, [Some(0), Some(1), Some(0), Some(2)]);
        let other = VoltagesConfig { read_hot: "high".into(), ..VoltagesConfig::default() };
        assert_eq!(Voltages::check(&other, &setup).unwrap_err().key, "program.by_hotness.read_hot");
    }
}
