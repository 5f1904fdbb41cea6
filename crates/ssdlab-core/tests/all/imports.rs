//! No imports form a cycle, neither between the files of a folder nor between folders, in any
//! crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::source::{code, crates, sources};

type Module = Vec<String>;

/// Returns the modules of a crate by path, with their sources.
fn modules(src: &Path) -> BTreeMap<Module, String> {
    let path_of = |file: &Path| {
        let inside = file.strip_prefix(src).unwrap().with_extension("");
        let mut path: Module =
            inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        if path.last().is_some_and(|last| last == "mod" || last == "lib") {
            path.pop();
        }
        path
    };
    let all = sources(src).into_iter().map(|(file, text)| (path_of(&file), text));
    all.filter(|(path, _)| path.last().is_none_or(|last| last != "tests")).collect()
}

/// Returns the paths that `use` names, a list in braces as one path each, and those that code names
/// in place from `crate` or `super` on.
pub(crate) fn imported(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let lines = code(text);
    let lines = lines.lines().map(|line| line.split("//").next().unwrap_or(""));
    let code: String = lines.flat_map(|line| [line, " "]).collect();
    for item in code.split("use ").skip(1) {
        let tree: String = item.split(';').next().unwrap().split_whitespace().collect();
        expand("", &tree, &mut found);
    }
    for root in ["crate::", "super::"] {
        for (at, _) in code.match_indices(root) {
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            // A path may pass through `super` several times.
            if !code[..at].ends_with(is_part) {
                let path = code[at..].split(|c| !is_part(c)).next().unwrap_or("");
                found.push(path.trim_end_matches(':').to_owned());
            }
        }
    }
    found
}

fn expand(before: &str, tree: &str, found: &mut Vec<String>) {
    let Some((prefix, inner)) = tree.split_once('{') else {
        found.push(format!("{before}{tree}"));
        return;
    };
    let (before, mut depth, mut from) = (format!("{before}{prefix}"), 0, 0);
    for (at, sign) in inner.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                expand(&before, &inner[from..at], found);
                from = at + 1;
            }
            _ => {}
        }
    }
}

/// Returns the module that a path leads to from another, if it is in the crate.
fn target(path: &str, from: &Module, all: &BTreeMap<Module, String>) -> Option<Module> {
    let mut parts = path.split("::").map(str::to_owned).peekable();
    let mut found = from.clone();
    match parts.peek()?.as_str() {
        "crate" => {
            found.clear();
            parts.next();
        }
        "super" => {
            while parts.next_if(|part| part == "super").is_some() {
                found.pop();
            }
        }
        "self" => drop(parts.next()),
        child => {
            let child = [&from[..], &[child.to_owned()]].concat();
            all.contains_key(&child).then_some(())?;
        }
    }
    found.extend(parts);
    while !all.contains_key(&found) {
        found.pop();
    }
    Some(found)
}

/// Returns the imports between sibling modules. A file that imports from another folder makes its
/// folder import that folder. Imports between a module and its own children do not count.
fn imports(all: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut edges: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (from, text) in all {
        for path in imported(text) {
            let Some(to) = target(&path, from, all) else { continue };
            let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if shared < from.len() && shared < to.len() {
                let side = |module: &Module| module[..=shared].to_vec();
                edges.entry(side(from)).or_default().insert(side(&to));
            }
        }
    }
    edges
}

/// Returns a module that can be reached from itself, with the modules on the way.
fn circle(edges: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Vec<Module>> {
    edges.keys().find_map(|start| {
        let (mut paths, mut seen) = (vec![vec![start.clone()]], BTreeSet::new());
        while let Some(path) = paths.pop() {
            for next in edges.get(path.last().unwrap()).into_iter().flatten() {
                let longer = [&path[..], std::slice::from_ref(next)].concat();
                if next == start {
                    return Some(longer);
                }
                if seen.insert(next.clone()) {
                    paths.push(longer);
                }
            }
        }
        None
    })
}

#[test]
fn no_imports_form_a_circle() {
    let mut count = 0;
    for folder in fs::read_dir(crates()).unwrap() {
        let src = folder.unwrap().path().join("src");
        let edges = imports(&modules(&src));
        count += edges.len();
        assert_eq!(circle(&edges), None, "{}", src.display());
    }
    assert!(count > 100, "{count} modules import another");
}

#[test]
fn a_circle_is_found_wherever_it_runs() {
    let all = |files: &[(&str, &str)]| -> BTreeMap<Module, String> {
        let module = |path: &str| path.split('/').map(str::to_owned).collect();
        files.iter().map(|(path, text)| (module(path), (*text).to_owned())).collect()
    };
    let found = |files: &[(&str, &str)]| circle(&imports(&all(files))).map(|paths| paths.len() - 1);
    let (up, down) = ("use crate::b::{Thing, more::Other};", "use super::a::A;");
    assert_eq!(found(&[("a", up), ("b", "")]), None);
    assert_eq!(found(&[("a", up), ("b", down)]), Some(2));
    // Through a file of the folder, and by a re-export.
    assert_eq!(found(&[("a", up), ("b", "mod c;"), ("b/c", "pub use crate::a;")]), Some(2));
    // A folder's own file and its children may import one another; tests may import anything.
    assert_eq!(found(&[("b", "use c::C;"), ("b/c", "use super::B;")]), None);
    assert_eq!(found(&[("a", up), ("b", "#[cfg(test)]\nuse super::a::A;")]), None);
    let after = "#[cfg(test)]\nmod tests;\nuse super::a::A;";
    assert_eq!(found(&[("a", up), ("b", after)]), Some(2));
    let behind = "#[cfg(test)]\nmod tests {\n}\nuse super::a::A;";
    assert_eq!(found(&[("a", up), ("b", behind)]), Some(2));
    // By a path in the code.
    let inline = "fn f() -> super::a::A {\n    crate::a::g()\n}";
    assert_eq!(found(&[("a", up), ("b", inline)]), Some(2));
    assert_eq!(found(&[("a", up), ("b", "// super::a::A")]), None);
}
