//! The benchmark cases. Each runs in a process of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use ssdlab_base::{Bytes, Nanos};
use ssdlab_core::{Drive, Op, Request};
use ssdlab_run::{Plan, RunResult, run_uninterrupted};
use ssdlab_workload::twins::find;
use ssdlab_workload::{Generator, Kind, SizeChoice, Source, WorkloadConfig, ZipfConfig};

use crate::bare::Bare;
use crate::machine::{Clock, memory_mb};

/// Figures by name. The name ends in the unit.
pub(crate) type Figures = BTreeMap<String, f64>;

/// A benchmark case.
pub(crate) struct Case {
    pub name: &'static str,
    pub about: &'static str,
    pub device: &'static str,
    pub set: &'static [&'static str],
    /// The scheme; empty for the conventional one.
    pub scheme: &'static str,
    /// Requests outstanding in a closed loop; none for arrival times of the workload.
    pub closed: Option<u32>,
    pub what: What,
    /// Whether setting up takes too long for counting instructions, which is fifty times slower.
    pub is_large: bool,
}

/// Defaults of most cases.
const PLAIN: Case = Case {
    name: "",
    about: "",
    device: "",
    set: &[],
    scheme: "",
    closed: None,
    what: What::Workload,
    is_large: false,
};

/// Returns a case with 512 outstanding requests under this scheme.
const fn deep(name: &'static str, scheme: &'static str, about: &'static str) -> Case {
    let set = &["host.queue_depth=512", "start.fill=0", "workload.requests=200000"];
    Case { name, about, device: "dlv-mlc-128g", set, scheme, closed: Some(512), ..PLAIN }
}

