//! Instructions of a page operation: of two runs of different length the difference, so that
//! setting up does not count. Counted by `perf` where the processor's counters can be read, else
//! by valgrind's callgrind; where there is neither, not at all. Not of traces: under valgrind the
//! hash of what is read takes other instructions than on the machine.

use std::path::Path;
use std::process::Command;

use crate::{Figures, child};

/// Requests of the two runs.
const REQUESTS: [u64; 2] = [20_000, 60_000];

/// Instructions of a page operation; an error says why they cannot be counted.
pub fn per_page_op(case: &str, trace: &Path) -> Result<f64, String> {
    let mut counted = Vec::new();
    for requests in REQUESTS {
        let instructions = perf(case, trace, requests).or_else(|why| {
            callgrind(case, trace, requests).map_err(|also| format!("{why}; {also}"))
        })?;
        counted.push(instructions);
    }
    let (instructions, page_ops): (Vec<f64>, Vec<f64>) = counted.into_iter().unzip();
    Ok((instructions[1] - instructions[0]) / (page_ops[1] - page_ops[0]))
}

/// Runs a child under a tool; the instructions that `read` finds, and its page operations.
fn under(
    tool: &[&str],
    arguments: &[String],
    read: fn(&str) -> Option<f64>,
) -> Result<(f64, f64), String> {
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", tool[0]);
    let executable = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut command = Command::new(tool[0]);
    command.args(&tool[1..]).arg(executable).args(arguments);
    let output = command.output().map_err(|error| failed(&error))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let instructions = read(&said).ok_or_else(|| failed(&"counts no instructions here"))?;
    let figures: Figures = serde_json::from_slice(&output.stdout).map_err(|e| failed(&e))?;
    Ok((instructions, figures["page_ops"]))
}

fn perf(case: &str, trace: &Path, requests: u64) -> Result<(f64, f64), String> {
    under(
        &["perf", "stat", "-x,", "-e", "instructions:u", "--"],
        &child(case, trace, Some(requests)),
        |said| {
            let line = said.lines().find(|line| line.contains("instructions"))?;
            line.split(',').next()?.parse().ok()
        },
    )
}

fn callgrind(case: &str, trace: &Path, requests: u64) -> Result<(f64, f64), String> {
    under(
        &["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"],
        &child(case, trace, Some(requests)),
        |said| said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok()),
    )
}
