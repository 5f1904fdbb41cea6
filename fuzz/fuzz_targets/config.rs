//! Any text as a config file and as an argument: a config that reads back the same, or a fault of
//! one line.

#![no_main]

#[path = "../../crates/ssdlab-config/tests/all/toy.rs"]
mod toy;

use libfuzzer_sys::fuzz_target;
use ssdlab_config::Layers;
use toy::Toy;

fuzz_target!(|text: &str| {
    let preset = || Layers::new().text("preset", "geometry.blocks = 4\ntenants.a.share = 0.1");
    check(&preset().text("my.toml", text));
    match preset().set(text) {
        Ok(layers) => check(&layers),
        Err(fault) => one_line(&fault.to_string()),
    }
});

fn check(layers: &Layers) {
    match layers.resolve::<Toy>() {
        Err(fault) => one_line(&fault.to_string()),
        Ok((toy, effective)) => {
            effective.listing();
            let (again, repeated) =
                Layers::new().text("effective", effective.toml()).resolve::<Toy>().unwrap();
            assert_eq!(toy, again);
            assert_eq!(effective.hash(), repeated.hash());
        }
    }
}

fn one_line(line: &str) {
    assert!(!line.contains(char::is_control), "{line:?}");
    assert!(line.chars().count() < 1_500, "{line}");
}
