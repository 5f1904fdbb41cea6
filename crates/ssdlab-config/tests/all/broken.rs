//! The exact error line for each kind of mistake in a config.

use crate::toy::Toy;
use ssdlab_config::Layers;

const SHARE: &str = "a share from 0 to 1, or a percentage such as \"7%\"";
const TIMES: &str = "ns, us, µs, ms, s, min, h, d";
const SIZES: &str = "B, KiB, MiB, GiB, TiB, kB, KB, MB, GB, TB";
const TIME: &str = "a time with its unit, such as \"45us\", \"3.5ms\" or \"90d\"";
const SIZE: &str = "a size with its unit, such as \"16KiB\", \"128GiB\" or \"50MB\"";
const SCALAR: &str = "a text in quotes, a number, true or false";
const SCHEDULERS: &str = "one of fifo, hws, priority";
const TABLES: &str = "one of background, gc, geometry, label, scheduler, seed, tenants, workload";

/// Returns the error line for `text` over a preset that sets all required keys.
fn line(text: &str) -> String {
    let layers = Layers::new().text("preset", "geometry.blocks = 4").text("my.toml", text);
    layers.resolve::<Toy>().expect_err(text).to_string()
}

fn set(argument: &str) -> String {
    let layers = Layers::new().text("preset", "geometry.blocks = 4").set(argument);
    layers.and_then(|layers| layers.resolve::<Toy>()).expect_err(argument).to_string()
}

#[track_caller]
fn check(line: String, expected: impl AsRef<str>) {
    assert_eq!(line, expected.as_ref());
}

#[test]
fn what_is_no_toml() {
    check(line("[gc"), "my.toml:1:4: not TOML: unclosed table: expected `]`");
    check(line("seed 3"), "my.toml:1:6: not TOML: key with no value: expected `=`");
    check(line("seed = 007"), "my.toml:1:8: not TOML: unexpected leading zero");
    check(line("seed ="), format!("my.toml:1:7: not TOML: got no value, expected {SCALAR}"));
    let bare =
        format!("my.toml:2:8: not TOML: got 45us, expected {SCALAR} (did you mean \"45us\"?)");
    check(line("[gc]\nhold = 45us # how long"), bare);
    let binary = "my.toml:1:2: not TOML: key with no value: expected `=`";
    check(line("\u{0}"), binary);
}

#[test]
fn a_key_may_stand_once() {
    check(line("[gc]\nweight = 1\nweight = 2"), "my.toml:3:1: weight: given twice");
    check(line("[gc]\n[scheduler]\n[gc]"), "my.toml:3:2: gc: given twice");
}

#[test]
fn an_unknown_key() {
    let near = "my.toml:2:1: gc.treshold: unknown key (did you mean \"threshold\"?)";
    check(line("[gc]\ntreshold = 0.1"), near);
    let elsewhere = "my.toml:1:1: threshold: unknown key (did you mean \"gc.threshold\"?)";
    check(line("threshold = 0.1"), elsewhere);
    let both = "my.toml:1:1: load: unknown key (did you mean \"workload.arrival.poisson.load\" \
                or \"workload\"?)";
    check(line("load = 3"), both);
    check(line("zzzzzz = 1"), format!("my.toml:1:1: zzzzzz: unknown key: expected {TABLES}"));
    let table = "my.toml:1:2: geometri: unknown key (did you mean \"geometry\"?)";
    check(line("[geometri]\nblocks = 4"), table);
    let setting = "my.toml:1:15: scheduler.hws.windw: unknown key (did you mean \"window\"?)";
    check(line("scheduler.hws.windw = 4"), setting);
    let in_list = "my.toml:4:7: background[1].clock.perod: unknown key (did you mean \"period\"?)";
    check(line("[[background]]\ngreedy = {}\n[[background]]\nclock.perod = \"1s\""), in_list);
    let strange = format!("my.toml:1:1: \"a\\nb\": unknown key: expected {TABLES}");
    check(line("\"a\\nb\" = 1"), strange);
}

