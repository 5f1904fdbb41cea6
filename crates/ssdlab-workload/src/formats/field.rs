//! One column of a line: parses its value and reports a fault if the value is invalid.

use atoi::{FromRadix10Checked, FromRadix16Checked};
use ssdlab_base::{Fault, Nanos, nearest};

use crate::record::{MAX_HINT, Op};

/// A fault in a line; the trace adds the file and the line number.
#[derive(Debug)]
pub(crate) struct Wrong {
    /// The position in the line, in bytes from its start.
    offset: usize,
    /// The number of valid columns before it.
    pub(crate) before: usize,
    pub(crate) fault: Fault,
}

impl Wrong {
    pub(crate) fn new(offset: usize, before: usize, fault: Fault) -> Box<Wrong> {
        Box::new(Wrong { offset, before, fault })
    }

    /// Returns a fault about a whole record of a binary file.
    pub(crate) fn record(fault: Fault) -> Box<Wrong> {
        Wrong::new(0, 0, fault)
    }

    /// Adds the file and the record number, for a binary file without columns.
    pub(crate) fn in_record(self, name: &str, number: u64) -> Fault {
        Fault { source: name.into(), ..self.fault.line(number) }
    }

    /// Adds the file, the line and the column, as the user sees the fault.
    pub(crate) fn in_file(self, name: &str, number: u64, line: &[u8]) -> Fault {
        let before = &line[..self.offset.min(line.len())];
        let column = String::from_utf8_lossy(before).chars().count() as u64 + 1;
        Fault { source: name.into(), ..self.fault.line(number).column(column) }
    }
}

/// One column of a line.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) name: &'static str,
    /// Where the column begins in its line, in bytes.
    pub(crate) offset: u32,
    /// The number of columns before it.
    pub(crate) index: u32,
    /// The number that the text spells, if the search for the column's end has already parsed it.
    spelled: Option<u64>,
}

