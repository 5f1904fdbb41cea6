//! How hard pages were programmed, and what they were mostly used for.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_core::Drive;
use ssdlab_core::metadata::page_hotness::{HotPages, Hotness};

/// How hard pages were programmed; nothing where there is but one way.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ProgramModes {
    /// Pages that were programmed, whatever for, each counted by the mean ratio of its voltages to
    /// the normal ones (HIRE's wearing weight before it is divided by that of a baseline); only
    /// where there are several ways to program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wearing_weight: Option<f64>,
    /// Pages by the voltages with which they were programmed; only where there are several ways.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program_modes: Option<ProgramModesResult>,
}

/// Pages by the voltages with which they were programmed, and what that wore.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProgramModesResult {
    /// Each way to program, in the order of `timing.program_modes`.
    pub each: Vec<ProgramModeResult>,
    /// The wearing weight by erases: their P/E cycles (`flash.cycles_per_erase` each), counted by
    /// the mean ratio over the pages of the block that had been programmed.
    pub weight_erases: f64,
}

/// One way to program.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProgramModeResult {
    /// Its name in `timing.program_modes`.
    pub name: String,
    /// Pages that were programmed so, whatever for.
    pub programs: u64,
    /// Pages read from the flash for the host that had been programmed so.
    pub reads: u64,
}

impl ProgramModes {
    pub(super) fn of(drive: &Drive) -> ProgramModes {
        let chip = &drive.resolved().chip;
        let (programs, reads, weight_erases) = drive.flash().cells.wearing();
        if programs.len() < 2 {
            return ProgramModes::default();
        }
        let weights = chip.program_modes().map(|program_mode| chip.wear_weight(program_mode));
        let wearing_weight =
            weights.zip(programs).map(|(weight, &programs)| weight * programs as f64).sum();
        let each = chip.program_mode_names().zip(programs).zip(reads).map(
            |((name, &programs), &reads)| ProgramModeResult { name: name.into(), programs, reads },
        );
        ProgramModes {
            wearing_weight: Some(wearing_weight),
            program_modes: Some(ProgramModesResult { each: each.collect(), weight_erases }),
        }
    }
}

/// What pages were mostly used for, as their uses in the buffer told.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HotnessResult {
    /// Pages that left the buffer, or that a flush programmed: `read_hot`, `mixed` and `write_hot`.
    pub left: BTreeMap<&'static str, u64>,
    /// All logical pages, as they were found to be last; of those that never were in the buffer
    /// nothing is known, and they are `mixed`.
    pub pages: BTreeMap<&'static str, u64>,
    /// Unwritten pages that were programmed once more as they left the buffer; they count as
    /// evicted neither clean nor dirty.
    pub rewritten: u64,
}

impl HotnessResult {
    /// Absent where nobody learns it.
    pub(super) fn of(drive: &Drive) -> Option<HotnessResult> {
        let hot = drive.components().get::<HotPages>()?;
        let named =
            |counts: [u64; Hotness::COUNT]| Hotness::NAMES.into_iter().zip(counts).collect();
        let rewritten = drive.stats().rewritten;
        Some(HotnessResult { left: named(hot.found()), pages: named(hot.pages()), rewritten })
    }
}
