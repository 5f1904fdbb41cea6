//! Compares real traces with a normalized copy beside each.
//!
//! The traces are not part of the project. Set `SSDLAB_TRACES=DIR` to a folder of folders, each
//! with `orig_*` and `trace.csv.zst` with the columns
//! `time_us,dev,op,offset_bytes,size_bytes[,resp_us]`. Without it, the test says that it was
//! skipped.

use std::io::Read;
use std::path::{Path, PathBuf};

use ssdlab_base::Nanos;
use ssdlab_workload::measure::{Measure, PageCaches, Writes};
use ssdlab_workload::{Format, Op, Record, TraceOptions, open_with};

use crate::drain;

/// An original, the options for reading it, and the largest error of its normalized times.
#[derive(Clone, Copy)]
struct Case {
    /// The file, in the folder of its normalized copy unless it names another.
    original: &'static str,
    normalized: &'static str,
    format: &'static str,
    device: Option<&'static str>,
    tick: Option<Nanos>,
    slack_ns: u64,
    /// The trims and the flushes of the original, which the normalized copy leaves out.
    trims: u64,
    flushes: u64,
}

const fn case(normalized: &'static str, original: &'static str, format: &'static str) -> Case {
    Case {
        original,
        normalized,
        format,
        device: None,
        tick: None,
        slack_ns: 0,
        trims: 0,
        flushes: 0,
    }
}

/// The normalizer stored MSR times as doubles of microseconds since 1601, in steps of 2 us.
const fn msr(normalized: &'static str, original: &'static str) -> Case {
    Case { slack_ns: 2_000, ..case(normalized, original, "msr") }
}

/// The published excerpts of four volumes are one file, with whole seconds.
const fn web(device: &'static str, normalized: &'static str) -> Case {
    let original = "../msr_web_0_first1000/orig_pre-processed_first_1000.csv";
    let tick = Some(Nanos::from_ms(1000));
    Case { device: Some(device), tick, ..msr(normalized, original) }
}

const CASES: &[Case] = &[
    case("cloudphysics_114k", "orig_cloudPhysicsIO.vscsi", "vscsi"),
    case("diskmon_mayun", "orig_mayun.txt", "diskmon"),
    case("diskmon_mayun4", "orig_mayun4.txt", "diskmon"),
    case("diskmon_systemdisk1", "orig_systemdisk1", "disksim"),
    Case { flushes: 343, ..case("etw_windows_ssd_172k", "orig_etw.csv", "wpa") },
    case("fiu_homes_1k", "orig_home-sample.ascii", "ssdsim"),
    case("hfplayer_scrub_512MB_Q1", "orig_scrub-512MB-Q1.csv.500", "hfplayer"),
    case("hfplayer_small_tpch", "orig_small-tpch.csv", "hfplayer"),
    case("mqsim_tpcc_small", "orig_tpcc-small.trace", "mqsim"),
    // The published stamps are microseconds, as the manifest says; no line shows it.
    Case { tick: Some(Nanos::from_us(1)), ..case("msps_dtrs_5min", "orig_DTRS1K.trace", "mqsim") },
    case("msr_cut10k_most_thpt_rand_iops_1006", "orig_trace", "heimdall"),
    case("msr_cut10k_rw_20_80_105", "orig_trace", "heimdall"),
    msr("msr_hm_0_7k", "orig_hm_0.csv"),
    msr("msr_hm_0_writes1k", "orig_hm_0.csv"),
    msr("msr_mds_0_writes1k", "orig_mds_0.csv"),
    msr("msr_proj_0_writes1k", "orig_proj_0.csv"),
    msr("msr_rsrch_1_full", "orig_rsrch_1.csv"),
    msr("msr_rsrch_2_writes1k", "orig_rsrch_2.csv"),
    msr("msr_wdev_1_full", "orig_wdev_1.csv"),
    msr("msr_wdev_3_full", "orig_wdev_3.csv"),
    web("web_0", "msr_web_0_first1000"),
    web("web_1", "msr_web_1_first1000"),
    web("web_2", "msr_web_2_first1000"),
    web("web_3", "msr_web_3_first1000"),
    case("msssd_iozone100k", "orig_iozone.trace", "disksim"),
    case("spc_financial1_10k", "orig_example.ascii", "mqsim"),
    case("spc_sub_financial1", "orig_trace1", "spc"),
    case("spc_sub_financial2_a", "orig_trace2", "spc"),
    case("spc_sub_websearch1", "orig_trace4", "spc"),
    case("spc_sub_websearch3", "orig_trace6", "spc"),
    case("spc_websearch1_24k", "orig_wsrch-small.trace", "mqsim"),
    case("wiscsee_sqlitewal_reqscale", "orig_events.txt", "wiscsee"),
    Case { trims: 1, ..case("wiscsee_sqlitewal_update", "orig_events.txt", "wiscsee") },
    case("ycsb_rocksdb_ssdtrace_head", "orig_sample.blkparse", "blkparse"),
];

