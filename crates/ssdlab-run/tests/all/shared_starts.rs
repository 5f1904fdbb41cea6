//! Checks that compared drives that share a start state run as each would alone.

use ssdlab_run::{Control, Plan, RunResult, SCHEMES, run_uninterrupted, save_state};

/// A small drive with data, and a few requests.
const SMALL: [&str; 12] = [
    "geometry.channels=2",
    "geometry.chips=1",
    "geometry.dies=1",
    "geometry.planes=2",
    "geometry.blocks=96",
    "geometry.pages=24",
    "ftl.overprovisioning=0.25",
    "start.fill=0.9",
    "start.used=0",
    "start.pe_cycles=900",
    "workload.footprint=16MiB",
    "workload.requests=300",
];
/// Devices, each with settings under which more schemes work.
const DEVICES: [(&str, &[&str]); 5] = [
    ("dlv-mlc-128g", &["start.age_max=60d", "buffer.size=1MB", "host.queues=3"]),
    (
        "pa-ssd-tlc-288g",
        &["physics=retries", "start.age_max=60d", "buffer.size=1MB", "host.queues=3"],
    ),
    ("pv-read-mlc-128g", &["start.age_max=60d", "buffer.size=1MB", "host.queues=3"]),
    ("readguard-tlc-2t", &["start.age_max=60d"]),
    ("hire-mlc-128g", &["buffer.size=1MB", "host.queues=3"]),
];

fn plan(device: &str, scheme: &str, set: &[&str]) -> Plan {
    Plan {
        device: device.into(),
        scheme: scheme.into(),
        set: SMALL.iter().chain(set).map(|line| line.to_string()).collect(),
        seed: 7,
        ..Plan::default()
    }
}

/// Runs plans alone and together. Returns how many copied their start state.
fn copied(plans: &[Plan]) -> usize {
    let outcome = |result: &RunResult| {
        let settled = result.settling.precondition.map(|settled| (settled.capacities, settled.waf));
        (result.scheme.clone(), result.results_digest.clone(), settled)
    };
    let alone = |plan| run_uninterrupted(std::slice::from_ref(plan), 1).expect("a run").remove(0);
    let alone: Vec<RunResult> = plans.iter().map(alone).collect();
    assert!(alone.iter().all(|result| !result.sim.start_copied));
    let mut copied = 0;
    for jobs in [1, 3] {
        let together = run_uninterrupted(plans, jobs).expect("runs");
        for (one, other) in alone.iter().zip(&together) {
            assert_eq!(outcome(one), outcome(other), "with {jobs} at a time");
        }
        copied = together.iter().filter(|result| result.sim.start_copied).count();
    }
    copied
}

#[test]
fn all_schemes_begin_as_they_do_alone() {
    let steady: &[&str] = &["start.steady_state=true", "start.fill=1"];
    let mut begun = [0; 2];
    for (device, own) in DEVICES {
        for set in [&[], steady].map(|more| [own, more].concat()) {
            let plans = SCHEMES.iter().map(|scheme| plan(device, scheme.name, &set));
            let plans: Vec<Plan> = plans.filter(|plan| plan.prepare().is_ok()).collect();
            begun[0] += plans.len();
            begun[1] += copied(&plans);
        }
    }
    let [all, copied] = begun;
    assert!(all > 250 && copied > all / 2, "{copied} of {all}");
}

#[test]
fn a_drive_that_begins_otherwise_draws_its_own() {
    let sets = [
        "background.gc.threshold=0.2",
        "start.fill=0.8",
        "start.age_max=50d",
        "ftl.overprovisioning=0.3",
        "ftl.allocation_order=PWDC",
        "ftl.page_order=relaxed",
        "physics.levels.retention.exponent=0.6",
        "flash.time_scale=10",
        "geometry.blocks=97",
        "metadata.block_class.factory.shares=[0.5]",
    ];
    let steady = ["start.fill=1", "start.steady_state=true", "start.age_max=60d"];
    let with = |set| plan("dlv-mlc-128g", "conventional", &[&steady[..], &[set]].concat());
    let as_it_is = || with("start.fill=1");
    let others = sets.into_iter().map(with);
    for other in others.chain([Plan { seed: 8, ..as_it_is() }]) {
        assert_eq!(copied(&[as_it_is(), other.clone()]), 0, "{other:?}");
    }
    let others = ["scheduler=read_first", "timing.read=60us", "timing.erase=9ms"].map(with);
    assert_eq!(copied(&[&[as_it_is()], &others[..]].concat()), others.len());
}

