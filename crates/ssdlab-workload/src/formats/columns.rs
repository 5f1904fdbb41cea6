//! The columns of a line of text, and what is said when one of them is wrong.

use atoi::FromRadix10Checked;
use ssdlab_base::{Fault, Nanos};

use crate::record::Op;

/// What is wrong in a line; the trace adds the file and the number of the line.
#[derive(Debug)]
pub(crate) struct Wrong {
    /// Where in the line, in bytes from its start.
    offset: usize,
    fault: Fault,
}

impl Wrong {
    pub(crate) fn new(offset: usize, fault: Fault) -> Box<Wrong> {
        Box::new(Wrong { offset, fault })
    }

    /// The fault as the user sees it.
    pub(crate) fn in_file(self, name: &str, number: u64, line: &[u8]) -> Fault {
        let before = &line[..self.offset.min(line.len())];
        let column = String::from_utf8_lossy(before).chars().count() as u64 + 1;
        Fault { source: name.into(), ..self.fault.line(number).column(column) }
    }
}

/// What stands between columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// One comma; spaces around a column are dropped.
    Comma,
    /// Any number of spaces and tabs.
    Space,
}

/// One column of a line.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) text: &'a [u8],
    name: &'static str,
    offset: usize,
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

    fn skip_spaces(&mut self) {
        while matches!(self.line.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// The next column.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Field<'a>, Box<Wrong>> {
        let rest = match self.line.get(self.at..) {
            Some(rest) if self.separator == Separator::Comma || !rest.is_empty() => rest,
            _ => return Err(self.too_few()),
        };
        let start = self.at;
        let length = match self.separator {
            Separator::Comma => rest.iter().position(|byte| *byte == b','),
            Separator::Space => rest.iter().position(|byte| matches!(byte, b' ' | b'\t')),
        }
        .unwrap_or(rest.len());
        let text = &rest[..length];
        self.at = start + length;
        let name = self.names.get(self.taken).copied().unwrap_or("column");
        self.taken += 1;
        if self.separator == Separator::Space {
            self.skip_spaces();
            return Ok(Field { text, name, offset: start });
        }
        self.at += 1;
        let left = text.len() - text.trim_ascii_start().len();
        Ok(Field { text: text.trim_ascii(), name, offset: start + left })
    }

    /// Whether all columns have been taken.
    pub(crate) fn is_empty(&self) -> bool {
        match self.separator {
            Separator::Comma => self.at > self.line.len(),
            Separator::Space => self.at >= self.line.len(),
        }
    }

    /// Refuses columns beyond those taken.
    #[inline]
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

    fn too_few(&self) -> Box<Wrong> {
        self.wrong_count(self.line.len())
    }

    fn wrong_count(&self, offset: usize) -> Box<Wrong> {
        let between = if self.separator == Separator::Comma { "," } else { " " };
        let expected = format!("{} ({})", self.names.len(), self.names.join(between));
        Wrong::new(offset, Fault::new("", "columns").got(self.taken).expected(expected))
    }
}

impl Field<'_> {
    /// A fault about this column.
    pub(crate) fn wrong(&self, expected: impl std::fmt::Display) -> Box<Wrong> {
        let got = match self.text {
            [] => "nothing".into(),
            text => String::from_utf8_lossy(text),
        };
        Wrong::new(self.offset, Fault::new("", self.name).got(got).expected(expected))
    }

    /// The same fault with a hint at what would mend it.
    pub(crate) fn wrong_hint(&self, expected: &str, hint: &str) -> Box<Wrong> {
        let mut wrong = self.wrong(expected);
        wrong.fault.hint = Some(hint.into());
        wrong
    }

    /// A whole number.
    #[inline]
    pub(crate) fn whole(&self) -> Result<u64, Box<Wrong>> {
        match digits(self.text) {
            Some(value) => Ok(value),
            None if is_digits(self.text) => Err(self.wrong("a number below 2^64")),
            None => Err(self.wrong("a whole number, zero or more")),
        }
    }

    /// A number whose value is of no concern to us, but that must be one.
    pub(crate) fn any_number(&self) -> Result<(), Box<Wrong>> {
        let text = self.text.strip_prefix(b"-").unwrap_or(self.text);
        let (whole, fraction) = split_decimal(text);
        match is_digits(whole) && fraction.is_none_or(is_digits) {
            true => Ok(()),
            false => Err(self.wrong("a number")),
        }
    }

    /// A name: printable and not empty.
    pub(crate) fn name(&self) -> Result<(), Box<Wrong>> {
        match !self.text.is_empty() && self.text.iter().all(u8::is_ascii_graphic) {
            true => Ok(()),
            false => Err(self.wrong("a name in printable ASCII")),
        }
    }

    /// A moment, in nanoseconds since whatever the file counts from.
    #[inline]
    pub(crate) fn stamp(&self, clock: Clock) -> Result<u64, Box<Wrong>> {
        if let Some(ticks) = digits(self.text) {
            return ticks.checked_mul(clock.tick).ok_or_else(|| self.late());
        }
        self.stamp_with_fraction(clock)
    }

    fn stamp_with_fraction(&self, clock: Clock) -> Result<u64, Box<Wrong>> {
        let expected = if clock.fractions { "a number, zero or more" } else { "a whole number" };
        if self.text.starts_with(b"-") {
            return Err(self.wrong(expected));
        }
        let (whole, fraction) = split_decimal(self.text);
        let Some(fraction) = fraction.filter(|text| is_digits(text) && is_digits(whole)) else {
            return match is_digits(self.text) {
                true => Err(self.late()),
                false => Err(self.wrong(expected)),
            };
        };
        if !clock.fractions {
            let hint = "the option tick says how long a unit of this column lasts, such as \"1s\"";
            return Err(self.wrong_hint(expected, hint));
        }
        // Eighteen digits of a tick are finer than a nanosecond whatever the tick.
        let kept = &fraction[..fraction.len().min(18)];
        let scale = 10u128.pow(kept.len() as u32);
        let part = u128::from(digits(kept).unwrap_or(0)) * u128::from(clock.tick);
        let part = ((part + scale / 2) / scale) as u64;
        digits(whole)
            .and_then(|ticks| ticks.checked_mul(clock.tick)?.checked_add(part))
            .ok_or_else(|| self.late())
    }

    fn late(&self) -> Box<Wrong> {
        self.wrong("a time below 2^64 ns (584 years)")
    }

    /// One of these spellings, upper or lower case.
    #[inline]
    pub(crate) fn op(&self, read: &[u8], write: &[u8]) -> Result<Op, Box<Wrong>> {
        if self.text.eq_ignore_ascii_case(read) {
            Ok(Op::Read)
        } else if self.text.eq_ignore_ascii_case(write) {
            Ok(Op::Write)
        } else {
            let show = String::from_utf8_lossy;
            Err(self.wrong(format!("{} (read) or {} (write)", show(read), show(write))))
        }
    }
}

