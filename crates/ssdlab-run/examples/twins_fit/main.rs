//! Fits shapes on the first halves of excerpts of real traces. Compares the shapes of the
//! catalog's twins with the second halves, which no fit has used.
//!
//! `make twins-fit SSDLAB_TRACES=DIR` runs it on a folder of excerpts in their original formats:
//! - `twins_fit shapes FOLDER` writes to FOLDER the parts of a shape that each excerpt determines
//!   (`shapes.rs`);
//! - `twins_fit tables docs/concepts/twins.md` replaces the text between the page's marks with
//!   tables; `twins_fit hits docs/concepts/twins.md` replaces only the table of hit ratios.

mod cases;
mod hits;
mod shapes;
mod tables;
mod trials;

use std::path::{Path, PathBuf};

use ssdlab_base::Nanos;
use ssdlab_workload::twins::fit::Trial;
use ssdlab_workload::{Record, Source, TraceOptions, open_with};

use cases::{CASES, Case};
use tables::Tables;

/// The two halves of an excerpt, each starting at time 0.
struct Halves {
    first: Vec<Record>,
    second: Vec<Record>,
}

fn main() {
    let folder = PathBuf::from(std::env::var_os("SSDLAB_TRACES").expect("SSDLAB_TRACES=DIR"));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let halves = CASES.iter().map(|case| (case, halves(&folder, case)));
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["shapes", out] => {
            for (case, halves) in halves {
                // Count every return as a recent one: a short excerpt does not show which places
                // stay hot.
                let recent = |trial: &Trial| Some(trial.near) == trials::all_recent();
                let tried = trials::tried(case, &halves.first, recent);
                let text = shapes::text(case, &halves.first, &trials::best(&tried).shape);
                let path = Path::new(out).join(format!("{}.toml", case.name));
                std::fs::write(path, text).expect("shapes written");
            }
        }
        ["tables", page] => {
            let mut tables = Tables::default();
            for (case, halves) in halves {
                let tried = trials::tried(case, &halves.first, |_| true);
                tables.add(case, &halves, trials::best(&tried));
            }
            tables.write(Path::new(page));
            hits::write(&folder, Path::new(page));
        }
        ["hits", page] => hits::write(&folder, Path::new(page)),
        _ => panic!("shapes FOLDER, tables PAGE or hits PAGE: got {arguments:?}"),
    }
}

fn halves(folder: &Path, case: &Case) -> Halves {
    eprintln!("{}", case.name);
    let records = read(folder, case);
    let (first, second) = records.split_at(records.len() / 2);
    Halves { first: rebased(first), second: rebased(second) }
}

fn read(folder: &Path, case: &Case) -> Vec<Record> {
    let options = TraceOptions {
        device: case.device.map(str::to_owned),
        tick: case.tick.map(Nanos::from_ns),
        ..TraceOptions::default()
    };
    let mut trace = open_with(&folder.join(case.path), None, &options).expect("a trace");
    drain(&mut trace, u64::MAX)
}

/// Returns at most this many records of a source.
fn drain(source: &mut impl Source, most: u64) -> Vec<Record> {
    let mut records = Vec::new();
    loop {
        let left = usize::try_from(most - records.len() as u64).unwrap_or(4096).min(4096);
        if left == 0 || source.fill(&mut records, left).expect("records") == 0 {
            break;
        }
    }
    records
}

/// Shifts records so that they start at time 0.
fn rebased(records: &[Record]) -> Vec<Record> {
    let start = records[0].at;
    records.iter().map(|record| Record { at: record.at - start, ..*record }).collect()
}
