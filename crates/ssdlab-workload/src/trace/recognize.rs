//! Recognizes the format of a trace from its first lines.

use std::cmp::Reverse;

use ssdlab_base::{Fault, Nanos};

use super::choice::{Choice, clock};
use super::trial::{Trial, first_lines};
use crate::formats::Format;
use crate::formats::columns::Clock;
use crate::formats::mapping::KEY;

/// How the format of a trace is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// The user named it.
    Named,
    /// Its first lines fit the format.
    Content,
}

/// The recognized format of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recognition {
    /// The format in which the trace is read.
    pub format: Format,
    /// How the format is known.
    pub by: By,
    /// Other formats that the first lines fit equally well.
    pub ambiguous_with: Vec<Format>,
    /// Remarks for the user on how the first lines are understood.
    pub remarks: Vec<String>,
}

impl Recognition {
    /// Returns a recognition without alternatives.
    pub(crate) fn certain(format: Format) -> Recognition {
        Recognition { format, by: By::Content, ambiguous_with: Vec::new(), remarks: Vec::new() }
    }

    /// Returns a remark for the user, if the content fits several formats.
    pub fn remark(&self) -> Option<String> {
        let others: Vec<&str> = self.ambiguous_with.iter().map(|format| format.name()).collect();
        (!others.is_empty()).then(|| {
            let (taken, others) = (self.format, others.join(" or "));
            format!("read as {taken}, though it could be {others} (FILE:format says which)")
        })
    }
}

/// Returns the format of a file: the named one, or the one that parses most of the first lines. If
/// several are equal, the one listed first wins.
///
/// `start` is the beginning of the plain bytes; `whole` tells whether it is the whole file.
pub(crate) fn recognize(
    name: &str,
    named: Option<Format>,
    start: &[u8],
    whole: bool,
    choice: &Choice<'_>,
) -> Result<Recognition, Fault> {
    let known = named.or_else(|| by_signature(start)).or(choice.mapping.map(|_| Format::Csv));
    let by = if named.is_some() { By::Named } else { By::Content };
    let mut found = match known {
        Some(format) => Recognition { by, ..Recognition::certain(format) },
        None => by_content(name, start, whole, choice)?,
    };
    check_mapping(name, found.format, choice)?;
    let trial = Trial::of(found.format, start, whole, choice);
    found.remarks.extend(trial.remark.map(str::to_owned));
    found.remarks.extend(unit_remark(&trial, clock(found.format, choice.options)));
    Ok(found)
}

/// Returns the format whose signature the file begins with.
fn by_signature(start: &[u8]) -> Option<Format> {
    let start = super::lines::trim(start, 1);
    let begins = |format: &&Format| format.about().signature.is_some_and(|s| start.starts_with(s));
    Format::ALL.iter().find(begins).copied()
}

fn by_content(
    name: &str,
    start: &[u8],
    whole: bool,
    choice: &Choice<'_>,
) -> Result<Recognition, Fault> {
    let lines = first_lines(start, whole);
    if lines.is_empty() && whole {
        return Err(no_request(name, "blank lines and comments only"));
    }
    let trial = |format: &Format| Trial::of(*format, start, whole, choice);
    let mut ranked: Vec<Trial<'_>> = Format::ALL.iter().map(trial).collect();
    // The sort is stable: formats of equal score keep the order of the list.
    ranked.sort_by_key(|trial| Reverse(trial.score()));
    let best = &ranked[0];
    if !best.fits() {
        if whole && ranked.iter().any(Trial::is_header_alone) {
            return Err(no_request(name, "a header, blank lines or comments only"));
        }
        return Err(unknown(name, &lines, ranked));
    }
    let others = ranked[1..].iter().filter(|other| best.could_be(other));
    let mut ambiguous_with: Vec<Format> = others.map(|trial| trial.format).collect();
    ambiguous_with.sort_unstable();
    Ok(Recognition { ambiguous_with, ..Recognition::certain(best.format) })
}

/// Refuses a column mapping for a format with fixed columns, and `csv` without a mapping.
fn check_mapping(name: &str, format: Format, choice: &Choice<'_>) -> Result<(), Fault> {
    match (format, &choice.options.columns) {
        (Format::Csv, None) => {
            let fault = Fault::new(name, format!("read as csv without {KEY}"));
            let hint = "for example time:0:us,op:2,offset:3,size:4";
            Err(fault.expected("a column mapping").hint(hint))
        }
        (Format::Csv | Format::Parquet, _) | (_, None) => Ok(()),
        (_, Some(columns)) => {
            let expected = format!("none beside a trace read as {format}");
            Err(Fault::new("", KEY)
                .got(columns)
                .expected(expected)
                .hint("read the trace as FILE:csv to use it"))
        }
    }
}

/// The highest plausible rate, in requests per second; the lowest is one request per day.
const FASTEST: f64 = 5e7;
const SLOWEST: f64 = 1.0 / 86_400.0;
/// The least number of requests for an estimate of the rate.
const ENOUGH: usize = 8;

/// Returns a question about the time unit, if the first requests come too fast or too slowly.
fn unit_remark(trial: &Trial<'_>, clock: Clock) -> Option<String> {
    let span = trial.latest.checked_sub(trial.earliest).filter(|span| *span > 0)?;
    let rate = (trial.requests - 1) as f64 / (span as f64 / 1e9);
    let fine = (SLOWEST..FASTEST).contains(&rate) || trial.requests < ENOUGH;
    (!fine).then(|| {
        format!(
            "mean arrival {rate:.0e}/s over the first {} requests: is the time unit {}? \
             (workload.trace.tick says another)",
            trial.requests,
            Nanos::from_ns(clock.tick)
        )
    })
}

/// Returns the fault of a file without any request.
pub(crate) fn no_request(name: &str, got: &str) -> Fault {
    Fault::new(name, "holds no request").got(got).expected("at least one")
}

/// Returns the fault of a file that fits no format: the nearest format, and where the file differs.
fn unknown(name: &str, lines: &[(u64, &[u8])], mut ranked: Vec<Trial<'_>>) -> Fault {
    const HINT: &str = "FILE:format names it; workload.trace.columns maps other tables";
    ranked.sort_by_key(|trial| Reverse(trial.nearness()));
    if ranked[0].nearness() >= Trial::NEAR
        && let Trial { format, first_wrong: Some((number, line, wrong)), .. } =
            ranked.swap_remove(0)
    {
        let fault = wrong.in_file(name, number, line);
        let what = format!("trace format not recognized, nearly {format}: {}", fault.what);
        return Fault { what, hint: fault.hint.or(Some(HINT.into())), ..fault };
    }
    let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
    let fault = Fault::new(name, "trace format not recognized");
    let fault = match lines.first() {
        Some((number, line)) => fault.line(*number).got(String::from_utf8_lossy(line)),
        None => fault.got("no line in the first bytes"),
    };
    fault.expected(format!("one of {}", names.join(", "))).hint(HINT)
}
