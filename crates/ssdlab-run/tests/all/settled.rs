//! Runs that end once a figure has settled.

use ssdlab_run::{Plan, RunResult, run_uninterrupted};

/// Returns a plan of a small drive that starts new and fills up, so that garbage collection begins
/// long after the run does.
fn plan(until_settled: &str) -> Plan {
    let set = [
        "geometry.channels=1",
        "geometry.chips=1",
        "geometry.dies=1",
        "geometry.planes=2",
        "geometry.blocks=64",
        "geometry.pages=32",
        "ftl.overprovisioning=0.25",
        "workload.footprint=24MiB",
        "workload.read_share=0.3",
        "workload.requests=120000",
        "workload.interarrival=4ms",
        "workload.sizes=[\"8KiB\"]",
    ];
    Plan {
        device: "generic-mlc-512g".into(),
        set: set.map(str::to_owned).into(),
        workload: Some("random".into()),
        until_settled: Some(until_settled.into()),
        seed: 3,
        ..Plan::default()
    }
}

fn run(plan: Plan) -> RunResult {
    run_uninterrupted(&[plan], 1).unwrap_or_else(|fault| panic!("{fault}")).remove(0)
}

fn refusal(plan: Plan) -> String {
    run_uninterrupted(&[plan], 1).expect_err("a refusal").to_string()
}

#[test]
fn a_run_ends_once_its_figure_has_settled() {
    let result = run(plan("waf@2%"));
    let found = result.settling.until_settled.expect("a plan with a goal");
    assert!(found.settled, "{found:?}");
    let (mean, half) = (found.mean.unwrap(), found.half_width_95.unwrap());
    assert!(half <= 0.02 * mean, "{found:?}");
    // Pages that fit without garbage collection come first.
    let capacity = 2 * 64 * 32;
    assert!(found.host_pages > capacity && found.transient_requests > 0, "{found:?}");
    assert!(found.transient_s > 0.0 && found.transient_s < found.duration_s, "{found:?}");
    // A long run has the figure that the short one found.
    let long = Plan { until_settled: None, warmup: Some("40000".into()), ..plan("waf") };
    let waf = run(long).waf.unwrap();
    assert!((waf - mean).abs() <= 2.0 * half, "{waf} instead of {found:?}");
    assert!(waf > 1.1, "garbage collection moves pages: {waf}");
}

#[test]
fn write_amplification_does_not_settle_before_garbage_collection_begins() {
    let few = |text: &str| Plan {
        replays: Some(1),
        set: [plan(text).set, vec!["workload.requests=10000".into(), "geometry.blocks=256".into()]]
            .concat(),
        ..plan(text)
    };
    let waf = run(few("waf"));
    let found = waf.settling.until_settled.unwrap();
    assert!(!found.settled && found.mean == Some(1.0) && !found.collected, "{found:?}");
    let read = run(Plan { set: few("waf").set, ..plan("all.latency_us.mean@50%") });
    assert!(read.settling.until_settled.unwrap().settled);
    let remark = "settled before garbage collection began";
    assert!(read.remarks.iter().any(|line| line.contains(remark)), "{:?}", read.remarks);
}

#[test]
fn a_remark_says_that_the_drive_still_filled_up() {
    let found = |fill: &str| {
        let zipf = ["workload.footprint=24MiB", "workload.kind.zipf.theta=1.4", fill];
        let set = [plan("waf").set, zipf.map(str::to_owned).into()].concat();
        let result = run(Plan { set, workload: Some("zipf".into()), ..plan("waf@10%") });
        let remark = |line: &String| line.contains("settled while the drive filled up");
        let remarked = result.remarks.iter().any(remark);
        (result.settling.until_settled.unwrap(), remarked)
    };
    let (filling, remarked) = found("start.fill=0%");
    assert!(filling.settled && filling.filling > 0.01 && remarked, "{filling:?}");
    let (full, remarked) = found("start.fill=100%");
    assert!(full.settled && full.filling == 0.0 && !remarked, "{full:?}");
}