/// The publisher's own statistics, which are not a trace.
const NO_TRACES: &[&str] = &["orig_stats.zst"];

/// Returns the folder of the traces, if it is set.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("SSDLAB_TRACES").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: SSDLAB_TRACES=DIR names no folder of real traces");
    }
    folder
}

/// Returns the requests of a normalized file, each with its device.
fn normalized(path: &Path) -> Vec<(String, Record)> {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    zstd::Decoder::new(file).unwrap().read_to_string(&mut text).unwrap();
    let record = |line: &str| {
        let columns: Vec<&str> = line.split(',').collect();
        let (offset, size): (u64, u64) = (columns[3].parse().unwrap(), columns[4].parse().unwrap());
        assert_eq!((offset % 512, size % 512), (0, 0));
        let (us, thousandths) = columns[0].split_once('.').unwrap();
        let ns = us.parse::<u64>().unwrap() * 1000 + thousandths.parse::<u64>().unwrap();
        let op = if columns[2] == "R" { Op::Read } else { Op::Write };
        (columns[1].to_owned(), crate::record(ns, offset / 512, (size / 512) as u32, op))
    };
    text.lines().skip(1).map(record).collect()
}

fn path_of(folder: &Path, case: &Case) -> PathBuf {
    folder.join(case.normalized).join(format!("{}.zst", case.original))
}

/// Returns the original's reads and writes. Checks its format, and prints its warnings.
fn original(folder: &Path, case: &Case, device: Option<&str>) -> Vec<Record> {
    let options = TraceOptions {
        device: device.or(case.device).map(str::to_owned),
        tick: case.tick,
        ..TraceOptions::default()
    };
    let mut trace = open_with(&path_of(folder, case), None, &options).unwrap();
    let mut got = drain(&mut trace).unwrap_or_else(|fault| panic!("{fault}"));
    got.retain(|record| matches!(record.op, Op::Read | Op::Write));
    let (format, counts) = (trace.recognized().format.name(), trace.counts());
    assert_eq!(format, case.format, "{}", case.normalized);
    assert_eq!(got.len() as u64, counts.requests);
    if device.is_none() {
        assert_eq!((counts.trims, counts.flushes), (case.trims, case.flushes), "{counts:?}");
        println!("{} {}: {counts:?}", case.normalized, case.original);
        trace.remarks().iter().for_each(|remark| println!("    {remark}"));
    }
    got
}

/// Compares requests, with times counted from the first of each. Returns the largest error.
fn compare(case: &Case, got: &[Record], want: &[Record]) -> u64 {
    assert_eq!(got.len(), want.len(), "{}", case.normalized);
    let (got_first, want_first) = (got[0].at, want[0].at);
    let mut furthest = 0;
    for (line, (got, want)) in got.iter().zip(want).enumerate() {
        let at = [got.at - got_first, want.at - want_first].map(Nanos::as_ns);
        let off = at[0].abs_diff(at[1]);
        furthest = furthest.max(off);
        let name = case.normalized;
        assert!(off <= case.slack_ns, "{name}: request {line} is off by {off} ns");
        assert_eq!(Record { at: want.at, ..*got }, *want, "{name}: {line}");
    }
    furthest
}

