//! Checks that invalid runs are refused before they start, in one line with the reason.

use ssdlab_run::{Control, Plan, run_all, run_uninterrupted};

fn line(plan: Plan) -> String {
    let mut plan = Plan { device: "dlv-mlc-128g".into(), ..plan };
    plan.set.insert(0, "workload.requests=1000".into());
    let line = run_uninterrupted(&[plan], 1).expect_err("a refusal").to_string();
    assert!(!line.contains('\n'), "{line}");
    line
}

fn set(settings: &[&str]) -> String {
    line(Plan { set: settings.iter().map(|s| s.to_string()).collect(), ..Plan::default() })
}

#[test]
fn a_drive_of_more_pages_than_numbers_is_refused_with_the_limit_named() {
    let line = set(&["geometry.channels=1024"]);
    assert!(line.contains("geometry: got 8589934592 physical pages, expected at most 4294967294"));
}

#[test]
fn a_plane_needs_blocks_beside_its_reserve() {
    let expected = "more than 3: of a plane's blocks 3 are kept for writing and collecting";
    assert!(set(&["geometry.blocks=3"]).contains(expected));
    let line = set(&["ftl.overprovisioning=0"]);
    assert!(line.contains("expected at least 0.0030 and less than 1"), "{line}");
}

#[test]
fn times_that_could_overflow_are_refused() {
    assert!(set(&["timing.program=9000000000s"]).contains("at most 100s"));
    assert!(set(&["flash.bus_rate=1B/s"]).contains("a rate that moves a page within"));
    assert!(set(&["flash.command_time=1h"]).contains("at most 100s"));
    let decode = set(&["timing.decode=200s"]);
    assert!(decode.contains("timing.decode: got \"200s\", expected at most 100s"), "{decode}");
    let refusal = set(&["workload.interarrival=90000d"]);
    let expected = "workload.interarrival: got 1000 requests 90000d apart, expected a workload";
    assert!(refusal.contains(expected), "{refusal}");
    let old = set(&["physics=retries", "start.age_max=100000d"]);
    assert!(old.contains("start.age_max: got \"100000d\", expected at most 36500d"), "{old}");
    let late = line(Plan { time_scale: Some(1e300), ..Plan::default() });
    assert!(late.contains("an arrival too late to simulate"), "{late}");
}

#[test]
fn an_error_quotes_the_value_as_typed() {
    let rate = set(&["flash.bus_rate=0MB/s"]);
    assert!(rate.contains("flash.bus_rate: got \"0MB/s\", expected a rate above 0"), "{rate}");
    let sizes = set(&["workload.sizes=[]"]);
    assert!(sizes.contains("got a list of 0, expected from 1 to 1024 sizes"), "{sizes}");
    let time = set(&["timing.read=75"]);
    assert!(time.contains("timing.read: got 75, expected a time"), "{time}");
    for list in ["[40us,60us]", "40us,60us", "[\"40us\", \"60us\"]"] {
        let set = vec![format!("timing.read={list}")];
        let plan = Plan { device: "dlv-mlc-128g".into(), set, ..Plan::default() };
        plan.prepare().unwrap();
    }
    let short = set(&["timing.read=[40us,60]"]);
    assert!(short.contains("timing.read[1]: got 60, expected a time"), "{short}");
}

#[test]
fn a_buffer_larger_than_the_flash_is_refused() {
    assert!(set(&["buffer.size=8TiB"]).contains("at most the size of the flash"));
}

#[test]
fn a_warm_up_longer_than_the_run_is_refused() {
    let warmup = |text: &str| line(Plan { warmup: Some(text.into()), ..Plan::default() });
    let expected = "--warmup: longer than the run: got 5000, expected less than the run's 1000";
    assert!(warmup("5000").starts_with(expected), "{}", warmup("5000"));
    assert!(warmup("90d").starts_with("--warmup: longer than the run: got 90d"));
    assert!(warmup("soon").contains("a number of requests, or a time with its unit"));
}

