//! Checks that the records of a run agree with its figures, and that recording changes no figure.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::path::Path;
use std::time::Instant;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use ssdlab_run::{Control, Plan, RunResult, run_all, run_uninterrupted};

/// A small drive that collects garbage, suspends programs, and retries reads.
const SETTINGS: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips=1",
    "geometry.dies=2",
    "geometry.planes=2",
    "geometry.blocks=32",
    "geometry.pages=32",
    "ftl.overprovisioning=0.25",
    "start.fill=0.9",
    "start.age_max=90d",
    "start.pe_cycles=2000",
    "physics=retries",
    "timing.decode=5us",
    "suspend=program_erase",
    "workload.footprint=24MiB",
    "workload.requests=4000",
    "workload.interarrival=700us",
    "workload.sizes=[\"2KiB\",\"4KiB\",\"16KiB\"]",
];

fn plan() -> Plan {
    let set = SETTINGS.iter().map(|line| line.to_string()).collect();
    Plan { device: "dlv-mlc-128g".into(), set, seed: 5, ..Plan::default() }
}

fn run(plan: Plan) -> RunResult {
    run_uninterrupted(&[plan], 1).unwrap_or_else(|fault| panic!("{fault}")).remove(0)
}

/// Returns the rows of a Parquet file and its metadata.
fn table(path: &Path) -> (Vec<BTreeMap<String, Field>>, BTreeMap<String, String>) {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let about = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let about = about.iter().map(|pair| (pair.key.clone(), pair.value.clone().unwrap()));
    let rows = reader.get_row_iter(None).unwrap().map(|row| {
        let row = row.unwrap();
        row.get_column_iter().map(|(name, field)| (name.clone(), field.clone())).collect()
    });
    (rows.collect(), about.collect())
}

fn whole(row: &BTreeMap<String, Field>, name: &str) -> i64 {
    match row[name] {
        Field::Long(value) => value,
        ref other => panic!("{name} is {other}"),
    }
}

fn text<'a>(row: &'a BTreeMap<String, Field>, name: &str) -> &'a str {
    match &row[name] {
        Field::Str(value) => value,
        other => panic!("{name} is {other}"),
    }
}

#[test]
fn a_run_that_is_watched_is_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| Some(folder.path().join(name));
    for closed in [None, Some(8)] {
        let mut plain = Plan { closed, ..plan() };
        if closed.is_some() {
            plain.set.retain(|line| !line.starts_with("workload.interarrival"));
        }
        let watched = Plan {
            detail: true,
            log: path("log"),
            series: path("series"),
            timeline: path("timeline"),
            interval: Some("3ms".into()),
            ..plain.clone()
        };
        assert_eq!(run(plain).results_digest, run(watched).results_digest);
    }
}

#[test]
fn lookahead_changes_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    // With held planes, the drive computes failed attempts in advance. Without, it computes
    // programs to their end.
    let cases: [(_, &[&str]); 5] = [
        (None, &["flash.hold_until_decoded=true"]),
        (Some(8), &["flash.hold_until_decoded=true"]),
        (None, &["flash.hold_until_decoded=false", "ftl.map_cache=true", "flash.array=die"]),
        (Some(8), &["flash.hold_until_decoded=false", "buffer.size=256KiB"]),
        (Some(64), &["flash.cache_read=true", "ftl.allocation=dynamic", "flash.array=die"]),
    ];
    for (closed, more) in cases {
        let mut fast = Plan { closed, detail: true, interval: Some("300us".into()), ..plan() };
        fast.set.extend(more.iter().map(|&line| line.into()));
        if closed.is_some() {
            fast.set.retain(|line| !line.starts_with("workload.interarrival"));
        }
        // A timeline records every step, so the drive computes none in advance.
        let timeline = Some(folder.path().join("timeline"));
        let plain = Plan { timeline, timeline_span: Some("1us".into()), ..fast.clone() };
        let [plain, fast] = [plain, fast].map(|plan| {
            let mut figures = serde_json::to_value(run(plan)).unwrap();
            let fields = figures.as_object_mut().unwrap();
            fields.retain(|name, _| !["sim", "provenance", "remarks"].contains(&name.as_str()));
            figures
        });
        assert!(plain["retries"].as_u64().unwrap() > 1000, "{}", plain["retries"]);
        for (field, figure) in plain.as_object().unwrap() {
            assert_eq!(*figure, fast[field], "{field}");
        }
    }
}

