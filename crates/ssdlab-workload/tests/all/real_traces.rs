//! Real traces against the normalised form kept beside each.
//!
//! They are not part of the project. `SSDLAB_TRACES=DIR cargo test -- --ignored` runs this on a
//! folder of folders, each with `orig_*` and `trace.csv.zst` of the columns
//! `time_us,dev,op,offset_bytes,size_bytes[,resp_us]`.

use std::io::Read;
use std::path::{Path, PathBuf};

use ssdlab_base::Nanos;
use ssdlab_workload::{Op, Record, TraceOptions, open_with};

use crate::drain;

/// One original, how it is to be read, and how far its normalised times may be off.
struct Case {
    original: &'static str,
    normalised: &'static str,
    format: &'static str,
    device: Option<&'static str>,
    tick: Option<Nanos>,
    slack_ns: u64,
}

const fn case(original: &'static str, normalised: &'static str, format: &'static str) -> Case {
    // Normalised MSR times went through doubles of microseconds since 1601: steps of 2 us.
    let slack_ns = if format.as_bytes()[1] == b's' { 2_000 } else { 0 };
    Case { original, normalised, format, device: None, tick: None, slack_ns }
}

const fn web(device: &'static str, normalised: &'static str) -> Case {
    let original = "msr_web_0_first1000/orig_pre-processed_first_1000.csv.zst";
    let tick = Some(Nanos::from_ms(1000));
    Case { device: Some(device), tick, ..case(original, normalised, "msr") }
}

const CASES: &[Case] = &[
    case("msr_hm_0_7k/orig_hm_0.csv.zst", "msr_hm_0_7k", "msr"),
    case("msr_hm_0_writes1k/orig_hm_0.csv.zst", "msr_hm_0_writes1k", "msr"),
    case("msr_mds_0_writes1k/orig_mds_0.csv.zst", "msr_mds_0_writes1k", "msr"),
    case("msr_proj_0_writes1k/orig_proj_0.csv.zst", "msr_proj_0_writes1k", "msr"),
    case("msr_rsrch_1_full/orig_rsrch_1.csv.zst", "msr_rsrch_1_full", "msr"),
    case("msr_rsrch_2_writes1k/orig_rsrch_2.csv.zst", "msr_rsrch_2_writes1k", "msr"),
    case("msr_wdev_1_full/orig_wdev_1.csv.zst", "msr_wdev_1_full", "msr"),
    case("msr_wdev_3_full/orig_wdev_3.csv.zst", "msr_wdev_3_full", "msr"),
    web("web_0", "msr_web_0_first1000"),
    web("web_1", "msr_web_1_first1000"),
    web("web_2", "msr_web_2_first1000"),
    web("web_3", "msr_web_3_first1000"),
    case("spc_sub_financial1/orig_trace1.zst", "spc_sub_financial1", "spc"),
    case("spc_sub_financial2_a/orig_trace2.zst", "spc_sub_financial2_a", "spc"),
    case("spc_sub_websearch1/orig_trace4.zst", "spc_sub_websearch1", "spc"),
    case("spc_sub_websearch3/orig_trace6.zst", "spc_sub_websearch3", "spc"),
    case("spc_financial1_10k/orig_example.ascii.zst", "spc_financial1_10k", "mqsim"),
    case("spc_websearch1_24k/orig_wsrch-small.trace.zst", "spc_websearch1_24k", "mqsim"),
    case("mqsim_tpcc_small/orig_tpcc-small.trace.zst", "mqsim_tpcc_small", "mqsim"),
    Case {
        tick: Some(Nanos::from_us(1)),
        ..case("msps_dtrs_5min/orig_DTRS1K.trace.zst", "msps_dtrs_5min", "mqsim")
    },
];

/// Where the traces are, if anywhere.
fn folder() -> PathBuf {
    PathBuf::from(std::env::var_os("SSDLAB_TRACES").expect("SSDLAB_TRACES=DIR"))
}

fn normalised(path: &Path) -> Vec<Record> {
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
        crate::record(ns, offset / 512, (size / 512) as u32, op)
    };
    text.lines().skip(1).map(record).collect()
}

#[test]
#[ignore = "needs SSDLAB_TRACES=DIR"]
fn every_original_reads_as_its_normalised_form() {
    for case in CASES {
        let path = folder().join(case.original);
        let options = TraceOptions {
            device: case.device.map(str::to_owned),
            tick: case.tick,
            ..TraceOptions::default()
        };
        let mut trace = open_with(&path, None, &options).unwrap();
        let got = drain(&mut trace).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(trace.recognised().format.name(), case.format, "{}", case.original);
        let want = normalised(&folder().join(case.normalised).join("trace.csv.zst"));
        assert_eq!(got.len(), want.len(), "{}", case.original);
        let mut furthest = 0;
        for (line, (got, want)) in got.iter().zip(&want).enumerate() {
            let off = got.at.as_ns().abs_diff(want.at.as_ns());
            furthest = furthest.max(off);
            assert!(off <= case.slack_ns, "{}: request {line} is off by {off} ns", case.original);
            assert_eq!(Record { at: want.at, ..*got }, *want, "{}: {line}", case.original);
        }
        let counts = trace.counts();
        println!("{}: {counts:?}, off by {furthest} ns at most", case.normalised);
        trace.remarks().iter().for_each(|remark| println!("    {remark}"));
        assert_eq!(counts.reordered, 0, "{}", case.original);
    }
}

#[test]
#[ignore = "needs SSDLAB_TRACES=DIR"]
fn originals_in_other_formats_are_not_taken_for_ours() {
    let known: Vec<PathBuf> = CASES.iter().map(|case| folder().join(case.original)).collect();
    for entry in std::fs::read_dir(folder()).unwrap().map(Result::unwrap) {
        let Ok(files) = std::fs::read_dir(entry.path()) else { continue };
        for path in files.map(|file| file.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if !name.starts_with("orig_") || known.contains(&path) {
                continue;
            }
            let fault = open_with(&path, None, &TraceOptions::default()).err();
            let fault = fault.unwrap_or_else(|| panic!("{name} was taken for ours")).to_string();
            println!("{fault}");
            assert!(fault.contains("trace format not recognised"), "{fault}");
        }
    }
}