#[test]
fn a_wrong_type() {
    let blocks = "a whole number from 1 to 65536";
    let text = format!("my.toml:1:19: geometry.blocks: got \"4\", expected {blocks}");
    check(line("geometry.blocks = \"4\""), text);
    let table = "expected a table of eager, hold, threshold, weight";
    check(line("gc = 3"), format!("my.toml:1:6: gc: got 3, {table}"));
    check(line("[[gc]]"), format!("my.toml:1:1: gc: got a list, {table}"));
    let key = "(did you mean \"gc.hold\"?)";
    check(line("gc = \"hold\""), format!("my.toml:1:6: gc: got \"hold\", {table} {key}"));
    for (word, meant) in [("off", "false"), ("yes", "true")] {
        let flag = format!("my.toml:1:12: gc.eager: got {word:?}, expected true or false");
        let text = format!("gc.eager = {word:?}");
        check(line(&text), format!("{flag} (did you mean {meant:?}?)"));
    }
    check(line("label = 4"), "my.toml:1:9: label: got 4, expected a string");
    check(line("seed = 1.5"), "my.toml:1:8: seed: got 1.5, expected a whole number from 0");
    check(
        line("background = \"greedy\""),
        "my.toml:1:14: background: got \"greedy\", expected a list",
    );
    let date =
        "my.toml:1:8: seed: got 1979-05-27, expected a number, a text in quotes, a list or a table";
    check(line("seed = 1979-05-27"), date);
    let bare = "my.toml:1:27: workload.arrival: got a table, expected the bare name \"closed\"";
    check(line("workload.arrival.closed = {}"), bare);
}

#[test]
fn a_wrong_unit() {
    check(line("gc.hold = 45"), format!("my.toml:1:11: gc.hold: got 45, expected {TIME}"));
    let unit =
        format!("my.toml:1:11: gc.hold: got \"4 parsecs\", expected {TIME}, in one of {TIMES}");
    check(line("gc.hold = \"4 parsecs\""), unit);
    // The TOML parser itself takes this text for a number.
    let almost = format!("my.toml:1:11: gc.hold: got 5000us, expected {SCALAR}");
    check(line("gc.hold = 5_000us"), almost);
    let second =
        format!("my.toml:2:3: workload.sizes[1]: got \"8us\", expected {SIZE}, in one of {SIZES}");
    check(line("workload.sizes = [\"4KiB\",\n  \"8us\"]"), second);
}

#[test]
fn a_value_out_of_range() {
    let blocks = "a whole number from 1 to 65536";
    let zero = format!("my.toml:1:19: geometry.blocks: got 0, expected {blocks}");
    check(line("geometry.blocks = 0"), zero);
    let planes = "my.toml:1:19: geometry.planes: got 300, expected a whole number from 0 to 255";
    check(line("geometry.planes = 300"), planes);
    check(line("seed = -1"), "my.toml:1:8: seed: got -1, expected a whole number from 0");
    let window = "my.toml:1:24: scheduler.hws.window: got 5000000000, expected a whole number from 1 to 4294967295";
    check(line("scheduler.hws.window = 5_000_000_000"), window);
    let share = format!("my.toml:1:16: gc.threshold: got \"107%\", expected {SHARE}");
    check(line("gc.threshold = \"107%\""), share);
    check(line("gc.weight = nan"), "my.toml:1:13: gc.weight: got nan, expected a finite number");
    check(
        line("gc.weight = 1e999"),
        "my.toml:1:13: gc.weight: got 1e999, expected a finite number",
    );
    let wide =
        "my.toml:1:8: seed: got 9223372036854775808, expected a whole number from -2^63 to 2^63-1";
    check(line("seed = 9223372036854775808"), wide);
}

