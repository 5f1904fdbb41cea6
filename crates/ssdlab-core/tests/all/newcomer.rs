//! The files that a new policy changes.

use std::fs;

use crate::source::crates;

#[test]
fn a_new_policy_needs_no_more_than_a_file_and_its_lines_in_the_list() {
    ["retry_refresh", "batched_writes"].iter().for_each(|name| check(name));
}

fn check(policy: &str) {
    let root = crates().join("..");
    let patch = fs::read_to_string(root.join(format!("tests/newcomer/{policy}.patch")));
    let patch = patch.expect("the patch that `make test-newcomer` applies");
    let files: Vec<&str> = patch.split("diff --git a/").skip(1).collect();
    let name = |file: &&str| file.split(' ').next().unwrap_or_default().to_owned();
    // A row for its key and a null test are no sources.
    let sources = files.into_iter().filter(|file| name(file).contains("/src/"));
    let (new, known): (Vec<&str>, Vec<&str>) =
        sources.partition(|file| file.contains("\nnew file mode "));
    assert_eq!((new.len(), known.len()), (1, 1));
    assert_eq!(name(&known[0]), "crates/ssdlab-schemes/src/lib.rs");
    let changed = |sign: char| {
        let lines = known[0].lines().filter(|line| line.starts_with(sign));
        lines.filter(|line| !line.starts_with("+++") && !line.starts_with("---")).count()
    };
    assert!(changed('+') <= 3 && changed('-') == 0, "{}", known[0]);
    // The patch applies: the lines next to its own stand in the list.
    let list = fs::read_to_string(root.join(name(&known[0]))).expect("the list of policies");
    let (_, hunks) = known[0].split_once("\n@@").expect("a hunk");
    for hunk in hunks.split("\n@@") {
        let lines: Vec<&str> = hunk.lines().skip(1).collect();
        let own = || lines.iter().enumerate().filter(|(_, line)| line.starts_with('+'));
        let [first, last] = [own().next(), own().next_back()].map(|own| own.expect("lines").0);
        for next in [lines[first - 1], lines[last + 1]] {
            let next = next.strip_prefix(' ').expect("a line that stands already");
            assert!(list.lines().any(|line| line == next), "{next}");
        }
    }
}
