//! Checks that a drive from a state file equals the saved drive to the bit.

use std::path::Path;

use ssdlab_run::{Control, PRESETS, Plan, RunResult, load_state, run_uninterrupted, save_state};

const SMALL: [&str; 6] = [
    "geometry.channels=2",
    "geometry.chips=1",
    "geometry.blocks=64",
    "ftl.overprovisioning=0.2",
    "start.fill=0.8",
    "start.invalid=0.1",
];

fn plan(more: &[&str]) -> Plan {
    let set = SMALL.iter().chain(more).map(|s| s.to_string()).collect();
    let workload = ["workload.footprint=64MiB", "workload.requests=20000"];
    Plan {
        device: "dlv-mlc-128g".into(),
        set: [set, workload.map(String::from).to_vec()].concat(),
        seed: 7,
        ..Plan::default()
    }
}

fn run(plan: Plan) -> Result<RunResult, String> {
    let results = run_uninterrupted(&[plan], 1).map_err(|fault| fault.to_string())?;
    Ok(results.into_iter().next().expect("one result"))
}

fn saved(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("aged.state");
    let header = save_state(&plan(&[]), &path, &Control::new(1)).unwrap().unwrap();
    assert!(header.mapped_pages > header.logical_pages * 7 / 10);
    path
}

#[test]
fn a_run_from_a_state_equals_one_that_ages_afresh() {
    let folder = tempfile::tempdir().unwrap();
    let state = Some(saved(folder.path()));
    let fresh = run(plan(&[])).unwrap();
    let loaded = run(Plan { state, ..plan(&[]) }).unwrap();
    assert!(fresh.gc.count + fresh.write.requests > 0);
    assert_eq!(fresh.results_digest, loaded.results_digest);
    assert!(loaded.provenance.state_sha256.is_some());
}

#[test]
fn a_steady_drive_of_each_device_is_saved_and_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    for device in PRESETS.iter().map(|preset| preset.name) {
        let (path, plan) = (folder.path().join(device), steady(device));
        let header = save_state(&plan, &path, &Control::new(1)).unwrap().unwrap();
        assert!(header.mapped_pages <= header.logical_pages, "{device}: {header:?}");
        let (loaded, _) = load_state(&path, &Control::new(1)).unwrap().unwrap();
        assert_eq!(loaded.contents_sha256, header.contents_sha256);
        let state = Plan { state: Some(path), precondition: None, paranoid: true, ..plan };
        let result = run(state).unwrap();
        assert_eq!(result.requests, 300, "{device}");
    }
}

/// Returns a plan with a few requests to a steady drive of this device, with few blocks.
fn steady(device: &str) -> Plan {
    let few = ["channels=1", "chips=1", "dies=1", "planes=1", "blocks=128"];
    let few = few.map(|size| format!("geometry.{size}"));
    let load = ["workload.footprint=16MiB", "workload.requests=300"].map(String::from);
    Plan {
        device: device.into(),
        set: [few.to_vec(), load.to_vec()].concat(),
        precondition: Some("steady".into()),
        ..Plan::default()
    }
}

#[test]
fn what_the_buffer_alone_holds_is_programmed_before_a_state_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steady.state");
    let buffered = || Plan {
        set: [&SMALL[..4], &["buffer.size=1MiB", "workload.footprint=64MiB"]]
            .concat()
            .into_iter()
            .map(String::from)
            .collect(),
        limit: Some(1000),
        ..plan(&[])
    };
    let steady = Plan { precondition: Some("steady".into()), ..buffered() };
    let header = save_state(&steady, &path, &Control::new(1)).unwrap().unwrap();
    assert!(header.steady.is_some());
    assert_eq!(header.mapped_pages, header.logical_pages);
    let loaded = run(Plan { state: Some(path), ..buffered() }).unwrap();
    assert_eq!(loaded.unmapped_reads, 0);
}

