//! Tests of mixes of traces as the workload of a run.

use std::path::{Path, PathBuf};

use ssdlab_run::traces::{AppOrder, MixOrder, Reading, convert, info, mix};
use ssdlab_run::{Control, Plan, RunResult, run_uninterrupted};

/// Writes a trace of this many reads, this many microseconds apart.
fn trace(folder: &Path, name: &str, requests: u64, gap_us: u64, queue: u8) -> PathBuf {
    let mut text = "time_us,dev,op,offset_bytes,size_bytes,queue\n".to_owned();
    for n in 0..requests {
        let (at, offset) = (n * gap_us, n * 7919 % 4096 * 4096);
        text += &format!("{at},0,{},{offset},4096,{queue}\n", if n % 3 == 0 { "W" } else { "R" });
    }
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

fn app(name: &str, trace: &Path) -> AppOrder {
    let trace = trace.display().to_string();
    AppOrder { name: name.into(), trace, queue: None, scale: None, start: None, offset: None }
}

fn plan(mix: &[AppOrder], queues: u8) -> Plan {
    Plan {
        device: "dlv-mlc-128g".into(),
        set: vec![format!("host.queues={queues}")],
        mix: mix.to_vec(),
        ..Plan::default()
    }
}

fn run(plan: &Plan) -> Result<RunResult, String> {
    let results = run_uninterrupted(std::slice::from_ref(plan), 1);
    results.map(|mut all| all.remove(0)).map_err(|fault| fault.to_string())
}

#[test]
fn each_member_has_a_queue_and_addresses_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    // A mix ignores the queues in its traces.
    let many = trace(folder.path(), "many.csv", 900, 100, 7);
    let few = trace(folder.path(), "few.csv", 300, 200, 0);
    let result = run(&plan(&[app("high", &many), app("low", &few)], 2)).expect("a run");
    assert_eq!((result.workload.as_str(), result.requests), ("mix of high + low", 1200));
    let counts: Vec<u64> =
        result.queued.queues.iter().map(|q| q.read.requests + q.write.requests).collect();
    assert_eq!(counts, [900, 300]);
    let members = result.provenance.mix.expect("the members");
    assert_eq!(members[0].trace_sha256, ssdlab_workload::sha256(&many).ok());
    assert_eq!(members[1].trace_sha256, ssdlab_workload::sha256(&few).ok());
    let placed = members.iter().map(|m| (m.name.as_str(), m.queue, m.scale, m.shift_bytes));
    let end = 4096 * 4096;
    assert_eq!(placed.collect::<Vec<_>>(), [("high", 0, 1.0, 0), ("low", 1, 1.0, end)]);
    assert!(members.iter().all(|member| member.trace_format == Some("ssdlab")));
    assert_eq!((result.provenance.trace_sha256, result.provenance.trace_format), (None, None));
}

#[test]
fn a_mix_runs_as_the_file_that_trace_mix_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let one = trace(folder.path(), "one.csv", 2000, 70, 0);
    let other = trace(folder.path(), "other.csv", 1000, 110, 0);
    let scaled = AppOrder {
        queue: Some(0),
        scale: Some(0.5),
        start: Some("3ms".into()),
        ..app("scaled", &other)
    };
    let apps = [AppOrder { queue: Some(1), ..app("one", &one) }, scaled];
    let out = folder.path().join("mixed.csv").display().to_string();
    let reading = Reading::default();
    let order = MixOrder { apps: apps.to_vec(), share_addresses: false, reading };
    mix(&order, &out, &Control::new(1)).expect("a mix").expect("not stopped");
    let from_file =
        run(&Plan { trace: Some(out), mix: Vec::new(), ..plan(&[], 2) }).expect("a run");
    let at_once = run(&plan(&apps, 2)).expect("a run");
    assert_eq!(at_once.results_digest, from_file.results_digest);
    let members = at_once.provenance.mix.expect("the members");
    assert_eq!((members[1].scale, members[1].start_us, members[1].queue), (0.5, 3000.0, 0));
}

#[test]
fn queues_that_a_member_names_go_to_no_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = trace(folder.path(), "t.csv", 30, 100, 0);
    let first = AppOrder { queue: Some(1), ..app("a", &file) };
    let shared = AppOrder { offset: Some("0".into()), ..app("c", &file) };
    let result = run(&plan(&[first, app("b", &file), shared], 3)).expect("a run");
    let members = result.provenance.mix.expect("the members");
    assert_eq!(members.iter().map(|member| member.queue).collect::<Vec<_>>(), [1, 0, 2]);
    assert_eq!(members[2].shift_bytes, 0);
}