impl<'a> Field<'a> {
    pub(crate) fn new(text: &'a [u8], name: &'static str) -> Field<'a> {
        Field { text, name, offset: 0, index: 0, spelled: None }
    }

    /// Sets the column's position: byte `offset` of its line, after `index` columns.
    #[inline(always)]
    pub(crate) fn at(self, offset: usize, index: usize) -> Field<'a> {
        Field { offset: offset as u32, index: index as u32, ..self }
    }

    /// Sets the number that the text spells, if it is already known.
    #[inline(always)]
    pub(crate) fn spelling(self, spelled: Option<u64>) -> Field<'a> {
        Field { spelled, ..self }
    }

    /// Returns the column under another name.
    pub(crate) fn named(self, name: &'static str) -> Field<'a> {
        Field { name, ..self }
    }

    /// Returns the column with another text.
    pub(crate) fn with<'b>(&self, text: &'b [u8]) -> Field<'b> {
        Field { text, name: self.name, offset: self.offset, index: self.index, spelled: None }
    }

    /// Returns the number in this column, if it has only digits and fits in 64 bits.
    #[inline(always)]
    fn digits(&self) -> Option<u64> {
        self.spelled.or_else(|| digits(self.text))
    }

    /// Returns a fault about this column.
    pub(crate) fn wrong(&self, expected: impl std::fmt::Display) -> Box<Wrong> {
        let got = match self.text {
            [] => "nothing".into(),
            text => String::from_utf8_lossy(text),
        };
        let fault = Fault::new("", self.name).got(got).expected(expected);
        Wrong::new(self.offset as usize, self.index as usize, fault)
    }

    /// Returns the same fault with a hint on how to correct the input.
    pub(crate) fn wrong_hint(&self, expected: &str, hint: &str) -> Box<Wrong> {
        let mut wrong = self.wrong(expected);
        wrong.fault.hint = Some(hint.into());
        wrong
    }

    /// Parses a whole number.
    pub(crate) fn whole(&self) -> Result<u64, Box<Wrong>> {
        match self.digits() {
            Some(value) => Ok(value),
            None if is_digits(self.text) => Err(self.wrong("a number below 2^64")),
            None => Err(self.wrong("a whole number, zero or more")),
        }
    }

    /// Parses a submission queue.
    pub(crate) fn queue(&self) -> Result<u8, Box<Wrong>> {
        let queue = u8::try_from(self.whole()?);
        queue.map_err(|_| self.wrong("a submission queue from 0 to 255"))
    }

    /// Parses a latency hint.
    pub(crate) fn hint(&self) -> Result<u8, Box<Wrong>> {
        let hint = u8::try_from(self.whole()?).ok().filter(|hint| *hint <= MAX_HINT);
        hint.ok_or_else(|| {
            self.wrong("a latency hint: 0 (none), 1 (short), 2 (medium) or 3 (long)")
        })
    }

    /// Checks that the column is a number; its value is not used.
    pub(crate) fn any_number(&self) -> Result<(), Box<Wrong>> {
        match self.spelled {
            Some(_) => Ok(()),
            None => self.any_decimal(),
        }
    }

    fn any_decimal(&self) -> Result<(), Box<Wrong>> {
        let text = self.text.strip_prefix(b"-").unwrap_or(self.text);
        let (whole, fraction) = split_decimal(text);
        if is_digits(whole) && fraction.is_none_or(is_digits) || spelled_out(text).is_some() {
            Ok(())
        } else {
            Err(self.wrong("a number"))
        }
    }

    /// Checks that the column of a header has this name.
    pub(crate) fn is_named(&self, name: &'static str) -> Result<(), Box<Wrong>> {
        if self.text.eq_ignore_ascii_case(name.as_bytes()) { Ok(()) } else { Err(self.wrong(name)) }
    }

    /// Checks for a name: printable and not empty.
    pub(crate) fn name(&self) -> Result<(), Box<Wrong>> {
        if !self.text.is_empty() && self.text.iter().all(u8::is_ascii_graphic) {
            Ok(())
        } else {
            Err(self.wrong("a name in printable ASCII"))
        }
    }

    /// Checks for a name that may have several words.
    pub(crate) fn words(&self) -> Result<(), Box<Wrong>> {
        if self.text.split(|byte| *byte == b' ').all(|word| word.iter().all(u8::is_ascii_graphic))
            && !self.text.is_empty()
        {
            Ok(())
        } else {
            Err(self.wrong("a name in printable ASCII"))
        }
    }

    /// Checks that the column is one of these words.
    pub(crate) fn one_of(&self, words: &[&str]) -> Result<(), Box<Wrong>> {
        if words.iter().any(|word| self.text == word.as_bytes()) {
            Ok(())
        } else {
            Err(self.wrong_near(&format!("one of {}", words.join(", ")), words))
        }
    }

    /// Checks for one or more hashes in hexadecimal digits, without gaps.
    pub(crate) fn hash(&self) -> Result<(), Box<Wrong>> {
        if self.text.len() >= 16 && self.text.iter().all(u8::is_ascii_hexdigit) {
            Ok(())
        } else {
            Err(self.wrong("a hash in hexadecimal"))
        }
    }

    /// Parses a time stamp. Returns nanoseconds, counted from the file's own origin.
    pub(crate) fn stamp(&self, clock: Clock) -> Result<u64, Box<Wrong>> {
        if let Some(ticks) = self.digits() {
            return ticks.checked_mul(clock.tick).ok_or_else(|| self.late());
        }
        self.stamp_with_fraction(clock)
    }

    fn stamp_with_fraction(&self, clock: Clock) -> Result<u64, Box<Wrong>> {
        let expected =
            if clock.fractions { "a decimal number, zero or more" } else { "a whole number" };
        if self.text.starts_with(b"-") {
            return Err(self.wrong(expected));
        }
        let (whole, fraction) = split_decimal(self.text);
        let spelled;
        let (whole, fraction) = match fraction {
            Some(fraction) if is_digits(fraction) && is_digits(whole) => (whole, fraction),
            _ if is_digits(self.text) => return Err(self.late()),
            _ => {
                spelled = spelled_out(self.text).ok_or_else(|| self.wrong(expected))?;
                (&spelled.0[..], &spelled.1[..])
            }
        };
        if !clock.fractions {
            let hint =
                "workload.trace.tick says how long a unit of this column lasts, such as \"1s\"";
            return Err(self.wrong_hint(expected, hint));
        }
        let part = part_of_a_tick(fraction, clock.tick);
        digits(whole)
            .and_then(|ticks| ticks.checked_mul(clock.tick)?.checked_add(part))
            .ok_or_else(|| self.late())
    }

    pub(crate) fn late(&self) -> Box<Wrong> {
        self.wrong("a time below 2^64 ns (584 years)")
    }

    /// Parses a whole number in hexadecimal, with or without `0x`.
    pub(crate) fn hexadecimal(&self) -> Result<u64, Box<Wrong>> {
        let digits = self.text.strip_prefix(b"0x").unwrap_or(self.text);
        match u64::from_radix_16_checked(digits) {
            (Some(value), used) if used == digits.len() && used > 0 => Ok(value),
            _ => Err(self.wrong("a hexadecimal number below 2^64")),
        }
    }

    /// Parses an operation, spelled in one of the common words.
    pub(crate) fn op_word(&self) -> Result<Op, Box<Wrong>> {
        let is = |word: &&[u8]| self.text.eq_ignore_ascii_case(word);
        let words: [(&[&[u8]], Op); 4] = [
            (&[b"R", b"Read", b"RS", b"RA"], Op::Read),
            (&[b"W", b"Write", b"WS"], Op::Write),
            (&[b"T", b"Trim", b"D", b"Discard", b"Unmap"], Op::Trim),
            (&[b"F", b"Flush", b"Sync"], Op::Flush),
        ];
        let found = words.iter().find(|(words, _)| words.iter().any(is));
        found.map(|(_, op)| *op).ok_or_else(|| {
            self.wrong_near("R, W, T or F", &["read", "write", "trim", "discard", "flush"])
        })
    }

    /// Returns the same fault with the nearest of these spellings as a hint, if one is near.
    pub(crate) fn wrong_near(&self, expected: &str, spellings: &[&str]) -> Box<Wrong> {
        let typed = String::from_utf8_lossy(self.text).to_lowercase();
        let lower: Vec<String> = spellings.iter().map(|word| word.to_lowercase()).collect();
        let near = nearest(&typed, lower.iter().map(String::as_str));
        // Single letters are all near one another, so they give no hint.
        let place = lower.iter().position(|word| Some(word.as_str()) == near && word.len() > 1);
        match place {
            Some(place) => {
                self.wrong_hint(expected, &format!("did you mean {:?}?", spellings[place]))
            }
            None => self.wrong(expected),
        }
    }

    /// Parses an operation in one of these two spellings, in upper or lower case.
    pub(crate) fn op(&self, read: &[u8], write: &[u8]) -> Result<Op, Box<Wrong>> {
        if self.text == read || self.text.eq_ignore_ascii_case(read) {
            Ok(Op::Read)
        } else if self.text == write || self.text.eq_ignore_ascii_case(write) {
            Ok(Op::Write)
        } else {
            let show = String::from_utf8_lossy;
            let (read, write) = (show(read), show(write));
            Err(self.wrong_near(&format!("{read} (read) or {write} (write)"), &[&read, &write]))
        }
    }
}