#[test]
fn a_state_with_physics_keeps_wear_and_ages() {
    let physics = [
        "physics.levels.base.gaussian.mean=3.7e-4",
        "physics.levels.base.gaussian.sigma=9e-5",
        "physics.levels.retention.rate=8.448e-4",
        "physics.levels.retention.exponent=0.592",
        "start.age_max=90d",
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("aged.state");
    save_state(&plan(&physics), &path, &Control::new(1)).unwrap();
    let fresh = run(plan(&physics)).unwrap();
    let loaded = run(Plan { state: Some(path), ..plan(&physics) }).unwrap();
    assert!(fresh.retries > 0, "old data needs more than one attempt");
    assert_eq!(fresh.results_digest, loaded.results_digest);
}

#[test]
fn every_scheme_continues_a_state_with_a_history_and_data_without_an_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lived.state");
    let history = "start.history={span=\"30d\",tenants=[\
                   {footprint=\"8MiB\",writes_per_day=\"1MiB\"},\
                   {queue=2,footprint=\"8MiB\",writes_per_day=\"1MiB\"}]}";
    let of = |scheme: &str, more: &[&str]| {
        let small = plan(&["geometry.pages=96", "ftl.overprovisioning=0.4"]).set;
        let set = small.into_iter().filter(|set| !set.starts_with("start."));
        let set = set.chain(more.iter().map(|set| set.to_string())).collect();
        Plan { device: "readguard-tlc-2t".into(), scheme: scheme.into(), set, ..plan(&[]) }
    };
    let with_history = [history, "start.owners=unowned"];
    save_state(&of("rgftl", &with_history), &path, &Control::new(1)).unwrap().unwrap();
    for scheme in ["rgftl", "baseline"] {
        let from = Plan { state: Some(path.clone()), paranoid: true, ..of(scheme, &[]) };
        run(from).unwrap_or_else(|fault| panic!("{scheme}: {fault}"));
    }
    let other = ["start.history.span=31d"];
    let refused = run(Plan { state: Some(path), ..of("rgftl", &other) }).unwrap_err();
    assert!(refused.contains("start.history.span") && refused.contains("30d"), "{refused}");
}

#[test]
fn a_workload_that_the_flash_cannot_keep_up_with_is_no_history() {
    let of = |interarrival: &str| {
        let interarrival = format!("workload.interarrival={interarrival}");
        run(plan(&["start.fill=0.5", "start.history={span=\"1d\"}", &interarrival]))
    };
    of("100ms").expect("a slow workload");
    let refused = of("10ns").unwrap_err();
    let named = ["start.history", "a workload that", "in a day", "start.history.tenants"];
    assert!(named.iter().all(|part| refused.contains(part)), "{refused}");
}

#[test]
fn settings_of_the_start_that_a_state_overrules_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.state");
    let of = |device: &str, scheme: &str| {
        let small = plan(&["geometry.pages=96", "ftl.overprovisioning=0.4"]).set;
        let set = small.into_iter().filter(|set| !set.starts_with("start.")).collect();
        Plan { device: device.into(), scheme: scheme.into(), set, ..plan(&[]) }
    };
    let remarks = |device: &str, scheme: &str| -> Vec<String> {
        let result = run(Plan { state: Some(path.clone()), ..of(device, scheme) }).unwrap();
        result.remarks.into_iter().filter(|remark| remark.contains("begins as in")).collect()
    };
    save_state(&of("readguard-tlc-2t-old", "baseline"), &path, &Control::new(1)).unwrap();
    assert_eq!(remarks("readguard-tlc-2t-old", "baseline"), Vec::<String>::new());
    let [device] = remarks("readguard-tlc-2t-young", "baseline").try_into().unwrap();
    let expected = "start.pe_cycles = 3000, not 500 (preset readguard-tlc-2t-young";
    assert!(device.contains(expected), "{device}");
    save_state(&of("five-tlc-512g", "conventional"), &path, &Control::new(1)).unwrap();
    let [scheme] = remarks("five-tlc-512g", "all-five").try_into().unwrap();
    let expected = "start.program_mode = \"normal\", not \"policy\" (scheme all-five";
    assert!(scheme.contains(expected), "{scheme}");
}

#[test]
fn a_state_of_another_drive_seed_or_file_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(folder.path());
    let name = path.display().to_string();
    let with = |plan: Plan| run(Plan { state: Some(path.clone()), ..plan }).err().unwrap();
    assert_eq!(
        with(Plan { seed: 8, ..plan(&[]) }),
        format!("{name}: the seed of the state: got 7, expected the seed of the run, 8 (--seed 7)")
    );
    let line = with(plan(&["geometry.blocks=65"]));
    let other =
        format!("{name}: the state of a drive with another geometry.blocks: got 64, expected 65");
    assert_eq!(line, other);
    let line = with(plan(&["start.fill=0.7"]));
    assert!(line.starts_with("--set start.fill=0.7: start.fill: got 0.7, expected 0.8 as in"));
}

#[test]
fn the_digest_is_of_what_was_done_and_not_of_where_the_trace_lies() {
    let folder = tempfile::tempdir().unwrap();
    let digest = |name: &str, format: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, "0 0 0 16 0\n9000 0 16 16 1\n").unwrap();
        let trace = Some(format!("{}{format}", path.display()));
        let device = "dlv-mlc-128g".into();
        run(Plan { trace, device, ..Plan::default() }).unwrap().results_digest
    };
    assert_eq!(digest("one.trace", ":mqsim"), digest("other.mqsim", ":mqsim"));
}

