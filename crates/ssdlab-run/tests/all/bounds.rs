//! Plans that do not fit into memory are refused in one line. Each runs in a process with little
//! memory, so that none exhausts the machine.

use std::env;
use std::process::Command;

use ssdlab_run::{Plan, run_uninterrupted};

/// The environment variable that holds the plan of a process.
const PLAN: &str = "SSDLAB_BOUNDS_PLAN";
/// Kibibytes of address space for a process.
const LITTLE: u64 = 700_000;

/// Returns the output of a process that runs this plan with this much memory.
fn line_of(plan: &Plan, kibibytes: u64) -> String {
    let program = env::current_exe().expect("this program");
    let limited = format!("ulimit -v {kibibytes} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &limited]).arg(program);
    command.args(["--exact", "--ignored", "--nocapture", "bounds::a_process_of_its_own"]);
    command.env(PLAN, serde_json::to_string(plan).expect("a plan in JSON"));
    let output = command.output().expect("a shell runs");
    let all = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{all}{}", String::from_utf8_lossy(&output.stderr));
    let line = all.lines().find_map(|line| line.split_once("said ").map(|(_, text)| text));
    line.unwrap_or_else(|| panic!("{all}")).to_owned()
}

#[test]
#[ignore = "a part of the tests below"]
fn a_process_of_its_own() {
    let Ok(plan) = env::var(PLAN) else { return };
    let plan: Plan = serde_json::from_str(&plan).expect("a plan");
    match run_uninterrupted(&[plan], 1) {
        Ok(results) => println!("\nsaid {} requests", results[0].requests),
        Err(fault) => println!("\nsaid {fault}"),
    }
}

fn plan(device: &str, set: &[&str]) -> Plan {
    let set = set.iter().map(ToString::to_string).collect();
    Plan { device: device.into(), set, ..Plan::default() }
}

#[test]
fn a_drive_that_does_not_fit_is_refused_with_what_it_needs_and_what_is_left() {
    const WIDE: [&str; 6] = [
        "geometry.channels=1024",
        "geometry.chips=16",
        "geometry.dies=4",
        "geometry.planes=1",
        "geometry.blocks=128",
        "geometry.pages=256",
    ];
    let drives: [(&[&str], &str); 3] = [
        (&WIDE, "geometry: got 2147483648 pages on 65536 planes, expected more memory"),
        (
            &["geometry.blocks=131071"],
            "geometry: got 4294934528 pages on 128 planes, expected more memory",
        ),
        (&["buffer.size=400GiB"], "buffer.size: got \"400GiB\""),
    ];
    for (set, expected) in drives {
        let line = line_of(&plan("generic-mlc-512g", set), 4_000_000);
        assert!(line.contains(expected), "{line}");
        assert!(line.contains(" GB are needed, and ") && line.ends_with("(ulimit -v)"), "{line}");
    }
    // Tables that are reserved but hardly used do not count, if address space suffices.
    let small = ["workload.requests=100"];
    assert_eq!(line_of(&plan("generic-mlc-512g", &small), 4_000_000), "100 requests");
}

#[test]
fn a_closed_loop_of_more_requests_than_fit_is_refused_before_it_runs() {
    let set = ["workload.requests=200000000", "geometry.blocks=64", "workload.footprint=1GiB"];
    let closed = Plan { closed: Some(100_000_000), ..plan("generic-mlc-512g", &set) };
    let line = line_of(&closed, LITTLE);
    let expected =
        "--closed: more requests than fit into memory: got 100000000, expected more memory";
    assert!(line.starts_with(expected), "{line}");
    // The closed loop never has more requests than the workload.
    let few = ["workload.requests=1000", "geometry.blocks=64", "workload.footprint=1GiB"];
    let closed = Plan { closed: Some(100_000_000), ..plan("generic-mlc-512g", &few) };
    assert_eq!(line_of(&closed, LITTLE), "1000 requests");
}

#[test]
fn a_load_that_piles_up_ends_in_one_line() {
    const SMALL: [&str; 3] =
        ["geometry.blocks=64", "workload.footprint=1GiB", "workload.interarrival=0ns"];
    let outside = ["workload.requests=100000000", "host.queue_depth=2", "workload.sizes=8KiB"];
    let inside = ["workload.requests=60000", "workload.sizes=64MiB", "workload.read_share=1"];
    for load in [&outside[..], &inside[..]] {
        let line = line_of(&plan("generic-mlc-512g", &[&SMALL[..], load].concat()), LITTLE);
        let expected = "workload: piles up more requests than fit into memory: got ";
        assert!(line.starts_with(expected) && line.contains("(ulimit -v)"), "{line}");
    }
}

#[test]
fn a_broken_line_that_asks_for_half_a_terabyte_is_refused_at_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.msr");
    let text = "1,h,0,Read,0,4096,0\n2,h,0,Read,4096,511000000000,0\n";
    std::fs::write(&file, text).expect("a file");
    for wrap in [false, true] {
        let trace = Some(file.display().to_string());
        let plan = Plan { trace, wrap, ..plan("generic-tlc-2t", &[]) };
        let fault = run_uninterrupted(&[plan], 1).expect_err("a refusal").to_string();
        let expected = "t.msr:2: a request too large: got 511GB, expected a read or write of \
                        at most 256MiB (workload.trace.max_request allows for more)";
        assert!(fault.ends_with(expected), "{fault}");
    }
    // A larger limit does not prevent the one-line error when memory is short.
    let set = ["workload.trace.max_request=1TiB", "geometry.blocks=1024"];
    let trace = Some(file.display().to_string());
    let large = Plan { trace, ..plan("generic-tlc-2t", &set) };
    let line = line_of(&large, 4_000_000);
    assert!(line.starts_with("workload: piles up more requests than fit"), "{line}");
}
