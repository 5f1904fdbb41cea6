//! The core and the interface of policies name no paper, and no policy or metadata of a scheme.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::source::{code, crates, is_comment, sources, without_tests};

/// The folders that name no paper.
const GENERAL: [&str; 2] = ["ssdlab-core/src", "ssdlab-policy/src"];

/// Returns the sources of a folder, without files of tests.
fn without_test_files(folder: &str) -> Vec<(PathBuf, String)> {
    let mut all = sources(&crates().join(folder));
    all.retain(|(path, _)| path.file_stem().is_none_or(|stem| stem != "tests"));
    all
}

/// Words of the names of schemes that the field uses, too.
const OF_THE_FIELD: [&str; 25] = [
    "2",
    "4",
    "7",
    "all",
    "allocation",
    "baseline",
    "best",
    "binning",
    "conventional",
    "five",
    "fixed",
    "groups",
    "health",
    "hotness",
    "ideal",
    "last_level",
    "leveling",
    "per_class",
    "priority",
    "read",
    "reorder",
    "ssd",
    "unaware",
    "us",
    "wear",
];

/// Returns the words of an identifier in snake or camel case, joined and enclosed by underscores.
fn words_of(name: &str) -> String {
    let mut words = String::from("_");
    for (at, c) in name.char_indices() {
        let after_small =
            at > 0 && name[..at].ends_with(|c: char| c.is_lowercase() || c.is_numeric());
        if c.is_uppercase() && after_small {
            words.push('_');
        }
        words.extend(c.to_lowercase());
    }
    words + "_"
}

/// Returns the names that only papers and their schemes have, enclosed by underscores.
fn names_of_papers() -> BTreeSet<String> {
    let catalog = fs::read_to_string(crates().join("ssdlab-schemes/src/catalog.rs"));
    let catalog = catalog.expect("the catalog");
    let (_, bundled) = catalog.split_once("const BUNDLED").expect("the schemes");
    let quoted = bundled.lines().filter_map(|line| line.strip_prefix("    \"")?.split_once("\":"));
    let mut words: Vec<String> = quoted
        .flat_map(|(name, _)| name.split(['/', '+', '-']).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    words.extend(["pa_ssd", "pv_read", "read_guard"].map(str::to_owned));
    for (name, policy) in policies_of_schemes() {
        words.extend([name, policy]);
    }
    let general = OF_THE_FIELD.map(|word| format!("_{word}_"));
    let words = words.iter().filter(|word| !word.is_empty()).map(|word| words_of(word));
    words.filter(|word| !general.contains(word)).collect()
}

/// Returns the paper that a text names, and where.
fn paper_in<'a>(text: &str, papers: &'a BTreeSet<String>) -> Option<(&'a str, usize)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    for piece in text.split_inclusive(|c| !is_part(c)) {
        let words = words_of(piece.trim_end_matches(|c| !is_part(c)));
        if let Some(paper) = papers.iter().find(|paper| words.contains(paper.as_str())) {
            return Some((paper, at));
        }
        at += piece.len();
    }
    None
}

/// Returns whether a line of code, or a block of comments, names a paper. Comments cite a paper as
/// the source of a default or a constant, behind this word.
fn names_paper(block: &str, papers: &BTreeSet<String>) -> bool {
    let source = is_comment(block).then(|| block.find("Source:")).flatten();
    let named = paper_in(&block.replace("pa-ssd", "pa_ssd").replace("PA-SSD", "pa_ssd"), papers);
    named.is_some_and(|(_, at)| source.is_none_or(|source| at < source))
}

#[test]
fn the_core_names_no_paper() {
    let (papers, mut cited) = (names_of_papers(), 0);
    for folder in GENERAL {
        for (path, text) in without_test_files(folder) {
            // Former names in a config stay as they were.
            if path.ends_with("renamed.rs") {
                continue;
            }
            for block in blocks(&without_tests(&text)) {
                assert!(!names_paper(&block, &papers), "{}: {block}", path.display());
                cited += usize::from(paper_in(&block, &papers).is_some());
            }
        }
    }
    assert!(cited > 10, "{cited} sources are cited");
}

