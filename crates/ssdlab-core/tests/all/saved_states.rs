//! A saved state is either refused or good for a run, whatever was changed in it.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::de::DeserializeSeed;
use serde_json::{Value, json};
use ssdlab_base::rng;
use ssdlab_core::Pace;
use ssdlab_core::drive::{Media, Misfit, Unchecked};
use ssdlab_core::saved::Limits;
use ssdlab_core::{Drive, Op, Resolved};

use crate::support::{Rig, SPP, config};

/// Drives that save every kind of state.
const DRIVES: [&[&str]; 10] = [
    &["ftl.partial_writes = \"sector_bitmap\""],
    &["physics = { retries = {} }", "geometry.channels = 2", "flash.time_scale = 1000"],
    &[
        "physics = { levels = {} }",
        "metadata.block_class = \"factory\"",
        "timing.program_modes = [{ name = \"normal\" }, { name = \"strong\", base_factor = 3.0 }]",
        "program_mode = [{ per_class = { modes = [\"strong\"] } }]",
    ],
    &["ftl.page_order = \"relaxed\"", "geometry.channels = 2"],
    &[
        "buffer = { size = \"16KiB\", latency = \"1us\" }",
        "metadata.page_hotness.buffer = { initial = \"none\" }",
        "placement = [\"hotness\"]",
        "ftl.overprovisioning = 0.4",
    ],
    &[
        "geometry = { channels = 2, blocks = 60 }",
        "physics = { levels = { base = { shares = [1, 1, 1, 1, 1, 1, 1] } } }",
        "metadata.block_class = { measured = { read_hot_share = 0.3 } }",
        "background.read_hot_migration = true",
    ],
    &[
        "physics = { retries = {} }",
        "metadata.retry_estimate.predicted = { age = [0.1, 1e-4, 1e-5, 1e-3, 1e-3], initial = [20.0, 30.0] }",
        "metadata.retry_estimate.predicted = { growth = [40.0, 0.3, 1e-3], thresholds = [72.0, 84.0] }",
        "ftl.free_block_policy = \"fewest_retries\"",
    ],
    &[
        "geometry = { blocks = 96 }",
        "ftl.overprovisioning = 0.4",
        "placement = [\"sepbit\"]",
        "physics = { levels = {} }",
        "read_start = \"last_level\"",
    ],
    &["physics = { levels = {} }", "read_start = \"sl_table\""],
    &["physics = { retries = {} }", "read_start = { last_vref = { layers = 2 } }"],
];

/// Returns the media of random pages, some of them overwritten, partly written or trimmed; the
/// drive is idle.
fn used(sets: &[&str]) -> Media {
    let mut rig = Rig::new(sets);
    for n in 0..150 {
        step(&mut rig, n).unwrap();
    }
    rig.finish();
    if rig.drive.resolved().buffer_pages > 0 {
        rig.offer(Op::Flush, 0, 0, 0).unwrap();
        rig.finish();
    }
    rig.drive.media().unwrap()
}

/// Submits one of many requests.
fn step(rig: &mut Rig, n: u64) -> Result<(), String> {
    let page = rng::hash(1, 2, n) % 70;
    rig.wait_below(4)?;
    let (op, first, sectors) = match n % 10 {
        0 => (Op::Trim, 0, SPP),
        1 => (Op::Write, 2, 3),
        2..5 => (Op::Read, 0, SPP),
        _ => (Op::Write, 0, SPP),
    };
    rig.offer(op, page * SPP + first, sectors, 0)
        .map(drop)
        .map_err(|refused| format!("{refused:?}"))
}

/// Returns the drive that starts with these saved columns, if they are valid for it.
fn taken_up(resolved: &Arc<Resolved>, columns: &Value) -> Result<Option<Drive>, String> {
    let limits = Limits::new(resolved.geometry(), 1 << 24);
    let read = Unchecked::reader(&limits).deserialize(columns);
    let media = read.map_err(|error| error.to_string())?.check(resolved.geometry())?;
    match Drive::with_media(resolved.clone(), media) {
        Ok(drive) => Ok(Some(drive)),
        Err(Misfit::OtherShape) => Ok(None),
        Err(Misfit::Inconsistent(what)) => Err(what),
    }
}

