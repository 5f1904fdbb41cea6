//! Refusals of invalid values, by their keys.

use std::fmt;

use ssdlab_base::Fault;

/// An invalid value: its key, the value, and the values that are accepted.
///
/// The caller that read the file knows the file and the line, and finds them by the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Key with the tables that hold it: `physics.levels.base.gaussian.sigma`.
    pub key: String,
    /// The declared value.
    pub got: String,
    /// The accepted values.
    pub expected: String,
}

impl Refusal {
    /// Returns the refusal of a value.
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

/// Returns `value` if it is a finite number above 0, and refuses it otherwise.
pub fn positive(key: &str, value: f64) -> Result<f64, Refusal> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(Refusal::new(key, value, "a number above 0"))
    }
}

/// Returns `value` if it is a finite number of 0 or more, and refuses it otherwise.
pub(crate) fn at_least_zero(key: &str, value: f64) -> Result<f64, Refusal> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(Refusal::new(key, value, "a number from 0 up"))
    }
}

/// Returns `value` if it is a number from `least` to `most`, and refuses it otherwise.
pub fn within(key: &str, value: f64, least: f64, most: f64) -> Result<f64, Refusal> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(Refusal::new(key, value, format!("a number from {least} to {most}")))
    }
}

/// A config key; its value, if the config sets it; whether it has no effect; and when that is so.
pub type IdleKey = (&'static str, Option<String>, bool, &'static str);
