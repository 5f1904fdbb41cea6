//! Times, classes, levels, priorities and modes have types of their own: no bare integers.

use std::collections::BTreeSet;
use std::path::Path;

use crate::source::{code, crates, sources};

/// Names that only times have.
const TIMES: [&str; 9] =
    ["now", "since", "until", "fails_at", "arrival", "began", "due", "dwell", "deadline"];
/// Names of values with a type of their own. Names that end in one of them count, too.
const VALUES: [&str; 4] = ["class", "level", "priority", "mode"];
/// Names of values with a type of their own, as whole names.
const WHOLE: [&str; 1] = ["rank"];
/// Names of lists of such values. A single number of this name is a count.
const LISTS: [&str; 4] = ["classes", "levels", "priorities", "modes"];

/// Where these names have another meaning: the end of a path, the name, and the reason.
const EXCEPTIONS: [(&str, &str, &str); 9] = [
    ("ssdlab-nand/src/transfer.rs", "bits_of_level", "a number of bits"),
    ("ssdlab-policy/src/queue.rs", "rank", "a position in the order of arrival"),
    ("ssdlab-schemes/src/dlv/scheduler/estimate.rs", "class", "an index, in a loop over classes"),
    ("ssdlab-schemes/src/metadata/readings.rs", "level", "a column, 0 for a block without reading"),
    ("ssdlab-schemes/src/pv_read/oracle_hotness.rs", "rank", "a position by uses"),
    ("ssdlab-workload/src/cascade.rs", "level", "a level of a cascade in time"),
    ("ssdlab-workload/src/formats/parquet_columns.rs", "levels", "definition levels of Parquet"),
    ("ssdlab-workload/src/twins/direction.rs", "class", "a class of distances"),
    ("ssdlab-workload/src/twins/direction.rs", "draw_class", "a class of distances"),
];

const INTEGERS: [&str; 10] =
    ["u8", "u16", "u32", "u64", "u128", "usize", "i16", "i32", "i64", "i128"];

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns whether a type is an integer, alone or in an option, a list or a reference.
fn is_integer(of_type: &str) -> bool {
    if of_type.starts_with('(') {
        return false;
    }
    const OUTER: [&str; 6] = ["mut", "Option", "Vec", "Box", "impl", "a"];
    let mut words = of_type.split(|c| !is_part(c)).filter(|word| !word.is_empty());
    words.find(|word| !OUTER.contains(word)).is_some_and(|word| INTEGERS.contains(&word))
}

/// Returns the parameters and fields of a declaration with their types, and its function with the
/// type that it returns.
fn declared(item: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for (at, _) in item.match_indices(": ") {
        let name = item[..at].rsplit(|c| !is_part(c)).next().unwrap_or("");
        found.push((name.trim_start_matches('_'), &item[at + 2..]));
    }
    if let (Some((_, function)), Some((_, returned))) =
        (item.split_once("fn "), item.rsplit_once(" -> "))
    {
        found.push((function.split(|c| !is_part(c)).next().unwrap_or(""), returned));
    }
    found
}

/// Returns the name in a declaration that should have a type of its own and is a bare integer.
fn bare_value(item: &str) -> Option<&str> {
    let ends = |name: &str| {
        VALUES.iter().any(|value| {
            name.strip_suffix(value).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
        })
    };
    let is_bare = |&(name, of_type): &(&str, &str)| {
        let own = of_type.split([',', ')', '{']).next().unwrap_or("");
        let is_list = own.matches('[').count() + own.matches("Vec<").count() == 1;
        // A list by class holds no classes.
        let is_by = name.starts_with("per_") || name.starts_with("by_");
        let is_value = ends(name) && !is_by || WHOLE.contains(&name);
        (is_value || is_list && LISTS.contains(&name)) && is_integer(of_type)
    };
    declared(item).into_iter().find(is_bare).map(|(name, _)| name)
}