#[test]
fn a_state_that_cannot_be_written_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no/such/folder/aged.state");
    assert!(save_state(&plan(&[]), &path, &Control::new(1)).is_err());
    assert!(
        save_state(
            &Plan { device: "x".into(), ..plan(&[]) },
            &folder.path().join("s"),
            &Control::new(1)
        )
        .is_err()
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_state_with_pages_programmed_in_two_ways_is_for_drives_that_have_both() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("strong.state");
    let dlv = Plan { scheme: "dlv".into(), ..plan(&[]) };
    save_state(&dlv, &path, &Control::new(1)).unwrap().unwrap();
    let state = Some(path);
    run(Plan { state: state.clone(), ..dlv }).unwrap();
    let line = run(Plan { state, ..plan(&[]) }).unwrap_err();
    assert!(line.contains("the state of a drive with other timing.program_modes"), "{line}");
    // The reverse works: the saved drive has no page in a mode that the other drive lacks.
    let state = Some(saved(folder.path()));
    run(Plan { state, scheme: "dlv".into(), ..plan(&[]) }).unwrap();
}

/// Returns a plan of a small drive of PA-SSD with a closed-form workload.
fn typed(scheme: &str) -> Plan {
    let set = ["geometry.channels=1", "geometry.blocks=24", "geometry.pages=48"];
    let workload = ["workload.footprint=16MiB", "workload.requests=3000"];
    Plan {
        device: "pa-ssd-tlc-288g".into(),
        scheme: scheme.into(),
        set: set.iter().chain(&workload).map(|setting| setting.to_string()).collect(),
        ..Plan::default()
    }
}

#[test]
fn a_footprint_is_of_the_run_and_not_of_the_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("used.state");
    let header = save_state(&typed("us"), &path, &Control::new(1)).unwrap().unwrap();
    assert_eq!(header.mapped_pages, 0, "whose data would it be?");
    let loaded = run(Plan { state: Some(path), ..typed("us") }).unwrap();
    let fresh = run(typed("us")).unwrap();
    assert!(fresh.unwritten_reads > 500 && fresh.read.requests > 1000);
    assert_eq!(fresh.results_digest, loaded.results_digest);
}

#[test]
fn what_becomes_of_unwritten_reads_is_of_the_run_and_not_of_the_state() {
    let folder = tempfile::tempdir().unwrap();
    let of = |choice: &str| {
        let mut plan = typed("us");
        plan.set.push(format!("start.unwritten_reads={choice}"));
        plan
    };
    let fresh = ["lazy", "footprint"].map(|choice| run(of(choice)).unwrap());
    assert_ne!(fresh[0].results_digest, fresh[1].results_digest);
    for (at, saved) in ["footprint", "lazy"].into_iter().enumerate() {
        let path = folder.path().join(saved);
        save_state(&of(saved), &path, &Control::new(1)).unwrap().unwrap();
        let other = ["lazy", "footprint"][at];
        let loaded = run(Plan { state: Some(path.clone()), ..of(other) }).unwrap();
        assert_eq!(loaded.results_digest, fresh[at].results_digest, "{saved}, then {other}");
        // Without a setting in the run, the device's default applies.
        let own = run(Plan { state: Some(path), ..typed("us") }).unwrap();
        assert_eq!(own.results_digest, run(typed("us")).unwrap().results_digest, "{saved}");
        assert!(!own.remarks.iter().any(|line| line.contains("unwritten_reads")), "{own:?}");
    }
}

#[test]
fn a_state_in_the_conventional_order_goes_on_in_the_relaxed_one_and_not_the_other_way() {
    let folder = tempfile::tempdir().unwrap();
    let saved = |scheme: &str| {
        let path = folder.path().join(scheme);
        save_state(&typed(scheme), &path, &Control::new(1)).unwrap().unwrap();
        Some(path)
    };
    let adopted = run(Plan { state: saved("conventional"), ..typed("us") }).unwrap();
    assert_eq!(adopted.results_digest, run(typed("us")).unwrap().results_digest);
    let fault = run(Plan { state: saved("us"), ..typed("conventional") }).unwrap_err();
    assert!(fault.contains("got \"relaxed\"") && fault.contains("ftl.page_order = \"strict\""));
    assert!(fault.contains("pages go in another order"), "{fault}");
}