/// Runs a drive under the auditor.
fn works(drive: Drive) -> Result<(), String> {
    let mut rig = Rig { drive, done: Vec::new(), tag: 0 };
    rig.drive.audit()?;
    assert!(rig.drive.start_audit(Pace::Every(1)));
    for n in 0..60 {
        step(&mut rig, n)?;
    }
    rig.wait_below(1)?;
    rig.drive.audit()
}

/// Collects the numbers in a value.
fn numbers<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Value>) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| numbers(value, found)),
        Value::Object(values) => values.values_mut().for_each(|value| numbers(value, found)),
        Value::Number(_) => found.push(value),
        _ => {}
    }
}

/// Returns another number in place of this one.
fn another(was: &Value, draw: u64) -> Value {
    let ends = [
        json!(0),
        json!(1),
        json!(255),
        json!(u16::MAX),
        json!(u32::MAX),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(-1),
        json!(1e38),
        json!(u32::MAX / 2),
        json!(127),
    ];
    let near = |by: i64| was.as_i64().map_or(json!(0.5), |was| json!(was.saturating_add(by)));
    match draw % 20 {
        0..6 => near([-1, 1, 2, 8, -8, 16][draw as usize % 6]),
        6..9 => json!((draw >> 8) % 128),
        at => ends[(at as usize - 9 + (draw >> 16) as usize) % ends.len()].clone(),
    }
}

#[test]
fn whatever_number_is_changed_it_is_refused_or_the_drive_works() {
    let (mut refused, mut worked) = (0, 0);
    for (at, sets) in DRIVES.iter().enumerate() {
        let resolved = Arc::new(Resolved::new(&config(sets), 1).unwrap());
        let saved = serde_json::to_value(used(sets)).unwrap();
        works(taken_up(&resolved, &saved).unwrap().expect("the drive itself")).unwrap();
        for round in 0..400 {
            let mut columns = saved.clone();
            let mut found = Vec::new();
            numbers(&mut columns, &mut found);
            let draw = |purpose| rng::hash(at as u64, purpose, round);
            let place = draw(1) as usize % found.len();
            let was = found[place].clone();
            *found[place] = another(&was, draw(2));
            let what = format!("{sets:?}: number {place}, {was} -> {}", found[place]);
            let outcome = catch_unwind(AssertUnwindSafe(|| match taken_up(&resolved, &columns) {
                Err(_) | Ok(None) => Ok(false),
                Ok(Some(drive)) => works(drive).map(|()| true),
            }));
            match outcome {
                Ok(Ok(true)) => worked += 1,
                Ok(Ok(false)) => refused += 1,
                Ok(Err(error)) => panic!("{what}: {error}"),
                Err(_) => panic!("{what}: see above"),
            }
        }
    }
    // Values that are only bounded and have little effect, such as wear, may take any number.
    assert!(refused > worked && worked > 50, "{refused} refused, {worked} worked");
}

#[test]
fn a_column_that_is_too_long_or_too_short_is_refused() {
    let mut endless = BTreeSet::new();
    for sets in DRIVES {
        let resolved = Arc::new(Resolved::new(&config(sets), 1).unwrap());
        let saved = serde_json::to_value(used(sets)).unwrap();
        let columns = saved.as_array().unwrap().len();
        for column in
            (0..columns).filter(|&at| saved[at].as_array().is_some_and(|it| !it.is_empty()))
        {
            let length = saved[column].as_array().unwrap().len();
            // A column longer than any drive's takes long to build: each is tried once.
            let lengths = if endless.insert(column) { 4 } else { 3 };
            for length in [0, length - 1, length + 1, 1 << 20].into_iter().take(lengths) {
                let mut changed = saved.clone();
                let entries = changed[column].as_array_mut().unwrap();
                let last = entries[entries.len() - 1].clone();
                entries.resize(length, last);
                let drive = taken_up(&resolved, &changed);
                let is_refused = !matches!(drive, Ok(Some(_)));
                // No page was trimmed, all were programmed normally, and their kinds are unknown.
                let optional = length == 0 && [2, 14].contains(&column);
                // A drive ignores the metadata of another drive's pages.
                let optional =
                    optional || column == 15 && length < saved[0].as_array().unwrap().len();
                // A policy with incomplete state starts new.
                let optional = optional || column == 16 && length < 1 << 20;
                assert!(is_refused || optional, "{sets:?}: column {column} of {length}");
            }
        }
    }
}