#[test]
fn a_paper_is_found_in_any_part_of_a_name() {
    let papers = names_of_papers();
    for named in [
        "fn esra_loops(&self) {}",
        "struct RgftlPools;",
        "fn hvc_pages() {}",
        "const PA_SSD: u8 = 1;",
        "// As in section 3 of HIRE.",
        "// ReadGuard repairs. Source: section 4.",
        "#[serde(rename = \"sub-dlv\")]",
    ] {
        assert!(names_paper(named, &papers), "{named}");
    }
    for fine in ["fn last_level()", "// Default: 1. Source: DLV, Table II.", "// A PVC"] {
        assert!(!names_paper(fine, &papers), "{fine}");
    }
}

/// Returns the lines of a source, with consecutive comment lines joined to one block.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim_start) {
        match blocks.last_mut() {
            Some(last) if last.starts_with("//") && line.starts_with("//") => {
                last.push(' ');
                last.push_str(line);
            }
            _ => blocks.push(line.into()),
        }
    }
    blocks
}

/// Returns the policies of schemes: the name of each in a config, and its type.
fn policies_of_schemes() -> Vec<(String, String)> {
    let list = fs::read_to_string(crates().join("ssdlab-schemes/src/lib.rs"));
    let list = list.expect("the list of policies");
    let lines = list.lines().filter(|line| line.contains(" in crate::"));
    let named = lines.filter_map(|line| line.split(" in crate::").next()?.split_once(" => "));
    named.map(|(name, policy)| (name.trim().to_owned(), policy.trim().to_owned())).collect()
}

#[test]
fn the_core_names_no_policy_of_a_scheme() {
    let policies = policies_of_schemes();
    assert!(policies.contains(&("esra".to_owned(), "Esra".to_owned())), "{policies:?}");
    for folder in ["ssdlab-core/src", "ssdlab-policy/src"] {
        for (path, text) in without_test_files(folder) {
            for line in code(&text).lines() {
                // A name that a message gives as an example decides nothing.
                let decides = line.split('"').step_by(2).collect::<Vec<_>>().join(" ");
                let words: Vec<&str> =
                    decides.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
                let named = policies.iter().find(|(name, policy)| {
                    let is_field = decides.contains(&format!("background.{name}"));
                    is_field || words.contains(&policy.as_str())
                });
                // Any policy may collect garbage, so the core knows no policy by its key.
                let is_gc = decides.contains("background.gc");
                assert!(named.is_none() && !is_gc, "{}: {line}", path.display());
            }
        }
    }
}

/// Returns the names of the metadata components: keys and types.
fn components() -> Vec<String> {
    let list = fs::read_to_string(crates().join("ssdlab-schemes/src/metadata/mod.rs"));
    let list = list.expect("the list's file");
    let (_, list) = list.split_once("components! { $").expect("the list of components");
    let (list, _) = list.split_once("\n}").expect("the end of the list");
    let lines = list.lines().filter(|line| !is_comment(line));
    let pairs = lines.filter_map(|line| line.trim().trim_end_matches(',').split_once(": "));
    pairs.flat_map(|(name, component)| [name, component]).map(str::to_owned).collect()
}

/// Where the core asks the component of block classes: once at set-up, and for the start.
const ASKS_FOR_CLASSES: [&str; 3] = ["config/resolve.rs", "config/space.rs", "drive/start/mod.rs"];

#[test]
fn the_core_names_no_metadata_component() {
    let components = components();
    assert!(components.len() > 4 && components.contains(&"HotPages".to_owned()), "{components:?}");
    for folder in ["ssdlab-core/src", "ssdlab-policy/src"] {
        for (path, text) in without_test_files(folder) {
            for line in code(&text).lines() {
                // A message of the core may name a component's key. The interface may not.
                let step = if folder == "ssdlab-core/src" { 2 } else { 1 };
                let decides = line.split('"').step_by(step).collect::<Vec<_>>().join(" ");
                let mut words = decides.split(|c: char| !c.is_alphanumeric() && c != '_');
                let asks = ASKS_FOR_CLASSES.iter().any(|file| path.ends_with(file));
                let named = words.find(|&word| {
                    components.iter().any(|known| known == word) && !(asks && word == "block_class")
                });
                let chooses = decides.contains("BlockClassChoice");
                assert!(named.is_none() && !chooses, "{}: {line}", path.display());
            }
        }
    }
}
