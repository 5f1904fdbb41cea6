//! Program modes and classes of use of pages.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_core::Drive;
use ssdlab_core::metadata::page_hotness::{HotPages, Hotness};

/// Counts by program mode; empty if there is only one mode.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ProgramModes {
    /// Pages programmed for any cause, each weighted by the mean ratio of its voltages to the
    /// normal ones. This is HIRE's wearing weight before its division by that of a baseline. Only
    /// with several program modes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wearing_weight: Option<f64>,
    /// Pages by the mode in which they were programmed; only with several program modes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program_modes: Option<ProgramModesResult>,
}

/// Pages by the mode in which they were programmed, and the wear from it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProgramModesResult {
    /// Each program mode, in the order of `timing.program_modes`.
    pub each: Vec<ProgramModeResult>,
    /// The wearing weight by erases: P/E cycles (`flash.cycles_per_erase` for each erase), weighted
    /// by the mean ratio over the block's programmed pages.
    pub weight_erases: f64,
}

/// One program mode.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProgramModeResult {
    /// Its name in `timing.program_modes`.
    pub name: String,
    /// Pages programmed in this mode, for any cause.
    pub programs: u64,
    /// Pages read from the flash for the host that were programmed in this mode.
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

/// Classes of pages by their use, learned from hits in the buffer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HotnessResult {
    /// Pages that left the buffer, or that a flush programmed, by class: `read_hot`, `mixed` and
    /// `write_hot`.
    pub left: BTreeMap<&'static str, u64>,
    /// All logical pages, by their latest class. A page that never was in the buffer is unknown and
    /// counts as `mixed`.
    pub pages: BTreeMap<&'static str, u64>,
    /// Pages without new data that were programmed again when they left the buffer. They count as
    /// evicted neither clean nor dirty.
    pub rewritten: u64,
}

impl HotnessResult {
    /// Returns `None` if no policy learns these classes.
    pub(super) fn of(drive: &Drive) -> Option<HotnessResult> {
        let hot = drive.components().get::<HotPages>()?;
        let named =
            |counts: [u64; Hotness::COUNT]| Hotness::NAMES.into_iter().zip(counts).collect();
        let rewritten = drive.stats().rewritten;
        Some(HotnessResult { left: named(hot.found()), pages: named(hot.pages()), rewritten })
    }
}