#[test]
fn the_log_has_every_request_and_all_of_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.parquet");
    let late = Plan { log: Some(path.clone()), warmup: Some("500".into()), ..plan() };
    let result = run(late);
    let (rows, about) = table(&path);
    assert_eq!(rows.len() as u64, result.requests);
    assert_eq!(about["ssdlab.config_hash"], result.provenance.config_hash);
    let mut sums: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
    for row in &rows {
        let latency = whole(row, "latency_ns");
        assert_eq!(latency, whole(row, "end_ns") - whole(row, "arrival_ns"));
        let parts = row.keys().filter(|name| name.ends_with("_ns"));
        let times = ["latency_ns", "end_ns", "arrival_ns"];
        let parts = parts.filter(|name| !times.contains(&name.as_str()));
        assert_eq!(latency, parts.map(|name| whole(row, name)).sum::<i64>());
        assert!(whole(row, "number") >= 500 && whole(row, "arrival_ns") >= 0);
        let sum = sums.entry(text(row, "op")).or_default();
        *sum = (sum.0 + 1, sum.1 + latency);
    }
    for (name, kind) in [("read", &result.read), ("write", &result.write)] {
        let (count, sum) = sums[name];
        assert_eq!(count, kind.requests);
        let mean = sum as f64 / count as f64 / 1e3;
        assert!((mean - kind.latency_us.mean).abs() < 1e-6, "{name}: {mean}");
    }
}

#[test]
fn the_intervals_add_up_to_the_whole() {
    for (interval, rows) in [
        (None, 200..=400),
        (Some("5ms"), 500..=700),
        (Some("10s"), 1..=1),
        (Some("50us"), 1000..=2000),
    ] {
        let interval = interval.map(str::to_owned);
        let result = run(Plan { detail: true, interval, ..plan() });
        let series = result.detail.unwrap().series;
        assert!(rows.contains(&series.len()), "{} rows", series.len());
        let sum = |figure: fn(&ssdlab_run::observe::Interval) -> u64| -> u64 {
            series.iter().map(figure).sum()
        };
        assert_eq!(sum(|row| row.reads), result.read.requests);
        assert_eq!(sum(|row| row.writes), result.write.requests);
        assert_eq!(sum(|row| row.gc_pages), result.gc.moved_pages);
        assert_eq!(sum(|row| row.retries), result.retries);
        assert_eq!(sum(|row| row.pages), result.ops["program"].values().sum::<u64>());
        assert!(result.gc.count > 10, "collection runs");
        let waf = sum(|row| row.pages) as f64 / sum(|row| row.host_pages) as f64;
        assert!((waf - result.waf.unwrap()).abs() < 1e-9);
        assert_eq!(series.last().unwrap().in_system, 0, "every request has ended");
        if let [whole] = &series[..] {
            // Intervals keep two significant digits.
            let near = |found: Option<f64>, exact: f64| (found.unwrap() / exact - 1.0).abs() < 0.01;
            assert!(near(whole.read_p99_us, result.read.latency_us.p99));
            assert!(near(whole.write_p99_us, result.write.latency_us.p99));
        }
        let time: f64 = series.iter().map(|row| row.end_s - row.start_s).sum();
        assert!((time - result.duration_s).abs() < 1e-9, "{time} of {}", result.duration_s);
        let busy: f64 = series.iter().map(|row| row.die_busy * (row.end_s - row.start_s)).sum();
        assert!((busy / time - result.utilization.die).abs() < 1e-6);
        for pair in series.windows(2) {
            assert_eq!(pair[0].end_s, pair[1].start_s);
        }
        let reads: f64 =
            series.iter().map(|row| row.read_mean_us.unwrap_or(0.0) * row.reads as f64).sum();
        let mean = reads / result.read.requests as f64;
        assert!((mean - result.read.latency_us.mean).abs() < 1e-6);
    }
}

