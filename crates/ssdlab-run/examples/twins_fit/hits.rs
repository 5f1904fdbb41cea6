//! Hit ratios of LRU caches: of excerpts, and of as many requests of their twins.

use std::fmt::Write as _;
use std::path::Path;

use ssdlab_workload::measure::{PageCaches, Writes};
use ssdlab_workload::twins::find;
use ssdlab_workload::{Op, Record};

use super::cases::{CASES, Case, VM};
use super::{drain, read};

/// The sizes of the caches, in pages of 4 KiB.
const PAGES: [u64; 6] = [64, 256, 1024, 4096, 16384, 65536];
/// The excerpts that are long enough and have times, reads and writes.
const NAMES: [&str; 4] = ["hm0", "fin1", "dtr", "websearch"];
/// The least number of requests of a kind for its ratios.
const MIN_REQUESTS: usize = 20;
const BEGIN: &str = "<!-- caches: written by `make twins-fit` -->";
const END: &str = "<!-- end of caches -->";

/// Writes the table between its marks in the page.
pub(crate) fn write(folder: &Path, page: &Path) {
    let mut table = String::from("| excerpt | twin | requests | |");
    PAGES.iter().for_each(|pages| write!(table, " {pages} |").expect("text"));
    writeln!(table, "\n|---|---|---|---{}|", "|---".repeat(PAGES.len())).expect("text");
    for case in CASES.iter().filter(|case| NAMES.contains(&case.name)).chain([&VM]) {
        add(&mut table, folder, case);
    }
    let text = std::fs::read_to_string(page).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("a mark where the table begins");
    let (_, after) = rest.split_once(END).expect("a mark where it ends");
    std::fs::write(page, format!("{before}{BEGIN}\n\n{table}\n{END}{after}")).expect("written");
}

/// Adds a row for each kind of requests: excerpt / twin.
fn add(table: &mut String, folder: &Path, case: &Case) {
    let excerpt = read(folder, case);
    let name = case.twins[0];
    let mut source = find(name, None).expect("a twin").source(1).expect("a twin");
    let twin = drain(&mut source, excerpt.len() as u64);
    let [own, of_twin] = [&excerpt, &twin].map(|records| ratios(records));
    for (kind, op, what) in [(0, Op::Read, "reads"), (1, Op::Write, "writes")] {
        let has = |records: &[Record]| {
            records.iter().filter(|record| record.op == op).count() >= MIN_REQUESTS
        };
        if !has(&excerpt) || !has(&twin) {
            continue;
        }
        let cell = |ratios: &[Option<f64>; 2]| ratios[kind].map_or(0.0, |ratio| ratio);
        let pair = |(own, twin)| format!("{:.3} / {:.3}", cell(own), cell(twin));
        let cells: Vec<String> = own.iter().zip(&of_twin).map(pair).collect();
        let (excerpt_name, count) = (case.name, excerpt.len());
        writeln!(table, "| {excerpt_name} | {name} | {count} | {what} | {} |", cells.join(" | "))
            .expect("text");
    }
}

fn ratios(records: &[Record]) -> Vec<[Option<f64>; 2]> {
    let mut caches = PageCaches::new(&PAGES, Writes::Cached);
    caches.take(records);
    caches.ratios()
}
