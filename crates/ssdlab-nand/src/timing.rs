//! Fixed times of the flash, before blocks differ.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Nanos;

use crate::cell::Cell;
use crate::each::Each;
use crate::level::Level;
use crate::page_order::PageType;
use crate::program_mode::{ProgramMode, ProgramModeConfig, program_time};
use crate::refusal::Refusal;

/// The time of each flash operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimingConfig {
    /// Time to sense a page into the page register (tR): one value, or one for each page type from
    /// the lowest up. Under `physics.levels`, the time at the last level. Required. Source: DLV
    /// Table II 90us, PA-SSD 100us, PV-read Table I 175us, ReadGuard 45us (ruled), HIRE Table 1
    /// 90us.
    pub read: Each<Nanos>,
    /// Time to program a page (tPROG): one value, or one for each page type from the lowest up.
    /// Required. Source: DLV Table II 600us, PA-SSD 500us/2ms/5.5ms, PV-read 600us (ruled),
    /// ReadGuard 400us, HIRE Table 1 600us.
    pub program: Each<Nanos>,
    /// Time to erase a block (tERASE); under `physics.retries`, of a new block. `physics.measured`
    /// takes it from its file. Required. Source: DLV Table II 3ms, PA-SSD 15ms, PV-read 3ms
    /// (ruled), ReadGuard 3.5ms, HIRE 3ms (ruled).
    pub erase: Nanos,
    /// Time to decode a page in the controller: one value, or one for each level. Default: 0ns.
    /// Source: PV-read Table III less sensing and transfer (6us BCH, 8us LDPC), ReadGuard 10us
    /// (ruled).
    #[serde(default = "no_time")]
    pub decode: Each<Nanos>,
    /// Whether DRAM keeps the lower pages of a wordline until the whole wordline is programmed. If
    /// not, the flash reads them before it programs the next page. Default: true. Source: PA-SSD,
    /// sections 2.1 and 4.3.1 (false where pages have the relaxed order).
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub wordline_buffer: bool,
    /// Program modes, the normal one first. Default: only the normal mode, with the times of
    /// `timing`. Source: HIRE, Table 1; DLV, Table I.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub program_modes: Vec<ProgramModeConfig>,
}

fn yes() -> bool {
    true
}

fn is_yes(flag: &bool) -> bool {
    *flag
}

fn no_time() -> Each<Nanos> {
    Each::same(Nanos::ZERO)
}

impl TimingConfig {
    /// Returns timing with one time for every page type, no decode time and only the normal mode.
    pub fn fixed(read: Nanos, program: Nanos, erase: Nanos) -> TimingConfig {
        TimingConfig {
            read: Each::same(read),
            program: Each::same(program),
            erase,
            decode: no_time(),
            wordline_buffer: true,
            program_modes: Vec::new(),
        }
    }

    /// Refuses times that are zero or too long, and lists of a wrong length.
    pub(crate) fn check(&self, cell: Cell, levels: usize) -> Result<(), Refusal> {
        let types = cell.bits() as usize;
        let whom = format!("page type of {cell}");
        self.read.check("timing.read", types, &whom)?;
        self.program.check("timing.program", types, &whom)?;
        self.decode.check("timing.decode", levels, "read level")?;
        at_most_longest("timing.decode", self.decode.declared().iter().copied())?;
        some_time("timing.read", self.read.declared().iter().copied())?;
        some_time("timing.program", self.program.declared().iter().copied())?;
        some_time("timing.erase", [self.erase])?;
        for (index, class) in self.program_modes.iter().enumerate() {
            some_time(&format!("timing.program_modes[{index}].sense"), class.sense)?;
            some_time(&format!("timing.program_modes[{index}].program"), class.program)?;
            some_time(&format!("timing.program_modes[{index}].transfer"), class.transfer)?;
        }
        Ok(())
    }

    /// Returns the program modes. If none is declared, returns one without settings.
    fn classes(&self) -> Vec<ProgramModeConfig> {
        if self.program_modes.is_empty() {
            vec![ProgramModeConfig::default()]
        } else {
            self.program_modes.clone()
        }
    }
}