#[test]
fn a_wrong_choice() {
    let near = format!(
        "my.toml:1:13: scheduler: got \"fifa\", expected {SCHEDULERS} (did you mean \"fifo\"?)"
    );
    check(line("scheduler = \"fifa\""), near);
    let table = format!(
        "my.toml:1:12: scheduler: got \"hwss\", expected {SCHEDULERS} (did you mean \"hws\"?)"
    );
    check(line("[scheduler.hwss]\nwindow = 3"), table);
    let inside = format!(
        "my.toml:2:1: scheduler: got \"window\", expected {SCHEDULERS} (did you mean \"scheduler.hws.window\"?)"
    );
    check(line("[scheduler]\nwindow = 3"), inside);
    let two = format!("my.toml:1:26: scheduler: got fifo and hws, expected {SCHEDULERS}");
    check(line("scheduler = { fifo = {}, hws = {} }"), two);
    check(
        line("scheduler = {}"),
        format!("my.toml:1:13: scheduler: got none, expected {SCHEDULERS}"),
    );
    check(line("scheduler = 3"), format!("my.toml:1:13: scheduler: got 3, expected {SCHEDULERS}"));
    let listed = "my.toml:1:25: background[1]: got \"clok\", expected one of greedy, clock (did you mean \"clock\"?)";
    check(line("background = [\"greedy\", \"clok\"]"), listed);
}

#[test]
fn a_missing_key() {
    let blocks = "geometry.blocks: missing: expected a whole number from 1 to 65536";
    let resolve = |layers: Layers| layers.resolve::<Toy>().unwrap_err().to_string();
    check(resolve(Layers::new()), "config: geometry: missing: expected a table");
    let file = Layers::new().text("my.toml", "seed = 1");
    check(resolve(file.clone()), "my.toml: geometry: missing: expected a table");
    let argument = file.set("seed=2").unwrap();
    check(resolve(argument), "my.toml: geometry: missing: expected a table");
    check(resolve(Layers::new().text("my.toml", "\n[geometry]")), format!("my.toml:2:1: {blocks}"));
    let bare =
        "my.toml:1:13: scheduler.priority.classes: missing: expected a whole number from 0 to 255";
    check(line("scheduler = \"priority\""), bare);
    check(line("[tenants.a]"), format!("my.toml:1:1: tenants.a.share: missing: expected {SHARE}"));
}

#[test]
fn nesting_beyond_any_use() {
    let deep = "my.toml:1:64: nested too deep: got more than 32 levels";
    check(line(&format!("{} = 1", vec!["a"; 100_000].join("."))), deep);
    let dotted = vec!["a"; 20].join(".");
    let header = format!("[{dotted}]\n{dotted} = 1");
    check(line(&header), "my.toml:2:25: nested too deep: got more than 32 levels");
    let lists = line(&format!("a = {}", "[".repeat(100_000)));
    assert!(lists.starts_with("my.toml:1:") && lists.len() < 200, "{lists}");
}

#[test]
fn a_broken_argument() {
    let form = "expected KEY=VALUE, such as background.gc.threshold=5%";
    check(set("gc"), format!("--set gc: no value: {form}"));
    check(set("=3"), format!("--set =3: an empty key: {form}"));
    check(set("gc..hold=3"), format!("--set gc..hold=3: an empty key: {form}"));
    let near = "--set gc.hodl=3us: gc.hodl: unknown key (did you mean \"hold\"?)";
    check(set("gc.hodl=3us"), near);
    let zeros = "--set seed=007: seed: got \"007\", expected a whole number from 0";
    check(set("seed=007"), zeros);
    check(set("gc.hold=45"), format!("--set gc.hold=45: gc.hold: got 45, expected {TIME}"));
    let second = "--set seed=1\u{fffd}x=2: seed: got \"1\\nx=2\", expected a whole number from 0";
    check(set("seed=1\nx=2"), second);
    let element = "--set background.0=clock: background: got a table, expected a list (set the whole list, not single elements)";
    check(set("background.0=clock"), element);
    let wide = "--set seed=99999999999999999999: seed: got 99999999999999999999, \
                expected a whole number from -2^63 to 2^63-1";
    check(set("seed=99999999999999999999"), wide);
}

#[test]
fn the_fault_is_in_the_layer_that_gave_the_value() {
    let layers = Layers::new().text("preset", "geometry.blocks = 4\ngc.hold = 3");
    let layers = layers.text("my.toml", "gc.weight = 2").set("seed=1").unwrap();
    let line = layers.resolve::<Toy>().unwrap_err().to_string();
    check(line, format!("preset:2:11: gc.hold: got 3, expected {TIME}"));
}
