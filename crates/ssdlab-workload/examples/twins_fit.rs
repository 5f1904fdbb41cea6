//! Fits shapes of twins on the first halves of real excerpts and checks them on the second.
//!
//! `SSDLAB_TRACES=DIR cargo run --release -p ssdlab-workload --example twins_fit [-- OUT]` on a
//! folder of folders with `orig_*`. Prints the table of `docs/twins.md`; with a folder `OUT`, writes
//! the shapes as TOML, and both halves and the twin as traces that a drive can run on. `shapes.toml`
//! there holds the trials that won, `lags.toml` the best of those that take every return for a recent
//! one: the catalogue takes its lags from these, since its hot sets are assumed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ssdlab_base::Nanos;
use ssdlab_workload::measure::{Measure, Reuse, kolmogorov_smirnov};
use ssdlab_workload::twins::Twin;
use ssdlab_workload::twins::fit::{Trial, fit};
use ssdlab_workload::twins::shape::Shape;
use ssdlab_workload::{Op, Record, Source, TraceOptions, open_with};

/// Shape, original, device in it, tick of its times, what is known to be special.
type Case = (&'static str, &'static str, Option<&'static str>, Option<u64>, &'static str);

const CASES: &[Case] = &[
    ("hm0", "msr_hm_0_7k/orig_hm_0.csv.zst", None, None, ""),
    ("fin1", "spc_financial1_10k/orig_example.ascii.zst", None, None, "coarse times"),
    ("fin2", "spc_sub_financial2_a/orig_trace2.zst", None, None, "coarse times"),
    ("dtr", "msps_dtrs_5min/orig_DTRS1K.trace.zst", None, Some(1_000), ""),
    (
        "web0",
        "msr_web_0_first1000/orig_pre-processed_first_1000.csv.zst",
        Some("web_0"),
        Some(1_000_000_000),
        "whole seconds",
    ),
    (
        "web2",
        "msr_web_0_first1000/orig_pre-processed_first_1000.csv.zst",
        Some("web_2"),
        Some(1_000_000_000),
        "whole seconds",
    ),
    ("mds0", "msr_mds_0_writes1k/orig_mds_0.csv.zst", None, None, "writes only"),
    ("proj0", "msr_proj_0_writes1k/orig_proj_0.csv.zst", None, None, "writes only"),
    ("rsrch2", "msr_rsrch_2_writes1k/orig_rsrch_2.csv.zst", None, None, "writes only"),
];

