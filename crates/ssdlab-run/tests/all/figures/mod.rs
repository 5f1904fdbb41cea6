//! Checks that the figures of every scheme on every device have not changed, whatever their names.
//!
//! `figures.txt` has a hash for each run, over all numbers of its result in ascending order and
//! over its completions. Keys, options and fields may therefore be renamed and reordered, but no
//! figure may change. `make figures` compares all runs. With `SSDLAB_RECORD_FIGURES=1`, it adds the
//! runs that the file lacks. The plain test compares a part of the runs. It skips a new scheme or
//! device, and prints a line that names it.

use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::Value;
use sha2::{Digest, Sha256};
use ssdlab_run::{PRESETS, Plan, RunResult, SCHEMES, run_uninterrupted};

/// The file of hashes.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/figures/figures.txt");

/// The plain test runs one pair of device and scheme in this many.
const PART: usize = 31;

/// Parts of a result without figures, or with figures of the machine that ran it.
const NO_FIGURES: [&str; 2] = ["sim", "provenance"];

/// Columns whose memory results have counted since the file was recorded.
const COUNTED_SINCE: [&str; 26] = [
    "block_errors_seen",
    "block_groups_seen",
    "block_measured_at",
    "block_open_times",
    "block_pool_wear",
    "block_pools",
    "block_streams",
    "blocks_collected",
    "blocks_freed",
    "bound",
    "clock_hands",
    "groups_wanted",
    "levels_across",
    "lifespans",
    "margins",
    "max_wear",
    "min_wear",
    "next_type",
    "page_writers",
    "pages_written",
    "pools_begun",
    "recent_others",
    "recent_repairs",
    "sensing_level_reads",
    "total_others",
    "total_repairs",
];

/// A stage of a drive's life: its name, workload, settings, and the requests outstanding in a
/// closed loop.
type Stage = (&'static str, &'static str, &'static str, Option<u32>);

const STAGES: [Stage; 3] = [
    ("as shipped", "random", "geometry.blocks=128 workload.footprint=512MiB", None),
    (
        "steady",
        "zipf",
        "geometry.blocks=32 ftl.overprovisioning=0.25 start.fill=1 start.steady_state=true start.invalid=0 start.used=0 \
         workload.footprint=1GiB workload.read_share=0.3 background.gc.threshold=0.1",
        Some(32),
    ),
    (
        "overwritten",
        "hotcold",
        "geometry.blocks=32 geometry.channels=2 geometry.chips=1 ftl.overprovisioning=0.25 \
         workload.footprint=128MiB workload.read_share=0.2 background.gc.threshold=0.1 \
         start.fill=0.9 start.steady_state=false start.invalid=0.1 start.used=0",
        Some(16),
    ),
];

/// Adds all numbers of a value to a list.
fn numbers(value: &Value, to: &mut Vec<String>) {
    match value {
        Value::Number(number) => to.push(number.to_string()),
        Value::Array(values) => values.iter().for_each(|value| numbers(value, to)),
        Value::Object(entries) => entries
            .iter()
            .filter(|(key, _)| !NO_FIGURES.contains(&key.as_str()))
            .for_each(|(_, value)| numbers(value, to)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Returns the hash of a result's figures.
fn hash(result: &RunResult) -> String {
    let mut found = Vec::new();
    let mut result_value = serde_json::to_value(result).expect("a result can be written");
    // Results got these fields after the file was recorded.
    result_value.as_object_mut().expect("an object").remove("streams");
    if let Some(metadata) = result_value["metadata_bytes"].as_object_mut() {
        metadata.retain(|name, _| !COUNTED_SINCE.contains(&name.as_str()));
    }
    let slowest = result_value.pointer_mut("/detail/slowest").and_then(Value::as_array_mut);
    for request in slowest.into_iter().flatten().filter_map(Value::as_object_mut) {
        request.remove("behind");
        request.remove("page_blame_us");
    }
    numbers(&result_value, &mut found);
    found.sort_unstable();
    let mut hash = Sha256::new();
    hash.update(found.join(" "));
    hash.update(result.completions_digest.to_le_bytes());
    hash.finalize().iter().take(8).fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string");
        text
    })
}

fn plan(device: &str, scheme: &str, (_, workload, set, closed): Stage) -> Plan {
    Plan {
        device: device.into(),
        scheme: scheme.into(),
        workload: Some(workload.into()),
        set: set.split_whitespace().map(str::to_owned).collect(),
        seed: 1,
        limit: Some(1500),
        closed,
        wrap: true,
        detail: true,
        ..Plan::default()
    }
}

/// Returns the line of a run in the file: a hash, or a note that the device refuses the scheme.
fn line(device: &str, scheme: &str, stage: Stage) -> String {
    let found = run_uninterrupted(&[plan(device, scheme, stage)], 1);
    let figures = found.map_or_else(|_| "refused".into(), |results| hash(&results[0]));
    format!("{figures:16} {device} {scheme} {}", stage.0)
}

/// Returns the recorded runs, each without and with its hash.
fn record() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(FILE).expect("the record");
    let run = |line: &str| line.get(17..).unwrap_or("").to_owned();
    text.lines().map(|line| (run(line), line.to_owned())).collect()
}

/// Returns the schemes, then the devices, without any run in the file.
fn unrecorded<'a>(
    recorded: &[(String, String)],
    devices: &[&'a str],
    schemes: &[&'a str],
) -> Vec<&'a str> {
    let has = |at: usize, name: &str| {
        recorded.iter().any(|(run, _)| run.split(' ').nth(at) == Some(name))
    };
    let schemes = schemes.iter().filter(|name| !has(1, name));
    schemes.chain(devices.iter().filter(|name| !has(0, name))).copied().collect()
}

/// Runs every `step`th pair of recorded device and scheme in all stages, and compares the hashes
/// with the file. Returns the schemes and devices without a record.
fn check(step: usize) -> Vec<&'static str> {
    let recorded = record();
    let [devices, schemes] = [
        PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>(),
        SCHEMES.iter().map(|scheme| scheme.name).collect(),
    ];
    let new = unrecorded(&recorded, &devices, &schemes);
    let pairs =
        devices.iter().flat_map(|device| schemes.iter().map(move |scheme| (device, scheme)));
    let known = pairs.filter(|(device, scheme)| !new.contains(device) && !new.contains(scheme));
    let mut others = Vec::new();
    for (at, (device, scheme)) in known.enumerate() {
        for stage in STAGES {
            let run = format!("{device} {scheme} {}", stage.0);
            let was = recorded.iter().find(|(of, _)| *of == run);
            let Some((_, was)) = was else { panic!("no record of {run}: {TO_RECORD}") };
            if at % step == 0 {
                let found = line(device, scheme, stage);
                others.extend((found != *was).then(|| format!("  {found}, was {was}")));
            }
        }
    }
    assert!(others.is_empty(), "figures have changed:\n{}", others.join("\n"));
    new
}