#[test]
fn what_an_option_leaves_without_effect_is_refused() {
    let closed = |setting: &str| {
        line(Plan { closed: Some(4), set: vec![setting.into()], ..Plan::default() })
    };
    let expected = "--set workload.interarrival=9us: workload.interarrival: got \"9us\", \
                    expected no such setting beside --closed";
    assert_eq!(closed("workload.interarrival=9us"), expected);
    assert!(closed("workload.arrivals=fixed").ends_with("beside --closed"));
    let steady = |set: &[&str], state: Option<&str>| {
        line(Plan {
            precondition: Some("steady".into()),
            set: set.iter().map(|setting| setting.to_string()).collect(),
            state: state.map(Into::into),
            ..Plan::default()
        })
    };
    for setting in ["start.fill=0.5", "start.unwritten_reads=none", "start.program_mode=policy"] {
        assert!(steady(&[setting], None).ends_with("beside --precondition"), "{setting}");
    }
    assert!(steady(&[], Some("aged")).starts_with("--precondition: a way to precondition beside"));
}

#[test]
fn a_start_is_drawn_or_refused_however_lucky_the_bad_blocks_are() {
    let small = ["geometry.channels=2", "geometry.chips=1", "geometry.dies=1", "geometry.planes=1"];
    let tight = [
        "geometry.blocks=16",
        "geometry.pages=16",
        "ftl.bad_blocks=10%",
        "ftl.overprovisioning=20%",
        "start.fill=0.95",
        "start.steady_state=true",
        "workload.footprint=64KiB",
        "workload.sizes=8KiB",
        "workload.requests=10",
    ];
    let mut refused = 0;
    for seed in 0..20 {
        let set = small.iter().chain(&tight).map(|line| line.to_string()).collect();
        let plan = Plan { device: "dlv-mlc-128g".into(), set, seed, ..Plan::default() };
        if let Err(fault) = run_uninterrupted(&[plan], 1) {
            assert!(fault.to_string().contains("ftl.overprovisioning"), "{fault}");
            refused += 1;
        }
    }
    assert!(refused > 0, "some are too tight");
}

#[test]
fn a_drive_with_much_spare_space_is_not_steady_before_anything_is_collected() {
    let small = ["geometry.channels=1", "geometry.chips=1", "geometry.dies=1", "geometry.planes=1"];
    let settings = ["geometry.blocks=64", "geometry.pages=16", "ftl.overprovisioning=70%"];
    let load = ["workload.footprint=64KiB", "workload.sizes=8KiB", "workload.requests=10"];
    let all = small.iter().chain(&settings).chain(&load);
    let set = all.map(|line| line.to_string()).collect();
    let device = "dlv-mlc-128g".into();
    let plan = Plan { device, set, precondition: Some("steady".into()), ..Plan::default() };
    let results = run_uninterrupted(&[plan], 1).expect("a run");
    let steady = results[0].settling.precondition.expect("a steady drive");
    // One capacity is three tenths of the flash. The fifth is the first one after all of the flash
    // has been written.
    assert!(steady.capacities >= 5, "{steady:?}");
}

#[test]
fn a_trace_that_cannot_be_read_again_is_refused() {
    let device = "dlv-mlc-128g".into();
    let plan = Plan { device, trace: Some("/dev/null:msr".into()), ..Plan::default() };
    let line = run_uninterrupted(&[plan], 1).expect_err("a refusal").to_string();
    assert!(line.starts_with("/dev/null: is no file: expected a trace in a file"), "{line}");
}

#[test]
fn speed_counts_page_operations_and_requests_of_the_same_stretch() {
    let rate = |warmup: &str| {
        let set = vec!["workload.requests=20000".into()];
        let warmup = Some(warmup.into());
        let plan = Plan { device: "generic-mlc-512g".into(), set, warmup, ..Plan::default() };
        let sim = run_uninterrupted(&[plan], 1).expect("a run").remove(0).sim;
        sim.page_ops_per_s / sim.requests_per_s
    };
    assert!((rate("19000") / rate("0") - 1.0).abs() < 1e-9);
}

#[test]
fn arguments_that_take_each_other_back_are_refused() {
    let named = |workload: &str, setting: &str| {
        let workload = Some(workload.into());
        line(Plan { workload, set: vec![setting.into()], ..Plan::default() })
    };
    let expected = "--set workload.kind.zipf.theta=0.9: contradicts another argument: got --set \
                    workload.kind=bursty, expected only settings of \"bursty\"";
    assert_eq!(named("bursty", "workload.kind.zipf.theta=0.9"), expected);
    let twice = named("sequential", "workload.kind=random");
    assert!(twice.starts_with("--set workload.kind=random: a kind beside --workload"), "{twice}");
    let physics = set(&["physics=retries", "physics.levels.codeword=1KiB"]);
    assert!(physics.contains("contradicts another argument"), "{physics}");
}

