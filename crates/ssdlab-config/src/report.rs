//! Turns the errors in a tree into the one-line message that the user reads.

use ssdlab_base::{Fault, nearest};

use crate::check::Refused;
use crate::de::{Error, Kind};
use crate::keys;
use crate::schema::{Schema, one_of};
use crate::tree::{Node, Origin, Sources, Step, Value, dotted, one_line};

/// Old names with their new names: keys by their paths (`background.gc.hard`), choices as
/// `path=name` (`suspend=nobody`). A new name with a dot is a whole path.
pub type Renamed = &'static [(&'static str, &'static str)];

/// The most sibling keys that a message lists, so that the list fits on a line.
const MAX_LISTED: usize = 20;

/// The most tables with the same key that still make a useful hint.
const MAX_ELSEWHERE: usize = 3;

/// Writes error messages; it knows the names of the layers and the keys.
pub(crate) struct Reporter<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) schema: &'a Schema,
    /// Old names with their new names.
    pub(crate) renamed: &'a [Renamed],
    pub(crate) tree: &'a Node,
}

impl Reporter<'_> {
    /// Returns the fault for a value that the schema refuses.
    pub(crate) fn refused(&self, refused: Refused) -> Fault {
        let fault = self.sources.fault(refused.origin, dotted(&refused.path));
        fault.got(refused.got).expected(refused.expected)
    }

    /// Returns the fault for a value that the config type refuses.
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
                let new = self.new_name_below(&path, &name);
                let old = format!("{}={name}", in_any_element(&path));
                if let Some(new) = new.or_else(|| self.new_name(&old)) {
                    return fault.hint(now_called(new));
                }
                let meant = match nearest(&name, names.iter().copied()) {
                    Some(near) => vec![near.to_owned()],
                    // A table elsewhere with exactly this name is not a misspelled value.
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
        let view = self.schema.view().at(path);
        let expected = match view.and_then(|view| view.expected()) {
            Some(declared) if !own => declared,
            _ => plain(&expected),
        };
        let fault = self.sources.fault(origin, dotted(path)).got(&got);
        if expected.starts_with("a list") && got == "a table" {
            return fault.expected(expected).hint("set the whole list, not single elements");
        }
        let keys = view.into_iter().flat_map(|view| view.properties()).map(|(name, _)| name);
        let keys: Vec<&str> = keys.collect();
        let typed = got.trim_matches('"');
        let meant = match typed {
            "on" | "yes" if expected.starts_with("true") => Some("true".to_owned()),
            "off" | "no" if expected.starts_with("true") => Some("false".to_owned()),
            _ => keys.contains(&typed).then(|| format!("{}.{typed}", dotted(path))),
        };
        let expected = match (expected.as_str(), keys.len()) {
            ("a table", 1..=MAX_LISTED) => format!("a table of {}", keys.join(", ")),
            _ => expected,
        };
        let fault = fault.expected(expected);
        meant.map_or(fault.clone(), |meant| fault.hint(did_you_mean(&[meant])))
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
        let mut meant = self.elsewhere(above, name);
        if let Some(near) = nearest(name, siblings.iter().copied()) {
            // A name outside of every table is more likely a key without its table.
            let place = if above.is_empty() { meant.len() } else { 0 };
            meant.insert(place, near.to_owned());
        }
        match (meant.len(), siblings.len()) {
            (1.., _) => fault.hint(did_you_mean(&meant)),
            (0, 1..=MAX_LISTED) => fault.expected(one_of(&siblings)),
            _ => fault,
        }
    }

    /// Returns the new name of a key (by its path) or of a choice (`path=name`), if `old` is an old
    /// name.
    fn new_name(&self, old: &str) -> Option<&'static str> {
        self.renamed.iter().copied().flatten().find(|(name, _)| *name == old).map(|(_, new)| *new)
    }

    /// Returns the new path of a setting of an old choice, if the choice's new name has none.
    fn new_name_below(&self, path: &[Step], choice: &str) -> Option<&'static str> {
        let Value::Table(choices) = &self.tree.at(path)?.value else { return None };
        let Value::Table(settings) = &choices.get(choice)?.node.value else { return None };
        let old = format!("{}.{choice}", in_any_element(path));
        settings.keys().find_map(|key| self.new_name(&format!("{old}.{key}")))
    }

    /// Returns the paths of keys called `name`: those below `here` if there are any, else all
    /// others. Returns none if the name is too common for a hint.
    fn elsewhere(&self, here: &[Step], name: &str) -> Vec<String> {
        let mut found = keys::named(self.schema.view(), name);
        let below = format!("{}.", dotted(here));
        if found.iter().any(|path| path.starts_with(&below)) {
            found.retain(|path| path.starts_with(&below));
        }
        if found.len() > MAX_ELSEWHERE {
            found.clear();
        }
        found
    }
}

/// Returns a path without list indices.
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

/// Translates serde's name of a type into plain words.
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