/// The measured part of a case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// The event loop under the config's own workload.
    Workload,
    /// The event loop under an MSR trace, including the reading of the trace.
    Trace,
    /// From the plan to a drive that accepts requests, and the memory used by then.
    Start,
    /// The drawing of a twin's requests, without a drive.
    Twin(&'static str),
    /// Memory for each written page; pages in order.
    InOrder,
    /// Memory for each written page; pages scattered over the drive.
    Scattered,
    /// The whole command `ssdlab`, as the user runs it.
    Command,
}

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "random",
        about: "generic-mlc-512g under `random`: the figure to quote",
        device: "generic-mlc-512g",
        set: &[],
        ..PLAIN
    },
    Case {
        name: "gc",
        about: "the same drive with 64 blocks a plane, full and steady, 70 % writes",
        device: "generic-mlc-512g",
        set: &[
            "geometry.blocks=64",
            "ftl.overprovisioning=0.12",
            "start.fill=1",
            "start.steady_state=true",
            "workload.footprint=14GiB",
            "workload.read_share=0.3",
            "workload.interarrival=1ms",
            "workload.requests=200000",
        ],
        ..PLAIN
    },
    Case {
        name: "gc-whole",
        about: "the same with all of its blocks",
        device: "generic-mlc-512g",
        set: &[
            "ftl.overprovisioning=0.12",
            "start.fill=1",
            "start.steady_state=true",
            "workload.footprint=448GiB",
            "workload.read_share=0.3",
            "workload.interarrival=1ms",
            "workload.requests=200000",
        ],
        is_large: true,
        ..PLAIN
    },
    Case {
        name: "saturated",
        about: "`random` that comes faster than the drive can serve it: the queue of 65,535 is full",
        device: "generic-mlc-512g",
        set: &["workload.interarrival=1us"],
        ..PLAIN
    },
    Case {
        name: "msr-4k",
        about: "an MSR trace of 500,000 requests, read as it runs; pages of 4 KiB",
        device: "generic-mlc-512g",
        set: &["geometry.page_size=4KiB"],
        what: What::Trace,
        ..PLAIN
    },
    Case {
        name: "msr-16k",
        about: "the same trace; pages of 16 KiB",
        device: "generic-mlc-512g",
        set: &["geometry.page_size=16KiB"],
        what: What::Trace,
        ..PLAIN
    },
    Case {
        name: "levels",
        about: "`random` with sensing levels, data up to 90 days old",
        device: "generic-mlc-512g",
        set: &["physics=levels", "physics.levels.retention.rate=8.448e-4", "start.age_max=90d"],
        ..PLAIN
    },
    Case {
        name: "retries",
        about: "generic-tlc-2t under `random` with read retries, worn and up to 90 days old",
        device: "generic-tlc-2t",
        set: &["physics=retries", "start.pe_cycles=3000", "start.age_max=90d"],
        ..PLAIN
    },
    Case {
        name: "dlv",
        about: "dlv-mlc-128g under `random` and DLV",
        device: "dlv-mlc-128g",
        scheme: "dlv",
        ..PLAIN
    },
    Case {
        name: "pa-ssd",
        about: "pa-ssd-tlc-288g under `random` and QDS+UBS",
        device: "pa-ssd-tlc-288g",
        scheme: "qds+ubs",
        ..PLAIN
    },
    Case {
        name: "readguard",
        about: "readguard-tlc-2t under `random` and rgFTL",
        device: "readguard-tlc-2t",
        scheme: "rgftl",
        ..PLAIN
    },
    deep(
        "deep",
        "baseline",
        "dlv-mlc-128g under `random`, 512 outstanding, first come first served",
    ),
    deep("deep-woo", "woo", "the same under WOO, which keeps the places of reads"),
    deep("deep-dlv", "dlv", "the same under DLV"),
    Case {
        name: "start-2t",
        about: "generic-tlc-2t, new",
        device: "generic-tlc-2t",
        set: &[],
        what: What::Start,
        ..PLAIN
    },
    Case {
        name: "start-2t-aged",
        about: "generic-tlc-2t, 70 % full, 20 % of what was written outdated",
        device: "generic-tlc-2t",
        set: &["start.fill=0.7", "start.invalid=0.2"],
        what: What::Start,
        ..PLAIN
    },
    Case {
        name: "start-2t-history",
        about: "readguard-tlc-2t, 90 % full, after 90 days under rgFTL with three tenants",
        device: "readguard-tlc-2t",
        scheme: "rgftl",
        set: &[
            "start.fill=90%",
            "host.queues=3",
            "start.history={span=\"90d\",tenants=[\
             {footprint=\"200GiB\",writes_per_day=\"50GiB\",reads_per_day=\"100GiB\"},\
             {footprint=\"400GiB\",writes_per_day=\"20GiB\",reads_per_day=\"200GiB\"},\
             {footprint=\"800GiB\",writes_per_day=\"5GiB\",reads_per_day=\"50GiB\"}]}",
        ],
        what: What::Start,
        ..PLAIN
    },
    Case {
        name: "twin",
        about: "the requests of the twin dlv/hm0, self-similar, drawn without a drive",
        what: What::Twin("dlv/hm0"),
        ..PLAIN
    },
    Case {
        name: "memory-in-order",
        about: "generic-tlc-2t, a million pages written in order",
        device: "generic-tlc-2t",
        set: &[],
        what: What::InOrder,
        ..PLAIN
    },
    Case {
        name: "memory-scattered",
        about: "generic-tlc-2t, a million pages written all over the drive",
        device: "generic-tlc-2t",
        set: &[],
        what: What::Scattered,
        ..PLAIN
    },
    Case {
        name: "command-2t",
        about: "the whole command on generic-tlc-2t, new, a thousand requests",
        device: "generic-tlc-2t",
        set: &["workload.requests=1000"],
        what: What::Command,
        ..PLAIN
    },
];

/// Bare operations before and after the measured part.
const BARE: u64 = 4_000_000;
/// Pages written to measure memory.
const PAGES: u32 = 1_000_000;
/// Requests of a twin that are drawn at once.
const BATCH: usize = 4096;
/// Requests of the trace.
const TRACED: usize = 500_000;

impl Case {
    fn plan(&self, trace: Option<&str>, limit: Option<u64>) -> Plan {
        let trace = trace.filter(|_| self.what == What::Trace);
        Plan {
            device: self.device.into(),
            set: self.set.iter().map(|&set| set.into()).collect(),
            scheme: self.scheme.into(),
            closed: self.closed,
            trace: trace.map(|path| format!("{path}:msr")),
            seed: 1,
            limit,
            ..Plan::default()
        }
    }

