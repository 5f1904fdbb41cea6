//! The sources of the project as texts, for the tests of their structure.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the crates' folder")
}

/// Returns every Rust file under a folder, with its text.
pub(crate) fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    files(folder, &["rs"])
}

/// Returns every file under a folder with one of these extensions, with its text.
pub(crate) fn files(folder: &Path, ends: &[&str]) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if ends.iter().any(|end| name.ends_with(&format!(".{end}"))) {
                let text = fs::read_to_string(&path).expect("a readable file");
                files.push((path, text));
            }
        }
    }
    files.sort();
    assert!(!files.is_empty(), "{} holds {ends:?}", folder.display());
    files
}

/// Returns a source without its tests: each item behind `#[cfg(test)]` is left out, wherever it
/// stands. rustfmt aligns the closing brace of an item with its first line.
pub(crate) fn without_tests(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        match line.trim_start() {
            "#![cfg(test)]" => return String::new(),
            "#[cfg(test)]" => {
                let indent = &line[..line.len() - line.trim_start().len()];
                let mut item =
                    lines.by_ref().skip_while(|line| line.trim_start().starts_with("#["));
                let first = item.next().unwrap_or("");
                let is_one_line = first.ends_with([';', ',', '}']);
                if !is_one_line {
                    let ends = [format!("{indent}}}"), format!("{indent}}};")];
                    item.find(|line| ends.iter().any(|end| line == end));
                }
            }
            _ => code.extend([line, "\n"]),
        }
    }
    code
}

/// Returns a source without its tests and without lines of comments.
pub(crate) fn code(text: &str) -> String {
    let text = without_tests(text);
    text.lines().filter(|line| !is_comment(line)).flat_map(|line| [line, "\n"]).collect()
}

pub(crate) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// Returns whether a text contains this word as a whole word.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next())
    })
}

#[test]
fn only_tests_are_left_out() {
    let text = "use a;\n#[cfg(test)]\nuse b::{\n    c,\n};\nfn d() {\n    #[cfg(test)]\n    \
                #[allow(x)]\n    fn e() {\n        f();\n    }\n    g(); // h\n}\n#[cfg(test)]\n\
                mod i;\n#[cfg(test)]\nmod j {\n    k();\n}\n// l\nfn m() {}\n";
    let expected = "use a;\nfn d() {\n    g(); // h\n}\n// l\nfn m() {}\n";
    assert_eq!(without_tests(text), expected);
    assert_eq!(code(text), expected.replace("// l\n", ""));
    assert_eq!(without_tests("//! a\n#![cfg(test)]\nfn b() {}\n"), "");
}
