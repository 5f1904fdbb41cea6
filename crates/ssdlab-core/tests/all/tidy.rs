//! The rules of the repository: dependencies between modules, and the sizes of files and functions.

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
fn files(folder: &Path, ends: &[&str]) -> Vec<(PathBuf, String)> {
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

/// Returns the part of a file before its unit tests.
fn without_tests(text: &str) -> &str {
    let marks = ["\n#[cfg(test)]", "\n#![cfg(test)]"];
    let ends = marks.into_iter().filter_map(|mark| text.find(mark));
    &text[..ends.min().unwrap_or(text.len())]
}

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
        for used in paths(without_tests(&text), "crate::") {
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
        for used in paths(without_tests(&text), "ssdlab_nand::") {
            let what = used.split("::").nth(1).unwrap_or("");
            let fine = what.is_empty() || OPEN.contains(&what) || IDS.contains(&what);
            assert!(fine, "{} uses {used}", path.display());
        }
        for secret in ["Chip", "Conditions", "level_needed", "rber("] {
            let code =
                without_tests(&text).lines().filter(|line| !line.trim_start().starts_with("//"));
            let asks =
                code.filter(|line| line.contains("ssdlab_nand")).any(|line| line.contains(secret));
            assert!(!asks, "{} asks for {secret}", path.display());
        }
    }
}