/// How the stamps of a file are read.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    /// Nanoseconds in one unit of the column.
    tick: u64,
    /// Whether the column may have a fraction.
    fractions: bool,
    /// Whether the unit is the user's word, not the format's.
    pub(crate) is_said: bool,
}

impl Clock {
    /// The format's own unit, unless the user says another; who says one may use fractions of it.
    pub(crate) fn new(own: Nanos, fractions: bool, said: Option<Nanos>) -> Clock {
        let tick = said.unwrap_or(own).as_ns();
        Clock { tick, fractions: fractions || said.is_some(), is_said: said.is_some() }
    }
}

/// The first sector and the number of sectors of a request.
pub(crate) type Extent = (u64, u32);

/// Sectors whose byte addresses fit 64 bits.
const SECTORS_MAX: u64 = 1 << 55;
const SECTOR: u64 = ssdlab_base::units::SECTOR_BYTES;

/// The extent of a request given in bytes, widened outward to whole sectors; whether it was.
#[inline]
pub(crate) fn extent_of_bytes(
    offset: Field<'_>,
    size: Field<'_>,
) -> Result<(Extent, bool), Box<Wrong>> {
    let (start, length) = (offset.whole()?, size.whole()?);
    if length == 0 {
        return Err(size.wrong("at least one byte"));
    }
    let end = start.checked_add(length).ok_or_else(|| offset.wrong("an end below 2^64 bytes"))?;
    let (first, last) = (start / SECTOR, end.div_ceil(SECTOR));
    let widened = !start.is_multiple_of(SECTOR) || !end.is_multiple_of(SECTOR);
    Ok(((first, count(last - first, size)?), widened))
}

/// The extent of a request that begins at a sector and is so many bytes long.
#[inline]
pub(crate) fn extent_of_sector_and_bytes(
    lba: Field<'_>,
    size: Field<'_>,
) -> Result<(Extent, bool), Box<Wrong>> {
    let (first, length) = (lba.whole()?, size.whole()?);
    if length == 0 {
        return Err(size.wrong("at least one byte"));
    }
    let sectors = count(length.div_ceil(SECTOR), size)?;
    Ok((within(first, sectors, lba)?, !length.is_multiple_of(SECTOR)))
}

/// The extent of a request given in sectors.
#[inline]
pub(crate) fn extent_of_sectors(lba: Field<'_>, size: Field<'_>) -> Result<Extent, Box<Wrong>> {
    let (first, length) = (lba.whole()?, size.whole()?);
    if length == 0 {
        return Err(size.wrong("at least one sector"));
    }
    within(first, count(length, size)?, lba)
}

fn within(first: u64, sectors: u32, lba: Field<'_>) -> Result<Extent, Box<Wrong>> {
    match first.checked_add(u64::from(sectors)) {
        Some(end) if end <= SECTORS_MAX => Ok((first, sectors)),
        _ => Err(lba.wrong("an end below 2^55 sectors")),
    }
}

fn count(sectors: u64, size: Field<'_>) -> Result<u32, Box<Wrong>> {
    u32::try_from(sectors).map_err(|_| size.wrong("less than 2 TiB (2^32 sectors)"))
}

/// The number that these digits spell, if they are digits and it fits.
#[inline]
fn digits(text: &[u8]) -> Option<u64> {
    match u64::from_radix_10_checked(text) {
        (value, used) if used == text.len() && used > 0 => value,
        _ => None,
    }
}

fn is_digits(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// What stands before and after the decimal point.
fn split_decimal(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|byte| *byte == b'.') {
        Some(point) => (&text[..point], Some(&text[point + 1..])),
        None => (text, None),
    }
}
