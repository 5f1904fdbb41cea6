//! Program modes: the threshold voltages of a page's states, and the step of the program pulses.
//!
//! Higher voltages set the states further apart: pages read faster, and the block wears more
//! (HIRE). A larger step programs faster and leaves more raw bit errors (DLV, Table I).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Nanos;

use crate::cell::Cell;
use crate::refusal::{Refusal, positive};

/// A program mode, as its index in [`crate::timing::TimingConfig::program_modes`]. Index 0 is the
/// normal mode.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ProgramMode(pub u8);

impl ProgramMode {
    /// The mode in which a conventional drive programs every page.
    pub const NORMAL: ProgramMode = ProgramMode(0);

    /// Returns the mode as an index into a table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Largest number of program modes of a drive.
pub const MAX_PROGRAM_MODES: usize = 16;

/// One program mode. The first of a list is the normal mode. A later mode takes each setting that
/// it omits from the normal mode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramModeConfig {
    /// Name of the mode; the first is `normal`. Source: HIRE, Table 1.
    pub name: String,
    /// Threshold voltages of the cell's states in volts, one for each state, ascending. Their mean
    /// ratio to those of the normal mode is the wear of one program. Default: as the normal mode, a
    /// wear of 1. Source: HIRE, Table 1 (boosted 1.40 2.85 3.55 4.25, normal 1.17 2.37 2.96 3.54,
    /// reduced 0.93 1.90 2.37 2.83).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volts: Vec<f64>,
    /// Step of the program pulses (ΔVp) in volts; not together with `program`. The program time is
    /// proportional to 1/ΔVp. Default: the time of the normal mode. Source: DLV, Table II
    /// (0.3 V) and the ratio of the write times in its Table I, 1300/867 (0.45 V).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_volts: Option<f64>,
    /// Time to program a page. The normal mode takes `timing.program` and refuses this key.
    /// Default: `timing.program`, in proportion to 1/ΔVp if both modes have a step. Source: HIRE,
    /// Table 1 (600us in each mode).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Nanos>,
    /// Time to sense a page; the time at the last level, if there are several. The normal mode
    /// takes `timing.read` and refuses this key. Default: `timing.read`. Source: HIRE, Table 1
    /// (boosted 30us, reduced 210us).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sense: Option<Nanos>,
    /// Time in which a whole page moves to the controller after its sensing. Default: the bus time.
    /// Source: HIRE, Table 1 (boosted 40us, normal 80us, reduced 100us).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Nanos>,
    /// Factor on the base term of a page's raw bit error rate; under `physics.retries`, on the
    /// errors of fresh data. Default: 1. Source: DLV, Table I (0.0104/0.0076 for the larger step).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_factor: Option<f64>,
}

/// The program modes as the chip uses them.
#[derive(Clone, Debug)]
pub(crate) struct ProgramModes {
    pub(crate) names: Vec<String>,
    pub(crate) wear: Vec<f64>,
    pub(crate) base_factor: Vec<f64>,
}

impl ProgramModes {
    pub(crate) fn resolve(list: &[ProgramModeConfig], cell: Cell) -> Result<ProgramModes, Refusal> {
        if list.len() > MAX_PROGRAM_MODES {
            let expected = format!("at most {MAX_PROGRAM_MODES} classes");
            return Err(Refusal::new("timing.program_modes", list.len(), expected));
        }
        let Some(normal) = list.first() else {
            let names = vec!["normal".to_owned()];
            return Ok(ProgramModes { names, wear: vec![1.0], base_factor: vec![1.0] });
        };
        for (index, class) in list.iter().enumerate() {
            check(index, class, normal)?;
            check_volts(index, class, normal, cell)?;
            if list[..index].iter().any(|other| other.name == class.name) {
                let key = format!("timing.program_modes[{index}].name");
                return Err(Refusal::new(key, &class.name, "a name not used before"));
            }
        }
        Ok(ProgramModes {
            names: list.iter().map(|class| class.name.clone()).collect(),
            wear: list.iter().map(|class| wear_weight(&class.volts, &normal.volts)).collect(),
            base_factor: list.iter().map(|class| class.base_factor.unwrap_or(1.0)).collect(),
        })
    }

