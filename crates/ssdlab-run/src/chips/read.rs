//! Reads measurements from CSV.

use std::array::from_fn;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use csv_core::{ReadRecordResult, ReaderBuilder, Terminator};
use ssdlab_base::{Fault, reason};
use ssdlab_workload::Unpacked;

use super::{NUMBERS, Samples, at};

/// The columns that identify the block of a row.
const NAMES: [&str; 2] = ["chip", "block"];
/// Every line has fewer bytes than this.
const MAX_LINE_BYTES: u64 = 1 << 16;

/// A column of a file: a name or a number, each with its index.
#[derive(Clone, Copy)]
enum Column {
    Name(usize),
    Number(usize),
}

/// Reads measurements from a file, plain or compressed. Returns the rows and the SHA-256 of the
/// file in hexadecimal. The reader skips empty lines and lines that begin with `#`. The first other
/// line names the columns, in any order.
///
/// # Errors
/// A file that cannot be read, or the first line that does not belong to a table of measurements.
pub fn read(path: &Path) -> Result<(Samples, String), Fault> {
    let name = path.display().to_string();
    let unreadable =
        |error: std::io::Error| Fault::new(&name, format!("cannot be read: {}", reason(error)));
    let mut file = BufReader::new(Unpacked::open(path).map_err(unreadable)?);
    let (mut line, mut number) = (Vec::new(), 0);
    let mut table = Reading { name: &name, columns: Vec::new(), known: BTreeMap::new() };
    let (mut samples, mut cells) = (Samples::default(), Cells::new());
    loop {
        line.clear();
        let limited = &mut file.by_ref().take(MAX_LINE_BYTES);
        if limited.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            break;
        }
        number += 1;
        let fault = |what: &str| Fault::new(&name, what).line(number);
        if line.len() as u64 == MAX_LINE_BYTES {
            return Err(fault("too long").expected("a table of measurements in CSV"));
        }
        let text = std::str::from_utf8(&line).map_err(|_| fault("is no UTF-8"))?;
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let cells = cells.of(text);
        if table.columns.is_empty() {
            table.begin(&cells, number)?
        } else {
            table.row(&cells, number, &mut samples)?
        }
    }
    if samples.rows() == 0 {
        let expected = "a line with the names of columns, and a line a measurement";
        return Err(Fault::new(&name, "no measurement").got("none").expected(expected));
    }
    check_once(&name, &samples)?;
    number_by_name(&mut samples);
    let hash = file.get_ref().sha256().expect("a file that was read to its end").to_owned();
    Ok((samples, hash))
}

/// Splits lines into cells. Cells may be quoted.
struct Cells {
    parser: csv_core::Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Cells {
    fn new() -> Cells {
        // A carriage return within a line does not end the line.
        let parser = ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build();
        Cells { parser, text: Vec::new(), ends: Vec::new() }
    }

    /// Returns the cells of a line, without the spaces around them.
    fn of(&mut self, line: &str) -> Vec<&str> {
        // All cells together are no longer than the line. A line has one cell more than commas.
        self.text.resize(line.len() + 1, 0);
        self.ends.resize(line.len() + 1, 0);
        self.parser.reset();
        let (mut text, mut count) = (0, 0);
        // The empty input ends the last cell.
        for input in [line.as_bytes(), &[]] {
            let (result, _, written, ended) =
                self.parser.read_record(input, &mut self.text[text..], &mut self.ends[count..]);
            debug_assert!(matches!(
                result,
                ReadRecordResult::InputEmpty | ReadRecordResult::Record
            ));
            (text, count) = (text + written, count + ended);
        }
        let text = std::str::from_utf8(&self.text[..text]).expect("text without its quotes");
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends[..count]).map(|(begin, &end)| text[begin..end].trim()).collect()
    }
}

/// Refuses a row that repeats an earlier row, because it would count twice. Other values for the
/// same block under the same conditions are a separate measurement.
fn check_once(name: &str, samples: &Samples) -> Result<(), Fault> {
    let row = |at: usize| {
        let numbers: [u64; NUMBERS.len()] =
            from_fn(|of| samples.numbers[of].get(at).map_or(0, |value| value.to_bits()));
        (samples.chip[at], samples.block[at], numbers)
    };
    let mut order: Vec<usize> = (0..samples.rows()).collect();
    order.sort_by_cached_key(|&at| (row(at), at));
    let twice = order.windows(2).filter(|pair| row(pair[0]) == row(pair[1]));
    let Some(pair) = twice.min_by_key(|pair| pair[1]) else { return Ok(()) };
    let what = format!("the same measurement as on line {}", samples.lines[pair[0]]);
    Err(Fault::new(name, what).line(samples.lines[pair[1]]).expected("each once"))
}

