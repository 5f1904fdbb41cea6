//! The one line that a user sees when an input is wrong.

use std::fmt;

/// What is wrong with an input: where, what was found, what was expected.
///
/// Its `Display` is one line: `FILE:LINE:COL: WHAT: got GOT, expected EXPECTED (HINT)`, with the
/// parts that are not known left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The file, or the argument (`--set gc.threshold=2`), that holds the fault.
    pub source: String,
    /// The line, counted from 1.
    pub line: Option<u64>,
    /// The column, counted from 1 in characters.
    pub column: Option<u64>,
    /// What is wrong, or the name of the key or field that is wrong.
    pub what: String,
    /// What was found.
    pub got: Option<String>,
    /// What was expected.
    pub expected: Option<String>,
    /// What would mend it, such as the nearest valid spelling.
    pub hint: Option<String>,
}

impl Fault {
    /// A fault in `source`, of which `what` says the nature.
    pub fn new(source: impl Into<String>, what: impl Into<String>) -> Fault {
        Fault { source: source.into(), what: what.into(), ..Fault::default() }
    }

    /// At this line, counted from 1.
    pub fn line(mut self, line: u64) -> Fault {
        self.line = Some(line);
        self
    }

    /// At this column, counted from 1.
    pub fn column(mut self, column: u64) -> Fault {
        self.column = Some(column);
        self
    }

    /// What was found.
    pub fn got(mut self, got: impl fmt::Display) -> Fault {
        self.got = Some(shorten(&got.to_string()));
        self
    }

    /// What was expected.
    pub fn expected(mut self, expected: impl fmt::Display) -> Fault {
        self.expected = Some(clean(&expected.to_string()));
        self
    }

    /// What would mend it.
    pub fn hint(mut self, hint: impl fmt::Display) -> Fault {
        self.hint = Some(clean(&hint.to_string()));
        self
    }

    /// The hint "did you mean …?" if a candidate is near what was typed.
    pub fn suggest<'a>(self, typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Fault {
        match nearest(typed, candidates) {
            Some(near) => self.hint(format!("did you mean {near:?}?")),
            None => self,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.source.is_empty() {
            write!(f, "{}:", self.source)?;
            if let Some(line) = self.line {
                write!(f, "{line}:")?;
                if let Some(column) = self.column {
                    write!(f, "{column}:")?;
                }
            }
            write!(f, " ")?;
        }
        write!(f, "{}", self.what)?;
        match (&self.got, &self.expected) {
            (Some(got), Some(expected)) => write!(f, ": got {got}, expected {expected}")?,
            (Some(got), None) => write!(f, ": got {got}")?,
            (None, Some(expected)) => write!(f, ": expected {expected}")?,
            (None, None) => {}
        }
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

/// The candidate nearest in spelling to `typed`, if one is near enough to be meant.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let far = typed.chars().count().max(3) / 3 + 1;
    candidates
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(typed, name), name))
        .filter(|(distance, _)| *distance <= far)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Returns what an error of the system says, without the number that Rust adds: it says nothing
/// that the words do not.
pub fn reason(error: impl fmt::Display) -> String {
    const NUMBER: &str = " (os error ";
    let text = error.to_string();
    let mut parts = text.split(NUMBER);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.parse::<i32>().is_ok() => plain += rest,
            _ => plain.extend([NUMBER, part]),
        }
    }
    plain
}

/// What was found, on one line and of a length fit to print.
fn shorten(found: &str) -> String {
    const LONGEST: usize = 80;
    let clean = clean(found);
    if clean.chars().count() > LONGEST {
        clean.chars().take(LONGEST).chain("…".chars()).collect()
    } else {
        clean
    }
}

/// Checks an invariant.
///
/// # Errors
/// What is wrong, if the invariant is broken.
#[inline]
pub fn ensure(is_true: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if is_true { Ok(()) } else { Err(what()) }
}

/// A text on one line: no control characters, which may come from a file.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_no_number_of_the_system() {
        let system = std::io::Error::from_raw_os_error(5);
        assert_eq!(reason(&system), "Input/output error");
        assert_eq!(reason(format!("page 3: {system}; page 4: {system}.")), {
            "page 3: Input/output error; page 4: Input/output error."
        });
        for other in ["", "a (os error b) c", "a (os error 5"] {
            assert_eq!(reason(other), other);
        }
    }
}
