//! Measures requests per second on one core: `cargo bench -p ssdlab-workload [-- NAME]`.

use std::fmt::Write;
use std::hint::black_box;
use std::io::{Cursor, Read};
use std::time::{Duration, Instant};

use ssdlab_base::Fault;
use ssdlab_workload::measure::Measure;
use ssdlab_workload::twins::{TwinSource, catalog, find};
use ssdlab_workload::{
    BurstyConfig, Described, Format, Generator, HotcoldConfig, Kind, Op, Record, SequentialConfig,
    Source, Trace, TraceOptions, WorkloadConfig, ZipfConfig,
};

const REQUESTS: u64 = 2_000_000;
/// The most requests of each twin in the search for the slowest one.
const MAX_DRAWN: u64 = 1_000_000;
const BATCH: usize = 4096;

fn main() {
    let msr = written(|out, at, offset, size, op| {
        let (stamp, kind) = (128_166_372_003_061_629 + at / 100, if op { "Read" } else { "Write" });
        writeln!(out, "{stamp},hm,1,{kind},{offset},{size},{}", 500 + at % 90_000)
    });
    let spc = written(|out, at, offset, size, op| {
        let (lba, kind) = (offset / 512, if op { "r" } else { "w" });
        writeln!(out, "0,{lba},{size},{kind},{}.{:06}", at / 1_000_000_000, at / 1000 % 1_000_000)
    });
    let five = written(|out, at, offset, size, op| {
        writeln!(out, "{at} 0 {} {} {}", offset / 512, size / 512, u8::from(op))
    });
    let alicloud = written(|out, at, offset, size, op| {
        let kind = if op { "R" } else { "W" };
        writeln!(out, "419,{kind},{offset},{size},{}", 1_577_808_144_360_767 + at / 1000)
    });
    let own = written(|out, at, offset, size, op| {
        let kind = if op { "R" } else { "W" };
        writeln!(out, "{}.{:03},0,{kind},{offset},{size}", at / 1000, at % 1000)
    });
    let blkparse = written(|out, at, offset, size, op| {
        let (seconds, rest, kind) =
            (at / 1_000_000_000, at % 1_000_000_000, if op { "R" } else { "W" });
        let (lba, sectors) = (offset / 512, size / 512);
        writeln!(
            out,
            "259,2    0        5 {seconds:5}.{rest:09}  4020  D  {kind}S {lba} + {sectors} [java]"
        )
    });
    let zstd = zstd::encode_all(msr.as_slice(), 3).expect("zstd");
    let mut gzip = Vec::new();
    flate2::bufread::GzEncoder::new(msr.as_slice(), flate2::Compression::default())
        .read_to_end(&mut gzip)
        .expect("gzip");
    println!("{:<22} {:>12} {:>10}", "", "requests/s", "MB/s");
    for (name, bytes) in [
        ("msr", &msr),
        ("spc", &spc),
        ("mqsim", &five),
        ("alicloud", &alicloud),
        ("ssdlab", &own),
        ("csv", &own),
        ("blkparse", &blkparse),
        ("msr.zst", &zstd),
        ("msr.gz", &gzip),
    ] {
        measure(name, bytes.len(), || {
            let format = Format::ALL.iter().find(|format| name.starts_with(format.name())).copied();
            let stored = Cursor::new(bytes.clone());
            let columns = (name == "csv").then(|| "time:0,op:2,offset:3,size:4".into());
            let options = TraceOptions { columns, ..TraceOptions::default() };
            Box::new(Trace::from_reader(name, stored, format, &options).unwrap())
        });
    }
    for kind in [
        Kind::default(),
        Kind::Sequential(SequentialConfig {}),
        Kind::Zipf(ZipfConfig::default()),
        Kind::Hotcold(HotcoldConfig::default()),
        Kind::Bursty(BurstyConfig::default()),
    ] {
        measure(kind.name(), 0, || {
            let config =
                WorkloadConfig { kind: kind.clone(), requests: REQUESTS, ..Default::default() };
            Box::new(Generator::new(&config, 1).unwrap())
        });
    }
    twins();
}