/// How a file's time stamps are read.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    /// The nanoseconds in one unit of the time column.
    pub(crate) tick: u64,
    /// Whether the time column may have a fraction.
    pub(crate) fractions: bool,
    /// Whether the user set the unit, not the format.
    pub(crate) is_set: bool,
}

impl Clock {
    /// Returns the format's own unit, or the unit that the user sets. A unit of the user also
    /// allows fractions.
    pub(crate) fn new(own: Nanos, fractions: bool, set: Option<Nanos>) -> Clock {
        let tick = set.unwrap_or(own).as_ns();
        Clock { tick, fractions: fractions || set.is_some(), is_set: set.is_some() }
    }
}

/// Returns the number at the start of a text, and its count of digits. Returns no number if it has
/// too many digits to fit in 64 bits. Reads eight bytes at a time, since traces consist mostly of
/// numbers.
#[inline(always)]
pub(crate) fn leading_digits(text: &[u8]) -> (Option<u64>, usize) {
    /// Any number of at most 19 digits is below 2^64.
    const FIT: usize = 19;
    const TENS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    let (mut value, mut length) = (0u64, 0);
    let mut rest = text;
    while let Some((eight, more)) = rest.split_first_chunk() {
        let (number, digits) = of_eight(u64::from_le_bytes(*eight));
        value = value.wrapping_mul(TENS[digits]).wrapping_add(number);
        length += digits;
        rest = if digits < eight.len() { &[] } else { more };
    }
    for digit in rest.iter().take_while(|byte| byte.is_ascii_digit()) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        length += 1;
    }
    ((1..=FIT).contains(&length).then_some(value), length)
}

