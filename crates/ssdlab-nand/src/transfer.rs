//! The transfer of a page from the die to the controller: more sensing levels move more bits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Nanos;

use crate::level::Level;
use crate::program_mode::ProgramMode;
use crate::refusal::Refusal;
use crate::timing::TimingConfig;

/// The transfer time of a page read with n sensing levels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransferConfig {
    /// The time of the page at the bus rate, at every level.
    #[default]
    Same,
    /// In proportion to ⌈log2(n + 1)⌉, the bits that name one of n + 1 intervals. At the last
    /// level, the time of the page at the bus rate. Source: DLV, Table II (5 µs at seven levels)
    /// and PV-read, equation 1.
    Bits,
    /// The time of a whole page at each level, from level 1 up. Source: PV-read, Table I (20 30 40
    /// 40 40 50 50 µs).
    Table(Vec<Nanos>),
}

/// The rule for a transfer time, whatever part of the page moves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Move {
    /// The bus time of the bytes, times `times` / `over`.
    Bus { times: u64, over: u64 },
    /// The time of a whole page. A part of the page takes its share of it.
    Page(Nanos),
}

/// Transfer times by program mode and level. `moves` is `None` if the bus time always applies.
#[derive(Clone, Debug)]
pub(crate) struct Transfers {
    page_bytes: u64,
    levels: usize,
    moves: Option<Vec<Move>>,
}

impl Transfers {
    /// Resolves the transfer times of reads that use the first `climbed` of the `levels` of
    /// `config`.
    pub(crate) fn resolve(
        config: &TransferConfig,
        timing: &TimingConfig,
        (climbed, levels): (usize, usize),
        page_bytes: u64,
    ) -> Result<Transfers, Refusal> {
        let normal = timing.program_modes.first().and_then(|class| class.transfer);
        let stated =
            |class: usize| timing.program_modes.get(class).and_then(|c| c.transfer).or(normal);
        let mut moves = Vec::new();
        for class in 0..timing.program_modes.len().max(1) {
            for level in 0..climbed {
                moves.push(match (config, stated(class)) {
                    (TransferConfig::Same, None) => Move::Bus { times: 1, over: 1 },
                    (TransferConfig::Same, Some(time)) => Move::Page(time),
                    (TransferConfig::Bits, None) => {
                        Move::Bus { times: bits_of_level(level + 1), over: bits_of_level(levels) }
                    }
                    (TransferConfig::Table(times), None) => {
                        Move::Page(of_table(times, Level(level as u8), levels)?)
                    }
                    (_, Some(time)) => {
                        let key = format!("timing.program_modes[{class}].transfer");
                        let expected =
                            "no time here: physics.levels.transfer sets the time of each level";
                        return Err(Refusal::new(key, time, expected));
                    }
                });
            }
        }
        let plain = moves.iter().all(|each| *each == Move::Bus { times: 1, over: 1 });
        Ok(Transfers { page_bytes, levels: climbed, moves: (!plain).then_some(moves) })
    }

    /// Returns the time of `bytes` at this level. `on_bus` is their time at the bus rate.
    #[inline]
    pub(crate) fn time(&self, by: ProgramMode, level: Level, bytes: u64, on_bus: Nanos) -> Nanos {
        match &self.moves {
            None => on_bus,
            Some(moves) => match moves[by.index() * self.levels + level.index()] {
                Move::Bus { times, over } => scale(on_bus, times, over),
                Move::Page(time) => scale(time, bytes, self.page_bytes),
            },
        }
    }
}

/// Returns ⌈log2(n + 1)⌉: the bits that name one of the n + 1 intervals of n reference voltages.
const fn bits_of_level(n: usize) -> u64 {
    (usize::BITS - n.leading_zeros()) as u64
}

/// Returns `time` · `times` / `over`, to the nearest nanosecond.
fn scale(time: Nanos, times: u64, over: u64) -> Nanos {
    Nanos::from_ns((time.as_ns() * times + over / 2) / over)
}

fn of_table(times: &[Nanos], level: Level, levels: usize) -> Result<Nanos, Refusal> {
    if times.len() == levels && times.is_sorted() {
        Ok(times[level.index()])
    } else {
        let got = format!("{} times", times.len());
        let expected = format!("{levels} times in non-decreasing order, one for each level");
        Err(Refusal::new("physics.levels.transfer.table", got, expected))
    }
}
