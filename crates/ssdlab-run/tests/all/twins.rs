//! Tests of a twin as the workload of a run.

use ssdlab_run::workloads::show;
use ssdlab_run::{Control, Plan, RunResult, run_uninterrupted};
use ssdlab_workload::Source;
use ssdlab_workload::measure::Profiler;
use ssdlab_workload::twins::{Compared, find};

fn plan(workload: &str) -> Plan {
    Plan {
        device: "dlv-mlc-128g".into(),
        workload: Some(workload.into()),
        limit: Some(2000),
        ..Plan::default()
    }
}

fn run(plan: Plan) -> Result<RunResult, String> {
    run_uninterrupted(&[plan], 1).map(|mut all| all.remove(0)).map_err(|fault| fault.to_string())
}

#[test]
fn a_result_says_that_it_is_of_a_twin() {
    let result = run(plan("hm0")).unwrap();
    assert_eq!((result.workload.as_str(), result.requests), ("twin of hm_0 (DLV)", 2000));
    assert_eq!(run(plan("pv-read/hm0")).unwrap().workload, "twin of hm_0 (PV-read)");
    assert!(result.read.requests > 0 && result.write.requests > 0);
}

#[test]
fn equal_seeds_give_equal_results() {
    let digest = |seed| {
        let result = run(Plan { seed, ..plan("hm0") }).unwrap();
        (result.read.latency_us.mean.to_bits(), result.write.latency_us.mean.to_bits())
    };
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

#[test]
fn what_a_twin_cannot_run_with_is_refused() {
    let fault = |plan: Plan| run(plan).unwrap_err();
    let queues = fault(plan("mix-a"));
    assert!(queues.contains("at least 3, one for each workload of readguard/mix-a"), "{queues}");
    let setting = fault(Plan { set: vec!["workload.read_share=0.4".into()], ..plan("hm0") });
    let expected = "no workload settings but hints, burstiness, overlap, read_theta, small_in_page beside a twin";
    assert!(setting.contains(expected), "{setting}");
    let theta = fault(Plan { set: vec!["workload.read_theta=11".into()], ..plan("hm0") });
    assert!(
        theta.contains("workload.read_theta: got 11, expected a number from 0 to 10"),
        "{theta}"
    );
    let kind = fault(Plan { set: vec!["workload.kind=zipf".into()], ..plan("hm0") });
    assert!(kind.contains("a kind beside --workload"), "{kind}");
    let large = fault(plan("readguard/ali121"));
    assert!(large.contains("--wrap folds such addresses into the drive"), "{large}");
    let unknown = fault(plan("hm00"));
    assert!(
        unknown.contains("unknown workload") && unknown.contains("a twin such as"),
        "{unknown}"
    );
    let several = fault(Plan { device: "generic-mlc-512g".into(), ..plan("hm0") });
    assert!(several.contains("dlv/hm0, pv-read/hm0, hire/hm0"), "{several}");
}

#[test]
fn how_much_of_what_is_read_is_written_can_be_set_of_a_twin() {
    let of = |workload: &str, device: &str, set: &[&str]| Plan {
        device: device.into(),
        set: set.iter().map(|one| (*one).to_owned()).collect(),
        ..plan(workload)
    };
    let drive = "readguard-tlc-500g";
    for (workload, device) in [("hm0", "dlv-mlc-128g"), ("mix-a", drive)] {
        let separate = run(of(workload, device, &["workload.overlap=0"])).unwrap();
        let as_is = run(of(workload, device, &[])).unwrap();
        assert_eq!(separate.requests, as_is.requests);
        assert_ne!(separate.read.latency_us.mean, as_is.read.latency_us.mean);
    }
    for setting in [
        "workload.burstiness=2",
        "workload.overlap=0",
        "workload.read_theta=0",
        "workload.small_in_page=true",
    ] {
        let closed = run(of("random", drive, &[setting])).unwrap_err();
        assert!(closed.contains("no such setting without a twin"), "{closed}");
    }
}

#[test]
fn a_twin_that_is_larger_than_the_drive_is_folded_into_it() {
    let result = run(Plan { wrap: true, ..plan("readguard/ali121") }).unwrap();
    assert_eq!(result.requests, 2000);
}

#[test]
fn a_workload_as_trace_or_a_trace_as_workload_names_the_right_option() {
    let traced = |device: &str, trace: &str| {
        let plan = Plan { device: device.into(), trace: Some(trace.into()), ..Plan::default() };
        run(plan).unwrap_err()
    };
    assert_eq!(
        traced("generic-mlc-512g", "dlv/hm0"),
        "dlv/hm0: no such file (a workload has this name: --workload dlv/hm0)"
    );
    assert_eq!(
        traced("dlv-mlc-128g", "hm0"),
        "hm0: no such file (a workload has this name: --workload hm0)"
    );
    let several = traced("generic-mlc-512g", "hm0");
    assert!(several.contains("--workload with one of dlv/hm0, pv-read/hm0"), "{several}");
    assert_eq!(
        traced("generic-mlc-512g", "zipf"),
        "zipf: no such file (a workload has this name: --workload zipf)"
    );
    assert_eq!(traced("generic-mlc-512g", "no.csv"), "no.csv: no such file");

    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    for spec in [path.to_owned(), format!("{path}:msr")] {
        let fault = run(plan(&spec)).unwrap_err();
        assert!(fault.starts_with("--workload: a file, not a workload"), "{fault}");
        assert!(fault.ends_with(&format!("(--trace {spec})")), "{fault}");
    }
}

/// Runs a twin or a closed form on the drive of PA-SSD.
fn hinted(workload: &str, scheme: &str, hints: &str) -> RunResult {
    let set = if hints.is_empty() { vec![] } else { vec![format!("workload.hints={hints}")] };
    let device = "pa-ssd-tlc-288g".into();
    let plan = Plan { device, scheme: scheme.into(), set, ..plan(workload) };
    run(plan).unwrap()
}

#[test]
fn hints_are_drawn_as_listed_and_change_nothing_else() {
    for workload in ["pa-ssd/dap", "random"] {
        let of = |hints: &str| hinted(workload, "hgs+us", hints);
        let requested = |hints: &str| of(hints).typed.page_types.unwrap().requested;
        let all: u64 = requested("[1]")[0];
        assert_eq!(requested("[1]"), [all, 0, 0], "{workload}");
        assert_eq!(requested("[2]"), [0, all, 0], "{workload}");
        let [short, none, long] = requested("[1,1,3]")[..] else { panic!("three types") };
        assert_eq!((short + long, none), (all, 0), "{workload}");
        let share = short as f64 / all as f64;
        assert!((share - 2.0 / 3.0).abs() < 0.08, "{workload}: {share}");
        // A short-latency hint on every request equals `lfs`. No hints equal the other scheme.
        let means =
            |result: RunResult| [result.read, result.write].map(|kind| kind.latency_us.mean);
        assert_eq!(means(of("[1]")), means(hinted(workload, "lfs", "")), "{workload}");
        assert_eq!(means(of("[0]")), means(hinted(workload, "us", "")), "{workload}");
    }
}

#[test]
fn hints_that_are_none_are_refused() {
    for (hints, wrong) in
        [("[4]", "got 4, expected a whole number from 0 to 3"), ("[]", "a list of 0")]
    {
        for workload in ["pa-ssd/dap", "random"] {
            let device = "pa-ssd-tlc-288g".into();
            let set = vec![format!("workload.hints={hints}")];
            let scheme = "hgs+us".into();
            let fault = run(Plan { device, scheme, set, ..plan(workload) }).unwrap_err();
            assert!(fault.contains("workload.hints") && fault.contains(wrong), "{fault}");
        }
    }
    let set = vec!["workload.hints=[1]".into()];
    let unheeded = run(Plan { set, limit: Some(1000), ..plan("hm0") }).unwrap().remarks;
    assert_eq!(unheeded, ["no policy of this drive uses the hints of workload.hints"]);
    let unhinted = hinted("pa-ssd/ra", "hgs+us", "").remarks;
    assert_eq!(unhinted, ["this scheme uses latency hints, but no request carries one"]);
}

#[test]
fn how_far_blocks_are_programmed_takes_three_bytes_a_block() {
    // PA-SSD, section 4.3: 1152 B for each of the 256 planes.
    let typed = hinted("pa-ssd/ra", "us", "");
    assert_eq!(typed.metadata_bytes["page_progress"], 256 * 1152);
    assert!(hinted("pa-ssd/ra", "conventional", "").metadata_bytes.is_empty());
}

#[test]
fn a_twin_is_shown_with_the_measurements_of_a_trace() {
    const REQUESTS: u64 = 20_000;
    let shown = show("dlv/hm0", Some(REQUESTS), 1, &Control::new(1)).unwrap().unwrap();
    let twin = find("dlv/hm0", None).unwrap().scaled(REQUESTS);
    let mut records = Vec::new();
    let mut source = twin.source(1).unwrap();
    while source.fill(&mut records, 4096).unwrap() > 0 {}
    let mut profiler = Profiler::new(true);
    profiler.take(&records, |_| None);
    assert_eq!(shown.profile, profiler.finish());
    assert!(shown.profile.burstiness.hurst.is_some() && shown.profile.reuse.is_some());
    // The excerpt of hm_0 is too short for windows of 100 s.
    for window in &shown.profile.burstiness.windows[..4] {
        let same = |row: &&Compared| {
            row.what.starts_with("dispersion_") && row.achieved == window.dispersion
        };
        assert!(shown.figures.iter().any(|row| same(&row)), "{window:?}");
    }
    assert!(shown.figures.iter().any(|row| row.what == "read_run"));
    assert_eq!(shown.hit_ratios, twin.hit_ratios(1, 1 << 18).unwrap());
    let first = &shown.hit_ratios[0];
    assert_eq!((first.what, first.published), ("reads", 0.4458));
    assert!(first.achieved > 0.0);
    // No hit ratios of this volume are published.
    let other = show("readguard/ali2", Some(2000), 1, &Control::new(1)).unwrap().unwrap();
    assert!(other.hit_ratios.is_empty());
}