#[test]
fn plans_with_the_same_mix_have_the_same_addresses() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = trace(folder.path(), "t.csv", 300, 100, 0);
    let one = plan(&[app("a", &file), app("b", &file)], 2);
    let other = Plan { limit: Some(100), seed: 3, ..one.clone() };
    let results = run_uninterrupted(&[one, other], 2).expect("two runs");
    assert_eq!(results[0].provenance.mix, results[1].provenance.mix);
    assert_eq!((results[0].requests, results[1].requests), (600, 100));
}

#[test]
fn a_footprint_is_prefilled_for_a_mix_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = trace(folder.path(), "t.csv", 300, 100, 0);
    let mut plan = plan(&[app("a", &file), app("b", &file)], 2);
    plan.set.push("start.unwritten_reads=footprint".into());
    let result = run(&plan).expect("a run");
    assert_eq!((result.unmapped_reads, result.requests), (0, 600));
}

#[test]
fn what_is_read_lies_on_the_drive_when_a_write_before_covers_it_in_part() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.csv");
    let write = "time_us,dev,op,offset_bytes,size_bytes\n0,0,W,0,512\n";
    let merged = |then: &str| {
        std::fs::write(&file, format!("{write}{then}")).expect("a file");
        let plan = Plan {
            device: "pa-ssd-tlc-288g".into(),
            trace: Some(file.display().to_string()),
            ..Plan::default()
        };
        run(&plan).expect("a run").ops["read"]["rmw"]
    };
    assert_eq!(merged("90000,0,R,0,8192\n"), 1);
    assert_eq!(merged("90000,0,W,0,8192\n"), 0, "nobody reads it");
}

#[test]
fn what_contradicts_a_mix_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = trace(folder.path(), "t.csv", 30, 100, 0);
    let fault = |plan: Plan| run(&plan).expect_err("a refusal");
    let both = plan(&[app("a", &file), app("b", &file)], 2);
    let spec = Some(file.display().to_string());
    assert_eq!(
        fault(Plan { trace: spec, ..both.clone() }),
        "--mix: a mix beside --trace: expected one or the other"
    );
    assert_eq!(
        fault(Plan { workload: Some("zipf".into()), ..both.clone() }),
        "--mix: a mix beside --workload: expected one or the other"
    );
    let mut set = both.set.clone();
    set.push("workload.read_share=0.4".into());
    let line = fault(Plan { set, ..both.clone() });
    assert!(line.contains("workload.read_share"), "{line}");
    assert!(line.contains("no workload settings beside a trace"), "{line}");
    let line = fault(plan(&both.mix, 1));
    assert!(line.contains("host.queues=1"), "{line}");
    assert!(line.contains("at least 2, for the submission queues of its applications"), "{line}");
    assert!(line.contains("--set host.queues=2"), "{line}");
    let far = AppOrder { queue: Some(5), ..app("a", &file) };
    assert!(fault(plan(&[far], 2)).contains("at least 6"));
    let odd = AppOrder { offset: Some("100".into()), ..app("a", &file) };
    assert!(fault(plan(&[odd], 2)).starts_with("a@offset: invalid value: got"));
    let still = AppOrder { scale: Some(0.0), ..app("a", &file) };
    assert!(fault(plan(&[still], 2)).starts_with("a@scale: invalid value: got 0"));
}

#[test]
fn a_member_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = trace(folder.path(), "t.csv", 30, 100, 0);
    let fault =
        |second: &Path| run(&plan(&[app("a", &file), app("b", second)], 2)).expect_err("a refusal");
    let none = folder.path().join("none.csv");
    assert!(fault(&none).starts_with(&none.display().to_string()), "{}", fault(&none));
    let broken = trace(folder.path(), "broken.csv", 300, 100, 0);
    let text = std::fs::read_to_string(&broken).expect("a file");
    std::fs::write(&broken, text.replacen("1000,0,R,", "1000,0,X,", 1)).expect("a file");
    let line = fault(&broken);
    assert!(line.starts_with(&format!("{}:12:", broken.display())), "{line}");
    let beyond = AppOrder { offset: Some("200GiB".into()), ..app("b", &file) };
    let line = run(&plan(&[app("a", &file), beyond], 2)).expect_err("a refusal");
    assert!(line.starts_with(&format!("{}:2: a request beyond", file.display())), "{line}");
}