/// Returns the number at the start of eight bytes, and its count of digits. The first byte is the
/// lowest. Sums neighboring digits in parallel, then pairs, then halves.
#[inline(always)]
fn of_eight(bytes: u64) -> (u64, usize) {
    let each = |byte: u8| u64::from_ne_bytes([byte; 8]);
    let less = bytes ^ each(b'0');
    // A digit is now 0 to 9, and stays within four bits when 6 is added.
    let others = (less | less.wrapping_add(each(6))) & each(0xf0);
    let digits = others.trailing_zeros() / 8;
    let eight = less.unbounded_shl(64 - 8 * digits);
    let pairs = (eight.wrapping_mul(10 * (1 << 8) + 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100 * (1 << 16) + 1) >> 16) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000 * (1 << 32) + 1) >> 32, digits as usize)
}

/// Returns the number in a text, if it has only digits and fits in 64 bits.
pub(crate) fn digits(text: &[u8]) -> Option<u64> {
    match u64::from_radix_10_checked(text) {
        (value, used) if used == text.len() && used > 0 => value,
        _ => None,
    }
}

pub(crate) fn is_digits(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Returns the parts before and after the decimal point.
pub(crate) fn split_decimal(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|byte| *byte == b'.') {
        Some(point) => (&text[..point], Some(&text[point + 1..])),
        None => (text, None),
    }
}

/// Expands a number such as `5e-05` into the digits before and after its point. Returns `None` if
/// the text is no such number.
fn spelled_out(text: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    /// With more places than this, a number is too large or rounds to zero.
    const FAR: usize = 40;
    let at = text.iter().position(|byte| byte.eq_ignore_ascii_case(&b'e'))?;
    let (mantissa, exponent) = (&text[..at], &text[at + 1..]);
    let (whole, fraction) = split_decimal(mantissa);
    let (is_small, places) = match exponent {
        [b'-', places @ ..] => (true, places),
        [b'+', places @ ..] | places => (false, places),
    };
    if ![whole, fraction.unwrap_or(b"0"), places].into_iter().all(is_digits) {
        return None;
    }
    let places = digits(places).and_then(|places| usize::try_from(places).ok());
    let places = places.unwrap_or(usize::MAX).min(mantissa.len() + FAR);
    let (mut whole, mut fraction) = (whole.to_vec(), fraction.unwrap_or_default().to_vec());
    if is_small {
        whole.splice(..0, vec![b'0'; places + 1]);
        let moved = whole.split_off(whole.len() - places);
        fraction.splice(..0, moved);
    } else {
        fraction.resize(fraction.len().max(places), b'0');
        whole.extend(fraction.drain(..places));
    }
    Some((whole, fraction))
}

/// Returns the nanoseconds of a fraction of a tick, rounded to the nearest.
fn part_of_a_tick(fraction: &[u8], tick: u64) -> u64 {
    const SECOND: u64 = 1_000_000_000;
    if fraction.len() <= 9 && tick <= SECOND {
        // Both factors are at most 10^9, so the product fits in 64 bits.
        let scale = 10u64.pow(fraction.len() as u32);
        return (digits(fraction).unwrap_or(0) * tick + scale / 2) / scale;
    }
    // Eighteen digits of a tick are finer than a nanosecond for every possible tick.
    let leading = &fraction[..fraction.len().min(18)];
    let scale = 10u128.pow(leading.len() as u32);
    let part = u128::from(digits(leading).unwrap_or(0)) * u128::from(tick);
    ((part + scale / 2) / scale) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_digits_are_those_before_the_first_other_byte() {
        let spelled = "98765432109876543210987654";
        for (length, other) in (0..=spelled.len()).flat_map(|n| (0..=255u8).map(move |b| (n, b))) {
            for behind in [&b""[..], b"7", b"777777777"] {
                let text = [&spelled.as_bytes()[..length], &[other][..], behind].concat();
                let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let own = std::str::from_utf8(&text[..count]).unwrap();
                let fits = (1..20).contains(&count).then(|| own.parse().unwrap());
                assert_eq!(leading_digits(&text), (fits, count), "{text:?}");
            }
        }
    }
}
