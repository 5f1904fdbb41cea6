//! Characterized chips: measurements of blocks, which simulated blocks take over.
//!
//! This crate does not read the file. The caller reads it, passes its rows to [`Table::new`] and
//! puts the table into the config before the config is resolved.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::{Bytes, math};

use crate::ldpc::MAX_RETRIES;
use crate::pages::PagesConfig;
use crate::refusal::{Refusal, within};
use crate::retry_config::Beyond;
use crate::temperature::TemperatureConfig;
use crate::timing::Climb;

pub(crate) const KEY: &str = "physics.measured";

/// Chips that were measured. Each simulated block takes over the reads and erases of one block of
/// the file, drawn at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasuredConfig {
    /// The measurements, in CSV (documentation: "Fit the retry predictor"). A relative path in a
    /// config file counts from that file's folder. No default. Source: ReadGuard, section 6.1
    /// (chips that were characterized).
    pub file: String,
    /// SHA-256 of the file in hexadecimal; a file with another hash is refused. Default: the hash
    /// of the file, which the effective config then holds. Source: the file itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Most retries of a read; the last one always decodes. Default: 25. Source: ReadGuard, section
    /// 3 (Fig. 6).
    #[serde(default = "default_retries")]
    #[schemars(range(min = 1, max = MAX_RETRIES))]
    pub retries: u8,
    /// Result of a read that starts beyond the retry that its page needs. Default: `fails`.
    #[serde(default)]
    pub beyond: Beyond,
    /// Size of the codeword in which the file counts errors. Default: 1KiB. Source: ReadGuard
    /// (ruled).
    #[serde(default = "codeword")]
    pub codeword: Bytes,
    /// The drive's temperature, which retention uses, and the law that converts bakes. Default: 30
    /// °C.
    #[serde(default)]
    pub temperature: TemperatureConfig,
    /// How the pages of a block differ. The file measures the worst page.
    #[serde(default)]
    pub pages: PagesConfig,
    /// The measurements of the file. The caller that reads the file sets them.
    #[serde(skip)]
    pub table: Option<Arc<Table>>,
}

const fn default_retries() -> u8 {
    25
}

const fn codeword() -> Bytes {
    Bytes::from_kib(1)
}

impl MeasuredConfig {
    /// Returns the ladder of retries: every attempt senses the page in full.
    pub(crate) fn climb(&self) -> Climb {
        Climb { shares: vec![1.0; usize::from(self.retries) + 1], incremental: false }
    }

    /// Checks the settings and returns the table.
    pub(crate) fn check(&self) -> Result<&Table, Refusal> {
        let most = f64::from(MAX_RETRIES);
        within(&format!("{KEY}.retries"), f64::from(self.retries), 1.0, most)?;
        self.pages.check(&format!("{KEY}.pages"))?;
        let table = self.table.as_deref().ok_or_else(|| {
            Refusal::new(
                format!("{KEY}.file"),
                &self.file,
                "a measurements file that the caller has loaded",
            )
        })?;
        if table.most <= self.retries {
            Ok(table)
        } else {
            let expected = format!("at least {}, which the file has", table.most);
            Err(Refusal::new(format!("{KEY}.retries"), self.retries, expected))
        }
    }
}

/// One measurement of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Number of the block, from 0 in the order in which blocks appear.
    pub block: u32,
    /// P/E cycles of the block.
    pub cycles: f64,
    /// Age of the data in days at 30 °C.
    pub days: f64,
    /// Page reads of the block since it was programmed.
    pub reads: f64,
    /// Time of the last erase in microseconds.
    pub erase_us: f64,
    /// Raw bit errors of the first page right after it was programmed.
    pub e0: f64,
    /// Raw bit errors of a codeword of the worst page, at the first attempt.
    pub errors: f64,
    /// Retries that the worst page needed.
    pub retries: u8,
}

/// An error in measurements: its row, if one row is wrong, the value found and the values expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The row's number from 0.
    pub row: Option<usize>,
    /// The value that was found.
    pub got: String,
    /// The values that are accepted.
    pub expected: String,
}

/// Measurements, grouped by block.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub(crate) blocks: Box<[Measured]>,
    /// The most retries of any row.
    pub(crate) most: u8,
    /// Errors at which a page first needs a retry (`first`), and errors that each further retry
    /// adds (`step`). Both come from a straight line through the rows with 1 to `most` − 1 retries.
    pub(crate) first: f64,
    pub(crate) step: f64,
}

/// The measurements of one block, at every combination of cycles, age and reads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measured {
    pub(crate) cycles: Box<[f64]>,
    /// ln(1 + days).
    pub(crate) log_days: Box<[f64]>,
    pub(crate) reads: Box<[f64]>,
    /// Errors and retries of the worst page. The reads change fastest, the cycles slowest.
    pub(crate) worst: Box<[(f32, f32)]>,
    /// Mean erase time in microseconds and mean errors of the first page, for each value of the
    /// cycles.
    pub(crate) signs: Box<[(f64, f64)]>,
}

