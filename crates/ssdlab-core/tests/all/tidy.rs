//! The rules of the repository: dependencies between modules, and the sizes of files and functions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::source::{code, crates, files, sources, without_tests};

/// Returns the paths that a file names after `use` or in its code, such as `crate::ftl::Map`.
fn paths<'a>(text: &'a str, root: &str) -> Vec<&'a str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut found = Vec::new();
    for line in code {
        for (at, _) in line.match_indices(root) {
            let end = line[at..].find(|c: char| !(c.is_alphanumeric() || "_:".contains(c)));
            found.push(&line[at..end.map_or(line.len(), |end| at + end)]);
        }
    }
    found
}

/// Returns the module of ssdlab-core that contains a file: `ftl`, `policy`, …
fn room(path: &Path) -> String {
    let inside = path.strip_prefix(crates().join("ssdlab-core/src")).expect("a file of the core");
    let first = inside.iter().next().expect("a name").to_string_lossy();
    first.trim_end_matches(".rs").to_string()
}

/// The modules that each module may use, besides the shared ones. A module that uses none is not
/// listed.
const MAY_USE: &[(&str, &[&str])] = &[
    (
        "drive",
        &[
            "audit", "metadata", "buffer", "config", "flash", "ftl", "host", "media", "policy",
            "queue", "stats",
        ],
    ),
    ("audit", &["buffer", "config", "flash", "ftl", "host"]),
    // A config names the policies of the slots, and resolves to the setup of each module.
    ("config", &["metadata", "flash", "ftl", "policy", "Toggle"]),
    ("media", &["config"]),
    ("buffer", &["config", "flash"]),
    ("host", &["flash", "policy"]),
    // A transaction carries a hint.
    ("flash", &["policy"]),
    ("stats", &["ftl", "metadata", "host"]),
];
/// Modules that every module may use; the last is the plane of their tests.
const SHARED: [&str; 4] = ["account", "saved", "timers", "SMALL"];

#[test]
fn rooms_use_only_those_below_them() {
    for (path, text) in sources(&crates().join("ssdlab-core/src")) {
        let room = room(&path);
        if room == "lib" {
            continue;
        }
        let allowed =
            MAY_USE.iter().find(|(name, _)| *name == room).map_or(&[][..], |(_, uses)| uses);
        for used in paths(&without_tests(&text), "crate::") {
            let other = used.split("::").nth(1).unwrap_or("");
            let fine = other == room || SHARED.contains(&other) || allowed.contains(&other);
            assert!(fine, "{} uses {used}", path.display());
        }
    }
}

#[test]
fn no_room_uses_one_that_uses_it() {
    fn reaches(room: &str, wanted: &str) -> bool {
        let uses = MAY_USE.iter().find(|(name, _)| *name == room).map_or(&[][..], |(_, uses)| uses);
        uses.iter().any(|used| *used == wanted || reaches(used, wanted))
    }
    let in_a_circle = MAY_USE.iter().find(|(room, _)| reaches(room, room));
    assert_eq!(in_a_circle, None);
}

/// Returns the sources that must not know the physics: the policies, and the drive without `flash`
/// and `config`.
fn sources_without_physics() -> Vec<(PathBuf, String)> {
    let mut all = sources(&crates().join("ssdlab-core/src"));
    all.retain(|(path, _)| !["flash", "config"].contains(&room(path).as_str()));
    all.extend(sources(&crates().join("ssdlab-policy/src")));
    all.extend(sources(&crates().join("ssdlab-schemes/src")));
    all
}

#[test]
fn only_the_flash_asks_the_physics() {
    // The shape of the flash and its page types are public. `config` resolves the physics but never
    // queries it.
    const OPEN: [&str; 7] =
        ["geometry", "page_order", "refusal", "each", "timing", "BlockId", "Geometry"];
    const IDS: [&str; 8] =
        ["Lpn", "Ppn", "PageInBlock", "PlaneId", "PageType", "Cell", "Level", "ProgramMode"];
    for (path, text) in sources_without_physics() {
        for used in paths(&without_tests(&text), "ssdlab_nand::") {
            let what = used.split("::").nth(1).unwrap_or("");
            let fine = what.is_empty() || OPEN.contains(&what) || IDS.contains(&what);
            assert!(fine, "{} uses {used}", path.display());
        }
        for secret in ["Chip", "Conditions", "level_needed", "rber("] {
            let code = code(&text);
            let mut lines = code.lines().filter(|line| line.contains("ssdlab_nand"));
            let asks = lines.any(|line| line.contains(secret));
            assert!(!asks, "{} asks for {secret}", path.display());
        }
    }
}