#[test]
fn a_report_has_what_it_draws() {
    let result = run(Plan { detail: true, ..plan() });
    let detail = result.detail.unwrap();
    assert_eq!(detail.distributions.len(), 2);
    for distribution in &detail.distributions {
        let kind = if distribution.kind == "read" { &result.read } else { &result.write };
        assert_eq!(distribution.requests, kind.requests);
        assert_eq!(*distribution.points.last().unwrap(), [kind.latency_us.max, 1.0]);
        assert!(distribution.points.is_sorted_by(|a, b| a[0] < b[0] && a[1] < b[1]));
        let upto = |share: f64| distribution.points.iter().find(|point| point[1] >= share);
        assert_eq!(upto(0.5).unwrap()[0], kind.latency_us.p50);
        assert_eq!(upto(0.99).unwrap()[0], kind.latency_us.p99);
    }
    assert_eq!(detail.slowest.len(), 20);
    let slowest = &detail.slowest[0];
    assert_eq!(slowest.latency_us, result.read.latency_us.max.max(result.write.latency_us.max));
    assert!((slowest.blame_us.values().sum::<f64>() - slowest.latency_us).abs() < 1e-6);
    assert!(detail.slowest.is_sorted_by(|a, b| a.latency_us >= b.latency_us));
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len() as f64;
    assert_eq!((detail.die_busy.len(), detail.bus_busy.len()), (8, 2));
    assert!((mean(&detail.die_busy) - result.utilization.die).abs() < 1e-9);
    assert!((mean(&detail.bus_busy) - result.utilization.bus).abs() < 1e-9);
    let erases = detail.blocks.erases.concat();
    assert_eq!((detail.blocks.erases.len(), erases.len()), (8, 8 * 32));
    let worn = erases.iter().flatten().sum::<f64>() / erases.len() as f64;
    assert!((worn - result.wear.all.mean).abs() < 1e-9);
    let rber = detail.blocks.rber.expect("a rate under this physics").concat();
    assert!(rber.iter().flatten().all(|rate| (1e-5..0.1).contains(rate)));
    // Each cell covers one block.
    let spread = detail.retry_spread.expect("reads under this physics");
    assert!(spread.pages <= spread.blocks && spread.blocks > 0, "{spread:?}");
    let empty = |(rate, valid): (&Option<f64>, &Option<f64>)| rate.is_none() && *valid > Some(0.0);
    let valid = detail.blocks.valid.concat();
    assert!(rber.contains(&None) && !rber.iter().zip(&valid).any(empty));
}

#[test]
fn the_line_of_a_distribution_is_nowhere_far_from_the_requests() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.parquet");
    let result = run(Plan { detail: true, log: Some(path.clone()), ..plan() });
    let (rows, _) = table(&path);
    for distribution in &result.detail.unwrap().distributions {
        let of_kind = rows.iter().filter(|row| text(row, "op") == distribution.kind);
        let mut all: Vec<f64> = of_kind.map(|row| whole(row, "latency_ns") as f64 / 1e3).collect();
        all.sort_by(f64::total_cmp);
        let share = |upto: f64| all.partition_point(|&us| us <= upto) as f64 / all.len() as f64;
        let points = &distribution.points;
        let drawn = |us: f64| match points.partition_point(|point| point[0] <= us) {
            0 => 0.0,
            nth => points[nth - 1][1],
        };
        for &us in &all {
            // The histogram resolves latencies to a thousandth.
            let (least, most, drawn) = (share(us * 0.999), share(us), drawn(us));
            assert!(drawn <= most, "{us}: {drawn} for {most}");
            assert!(least - drawn <= 0.01, "{us}: {drawn} for {least}");
            assert!(1.0 - least >= 0.96 * (1.0 - drawn) - 1e-9, "{us}: {drawn} for {least}");
        }
        // At most a hundred points for the rise, the percentiles, and one for each fall of 4 % down
        // to one request.
        let falls = points.len() as i32 - 105;
        assert!(0.96f64.powi(falls) * all.len() as f64 > 1.0, "{} points", points.len());
    }
}

