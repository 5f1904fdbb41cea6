//! Tests of Little's law: the number of requests in the system, integrated over time, equals the
//! sum of all latencies.

use crate::control::Control;
use crate::feed::Feed;
use crate::observe::Observer;
use crate::plan::Plan;
use crate::replay::Replay;
use crate::result::Course;
use crate::setup::set_up;

const SMALL: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips=2",
    "geometry.dies=2",
    "geometry.planes=2",
    "geometry.blocks=32",
    "geometry.pages=32",
    "ftl.overprovisioning=0.25",
    "start.fill=0.9",
    "workload.footprint=32MiB",
    "workload.requests=4000",
    "workload.sizes=[\"2KiB\",\"8KiB\",\"64KiB\"]",
];

fn course(mut plan: Plan, settings: &[&str]) -> Course {
    plan.device = "generic-mlc-512g".into();
    plan.set = SMALL.iter().chain(settings).map(|line| line.to_string()).collect();
    let prepared = plan.prepare().unwrap_or_else(|fault| panic!("{fault}"));
    let control = Control::new(1);
    let progress = &control.progress[0];
    let begun = set_up(&prepared, &control, progress).expect("a drive");
    let mut drive = begun.expect("no stop").drive;
    let mut feed = Feed::open(&prepared, &mut Vec::new()).expect("a workload");
    let observer = Observer::new(&prepared).expect("an observer");
    let replay = Replay::new(&mut drive, prepared.warmup, &control, progress, observer);
    replay.run(&prepared, &mut feed).expect("a run that ends").0
}

fn check(what: &str, plan: Plan, settings: &[&str]) {
    let course = course(plan, settings);
    assert_eq!(course.completed, 4000, "{what}");
    assert!(course.latency_sum > 0, "{what}");
    assert_eq!(course.latency_sum, course.residence, "{what}");
}

const ESRA: &[&str] = &[
    "suspend=esra",
    "scheduler=strict_priority",
    "host.queues=2",
    "workload.queue=1",
    "physics=retries",
    "start.pe_cycles=3000",
    "start.age_max=90d",
];

const SETTINGS: &[(&str, &[&str])] = &[
    ("as it is", &[]),
    ("overloaded", &["workload.interarrival=10us"]),
    ("short queues", &["workload.interarrival=10us", "host.queue_depth=4"]),
    ("reads alone", &["workload.read_share=1"]),
    ("writes under collection", &["workload.read_share=0", "workload.interarrival=2ms"]),
    ("independent planes", &["flash.array=plane", "flash.cache_read=true"]),
    ("commands on the bus", &["flash.command_time=1us", "flash.bus_order=data_out_first"]),
    ("suspended programs", &["suspend=program_erase"]),
    ("dropped loops", &["suspend=esra"]),
    ("suspended reads", ESRA),
    ("a buffer", &["buffer.size=1MiB"]),
    ("dynamic allocation", &["ftl.allocation=dynamic", "ftl.partial_writes=read_modify_write"]),
    ("bursts", &["workload.kind=bursty"]),
    ("retries", &["physics=retries", "start.pe_cycles=3000", "start.age_max=90d"]),
];

#[test]
fn littles_law_holds_in_open_loop() {
    for (what, settings) in SETTINGS {
        check(what, Plan::default(), settings);
        let late = Plan { warmup: Some("1000".into()), seed: 2, ..Plan::default() };
        check(what, late, settings);
        let slow = Plan { time_scale: Some(3.7), seed: 3, ..Plan::default() };
        check(what, slow, settings);
    }
}

#[test]
fn littles_law_holds_in_closed_loop() {
    for (what, settings) in SETTINGS {
        for outstanding in [1, 7, 300] {
            let plan = Plan { closed: Some(outstanding), ..Plan::default() };
            let timeless =
                settings.iter().filter(|line| !line.starts_with("workload.interarrival"));
            check(what, plan, &timeless.copied().collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_preconditioned_drive_begins_at_its_own_time() {
    let plan = Plan { precondition: Some("steady".into()), ..Plan::default() };
    check("preconditioned", plan, &["start.fill=0"]);
}
