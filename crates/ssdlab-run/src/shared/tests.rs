use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::*;
use crate::control::Control;
use crate::plan::Plan;
use crate::prepare::Prepared;
use crate::sharing::traces::{lay_out, share, share_in};
use crate::source::Requests;
use crate::traces::AppOrder;

fn some_plans(path: &Path, limits: &[Option<u64>]) -> Vec<Prepared> {
    let plan = |&limit| Plan {
        device: "generic-mlc-512g".into(),
        trace: Some(path.display().to_string()),
        limit,
        ..Plan::default()
    };
    let mut all: Vec<_> =
        limits.iter().map(|limit| plan(limit).prepare().expect("a plan")).collect();
    share(&mut all);
    all
}

fn write(path: &Path, requests: u64, wrong: Option<u64>) {
    let mut text = String::new();
    for number in 0..requests {
        let op = if wrong == Some(number) { "Rest" } else { "Read" };
        writeln!(text, "{number},host,0,{op},{},4096,0", number * 512).unwrap();
    }
    std::fs::write(path, text).unwrap();
}

fn read(source: &mut dyn Source, parts: usize) -> Result<Vec<Record>, Fault> {
    let mut all = Vec::new();
    for _ in 0..parts {
        source.fill(&mut all, BATCH)?;
    }
    Ok(all)
}

/// Writes one trace of 40,000 requests and one of 9,000.
fn long_and_short(folder: &Path) -> [PathBuf; 2] {
    [(40_000, "long.msr"), (9000, "short.msr")].map(|(requests, name)| {
        let path = folder.join(name);
        write(&path, requests, None);
        path
    })
}

#[test]
fn runs_that_share_a_trace_read_what_each_would_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.msr");
    write(&path, 10_000, None);
    let plans = some_plans(&path, &[None, Some(7), None, Some(7), Some(8)]);
    let shared: Vec<_> = plans.iter().map(|plan| plan.shared.trace.as_ref()).collect();
    assert!(Arc::ptr_eq(shared[0].unwrap(), shared[2].unwrap()));
    assert!(Arc::ptr_eq(shared[1].unwrap(), shared[3].unwrap()));
    assert!(shared[4].is_none(), "nobody reads as many");
    let mut alone = open_trace(&path.display().to_string(), &Default::default()).unwrap();
    let expected = read(&mut alone, 4).unwrap();
    let [mut first, mut second] = [0, 2].map(|at| shared[at].unwrap().view());
    let begun = read(&mut first, 1).unwrap();
    assert_eq!((&begun[..], second.line(0)), (&expected[..BATCH], None));
    assert_eq!(first.line(5), Some(6));
    first.fill(&mut Vec::new(), BATCH).unwrap();
    // The second view no longer needs the file, except for messages.
    assert!(read(&mut second, 2).unwrap() == expected[..2 * BATCH]);
    assert_eq!(second.line(1), Some(BATCH as u64 + 2));
    read(&mut first, 2).unwrap();
    let sha256 = first.sha256().unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(read(&mut second, 2).unwrap() == expected[2 * BATCH..]);
    assert_eq!((second.progress(), second.fill(&mut Vec::new(), BATCH)), (Some(1.0), Ok(0)));
    assert_eq!((second.sha256().unwrap(), second.trace_format()), (sha256, Some("msr")));
}

#[test]
fn all_readers_get_the_fault_of_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.msr");
    write(&path, 10_000, Some(5000));
    for plan in some_plans(&path, &[None, None]) {
        let mut view = plan.shared.trace.expect("another reads it").view();
        assert_eq!(read(&mut view, 2).unwrap().len(), 5000);
        let fault = read(&mut view, 1).unwrap_err().to_string();
        assert!(fault.contains("some.msr:5001"), "{fault}");
    }
}

/// Returns two plans that share more requests than memory has room for.
fn two_with(path: &Path, cache: TraceCache) -> Vec<Prepared> {
    let mut plans = some_plans(path, &[None, None]);
    share_in(&Arc::new(cache), &mut plans);
    plans
}

#[test]
fn a_trace_longer_than_memory_is_parsed_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.msr");
    write(&path, 40_000, None);
    let plans = two_with(&path, TraceCache::new(10_000, folder.path().into()));
    let shared = plans[0].shared.trace.as_ref().unwrap();
    let [mut first, mut second] = [(); 2].map(|()| shared.view());
    let mut all = [read(&mut first, 5).unwrap(), read(&mut second, 2).unwrap()];
    // Each view overtakes the other. Then the file is removed, and all requests are stored.
    all[1].append(&mut read(&mut second, 8).unwrap());
    all[0].append(&mut read(&mut first, 6).unwrap());
    std::fs::remove_file(&path).unwrap();
    all[1].append(&mut read(&mut second, 1).unwrap());
    let later = read(&mut shared.view(), 11).unwrap();
    assert!(later.len() == 40_000 && all.iter().all(|all| *all == later));
    assert!([&first, &second].into_iter().all(|view| view.alone.is_none()));
}