#[test]
fn the_spans_of_a_timeline_sum_to_the_time_in_which_parts_are_busy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("timeline.json");
    let variants: [&[&str]; 4] = [
        &[],
        &["flash.command_time=5us", "flash.array=\"die\""],
        &["flash.command_time=5us", "flash.cache_read=true"],
        &["flash.hold_until_decoded=true"],
    ];
    for settings in variants {
        let mut plan = Plan {
            timeline: Some(path.clone()),
            timeline_span: Some("100s".into()),
            warmup: Some("500".into()),
            ..plan()
        };
        let shorter = settings.iter().chain(&["workload.requests=1000"]);
        plan.set.extend(shorter.map(|line| line.to_string()));
        let result = run(plan);
        let timeline: serde_json::Value =
            serde_json::from_reader(File::open(&path).unwrap()).unwrap();
        // The number of dies and of buses, and their time in service.
        let mut sums = BTreeMap::from([("die", (0, 0.0)), ("bus", (0, 0.0))]);
        let mut of_track = BTreeMap::new();
        // The drive may have worked on after the last request ended.
        let mut end = 0f64;
        for event in timeline["traceEvents"].as_array().unwrap() {
            let track = (event["pid"].as_u64(), event["tid"].as_u64());
            if event["name"] == "thread_name" {
                let part = match event["args"]["name"].as_str().unwrap() {
                    "bus" => "bus",
                    "ECC engine" => continue,
                    _ => "die",
                };
                of_track.insert(track, part);
                sums.get_mut(part).unwrap().0 += 1;
            } else if let ("X", Some(part)) = (event["ph"].as_str().unwrap(), of_track.get(&track))
            {
                let length = event["dur"].as_f64().unwrap() / 1e6;
                sums.get_mut(part).unwrap().1 += length;
                end = end.max(event["ts"].as_f64().unwrap() / 1e6 + length);
            }
        }
        let share =
            |part: &str| sums[part].1 / f64::from(sums[part].0) / end.max(result.duration_s);
        let busy = &result.utilization;
        let near = |sum: f64, reported: f64| (sum - reported).abs() < 1e-6 && reported > 0.01;
        assert!(near(share("die"), busy.die), "{settings:?}: {} {}", share("die"), busy.die);
        assert!(near(share("bus"), busy.bus), "{settings:?}: {} {}", share("bus"), busy.bus);
    }
}