#[test]
fn a_narrower_interval_takes_longer() {
    let requests = |width: &str| {
        let result = run(plan(&format!("read.latency_us.mean@{width}")));
        let found = result.settling.until_settled.unwrap();
        assert!(found.settled, "{found:?}");
        found.requests
    };
    let (wide, narrow) = (requests("10%"), requests("0.5%"));
    assert!(wide < narrow, "{wide} and {narrow} requests");
}

/// Returns a plan of a small load on a full drive, which must be replayed to settle.
fn short(seed: u64, until_settled: &str) -> Plan {
    let more = ["start.fill=90%", "workload.footprint=16MiB", "workload.requests=1000"];
    let set = [plan("").set, more.map(str::to_owned).into()].concat();
    Plan { seed, set, replays: Some(400), ..plan(until_settled) }
}

#[test]
fn the_interval_of_a_replayed_load_holds_the_mean_of_a_long_run() {
    let figure = "read.latency_us.mean@2%";
    let long = Plan { limit: None, replays: Some(1), ..short(99, figure) };
    let set = [long.set.clone(), vec!["workload.requests=400000".into()]].concat();
    let long = run(Plan { set, until_settled: None, warmup: Some("40000".into()), ..long });
    let truth = long.read.latency_us.mean;
    let found: Vec<_> =
        (1..=8).map(|seed| run(short(seed, figure)).settling.until_settled.unwrap()).collect();
    let holds = found.iter().filter(|one| {
        one.settled && (one.mean.unwrap() - truth).abs() <= one.half_width_95.unwrap()
    });
    assert!(holds.count() >= 6, "{truth}: {found:?}");
}

#[test]
fn replays_are_drawn_anew_and_alike_in_each_run() {
    let [first, again] = [(); 2].map(|()| run(short(1, "read.latency_us.mean@2%")));
    assert!(first.replays.len() > 2, "{} replays", first.replays.len());
    assert_eq!(first.settling.until_settled, again.settling.until_settled);
}

#[test]
fn a_load_that_ends_first_says_so() {
    let result = run(Plan {
        replays: Some(1),
        set: [plan("waf").set, vec!["workload.requests=5000".into()]].concat(),
        ..plan("write.latency_us.p999@1%")
    });
    let found = result.settling.until_settled.unwrap();
    assert!(!found.settled && found.mean.is_none(), "{found:?}");
    let remark = "the load ended before write.latency_us.p999 settled";
    assert!(result.remarks.iter().any(|line| line.contains(remark)), "{:?}", result.remarks);
}

/// Returns a plan of a load with this share of reads. Each of its replays is too short to settle.
fn of_one_kind(read_share: &str, until_settled: &str) -> Plan {
    let set = [short(1, "").set, vec![format!("workload.read_share={read_share}")]].concat();
    Plan { set, replays: None, ..plan(until_settled) }
}

#[test]
fn a_load_without_requests_of_the_figure_ends_after_one_replay() {
    for (read_share, figure) in [
        ("0", "read.latency_us.mean"),
        ("1", "write.latency_us.p99"),
        // Reads alone have no write amplification.
        ("1", "waf"),
    ] {
        // A load with a warm-up is not replayed.
        for warmup in [None, Some("900".to_owned())] {
            let replays = usize::from(warmup.is_none());
            let result = run(Plan { warmup, ..of_one_kind(read_share, figure) });
            assert_eq!(result.replays.len(), replays, "{figure}");
            let found = result.settling.until_settled.unwrap();
            assert!(!found.settled && found.mean.is_none(), "{found:?}");
            let remark = format!("settled; none of its requests counts toward {figure}");
            let has = result.remarks.iter().any(|line| line.contains(&remark));
            assert!(has, "{:?}", result.remarks);
        }
    }
    // A figure of the kind that the load has settles by replays.
    for (read_share, figure) in
        [("0", "write.latency_us.mean@50%"), ("1", "all.latency_us.p50@50%")]
    {
        let result = run(of_one_kind(read_share, figure));
        assert!(result.replays.len() > 1, "{figure}");
        assert!(result.settling.until_settled.unwrap().settled, "{figure}");
    }
}