#[test]
fn a_trace_without_room_in_memory_is_read_by_each_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.msr");
    write(&path, 20_000, None);
    let plans = two_with(&path, TraceCache::new(10_000, folder.path().join("nowhere")));
    let shared = plans[0].shared.trace.as_ref().unwrap();
    let [mut first, mut second] = [(); 2].map(|()| shared.view());
    let mut all = [read(&mut first, 2).unwrap(), read(&mut second, 1).unwrap()];
    assert!(!shared.inside().full);
    all[0].append(&mut read(&mut first, 4).unwrap());
    all[1].append(&mut read(&mut second, 5).unwrap());
    assert!(shared.inside().full);
    assert!(all[0].len() == 20_000 && all[0] == all[1]);
    assert_eq!((first.line(0), second.progress()), (None, Some(1.0)));
}

#[test]
fn traces_have_memory_as_they_need_it() {
    let folder = tempfile::tempdir().unwrap();
    let [long, short] = long_and_short(folder.path());
    let mut plans = some_plans(&long, &[None, None]);
    plans.append(&mut some_plans(&short, &[None, None]));
    share_in(&Arc::new(TraceCache::new(50_000, folder.path().join("nowhere"))), &mut plans);
    for (at, requests) in [(2, 9000), (0, 40_000)] {
        let shared = plans[at].shared.trace.as_ref().unwrap();
        assert_eq!(read(&mut shared.view(), 11).unwrap().len(), requests);
        assert!(!shared.inside().full);
    }
}

#[test]
fn results_are_those_of_each_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.msr");
    write(&path, 9000, None);
    let plan = |order: &str, limit| Plan {
        device: "generic-mlc-512g".into(),
        trace: Some(path.display().to_string()),
        set: vec![format!("scheduler={order}")],
        replays: Some(2),
        limit,
        ..Plan::default()
    };
    let plans = [
        plan("fifo", None),
        plan("read_first", None),
        plan("fifo", Some(10)),
        plan("fifo", Some(10)),
    ];
    are_those_of_each_alone(&plans);
}

#[test]
fn members_of_mixes_are_parsed_once() {
    let folder = tempfile::tempdir().unwrap();
    let [long, short] = long_and_short(folder.path());
    let app = |name: &str, trace: &str, scale| AppOrder {
        name: name.into(),
        trace: trace.into(),
        queue: Some(0),
        scale: Some(scale),
        start: None,
        offset: None,
    };
    let [long_spec, short_spec] = [&long, &short].map(|path| path.display().to_string());
    let plan = |order: &str, limit| Plan {
        device: "generic-mlc-512g".into(),
        set: vec![format!("scheduler={order}")],
        mix: vec![app("a", &long_spec, 1.0), app("b", "dlv/hm0", 1.0), app("c", &short_spec, 0.5)],
        limit,
        ..Plan::default()
    };
    let plans = [
        plan("fifo", Some(20_000)),
        plan("read_first", Some(20_000)),
        plan("fifo", Some(10)),
        Plan { seed: 7, ..plan("fifo", Some(20_000)) },
    ];
    are_those_of_each_alone(&plans);

    let mut prepared: Vec<_> = plans.iter().map(|plan| plan.prepare().unwrap()).collect();
    lay_out(&prepared, &Control::new(plans.len())).unwrap();
    share(&mut prepared);
    let members = |at: usize| &prepared[at].shared.members[..];
    let [Some(first), None, Some(_)] = members(0) else { panic!("two traces and a twin") };
    assert!(Arc::ptr_eq(first, members(1)[0].as_ref().unwrap()));
    assert!(members(2).is_empty(), "nobody reads as many");
    assert!(members(3).is_empty(), "nobody reads them beside the same twin");
    // The later view no longer needs the file.
    let open = |at: usize| Requests::open(&prepared[at], &mut Vec::new()).unwrap();
    let read_all = |mut from: Requests| {
        let (mut all, mut batch) = (Vec::new(), Vec::new());
        while {
            from.read(&mut batch).unwrap();
            !batch.is_empty()
        } {
            all.append(&mut batch);
        }
        all
    };
    let all = read_all(open(0));
    std::fs::remove_file(&long).unwrap();
    assert!(all.len() == 20_000 && read_all(open(1)) == all);
}

/// Checks that plans give the same results together as each alone.
fn are_those_of_each_alone(plans: &[Plan]) {
    let outcome = |result: crate::RunResult| {
        (result.results_digest, result.remarks, result.provenance.trace_sha256)
    };
    let alone: Vec<_> = plans
        .iter()
        .map(|plan| {
            outcome(crate::run_uninterrupted(std::slice::from_ref(plan), 1).unwrap().remove(0))
        })
        .collect();
    for jobs in [1, 2, 4] {
        let together = crate::run_uninterrupted(plans, jobs).unwrap();
        assert_eq!(together.into_iter().map(outcome).collect::<Vec<_>>(), alone);
    }
}