/// Returns the signatures of all functions of a source, each on one line, and its public fields. A
/// key of a config is a number that a user types, so fields of configs are left out.
fn items(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut is_config, mut derived) = (false, "");
    let code = code(text);
    let mut lines = code.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if line.starts_with("#[derive") {
            derived = line;
        } else if line.contains("struct ") {
            is_config = std::mem::take(&mut derived).contains("Deserialize");
        } else if line.contains("fn ") {
            let mut signature = line.to_owned();
            while !signature.contains(['{', ';']) {
                let Some(more) = lines.next() else { break };
                signature.push(' ');
                signature.push_str(more);
            }
            let end = signature.find(['{', ';']).unwrap_or(signature.len());
            found.push(signature[..end].to_owned());
        } else if line.starts_with("pub") && line.contains(": ") && !is_config {
            found.push(line.to_owned());
        }
    }
    found
}

fn exception(path: &Path, name: &str) -> Option<usize> {
    EXCEPTIONS.iter().position(|(file, own, _)| path.ends_with(file) && *own == name)
}

#[test]
fn classes_levels_priorities_and_modes_are_no_bare_integers() {
    let (mut checked, mut excepted, mut bare) = (0, BTreeSet::new(), Vec::new());
    for folder in std::fs::read_dir(crates()).expect("the crates") {
        for (path, text) in sources(&folder.expect("a crate").path().join("src")) {
            let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
            let items = if is_test { Vec::new() } else { items(&text) };
            checked += items.len();
            for item in items {
                let Some(name) = bare_value(&item) else { continue };
                match exception(&path, name) {
                    Some(at) => drop(excepted.insert(at)),
                    None => bare.push(format!("{}: {item}", path.display())),
                }
            }
        }
    }
    assert!(bare.is_empty(), "{bare:#?}");
    assert!(checked > 3000, "{checked} declarations");
    assert_eq!(excepted.len(), EXCEPTIONS.len(), "an exception is unused: {excepted:?}");
}

#[test]
fn a_bare_value_is_found_wherever_it_is_declared() {
    for bare in [
        "pub fn f(class: u8)",
        "pub(crate) fn f(\n    level: u8,\n    other: u8,\n) {",
        "fn f(a: u8, _priority: Option<u8>, mode: u8)",
        "fn rank(&mut self, view: &View) -> u8;",
        "fn first_level(&self) -> Option<u8> {",
        "pub modes: Vec<u8>,",
        "pub class: usize,",
        "pub fn f(levels: &'a [u8])",
    ] {
        assert!(items(bare).iter().any(|item| bare_value(item).is_some()), "{bare}");
    }
    for fine in [
        "pub fn f(class: BlockClass, levels: u8) -> u8 {",
        "pub per_class: [u64; 8],",
        "fn modes(&self) -> Vec<ProgramMode> {",
        "#[derive(Clone, Deserialize)]\npub struct Config {\n    pub level: u8,\n}",
        "#[cfg(test)]\nmod tests {\n    fn f(level: u8) {}\n}",
    ] {
        assert!(items(fine).iter().all(|item| bare_value(item).is_none()), "{fine}");
    }
}

/// Returns whether a line gives something with the name of a time an integer as its type.
fn is_bare_time(line: &str) -> bool {
    let is_time = |(name, of_type): (&str, &str)| TIMES.contains(&name) && is_integer(of_type);
    declared(line).into_iter().any(is_time)
}

#[test]
fn times_are_no_bare_integers() {
    for folder in std::fs::read_dir(crates()).expect("the crates") {
        for (path, text) in sources(&folder.expect("a crate").path().join("src")) {
            let text = code(&text);
            assert_eq!(text.lines().find(|line| is_bare_time(line)), None, "{}", path.display());
        }
    }
    let bare = ["now: u64", "(_now: u64)", "since: &'a [Option<i64>]", "fn dwell(&self) -> u64;"];
    let fine =
        ["now: SimTime", "until_full: u64", "in_due: u32", "now: 0", "fn due(at: u64) -> f64"];
    assert!(bare.into_iter().all(is_bare_time) && !fine.into_iter().any(is_bare_time));
}