    /// Measures once, between two runs of the bare loop.
    pub(crate) fn measure(&self, trace: Option<&str>) -> Figures {
        let before = bare_ns();
        let mut figures = match self.what {
            What::Workload | What::Trace => self.measure_loop(trace),
            What::Start => self.measure_start(),
            What::Twin(name) => measure_twin(name),
            What::Command => self.measure_command(),
            What::InOrder => self.measure_memory(|n, _| n),
            // The stride has no common divisor with any power of two or three.
            What::Scattered => {
                self.measure_memory(|n, pages| (u64::from(n) * 94_906_267 % pages) as u32)
            }
        };
        let bare = (before + bare_ns()) / 2.0;
        if let Some(page_op) = figures.get("page_op_ns") {
            figures.insert("page_op_in_bare_ops".into(), page_op / bare);
        }
        if let Some(ready) = figures.get("ready_processor_s") {
            figures.insert("ready_in_million_bare_ops".into(), ready * 1e3 / bare);
        }
        figures.insert("bare_op_ns".into(), bare);
        figures
    }

    /// Runs this many requests and nothing else. Returns the page operations that they took.
    pub(crate) fn page_ops(&self, trace: Option<&str>, requests: u64) -> u64 {
        page_ops(&run(self.plan(trace, Some(requests))))
    }

    fn measure_loop(&self, trace: Option<&str>) -> Figures {
        let clock = Clock::start();
        let result = run(self.plan(trace, None));
        let (_, share) = clock.read();
        let per_s = result.sim.page_ops_per_s;
        let sensings = result.ops["read"].values().sum::<u64>() + result.retries;
        let sensings_per_s = per_s * sensings as f64 / page_ops(&result) as f64;
        let mut figures = Figures::from([
            ("page_ops_per_s".into(), per_s),
            ("requests_per_s".into(), result.sim.requests_per_s),
            ("page_ops_per_processor_s".into(), per_s / share),
            ("page_op_ns".into(), share / per_s * 1e9),
            ("processor_share".into(), share),
            ("peak_rss_mb".into(), result.sim.peak_rss_mb.unwrap_or(0.0)),
        ]);
        figures.insert("sensings_per_processor_s".into(), sensings_per_s / share);
        figures
    }

    fn measure_start(&self) -> Figures {
        let rss = memory_mb("VmRSS").unwrap_or(0.0);
        let clock = Clock::start();
        let drive = self.drive();
        let (wall, share) = clock.read();
        let grown = memory_mb("VmRSS").unwrap_or(0.0) - rss;
        assert!(drive.is_idle());
        Figures::from([
            ("ready_s".into(), wall),
            ("ready_processor_s".into(), wall * share),
            ("memory_mb".into(), grown),
        ])
    }

    /// Runs the command from a small process. The system would otherwise report the peak memory of
    /// this process for the command, too.
    fn measure_command(&self) -> Figures {
        let command = command().expect("the command is there");
        let script = "import json, os, resource, sys, time\n\
            begin = time.monotonic()\n\
            code = os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:])\n\
            used = resource.getrusage(resource.RUSAGE_CHILDREN)\n\
            took = time.monotonic() - begin\n\
            figures = {'command_s': took, 'command_processor_s': used.ru_utime + used.ru_stime,\n\
            'command_peak_mb': used.ru_maxrss * 1024 / 1e6}\n\
            print(json.dumps(figures), file=sys.stderr)\n\
            sys.exit(code)";
        let sets = self.set.iter().flat_map(|set| ["--set", set]);
        let output = Command::new(command.with_file_name("python"))
            .args(["-S", "-E", "-c", script])
            .arg(command)
            .args(["run", "--device", self.device, "--seed", "1"])
            .args(sets)
            .output()
            .expect("the command's Python runs");
        let text = String::from_utf8_lossy(&output.stderr);
        let last = text.lines().last().unwrap_or_default();
        assert!(output.status.success(), "{text}");
        serde_json::from_str(last).expect("figures")
    }