#[test]
fn crates_use_only_those_below_them() {
    let below: &[(&str, &[&str])] = &[
        ("ssdlab-base", &[]),
        ("ssdlab-config", &["base"]),
        ("ssdlab-nand", &["base"]),
        ("ssdlab-ldpc", &["base"]),
        ("ssdlab-workload", &["base"]),
        ("ssdlab-policy", &["base", "nand"]),
        ("ssdlab-schemes", &["base", "nand", "policy"]),
        ("ssdlab-core", &["base", "nand", "policy", "schemes"]),
        ("ssdlab-run", &["base", "config", "core", "workload"]),
        ("ssdlab-py", &["base", "ldpc", "run", "workload"]),
    ];
    for (name, allowed) in below {
        for (path, text) in sources(&crates().join(name).join("src")) {
            for used in paths(&without_tests(&text), "ssdlab_") {
                let other = used.split("::").next().unwrap_or("").trim_start_matches("ssdlab_");
                let own = name.trim_start_matches("ssdlab-");
                let names_a_crate =
                    below.iter().any(|(name, _)| name.trim_start_matches("ssdlab-") == other);
                let fine = !names_a_crate || other == own || allowed.contains(&other);
                assert!(fine, "{} uses {used}", path.display());
            }
        }
    }
}

const MAX_FILE_LINES: usize = 500;
const MAX_POLICY_LINES: usize = 250;
const MAX_FUNCTION_LINES: usize = 70;
const MAX_METHODS: usize = 6;

/// Returns whether a file belongs to a policy: in a scheme's folder, or beside its decision's
/// interface.
fn is_policy(path: &Path) -> bool {
    let within = |folder: &str| path.strip_prefix(crates().join(folder)).ok();
    let depth = |inside: Option<&Path>| inside.map_or(0, |inside| inside.iter().count());
    let metadata = within("ssdlab-schemes/src/metadata").is_some();
    let folders = depth(within("ssdlab-schemes/src")).max(depth(within("ssdlab-policy/src")));
    folders > 1 && !metadata
}

#[test]
fn files_are_short() {
    for (path, text) in sources(&crates()) {
        let lines = text.lines().count();
        assert!(lines <= MAX_FILE_LINES, "{} has {lines} lines", path.display());
        let is_policy = is_policy(&path);
        let lines = without_tests(&text).lines().count();
        assert!(!is_policy || lines <= MAX_POLICY_LINES, "{} has {lines} lines", path.display());
    }
}

/// Returns name and length of every function. rustfmt aligns its closing brace with its first line.
fn functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let code = line.trim_start().replace("pub(in ", "pub(");
        let words: Vec<&str> = code.split(' ').take(5).collect();
        let Some(word) = words.iter().position(|word| *word == "fn") else { continue };
        let qualifiers = ["pub", "const", "unsafe", "async", "extern", "\"C\""];
        let plain = |word: &&str| qualifiers.contains(word) || word.starts_with("pub(");
        if code.starts_with("//") || !words[..word].iter().all(plain) {
            continue;
        }
        let opens = lines[at..].iter().find(|line| line.ends_with(['{', ';', '}']));
        if opens.is_none_or(|line| line.ends_with(';')) {
            continue;
        }
        let close = format!("{}}}", " ".repeat(indent));
        let end = lines[at..].iter().position(|line| *line == close);
        let body = end.map_or(1, |end| end + 1);
        found.push((words.get(word + 1).unwrap_or(&"").to_string(), body));
    }
    found
}

#[test]
fn functions_are_short() {
    for (path, text) in sources(&crates()) {
        for (name, lines) in functions(&text) {
            let short = lines <= MAX_FUNCTION_LINES;
            assert!(short, "{}: {name} has {lines} lines", path.display());
        }
    }
    for seen in ["pub(super) const", "pub(in crate::drive)"] {
        let sample = format!("    {seen} fn a(\n        b: u8,\n    ) {{\n        c();\n    }}\n");
        assert_eq!(functions(&sample), [("a(".to_string(), 5)]);
    }
}

#[test]
fn nothing_is_left_to_be_done() {
    let words = [["FIX", "ME"].concat(), ["TO", "DO"].concat(), ["XX", "X"].concat()];
    for (path, text) in sources(&crates()) {
        for word in &words {
            assert!(!text.contains(word), "{} holds {word}", path.display());
        }
    }
}

