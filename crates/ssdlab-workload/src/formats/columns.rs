//! The columns of a line of text, and what is said when one of them is wrong.

use ssdlab_base::Fault;

use super::field::leading_digits;
pub(crate) use super::field::{Clock, Field, Wrong, is_digits};

/// What stands between columns.
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
    /// The separator as it is written between the names of columns.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Separator::Comma => b',',
            Separator::Semicolon => b';',
            Separator::Tab => b'\t',
            Separator::Space => b' ',
        }
    }
}

/// The columns of a line, taken one after the other.
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

    /// The columns from a place in the line on, so many of which have been taken.
    pub(crate) fn resume(
        line: &'a [u8],
        separator: Separator,
        names: &'static [&'static str],
        at: usize,
        taken: usize,
    ) -> Columns<'a> {
        Columns { line, names, separator, at, taken }
    }

    /// The text of one column, counted from 0; nothing if there are not so many.
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

    /// The next column.
    // A tenth of what a line costs: a column handed over in memory is waited for.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Result<Field<'a>, Box<Wrong>> {
        let rest = match self.line.get(self.at..) {
            Some(rest) if self.separator != Separator::Space || !rest.is_empty() => rest,
            _ => return Err(self.too_few()),
        };
        let start = self.at;
        // Most columns are numbers: they are read on the way to where they end.
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

    /// Whether all columns have been taken.
    pub(crate) fn is_empty(&self) -> bool {
        match self.separator {
            Separator::Space => self.at >= self.line.len(),
            _ => self.at > self.line.len(),
        }
    }

    /// Refuses columns beyond those taken.
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

    /// Refuses columns beyond those taken, where a line has fewer than others of its format.
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

/// The columns of a line as programs write them: a comma between two, and nothing else around them.
/// What is not so is nothing here, and for [`Columns`], which says what is wrong.
pub(crate) struct Plain<'a> {
    rest: &'a [u8],
}

impl<'a> Plain<'a> {
    pub(crate) fn new(line: &'a [u8]) -> Plain<'a> {
        Plain { rest: line }
    }

    /// The next column, a whole number, and not the last.
    #[inline(always)]
    pub(crate) fn whole(&mut self) -> Option<u64> {
        let (spelled, digits) = leading_digits(self.rest);
        self.rest = self.rest[digits..].strip_prefix(b",")?;
        spelled
    }

    /// The next column, a name, and not the last.
    #[inline(always)]
    pub(crate) fn name(&mut self) -> Option<&'a [u8]> {
        let end = self.rest.iter().position(|byte| !byte.is_ascii_graphic() || *byte == b',')?;
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest.strip_prefix(b",")?;
        (!name.is_empty()).then_some(name)
    }

    /// The last column, a whole number.
    #[inline(always)]
    pub(crate) fn last(self) -> Option<u64> {
        let (spelled, digits) = leading_digits(self.rest);
        spelled.filter(|_| digits == self.rest.len())
    }
}
