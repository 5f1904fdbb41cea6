//! Splits a line into columns by position, for formats where a header or the user names the
//! columns.

use ssdlab_base::Fault;

use super::columns::{Field, Separator, Wrong};

/// The bounds of the columns of the last line. Quotes around a column are not part of it;
/// separators between quotes are.
pub(crate) struct Cells {
    pub(crate) separator: Separator,
    places: Vec<(usize, usize)>,
}

impl Cells {
    pub(crate) fn new(separator: Separator) -> Cells {
        Cells { separator, places: Vec::new() }
    }

    /// Returns the separator of a line: semicolon, tab or comma if it contains one, else spaces.
    pub(crate) fn separator_of(line: &[u8]) -> Separator {
        let several = [Separator::Semicolon, Separator::Tab, Separator::Comma];
        let found = several.into_iter().find(|separator| line.contains(&separator.byte()));
        found.unwrap_or(Separator::Space)
    }

    /// Finds the columns of a line.
    pub(crate) fn split(&mut self, line: &[u8]) {
        self.places.clear();
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
        let mut at = 0;
        loop {
            if self.separator == Separator::Space {
                at += line[at..].iter().take_while(|byte| is_space(byte)).count();
                if at == line.len() {
                    return;
                }
            }
            let quoted = line[at..].first() == Some(&b'"');
            let close = if quoted {
                memchr::memchr(b'"', &line[at + 1..]).map_or(0, |length| length + 1)
            } else {
                0
            };
            let rest = &line[at + close..];
            let length = match self.separator {
                Separator::Space => rest.iter().position(is_space),
                one => memchr::memchr(one.byte(), rest),
            };
            let end = length.map_or(line.len(), |length| at + close + length);
            self.places.push(trimmed(line, at, end));
            at = end + 1;
            if length.is_none() {
                return;
            }
        }
    }

    /// Returns the column at `index`, counted from 0; messages call it `name`.
    pub(crate) fn get<'a>(
        &self,
        line: &'a [u8],
        index: usize,
        name: &'static str,
    ) -> Result<Field<'a>, Box<Wrong>> {
        match self.places.get(index) {
            Some((start, end)) => Ok(Field::new(&line[*start..*end], name).at(*start, index)),
            None => {
                let fault = Fault::new("", "columns").got(self.places.len());
                let expected = format!("at least {}, for {name}", index + 1);
                Err(Wrong::new(line.len(), self.places.len(), fault.expected(expected)))
            }
        }
    }

    /// Returns the columns as text, without those that are no UTF-8.
    pub(crate) fn texts<'a>(&self, line: &'a [u8]) -> impl Iterator<Item = &'a str> {
        self.places.iter().filter_map(|&(start, end)| std::str::from_utf8(&line[start..end]).ok())
    }

    /// Returns the index of the column with one of these names, in upper or lower case. The search
    /// ignores text in parentheses after a name.
    pub(crate) fn find(&self, line: &[u8], names: &[&str]) -> Option<usize> {
        let bare = |(start, end): &(usize, usize)| {
            let text = &line[*start..*end];
            let length = memchr::memchr(b'(', text).unwrap_or(text.len());
            (text.trim_ascii(), text[..length].trim_ascii())
        };
        self.places.iter().map(bare).position(|(whole, bare)| {
            let is = |name: &&str| {
                whole.eq_ignore_ascii_case(name.as_bytes())
                    || bare.eq_ignore_ascii_case(name.as_bytes())
            };
            names.iter().any(is)
        })
    }
}

/// Returns a range without surrounding spaces and quotes.
fn trimmed(line: &[u8], start: usize, end: usize) -> (usize, usize) {
    let text = &line[start..end];
    let left = text.len() - text.trim_ascii_start().len();
    let text = text.trim_ascii();
    let (start, end) = (start + left, start + left + text.len());
    match text {
        [b'"', .., b'"'] => (start + 1, end - 1),
        _ => (start, end),
    }
}