#[test]
fn the_core_names_no_paper() {
    const PAPERS: [&str; 9] =
        ["dlv", "pa_ssd", "pa-ssd", "pv_read", "pv-read", "readguard", "hire", "sepbit", "laldpc"];
    const CITED: [&str; 3] = ["Source:", "section", "Table"];
    let schemes = policies_of_schemes();
    let mut papers = 0;
    for folder in ["ssdlab-core/src", "ssdlab-policy/src"] {
        for (path, text) in sources(&crates().join(folder)) {
            // Former names in a config stay as they were.
            if path.ends_with("renamed.rs") {
                continue;
            }
            let text = without_tests(&text);
            let (comments, code): (Vec<_>, Vec<_>) =
                blocks(text).into_iter().partition(|block| block.starts_with("//"));
            let is_named =
                |block: &String| PAPERS.iter().any(|paper| block.to_lowercase().contains(paper));
            // A comment may cite a paper as the source of a default or a constant.
            for block in comments.iter().filter(|block| is_named(block)) {
                papers += 1;
                let is_cited = CITED.iter().any(|word| block.contains(word));
                assert!(is_cited, "{}: {block}", path.display());
            }
            if let Some(line) = code.iter().find(|line| is_named(line)) {
                panic!("{}: {line}", path.display());
            }
            for (policy, _) in &schemes {
                let quoted =
                    [format!("\"{policy}\""), format!("\"{policy}\\\""), format!("`{policy}`")];
                let named = quoted.iter().find(|name| text.contains(*name));
                assert_eq!(named, None, "{}", path.display());
            }
        }
    }
    assert!(papers > 0, "sources are cited");
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
    let list = std::fs::read_to_string(crates().join("ssdlab-schemes/src/lib.rs"));
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
        for (path, text) in sources(&crates().join(folder)) {
            let code = without_tests(&text).lines().filter(|line| !is_comment(line));
            for line in code {
                // A name that a message gives as an example decides nothing.
                let decides = line.split('"').step_by(2).collect::<Vec<_>>().join(" ");
                let words: Vec<&str> =
                    decides.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
                let named = policies.iter().find(|(name, policy)| {
                    let is_field = decides.contains(&format!("background.{name}"));
                    is_field || words.contains(&policy.as_str())
                });
                assert!(named.is_none(), "{}: {line}", path.display());
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
        for (path, text) in sources(&crates().join(folder)) {
            for line in without_tests(&text).lines().filter(|line| !is_comment(line)) {
                let decides = line.split('"').step_by(2).collect::<Vec<_>>().join(" ");
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

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
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
            for used in paths(without_tests(&text), "ssdlab_") {
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

/// Names that only times have.
const TIMES: [&str; 9] =
    ["now", "since", "until", "fails_at", "arrival", "began", "due", "dwell", "deadline"];

/// Returns whether a line gives something with the name of a time an integer as its type.
///
/// It may be a field, a parameter or a function; the integer stands bare, in a list or an option.
fn is_bare_time(line: &str) -> bool {
    const INTEGERS: [&str; 8] = ["u32", "u64", "u128", "usize", "i32", "i64", "i128", "isize"];
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_integer = |what: &str| {
        let mut words = what.split(|c| !is_part(c)).filter(|word| !word.is_empty());
        let inner = words.find(|word| !["mut", "Option", "Vec", "Box", "a"].contains(word));
        inner.is_some_and(|word| INTEGERS.contains(&word))
    };
    let all = TIMES.iter().flat_map(|time| line.match_indices(time));
    all.map(|(at, time)| (&line[..at], &line[at + time.len()..])).any(|(before, after)| {
        let is_whole = !before.trim_end_matches('_').ends_with(is_part);
        let is_function = before.ends_with("fn ") && after.starts_with('(');
        let what = if is_function { after.split_once(" -> ") } else { Some(("", after)) };
        let is_typed = is_function || after.starts_with(": ");
        is_whole && is_typed && what.is_some_and(|(_, what)| is_integer(what))
    })
}

#[test]
fn times_are_no_bare_integers() {
    for folder in ["ssdlab-core/src", "ssdlab-policy/src"] {
        for (path, text) in sources(&crates().join(folder)) {
            let bare = text.lines().find(|line| !is_comment(line) && is_bare_time(line));
            assert_eq!(bare, None, "{}", path.display());
        }
    }
    let bare = ["now: u64", "(_now: u64)", "since: &'a [Option<i64>]", "fn dwell(&self) -> u64;"];
    let fine =
        ["now: SimTime", "until_full: u64", "in_due: u32", "now: 0", "fn due(at: u64) -> f64"];
    assert!(bare.into_iter().all(is_bare_time) && !fine.into_iter().any(is_bare_time));
}

const MAX_FILE_LINES: usize = 500;
const MAX_POLICY_LINES: usize = 250;
const MAX_FUNCTION_LINES: usize = 70;

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

/// Returns the number of methods of every trait that a folder declares.
fn traits(folder: &Path) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (_, text) in sources(folder) {
        for (at, _) in text.match_indices("\npub trait ") {
            let declared = &text[at + "\npub trait ".len()..];
            let name = declared.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
            let body = &declared[..declared.find("\n}\n").unwrap_or(declared.len())];
            found.push((name.to_string(), body.matches("\n    fn ").count()));
        }
    }
    found
}

#[test]
fn a_policy_has_few_methods() {
    let traits = traits(&crates().join("ssdlab-policy/src"));
    let names: Vec<&str> = traits.iter().map(|(name, _)| name.as_str()).collect();
    let decisions =
        ["Background", "Eviction", "Placement", "ProgramMode", "ReadStart", "Scheduler", "Suspend"];
    for decision in decisions {
        assert!(names.contains(&format!("{decision}Policy").as_str()), "{decision} in {names:?}");
    }
    for (name, methods) in traits {
        assert!((1..=6).contains(&methods), "{name} has {methods} methods");
    }
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

/// Returns whether a text contains this word as a whole word.
pub fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next())
    })
}

#[test]
fn the_walk_names_what_is_there() {
    let root = crates().join("..");
    let walk = fs::read_to_string(root.join("docs/project/architecture.md")).expect("the walk");
    let sources = sources(&crates());
    let all: String = sources.iter().map(|(_, text)| text.as_str()).collect();
    let is_there = |file: &str| {
        sources.iter().any(|(path, _)| path.ends_with(file)) || root.join(file).exists()
    };
    let mut names = 0;
    for name in walk.split('`').skip(1).step_by(2) {
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