    fn measure_memory(&self, page: impl Fn(u32, u64) -> u32) -> Figures {
        let mut drive = self.drive();
        let pages = u64::from(drive.resolved().logical_pages);
        let sectors = drive.resolved().geometry().sectors_per_page();
        let before = memory_mb("VmRSS").unwrap_or(0.0);
        let mut done = Vec::new();
        for n in 0..PAGES {
            while drive.unfinished() >= 256 {
                let next = drive.next_event().expect("a write under way ends");
                drive.advance(next, &mut done);
                done.clear();
            }
            let (arrival, lba) = (drive.now(), u64::from(page(n, pages)) * u64::from(sectors));
            let tag = n.into();
            let request = Request { tag, arrival, op: Op::Write, lba, sectors, queue: 0, hint: 0 };
            drive.submit(arrival, request).expect("a queue with room");
        }
        let grown = memory_mb("VmRSS").unwrap_or(0.0) - before;
        Figures::from([("bytes_per_page".into(), grown * 1e6 / f64::from(PAGES))])
    }

    fn drive(&self) -> Drive {
        let prepared = self.plan(None, None).prepare().unwrap_or_else(|fault| panic!("{fault}"));
        Drive::new(prepared.resolved)
    }
}

/// Draws all requests of a twin.
fn measure_twin(name: &str) -> Figures {
    let mut source = find(name, None).expect("a twin").source(1).expect("a generator");
    let (mut requests, mut batch) = (0, Vec::with_capacity(BATCH));
    let clock = Clock::start();
    while source.fill(&mut batch, BATCH).expect("a generator reads nothing") > 0 {
        requests += std::hint::black_box(&batch).len();
        batch.clear();
    }
    let (wall, share) = clock.read();
    let per_s = requests as f64 / wall;
    Figures::from([
        ("requests_per_s".into(), per_s),
        ("requests_per_processor_s".into(), per_s / share),
    ])
}

/// Returns the command that `make install` creates; `None` if it is not installed.
pub(crate) fn command() -> Option<PathBuf> {
    let command = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/ssdlab");
    command.is_file().then_some(command)
}

fn run(plan: Plan) -> RunResult {
    let results = run_uninterrupted(&[plan], 1);
    results.unwrap_or_else(|fault| panic!("{fault}")).remove(0)
}

fn page_ops(result: &RunResult) -> u64 {
    ["read", "program"].iter().flat_map(|&kind| result.ops[kind].values()).sum()
}

/// Returns the processor time of a bare operation in nanoseconds.
fn bare_ns() -> f64 {
    let mut bare = Bare::new();
    let clock = Clock::start();
    bare.run(BARE);
    let (wall, share) = clock.read();
    wall * share * 1e9 / BARE as f64
}

/// Writes a trace that resembles those of MSR Cambridge: mostly small writes, and some very hot
/// pages.
pub(crate) fn write_trace(path: &Path) -> std::io::Result<()> {
    let kib = |size: u64, weight: u32| SizeChoice::new(Bytes::from_kib(size), weight);
    let config = WorkloadConfig {
        kind: Kind::Zipf(ZipfConfig::default()),
        footprint: Bytes::from_gib(8),
        read_share: ssdlab_base::quantity::Share::new(0.4),
        sizes: vec![kib(4, 5), kib(8, 2), kib(16, 1), kib(32, 1), kib(64, 1)],
        interarrival: Nanos::from_us(500),
        requests: TRACED as u64,
        ..WorkloadConfig::default()
    };
    let mut records = Vec::new();
    let mut source = Generator::new(&config, 1).expect("a workload");
    source.fill(&mut records, TRACED).expect("a generator reads nothing");
    let lines = records.iter().map(|record| {
        let stamp = 128_166_372_003_061_629 + record.at.as_ns() / 100;
        let kind = if record.op == ssdlab_workload::Op::Read { "Read" } else { "Write" };
        let (offset, size) = (record.lba * 512, u64::from(record.sectors) * 512);
        format!("{stamp},hm,0,{kind},{offset},{size},{}\n", 500 + stamp % 90_000)
    });
    std::fs::write(path, lines.collect::<String>())
}