/// The command that adds the runs of new schemes and devices to the file.
const TO_RECORD: &str = "SSDLAB_RECORD_FIGURES=1 make figures";

#[test]
fn figures_of_some_pairs_are_what_they_were() {
    let new = check(PART);
    if !new.is_empty() {
        // A test's output is captured, except for what it writes itself.
        let line = format!("no record of {}: {TO_RECORD}", new.join(", "));
        writeln!(std::io::stderr(), "{line}").expect("the standard error");
    }
}

#[test]
fn a_scheme_or_device_without_any_run_is_new() {
    let recorded = [("a x steady".to_owned(), String::new())];
    assert_eq!(unrecorded(&recorded, &["a", "b"], &["x", "y"]), ["y", "b"]);
    assert!(unrecorded(&recorded, &["a"], &["x"]).is_empty());
}

#[test]
#[ignore = "minutes: make figures"]
fn figures_of_all_pairs_are_what_they_were() {
    if std::env::var_os("SSDLAB_RECORD_FIGURES").is_none() {
        let new = check(1);
        assert!(new.is_empty(), "no record of {}: {TO_RECORD}", new.join(", "));
        return;
    }
    // Add runs that the file lacks. Never replace a recorded run.
    let mut recorded = record();
    for device in PRESETS {
        for scheme in SCHEMES {
            for stage in STAGES {
                let run = format!("{} {} {}", device.name, scheme.name, stage.0);
                if !recorded.iter().any(|(of, _)| *of == run) {
                    recorded.push((run, line(device.name, scheme.name, stage)));
                }
            }
        }
    }
    let lines: Vec<String> = recorded.into_iter().map(|(_, line)| line).collect();
    std::fs::write(FILE, lines.join("\n") + "\n").expect("a file that can be written");
}
