//! The model of characterized blocks: simulated blocks read as measured blocks did.
//!
//! A table holds errors and retries of the worst page over P/E cycles, ln(1 + days at 30 °C) and
//! page reads. Between measured points, values are linear on each axis; beyond the ends of an axis,
//! the end values hold.
//!
//! A page better than the worst one has fewer errors, as `pages` says. It needs one retry less for
//! each `step` errors less. `step` is the number of errors that one more retry corrects, fitted to
//! the whole table.

use std::sync::Arc;

use ssdlab_base::{Nanos, math, rng};

use crate::conditions::Conditions;
use crate::curve::Curve;
use crate::factors::bits;
use crate::geometry::{BlockId, Geometry, PageInBlock};
use crate::level::Level;
use crate::measured::{KEY, Measured, MeasuredConfig, Table};
use crate::pages::Pages;
use crate::refusal::Refusal;
use crate::retention::{day_curve, days_in_a_nano};
use crate::variation::Draws;

/// The resolved model.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredBlocks {
    draws: Draws,
    table: Arc<Table>,
    pages: Pages,
    log_days: Curve,
    days: f64,
    retries: u8,
    codeword_bits: f64,
}

impl MeasuredBlocks {
    pub(crate) fn resolve(
        config: &MeasuredConfig,
        geometry: &Geometry,
        seed: u64,
    ) -> Result<MeasuredBlocks, Refusal> {
        let key = |field: &str| format!("{KEY}.{field}");
        config.check()?;
        Ok(MeasuredBlocks {
            draws: Draws::new(seed, b"nandtrue"),
            table: config.table.clone().expect("checked"),
            pages: Pages::new(&config.pages, geometry.pages),
            log_days: day_curve(math::ln_1p),
            days: days_in_a_nano(config.temperature.resolve(&key("temperature"))?),
            retries: config.retries,
            codeword_bits: bits(config.codeword, &key("codeword"))?,
        })
    }

    fn word(&self, block: BlockId) -> u64 {
        self.draws.word(u64::from(block.0))
    }

    /// Returns the measured block that this simulated block takes over.
    fn of(&self, block: BlockId) -> &Measured {
        let blocks = &self.table.blocks;
        &blocks[rng::below(self.word(block), blocks.len() as u64) as usize]
    }

    fn page_word(&self, block: BlockId) -> u64 {
        rng::mix(self.word(block))
    }

    /// Returns the errors of the worst page and the retries that it needs, not rounded.
    fn worst(&self, measured: &Measured, c: &Conditions) -> (f64, f64) {
        let log_days = self.log_days.at(c.retention.as_ns() as f64 * self.days);
        measured.worst_at(f64::from(c.pe_cycles), log_days, f64::from(c.reads))
    }

    /// Returns the page's errors as a share of the worst page's errors. The share of page 0 comes
    /// from its measured errors.
    fn part(&self, block: BlockId, measured: &Measured, c: &Conditions) -> f64 {
        if c.page.0 != 0 {
            return self.pages.factor(self.page_word(block), c.page);
        }
        let cycles = f64::from(c.pe_cycles);
        let (fresh, _) = measured.worst_at(cycles, 0.0, 0.0);
        (measured.signs_at(cycles).1 / fresh.max(1.0)).min(1.0)
    }

    pub(crate) fn days_in_a_nano(&self) -> f64 {
        self.days
    }

    /// Returns the raw bit errors of a codeword at the first attempt, not rounded.
    pub(crate) fn errors(&self, block: BlockId, c: &Conditions) -> f64 {
        let measured = self.of(block);
        let errors = self.worst(measured, c).0 * self.part(block, measured, c);
        errors.min(self.codeword_bits / 2.0)
    }

    pub(crate) fn level_needed(&self, block: BlockId, c: &Conditions) -> Option<Level> {
        let measured = self.of(block);
        let (errors, retries) = self.worst(measured, c);
        let spared = errors * (1.0 - self.part(block, measured, c)) / self.table.step;
        let needed = (retries - spared).round().max(0.0) as u8;
        Some(Level(needed.min(self.retries)))
    }

    pub(crate) fn errors_counted(&self, block: BlockId, c: &Conditions) -> u32 {
        self.errors(block, c).round() as u32
    }

    pub(crate) fn rber(&self, block: BlockId, c: &Conditions) -> f64 {
        self.errors(block, c) / self.codeword_bits
    }

    pub(crate) fn base_rber(&self, block: BlockId) -> f64 {
        f64::from(self.of(block).worst[0].0) / self.codeword_bits
    }

    /// Returns the errors that `retries` retries correct, by the straight line through the table.
    fn limit(&self, retries: u8) -> f64 {
        self.table.first + self.table.step * f64::from(retries)
    }

    /// Returns the raw bit error rate that each level decodes.
    pub(crate) fn capability(&self) -> Vec<f64> {
        (0..=self.retries).map(|retries| self.limit(retries) / self.codeword_bits).collect()
    }

    pub(crate) fn max_errors(&self) -> u32 {
        self.limit(self.retries) as u32
    }

    pub(crate) fn heeds_wear(&self) -> bool {
        self.table.blocks.iter().any(|block| block.cycles.len() > 1)
    }

    pub(crate) fn heeds_age(&self) -> bool {
        self.table.blocks.iter().any(|block| block.log_days.len() > 1)
    }

    pub(crate) fn worst_page(&self, block: BlockId) -> PageInBlock {
        self.pages.worst(self.page_word(block))
    }