/// Measures twins, and then twins with a measurement of their requests.
fn twins() {
    for name in ["dlv/hm0", "dlv/fin1", "pv-read/hm0", "readguard/mix-a", "readguard/ycsb-a"] {
        measure(name, 0, || {
            Box::new(find(name, None).unwrap().scaled(REQUESTS).source(1).unwrap())
        });
    }
    for name in ["dlv/hm0", "readguard/ycsb-a"] {
        measure(&format!("{name} measured"), 0, || Box::new(Measured::at(name)));
    }
    if is_wanted("slowest") {
        slowest();
    }
}

/// Draws every twin of the catalog, and prints the one with the fewest requests per second.
fn slowest() {
    let rates = catalog().iter().map(|twin| {
        let twin = twin.scaled(twin.requests().min(MAX_DRAWN));
        let pass = || {
            let (requests, took) = drawn(&mut twin.source(1).unwrap());
            requests as f64 / took.as_secs_f64()
        };
        ((0..2).map(|_| pass()).fold(0.0, f64::max), twin.name)
    });
    let (rate, name) = rates.min_by(|one, other| one.0.total_cmp(&other.0)).unwrap();
    println!("{:<22} {rate:>12.3e}", format!("slowest: {name}"));
}

/// A source that also measures its requests.
struct Measured {
    source: TwinSource,
    measure: Measure,
}

impl Measured {
    fn at(name: &str) -> Measured {
        let source = find(name, None).unwrap().scaled(REQUESTS).source(1).unwrap();
        Measured { source, measure: Measure::default() }
    }
}

impl Described for Measured {
    fn name(&self) -> &str {
        self.source.name()
    }
}

impl Source for Measured {
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault> {
        let count = self.source.fill(batch, most)?;
        self.measure.take(&batch[batch.len() - count..]);
        Ok(count)
    }

    fn expected(&self) -> Option<u64> {
        self.source.expected()
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }

    fn line(&self, _: usize) -> Option<u64> {
        None
    }
}

/// Writes the lines of a trace with numbers as long as in real traces.
fn written(mut line: impl FnMut(&mut String, u64, u64, u64, bool) -> std::fmt::Result) -> Vec<u8> {
    let config = WorkloadConfig { requests: REQUESTS, ..WorkloadConfig::default() };
    let mut records = Vec::new();
    Generator::new(&config, 1).unwrap().fill(&mut records, REQUESTS as usize).unwrap();
    let mut text = String::new();
    for record in records {
        let (offset, size) = (record.lba * 512, u64::from(record.sectors) * 512);
        line(&mut text, record.at.as_ns(), offset, size, record.op == Op::Read).unwrap();
    }
    text.into_bytes()
}

/// Returns whether this name was typed, or none.
fn is_wanted(name: &str) -> bool {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    wanted.is_none_or(|wanted| wanted == name)
}

/// Returns the number of requests of a source, and the time that one pass over them takes.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures the wall clock")]
fn drawn(source: &mut dyn Source) -> (u64, Duration) {
    let (mut batch, mut requests) = (Vec::with_capacity(BATCH), 0);
    let start = Instant::now();
    loop {
        batch.clear();
        match source.fill(&mut batch, BATCH).unwrap() {
            0 => break,
            count => requests += count as u64,
        }
        black_box(&batch);
    }
    (requests, start.elapsed())
}

/// Prints the best of five passes over a source.
fn measure(name: &str, bytes: usize, source: impl Fn() -> Box<dyn Source>) {
    if !is_wanted(name) {
        return;
    }
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let (requests, took) = drawn(&mut *source());
        best = best.min(took);
        assert_eq!(requests, REQUESTS);
    }
    let per_second = |count: f64| count / best.as_secs_f64();
    let (requests, megabytes) = (per_second(REQUESTS as f64), per_second(bytes as f64 / 1e6));
    println!("{name:<22} {requests:>12.3e} {megabytes:>10.0}");
}