#[test]
fn a_timeline_has_one_thing_at_a_time_on_every_part() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("timeline.json");
    let span = Some("2s".into());
    run(Plan { timeline: Some(path.clone()), timeline_span: span, ..plan() });
    let timeline: serde_json::Value = serde_json::from_reader(File::open(&path).unwrap()).unwrap();
    assert!(timeline["otherData"]["config_hash"].is_string());
    let events = timeline["traceEvents"].as_array().unwrap();
    // The viewer does not distinguish thread 0 from a thread with its process's number, so all must
    // differ.
    let named = |what: &str, number: &str| -> Vec<u64> {
        let of = events.iter().filter(|event| event["name"] == what);
        of.map(|event| event[number].as_u64().unwrap()).collect()
    };
    let (threads, processes) = (named("thread_name", "tid"), named("process_name", "pid"));
    let mut numbers: Vec<u64> = threads.iter().chain(&processes).copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!((numbers[0], numbers.len()), (1, threads.len() + 2), "of two channels");
    let mut by_part: BTreeMap<(u64, u64), Vec<(f64, f64)>> = BTreeMap::new();
    let mut names = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let part = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        let (start, length) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        assert!((0.0..2_000_000.0).contains(&start), "{event}");
        by_part.entry(part).or_default().push((start, start + length));
        *names.entry(event["name"].as_str().unwrap().to_owned()).or_insert(0) += 1;
    }
    for spans in by_part.values() {
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0 + 1e-6), "{spans:?}");
    }
    for name in ["sense", "program", "erase", "suspend", "data out", "data in", "decode"] {
        assert!(names.get(name).is_some_and(|&count| count > 0), "no {name} among {names:?}");
    }
    assert_eq!(by_part.len(), 2 * (4 + 1 + 1), "units, buses and engines of two channels");
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("no/such/folder/file");
    let paths = [
        (nowhere, "No such file or directory"),
        (folder.path().to_owned(), "is a folder"),
        ("/dev/null".into(), "is a pipe or a device"),
    ];
    for (path, reason) in paths {
        let there = || Some(path.clone());
        let plans = [
            ("--log", Plan { log: there(), ..plan() }),
            ("--series", Plan { series: there(), ..plan() }),
            ("--timeline", Plan { timeline: there(), ..plan() }),
        ];
        for (option, plan) in plans {
            let line = run_uninterrupted(&[plan], 1).unwrap_err().to_string();
            assert_eq!(line, format!("{option}: cannot write {path:?}: {reason}"));
        }
    }
    let options = [
        (Plan { interval: Some("1s".into()), ..plan() }, "--interval: an option without effect"),
        (Plan { timeline_span: Some("1s".into()), ..plan() }, "--timeline-span: an option without"),
        (Plan { detail: true, interval: Some("0s".into()), ..plan() }, "a time above 0"),
        (
            Plan { log: Some(folder.path().join("log.csv")), ..plan() },
            "log.csv\", expected a name that ends in .parquet",
        ),
        (
            Plan { series: Some(folder.path().join("rows.JSON")), ..plan() },
            "--series: the file is in Parquet: got",
        ),
    ];
    for (plan, expected) in options {
        let line = run_uninterrupted(&[plan], 1).unwrap_err().to_string();
        assert!(line.contains(expected), "{line}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_report_of_many_intervals_joins_them_and_says_so_while_a_file_has_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.parquet");
    let interval = Some("50us".to_owned());
    let plan = Plan { detail: true, interval, series: Some(path.clone()), ..plan() };
    let result = run(plan.clone());
    let joined = result.detail.unwrap().series;
    let span = joined[0].end_s - joined[0].start_s;
    assert_eq!(
        result.remarks,
        [format!(
            "--interval 50us makes over 2000 intervals: in the report several are joined to one of \
             {}us (--series FILE has each)",
            (span * 1e6).round()
        )]
    );
    let (each, _) = table(&path);
    let most = (result.duration_s / 50e-6).ceil() as usize;
    assert!((most - 1..=most + 1).contains(&each.len()), "{} rows of {most}", each.len());
    assert_eq!(whole(&each[each.len() - 1], "in_system"), 0);
    let reads: i64 = each.iter().map(|row| whole(row, "reads")).sum();
    assert_eq!(reads as u64, result.read.requests);
    // If all intervals fit, none is merged, and there is no remark.
    let fits = run(Plan { series: None, interval: Some("3ms".into()), ..plan });
    assert!(fits.remarks.is_empty(), "{:?}", fits.remarks);
}

#[test]
fn a_file_with_tens_of_millions_of_intervals_is_refused_before_the_run_and_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let series = Some(folder.path().join("series.parquet"));
    for (warmup, interval) in [(None, "200ns"), (None, "1ns"), (Some("1000"), "1ns")] {
        let warmup = warmup.map(str::to_owned);
        let (series, interval) = (series.clone(), Some(interval.to_owned()));
        let wrong = Plan { series, interval: interval.clone(), warmup, ..plan() };
        let control = Control::new(1);
        let outcome = run_all(&[wrong], Some(1), &control).expect("plans that can be run");
        let fault = outcome.fault.expect("a fault").to_string();
        let what = "--interval: a series of more than 10000000 intervals";
        assert_eq!(fault, format!("{what}: got {}, expected a longer interval", interval.unwrap()));
        assert_eq!(control.progress[0].read().1, 0, "requests were done");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how long it takes is what is tested")]
fn a_gap_of_too_many_intervals_is_refused_as_soon_as_it_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.csv");
    // The gap lies after the requests that a run checks in advance.
    let mut lines = String::from("time_us,dev,op,offset_bytes,size_bytes\n");
    (0..1_100_000).for_each(|at| writeln!(lines, "{},0,R,0,512", at / 1000).unwrap());
    lines += "1000000000000,0,R,0,512\n";
    std::fs::write(&trace, lines).unwrap();
    let mut plan = plan();
    plan.set.retain(|line| !line.starts_with("workload."));
    let series = Some(folder.path().join("series.parquet"));
    let interval = Some("1ms".to_owned());
    let began = Instant::now();
    let wrong = Plan { series, interval, trace: Some(trace.display().to_string()), ..plan };
    let fault = run_uninterrupted(&[wrong], 1).map(drop).expect_err("a fault").to_string();
    assert!(fault.starts_with("--interval: a series of more than 10000000 intervals"), "{fault}");
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}