#[test]
fn background_operations_count_for_what_they_leave_at_the_start() {
    let with = |device: &str, set: &[&str]| {
        plan(device, "conventional", &[&["start.invalid=0.2", "start.fill=0.7"], set].concat())
    };
    let background = [
        "background.gc.victim=fifo",
        "background.gc.victim=random",
        "background.gc.threshold=0.06",
        "suspend=none",
    ];
    let mut plans = background.map(|set| with("dlv-mlc-128g", &[set])).to_vec();
    plans.push(with("dlv-mlc-128g", &["timing.program=2ms"]));
    assert_eq!(copied(&plans), plans.len() - 1);
    // ReadGuard's controller measures erase times, so its start state depends on them.
    let slow = |scheme: &str, set: &str| plan("readguard-tlc-2t", scheme, &[set]);
    for (scheme, expected) in [("readguard/baseline", 1), ("readguard/rgftl", 0)] {
        let plans = ["timing.erase=5ms", "timing.erase=9ms"].map(|set| slow(scheme, set));
        assert_eq!(copied(&plans), expected, "{scheme}");
    }
}

#[test]
fn a_drive_is_overwritten_once_for_all_workloads() {
    let workload = |scheme: &str, set: &str| Plan {
        precondition: Some("steady".into()),
        ..plan("dlv-mlc-128g", scheme, &["start.fill=0", set])
    };
    let plans = [
        workload("conventional", "workload.read_share=0.9"),
        workload("conventional", "workload.read_share=0.1"),
        // Other writes of the preconditioning lead to another drive.
        workload("dlv", "workload.read_share=0.1"),
        Plan { seed: 8, ..workload("conventional", "workload.read_share=0.1") },
        Plan { paranoid: true, ..workload("conventional", "workload.read_share=0.1") },
        workload("conventional", "workload.read_share=0.5"),
    ];
    assert_eq!(copied(&plans), 2);
}

#[test]
fn a_state_is_read_once_for_all_schemes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("aged");
    save_state(&plan("dlv-mlc-128g", "conventional", &[]), &path, &Control::new(1))
        .expect("a state");
    let of_state = |scheme| {
        let set = SMALL.iter().filter(|line| !line.starts_with("start."));
        let set = set.map(|line| line.to_string()).collect();
        Plan { state: Some(path.clone()), set, ..plan("dlv-mlc-128g", scheme, &[]) }
    };
    let plans = ["conventional", "dlv", "dlv/pv-reorder", "pa-ssd/qds+us"].map(of_state);
    assert_eq!(copied(&plans), 3);
    // The state does not fit this plan. It is refused although another plan has read the state.
    let other = Plan { seed: 8, ..of_state("dlv") };
    let fault = run_uninterrupted(&[of_state("dlv"), other], 1).expect_err("another drive");
    assert!(fault.to_string().contains("--seed 7"), "{fault}");
}

#[test]
fn what_a_state_holds_was_programmed_normally_where_it_knows_one_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("aged");
    let begins = ["start.fill=1", "start.steady_state=true", "start.age_max=60d"];
    let saved = plan("dlv-mlc-128g", "conventional", &begins);
    save_state(&saved, &path, &Control::new(1)).expect("a state");
    let modes = [
        "timing.program_modes=[{name=\"normal\",volts=[1.17,2.37,2.96,3.54]},\
         {name=\"reduced\",volts=[0.93,1.9,2.37,2.83]}]",
        "workload.read_share=0.1",
        "workload.requests=3000",
    ];
    let drawn = plan("dlv-mlc-128g", "hire/lvc", &[&begins[..], &modes].concat());
    let set = drawn.set.iter().filter(|line| !line.starts_with("start.")).cloned().collect();
    let plans = [drawn.clone(), Plan { state: Some(path), set, ..drawn }];
    let results = run_uninterrupted(&plans, 1).expect("runs");
    let weights = |result: &RunResult| {
        result.programmed.program_modes.as_ref().map(|modes| modes.weight_erases)
    };
    assert!(weights(&results[0]).is_some_and(|weight| weight > 0.0));
    assert_eq!(weights(&results[0]), weights(&results[1]));
    assert_eq!(results[0].results_digest, results[1].results_digest);
}