fn twin(name: &str, twin: &str) -> AppOrder {
    app(name, Path::new(twin))
}

#[test]
fn twins_are_members_and_are_called_twins() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = trace(folder.path(), "t.csv", 300, 100, 0);
    let apps = [twin("high", "hm0"), app("low", &file)];
    let result = run(&Plan { limit: Some(500), ..plan(&apps, 2) }).expect("a run");
    assert_eq!(result.workload, "mix of high (twin of hm_0 (DLV)) + low");
    let members = result.provenance.mix.expect("the members");
    let origins = members.iter().map(|m| (m.trace.as_str(), m.twin.as_deref()));
    let file = file.display().to_string();
    assert_eq!(origins.collect::<Vec<_>>(), [("hm0", Some("twin of hm_0 (DLV)")), (&file, None)]);
    assert!(members[0].trace_sha256.is_none() && members[1].trace_sha256.is_some());
    let reach = ssdlab_workload::twins::find("dlv/hm0", None).expect("a twin").bytes();
    assert_eq!(members[1].shift_bytes as u64, reach.next_multiple_of(1 << 20));
    // A file of that name takes precedence over the twin.
    let named = folder.path().join("hm0");
    std::fs::copy(&file, &named).expect("a copy");
    let result = run(&plan(&[app("a", &named)], 1)).expect("a run");
    assert_eq!(result.workload, "mix of a");
}

#[test]
fn a_mix_of_twins_is_the_workload_of_that_mix() {
    let apps = ["ali81", "ali284", "ali2"].map(|name| twin(name, &format!("readguard/{name}")));
    let mixed = Plan { limit: Some(3000), seed: 7, wrap: true, ..plan(&apps, 3) };
    let named = Plan { workload: Some("mix-b".into()), mix: Vec::new(), ..mixed.clone() };
    let digest = |plan: &Plan| run(plan).expect("a run").results_digest;
    assert_eq!(digest(&mixed), digest(&named));
}

#[test]
fn a_twin_beside_itself_is_not_twice_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("mixed.csv");
    let apps = ["a", "b"].map(|name| AppOrder { queue: Some(0), ..twin(name, "dlv/hm0") });
    let reading = Reading { limit: Some(2000), ..Reading::default() };
    let order = MixOrder { apps: apps.to_vec(), share_addresses: true, reading };
    let path = out.display().to_string();
    let mixed = mix(&order, &path, &Control::new(1)).expect("a mix").expect("not stopped");
    let formats: Vec<_> = mixed.apps.iter().map(|app| (app.format, app.twin.clone())).collect();
    let one = ("twin", Some("twin of hm_0 (DLV)".to_owned()));
    assert_eq!(formats, [one.clone(), one]);
    let [a, b] = [0, 1].map(|nth| mixed.apps[nth].requests);
    assert_eq!((a + b, a > 0), (2000, true));
    // The file names its twins, and each can be selected.
    let names = ["a (twin of hm_0 (DLV))", "b (twin of hm_0 (DLV))"];
    let set = vec![format!("workload.trace.device={}", names[0])];
    let reading = Reading { set, ..Reading::default() };
    let alone = info(std::slice::from_ref(&path), &reading, false, &Control::new(1));
    assert_eq!(alone.expect("a trace").expect("not stopped")[0].profile.requests, a);
    let text = std::fs::read_to_string(&out).expect("the file");
    let of = |name: &str| {
        let own = text.lines().filter(|line| line.split(',').nth(1) == Some(name));
        own.take(100).map(|line| line.replacen(name, "", 1)).collect::<Vec<_>>()
    };
    assert_ne!(of(names[0]), of(names[1]));
    assert_eq!(of(names[0]).len(), 100);
}

#[test]
fn a_name_of_several_twins_is_refused() {
    let mixed = Plan { device: "generic-mlc-512g".into(), ..plan(&[twin("a", "hm0")], 1) };
    let line = run(&mixed).expect_err("a refusal");
    assert!(
        line.contains("application a") && line.contains("dlv/hm0, pv-read/hm0, hire/hm0"),
        "{line}"
    );
}