impl Table {
    /// Builds the table from rows in any order.
    ///
    /// # Errors
    /// Refuses a block that lacks a combination of cycles, age and reads, or has one twice. Refuses
    /// rows with too few retries to fit the errors that one more retry corrects.
    pub fn new(rows: &[Row]) -> Result<Table, Wrong> {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let key = |at: usize| {
            let row = &rows[at];
            (row.block, row.cycles.to_bits(), row.days.to_bits(), row.reads.to_bits(), at)
        };
        // For numbers from 0 up, the order of the bits is the order of the values.
        order.sort_unstable_by_key(|&at| key(at));
        let of_blocks = order.chunk_by(|&a, &b| rows[a].block == rows[b].block);
        let blocks: Result<Box<[Measured]>, Wrong> =
            of_blocks.map(|of| Measured::new(rows, of)).collect();
        let blocks = blocks?;
        let most = rows.iter().map(|row| row.retries).max().unwrap_or(0);
        let (first, step) = line(rows, most).ok_or_else(|| Wrong {
            row: None,
            got: format!("{} rows, at most {most} retries", rows.len()),
            expected: "several retry counts above 0 and below the most, with rising errors".into(),
        })?;
        Ok(Table { blocks, most, first, step })
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }
}

/// Fits a straight line through errors over retries. Returns the errors at which the first retry
/// begins, and the errors that each further retry adds.
fn line(rows: &[Row], most: u8) -> Option<(f64, f64)> {
    let of: Vec<(f64, f64)> = rows
        .iter()
        .filter(|row| row.retries > 0 && row.retries < most)
        .map(|row| (f64::from(row.retries), row.errors))
        .collect();
    let count = of.len() as f64;
    let mean = |sum: f64| sum / count;
    let x = mean(of.iter().map(|at| at.0).sum());
    let y = mean(of.iter().map(|at| at.1).sum());
    let square: f64 = of.iter().map(|at| (at.0 - x) * (at.0 - x)).sum();
    let product: f64 = of.iter().map(|at| (at.0 - x) * (at.1 - y)).sum();
    let step = product / square;
    // A page with k retries lies midway between the errors at which retries k and k + 1 begin.
    let first = y + step * (0.5 - x);
    (step.is_finite() && step > 0.0 && first > 0.0).then_some((first, step))
}

impl Measured {
    /// Builds the measurements of the block of these rows, sorted by cycles, age and reads.
    fn new(rows: &[Row], sorted: &[usize]) -> Result<Measured, Wrong> {
        let axis = |of: fn(&Row) -> f64| {
            let mut values: Vec<f64> = sorted.iter().map(|&at| of(&rows[at])).collect();
            values.sort_unstable_by(f64::total_cmp);
            values.dedup();
            values.into_boxed_slice()
        };
        let (cycles, days, reads) = (axis(|r| r.cycles), axis(|r| r.days), axis(|r| r.reads));
        let mut next = sorted.iter().copied().peekable();
        for &cycles in &cycles {
            for &days in &days {
                for &reads in &reads {
                    let is = |row: &Row| (row.cycles, row.days, row.reads) == (cycles, days, reads);
                    if next.next_if(|&at| is(&rows[at])).is_none() {
                        return Err(missing(sorted, (cycles, days, reads)));
                    }
                    if let Some(twice) = next.next_if(|&at| is(&rows[at])) {
                        return Err(Wrong {
                            row: Some(twice),
                            got: format!("{cycles} cycles, {days:.3} days, {reads} reads again"),
                            expected: "each combination once for a block".into(),
                        });
                    }
                }
            }
        }
        let each = days.len() * reads.len();
        let sign = |of: &[usize]| {
            let mean = |of_row: fn(&Row) -> f64| {
                of.iter().map(|&at| of_row(&rows[at])).sum::<f64>() / of.len() as f64
            };
            (mean(|row| row.erase_us), mean(|row| row.e0))
        };
        let worst = sorted.iter().map(|&at| (rows[at].errors as f32, f32::from(rows[at].retries)));
        Ok(Measured {
            worst: worst.collect(),
            signs: sorted.chunks(each).map(sign).collect(),
            log_days: days.iter().map(|&days| math::ln_1p(days)).collect(),
            cycles,
            reads,
        })
    }
}

fn missing(sorted: &[usize], (cycles, days, reads): (f64, f64, f64)) -> Wrong {
    Wrong {
        row: sorted.iter().min().copied(),
        got: format!("no row for {cycles} cycles, {days:.3} days, {reads} reads"),
        expected: "one row for each combination of the block's cycles, ages and reads".into(),
    }
}