    pub(crate) fn erase_time(&self, block: BlockId, pe_cycles: f32) -> Nanos {
        let (us, _) = self.of(block).signs_at(f64::from(pe_cycles));
        Nanos::from_ns((us * 1e3).round() as u64)
    }
}

/// A place on an axis: the indices of the values below and above it, and its share of the gap.
#[derive(Clone, Copy)]
struct Place {
    below: usize,
    above: usize,
    part: f64,
}

impl Place {
    fn of(axis: &[f64], at: f64) -> Place {
        // An axis is short, so counting is cheaper than a search.
        let passed = axis.iter().map(|&value| usize::from(value <= at)).sum::<usize>();
        let (below, above) = (passed.saturating_sub(1), passed.min(axis.len() - 1));
        let gap = axis[above] - axis[below];
        let part = if gap > 0.0 { (at - axis[below]) / gap } else { 0.0 };
        Place { below, above, part }
    }

    fn between(self, at: impl Fn(usize) -> (f64, f64)) -> (f64, f64) {
        let below = at(self.below);
        if self.part == 0.0 {
            return below;
        }
        let above = at(self.above);
        let mix = |a: f64, b: f64| a + (b - a) * self.part;
        (mix(below.0, above.0), mix(below.1, above.1))
    }
}

impl Measured {
    fn worst_at(&self, cycles: f64, log_days: f64, reads: f64) -> (f64, f64) {
        let (worn, aged) = (Place::of(&self.cycles, cycles), Place::of(&self.log_days, log_days));
        let read = Place::of(&self.reads, reads);
        let (ages, counts) = (self.log_days.len(), self.reads.len());
        worn.between(|c| {
            aged.between(|a| {
                read.between(|r| {
                    let (errors, retries) = self.worst[(c * ages + a) * counts + r];
                    (f64::from(errors), f64::from(retries))
                })
            })
        })
    }

    /// Returns the erase time in microseconds and the errors of the first page.
    fn signs_at(&self, cycles: f64) -> (f64, f64) {
        Place::of(&self.cycles, cycles).between(|at| self.signs[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::{Row, Wrong};

    /// Returns rows with 10 · block + cycles / 100 + 10 · days + reads / 10 errors. A page needs
    /// one retry for every 12 errors beyond 72.
    fn rows() -> Vec<Row> {
        let mut rows = Vec::new();
        for block in 0..3 {
            for cycles in [0.0, 1000.0, 4000.0] {
                for days in [0.0, 1.0, 30.0] {
                    for reads in [0.0, 1000.0] {
                        let errors =
                            10.0 * f64::from(block) + cycles / 100.0 + 10.0 * days + reads / 10.0;
                        let retries = (f64::max(errors - 72.0, 0.0) / 12.0).ceil().min(25.0) as u8;
                        let (erase_us, e0) = (3500.0 + cycles / 10.0, 5.0 * f64::from(block));
                        rows.push(Row {
                            block,
                            cycles,
                            days,
                            reads,
                            erase_us,
                            e0,
                            errors,
                            retries,
                        });
                    }
                }
            }
        }
        rows
    }

    #[test]
    fn measured_values_are_met_and_between_them_it_is_straight() {
        let table = Table::new(&rows()).unwrap();
        assert_eq!(table.blocks(), 3);
        let block = &table.blocks[2];
        let ln = math::ln_1p;
        assert_eq!(block.worst_at(1000.0, ln(30.0), 1000.0), (430.0, 25.0));
        assert_eq!(block.worst_at(1000.0, 0.0, 0.0), (30.0, 0.0));
        // Midway between 1000 and 4000 cycles, and between 0 and 1000 reads.
        assert_eq!(block.worst_at(2500.0, 0.0, 500.0).0, 95.0);
        // Midway between the logarithms of 1 + 0 and 1 + 1 days.
        assert!((block.worst_at(0.0, ln(1.0) / 2.0, 0.0).0 - 25.0).abs() < 1e-9);
        // Beyond the ends, the end values hold.
        assert_eq!(block.worst_at(9e9, ln(400.0), 1e9), block.worst_at(4000.0, ln(30.0), 1000.0));
        assert_eq!(block.signs_at(2500.0), (3750.0, 10.0));
    }

    #[test]
    fn thresholds_and_step_of_retries_are_those_of_the_rows() {
        let table = Table::new(&rows()).unwrap();
        assert!((table.step - 12.0).abs() < 1.0, "{}", table.step);
        assert!((table.first - 72.0).abs() < 8.0, "{}", table.first);
    }

    #[test]
    fn gaps_and_repetitions_are_reported_with_their_row() {
        let mut all = rows();
        all.rotate_left(7);
        assert_eq!(Table::new(&all).unwrap().blocks(), 3);
        let twice = [&rows()[..], &rows()[20..21]].concat();
        let wrong = Table::new(&twice).unwrap_err();
        assert_eq!(
            (wrong.row, wrong.expected.as_str()),
            (Some(54), "each combination once for a block")
        );
        let mut gap = rows();
        gap.remove(20);
        let wrong = Table::new(&gap).unwrap_err();
        assert_eq!(wrong.row, Some(18));
        assert!(wrong.got.contains("0 cycles, 1.000 days, 0 reads"), "{wrong:?}");
        let calm: Vec<Row> = rows().into_iter().map(|row| Row { retries: 0, ..row }).collect();
        let Wrong { row, .. } = Table::new(&calm).unwrap_err();
        assert_eq!(row, None);
    }
}