#[test]
fn every_original_reads_as_its_normalized_form() {
    let Some(folder) = folder() else { return };
    for case in CASES {
        let got = original(&folder, case, None);
        let want = normalized(&folder.join(case.normalized).join("trace.csv.zst"));
        let records: Vec<Record> = want.iter().map(|(_, record)| *record).collect();
        let furthest = compare(case, &got, &records);
        println!("    {} requests equal, times off by {furthest} ns at most", got.len());
    }
}

#[test]
fn each_device_of_an_original_has_the_requests_of_its_normalized_form() {
    let Some(folder) = folder() else { return };
    for case in CASES {
        let want = normalized(&folder.join(case.normalized).join("trace.csv.zst"));
        let mut devices: Vec<&str> = want.iter().map(|(device, _)| device.as_str()).collect();
        devices.sort_unstable();
        devices.dedup();
        for device in devices {
            let got = original(&folder, case, Some(device));
            let of_it = want.iter().filter(|(of, _)| of == device);
            let records: Vec<Record> = of_it.map(|(_, record)| *record).collect();
            compare(case, &got, &records);
        }
    }
}

#[test]
fn every_normalized_form_reads_as_our_own_csv() {
    let Some(folder) = folder() else { return };
    for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        let path = entry.path().join("trace.csv.zst");
        if !path.exists() {
            continue;
        }
        let mut trace = open_with(&path, None, &TraceOptions::default()).unwrap();
        assert_eq!(trace.recognized().format, Format::Ssdlab, "{}", path.display());
        assert_eq!(trace.remarks(), Vec::<String>::new());
        let got = drain(&mut trace).unwrap_or_else(|fault| panic!("{fault}"));
        let want: Vec<Record> = normalized(&path).into_iter().map(|(_, record)| record).collect();
        assert!(got == want, "{}", path.display());
    }
}

/// The figures behind the twins of volumes with a whole trace: the pages touched, the distinct
/// ones, those read and those written. Then the pages of a cache, and its hit ratio. Source:
/// nusbaoning/multi_tenant_cache.
const WEEKS: &[(&str, [u64; 4], u64, f64)] = &[
    ("msr_rsrch_1_full", [42_413, 28_775, 144, 28_769], 2877, 0.233_937_707_778),
    ("msr_wdev_1_full", [1354, 369, 0, 369], 36, 0.725_997_045_79),
    ("msr_wdev_3_full", [1586, 316, 183, 133], 31, 0.781_210_592_686),
];

#[test]
fn the_tables_of_whole_weeks_agree_with_whole_traces() {
    let Some(folder) = folder() else { return };
    for (name, pages, size, ratio) in WEEKS {
        let path = folder.join(name).join("trace.csv.zst");
        let records: Vec<Record> = normalized(&path).into_iter().map(|(_, one)| one).collect();
        let mut measure = Measure::default();
        measure.take(&records);
        let of = measure.finish();
        let touched = of.page_reads + of.page_writes;
        assert_eq!([touched, of.footprint_pages, of.read_pages, of.write_pages], *pages, "{name}");
        let mut cache = PageCaches::new(&[*size], Writes::Cached);
        cache.take(&records);
        let [reads, writes] = cache.ratios()[0].map(Option::unwrap_or_default);
        let hits = reads * of.page_reads as f64 + writes * of.page_writes as f64;
        assert!((hits / touched as f64 - ratio).abs() < 1e-9, "{name}: {hits}");
    }
}

#[test]
fn no_original_is_left_out() {
    let Some(folder) = folder() else { return };
    let known: Vec<PathBuf> =
        CASES.iter().map(|case| path_of(&folder, case).canonicalize().unwrap()).collect();
    for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        let Ok(files) = std::fs::read_dir(entry.path()) else { continue };
        for path in files.map(|file| file.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if !name.starts_with("orig_") || known.contains(&path.canonicalize().unwrap()) {
                continue;
            }
            assert!(NO_TRACES.contains(&name.as_str()), "{} is not read", path.display());
            let fault = open_with(&path, None, &TraceOptions::default()).err();
            let fault = fault.unwrap_or_else(|| panic!("{name} was taken for ours")).to_string();
            assert!(fault.contains("trace format not recognized"), "{fault}");
        }
    }
}
