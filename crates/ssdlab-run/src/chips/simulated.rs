//! Drives whose blocks come from a file of measurements.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ssdlab_base::{Fault, reason};
use ssdlab_config::{Effective, Layers};
use ssdlab_core::config::measured::{Row, Table, Wrong};
use ssdlab_core::config::{PhysicsConfig, acceleration};

use super::{Samples, at};
use crate::catalog::RunConfig;
use crate::files::no_file;

/// The key that names the file.
const KEY: &str = "physics.measured.file";
/// The temperature in degrees Celsius at which ages are compared. Source: ReadGuard, section 4.2.
const BASE_CELSIUS: f64 = 30.0;

/// The measurements of the file that a config names.
pub(crate) struct Read {
    table: Arc<Table>,
    /// The file's SHA-256 in hexadecimal.
    pub(crate) sha256: String,
}

/// Reads the file that a config names, if it names one. A relative path starts at the folder of the
/// config file among `files` that names it. Without such a file, it starts at the working
/// directory.
///
/// # Errors
/// A file that cannot be read, has another hash than the config declares, or holds no table of
/// measurements.
pub(crate) fn read(
    config: &RunConfig,
    effective: &Effective,
    files: &[PathBuf],
) -> Result<Option<Read>, Fault> {
    let PhysicsConfig::Measured(measured) = &config.physics else { return Ok(None) };
    let path = beside(&measured.file, &effective.fault_at(KEY).source, files);
    if let Some(found) = other_than_file(&path) {
        let expected = "a file with measurements of chips, in CSV";
        return Err(effective.fault_at(KEY).expected(format!("{expected}; {found}")));
    }
    let (samples, sha256) = super::read(&path)?;
    if measured.sha256.as_ref().is_some_and(|declared| *declared != sha256) {
        let fault = effective.fault_at("physics.measured.sha256");
        return Err(fault.expected(format!("{sha256}, that of {}", path.display())));
    }
    let table = Table::new(&rows(&samples, measured.temperature.activation_ev));
    let table = table.map_err(|wrong| misread(&path, &samples, wrong))?;
    Ok(Some(Read { table: Arc::new(table), sha256 }))
}

/// Describes the target of a path if it is not a regular file; `None` if it is one.
fn other_than_file(path: &Path) -> Option<String> {
    let shown = path.display();
    match path.metadata() {
        Ok(about) => no_file(&about).map(|what| format!("{shown} {what}")),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Some(format!("there is none at {shown}"))
        }
        Err(error) => Some(format!("{shown} cannot be read: {}", reason(error))),
    }
}

/// Returns the file that these layers name. The rest of the layers may be invalid.
pub(crate) fn file_named_in(layers: &Layers, files: &[PathBuf]) -> Option<PathBuf> {
    let (file, fault) = layers.peek(KEY).ok()??;
    Some(beside(&file, &fault.source, files))
}

/// Resolves `file` against the folder of the config file in `files` that names it.
fn beside(file: &str, source: &str, files: &[PathBuf]) -> PathBuf {
    let namer = files.iter().find(|file| file.display().to_string() == source);
    namer.and_then(|file| file.parent()).unwrap_or(Path::new("")).join(file)
}

impl Read {
    /// Stores the table in a config.
    pub(crate) fn into_config(self, config: &mut RunConfig) {
        if let PhysicsConfig::Measured(measured) = &mut config.physics {
            measured.table = Some(self.table);
        }
    }
}

/// Returns the measurements as rows, with their ages converted to 30 °C.
pub(crate) fn rows(samples: &Samples, activation_ev: f64) -> Vec<Row> {
    let of = |column: usize, row: usize| samples.numbers[column][row];
    let days = |row| {
        let faster = acceleration(of(at::CELSIUS, row), BASE_CELSIUS, activation_ev);
        of(at::HOURS, row) * faster / 24.0
    };
    let row = |row| Row {
        block: samples.block[row],
        cycles: of(at::CYCLES, row),
        days: days(row),
        reads: of(at::READS, row),
        erase_us: of(at::ERASE, row),
        e0: of(at::E0, row),
        errors: of(at::ERRORS, row),
        retries: of(at::RETRIES, row) as u8,
    };
    (0..samples.rows()).map(row).collect()
}

/// Returns the fault for measurements that are not a valid table, with the line in the file.
fn misread(path: &Path, samples: &Samples, wrong: Wrong) -> Fault {
    let fault = Fault::new(path.display().to_string(), "is no table for physics.measured");
    let fault = fault.got(wrong.got).expected(wrong.expected);
    match wrong.row.and_then(|row| samples.lines.get(row)) {
        Some(&line) => fault.line(line),
        None => fault,
    }
}
