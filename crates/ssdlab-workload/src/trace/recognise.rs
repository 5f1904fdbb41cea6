//! Tells a trace's format from its first lines.

use std::cmp::Reverse;

use ssdlab_base::Fault;

use super::lines::{is_idle, trim};
use crate::formats::columns::Clock;
use crate::formats::{Format, Reader};
use crate::trace::options::TraceOptions;

/// Lines that each format is tried on.
const LINES_TRIED: usize = 64;

/// How a trace's format is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// The user named it.
    Named,
    /// Its first lines can be read so.
    Content,
}

/// What a trace was recognised as.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recognition {
    /// The format that it is read in.
    pub format: Format,
    /// How that is known.
    pub by: By,
    /// The formats that its first lines fit just as well.
    pub ambiguous_with: Vec<Format>,
}

impl Recognition {
    /// What the user should be told, if the content left a choice.
    pub fn remark(&self) -> Option<String> {
        let others: Vec<&str> = self.ambiguous_with.iter().map(|format| format.name()).collect();
        (!others.is_empty()).then(|| {
            let (taken, others) = (self.format, others.join(" or "));
            format!("read as {taken}, though it could be {others} (FILE:format says which)")
        })
    }
}

/// A reader of `format` under these options.
pub(crate) fn reader(format: Format, options: &TraceOptions) -> Box<dyn Reader> {
    let about = format.about();
    (about.reader)(Clock::new(about.tick, about.fractions, options.tick))
}

/// The format whose reader reads most of the first lines; of several, the one listed first.
///
/// `start` is the beginning of the plain bytes; `whole` says that it is also all of them.
pub(crate) fn recognise(
    name: &str,
    start: &[u8],
    whole: bool,
    options: &TraceOptions,
) -> Result<Recognition, Fault> {
    let lines = first_lines(start, whole);
    if lines.is_empty() && whole {
        return Err(no_request(name, "blank lines and comments only"));
    }
    let read = |format: Format| lines_read(&mut *reader(format, options), &lines);
    let scores: Vec<(usize, Format)> = Format::ALL.iter().map(|f| (read(*f), *f)).collect();
    // A stable sort: formats of equal score stay in the order of the list.
    let mut ranked = scores;
    ranked.sort_by_key(|(score, _)| Reverse(*score));
    let best = ranked[0];
    if best.0 == 0 {
        return Err(unknown(name, &lines));
    }
    let equals = ranked[1..].iter().take_while(|(score, _)| *score == best.0);
    let ambiguous_with = equals.map(|(_, format)| *format).collect();
    Ok(Recognition { format: best.1, by: By::Content, ambiguous_with })
}

/// The first complete lines that are not idle, with their numbers.
fn first_lines(start: &[u8], whole: bool) -> Vec<(u64, &[u8])> {
    let mut pieces = start.split(|byte| *byte == b'\n').peekable();
    let mut lines = Vec::new();
    let mut number = 0;
    while let Some(piece) = pieces.next() {
        number += 1;
        // What follows the last line end is a line only if nothing more can come.
        let cut_off = pieces.peek().is_none() && (!whole || piece.is_empty());
        let line = trim(piece, number);
        if lines.len() == LINES_TRIED || cut_off {
            break;
        }
        if !is_idle(line) {
            lines.push((number, line));
        }
    }
    lines
}

/// How many of the first lines a reader reads before the first that it cannot; 0 if none of them
/// holds a request.
fn lines_read(reader: &mut dyn Reader, lines: &[(u64, &[u8])]) -> usize {
    let mut requests = 0;
    let read = lines.iter().take_while(|(_, line)| match reader.read(line) {
        Ok(entry) => {
            requests += usize::from(entry.is_some());
            true
        }
        Err(_) => false,
    });
    let read = read.count();
    if requests == 0 { 0 } else { read }
}

/// The fault of a file without a single request.
pub(crate) fn no_request(name: &str, got: &str) -> Fault {
    Fault::new(name, "holds no request").got(got).expected("at least one")
}

fn unknown(name: &str, lines: &[(u64, &[u8])]) -> Fault {
    let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
    let fault = Fault::new(name, "trace format not recognised");
    let fault = match lines.first() {
        Some((number, line)) => fault.line(*number).got(String::from_utf8_lossy(line)),
        None => fault.got("no line in the first bytes"),
    };
    fault.expected(format!("one of {}", names.join(", "))).hint("FILE:format names it")
}
