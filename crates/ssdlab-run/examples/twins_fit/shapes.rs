//! Writes the parts of a shape that an excerpt determines, as a file of the catalog.
//!
//! A statistic is used only if the half holds at least [`MIN_REQUESTS`] requests for it, and lacks
//! nothing that it depends on. Some figures are never used, because no short excerpt determines
//! them: size and access rate of a hot set, shares of a footprint read and written, and the largest
//! request.

use std::collections::BTreeSet;

use ssdlab_workload::twins::find;
use ssdlab_workload::twins::shape::Shape;
use ssdlab_workload::{Op, Record};
use toml::{Table, Value};

use super::cases::Case;

/// The least number of requests of a kind in the fitted half. It fixes their distribution to within
/// 0.08 (Kolmogorov and Smirnov, one time in twenty), which is less than the difference between
/// volumes.
const MIN_REQUESTS: usize = 300;
/// The least number of requests to known places, for the statistics of returns. It fixes them to
/// within 0.14, which is less than the difference between the two most similar excerpts.
const MIN_RETURNS: usize = 100;
/// The largest factor between the mean size in an excerpt and that of the whole trace. Beyond it,
/// tilting the sizes to the mean would leave almost only the largest or the smallest.
const SIZES_OFF: f64 = 4.0;

/// Returns the parts of the fitted shape that `half` determines.
pub(crate) fn text(case: &Case, half: &[Record], shape: &Shape) -> String {
    let mut table = Table::try_from(shape).expect("a shape");
    // `arrivals.toml` has the arrivals of whole excerpts.
    let of_others = ["source", "arrivals", "growth", "shared", "new", "extent", "overlap"];
    remove(&mut table, &of_others);
    let figures = find(case.twins[0], None).expect("a twin").figures();
    let returns = returns(half);
    if returns.iter().sum::<usize>() < MIN_RETURNS {
        remove(&mut table, &["lags", "along_lags"]);
    }
    let mut counts = Vec::new();
    for (key, op, wanted) in
        [("read", Op::Read, figures.mean_read), ("write", Op::Write, figures.mean_write)]
    {
        let own: Vec<&Record> = half.iter().filter(|record| record.op == op).collect();
        counts.push(own.len());
        if own.len() < MIN_REQUESTS {
            table.remove(key);
        } else if let Some(Value::Table(habits)) = table.get_mut(key) {
            remove(habits, &["again", "hot", "theta", "reach"]);
            if returns[counts.len() - 1] < MIN_RETURNS {
                let locality = ["follow", "new_run", "known_run", "along", "across", "regulars"];
                remove(habits, &locality);
            }
            let bytes: f64 = own.iter().map(|record| f64::from(record.sectors) * 512.0).sum();
            let off = bytes / own.len() as f64 / wanted;
            if !(1.0 / SIZES_OFF..=SIZES_OFF).contains(&off) {
                remove(habits, &["sizes", "size_run"]);
            }
        }
    }
    let head = format!(
        "# Written by `make twins-fit`: what the first half of an excerpt can give, {} requests,\n\
         # of which {} are reads.\n",
        half.len(),
        counts[0]
    );
    let body = toml::to_string(&table).expect("a table");
    body.lines().fold(head, |text, line| text + &wrapped(line) + "\n")
}

/// Counts reads and writes to places accessed before.
fn returns(half: &[Record]) -> [usize; 2] {
    let (mut known, mut counts) = (BTreeSet::new(), [0, 0]);
    for record in half {
        let end = record.lba + u64::from(record.sectors).max(1) - 1;
        counts[usize::from(record.op == Op::Write)] += usize::from(known.contains(&(end / 8)));
        known.extend(record.lba / 8..=end / 8);
    }
    counts
}

fn remove(table: &mut Table, keys: &[&str]) {
    for key in keys {
        table.remove(*key);
    }
}

/// Breaks a list over several lines if it is too long for one.
fn wrapped(line: &str) -> String {
    let Some((key, list)) = line.split_once(" = [").filter(|_| line.len() > 100) else {
        return line.to_owned();
    };
    let mut text = format!("{key} = [\n   ");
    let (mut depth, mut width, mut item) = (0, 3, String::new());
    let mut put = |item: &mut String| {
        if width + item.len() + 2 > 100 {
            text += "\n   ";
            width = 3;
        }
        width += item.len() + 2;
        text += &format!(" {item},");
        item.clear();
    };
    for letter in list.strip_suffix(']').expect("a list").chars() {
        match letter {
            ',' if depth == 0 => put(&mut item),
            ' ' if item.is_empty() => {}
            letter => {
                depth += i32::from(letter == '[') - i32::from(letter == ']');
                item.push(letter);
            }
        }
    }
    put(&mut item);
    text + "\n]"
}
