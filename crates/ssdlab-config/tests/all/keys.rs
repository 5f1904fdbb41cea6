//! The list of a config type's keys, for its docs and for the test of their sources.

use crate::toy::Toy;
use ssdlab_config::{Key, keys, markdown, unsourced, without_default};

fn key(path: &str) -> Key {
    keys::<Toy>().into_iter().find(|key| key.path == path).expect(path)
}

#[test]
fn every_key_is_listed_under_the_path_that_it_is_written_with() {
    let paths: Vec<String> = keys::<Toy>().into_iter().map(|key| key.path).collect();
    let of_scheduler = ["", ".hws.patience", ".hws.window", ".priority.classes"];
    let schedulers = |path: &str| of_scheduler.map(|setting| format!("{path}{setting}"));
    let mut expected: Vec<String> = ["background", "background[].clock.period"]
        .into_iter()
        .chain(["gc.eager", "gc.hold", "gc.threshold", "gc.weight"])
        .chain(["geometry.blocks", "geometry.page", "geometry.planes", "label"])
        .map(str::to_owned)
        .collect();
    expected.extend(schedulers("scheduler"));
    expected.push("seed".to_owned());
    expected.extend(schedulers("tenants.<name>.scheduler"));
    expected.push("tenants.<name>.share".to_owned());
    let workload = ["workload.arrival", "workload.arrival.poisson.load", "workload.limit"];
    expected.extend(workload.map(str::to_owned));
    expected.extend(schedulers("workload.pinned"));
    expected.push("workload.sizes".to_owned());
    assert_eq!(paths, expected);
}

#[test]
fn a_key_has_its_doc_its_source_its_default_and_its_unit() {
    let threshold = Key {
        path: "gc.threshold".to_owned(),
        doc: "Free blocks below which collection starts.".to_owned(),
        expected: "a share from 0 to 1, or a percentage such as \"7%\"".to_owned(),
        quantity: Some("share".to_owned()),
        default: Some("0.07".to_owned()),
        otherwise: None,
        required: false,
        source: Some("DLV, Table II".to_owned()),
        choices: Vec::new(),
    };
    assert_eq!(key("gc.threshold"), threshold);
    let blocks = key("geometry.blocks");
    assert_eq!((blocks.required, blocks.default), (true, None));
    assert_eq!(blocks.expected, "a whole number from 1 to 65536");
    assert_eq!(key("gc.hold").default.as_deref(), Some("\"3ms\""));
    assert_eq!(key("gc.hold").quantity.as_deref(), Some("time"));
    assert_eq!(key("seed").source.as_deref(), Some("assumed"));
    let limit = key("workload.limit");
    assert_eq!((limit.required, limit.default), (false, None));
}

#[test]
fn a_choice_has_the_docs_of_its_names() {
    let scheduler = key("scheduler");
    let docs: Vec<&str> = scheduler.choices.iter().map(|(_, doc)| doc.as_str()).collect();
    let expected = ["First come, first served.", "Heavy writes on strong pages.", "By class."];
    assert_eq!(docs, expected);
    assert_eq!(key("background").expected, "a list, each one of greedy, clock");
}

#[test]
fn a_figure_without_a_source_is_reported() {
    let classes = ["scheduler", "tenants.<name>.scheduler", "workload.pinned"];
    let expected = classes.map(|path| format!("{path}.priority.classes"));
    assert_eq!(unsourced::<Toy>(), expected);
}

#[test]
fn the_doc_of_an_optional_key_says_what_holds_without_it() {
    let limit = key("workload.limit");
    assert_eq!(limit.doc, "Ends the run early.");
    assert_eq!(limit.otherwise.as_deref(), Some("no limit, the run ends with its requests"));
    assert!(markdown::<Toy>().contains("| no limit, the run ends with its requests | assumed |"));
    assert_eq!(without_default::<Toy>(), ["label", "workload.pinned"]);
}

#[test]
fn a_doc_repeats_no_default_that_the_key_has() {
    assert_eq!(key("gc.weight").doc, "The weight of an old block.", "1.5 is the default");
    assert_eq!(key("gc.hold").doc, "How long a collection may hold the die.");
    let more = "Seed of all random streams. Default: 0, which is a seed like any other.";
    assert_eq!(key("seed").doc, more, "the sentence says more than the default");
}

#[test]
fn the_page_has_one_row_a_key() {
    let page = markdown::<Toy>();
    for key in keys::<Toy>() {
        let rows = page.lines().filter(|line| line.starts_with(&format!("| `{}` |", key.path)));
        assert_eq!(rows.count(), 1, "{}", key.path);
    }
    let row = "| `gc.threshold` | Free blocks below which collection starts. | a share from 0 to 1, \
               or a percentage such as \"7%\" | `0.07` | DLV, Table II |";
    assert!(page.contains(row), "{page}");
}