#[test]
fn a_footprint_beyond_the_drive_is_refused_by_its_key_unless_it_is_folded() {
    let line = set(&["workload.footprint=1TiB"]);
    assert!(line.starts_with("--set workload.footprint=1TiB: workload.footprint: got \"1TiB\""));
    assert!(line.ends_with("(--wrap folds such addresses into the drive)"), "{line}");
    let plan = Plan {
        device: "dlv-mlc-128g".into(),
        set: vec!["workload.footprint=1TiB".into(), "workload.requests=1000".into()],
        wrap: true,
        ..Plan::default()
    };
    let results = run_uninterrupted(&[plan], 1).expect("a run");
    assert!(results[0].folded > 500, "{} folded", results[0].folded);
}

#[test]
fn a_trace_is_read_as_its_settings_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.trace");
    std::fs::write(&file, "0 0 0 8 1\n5 1 8 8 1\n9 0 16 8 1\n").expect("a file");
    let run = |settings: &[&str]| {
        let set = settings.iter().map(|s| s.to_string()).collect();
        let trace = Some(format!("{}:mqsim", file.display()));
        let plan = Plan { device: "dlv-mlc-128g".into(), trace, set, ..Plan::default() };
        run_uninterrupted(&[plan], 1).map(|results| results[0].clone())
    };
    let of_one = run(&["workload.trace.device=0", "workload.trace.tick=1ms"]).expect("a run");
    assert_eq!(of_one.requests, 2);
    assert!(of_one.duration_s > 9e-3, "{}", of_one.duration_s);
    let line = run(&["workload.read_share=0.1"]).expect_err("a refusal").to_string();
    assert!(line.contains("no workload settings beside a trace"), "{line}");
}

#[test]
fn the_columns_of_any_table_are_set_on_the_command_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.csv");
    std::fs::write(&file, "ts,kind,lba,len\n0,0,0,8\n5,1,8,8\n9,0,16,8\n").expect("a file");
    for mapping in [
        "time:0:ms,op:1:0/1,offset:2:sectors,size:3:sectors",
        "time:ts:ms,op:kind:0/1,offset:lba:sectors,size:len:sectors",
    ] {
        let set = vec![format!("workload.trace.columns={mapping}")];
        let trace = Some(format!("{}:csv", file.display()));
        let plan = Plan { device: "dlv-mlc-128g".into(), trace, set, ..Plan::default() };
        let results = run_uninterrupted(&[plan], 1).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(results[0].requests, 3);
        assert!(results[0].duration_s > 9e-3, "{}", results[0].duration_s);
    }
}

#[test]
fn a_warm_up_leaves_out_what_arrived_in_it_even_if_it_had_to_wait_outside() {
    let settings = ["workload.requests=1000", "workload.interarrival=1us", "host.queue_depth=2"];
    let plan = Plan {
        device: "dlv-mlc-128g".into(),
        set: settings.map(String::from).to_vec(),
        warmup: Some("400".into()),
        ..Plan::default()
    };
    let results = run_uninterrupted(&[plan], 1).expect("a run");
    assert!(results[0].saturated && results[0].backlog > 900);
    assert_eq!(results[0].requests, 600);
}

#[test]
fn a_drive_that_cannot_go_on_says_so() {
    let small = ["geometry.channels=1", "geometry.chips=1", "geometry.dies=1", "geometry.planes=1"];
    let rest = [
        "geometry.blocks=16",
        "geometry.pages=16",
        "ftl.overprovisioning=0.3",
        "background.gc=false",
        "workload.footprint=512KiB",
        "workload.read_share=0",
        "workload.sizes=4KiB",
    ];
    let drive = [&small[..], &rest[..]].concat();
    let line = set(&drive);
    assert!(line.starts_with("drive: deadlock: a plane has no free block"), "{line}");
    for (closed, precondition) in [(Some(4), None), (None, Some("steady".into()))] {
        let set = drive.iter().map(ToString::to_string).collect();
        let device = "generic-mlc-512g".into();
        let plan = Plan { device, set, closed, precondition, ..Plan::default() };
        let line = run_uninterrupted(&[plan], 1).expect_err("no space").to_string();
        assert!(line.starts_with("drive: deadlock: a plane has no free block"), "{line}");
    }
}