/// Numbers chips and blocks in the order of their names. Random draws that depend on these numbers
/// then do not depend on the order of the rows.
fn number_by_name(samples: &mut Samples) {
    let key = |name: &str| (name.parse::<u64>().unwrap_or(u64::MAX), name.to_owned());
    let chips = in_order(&mut samples.chips, |_, name| key(name));
    samples.chip.iter_mut().for_each(|chip| *chip = chips[*chip as usize]);
    let mut chip_of = vec![0; samples.blocks.len()];
    for (&block, &chip) in samples.block.iter().zip(&samples.chip) {
        chip_of[block as usize] = chip;
    }
    let blocks = in_order(&mut samples.blocks, |block, name| (chip_of[block], key(name)));
    samples.block.iter_mut().for_each(|block| *block = blocks[*block as usize]);
}

/// Sorts names by key. Returns the new index of each.
fn in_order<K: Ord>(names: &mut Vec<String>, key: impl Fn(usize, &str) -> K) -> Vec<u32> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_cached_key(|&at| key(at, &names[at]));
    let mut places = vec![0; names.len()];
    for (place, &at) in (0..).zip(&order) {
        places[at] = place;
    }
    *names = order.iter().map(|&at| std::mem::take(&mut names[at])).collect();
    places
}

/// State of the reader: the columns and the names read so far.
struct Reading<'a> {
    name: &'a str,
    columns: Vec<Column>,
    /// Indices of the chips and of their blocks, by name.
    known: BTreeMap<String, (u32, BTreeMap<String, u32>)>,
}

impl Reading<'_> {
    fn fault(&self, line: u64, what: impl Into<String>) -> Fault {
        Fault::new(self.name, what).line(line)
    }

    /// Reads the header line, which names the columns.
    fn begin(&mut self, cells: &[&str], line: u64) -> Result<(), Fault> {
        let names = || NAMES.into_iter().chain(NUMBERS.iter().map(|column| column.name));
        for (at, &cell) in cells.iter().enumerate() {
            let of_name = NAMES.iter().position(|&name| name == cell).map(Column::Name);
            let of_number = || NUMBERS.iter().position(|of| of.name == cell).map(Column::Number);
            let Some(column) = of_name.or_else(of_number) else {
                let fault = self.fault(line, "not a column").got(format!("{cell:?}"));
                let expected = names().collect::<Vec<_>>().join(", ");
                return Err(fault.expected(expected).suggest(cell, names()));
            };
            if cells[..at].contains(&cell) {
                let fault = self.fault(line, "a column twice").got(format!("{cell:?}"));
                return Err(fault.expected("each column once"));
            }
            self.columns.push(column);
        }
        let needed = NUMBERS.iter().filter(|of| !of.optional).map(|of| of.name);
        if let Some(missing) = NAMES.into_iter().chain(needed).find(|name| !cells.contains(name)) {
            let fault = self.fault(line, format!("no column {missing}")).got(cells.join(","));
            return Err(fault.expected(format!("a column {missing}")));
        }
        Ok(())
    }

    /// Reads a row.
    fn row(&mut self, cells: &[&str], line: u64, samples: &mut Samples) -> Result<(), Fault> {
        if cells.len() != self.columns.len() {
            let got = format!("{} values", cells.len());
            let expected = format!("{}, one for each column", self.columns.len());
            return Err(self.fault(line, "not a row").got(got).expected(expected));
        }
        let mut names = [""; NAMES.len()];
        for (&cell, &column) in cells.iter().zip(&self.columns) {
            match column {
                Column::Name(at) if cell.is_empty() => {
                    let fault = self.fault(line, NAMES[at]).got("nothing");
                    return Err(fault.expected(format!("the name of a {}", NAMES[at])));
                }
                Column::Name(at) => names[at] = cell,
                Column::Number(at) => {
                    let value = self.number(at, cell, line)?;
                    samples.numbers[at].push(value);
                }
            }
        }
        let last = |at: usize| samples.numbers[at].last().copied();
        if let (Some(retries), Some(best)) = (last(at::RETRIES), last(at::RETRIES_BEST))
            && best > retries
        {
            let expected = format!("at most {retries}, the retries of the worst page");
            return Err(self.fault(line, "retries_best").got(best).expected(expected));
        }
        let [chip, block] = names;
        let (place, blocks) = self.known.entry(chip.to_owned()).or_insert_with(|| {
            samples.chips.push(chip.to_owned());
            (samples.chips.len() as u32 - 1, BTreeMap::new())
        });
        samples.chip.push(*place);
        samples.block.push(*blocks.entry(block.to_owned()).or_insert_with(|| {
            samples.blocks.push(block.to_owned());
            samples.blocks.len() as u32 - 1
        }));
        samples.lines.push(line);
        Ok(())
    }

    fn number(&self, at: usize, cell: &str, line: u64) -> Result<f64, Fault> {
        let column = &NUMBERS[at];
        let fits = |value: &f64| {
            (column.least..=column.most).contains(value) && (!column.whole || value.fract() == 0.0)
        };
        // Adding 0 turns a negative zero into a positive one.
        cell.parse::<f64>().ok().filter(fits).map(|value| value + 0.0).ok_or_else(|| {
            let kind = if column.whole { "a whole number" } else { "a number" };
            let expected = format!("{kind} from {} to {}", column.least, column.most);
            self.fault(line, column.name).got(format!("{cell:?}")).expected(expected)
        })
    }
}