    /// Returns the mode of this name.
    pub(crate) fn named(&self, name: &str) -> Option<ProgramMode> {
        self.names.iter().position(|known| known == name).map(|index| ProgramMode(index as u8))
    }
}

/// Returns the mean ratio of a mode's voltages to the normal ones (HIRE: 1.20, 1.00, 0.80).
fn wear_weight(volts: &[f64], normal: &[f64]) -> f64 {
    if volts.is_empty() {
        return 1.0;
    }
    let ratios = volts.iter().zip(normal).map(|(volts, normal)| volts / normal);
    ratios.sum::<f64>() / volts.len() as f64
}

/// Returns the program time of `class`, if the normal mode takes `normal_time`. A stated time comes
/// first. With two steps, the time is proportional to 1/ΔVp (DLV, section II-B).
pub(crate) fn program_time(
    class: &ProgramModeConfig,
    normal: &ProgramModeConfig,
    normal_time: Nanos,
) -> Nanos {
    match (class.program, class.step_volts, normal.step_volts) {
        (Some(stated), ..) => stated,
        (None, Some(step), Some(normal_step)) => {
            Nanos::from_ns((normal_time.as_ns() as f64 * normal_step / step).round() as u64)
        }
        _ => normal_time,
    }
}

fn check_volts(
    index: usize,
    class: &ProgramModeConfig,
    normal: &ProgramModeConfig,
    cell: Cell,
) -> Result<(), Refusal> {
    let (volts, states) = (&class.volts, 1 << cell.bits());
    let key = format!("timing.program_modes[{index}].volts");
    for &volts in volts {
        positive(&key, volts)?;
    }
    if !volts.is_sorted_by(|low, high| low < high) {
        return Err(Refusal::new(key, format!("{volts:?}"), "ascending voltages"));
    }
    if volts.is_empty() {
        return Ok(());
    }
    let found = format!("{} voltages", volts.len());
    if volts.len() != states {
        let expected = format!("{states}, one for each state of the cell ({cell})");
        return Err(Refusal::new(key, found, expected));
    }
    if normal.volts.is_empty() {
        let expected = "no volts unless the normal mode has volts";
        return Err(Refusal::new(key, found, expected));
    }
    Ok(())
}

fn check(
    index: usize,
    class: &ProgramModeConfig,
    normal: &ProgramModeConfig,
) -> Result<(), Refusal> {
    let key = |field: &str| format!("timing.program_modes[{index}].{field}");
    if index == 0 && class.name != "normal" {
        return Err(Refusal::new(
            key("name"),
            &class.name,
            "normal: the first mode is the normal mode",
        ));
    }
    for (field, time) in [("sense", class.sense), ("program", class.program)] {
        if let Some(time) = time.filter(|_| index == 0) {
            let expected =
                "no time here: timing.read and timing.program are the times of the normal mode";
            return Err(Refusal::new(key(field), time, expected));
        }
    }
    if index > 0 && class.step_volts.is_some() && class.program.is_some() {
        let expected = "either step_volts or program, not both";
        return Err(Refusal::new(key("step_volts"), "both", expected));
    }
    if let Some(step) = class.step_volts {
        positive(&key("step_volts"), step)?;
        if normal.step_volts.is_none() {
            let expected = "no step_volts unless the normal mode has step_volts";
            return Err(Refusal::new(key("step_volts"), step, expected));
        }
    }
    if let Some(factor) = class.base_factor {
        positive(&key("base_factor"), factor)?;
        if index == 0 && factor != 1.0 {
            return Err(Refusal::new(key("base_factor"), factor, "1 in the normal mode"));
        }
    }
    Ok(())
}
