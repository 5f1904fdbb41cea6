//! Characterised chips: measurements of blocks, made of the physics or read from a file.
//!
//! A reading order: this file says what a measurement is;
//! [`measure`](crate::chip_measurements::measure) makes them of a plan's device, [`mod@read`] takes
//! them from CSV, and `simulated` gives them to drives whose physics is `measured`.

pub mod read;
pub(crate) mod simulated;
#[cfg(test)]
mod tests;

use ssdlab_core::config::measured::{Table, Wrong};

pub use read::read;
pub use ssdlab_core::config::acceleration;
pub use ssdlab_core::metadata::predictor::{Predictor, PredictorConfig};

/// Measurements as columns; a row each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// The chips' names.
    pub chips: Vec<String>,
    /// The blocks' names within their chips.
    pub blocks: Vec<String>,
    /// Each row's chip and block: places in these lists.
    pub chip: Vec<u32>,
    /// See `chip`.
    pub block: Vec<u32>,
    /// The numbers, in the order of [`NUMBERS`]; an optional column that is not there is empty.
    pub numbers: [Vec<f64>; NUMBERS.len()],
    /// Lines of the file that the rows stand on; empty if they were made.
    pub lines: Vec<u64>,
}

/// A column of numbers.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// Its name in the first line of a file.
    pub name: &'static str,
    /// Whether it may be left out.
    pub optional: bool,
    /// Whether its numbers are whole.
    whole: bool,
    least: f64,
    most: f64,
}

const fn number(name: &'static str, least: f64, most: f64) -> Number {
    Number { name, optional: false, whole: false, least, most }
}

const fn whole(name: &'static str, most: f64) -> Number {
    Number { name, optional: false, whole: true, least: 0.0, most }
}

const MOST: f64 = 1e9;
/// More than the bits of any codeword.
const ERRORS_MOST: f64 = 1e5;

/// The columns of numbers: P/E cycles of the block, hours since it was programmed and the
/// temperature at which they passed, page reads since, the time of the last erase, raw bit errors
/// of the first page right after it was programmed, raw bit errors of a codeword of the worst page
/// at the first attempt, the retries that this page needed; mean hours between erases at 30 °C, and
/// the retries of the best page.
pub const NUMBERS: [Number; 10] = [
    number("pe", 0.0, MOST),
    number("retention_h", 0.0, MOST),
    number("temp_c", -40.0, 125.0),
    whole("reads", 4e9),
    // A second: what takes longer is in another unit.
    number("t_erase_us", 1e-3, 1e6),
    number("e0", 0.0, ERRORS_MOST),
    number("errors", 0.0, ERRORS_MOST),
    whole("retries", 63.0),
    Number { optional: true, ..number("dwell_h", 1e-6, MOST) },
    Number { optional: true, ..whole("retries_best", 63.0) },
];

/// Why writing rows cannot fail.
const MEMORY: &str = "rows of as many cells, in memory";

/// Places in [`NUMBERS`].
pub(crate) mod at {
    pub(crate) const CYCLES: usize = 0;
    pub(crate) const HOURS: usize = 1;
    pub(crate) const CELSIUS: usize = 2;
    pub(crate) const READS: usize = 3;
    pub(crate) const ERASE: usize = 4;
    pub(crate) const E0: usize = 5;
    pub(crate) const ERRORS: usize = 6;
    pub(crate) const RETRIES: usize = 7;
    pub(crate) const RETRIES_BEST: usize = 9;
}

impl Samples {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.chip.len()
    }

    /// The column of this name; the chips' and blocks' as places in their lists. Empty if it was
    /// left out, absent if there is no such column.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let places = |of: &[u32]| of.iter().map(|&place| f64::from(place)).collect();
        match name {
            "chip" => Some(places(&self.chip)),
            "block" => Some(places(&self.block)),
            _ => NUMBERS.iter().position(|of| of.name == name).map(|at| self.numbers[at].clone()),
        }
    }

    /// The samples of some chips, in the order of their rows.
    pub fn of_chips(&self, chips: &[u32]) -> Samples {
        let mut some = Samples::default();
        let mut place = vec![None; self.blocks.len()];
        for row in (0..self.rows()).filter(|&row| chips.contains(&self.chip[row])) {
            let name = &self.chips[self.chip[row] as usize];
            let known = some.chips.iter().position(|chip| chip == name);
            some.chip.push(known.unwrap_or(some.chips.len()) as u32);
            if known.is_none() {
                some.chips.push(name.clone());
            }
            let block = self.block[row] as usize;
            some.block.push(*place[block].get_or_insert_with(|| {
                some.blocks.push(self.blocks[block].clone());
                some.blocks.len() as u32 - 1
            }));
            for (to, from) in some.numbers.iter_mut().zip(&self.numbers) {
                to.extend(from.get(row));
            }
            some.lines.extend(self.lines.get(row));
        }
        some
    }

    /// The samples as a file has them.
    pub fn csv(&self) -> String {
        let there = |at: &usize| self.numbers[*at].len() == self.rows();
        let columns: Vec<usize> = (0..NUMBERS.len()).filter(there).collect();
        let mut file = csv::Writer::from_writer(Vec::new());
        let heads = ["chip", "block"].into_iter().chain(columns.iter().map(|&at| NUMBERS[at].name));
        file.write_record(heads).expect(MEMORY);
        for row in 0..self.rows() {
            let (chip, block) = (self.chip[row] as usize, self.block[row] as usize);
            let names = [self.chips[chip].clone(), self.blocks[block].clone()];
            let numbers = columns.iter().map(|&at| self.numbers[at][row].to_string());
            file.write_record(names.into_iter().chain(numbers)).expect(MEMORY);
        }
        String::from_utf8(file.into_inner().expect(MEMORY)).expect("of text")
    }

    /// Why drives cannot have these blocks by `physics.measured`; none if they can.
    pub fn unfit(&self, activation_ev: f64) -> Option<Wrong> {
        let wrong = Table::new(&simulated::rows(self, activation_ev)).err()?;
        let Some(row) = wrong.row else { return Some(wrong) };
        let (chip, block) = (self.chip[row] as usize, self.block[row] as usize);
        let line = self.lines.get(row).map_or(String::new(), |line| format!(", line {line}"));
        let place = format!("chip {}, block {}{line}", self.chips[chip], self.blocks[block]);
        Some(Wrong { got: format!("{} ({place})", wrong.got), ..wrong })
    }
}