#[test]
fn every_plan_is_checked_before_the_first_one_runs() {
    let good = Plan { device: "dlv-mlc-128g".into(), ..Plan::default() };
    let bad = Plan { device: "dlv-mlc-129g".into(), ..Plan::default() };
    let control = Control::new(2);
    let line = run_all(&[good, bad], Some(2), &control).expect_err("a refusal").to_string();
    assert!(line.contains("did you mean \"dlv-mlc-128g\"?"), "{line}");
    assert_eq!(control.progress[0].read().1, 0);
}

#[test]
fn a_scheme_on_a_drive_that_does_not_suit_it_names_one_that_does() {
    for (scheme, device) in [
        ("dlv/dlv", "dlv-mlc-128g"),
        ("pv-read/pv-read", "pv-read-mlc-128g"),
        ("readguard/rgftl", "readguard-tlc-2t"),
        ("hire/hire", "hire-mlc-128g"),
        ("all-five", "five-tlc-512g"),
    ] {
        let plan =
            |device: &str| Plan { device: device.into(), scheme: scheme.into(), ..Plan::default() };
        let refused =
            plan("generic-mlc-512g").prepare().map(|_| ()).expect_err("a refusal").to_string();
        let line = format!(
            "--scheme: does not work on this device: got {scheme} on generic-mlc-512g, \
             expected --device {device} ("
        );
        assert!(refused.starts_with(&line), "{refused}");
        assert!(plan(device).prepare().is_ok(), "{device}");
    }
}

#[test]
fn an_error_in_a_default_names_what_the_user_chose() {
    let on = |device: &str, scheme: &str, setting: &str| {
        let (device, scheme) = (device.into(), scheme.into());
        line(Plan { device, scheme, set: vec![setting.into()], ..Plan::default() })
    };
    let wrong = on("dlv-mlc-128g", "readguard/rgftl", "start.fill=10%");
    assert_eq!(
        wrong,
        "--scheme: does not work on this device: got readguard/rgftl on dlv-mlc-128g, expected \
         --device readguard-tlc-2t (host.queues: got 1, expected 2 to 5 with scheduler = \
         \"strict_priority\")"
    );
    let typed = on("dlv-mlc-128g", "readguard/rgftl", "host.queues=9");
    assert!(
        typed.starts_with("--set host.queues=9: host.queues: got 9, expected 2 to 5"),
        "{typed}"
    );
    let alone = set(&["scheduler=strict_priority"]);
    assert!(alone.ends_with("(--set host.queues changes it)"), "{alone}");
}

#[test]
fn an_option_set_as_a_key_is_named() {
    let seed = set(&["seed=3"]);
    assert!(seed.starts_with("--set seed=3: seed: unknown key"), "{seed}");
    assert!(seed.ends_with("(--seed is an option, not a setting)"), "{seed}");
    assert!(set(&["op=7%"]).contains("expected one of background, buffer,"));
}

#[test]
fn a_count_beyond_its_limit_is_refused_as_the_list_of_keys_says() {
    let keys = ssdlab_config::keys::<ssdlab_run::RunConfig>();
    for name in ["channels", "chips", "dies", "planes", "blocks", "pages"] {
        let key = keys.iter().find(|key| key.path == format!("geometry.{name}")).expect(name);
        let most = key.expected.strip_prefix("a whole number from 1 to ").expect(&key.expected);
        let most: u32 = most.parse().expect(most);
        for wrong in [0, most + 1] {
            let expected = format!("geometry.{name}: got {wrong}, expected {}", key.expected);
            let line = set(&[&format!("geometry.{name}={wrong}")]);
            assert!(line.ends_with(&expected), "{line}");
        }
    }
    let queues = set(&["host.queues=0"]);
    assert!(queues.ends_with("host.queues: got 0, expected a whole number from 1 to 255"));
    let ranks = set(&["host.queues=6", "scheduler=strict_priority"]);
    let row = keys.iter().find(|key| key.path == "host.queues").expect("a key");
    assert!(ranks.contains("expected 2 to 5 with") && row.doc.contains("From 2 to 5 where"));
    let page = set(&["geometry.page_size=5000B"]);
    assert!(page.contains("expected a size in multiples of 512B up to 32KiB"), "{page}");
}
