//! Properties of every valid config, and of every text that is not one.

use crate::toy::Toy;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use ssdlab_config::Layers;

/// Keys, their values in TOML, and the same values typed as an argument.
const VALID: &[(&str, &str, &str)] = &[
    ("seed", "7", "7"),
    ("label", "\"a b\"", "a b"),
    ("label", "'5'", "5"),
    ("geometry.blocks", "0x20", "0x20"),
    ("geometry.page", "\"8KiB\"", "8KiB"),
    ("gc.threshold", "\"5%\"", "5%"),
    ("gc.threshold", "0.25", "0.25"),
    ("gc", "{ weight = 2, hold = \"1ms\" }", "{ weight = 2, hold = \"1ms\" }"),
    ("gc.weight", "-1e-3", "-1e-3"),
    ("gc.eager", "true", "true"),
    ("scheduler", "\"fifo\"", "fifo"),
    ("scheduler", "\"hws\"", "hws"),
    ("scheduler", "{ hws = { window = 3 } }", "{ hws = { window = 3 } }"),
    ("scheduler.hws.window", "8", "8"),
    ("scheduler.hws.patience", "\"90us\"", "90us"),
    ("scheduler.priority.classes", "4", "4"),
    ("background", "[\"greedy\", \"clock\"]", "greedy,clock"),
    ("background", "[{ clock = { period = \"5s\" } }]", "{ clock = { period = \"5s\" } }"),
    ("workload.sizes", "[\"4KiB\", \"8KiB\"]", "4KiB, 8KiB"),
    ("workload.sizes", "[]", ""),
    ("workload.arrival", "\"closed\"", "closed"),
    ("workload.arrival.poisson.load", "3", "3"),
    ("workload.limit", "\"1h\"", "1h"),
    ("workload.pinned", "\"hws\"", "hws"),
    ("workload.pinned.hws.window", "5", "5"),
    ("tenants.a", "{ share = 1, scheduler = \"hws\" }", "{ share = 1, scheduler = \"hws\" }"),
    ("tenants.a.share", "0.5", "0.5"),
];

/// Pieces from which the tests build broken configs.
const PIECES: &[&str] = &[
    "geometry",
    "gc",
    "scheduler",
    "hws",
    "background",
    "clock",
    "tenants",
    "workload",
    "blocks",
    "a",
    "7",
    "-",
    "+",
    ".",
    "=",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    ",",
    "\n",
    " ",
    "\"",
    "'",
    "\"\"\"",
    "#",
    "5%",
    "45us",
    "_",
    "e",
    "nan",
    "inf",
    "0x",
    "true",
    "1979-05-27",
    "\\",
    "\u{feff}",
    "\u{0}",
    "é",
    "\r",
    "99999999999999999999",
];

fn base() -> Layers {
    Layers::new().text("preset", "geometry.blocks = 4\ntenants.a.share = 0.1")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn an_argument_is_the_same_as_a_file(settings in vec((select(VALID), any::<bool>()), 0..8)) {
        let mut files = base();
        let mut mixed = base();
        for ((key, toml, word), as_argument) in settings {
            let text = format!("{key} = {toml}");
            files = files.text("my.toml", text.as_str());
            mixed = if as_argument {
                mixed.set(&format!("{key}={word}")).unwrap()
            } else {
                mixed.text("my.toml", text)
            };
        }
        let (one, first) = files.resolve::<Toy>().unwrap();
        let (other, second) = match mixed.resolve::<Toy>() {
            Ok(resolved) => resolved,
            Err(fault) => {
                // Files may contradict each other; arguments may not.
                prop_assert!(fault.to_string().contains("contradicts another argument"));
                return Ok(());
            }
        };
        prop_assert_eq!(one, other);
        prop_assert_eq!(first.hash(), second.hash());
    }

    #[test]
    fn what_is_effective_reads_back_the_same(settings in vec(select(VALID), 0..8)) {
        let add = |layers: Layers, (key, toml, _): &(&str, &str, &str)| {
            layers.text("my.toml", format!("{key} = {toml}"))
        };
        let (toy, effective) = settings.iter().fold(base(), add).resolve::<Toy>().unwrap();
        let read = Layers::new().text("effective", effective.toml()).resolve::<Toy>();
        let (again, repeated) = read.unwrap();
        prop_assert_eq!(toy, again);
        prop_assert_eq!(effective.hash(), repeated.hash());
        prop_assert_eq!(effective.toml(), repeated.toml());
    }

    #[test]
    fn no_text_does_more_than_fail_in_one_line(pieces in vec(select(PIECES), 0..40)) {
        one_line_at_most(&pieces.concat());
    }

    #[test]
    fn no_string_does_more_than_fail_in_one_line(text in any::<String>()) {
        one_line_at_most(&text);
    }
}

fn one_line_at_most(text: &str) {
    let as_file = base().text(text, text).resolve::<Toy>();
    let as_argument = base().set(text).and_then(|layers| layers.resolve::<Toy>());
    for fault in [as_file.err(), as_argument.err()].into_iter().flatten() {
        let line = fault.to_string();
        assert!(!line.contains(|c: char| c.is_control()), "{line:?}");
        assert!(line.chars().count() < 1500, "{line}");
    }
}
