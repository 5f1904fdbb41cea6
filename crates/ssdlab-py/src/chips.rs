//! Measurements of chips, and the predictor that is fitted to them.

use std::path::PathBuf;

use pyo3::prelude::*;
use ssdlab_run::{Control, Plan, chip_measurements, chips};

use crate::errors::{from_json, guarded};
use crate::gil;

/// Measures the chips of a plan's device; `order` says how, in JSON.
/// Returns the measurements and the hash of the config, or None if Ctrl-C came.
#[pyfunction]
pub(crate) fn measure(
    py: Python<'_>,
    plan: &str,
    order: &str,
) -> PyResult<Option<(Chips, String)>> {
    let plan: Plan = from_json("plan", plan)?;
    let order: chip_measurements::Order = from_json("order", order)?;
    let work = move |control: &Control| chip_measurements::measure(&plan, &order, control);
    let (made, interrupted) = gil::work(py, Control::new(1), None, work)?;
    Ok(made.filter(|_| !interrupted).map(|(samples, hash)| (Chips(samples), hash)))
}

/// Reads the measurements of chips from a CSV file. Returns them and the file's SHA-256.
#[pyfunction]
pub(crate) fn read_chips(py: Python<'_>, path: PathBuf) -> PyResult<(Chips, String)> {
    let (samples, hash) = gil::work_alone(py, move || chips::read(&path))?;
    Ok((Chips(samples), hash))
}

/// Returns how long one unit of time at `celsius` is at 30 degrees Celsius.
#[pyfunction]
pub(crate) fn acceleration(celsius: f64, activation_ev: f64) -> f64 {
    chips::acceleration(celsius, 30.0, activation_ev)
}

/// Measurements of chips (`ssdlab.fit` reads them). Columns are little-endian doubles.
#[pyclass]
pub struct Chips(chips::Samples);

#[pymethods]
impl Chips {
    /// Returns the names of the chips.
    #[getter]
    fn chips(&self) -> Vec<String> {
        self.0.chips.clone()
    }

    /// Returns the number of blocks.
    #[getter]
    fn blocks(&self) -> usize {
        self.0.blocks.len()
    }

    /// Returns a column; it is empty if the measurements lack it.
    fn column(&self, name: &str) -> Vec<u8> {
        doubles(self.0.column(name).unwrap_or_default())
    }

    /// Returns the rows of the chips with these indices, as CSV text.
    fn csv(&self, chips: Vec<u32>) -> String {
        self.0.of_chips(&chips).csv()
    }

    /// Returns why no drive can use the blocks of these chips, or None if drives can.
    fn unfit(&self, chips: Vec<u32>, activation_ev: f64) -> Option<String> {
        let wrong = self.0.of_chips(&chips).unfit(activation_ev)?;
        Some(format!("got {}, expected {}", wrong.got, wrong.expected))
    }
}

/// ReadGuard's predictor, with its coefficients in JSON. It works on columns of doubles.
#[pyclass]
pub struct Predictor(chips::Predictor);

#[pymethods]
impl Predictor {
    #[new]
    fn new(config: &str) -> PyResult<Predictor> {
        let config: chips::PredictorConfig = from_json("predictor", config)?;
        let resolve = || Ok(chips::Predictor::resolve(&config, "predictor")?);
        Ok(Predictor(guarded(resolve)?))
    }

    /// Returns the ages of blocks from their P/E cycles, erase times in µs, first errors and
    /// days of dwell.
    fn age(&self, cycles: &[u8], erase_us: &[u8], e0: &[u8], dwell_days: &[u8]) -> Vec<u8> {
        let of = numbers(cycles).zip(numbers(erase_us)).zip(numbers(e0).zip(numbers(dwell_days)));
        doubles(of.map(|((pe, erase), (e0, dwell))| self.0.age(pe, erase, e0, dwell)))
    }

    /// Returns the errors of blocks from their ages, the days since programming, and the page
    /// reads.
    fn errors(&self, age: &[u8], days: &[u8], reads: &[u8]) -> Vec<u8> {
        let of = numbers(age).zip(numbers(days)).zip(numbers(reads));
        doubles(of.map(|((age, days), reads)| self.0.errors(age, days, reads)))
    }

    /// Returns the retries for these numbers of errors.
    fn retries(&self, errors: &[u8]) -> Vec<u8> {
        doubles(numbers(errors).map(|errors| f64::from(self.0.retries(errors))))
    }
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
    bytes.chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().expect("eight")))
}

fn doubles(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    values.into_iter().flat_map(f64::to_le_bytes).collect()
}
