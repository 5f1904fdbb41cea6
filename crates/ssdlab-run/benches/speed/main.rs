//! Measures the speed of the simulator: `cargo bench -p ssdlab-run --bench speed [-- NAME ...]`.
//!
//! Each case runs several times. Each run is a separate process, with the bare loop ([`bare`])
//! before and after it. The benchmark prints the minimum, the median and the maximum of each
//! figure. docs/project/performance.md explains the figures.

mod bare;
mod cases;
mod instructions;
mod machine;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use cases::{CASES, Case, Figures, What};
use instructions::Counts;

const OPTIONS: &str = "\
speed [OPTIONS] [CASE ...]    all cases, if none is named

--runs N            runs of each case (5)
--no-instructions   count neither instructions nor cache misses
--save DIR          keep the table and the raw figures there
--keep              the same under benches/runs, in a new folder for the day and the machine
";

/// The options of the command line.
struct Options {
    runs: usize,
    count: bool,
    save: Option<PathBuf>,
    names: Vec<String>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, name, trace, rest @ ..] = &arguments[..]
        && first == "--child"
    {
        return be_child(name, trace, rest.first().map(|n| n.parse().expect("a number")));
    }
    if arguments.iter().any(|argument| argument == "--help") {
        return print!("{OPTIONS}");
    }
    let options = parse(&arguments).unwrap_or_else(|wrong| end(&wrong));
    // Report a folder that cannot be created now, not after half an hour of runs.
    if let Some(folder) = &options.save {
        let made = std::fs::create_dir_all(folder);
        made.unwrap_or_else(|error| end(&unsaved(folder, &error)));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trace = folder.path().join("msr.csv");
    cases::write_trace(&trace).expect("a trace can be written");
    let load = machine::load();
    let mut text = head(load);
    print!("{text}");
    let mut raw = serde_json::Map::new();
    let wanted =
        |case: &&Case| options.names.is_empty() || options.names.iter().any(|n| n == case.name);
    for case in CASES.iter().filter(wanted) {
        if case.what == What::Command && cases::command().is_none() {
            println!("\n{}: skipped, `make install` makes the command", case.name);
            continue;
        }
        let runs: Vec<Figures> = (0..options.runs).map(|_| spawn(case.name, &trace)).collect();
        let counts = options.count && !case.is_large;
        let counted = (counts && matches!(case.what, What::Workload | What::Trace))
            .then(|| instructions::per_page_op(case.name, &trace));
        let part = describe(case, &runs, counted.as_ref());
        print!("{part}");
        text += &part;
        let [instructions, misses] = match counted {
            Some(Ok(counts)) => [counts.instructions, counts.cache_misses].map(Some),
            _ => [None; 2],
        };
        let entry = serde_json::json!({"about": case.about, "device": case.device, "set": case.set, "scheme": case.scheme, "closed": case.closed,
            "instructions_per_page_op": instructions, "cache_misses_per_page_op": misses, "runs": runs});
        raw.insert(case.name.into(), entry);
    }
    let document = serde_json::json!({"version": env!("CARGO_PKG_VERSION"), "commit": machine::commit(),
        "processor": machine::processor(), "load": load, "cases": raw});
    if let Some(folder) = &options.save {
        let pretty = serde_json::to_string_pretty(&document).expect("figures can be written");
        for (name, text) in [("table.txt", text), ("raw.json", pretty + "\n")] {
            let file = folder.join(name);
            std::fs::write(&file, text).unwrap_or_else(|error| end(&unsaved(&file, &error)));
        }
    }
}

/// Prints an error and exits.
fn end(wrong: &str) -> ! {
    eprintln!("speed: {wrong}");
    std::process::exit(2)
}

fn unsaved(path: &Path, error: &std::io::Error) -> String {
    format!("cannot save to {}: {error}", path.display())
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options { runs: 5, count: true, save: None, names: Vec::new() };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{argument}: expected a value"));
        match argument.as_str() {
            // Cargo adds this argument.
            "--bench" => {}
            "--runs" => match value()?.parse() {
                Ok(runs) if runs > 0 => options.runs = runs,
                _ => return Err("--runs: expected a number from 1 up".into()),
            },
            "--no-instructions" => options.count = false,
            "--save" => options.save = Some(value()?.into()),
            "--keep" => options.save = Some(new_folder()),
            name if CASES.iter().any(|case| case.name == name) => options.names.push(name.into()),
            other => {
                let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
                return Err(format!("unknown case {other:?}, expected {}", names.join(", ")));
            }
        }
    }
    Ok(options)
}

/// Returns the description of the machine, printed before all cases.
fn head(load: Option<f64>) -> String {
    let load = load.map_or("unknown".into(), |load| format!("{load:.2}"));
    let commit = machine::commit().map_or(String::new(), |commit| format!(", commit {commit}"));
    format!("{}{commit}\nload {load}\n", machine::processor())
}

/// Returns the path of a folder below benches/runs that does not exist yet.
fn new_folder() -> PathBuf {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/runs");
    let name = machine::folder();
    let others = (2..).map(|n| format!("{name}-{n}"));
    let mut names = std::iter::once(name.clone()).chain(others);
    runs.join(names.find(|name| !runs.join(name).exists()).expect("names do not end"))
}

/// Returns the arguments to run one case once in this program. With `requests`, the run is for
/// counting instructions.
fn child(name: &str, trace: &Path, requests: Option<u64>) -> Vec<String> {
    let mut arguments = vec!["--child".into(), name.into(), trace.display().to_string()];
    arguments.extend(requests.map(|requests| requests.to_string()));
    arguments
}

fn be_child(name: &str, trace: &str, requests: Option<u64>) {
    let case = CASES.iter().find(|case| case.name == name).expect("a case");
    let figures = match requests {
        None => case.measure(Some(trace)),
        Some(requests) => {
            Figures::from([("page_ops".into(), case.page_ops(Some(trace), requests) as f64)])
        }
    };
    println!("{}", serde_json::to_string(&figures).expect("figures can be written"));
}

fn spawn(name: &str, trace: &Path) -> Figures {
    let executable = std::env::current_exe().expect("this program");
    let output = Command::new(executable).args(child(name, trace, None)).output();
    let output = output.expect("this program runs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        panic!("{name}: {}", String::from_utf8_lossy(&output.stderr));
    })
}

/// Formats the figures of a case.
fn describe(case: &Case, runs: &[Figures], counted: Option<&Result<Counts, String>>) -> String {
    let mut text = format!("\n{}: {}\n", case.name, case.about);
    for name in runs[0].keys() {
        let mut values: Vec<f64> = runs.iter().map(|run| run[name]).collect();
        values.sort_by(f64::total_cmp);
        let (least, most) = (values[0], values[values.len() - 1]);
        let median = values[values.len() / 2];
        let [least, median, most] = [least, median, most].map(shown);
        writeln!(text, "  {name:<28} {least:>12} {median:>12} {most:>12}").expect("a string");
    }
    match counted {
        Some(Ok(counts)) => [
            ("instructions_per_page_op", counts.instructions),
            ("cache_misses_per_page_op", counts.cache_misses),
        ]
        .into_iter()
        .try_for_each(|(name, count)| writeln!(text, "  {name:<28} {:>25}", shown(count))),
        Some(Err(why)) => writeln!(text, "  instructions are not counted: {why}"),
        None => Ok(()),
    }
    .expect("a string");
    text
}

/// Formats a figure with three or more digits.
fn shown(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{:.2} M", value / 1e6),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}
