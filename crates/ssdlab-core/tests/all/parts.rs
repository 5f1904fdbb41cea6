//! The parts of the drive and of its flash are types of their own. None uses one above it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::imports::imported;
use crate::source::{code, crates, has_word, sources};

/// The parts of the drive, lowest first: a file or folder, and its type.
const PARTS: [(&str, &str); 6] = [
    ("machine", "Machine"),
    ("dispatch", "Dispatcher"),
    ("translation", "Translation"),
    ("buffer_stage", "BufferStage"),
    ("background", "Background"),
    ("", "Drive"),
];

/// The parts of the flash: a file and its type.
const FLASH: [(&str, &str); 11] = [
    ("cells", "Cells"),
    ("channels", "Channels"),
    ("counts", "Counts"),
    ("events", "Events"),
    ("lookahead", "Lookahead"),
    ("queues", "Queues"),
    ("selector", "Selector"),
    ("setup", "FlashSetup"),
    ("timeline", "Timeline"),
    ("txn", "Txns"),
    ("units", "Units"),
];

/// Returns the code of a part of the drive; for the drive itself, the code in no other part.
fn code_of(part: &str) -> String {
    let folder = crates().join("ssdlab-core/src/drive");
    let mut code = String::new();
    for (path, text) in sources(&folder) {
        let path = path.strip_prefix(&folder).expect("a file of the drive").with_extension("");
        let first = path.iter().next().and_then(|part| part.to_str()).expect("a name").to_owned();
        let is_part = PARTS.iter().any(|(part, _)| *part == first);
        if first == part || part.is_empty() && !is_part {
            let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            lines.for_each(|line| code.extend([line, "\n"]));
        }
    }
    assert!(!code.is_empty(), "no part {part}");
    code
}

/// Returns whether code imports a part of the drive, or the drive itself.
fn knows(code: &str, part: &str, own: &str) -> bool {
    imported(code).iter().any(|path| {
        let inside = path.rsplit_once("drive::").or(path.rsplit_once("super::"));
        let names = inside.map(|(_, names)| names.split("::").next().unwrap_or(names));
        names.is_some_and(|name| name == own || !part.is_empty() && name == part)
    })
}

#[test]
fn no_part_of_the_drive_knows_one_above_it() {
    for (at, (part, own)) in PARTS.iter().enumerate() {
        let code = code_of(part);
        assert!(has_word(&code, &format!("impl {own}")), "{part} has no type {own}");
        assert!(part.is_empty() || at == 0 || knows(&code, "machine", "Machine"), "{part}");
        for (above, name) in &PARTS[at + 1..] {
            assert!(!knows(&code, above, name), "{part} knows the {name}");
        }
    }
}

#[test]
fn no_part_of_the_flash_knows_the_flash() {
    for (part, own) in FLASH {
        let path = crates().join(format!("ssdlab-core/src/flash/{part}.rs"));
        let code = code(&fs::read_to_string(path).expect("the file of a part"));
        let defined = has_word(&code, &format!("pub struct {own}"))
            || has_word(&code, &format!("pub(super) struct {own}"))
            || has_word(&code, &format!("pub(crate) struct {own}"));
        assert!(defined, "{part} has no type {own}");
        assert!(!has_word(&code, "Flash"), "{part} knows the flash");
    }
}

/// Returns the methods of a type with their files in a folder of the core: file, name and text.
fn methods_of(folder: &str, own: &str) -> Vec<(String, String, String)> {
    let folder = crates().join("ssdlab-core/src").join(folder);
    let mut methods = Vec::new();
    let opens = format!("\nimpl {own} {{\n");
    for (path, text) in sources(&folder) {
        let file = path.strip_prefix(&folder).expect("a file in the folder").display().to_string();
        let blocks = text.split(&opens).skip(1);
        for block in blocks.map(|rest| &rest[..rest.find("\n}\n").expect("its end")]) {
            let starts = block.match_indices("fn ").filter(|(at, _)| {
                let line = block[..*at].rsplit('\n').next().unwrap_or("");
                line.starts_with("    ") && !line.starts_with("     ") && !line.contains("//")
            });
            let mut starts: Vec<usize> = starts.map(|(at, _)| at).collect();
            starts.push(block.len());
            for span in starts.windows(2) {
                let body = &block[span[0]..span[1]];
                let name = body[3..].split(['(', '<']).next().expect("a name");
                methods.push((file.clone(), name.to_string(), body.to_string()));
            }
        }
    }
    methods
}

/// Returns whether a method calls another one of its own type.
fn calls(text: &str, own: &str, name: &str) -> bool {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let joined: String = code.flat_map(|line| [line.trim(), "\u{1}"]).collect();
    let joined = joined.replace("\u{1}.", ".");
    // A closure of the flash gets the flash as an argument.
    let calls = [format!("self.{name}("), format!(" flash.{name}("), format!("{own}::{name}")];
    calls.iter().any(|call| joined.contains(call))
}

#[test]
fn the_files_of_each_part_call_downwards() {
    let mut edges = 0;
    let parts = PARTS.map(|(_, own)| ("drive", own));
    for (folder, own) in parts.into_iter().chain([("flash", "Flash")]) {
        let methods = methods_of(folder, own);
        // A type with nearly all methods would be the old drive type, which had 226.
        assert!((5..=120).contains(&methods.len()), "{own}: {} methods", methods.len());
        let mut below: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (file, _, body) in &methods {
            let others =
                methods.iter().filter(|(other, name, _)| other != file && calls(body, own, name));
            below.entry(file).or_default().extend(others.map(|(other, ..)| other.as_str()));
        }
        edges += below.values().map(BTreeSet::len).sum::<usize>();
        // A file that calls none of the remaining files is removed first.
        while let Some(lowest) =
            below.iter().find_map(|(file, calls)| calls.is_empty().then_some(*file))
        {
            below.remove(lowest);
            below.values_mut().for_each(|calls| {
                calls.remove(lowest);
            });
        }
        assert!(below.is_empty(), "files of {own} call one another: {below:?}");
    }
    assert!(edges > 15, "{edges} calls from file to file were found");
}

/// Returns the fields of a type in a file of the core, without comments.
fn fields_of(file: &str, own: &str) -> Vec<String> {
    let text = code(&fs::read_to_string(crates().join("ssdlab-core/src").join(file)).unwrap());
    let fields = text.split(&format!("struct {own} {{\n")).nth(1).expect("the type");
    let fields = fields[..fields.find("\n}").expect("its end")].lines();
    fields.map(|line| line.trim().to_string()).collect()
}

#[test]
fn the_types_that_hold_parts_have_few_fields() {
    for (file, own, most) in [
        ("drive/mod.rs", "Drive", 15),
        ("drive/machine/mod.rs", "Machine", 12),
        ("drive/machine/policies.rs", "Policies", 19),
        ("flash/mod.rs", "Flash", 15),
    ] {
        let fields = fields_of(file, own);
        assert!((4..=most).contains(&fields.len()), "{own}: {} fields: {fields:?}", fields.len());
    }
}

#[test]
fn the_parts_of_the_flash_have_private_state() {
    // The setup is a config.
    for (part, own) in FLASH.iter().filter(|(part, _)| *part != "setup") {
        let fields = fields_of(&format!("flash/{part}.rs"), own);
        let open: Vec<&String> = fields.iter().filter(|field| field.starts_with("pub")).collect();
        assert!(open.is_empty(), "{own}: {open:?}");
    }
}