/// The longest time that a config may declare for one flash operation.
const LONGEST: Nanos = Nanos::from_ms(100_000);

fn some_time(key: &str, times: impl IntoIterator<Item = Nanos>) -> Result<(), Refusal> {
    let expected = || format!("more than 0, at most {LONGEST}");
    let wrong = times.into_iter().find(|time| *time == Nanos::ZERO || *time > LONGEST);
    wrong.map_or(Ok(()), |time| Err(Refusal::new(key, time, expected())))
}

fn at_most_longest(key: &str, times: impl IntoIterator<Item = Nanos>) -> Result<(), Refusal> {
    let wrong = times.into_iter().find(|time| *time > LONGEST);
    wrong.map_or(Ok(()), |time| Err(Refusal::new(key, time, format!("at most {LONGEST}"))))
}

/// The growth of the sensing time with the level.
pub(crate) struct Climb {
    /// For each level, the share of the whole sensing time that a fresh sensing takes.
    pub(crate) shares: Vec<f64>,
    /// Whether a sensing that continues from the level below takes only the added time.
    pub(crate) incremental: bool,
}

/// Times by program mode, page type and level. A lookup needs no arithmetic on times.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    levels: usize,
    /// By program mode, page type, fresh or continuing, and level.
    sense: Arc<[Nanos]>,
    /// By program mode and page type.
    program: Arc<[Nanos]>,
    decode: Arc<[Nanos]>,
}

impl Times {
    pub(crate) fn resolve(timing: &TimingConfig, climb: &Climb) -> Times {
        let classes = timing.classes();
        let levels = climb.shares.len();
        let (mut sense, mut program) = (Vec::new(), Vec::new());
        for class in &classes {
            for page_type in 0..PageType::MAX_COUNT {
                let whole = class.sense.unwrap_or(timing.read.of(page_type));
                sense.extend(climb.times(whole));
                let normal = timing.program.of(page_type);
                let read_first = if timing.wordline_buffer { 0 } else { page_type };
                let reading = (0..read_first).map(|lower| timing.read.of(lower)).sum::<Nanos>();
                program.push(reading + program_time(class, &classes[0], normal));
            }
        }
        let decode: Vec<Nanos> = (0..levels).map(|level| timing.decode.of(level)).collect();
        Times { levels, sense: sense.into(), program: program.into(), decode: decode.into() }
    }

    #[inline]
    pub(crate) fn sense(
        &self,
        at: PageType,
        by: ProgramMode,
        level: Level,
        continuing: bool,
    ) -> Nanos {
        let row = (by.index() * PageType::MAX_COUNT + at.index()) * 2 + usize::from(continuing);
        self.sense[row * self.levels + level.index()]
    }

    pub(crate) fn attempts_take_time(&self) -> bool {
        self.sense.iter().chain(&*self.decode).all(|&time| time > Nanos::ZERO)
    }

    #[inline]
    pub(crate) fn program(&self, at: PageType, by: ProgramMode) -> Nanos {
        self.program[by.index() * PageType::MAX_COUNT + at.index()]
    }

    #[inline]
    pub(crate) fn decode(&self, level: Level) -> Nanos {
        self.decode[level.index()]
    }
}

impl Climb {
    /// Returns the ladder of a single level.
    pub(crate) fn single() -> Climb {
        Climb { shares: vec![1.0], incremental: false }
    }

    /// Returns the fresh times of all levels, then the continuing ones. The whole sensing takes
    /// `whole`.
    fn times(&self, whole: Nanos) -> Vec<Nanos> {
        let at = |share: f64| Nanos::from_ns((whole.as_ns() as f64 * share).round() as u64);
        let fresh: Vec<Nanos> = self.shares.iter().map(|&share| at(share)).collect();
        let mut times = fresh.clone();
        times.push(fresh[0]);
        // Differences of rounded sums: the steps of incremental sensing add up exactly to the fresh
        // time.
        times.extend(
            fresh.windows(2).map(|pair| {
                if self.incremental { pair[1].saturating_sub(pair[0]) } else { pair[1] }
            }),
        );
        times
    }
}
