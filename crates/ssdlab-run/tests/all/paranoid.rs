//! Runs with an auditor, and runs in several threads.

use ssdlab_run::{Plan, RunResult, run_uninterrupted};

/// Returns a plan of a small drive of the fast preset, with a workload.
fn plan(sets: &[&str]) -> Plan {
    let shape = [
        "geometry.channels=2",
        "geometry.chips=2",
        "geometry.dies=1",
        "geometry.blocks=32",
        "geometry.pages=16",
        "ftl.overprovisioning=0.2",
        "workload.footprint=2MiB",
        "workload.requests=2000",
    ];
    Plan {
        device: "generic-mlc-512g".into(),
        set: shape.iter().chain(sets).map(|set| set.to_string()).collect(),
        workload: Some("random".into()),
        seed: 7,
        ..Plan::default()
    }
}

fn run(plans: &[Plan], jobs: usize) -> Vec<RunResult> {
    run_uninterrupted(plans, jobs).unwrap_or_else(|fault| panic!("{fault}"))
}

fn digests(plans: &[Plan], jobs: usize) -> Vec<String> {
    run(plans, jobs).into_iter().map(|result| result.results_digest).collect()
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let plans: Vec<Plan> =
        (0..6).map(|seed| Plan { seed, ..plan(&["background.gc.victim=random"]) }).collect();
    let one = digests(&plans, 1);
    assert_eq!(one, digests(&plans, 2));
    assert_eq!(one, digests(&plans, 5));
    assert_ne!(one[0], one[1], "another seed is another run");
}

#[test]
fn a_watched_run_finds_nothing_and_is_the_same_run() {
    let cases: [&[&str]; 5] = [
        &[],
        &["buffer.size=256KiB"],
        &["ftl.allocation=dynamic", "flash.cache_read=true"],
        &["start.fill=0.9", "start.invalid=0.05", "flash.array=plane"],
        &["start.unwritten_reads=footprint", "host.queue_depth=4"],
    ];
    for sets in cases {
        let alone = plan(sets);
        let watched = Plan { paranoid: true, ..alone.clone() };
        let results = run(&[alone, watched], 2);
        let figures = |result: &RunResult| {
            let latency = (result.read.latency_us.mean, result.write.latency_us.max);
            (result.requests, latency, result.waf, result.gc.count)
        };
        assert_eq!(figures(&results[0]), figures(&results[1]), "{sets:?}");
    }
}

#[test]
fn a_closed_loop_and_a_steady_drive_can_be_watched() {
    let base = Plan { paranoid: true, ..plan(&["buffer.size=64KiB"]) };
    let closed = Plan { closed: Some(8), ..base.clone() };
    let steady = Plan { precondition: Some("steady".into()), ..base };
    let results = run(&[closed, steady], 2);
    assert!(results.iter().all(|result| result.requests == 2000));
}
