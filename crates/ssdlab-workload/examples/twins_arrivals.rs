//! Measures how bursty excerpts of real traces are, and writes the table of the twins' arrivals.
//!
//! `make twins-fit SSDLAB_TRACES=DIR` runs it on a folder of excerpts in their original formats.
//! Its argument is the file to write, `crates/ssdlab-workload/src/twins/arrivals.toml`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ssdlab_base::Nanos;
use ssdlab_workload::twins::arrivals::{Arrivals, Column};
use ssdlab_workload::twins::meter::Meter;
use ssdlab_workload::{Source, TraceOptions, open_with};

/// An excerpt.
struct Case {
    /// The name of its arrivals.
    name: &'static str,
    /// Its description in the table.
    what: &'static str,
    /// Its file, below the folder of excerpts.
    path: &'static str,
    /// Its device in that file, if the file holds several.
    device: Option<&'static str>,
    /// Length of its time unit in nanoseconds, if its publisher changed the unit.
    tick: Option<u64>,
    /// The shortest window that its stamps resolve, in microseconds.
    from_us: f64,
    /// The twin to compare with it.
    twin: Option<&'static str>,
    /// Whether no twin is fitted to it.
    unseen: bool,
    /// The arrivals that complete it.
    class: Option<&'static str>,
    /// Whether its publisher left out the reads.
    writes_only: bool,
    /// Whether the class of MSR volumes is made of it.
    in_class: bool,
    /// The number of its first requests to take.
    most: Option<usize>,
    /// Whether writes are assumed to be as bursty as its reads.
    writes_as_reads: bool,
}

const NONE: Case = Case {
    name: "",
    what: "",
    path: "",
    device: None,
    tick: None,
    from_us: 1.0,
    twin: None,
    unseen: false,
    class: None,
    writes_only: false,
    in_class: false,
    most: None,
    writes_as_reads: false,
};
const WEB: &str = "msr_web_0_first1000/orig_pre-processed_first_1000.csv.zst";
const SECOND: f64 = 1e6;
/// The least number of excerpts in the median of a class.
const MIN_MEMBERS: usize = 3;

