//! The walk through the source (docs/project/architecture.md) names functions and files that exist,
//! and each function beside the one that calls it.

use std::collections::BTreeMap;
use std::fs;

use crate::source::{code, crates, has_word, sources};

fn walk() -> String {
    let root = crates().join("..");
    fs::read_to_string(root.join("docs/project/architecture.md")).expect("the walk")
}

/// Returns the names between single backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn the_walk_names_what_is_there() {
    let (root, walk) = (crates().join(".."), walk());
    let sources = sources(&crates());
    let all: String = sources.iter().map(|(_, text)| text.as_str()).collect();
    let is_there = |file: &str| {
        sources.iter().any(|(path, _)| path.ends_with(file)) || root.join(file).exists()
    };
    let mut names = 0;
    for name in quoted(&walk) {
        let is_word = |word: &str| word.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
        let parts: Vec<&str> = name.split("::").collect();
        if name.ends_with(".rs") && !name.contains(' ') {
            assert!(is_there(name), "no file {name}");
        } else if parts.iter().all(|part| is_word(part)) && (parts.len() > 1 || name.contains('_'))
        {
            parts.iter().for_each(|part| assert!(has_word(&all, part), "nothing is named {part}"));
        } else {
            continue;
        }
        names += 1;
    }
    assert!(names > 100, "{names} names were checked");
}

/// Returns the function that a line begins to declare.
fn function_of(line: &str) -> Option<&str> {
    const BEFORE: [&str; 6] = ["", "const", "unsafe", "pub", "in", "async"];
    let (before, rest) = line.trim_start().split_once("fn ")?;
    let is_item = before
        .split(' ')
        .all(|word| BEFORE.contains(&word) || word.starts_with("pub(") || word.ends_with(')'));
    is_item.then(|| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next())?
}

/// Returns the bodies of all functions with a name, by name. rustfmt aligns a function's closing
/// brace with its first line.
fn bodies() -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for folder in fs::read_dir(crates()).expect("the crates") {
        for (_, text) in sources(&folder.expect("a crate").path().join("src")) {
            let code = code(&text);
            let mut lines = code.lines();
            while let Some(line) = lines.next() {
                let Some(name) = function_of(line) else { continue };
                let indent = line.len() - line.trim_start().len();
                let close = format!("{}}}", " ".repeat(indent));
                let mut signature = line;
                while !signature.ends_with(['{', ';', '}']) {
                    signature = lines.next().expect("the end of a signature");
                }
                let body = found.entry(name.to_owned()).or_default();
                match signature.chars().last() {
                    Some('{') => {
                        let inside = lines.by_ref().take_while(|line| *line != close);
                        inside.for_each(|line| body.extend([line, "\n"]));
                    }
                    Some('}') => body.push_str(&signature[signature.find('{').unwrap_or(0)..]),
                    _ => {}
                }
            }
        }
    }
    found
}

/// The sections that follow requests, each with those that it goes on from.
const SECTIONS: [(&str, &[&str]); 5] = [
    ("The event model", &[]),
    ("A read request", &["The event model"]),
    ("A write request", &["The event model", "A read request"]),
    ("Garbage collection and migration", &["The event model", "A read request", "A write request"]),
    ("The buffer", &["The event model", "A read request"]),
];
/// The functions that no function of the walk calls: the drive's verbs and the replay's loop.
const FIRST: [&str; 4] = ["advance_once", "open_loop", "submit", "serve_idle"];

/// Names of functions that are plain words. Other plain words between backquotes are parts of a
/// latency or keys.
const PLAIN: [&str; 17] = [
    "accept",
    "acquire",
    "decode",
    "dispatch",
    "divide",
    "done",
    "locate",
    "migrate",
    "offer",
    "prepare",
    "release",
    "send",
    "serve",
    "sensed",
    "step",
    "transferred",
    "translate",
];

/// Returns the functions that a section names, in order.
fn functions(section: &str, bodies: &BTreeMap<String, String>) -> Vec<String> {
    let is_named = |name: &&str| name.contains(['_', ':']) || PLAIN.contains(name);
    let last = quoted(section).filter(is_named).filter_map(|name| name.rsplit("::").next());
    last.filter(|name| bodies.contains_key(*name)).map(str::to_owned).collect()
}

/// Returns the functions of a walk that no function named before them calls.
fn uncalled(walk: &str, bodies: &BTreeMap<String, String>) -> Vec<String> {
    let section = |title: &str| {
        let from = walk.split(&format!("\n## {title}\n")).nth(1).expect("a section");
        functions(from.split("\n## ").next().unwrap_or(from), bodies)
    };
    let mut found = Vec::new();
    for (title, from) in SECTIONS {
        let mut named: Vec<String> = from.iter().flat_map(|title| section(title)).collect();
        let own = named.len();
        for name in section(title) {
            let is_called = named.iter().any(|by| *by != name && has_word(&bodies[by], &name));
            if !is_called && !named[own..].contains(&name) && !FIRST.contains(&name.as_str()) {
                found.push(format!("{title}: {name}"));
            }
            named.push(name);
        }
    }
    found
}

#[test]
fn the_walk_names_each_function_after_the_one_that_calls_it() {
    let (walk, bodies) = (walk(), bodies());
    assert_eq!(uncalled(&walk, &bodies), [""; 0]);
    let all = functions(&walk, &bodies);
    assert!(all.len() > 80, "{} functions", all.len());
    // A wrong function that exists, in place of a right one.
    for (right, wrong) in [("make_hint", "choose_program"), ("page_has_left", "make_hint")] {
        let broken = walk.replace(&format!("`{right}`"), &format!("`{wrong}`"));
        assert_ne!(broken, walk, "{right} is named");
        assert_ne!(uncalled(&broken, &bodies), [""; 0], "{wrong} for {right}");
    }
}

#[test]
fn each_folder_of_the_core_is_on_a_map() {
    let map = fs::read_to_string(crates().join("../ARCHITECTURE.md")).expect("the map");
    let (pages, src) = (map + &walk(), crates().join("ssdlab-core/src"));
    let mut folders = vec![src.clone()];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            // The parts of a file lie in a folder of its name.
            if path.is_dir() && !path.with_extension("rs").exists() {
                let name = format!("{}/", path.file_name().expect("a name").display());
                assert!(pages.contains(&name), "no page names {name}");
                found += 1;
                folders.push(path);
            }
        }
    }
    assert!(found > 8, "{found} folders");
}