#[test]
fn contradictions_in_a_saved_state_are_named() {
    let sets = &["ftl.partial_writes = \"sector_bitmap\""][..];
    let resolved = Arc::new(Resolved::new(&config(sets), 1).unwrap());
    let saved = serde_json::to_value(used(sets)).unwrap();
    let of_state = |state: &str| {
        let states = saved[3].as_array().unwrap();
        states.iter().position(|it| it == state).unwrap()
    };
    let mapped = saved[0].as_array().unwrap().iter().position(|it| *it != json!(0)).unwrap();
    let free = of_state("Free");
    let open = saved[11][0]["block"].as_u64().unwrap();
    let cases = [
        ([0, mapped], json!(129), "beyond the drive"),
        ([0, mapped], json!(1 + 8 * free), "which is not written"),
        ([1, mapped], json!(256), "marks impossible sectors as missing"),
        ([3, of_state("Closed")], json!("Victim"), "which is not written"),
        ([3, of_state("Closed")], json!("Free"), "which is not written"),
        ([4, free], json!(1), "is Free with 1 written pages"),
        ([5, of_state("Closed")], json!(99), "valid pages and counts 99"),
        ([6, 0], json!(u32::MAX), "was erased 4294967295 times"),
        ([7, 0], json!(u32::MAX), "close time 4294967295 is after the clock"),
        ([11, 0], json!({"block": 16, "writer": 0, "stream": 0, "next": 1}), "is beyond the drive"),
        (
            [11, 0],
            json!({"block": open, "writer": 9, "stream": 0, "next": 1}),
            "has an invalid writer, stream or number of pages",
        ),
        (
            [11, 0],
            json!({"block": open, "writer": 0, "stream": 0, "next": 8}),
            "has an invalid writer, stream or number of pages",
        ),
        (
            [11, 0],
            json!({"block": free, "writer": 0, "stream": 0, "next": 1}),
            "which is not written",
        ),
    ];
    for ([column, row], value, what) in cases {
        let mut changed = saved.clone();
        changed[column][row] = value.clone();
        let line = taken_up(&resolved, &changed).map(|_| ()).unwrap_err();
        assert!(line.contains(what), "{column}.{row} = {value}: {line}");
    }
    let mut twice = saved.clone();
    let one = saved[0][mapped].clone();
    let other = (mapped + 1..).find(|&at| saved[0][at] != json!(0)).unwrap();
    twice[0][other] = one;
    let line = taken_up(&resolved, &twice).map(|_| ()).unwrap_err();
    assert!(line.contains("which holds another"), "{line}");
}

#[test]
fn a_column_takes_no_more_memory_than_there_is() {
    let resolved = Resolved::new(&config(&[]), 1).unwrap();
    let saved = serde_json::to_value(used(&[])).unwrap();
    let limits = Limits::new(resolved.geometry(), 300);
    assert!(Unchecked::reader(&limits).deserialize(&saved).is_err());
    assert_eq!(limits.lacked(), Some(4 * u64::from(resolved.logical_pages)));
}

#[test]
fn a_policy_may_have_columns_that_are_longer_than_the_drive_has_pages() {
    let resolved = Arc::new(Resolved::new(&config(&[]), 1).unwrap());
    let mut saved = serde_json::to_value(used(&[])).unwrap();
    let numbers_of_32_bits = 2;
    let values = vec![7; 1 << 16];
    let table = json!([b"read_start/table/0/values", numbers_of_32_bits, values]);
    let policies = saved.as_array_mut().and_then(|columns| columns.last_mut());
    policies.and_then(Value::as_array_mut).expect("the columns of policies").push(table);
    assert!(taken_up(&resolved, &saved).expect("a valid state").is_some());
    // Memory limits them.
    let limits = Limits::new(resolved.geometry(), 1 << 17);
    assert!(Unchecked::reader(&limits).deserialize(&saved).is_err());
    assert!(limits.lacked().is_some());
}
