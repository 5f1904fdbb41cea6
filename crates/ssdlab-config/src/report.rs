//! Turns what is wrong with a tree into the one line that the user reads.

use ssdlab_base::{Fault, nearest};

use crate::check::Refused;
use crate::de::{Error, Kind};
use crate::keys;
use crate::schema::{Schema, one_of};
use crate::tree::{Origin, Sources, Step, dotted, one_line};

/// What keys (by their paths, `background.gc.hard`) and choices (`suspend=nobody`) used to be
/// called, and their names now.
pub type Renamed = &'static [(&'static str, &'static str)];

/// Siblings are listed if there are no more than fit a line.
const LISTED_MAX: usize = 12;

/// A name that more tables have is no hint.
const ELSEWHERE_MAX: usize = 3;

/// Who knows the names of the layers and the keys.
pub(crate) struct Reporter<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) schema: &'a Schema,
    /// What names used to be, and what they are now.
    pub(crate) renamed: &'a [Renamed],
}

impl Reporter<'_> {
    /// The fault for a value that the schema refuses.
    pub(crate) fn refused(&self, refused: Refused) -> Fault {
        let fault = self.sources.fault(refused.origin, dotted(&refused.path));
        fault.got(refused.got).expected(refused.expected)
    }

    /// The fault for a value that the config type refuses.
    pub(crate) fn fault(&self, error: Error) -> Fault {
        let mut path = error.path();
        let origin = error.origin.unwrap_or(Origin::DEFAULT);
        match error.kind {
            Kind::Unfit { got, expected, own } => self.unfit(&path, origin, got, expected, own),
            Kind::UnknownKey(name) => {
                path.push(Step::Key(name.clone()));
                self.unknown_key(&path, origin, &name)
            }
            Kind::UnknownVariant { name, names } => {
                let fault = self.sources.fault(origin, dotted(&path));
                let fault = fault.got(format!("{name:?}")).expected(one_of(names));
                if let Some(new) = self.new_name(&format!("{}={name}", in_any_element(&path))) {
                    return fault.hint(now_called(new));
                }
                let meant = match nearest(&name, names.iter().copied()) {
                    Some(near) => vec![near.to_owned()],
                    // What is a table of that name elsewhere is no spelling of a value.
                    None => {
                        let mut keys = self.elsewhere(&path, &name);
                        keys.retain(|key| *key != name);
                        keys
                    }
                };
                if meant.is_empty() { fault } else { fault.hint(did_you_mean(&meant)) }
            }
            Kind::Missing(name) => {
                path.push(Step::Key(name.to_owned()));
                let what = format!("{}: missing", dotted(&path));
                let fault = match path.len() {
                    1 => self.sources.fault_of_whole(what),
                    _ => self.sources.fault(origin, what),
                };
                match self.schema.view().at(&path).and_then(|view| view.expected()) {
                    Some(expected) => fault.expected(expected),
                    None => fault,
                }
            }
            Kind::Duplicate(name) => {
                path.push(Step::Key(name.to_owned()));
                self.sources.fault(origin, format!("{}: given twice", dotted(&path)))
            }
            Kind::Other(message) => {
                let what = format!("{}: {}", dotted(&path), one_line(&message));
                self.sources.fault(origin, what)
            }
        }
    }

    fn unfit(
        &self,
        path: &[Step],
        origin: Origin,
        got: String,
        expected: String,
        own: bool,
    ) -> Fault {
        let declared = self.schema.view().at(path).and_then(|view| view.expected());
        let expected = match declared {
            Some(declared) if !own => declared,
            _ => plain(&expected),
        };
        let part_of_list = expected.starts_with("a list") && got == "a table";
        let fault = self.sources.fault(origin, dotted(path)).got(got).expected(expected);
        if part_of_list { fault.hint("a list is given as a whole") } else { fault }
    }

    fn unknown_key(&self, path: &[Step], origin: Origin, name: &str) -> Fault {
        let above = &path[..path.len() - 1];
        let table = self.schema.view().at(above);
        let siblings: Vec<&str> =
            table.iter().flat_map(|view| view.properties()).map(|(name, _)| name).collect();
        let fault = self.sources.fault(origin, format!("{}: unknown key", dotted(path)));
        if let Some(new) = self.new_name(&in_any_element(path)) {
            return fault.hint(now_called(new));
        }
        let mut meant: Vec<String> = self.elsewhere(above, name);
        if let Some(near) = nearest(name, siblings.iter().copied()) {
            meant.insert(0, near.to_owned());
        }
        match (meant.len(), siblings.len()) {
            (1.., _) => fault.hint(did_you_mean(&meant)),
            (0, 1..=LISTED_MAX) => fault.expected(one_of(&siblings)),
            _ => fault,
        }
    }

    /// What a key (by its path) or a choice (`path=name`) of an old name is called now.
    fn new_name(&self, old: &str) -> Option<&'static str> {
        self.renamed.iter().copied().flatten().find(|(name, _)| *name == old).map(|(_, new)| *new)
    }

    /// Where the schema has a key of this name: below `here` rather than elsewhere, and nothing
    /// if it is too common to be a hint.
    fn elsewhere(&self, here: &[Step], name: &str) -> Vec<String> {
        let mut found = keys::named(self.schema.view(), name);
        let below = format!("{}.", dotted(here));
        if found.iter().any(|path| path.starts_with(&below)) {
            found.retain(|path| path.starts_with(&below));
        }
        if found.len() > ELSEWHERE_MAX {
            found.clear();
        }
        found
    }
}

/// A path without the places of elements in lists.
fn in_any_element(path: &[Step]) -> String {
    let keys = path.iter().filter_map(|step| match step {
        Step::Key(name) => Some(name.as_str()),
        Step::Index(_) => None,
    });
    keys.collect::<Vec<_>>().join(".")
}

fn now_called(new: &str) -> String {
    format!("it is now called {new:?}")
}

fn did_you_mean(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    format!("did you mean {}?", quoted.join(" or "))
}

/// Serde's words for a type as a user would say them.
fn plain(expected: &str) -> String {
    let word = match expected {
        "a sequence" => "a list",
        "a map" => "a table",
        "a boolean" => "true or false",
        "f64" | "f32" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        _ if expected.starts_with("struct ") => "a table",
        other => other,
    };
    one_line(word)
}