const CASES: &[Case] = &[
    Case {
        name: "hm0",
        twin: Some("dlv/hm0"),
        what: "7,016 requests of MSR's hm_0 in 148 s",
        path: "msr_hm_0_7k/orig_hm_0.csv.zst",
        in_class: true,
        ..NONE
    },
    Case {
        name: "mds0",
        twin: Some("dlv/mds0"),
        what: "1,000 writes of MSR's mds_0 in 619 s",
        path: "msr_mds_0_writes1k/orig_mds_0.csv.zst",
        class: Some("msr"),
        writes_only: true,
        in_class: true,
        ..NONE
    },
    Case {
        name: "proj0",
        twin: Some("dlv/proj0"),
        what: "1,000 writes of MSR's proj_0 in 511 s",
        path: "msr_proj_0_writes1k/orig_proj_0.csv.zst",
        class: Some("msr"),
        writes_only: true,
        in_class: true,
        ..NONE
    },
    Case {
        name: "rsrch2",
        twin: Some("dlv/rsrch2"),
        what: "1,000 writes of MSR's rsrch_2 in 7.6 h",
        path: "msr_rsrch_2_writes1k/orig_rsrch_2.csv.zst",
        class: Some("msr"),
        writes_only: true,
        in_class: true,
        ..NONE
    },
    Case {
        name: "msr_105",
        what: "10,000 requests of an unnamed MSR volume (rw_20_80_105)",
        path: "msr_cut10k_rw_20_80_105/orig_trace.zst",
        in_class: true,
        ..NONE
    },
    Case {
        name: "msr_1006",
        what: "10,000 requests of an unnamed MSR volume (most_thpt_rand_iops_1006)",
        path: "msr_cut10k_most_thpt_rand_iops_1006/orig_trace.zst",
        in_class: true,
        ..NONE
    },
    Case {
        name: "web0",
        twin: Some("dlv/web0"),
        what: "1,000 requests of MSR's web_0 in 422 s, stamped with whole seconds",
        path: WEB,
        device: Some("web_0"),
        tick: Some(1_000_000_000),
        from_us: SECOND,
        class: Some("msr"),
        in_class: true,
        ..NONE
    },
    Case {
        name: "web2",
        twin: Some("dlv/web2"),
        what: "1,000 requests of MSR's web_2 in 2.2 h, stamped with whole seconds",
        path: WEB,
        device: Some("web_2"),
        tick: Some(1_000_000_000),
        from_us: SECOND,
        class: Some("msr"),
        in_class: true,
        ..NONE
    },
    Case {
        name: "web1",
        what: "1,000 requests of MSR's web_1 in 2.7 h, stamped with whole seconds",
        path: WEB,
        device: Some("web_1"),
        tick: Some(1_000_000_000),
        from_us: SECOND,
        in_class: true,
        ..NONE
    },
    Case {
        name: "web3",
        what: "1,000 requests of MSR's web_3 in 36 min, stamped with whole seconds",
        path: WEB,
        device: Some("web_3"),
        tick: Some(1_000_000_000),
        from_us: SECOND,
        in_class: true,
        ..NONE
    },
    Case {
        name: "fin1",
        twin: Some("dlv/fin1"),
        what: "the first 10,000 requests of Financial1, in 260 s",
        path: "spc_financial1_10k/orig_example.ascii.zst",
        ..NONE
    },
    Case {
        name: "fin2",
        twin: Some("dlv/fin2"),
        what: "750 requests of Financial2 in 12 s",
        path: "spc_sub_financial2_a/orig_trace2.zst",
        class: Some("fin1"),
        ..NONE
    },
    Case {
        name: "websearch",
        twin: Some("hire/websearch"),
        what: "the first 24,783 requests of WebSearch1, in 60 s",
        path: "spc_websearch1_24k/orig_wsrch-small.trace.zst",
        ..NONE
    },
    Case {
        name: "dtr",
        twin: Some("pa-ssd/dtr"),
        what: "127,043 requests of the MSPS Developer Tools Release server in 300 s",
        path: "msps_dtrs_5min/orig_DTRS1K.trace.zst",
        tick: Some(1_000),
        ..NONE
    },
    Case {
        name: "vm",
        twin: Some("readguard/ali2"),
        what: "113,872 requests of a virtual machine of CloudPhysics in 2 h",
        path: "cloudphysics_114k/orig_cloudPhysicsIO.vscsi.zst",
        ..NONE
    },
    Case {
        name: "ycsb",
        twin: Some("readguard/ycsb-b"),
        what: "the first 1,694 requests of SNIA's YCSB on RocksDB, all reads, in 0.68 s; writes are \
               assumed to be as bursty, and independent",
        path: "ycsb_rocksdb_ssdtrace_head/orig_sample.blkparse.zst",
        writes_as_reads: true,
        ..NONE
    },
    Case {
        name: "hm0_writes",
        twin: Some("dlv/hm0"),
        unseen: true,
        what: "751 writes of MSR's hm_0 in the 149 s before its other excerpt",
        path: "msr_hm_0_writes1k/orig_hm_0.csv.zst",
        // The other 249 are also in that one.
        most: Some(751),
        writes_only: true,
        ..NONE
    },
    Case {
        name: "websearch3_part",
        twin: Some("hire/websearch"),
        unseen: true,
        what: "900 requests of WebSearch3 in 2.5 s, not contiguous",
        path: "spc_sub_websearch3/orig_trace6.zst",
        ..NONE
    },
    Case {
        name: "rsrch1_week",
        unseen: true,
        what: "the week of MSR's rsrch_1, 13,780 requests",
        path: "msr_rsrch_1_full/orig_rsrch_1.csv.zst",
        class: Some("msr"),
        ..NONE
    },
    Case {
        name: "wdev1_week",
        unseen: true,
        what: "the week of MSR's wdev_1, 1,055 requests",
        path: "msr_wdev_1_full/orig_wdev_1.csv.zst",
        class: Some("msr"),
        ..NONE
    },
    Case {
        name: "wdev3_week",
        unseen: true,
        what: "the week of MSR's wdev_3, 682 requests",
        path: "msr_wdev_3_full/orig_wdev_3.csv.zst",
        class: Some("msr"),
        ..NONE
    },
];

const HEAD: &str = "\
# Written by `make twins-fit`: how requests of excerpts cluster in time. arrivals.rs says what each
# key means.
";

