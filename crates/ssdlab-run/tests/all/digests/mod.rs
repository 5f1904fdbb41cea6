//! Checks that results have not changed. `digests.txt` has the digest of each of these runs. `make
//! digests` writes it again.

use std::fmt::Write;
use std::path::Path;

use ssdlab_run::{Plan, run_uninterrupted};

/// The file of digests.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/digests/digests.txt");
/// Settings of a drive that is small enough to fill with data at once.
const SMALL: &str = "geometry.blocks=256 workload.footprint=1GiB";
/// Settings of a drive that is overwritten quickly.
const TINY: &str = "geometry.blocks=64 geometry.channels=2 geometry.chips=1 ftl.overprovisioning=0.25 \
    workload.footprint=256MiB";
/// The run whose drive is written until it is steady.
const PRECONDITIONED: &str = "preconditioned";

/// A run: its name, device, scheme, workload (or trace), settings, and the requests outstanding in
/// a closed loop.
type Run = (&'static str, &'static str, &'static str, &'static str, &'static str, Option<u32>);

const RUNS: &[Run] = &[
    ("conventional", "generic-mlc-512g", "", "random", "", None),
    (
        "collection",
        "generic-mlc-512g",
        "",
        "zipf",
        "geometry.blocks=64 ftl.overprovisioning=0.12 start.fill=1 start.steady_state=true \
         workload.footprint=14GiB workload.read_share=0.3",
        Some(64),
    ),
    (
        "retries",
        "generic-tlc-2t",
        "",
        "random",
        "physics=retries start.pe_cycles=3000 start.age_max=90d",
        Some(32),
    ),
    (
        "levels",
        "generic-mlc-512g",
        "",
        "hotcold",
        "physics=levels physics.levels.retention.rate=8.448e-4 start.age_max=90d",
        None,
    ),
    (PRECONDITIONED, "generic-mlc-512g", "", "random", TINY, None),
    ("dlv", "dlv-mlc-128g", "dlv", "hm0", "geometry.blocks=1024", None),
    ("woo", "dlv-mlc-128g", "woo", "zipf", SMALL, Some(256)),
    ("pa-ssd", "pa-ssd-tlc-288g", "qds+ubs", "bursty", SMALL, None),
    ("hints", "pa-ssd-tlc-288g", "hgs+us", "random", SMALL, Some(128)),
    ("pv-read", "pv-read-mlc-128g", "pv-read/pv-read", "zipf", SMALL, None),
    ("readguard", "readguard-tlc-500g", "rgftl", "random", SMALL, None),
    ("readguard-old", "readguard-tlc-500g-old", "rgftl+", "zipf", SMALL, None),
    ("readguard-closed", "readguard-tlc-500g-old", "rgftl", "zipf", SMALL, Some(64)),
    ("hire", "hire-mlc-128g", "hire/hire", "hotcold", SMALL, None),
    ("all-five", "five-tlc-512g", "all-five", "random", SMALL, None),
    ("trace", "generic-mlc-512g", "", "examples/office.csv.xz", "scheduler=read_first", None),
];

fn digest(&(name, device, scheme, workload, set, closed): &Run) -> String {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(workload);
    let trace = trace.is_file().then(|| trace.display().to_string());
    let plan = Plan {
        device: device.into(),
        scheme: scheme.into(),
        workload: trace.is_none().then(|| workload.into()),
        wrap: true,
        trace,
        set: set.split_whitespace().map(str::to_owned).collect(),
        seed: 1,
        limit: Some(3000),
        closed,
        precondition: (name == PRECONDITIONED).then(|| "steady".into()),
        ..Plan::default()
    };
    let result = run_uninterrupted(&[plan], 1).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    format!("{} {name}", result[0].results_digest)
}

#[test]
fn results_are_what_they_were() {
    let found: Vec<String> = RUNS.iter().map(digest).collect();
    if std::env::var_os("SSDLAB_WRITE_DIGESTS").is_some() {
        return std::fs::write(FILE, found.join("\n") + "\n").expect("a file that can be written");
    }
    let recorded = std::fs::read_to_string(FILE).expect("the digests");
    let mut recorded = recorded.lines();
    let mut others = String::new();
    for found in &found {
        let recorded = recorded.next().unwrap_or("none");
        if recorded != found {
            writeln!(others, "  {found}, was {recorded}").expect("a string");
        }
    }
    assert!(
        others.is_empty() && recorded.next().is_none(),
        "results have changed:\n{others}If they should, say so in CHANGELOG.md and `make digests`."
    );
}