/// Returns the number of methods of every trait that a source declares, whatever its visibility.
fn traits(text: &str) -> Vec<(String, usize)> {
    const QUALIFIERS: [&str; 5] = ["const", "unsafe", "async", "extern", "\"C\""];
    let code = code(text).replace("pub(in ", "pub(");
    let lines: Vec<&str> = code.lines().collect();
    let words = |line: &str| -> Vec<String> {
        let words = line
            .trim_start()
            .split(' ')
            .skip_while(|word| word.starts_with("pub") || QUALIFIERS.contains(word));
        words.take(2).map(str::to_owned).collect()
    };
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let [first, name] = &words(line)[..] else { continue };
        if first != "trait" {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let close = format!("{}}}", " ".repeat(indent));
        let body = lines[at + 1..].iter().take_while(|line| **line != close);
        let of_trait = body.filter(|line| {
            line.len() - line.trim_start().len() == indent + 4 && words(line)[0] == "fn"
        });
        let methods = if line.ends_with('}') { 0 } else { of_trait.count() };
        let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
        found.push((name.to_owned(), methods));
    }
    found
}

#[test]
fn a_trait_has_few_methods() {
    let mut names = Vec::new();
    for (path, text) in sources(&crates()) {
        for (name, methods) in traits(&text) {
            assert!(methods <= MAX_METHODS, "{}: {name} has {methods}", path.display());
            names.push(name);
        }
    }
    let decisions =
        ["Background", "Eviction", "Placement", "ProgramMode", "ReadStart", "Scheduler", "Suspend"];
    for decision in decisions {
        assert!(names.contains(&format!("{decision}Policy")), "{decision} in {names:?}");
    }
}

#[test]
fn a_method_is_counted_whatever_stands_before_it() {
    let text = "pub(crate) trait A {\n    fn b();\n    unsafe fn c() {\n        fn d() {}\n    }\n}\n\
                mod e {\n    pub unsafe trait F: G {\n        const fn h();\n    }\n}\ntrait I {}\n";
    let found = [("A", 2), ("F", 1), ("I", 0)].map(|(name, count)| (name.to_owned(), count));
    assert_eq!(traits(text), found);
}

/// Returns the sources of the project that contain one of these words, without its tests.
fn that_name(words: &[&str]) -> Vec<String> {
    let root = crates().join("..").canonicalize().expect("the project's folder");
    let all = ["crates", "python"].map(|folder| files(&root.join(folder), &["rs", "toml", "py"]));
    let names =
        all.iter().flatten().filter(|(_, text)| words.iter().any(|word| text.contains(word)));
    let within = names.map(|(path, _)| path.strip_prefix(&root).expect("a file of the project"));
    let sources = within.filter(|path| path.iter().all(|part| part != "tests"));
    sources.map(|path| path.to_string_lossy().replace('\\', "/")).collect()
}

#[test]
fn a_system_needs_no_more_than_a_file_and_a_line() {
    // The sixth system needs its own file and a line in the list of policies. Source: SepBIT.
    const SCHEMES: &str = "crates/ssdlab-schemes/src";
    let expected = ["lib.rs", "streams/sepbit.rs"];
    let found = that_name(&["sepbit", "SepBit", "SepBIT", "SEPBIT"]);
    assert_eq!(found, expected.map(|file| format!("{SCHEMES}/{file}")));
}

/// Returns the words of code outside comments.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
}

/// Returns the public functions of a source.
fn public_functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let line = line.trim_start().strip_prefix("pub ")?;
        let name = line.strip_prefix("const ").unwrap_or(line).strip_prefix("fn ")?;
        name.split(['(', '<']).next()
    })
}

/// The compiler does not see this: it takes a public function of a public type for used. The crate
/// of the policies' interface is for authors of policies.
#[test]
fn a_function_is_public_only_where_another_crate_uses_it() {
    let all = [crates(), crates().join("../fuzz")].map(|folder| sources(&folder)).concat();
    let mut unused = Vec::new();
    for entry in std::fs::read_dir(crates()).expect("the crates") {
        let own = entry.expect("a crate").path().join("src");
        if own.starts_with(crates().join("ssdlab-policy")) || !own.exists() {
            continue;
        }
        let (own, others): (Vec<_>, Vec<_>) =
            all.iter().partition(|(path, _)| path.starts_with(&own));
        let used: BTreeSet<&str> = others.iter().flat_map(|(_, text)| words(text)).collect();
        for (path, text) in own {
            let public = public_functions(text).filter(|name| !used.contains(name));
            unused.extend(public.map(|name| format!("{}: {name}", path.display())));
        }
    }
    assert!(unused.is_empty(), "{unused:#?}");
    let found =
        "    pub fn a<T>() {}\n    pub const fn b() {}\n    pub(crate) fn c() {}\nfn d() {}\n";
    assert_eq!(public_functions(found).collect::<Vec<_>>(), ["a", "b"]);
}
