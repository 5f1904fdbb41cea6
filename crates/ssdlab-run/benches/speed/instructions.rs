//! Counts instructions and cache misses of a page operation. The count is the difference of two
//! runs of different length, so that setting up does not count. `perf` counts if it can read the
//! processor's counters. Otherwise valgrind's callgrind counts: it simulates the caches and ignores
//! prefetches. Without either tool, there are no counts. For traces, valgrind's counts are not
//! comparable with those of `perf`: under valgrind, hashing the trace takes other instructions than
//! on the machine.

use std::path::Path;
use std::process::Command;

use crate::{Figures, child};

/// Requests of the two runs.
const REQUESTS: [u64; 2] = [20_000, 60_000];

/// Counts of a tool: instructions, and misses of the last-level cache.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    pub instructions: f64,
    pub cache_misses: f64,
}

/// Returns the counts for one page operation, or an error with the reason why there are none.
pub(crate) fn per_page_op(case: &str, trace: &Path) -> Result<Counts, String> {
    let [(few, some), (many, more)] =
        [count(case, trace, REQUESTS[0])?, count(case, trace, REQUESTS[1])?];
    let each = |few: f64, many: f64| (many - few) / (more - some);
    Ok(Counts {
        instructions: each(few.instructions, many.instructions),
        cache_misses: each(few.cache_misses, many.cache_misses),
    })
}

/// Returns the counts of a run, and its number of page operations.
fn count(case: &str, trace: &Path, requests: u64) -> Result<(Counts, f64), String> {
    perf(case, trace, requests)
        .or_else(|why| callgrind(case, trace, requests).map_err(|also| format!("{why}; {also}")))
}

/// Runs a child process under a tool. Returns the counts that `read` extracts, and the number of
/// page operations.
fn under(
    tool: &[&str],
    arguments: &[String],
    read: fn(&str) -> Option<Counts>,
) -> Result<(Counts, f64), String> {
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", tool[0]);
    let executable = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut command = Command::new(tool[0]);
    command.args(&tool[1..]).arg(executable).args(arguments);
    let output = command.output().map_err(|error| failed(&error))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let counts = read(&text).ok_or_else(|| failed(&"counts nothing here"))?;
    let figures: Figures = serde_json::from_slice(&output.stdout).map_err(|e| failed(&e))?;
    Ok((counts, figures["page_ops"]))
}

fn perf(case: &str, trace: &Path, requests: u64) -> Result<(Counts, f64), String> {
    under(
        &["perf", "stat", "-x,", "-e", "instructions:u,cache-misses:u", "--"],
        &child(case, trace, Some(requests)),
        |text| {
            let count = |event: &str| {
                let line = text.lines().find(|line| line.contains(event))?;
                line.split(',').next()?.parse().ok()
            };
            let [instructions, cache_misses] = [count("instructions")?, count("cache-misses")?];
            Some(Counts { instructions, cache_misses })
        },
    )
}

fn callgrind(case: &str, trace: &Path, requests: u64) -> Result<(Counts, f64), String> {
    under(
        &["valgrind", "--tool=callgrind", "--cache-sim=yes", "--callgrind-out-file=/dev/null"],
        &child(case, trace, Some(requests)),
        |text| {
            let after = |word: &str| text.lines().find_map(|line| Some(line.split_once(word)?.1));
            let names: Vec<&str> = after("Events    :")?.split_whitespace().collect();
            let sums: Vec<f64> = after("Collected :")?
                .split_whitespace()
                .filter_map(|sum| sum.parse().ok())
                .collect();
            let sum =
                |event: &str| sums.get(names.iter().position(|&name| name == event)?).copied();
            Some(Counts { instructions: sum("Ir")?, cache_misses: sum("DLmr")? + sum("DLmw")? })
        },
    )
}
