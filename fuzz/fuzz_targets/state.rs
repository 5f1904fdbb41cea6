//! A state file whose hashes are right and whose tables may be anything: refused in one line, or
//! good for a run that the auditor finds nothing wrong with.

#![no_main]

use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use serde::de::DeserializeSeed;
use serde_json::{Value, json};
use ssdlab_base::SimTime;
use ssdlab_core::Pace;
use ssdlab_core::drive::{Media, Unchecked};
use ssdlab_core::saved::Limits;
use ssdlab_core::{Drive, Op, Request, Resolved};
use ssdlab_run::state::Header;
use ssdlab_run::{Control, Plan, read_state, save_state, write_state};

/// A drive, and what one was saved with.
struct Saved {
    resolved: Arc<Resolved>,
    header: Header,
    columns: Value,
}

/// A bundle of settings for each of the drives.
const DRIVES: [(&str, &str, &[&str]); 6] = [
    ("dlv-mlc-128g", "conventional", &["ftl.partial_writes=sector_bitmap"]),
    ("dlv-mlc-128g", "dlv", &["start.invalid=0.1"]),
    ("pa-ssd-tlc-288g", "us", &["ftl.page_order=relaxed", "start.used=0"]),
    ("readguard-tlc-2t-old", "baseline", &["ftl.overprovisioning=0.5"]),
    ("five-tlc-512g", "hire/hire", &["buffer.size=512KiB"]),
    ("pv-read-mlc-128g", "pv-read/pv-read", &["start.used=0"]),
];

fn saved() -> &'static [Saved] {
    static SAVED: OnceLock<Vec<Saved>> = OnceLock::new();
    SAVED.get_or_init(|| DRIVES.iter().filter_map(|of| save(*of)).collect())
}

fn save((device, scheme, more): (&str, &str, &[&str])) -> Option<Saved> {
    let shape = [
        "geometry.channels=2",
        "geometry.chips=1",
        "geometry.dies=1",
        "geometry.planes=1",
        "geometry.blocks=60",
        "geometry.pages=12",
        "ftl.overprovisioning=0.5",
        "start.fill=0.6",
    ];
    let plan = Plan {
        device: device.into(),
        scheme: scheme.into(),
        set: shape.iter().chain(more).map(|set| set.to_string()).collect(),
        ..Plan::default()
    };
    let path = std::env::temp_dir().join(format!("ssdlab-fuzz-{}.state", std::process::id()));
    match save_state(&plan, &path, &Control::new(1)) {
        Err(fault) => panic!("{device} {scheme}: {fault}"),
        Ok(header) => header?,
    };
    let bytes = std::fs::read(&path).ok()?;
    let _ = std::fs::remove_file(&path);
    let (header, media) = read_state("saved", &bytes, &Control::new(0)).expect("as written")?;
    let columns = serde_json::to_value(&media).expect("columns");
    Some(Saved { resolved: plan.prepare().expect("a plan").resolved, header, columns })
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, changes)) = data.split_first() else { return };
    let saved = &saved()[usize::from(choice) % saved().len()];
    let mut columns = saved.columns.clone();
    changes.chunks_exact(8).take(6).for_each(|change| apply(&mut columns, change));
    let geometry = saved.resolved.geometry();
    let limits = Limits::new(geometry, 1 << 26);
    let Ok(contents) = Unchecked::reader(&limits).deserialize(&columns) else { return };
    let mapped =
        columns[0].as_array().map_or(0, |map| map.iter().filter(|it| **it != json!(0)).count());
    let header = Header { mapped_pages: mapped as u64, ..saved.header.clone() };
    let mut file = Vec::new();
    write_state(&mut file, header, &contents).expect("memory takes everything");
    match read_state("state", &file, &Control::new(0)) {
        Err(fault) => one_line(&fault.to_string()),
        Ok(read) => run(saved, read.expect("nobody stops it").1),
    }
});

fn one_line(line: &str) {
    assert!(!line.contains(char::is_control) && line.contains("is inconsistent: "), "{line:?}");
}

/// Changes a number, or the length of a column.
fn apply(columns: &mut Value, change: &[u8]) {
    let place = usize::from(u16::from_le_bytes([change[0], change[1]]));
    let value = u32::from_le_bytes([change[4], change[5], change[6], change[7]]);
    if change[2] & 0x80 != 0 {
        let count = columns.as_array().map_or(1, Vec::len);
        if let Some(column) = columns[place % count].as_array_mut() {
            let other = value as usize % (column.len() + 2);
            match change[2] & 3 {
                0 => column.truncate(other),
                1 => column.extend(column.last().cloned()),
                2 if other < column.len() => column.swap(0, other),
                _ => column.reverse(),
            }
        }
        return;
    }
    let mut found = Vec::new();
    numbers(columns, &mut found);
    let count = found.len().max(1);
    let Some(number) = found.into_iter().nth(place % count) else { return };
    let near = |by: i64| number.as_i64().map_or(json!(0.5), |was| json!(was.wrapping_add(by)));
    *number = match change[2] & 7 {
        0 | 1 => near(i64::from(change[3] as i8)),
        2 => json!(u64::from(value) << (change[3] % 33)),
        3 => json!(-(i64::from(value) << (change[3] % 32))),
        4 => json!(f64::from(f32::from_bits(value))),
        _ => json!(value % 256),
    };
}

fn numbers<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Value>) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| numbers(value, found)),
        Value::Object(values) => values.values_mut().for_each(|value| numbers(value, found)),
        Value::Number(_) => found.push(value),
        _ => {}
    }
}

/// A few requests, under the eyes of the auditor.
fn run(saved: &Saved, media: Media) {
    let Ok(mut drive) = Drive::with_media(saved.resolved.clone(), media) else { return };
    drive.audit().expect("a drive that was checked");
    assert!(drive.start_audit(Pace::Every(1)));
    let spp = saved.resolved.sectors() / u64::from(saved.resolved.logical_pages);
    let mut done = Vec::new();
    for n in 0..80u64 {
        let page = n * 7919 % u64::from(saved.resolved.logical_pages);
        let op = [Op::Write, Op::Read, Op::Write, Op::Trim][(n % 4) as usize];
        let (arrival, lba) = (drive.now(), page * spp);
        let sectors = if n % 5 == 0 { 1 } else { spp as u32 };
        let request = Request { tag: n, arrival, op, lba, sectors, queue: 0, hint: 0 };
        drive.submit(arrival, request).expect("room for one");
        while drive.unfinished() > 3 {
            let Some(next) = drive.next_event() else { return };
            drive.advance_once(next, &mut done);
            assert_eq!(drive.violation(), None);
        }
    }
    drive.advance(SimTime::from_ns(drive.now().as_ns() + 10_000_000_000), &mut done);
    assert_eq!(drive.violation(), None);
}
