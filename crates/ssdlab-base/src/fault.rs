//! The one-line error message for an invalid input.

use std::fmt;

/// An invalid input: its place, the value found, and the values expected.
///
/// `Display` writes one line: `FILE:LINE:COL: WHAT: got GOT, expected EXPECTED (HINT)`. It leaves
/// out the parts that are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The file, or the argument (`--set gc.threshold=2`), that holds the fault.
    pub source: String,
    /// The line, counted from 1.
    pub line: Option<u64>,
    /// The column, counted from 1 in characters.
    pub column: Option<u64>,
    /// The key or field that is wrong, or a description of the fault.
    pub what: String,
    /// The value that was found.
    pub got: Option<String>,
    /// The values that are accepted.
    pub expected: Option<String>,
    /// How to correct the input, such as the nearest valid spelling.
    pub hint: Option<String>,
}

impl Fault {
    /// Returns a fault in `source`; `what` names the wrong key or describes the fault.
    pub fn new(source: impl Into<String>, what: impl Into<String>) -> Fault {
        Fault { source: source.into(), what: what.into(), ..Fault::default() }
    }

    /// Sets the line, counted from 1.
    pub fn line(mut self, line: u64) -> Fault {
        self.line = Some(line);
        self
    }

    /// Sets the column, counted from 1 in characters.
    pub fn column(mut self, column: u64) -> Fault {
        self.column = Some(column);
        self
    }

    /// Sets the value that was found, cut to a printable length.
    pub fn got(mut self, got: impl fmt::Display) -> Fault {
        self.got = Some(shorten(&got.to_string()));
        self
    }

    /// Sets the values that are accepted.
    pub fn expected(mut self, expected: impl fmt::Display) -> Fault {
        self.expected = Some(clean(&expected.to_string()));
        self
    }

    /// Sets the hint on how to correct the input.
    pub fn hint(mut self, hint: impl fmt::Display) -> Fault {
        self.hint = Some(clean(&hint.to_string()));
        self
    }

    /// Adds the hint "did you mean …?" if a candidate is spelled almost like `typed`.
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

/// Returns the candidate nearest in spelling to `typed`, or `None` if all differ too much. Case
/// makes no difference, and `typed` may lack the family of a name (`family/name`). A name that
/// begins with `typed` counts as near as one with a wrong letter, a name that contains it as one
/// with two.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let length = typed.chars().count();
    // Names that differ in every letter have nothing in common.
    let far = length.max(SHORTEST_PART + 1).div_ceil(3).min(length.saturating_sub(1));
    let distance = |name: &str| {
        let name = name.to_lowercase();
        let own = name.rsplit('/').next().unwrap_or(&name);
        let spelled = [&name, own].map(|name| {
            let most = match name.find(&typed).filter(|_| length >= SHORTEST_PART) {
                Some(0) => 1,
                Some(_) => 2,
                None => usize::MAX,
            };
            strsim::damerau_levenshtein(&typed, name).min(most)
        });
        spelled[0].min(spelled[1])
    };
    let near = candidates.into_iter().map(|name| (distance(name), name));
    let near = near.filter(|(distance, name)| *distance <= far && *distance < name.chars().count());
    near.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// The fewest characters of a typed text that may be a part of the right name.
const SHORTEST_PART: usize = 3;

/// Returns the text of a system error without the error number that Rust appends. The number adds
/// nothing to the words.
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

/// Returns `found` on one line, cut to at most 80 characters.
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
/// Returns the text of `what` if the invariant does not hold.
pub fn ensure(is_true: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if is_true { Ok(()) } else { Err(what()) }
}

/// Returns a text on one line: replaces control characters, which may come from a file.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_a_typo_away_or_has_the_typed_part() {
        let names = ["generic-mlc-512g", "dlv-mlc-128g", "readguard-tlc-2t", "readguard-tlc-1t"];
        for (typed, meant) in [
            ("dlv-mlc-128", Some("dlv-mlc-128g")),
            ("dlv", Some("dlv-mlc-128g")),
            ("DLV-MLC-128G", Some("dlv-mlc-128g")),
            ("readguard", Some("readguard-tlc-2t")),
            ("mlc", Some("generic-mlc-512g")),
            ("readguard-tlc-1", Some("readguard-tlc-1t")),
            ("dl", None),
            ("nvme", None),
        ] {
            assert_eq!(nearest(typed, names), meant, "{typed}");
        }
        assert_eq!(nearest("rgf", ["dlv/roo", "readguard/rgftl"]), Some("readguard/rgftl"));
        assert_eq!(nearest("rgftll", ["dlv/dlv", "readguard/rgftl"]), Some("readguard/rgftl"));
        assert_eq!(nearest("on", ["none", "esra"]), None);
        assert_eq!(nearest("lba", ["a", "op"]), None, "one letter of three");
        assert_eq!(nearest("settle", ["stage", "seed"]), None, "half of the letters differ");
        assert_eq!(nearest("fif0", ["fifo_of_all", "fifo"]), Some("fifo"));
    }

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
