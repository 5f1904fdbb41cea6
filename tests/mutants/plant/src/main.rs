//! Writes the mutants that cargo-mutants lists into the sources, all at once, each behind a switch.
//!
//! Standard input has the list (`cargo mutants --list --json`), of which each mutant has an `id`
//! besides. The sources are read below the first argument and written below the second. Standard
//! output has, for each file, the stretches of its new text that belong to mutants: who knows where
//! the compiler stumbles knows which mutant does not build.

mod render;
mod sites;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use serde::Deserialize;

/// What is used of cargo-mutants' words on a mutant.
#[derive(Deserialize)]
struct Mutant {
    id: u32,
    file: String,
    genre: Genre,
    replacement: String,
    span: Span,
}

/// What kind of a change it is.
#[derive(Clone, Copy, Deserialize, PartialEq)]
enum Genre {
    FnValue,
    BinaryOperator,
    UnaryOperator,
    MatchArm,
    MatchArmGuard,
    StructField,
}

#[derive(Deserialize)]
struct Span {
    start: Position,
}

/// Both counted from 1.
#[derive(Clone, Copy, Deserialize, PartialEq)]
struct Position {
    line: usize,
    column: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let folders: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [from, to] = folders.as_slice() else {
        return Err("usage: plant FROM TO < mutants.json > marks.json".into());
    };
    let mutants: Vec<Mutant> = serde_json::from_reader(io::stdin().lock())?;
    let mut files: BTreeMap<&str, Vec<&Mutant>> = BTreeMap::new();
    for mutant in &mutants {
        files.entry(&mutant.file).or_default().push(mutant);
    }
    let mut marks = BTreeMap::new();
    for (file, mutants) in files {
        let source = fs::read_to_string(from.join(file))?;
        let planted = render::render(&source, sites::find(&source, &mutants)?);
        write_if_other(&to.join(file), &planted.text)?;
        marks.insert(file, planted.marks);
    }
    serde_json::to_writer(io::stdout().lock(), &marks)?;
    Ok(())
}

/// Leaves a file alone whose text is the same, so that it is not compiled again.
fn write_if_other(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, text)
}