#[test]
fn a_unit_that_looks_wrong_is_questioned_in_a_mix_too() {
    let folder = tempfile::tempdir().expect("a folder");
    // 64 KiB every 2 µs. A burst hides this rate from the first lines.
    let line = |n: u64| format!("{} 0 8 128 1\n", n.saturating_sub(99) * 2000);
    let fast = folder.path().join("fast.trace");
    std::fs::write(&fast, (0..1000).map(line).collect::<String>()).expect("a file");
    // One request each nanosecond, visible in the first lines.
    let dense = folder.path().join("dense.trace");
    let line = |n: u64| format!("{n} 0 8 8 1\n");
    std::fs::write(&dense, (0..20).map(line).collect::<String>()).expect("a file");
    let named = |path: PathBuf| PathBuf::from(format!("{}:mqsim", path.display()));
    let apps = vec![app("a", &named(fast)), app("b", &named(dense))];

    let check = |remarks: &[String]| {
        assert_eq!(remarks.len(), 2, "{remarks:?}");
        assert!(remarks[0].contains("dense.trace: mean arrival 1e9/s"), "{remarks:?}");
        assert!(remarks[1].contains("fast.trace: 36 GB/s over 1000 requests"), "{remarks:?}");
        assert!(remarks.iter().all(|remark| remark.contains("is the time unit 1ns?")));
    };
    let out = folder.path().join("mixed.csv").display().to_string();
    let order = MixOrder { apps, share_addresses: false, reading: Reading::default() };
    check(&mix(&order, &out, &Control::new(1)).expect("a mix").expect("not stopped").remarks);
    check(&run(&plan(&order.apps, 2)).expect("a run").remarks);
}

#[test]
fn a_twin_in_a_file_is_named_wherever_the_file_goes() {
    const TWIN: &str = "twin of hm_0 (DLV)";
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let control = || Control::new(1);
    let reading = || Reading { limit: Some(300), ..Reading::default() };
    let written = |apps: &[AppOrder], out: &str| {
        let apps = apps.iter().map(|app| AppOrder { queue: Some(0), ..app.clone() }).collect();
        let order = MixOrder { apps, share_addresses: true, reading: reading() };
        mix(&order, out, &control()).expect("a mix").expect("not stopped")
    };
    let few = trace(folder.path(), "few.csv", 100, 100, 0);
    let (csv, parquet, again) = (at("m.csv"), at("m.parquet"), at("n.csv"));
    let mixed = written(&[twin("high", "dlv/hm0"), app("low", &few)], &csv);
    assert!(mixed.remarks.is_empty(), "{:?}", mixed.remarks);
    let converted = |out: &str| {
        convert(&csv, out, &reading(), &control()).expect("a trace").expect("not stopped")
    };
    assert!(converted(&parquet).remarks.is_empty());
    // In a mix, a member that holds a twin is labeled as a twin. All its requests count.
    let more = written(&[app("old", Path::new(&parquet)), app("low", &few)], &again);
    assert_eq!(more.apps.iter().map(|app| app.requests).sum::<u64>(), 300);
    assert!(more.apps[0].requests > 0 && more.apps[1].requests > 0);
    for (file, name) in [(&csv, "high"), (&parquet, "high"), (&again, "old")] {
        let alone = Plan { trace: Some(file.clone()), wrap: true, ..plan(&[], 1) };
        let result = run(&alone).expect("a run");
        let device = format!("{name} ({TWIN})");
        assert_eq!(result.workload, format!("{file} with {device}"));
        assert_eq!(result.provenance.twins, [device]);
        let member = run(&Plan { wrap: true, ..plan(&[app("a", Path::new(file))], 1) });
        let member = member.expect("a run");
        assert_eq!(member.workload, format!("mix of a ({TWIN})"));
        assert_eq!(member.provenance.mix.expect("members")[0].twin.as_deref(), Some(TWIN));
        let low = vec!["workload.trace.device=low".to_owned()];
        let of_low = run(&Plan { set: low, ..alone }).expect("a run");
        assert_eq!((of_low.workload.as_str(), of_low.provenance.twins.len()), (file.as_str(), 0));
    }
    for format in ["mqsim", "msr"] {
        let out = format!("{}:{format}", at("out"));
        let remark = converted(&out).remarks.pop().expect("a remark");
        let tells = format!("{format} does not tell twins: nothing in it says that it holds");
        assert_eq!(remark, format!("{out}: {tells} high ({TWIN})"));
        assert_eq!(written(&[twin("high", "dlv/hm0")], &out).remarks, [remark]);
    }
}