fn main() {
    let folder = PathBuf::from(std::env::var_os("SSDLAB_TRACES").expect("SSDLAB_TRACES=DIR"));
    let path = std::env::args().nth(1).expect("arrivals.toml");
    let all: Vec<(&Case, Arrivals)> =
        CASES.iter().map(|case| (case, measured(&folder, case))).collect();
    let mut text = HEAD.to_owned();
    for (case, arrivals) in &all {
        add(&mut text, case.name, arrivals);
    }
    let class: Vec<(&Case, Arrivals)> = all.into_iter().filter(|(case, _)| case.in_class).collect();
    add(&mut text, "msr", &median(&class));
    std::fs::write(&path, text).expect("arrivals written");
}

/// Returns the median of a class.
///
/// In windows shorter than its stamps resolve, an excerpt counts with the dispersions of the finer
/// ones, in proportion to its own first ones. The median is then of the same excerpts in all
/// windows.
fn median(class: &[(&Case, Arrivals)]) -> Arrivals {
    let is_fine = |case: &Case| case.from_us < SECOND;
    let fine: Vec<Arrivals> =
        class.iter().filter(|(case, _)| is_fine(case)).map(|(_, own)| own.clone()).collect();
    let of_fine = Arrivals::median(&fine, 1, "");
    let complete = |(case, own): &(&Case, Arrivals)| {
        if is_fine(case) { own.clone() } else { own.over(&of_fine) }
    };
    let all: Vec<Arrivals> = class.iter().map(complete).collect();
    let [reads, writes]: [Column; 2] = [|one| &one.reads, |one| &one.writes];
    let what = format!(
        "median of {} excerpts of MSR volumes, of which {} have reads and {} writes in windows of 1 \
         s; in shorter windows, excerpts stamped with whole seconds count as the median of the {} \
         finer ones, in proportion to their own dispersion in 1 s",
        all.len(),
        members(&all, reads),
        members(&all, writes),
        fine.len()
    );
    Arrivals::median(&all, MIN_MEMBERS, &what)
}

/// Returns the number of arrivals that have this column in windows of a second.
fn members(all: &[Arrivals], column: Column) -> usize {
    all.iter().filter(|one| one.value(column, SECOND).is_some()).count()
}

fn measured(folder: &Path, case: &Case) -> Arrivals {
    let options = TraceOptions {
        device: case.device.map(str::to_owned),
        tick: case.tick.map(Nanos::from_ns),
        ..TraceOptions::default()
    };
    let mut trace = open_with(&folder.join(case.path), None, &options).expect("a trace");
    let (mut meter, mut records) = (Meter::new(case.from_us), Vec::new());
    while trace.fill(&mut records, 4096).expect("records") > 0 {}
    records.truncate(case.most.unwrap_or(usize::MAX));
    meter.take(&records);
    let mut arrivals = meter.finish(case.what);
    arrivals.class = case.class.map(str::to_owned);
    arrivals.twin = case.twin.map(str::to_owned);
    arrivals.unseen = case.unseen;
    arrivals.in_class = case.in_class.then(|| "msr".to_owned());
    if case.writes_only {
        arrivals.all.clear();
    }
    if case.writes_as_reads {
        arrivals.writes = arrivals.reads.clone();
    }
    arrivals
}

fn add(text: &mut String, name: &str, arrivals: &Arrivals) {
    let Arrivals { source, twin, unseen, class, in_class, windows_us, .. } = arrivals;
    let Arrivals { runs, all, reads, writes, together, .. } = arrivals;
    writeln!(text, "\n[{name}]\nsource = \"\"\"\n{}\"\"\"", wrapped(source)).expect("text");
    for (key, value) in [("twin", twin), ("class", class), ("in_class", in_class)] {
        if let Some(value) = value {
            writeln!(text, "{key} = \"{value}\"").expect("text");
        }
    }
    if *unseen {
        writeln!(text, "unseen = true").expect("text");
    }
    for (key, column) in [
        ("runs", runs),
        ("windows_us", windows_us),
        ("all", all),
        ("reads", reads),
        ("writes", writes),
        ("together", together),
    ] {
        if !column.is_empty() {
            let list: Vec<String> = column.iter().map(|value| digits(*value)).collect();
            writeln!(text, "{key} = [{}]", list.join(", ")).expect("text");
        }
    }
}

/// Formats a number with six digits.
fn digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().expect("a number");
    format!("{rounded:?}")
}

/// Breaks a text into lines of at most 95 columns.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("a line");
        if line.len() + word.len() > 94 {
            lines.push(word.to_owned());
        } else {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    lines.join("\n")
}
