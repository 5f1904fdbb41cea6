//! What is wrong with a declared value, by its key.

use std::fmt;

use ssdlab_base::Fault;

/// A declared value that cannot be: its key, what was declared, and what would have been right.
///
/// The file and line belong to whoever read the file; it finds them by the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The key with the tables that hold it: `physics.levels.base.gaussian.sigma`.
    pub key: String,
    /// What was declared.
    pub got: String,
    /// What is right.
    pub expected: String,
}

impl Refusal {
    /// A value that cannot be.
    pub fn new(
        key: impl Into<String>,
        got: impl fmt::Display,
        expected: impl Into<String>,
    ) -> Refusal {
        Refusal { key: key.into(), got: got.to_string(), expected: expected.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: got {}, expected {}", self.key, self.got, self.expected)
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Fault {
        Fault::new("", refusal.key).got(refusal.got).expected(refusal.expected)
    }
}

/// A finite number above 0.
pub fn positive(key: &str, value: f64) -> Result<f64, Refusal> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(Refusal::new(key, value, "a number above 0"))
    }
}

/// A finite number of 0 or more.
pub(crate) fn at_least_zero(key: &str, value: f64) -> Result<f64, Refusal> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(Refusal::new(key, value, "a number from 0 up"))
    }
}

/// A finite number from `least` to `most`.
pub fn within(key: &str, value: f64, least: f64, most: f64) -> Result<f64, Refusal> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(Refusal::new(key, value, format!("a number from {least} to {most}")))
    }
}