#[test]
fn figures_and_widths_that_do_not_exist_are_refused() {
    let unknown = refusal(plan("read.latency.mean"));
    assert!(unknown.contains("did you mean \"read.latency_us.mean\"?"), "{unknown}");
    assert!(refusal(plan("priority.high.read.latency_us.mean")).contains("unknown figure"));
    for width in ["0%", "", "100%", "-1", "wide"] {
        let refused = refusal(plan(&format!("waf@{width}")));
        assert!(refused.contains("a share above 0 and below 1"), "{refused}");
    }
    let both = refusal(Plan { until_worn: Some("5%".into()), ..plan("waf") });
    assert!(both.contains("--until-settled") && both.contains("--until-worn"), "{both}");
}

/// Runs a trace of this many requests, two of three of them reads, until a figure settles. The last
/// of them, as many as `burst`, arrive at once.
fn of_trace(requests: u64, burst: u64, until_settled: &str) -> RunResult {
    let file = format!("ssdlab-settled-{}-{requests}-{burst}.csv", std::process::id());
    let path = std::env::temp_dir().join(file);
    let line = |at: u64| {
        let (place, kind) = (at * 7919 % 1500, if at.is_multiple_of(3) { "Write" } else { "Read" });
        let time = at.min(requests - burst) * 40_000;
        format!("{time},host,0,{kind},{},8192,0\n", place * 8192)
    };
    std::fs::write(&path, (0..requests).map(line).collect::<String>()).unwrap();
    let set = plan("").set.into_iter().filter(|one| !one.starts_with("workload."));
    let result = run(Plan {
        set: set.collect(),
        workload: None,
        trace: Some(format!("{}:msr", path.display())),
        wrap: true,
        ..plan(until_settled)
    });
    std::fs::remove_file(&path).unwrap();
    result
}

#[test]
fn replays_of_a_trace_do_not_narrow_the_interval() {
    let result = of_trace(3000, 0, "read.latency_us.mean@0.5%");
    let found = result.settling.until_settled.unwrap();
    assert!(!found.settled && result.replays.len() <= 1, "{found:?}");
    let remark = "its 2000 requests of this figure repeat in each replay";
    assert!(result.remarks.iter().any(|line| line.contains(remark)), "{:?}", result.remarks);
}

#[test]
fn a_trace_that_settles_by_replays_says_so() {
    let remark = "its interval rests on the same requests, repeated";
    let says = |result: &RunResult| result.remarks.iter().any(|line| line.contains(remark));
    // 6,000 reads are 23 windows: too few for the first check, enough for an interval.
    let few = of_trace(9000, 0, "read.latency_us.mean@50%");
    let found = few.settling.until_settled.as_ref().unwrap();
    assert!(found.settled && few.replays.len() == 2, "{found:?}");
    assert!(says(&few), "{:?}", few.remarks);
    let many = of_trace(30_000, 0, "read.latency_us.mean@50%");
    let found = many.settling.until_settled.as_ref().unwrap();
    assert!(found.settled && many.replays.len() == 1, "{found:?}");
    assert!(!says(&many), "{:?}", many.remarks);
}

#[test]
fn a_figure_of_a_trace_does_not_settle_before_its_last_burst() {
    let found = |burst| {
        let result = of_trace(30_000, burst, "read.latency_us.mean@20%");
        (result.settling.until_settled.unwrap(), result.read.latency_us.mean)
    };
    let (even, _) = found(0);
    assert!(even.settled && even.requests > 16_000, "{even:?}");
    let (late, mean) = found(3000);
    assert!(!late.settled || (late.mean.unwrap() - mean).abs() < 0.2 * mean, "{mean}: {late:?}");
}
