//! Which layer wins, and which origin the effective config reports.

use crate::toy::{Arrival, Background, Clock, Gc, Hws, Scheduler, Toy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Fault;
use ssdlab_base::quantity::Share;
use ssdlab_base::units::{Bytes, Nanos};
use ssdlab_config::{Effective, Layers};

const PRESET: &str = "[geometry]\nblocks = 4\n[gc]\nthreshold = 0.02\nhold = \"5ms\"\n";

fn preset() -> Layers {
    Layers::new().text("preset small", PRESET)
}

/// Resolves the preset with each argument on top.
fn with(arguments: &[&str]) -> (Toy, Effective) {
    let add = |layers: Layers, argument: &&str| layers.set(argument);
    arguments.iter().try_fold(preset(), add).and_then(|layers| layers.resolve()).unwrap()
}

fn hws(window: u32) -> Scheduler {
    Scheduler::Hws(Hws { window, ..Hws::default() })
}

#[test]
fn a_later_layer_wins_key_by_key() {
    let layers = preset().text("my.toml", "gc.threshold = \"3%\"");
    let (toy, _) = layers.resolve::<Toy>().unwrap();
    assert_eq!(toy.gc.threshold, Share::new(0.03));
    assert_eq!(toy.gc.hold, Nanos::from_ms(5));
    assert_eq!(toy.gc.weight, 1.5);
}

#[test]
fn naming_another_choice_drops_the_settings_of_the_first() {
    let layers = preset().text("bundle", "scheduler.hws.window = 8");
    let fifo = layers.clone().text("my.toml", "scheduler = \"fifo\"");
    assert_eq!(fifo.resolve::<Toy>().unwrap().0.scheduler, Scheduler::default());
    let back = fifo.set("scheduler.hws.patience=4ms").unwrap().resolve::<Toy>().unwrap().0;
    assert_eq!(back.scheduler, Scheduler::Hws(Hws { window: 32, patience: Nanos::from_ms(4) }));
    let priority = layers.set("scheduler.priority.classes=3").unwrap().resolve::<Toy>().unwrap().0;
    assert_eq!(priority.scheduler.name(), "priority");
}

#[test]
fn naming_the_same_choice_keeps_its_settings() {
    let bundle = |text| preset().text("bundle", text);
    for (below, above) in [
        ("scheduler.hws.window = 8", "scheduler = \"hws\""),
        ("scheduler = \"hws\"", "scheduler.hws.window = 8"),
        ("scheduler = { hws = { window = 9 } }", "scheduler.hws = { window = 8 }"),
    ] {
        let (toy, _) = bundle(below).text("my.toml", above).resolve::<Toy>().unwrap();
        assert_eq!(toy.scheduler, hws(8), "{below}, {above}");
    }
}

#[test]
fn no_argument_contradicts_another_one() {
    let line = |arguments: &[&str]| {
        let add = |layers: Layers, argument: &&str| layers.set(argument);
        let layers = arguments.iter().try_fold(preset().text("b", "scheduler.hws.window = 8"), add);
        layers.and_then(|layers| layers.resolve::<Toy>()).err().map(|fault| fault.to_string())
    };
    let expected = "--set scheduler.priority.classes=3: contradicts another argument: got --set \
                    scheduler.hws.window=9, expected only settings of \"hws\"";
    let refused = line(&["scheduler.hws.window=9", "seed=2", "scheduler.priority.classes=3"]);
    assert_eq!(refused.as_deref(), Some(expected));
    assert!(line(&["scheduler=fifo", "scheduler.hws.window=9"]).is_some());
    assert!(line(&["scheduler.hws.window=9", "scheduler=fifo"]).is_some());
    assert!(line(&["scheduler.hws={window=9}", "scheduler=fifo"]).is_some());
    assert!(
        line(&[
            "tenants.a.share=1",
            "tenants.a.scheduler=fifo",
            "tenants.a.scheduler.hws.window=9"
        ])
        .is_some()
    );
    // The later of two bare names wins, and an argument may override a file.
    assert_eq!(line(&["scheduler=hws", "scheduler=fifo"]), None);
    assert_eq!(line(&["scheduler=fifo"]), None);
    assert_eq!(line(&["scheduler.priority.classes=3", "scheduler=priority"]), None);
    let tenants = ["tenants.a.share=1", "tenants.b.share=0", "tenants.a.scheduler.hws.window=9"];
    assert_eq!(line(&[&tenants[..], &["tenants.b.scheduler=fifo"]].concat()), None);
}

#[test]
fn a_list_replaces_as_a_whole() {
    let layers =
        preset().text("bundle", "background = [\"greedy\", { clock = { period = \"5s\" } }]");
    assert_eq!(layers.resolve::<Toy>().unwrap().0.background.len(), 2);
    let (toy, _) = layers.set("background=clock").unwrap().resolve::<Toy>().unwrap();
    assert_eq!(toy.background, [Background::Clock(Clock::default())]);
}

#[test]
fn serdes_own_enums_are_choices_too() {
    assert_eq!(
        with(&["workload.arrival=poisson"]).0.workload.arrival,
        Arrival::Poisson(Default::default())
    );
    let twice = ["workload.arrival=poisson", "workload.arrival=closed"];
    assert_eq!(with(&twice).0.workload.arrival, Arrival::Closed);
    let optional = ["workload.pinned=hws", "workload.pinned.hws.window=3", "workload.pinned=hws"];
    assert_eq!(with(&optional).0.workload.pinned, Some(hws(3)));
    let in_map =
        ["tenants.a.share=40%", "tenants.a.scheduler=hws", "tenants.a.scheduler.hws.window=3"];
    assert_eq!(with(&in_map).0.tenants["a"].scheduler, hws(3));
}

/// A type whose fields have other defaults than their own types.
#[derive(PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
struct Night {
    #[serde(default = "strict")]
    gc: Gc,
    #[serde(default = "wide")]
    scheduler: Scheduler,
}

fn strict() -> Gc {
    Gc { eager: true, ..Gc::default() }
}

fn wide() -> Scheduler {
    hws(64)
}

#[test]
fn a_partial_table_keeps_the_rest_of_its_own_default() {
    let night = |text| Layers::new().text("my.toml", text).resolve::<Night>().unwrap().0;
    assert_eq!(night("gc.weight = 2").gc, Gc { weight: 2.0, ..strict() });
    let patient = |window| Scheduler::Hws(Hws { window, patience: Nanos::from_ms(4) });
    assert_eq!(night("scheduler.hws.patience = \"4ms\"").scheduler, patient(64));
    assert_eq!(night("scheduler = \"hws\"").scheduler, wide());
    // The default's settings are gone if a layer in between chose another variant.
    let between = Layers::new().text("bundle", "scheduler = \"fifo\"");
    let layers = between.set("scheduler.hws.patience=4ms").unwrap();
    assert_eq!(layers.resolve::<Night>().unwrap().0.scheduler, patient(32));
}

#[test]
fn a_key_can_name_the_layers_below() {
    let user = Layers::new().text("my.toml", "label = \"smal\"").set("seed=3").unwrap();
    let (label, fault) = user.peek("label").unwrap().unwrap();
    assert_eq!(label, "smal");
    let line = fault.suggest(&label, ["small"]).to_string();
    assert_eq!(line, "my.toml:1:9: label: got \"smal\" (did you mean \"small\"?)");
    assert!(user.peek("gc.hold").unwrap().is_none());
    let (toy, _) = preset().set("seed=2").unwrap().then(user).resolve::<Toy>().unwrap();
    assert_eq!((toy.seed, toy.geometry.blocks), (3, 4));
}

#[test]
fn an_argument_is_toml_or_a_bare_word() {
    let (toy, _) = with(&["gc.threshold=5%", "gc.hold = 45us", "seed=0x10", "gc.eager=true"]);
    assert_eq!(toy.gc.threshold, Share::new(0.05));
    assert_eq!(toy.gc.hold, Nanos::from_us(45));
    assert_eq!((toy.seed, toy.gc.eager), (16, true));
    let sizes = [Bytes::from_kib(4), Bytes::from_kib(8)];
    for list in ["[\"4KiB\", \"8KiB\"]", "4KiB,8KiB", "[4KiB, 8KiB]"] {
        let list = &format!("workload.sizes={list}");
        assert_eq!(with(&[list]).0.workload.sizes, sizes, "{list}");
    }
    assert_eq!(with(&["workload.sizes=4KiB"]).0.workload.sizes, sizes[..1]);
    assert_eq!(with(&["workload.sizes="]).0.workload.sizes, []);
    for text in ["5", "true", "2024-01-01", "a = b", "99999999999999999999", "#1"] {
        let label = with(&[&format!("label={text}")]).0.label;
        assert_eq!(label.as_deref(), Some(text));
    }
    assert_eq!(with(&["label=\"5\""]).0.label.as_deref(), Some("5"));
}

#[test]
fn a_value_from_a_program_is_a_layer_too() {
    let json = serde_json::json!({"gc": {"threshold": 0.5, "hold": null}, "background": ["clock"]});
    let (toy, effective) = preset().json("argument", json).resolve::<Toy>().unwrap();
    assert_eq!(toy.gc.threshold, Share::new(0.5));
    assert_eq!(toy.gc.hold, Nanos::from_ms(5));
    let fault = effective.fault_at("gc.threshold").expected("less").to_string();
    assert_eq!(fault, "argument: gc.threshold: got 0.5, expected less");
}

#[test]
fn the_listing_says_where_each_value_is_from() {
    let (_, effective) = with(&["scheduler=hws", "background=greedy,clock"]);
    let expected = "\
background[0] = \"greedy\"  # --set background=greedy,clock
background[1] = \"clock\"  # --set background=greedy,clock
background[1].clock.period = \"1min\"  # built-in default
gc.eager = false  # built-in default
gc.hold = \"5ms\"  # preset small:5:8
gc.threshold = 0.02  # preset small:4:13
gc.weight = 1.5  # built-in default
geometry.blocks = 4  # preset small:2:10
geometry.page = \"16KiB\"  # built-in default
geometry.planes = 2  # built-in default
scheduler = \"hws\"  # --set scheduler=hws
scheduler.hws.patience = \"10ms\"  # built-in default
scheduler.hws.window = 32  # built-in default
seed = 0  # built-in default
tenants = {}  # built-in default
workload.arrival = \"closed\"  # built-in default
workload.sizes = []  # built-in default
";
    assert_eq!(effective.listing(), expected);
}

#[test]
fn a_check_of_its_own_is_reported_at_the_origin_of_the_value() {
    let (_, effective) = with(&["scheduler.hws.window=3", "background=clock"]);
    let line = |path| effective.fault_at(path).expected("more").to_string();
    assert_eq!(line("gc.hold"), "preset small:5:8: gc.hold: got \"5ms\", expected more");
    assert_eq!(line("gc"), "preset small:3:1: gc: expected more");
    assert_eq!(line("seed"), "built-in default: seed: got 0, expected more");
    let window = "--set scheduler.hws.window=3: scheduler.hws.window: got 3, expected more";
    assert_eq!(line("scheduler.hws.window"), window);
    let patience = "built-in default: scheduler.hws.patience: got \"10ms\", expected more";
    assert_eq!(line("scheduler.hws.patience"), patience);
    assert_eq!(line("background[0]"), "--set background=clock: background[0]: expected more");
    assert_eq!(line("gc.nonsense"), "preset small:3:1: gc.nonsense: expected more");
    assert!(effective.is_default("seed") && !effective.is_default("gc.hold"));
}

#[test]
fn the_hash_is_of_the_values_and_not_of_their_writing() {
    let hash = |arguments: &[&str]| with(arguments).1.hash().to_owned();
    assert_eq!(hash(&["gc.threshold=5%"]), hash(&["gc.threshold=0.050"]));
    assert_eq!(hash(&["gc.hold=5ms"]), hash(&["gc.hold=5_000us", "seed=0"]));
    assert_eq!(hash(&["gc.weight=2"]), hash(&["gc.weight=2.0"]));
    assert_ne!(hash(&["seed=1"]), hash(&[]));
    assert_ne!(hash(&["scheduler=hws"]), hash(&[]));
    assert_eq!(hash(&[]).len(), 64);
}

#[test]
fn files_are_read_and_named() {
    let directory = std::env::temp_dir().join(format!("ssdlab-config-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("my.toml");
    let resolved = |bytes: &[u8]| -> Result<Toy, Fault> {
        std::fs::write(&file, bytes).unwrap();
        Ok(Layers::new().file(&file)?.resolve::<Toy>()?.0)
    };
    let line = |bytes: &[u8]| resolved(bytes).unwrap_err().to_string();
    let name = file.display().to_string();
    // A byte order mark and CRLF line ends, as editors on Windows save them.
    assert_eq!(resolved(b"\xef\xbb\xbf[geometry]\r\nblocks = 4\r\n").unwrap().geometry.blocks, 4);
    assert_eq!(line(b"a = 1\n\"\xff\" = 2"), format!("{name}:2:2: not UTF-8: got byte 0xff"));
    let long = vec![b'#'; (1 << 20) + 1];
    let too_long = format!("{name}: too long: got more than 128 KiB, expected a config file");
    assert_eq!(line(&long), too_long);
    std::fs::remove_dir_all(&directory).unwrap();
    let gone = Layers::new().file(&file).unwrap_err().to_string();
    assert!(gone.starts_with(&format!("{name}: cannot be read: ")), "{gone}");
}
