//! Measures the memory of a 2 TB drive: new, aged, full, saved and loaded. Each runs in a process
//! of its own.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use ssdlab_run::{Control, Plan, run_uninterrupted, save_state};

/// The environment variable that holds the device, the scheme and the settings of a process.
const SET: &str = "SSDLAB_MEMORY_SET";
/// The environment variable that holds the path of a state. The process begins with the state if
/// the file exists, and saves its drive there otherwise.
const STATE: &str = "SSDLAB_MEMORY_STATE";
const PLAIN: [&str; 2] = ["generic-tlc-2t", "conventional"];

/// Returns the peak memory in MiB of a process that sends a few requests to a drive; `None` if the
/// system does not report it.
fn peak(drive: [&str; 2], set: &[&str]) -> Option<f64> {
    peak_with(Path::new(""), drive, set)
}

/// Returns the peak memory of a process with a state.
fn peak_with(state: &Path, drive: [&str; 2], set: &[&str]) -> Option<f64> {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--exact", "--ignored", "--nocapture", "memory::a_process_of_its_own"]);
    command.env(SET, [&drive, set].concat().join(" ")).env(STATE, state);
    let output = command.output().expect("this program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let peak = text.lines().find_map(|line| line.split_once("peak ")?.1.parse::<f64>().ok());
    peak.map(|mb| mb * 1e6 / f64::from(1 << 20))
}

#[test]
#[ignore = "a part of the tests below"]
fn a_process_of_its_own() {
    let Ok(set) = env::var(SET) else { return };
    let mut words = set.split_whitespace().map(str::to_owned);
    let (device, scheme) = (words.next().expect("a device"), words.next().expect("a scheme"));
    let mut plan = Plan { device, scheme, set: words.collect(), ..Plan::default() };
    let state = env::var(STATE).ok().filter(|path| !path.is_empty()).map(PathBuf::from);
    if state.as_ref().is_some_and(|path| !path.exists()) {
        let path = state.as_ref().expect("one to be saved");
        save_state(&plan, path, &Control::new(1)).expect("a state");
        // The peak of the process counts, so the run that follows needs no settings.
        plan.set.clear();
    } else {
        plan.state = state;
    }
    plan.set.push("workload.requests=500".into());
    let result = run_uninterrupted(&[plan], 1).expect("a run").remove(0);
    if let Some(peak) = result.sim.peak_rss_mb {
        println!("\npeak {peak}");
    }
}

#[test]
fn a_new_drive_takes_as_little_as_it_holds() {
    let new = peak(PLAIN, &[]);
    assert!(new.is_none_or(|peak| peak < 64.0), "{new:?} MiB");
}

#[test]
fn an_aged_drive_takes_its_map() {
    let aged = peak(PLAIN, &["start.fill=0.7"]);
    assert!(aged.is_none_or(|peak| (400.0..1.2 * 1024.0).contains(&peak)), "{aged:?} MiB");
}

#[test]
fn a_drive_that_is_saved_or_loaded_takes_what_it_does_otherwise() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("aged");
    for (what, set) in [("saved", &["start.fill=0.7"][..]), ("loaded", &[])] {
        let takes = peak_with(&state, PLAIN, set);
        assert!(
            takes.is_none_or(|peak| (400.0..1.2 * 1024.0).contains(&peak)),
            "{what}: {takes:?}"
        );
    }
}

#[test]
fn a_full_drive_that_classes_its_blocks_takes_its_map_and_their_table() {
    let full = peak(["readguard-tlc-2t-old", "readguard/rgftl"], &[]);
    assert!(full.is_none_or(|peak| (800.0..1.5 * 1024.0).contains(&peak)), "{full:?} MiB");
}

#[test]
fn a_filled_drive_takes_what_is_estimated() {
    for drive in [["dlv-mlc-128g", "dlv/dlv"], ["readguard-tlc-2t-old", "readguard/rgftl"]] {
        let [device, scheme] = drive.map(str::to_owned);
        let prepared = Plan { device, scheme, ..Plan::default() }.prepare().expect("a drive");
        let parts = prepared.resolved.memory();
        let needed = parts.iter().map(|(_, part)| part.resident).sum::<u64>() as f64;
        let needed = needed / f64::from(1 << 20);
        let Some(taken) = peak(drive, &[]) else { return };
        assert!(
            (needed..needed * 1.15 + 16.0).contains(&taken),
            "{drive:?}: {needed}, {taken} MiB"
        );
    }
}