fn main() {
    let folder = PathBuf::from(std::env::var_os("SSDLAB_TRACES").expect("SSDLAB_TRACES=DIR"));
    let out = std::env::args().nth(1).map(PathBuf::from);
    println!(
        "| excerpt | requests | trial | gaps: halves | twin | reuse: halves | twin | chance | first uses: halves, twin |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let (mut shapes, mut lags) = (String::new(), String::new());
    for case in CASES {
        let records = read(&folder, case);
        let (first, second) = records.split_at(records.len() / 2);
        let second = &rebased(second)[..];
        let tried = tried(case, first);
        let all_recent = Trial::all().iter().map(|trial| trial.near).max();
        let won = best(&tried, |_| true);
        let recent = best(&tried, |trial| Some(trial.near) == all_recent);
        let made = run(&won.twin.scaled(second.len() as u64), 1);
        print(case, first, second, &made, won.trial);
        write_shape(&mut shapes, case.0, &won.shape);
        write_shape(&mut lags, case.0, &recent.shape);
        if let Some(out) = &out {
            write_trace(&out.join(format!("{}.first.csv", case.0)), first);
            write_trace(&out.join(format!("{}.second.csv", case.0)), second);
            write_trace(&out.join(format!("{}.twin.csv", case.0)), &made);
        }
    }
    if let Some(out) = out {
        std::fs::write(out.join("shapes.toml"), shapes).expect("shapes written");
        std::fs::write(out.join("lags.toml"), lags).expect("shapes written");
    }
}

fn read(folder: &Path, (_, path, device, tick, _): &Case) -> Vec<Record> {
    let options = TraceOptions {
        device: device.map(str::to_owned),
        tick: tick.map(Nanos::from_ns),
        ..TraceOptions::default()
    };
    let mut trace = open_with(&folder.join(path), None, &options).expect("a trace");
    let mut records = Vec::new();
    while trace.fill(&mut records, 4096).expect("records") > 0 {}
    records
}

/// From time 0.
fn rebased(records: &[Record]) -> Vec<Record> {
    let start = records[0].at;
    records.iter().map(|record| Record { at: record.at - start, ..*record }).collect()
}

/// What came of a trial.
struct Tried {
    trial: Trial,
    twin: Twin,
    shape: Shape,
    /// How far its twins' reuse distances are from those of the half that is fitted.
    off: f64,
}

/// All trials that can be run, fitted on a half.
fn tried(case: &Case, half: &[Record]) -> Vec<Tried> {
    let source = format!("fitted on the first half of an excerpt of {} requests", half.len() * 2);
    let (mut real, first) = distances(half);
    let mut list = Vec::new();
    for trial in Trial::all() {
        let (targets, shape) = fit(half, &source, trial);
        let twin = match Twin::new(case.0, targets, shape.clone()) {
            Ok(twin) => twin,
            Err(fault) => {
                eprintln!("{}: {fault}", case.0);
                continue;
            }
        };
        // Several seeds, more of few requests: a trial is not to win by luck.
        let seeds = if half.len() > 20_000 { 2 } else { 6 };
        let off: f64 = (0..seeds)
            .map(|seed| {
                let (mut made, new) = distances(&run(&twin, seed));
                kolmogorov_smirnov(&mut made, &mut real).0 + (new - first).abs()
            })
            .sum();
        list.push(Tried { trial, twin, shape, off });
    }
    list
}

/// The trial whose twins are nearest, of those that are asked for; of equals the first.
fn best(tried: &[Tried], asked: impl Fn(&Trial) -> bool) -> &Tried {
    let of = tried.iter().filter(|tried| asked(&tried.trial));
    of.min_by(|one, other| one.off.total_cmp(&other.off)).expect("a trial that can be run")
}

fn run(twin: &Twin, seed: u64) -> Vec<Record> {
    let mut records = Vec::new();
    let mut source = twin.source(seed).expect("a twin");
    while source.fill(&mut records, 4096).expect("records") > 0 {}
    records
}

/// Reuse distances in pages, and the share of first uses.
fn distances(records: &[Record]) -> (Vec<f64>, f64) {
    let mut reuse = Reuse::new(0);
    let (mut list, mut new) = (Vec::new(), 0);
    for record in records {
        let end = record.lba + u64::from(record.sectors).max(1) - 1;
        for page in record.lba / 8..=end / 8 {
            match reuse.take(page) {
                Some(distance) => list.push(distance as f64),
                None => new += 1,
            }
        }
    }
    let share = f64::from(new) / (list.len() as f64 + f64::from(new));
    (list, share)
}

fn gaps(records: &[Record]) -> Vec<f64> {
    records.windows(2).map(|pair| (pair[1].at - pair[0].at).as_ns() as f64).collect()
}

fn print(case: &Case, first: &[Record], second: &[Record], made: &[Record], trial: Trial) {
    let halves = kolmogorov_smirnov(&mut gaps(first), &mut gaps(second)).0;
    let (twin, _) = kolmogorov_smirnov(&mut gaps(made), &mut gaps(second));
    let [(mut one, new_one), (mut two, new_two), (mut own, new_own)] =
        [first, second, made].map(distances);
    let reuse_halves = kolmogorov_smirnov(&mut one, &mut two).0;
    let (reuse_twin, chance) = kolmogorov_smirnov(&mut own, &mut two);
    let Trial { near, theta, follow, along } = trial;
    let along = if along { ", along" } else { "" };
    println!(
        "| {} ({}) | {} | {near}, {theta}, {follow}{along} | {halves:.3} | {twin:.3} | {reuse_halves:.3} | \
         {reuse_twin:.3} | {chance:.3} | {new_one:.2}, {new_two:.2}, {new_own:.2} |",
        case.0,
        case.4,
        first.len() + second.len()
    );
    if std::env::var_os("SSDLAB_VERBOSE").is_some() {
        for (what, records) in [("first", first), ("second", second), ("twin", made)] {
            let mut measure = Measure::default();
            measure.take(records);
            eprintln!("{} {what}: {:?}", case.0, measure.finish());
            let mut list = distances(records).0;
            list.sort_unstable_by(f64::total_cmp);
            let at = |share: f64| list[(share * (list.len() - 1) as f64) as usize];
            eprintln!(
                "{} reuse at 0, 5, 10, .. 100 %: {:?}",
                list.len(),
                (0..=20).map(|step| at(f64::from(step) / 20.0)).collect::<Vec<_>>()
            );
        }
    }
}

/// A shape as the catalogue holds it: tables of quantiles on lines of their own.
fn write_shape(text: &mut String, name: &str, shape: &Shape) {
    let table = toml::to_string(shape).expect("a shape");
    let table = table.replace("\n[", &format!("\n[{name}."));
    writeln!(text, "[{name}]\n{table}").expect("text");
}

/// In the format of MSR Cambridge, in which times are multiples of 100 ns.
fn write_trace(path: &Path, records: &[Record]) {
    let mut text = String::new();
    for record in records {
        let stamp = 128_166_372_000_000_000 + record.at.as_ns() / 100;
        let op = if record.op == Op::Read { "Read" } else { "Write" };
        let (offset, size) = (record.lba * 512, u64::from(record.sectors) * 512);
        writeln!(text, "{stamp},t,0,{op},{offset},{size},0").expect("text");
    }
    std::fs::write(path, text).expect("a trace written");
}
