//! The columns of a line of text, and the faults about them.

use ssdlab_base::Fault;

use super::field::leading_digits;
pub(crate) use super::field::{Clock, Field, Wrong, is_digits};

/// The separator between columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// One comma; spaces around a column are dropped.
    Comma,
    /// One semicolon; spaces around a column are dropped.
    Semicolon,
    /// One tab; spaces around a column are dropped.
    Tab,
    /// Any number of spaces and tabs.
    Space,
}

impl Separator {
    /// Returns the separator as it is written between column names.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Separator::Comma => b',',
            Separator::Semicolon => b';',
            Separator::Tab => b'\t',
            Separator::Space => b' ',
        }
    }
}

/// The columns of a line, read from left to right.
pub(crate) struct Columns<'a> {
    line: &'a [u8],
    names: &'static [&'static str],
    separator: Separator,
    /// Where the next column begins; beyond the line when none is left.
    at: usize,
    taken: usize,
}

impl<'a> Columns<'a> {
    pub(crate) fn new(
        line: &'a [u8],
        separator: Separator,
        names: &'static [&'static str],
    ) -> Columns<'a> {
        let mut columns = Columns { line, names, separator, at: 0, taken: 0 };
        if separator == Separator::Space {
            columns.skip_spaces();
        }
        columns
    }

    /// Resumes at byte `at` of a line, after `taken` columns.
    pub(crate) fn resume(
        line: &'a [u8],
        separator: Separator,
        names: &'static [&'static str],
        at: usize,
        taken: usize,
    ) -> Columns<'a> {
        Columns { line, names, separator, at, taken }
    }

    /// Returns the text of column `index`, counted from 0, or nothing if there are fewer columns.
    pub(crate) fn nth(line: &'a [u8], separator: Separator, index: usize) -> &'a [u8] {
        let mut columns = Columns::new(line, separator, &[]);
        for _ in 0..index {
            if columns.is_empty() || columns.next().is_err() {
                return b"";
            }
        }
        if columns.is_empty() { b"" } else { columns.next().map_or(b"", |field| field.text) }
    }

    fn skip_spaces(&mut self) {
        while matches!(self.line.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Returns the next column.
    // This saves a tenth of the time per line: without inlining, the column passes through memory.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Result<Field<'a>, Box<Wrong>> {
        let rest = match self.line.get(self.at..) {
            Some(rest) if self.separator != Separator::Space || !rest.is_empty() => rest,
            _ => return Err(self.too_few()),
        };
        let start = self.at;
        // Most columns are numbers, so parse the digits while searching for the end of the column.
        let (spelled, digits) = leading_digits(rest);
        let others = &rest[digits..];
        let more = match self.separator {
            Separator::Space => others.iter().position(|byte| matches!(byte, b' ' | b'\t')),
            Separator::Comma => others.iter().position(|byte| *byte == b','),
            one => others.iter().position(|byte| *byte == one.byte()),
        }
        .unwrap_or(others.len());
        let text = &rest[..digits + more];
        self.at = start + text.len();
        let index = self.taken;
        let name = self.names.get(index).copied().unwrap_or("column");
        self.taken += 1;
        match self.separator {
            Separator::Space => self.skip_spaces(),
            _ => self.at += 1,
        }
        if more == 0 || self.separator == Separator::Space {
            let spelled = spelled.filter(|_| more == 0);
            return Ok(Field::new(text, name).at(start, index).spelling(spelled));
        }
        if let [first, .., last] = text
            && first.is_ascii_graphic()
            && last.is_ascii_graphic()
        {
            return Ok(Field::new(text, name).at(start, index));
        }
        let left = text.len() - text.trim_ascii_start().len();
        Ok(Field::new(text.trim_ascii(), name).at(start + left, index))
    }

    /// Returns whether no column is left.
    pub(crate) fn is_empty(&self) -> bool {
        match self.separator {
            Separator::Space => self.at >= self.line.len(),
            _ => self.at > self.line.len(),
        }
    }

    /// Refuses any further column.
    pub(crate) fn end(mut self) -> Result<(), Box<Wrong>> {
        if self.is_empty() {
            return Ok(());
        }
        let offset = self.at.min(self.line.len());
        while !self.is_empty() {
            self.next()?;
        }
        Err(self.wrong_count(offset))
    }

    /// Refuses further columns on a line that has fewer columns than other lines of its format.
    pub(crate) fn end_early(self) -> Result<(), Box<Wrong>> {
        if self.is_empty() {
            Ok(())
        } else {
            let fault = Fault::new("", "columns").got("more than expected");
            Err(Wrong::new(self.at, self.taken, fault.expected(self.taken)))
        }
    }

    fn too_few(&self) -> Box<Wrong> {
        self.wrong_count(self.line.len())
    }

    fn wrong_count(&self, offset: usize) -> Box<Wrong> {
        let between = char::from(self.separator.byte()).to_string();
        let expected = format!("{} ({})", self.names.len(), self.names.join(&between));
        let before = self.taken.min(self.names.len());
        Wrong::new(offset, before, Fault::new("", "columns").got(self.taken).expected(expected))
    }
}

/// The columns of a line in the form that programs write: one comma between columns, and no spaces.
/// Other forms return `None`; [`Columns`] reads them and reports their faults.
pub(crate) struct Plain<'a> {
    rest: &'a [u8],
}

impl<'a> Plain<'a> {
    pub(crate) fn new(line: &'a [u8]) -> Plain<'a> {
        Plain { rest: line }
    }

    /// Returns the next column if it is a whole number and not the last column.
    #[inline(always)]
    pub(crate) fn whole(&mut self) -> Option<u64> {
        let (spelled, digits) = leading_digits(self.rest);
        self.rest = self.rest[digits..].strip_prefix(b",")?;
        spelled
    }

    /// Returns the next column if it is a name and not the last column.
    #[inline(always)]
    pub(crate) fn name(&mut self) -> Option<&'a [u8]> {
        let end = self.rest.iter().position(|byte| !byte.is_ascii_graphic() || *byte == b',')?;
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest.strip_prefix(b",")?;
        (!name.is_empty()).then_some(name)
    }

    /// Returns the last column if it is a whole number.
    #[inline(always)]
    pub(crate) fn last(self) -> Option<u64> {
        let (spelled, digits) = leading_digits(self.rest);
        spelled.filter(|_| digits == self.rest.len())
    }
}
