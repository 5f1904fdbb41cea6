//! Drives for measurements, and runs on them.

use ssdlab_run::{Plan, RunResult, run_uninterrupted};

/// A drive of one plane: 75 us to sense, 750 us to program, 20 us to transfer a page of 4 KiB.
pub(crate) const ONE_PLANE: &[&str] = &[
    "geometry.channels=1",
    "geometry.chips=1",
    "geometry.dies=1",
    "geometry.planes=1",
    "geometry.blocks=4096",
    "geometry.pages=256",
    "geometry.page_size=4KiB",
    "geometry.cell=slc",
    "timing.read=75us",
    "timing.program=750us",
    "timing.erase=3ms",
    "flash.array=plane",
    "flash.bus_rate=204.8MB/s",
    "scheduler=fifo",
];

/// Time to transfer a page of 4 KiB on that drive, in nanoseconds.
pub(crate) const TRANSFER: f64 = 20_000.0;
/// Time to sense on that drive, in nanoseconds.
pub(crate) const SENSE: f64 = 75_000.0;
/// Time to program on that drive, in nanoseconds.
pub(crate) const PROGRAM: f64 = 750_000.0;

/// Returns a plan with these settings over `base`, and single-page requests of the workload `kind`.
pub(crate) fn plan<S: AsRef<str>>(base: &[&str], kind: &str, settings: &[S]) -> Plan {
    let set = base.iter().map(|line| line.to_string());
    let sizes = ["workload.sizes=[\"4KiB\"]".to_string()];
    Plan {
        device: "generic-mlc-512g".into(),
        workload: Some(kind.into()),
        set: set
            .chain(sizes)
            .chain(settings.iter().map(|line| line.as_ref().to_string()))
            .collect(),
        seed: 1,
        ..Plan::default()
    }
}

/// Runs the plans, two at a time.
pub(crate) fn run(plans: &[Plan]) -> Vec<RunResult> {
    run_uninterrupted(plans, 2).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Returns the plan once for each of these seeds.
pub(crate) fn seeded(plan: &Plan, seeds: std::ops::RangeInclusive<u64>) -> Vec<Plan> {
    seeds.map(|seed| Plan { seed, ..plan.clone() }).collect()
}

/// Fails unless `measured` lies within `share` of `expected`.
pub(crate) fn assert_near(what: &str, measured: f64, expected: f64, share: f64) {
    let off = measured / expected - 1.0;
    println!("{what}: measured {measured:.4}, theory {expected:.4}, {:+.2} %", off * 100.0);
    assert!(off.abs() <= share, "{what}: {measured} is {off:+.4} off {expected}");
}
