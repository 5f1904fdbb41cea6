//! The config that a run uses, and the origin of each value.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};
use ssdlab_base::Fault;

use crate::schema::Schema;
use crate::tree::{Node, Origin, Sources, Step, Value, dotted, steps};

/// The config that a run uses: as TOML, as a hash, and with the origin of each value.
#[derive(Clone, Debug)]
pub struct Effective {
    toml: String,
    hash: String,
    /// The complete config, including the defaults.
    values: toml::Value,
    /// The merged values of the layers.
    tree: Node,
    sources: Sources,
    schema: Schema,
}

/// One value of the effective config.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// Its key, `gc.threshold`.
    pub path: String,
    /// The value, written as TOML.
    pub value: String,
    /// The layer and position that set the value, or `built-in default`.
    pub origin: String,
}

/// Returns the hash of a complete config in the form of [`Effective::json`], or `None` if TOML
/// cannot hold it.
pub fn hash_of(config: &serde_json::Value) -> Option<String> {
    toml::Value::try_from(config).ok().map(|values| hash_of_values(&values))
}

fn hash_of_values(values: &toml::Value) -> String {
    let mut canonical = String::new();
    write_canonical(values, &mut canonical);
    hex(&Sha256::digest(canonical.as_bytes()))
}

impl Effective {
    /// Builds the effective config from the typed config and the merged tree.
    ///
    /// # Errors
    /// Fails if TOML cannot express the config, or if a number is not finite.
    pub(crate) fn new<T: Serialize + JsonSchema>(
        config: &T,
        tree: Node,
        sources: Sources,
        schema: Schema,
    ) -> Result<Effective, Fault> {
        let unwritable =
            |error: toml::ser::Error| Fault::new("effective config", error.to_string());
        let values = toml::Value::try_from(config).map_err(unwritable)?;
        if let Some((path, number)) = not_finite(&values, &mut Vec::new()) {
            let fault = sources.fault(Origin::DEFAULT, dotted(&path));
            return Err(fault.got(number).expected("a finite number"));
        }
        let toml = toml::to_string(config).map_err(unwritable)?;
        let hash = hash_of_values(&values);
        Ok(Effective { toml, hash, values, tree, sources, schema })
    }

    /// Returns the whole config as TOML. Read as the only layer, this text gives the same config.
    pub fn toml(&self) -> &str {
        &self.toml
    }

    /// Returns the whole config as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::to_value(&self.values).expect("TOML's values can all be written as JSON")
    }

    /// Returns the SHA-256 of the config's values, in hexadecimal. It depends only on the values,
    /// not on how a file writes them.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns every value with its origin, in alphabetical order. A list of scalars is one value.
    /// A choice with settings gives its name first, then its settings.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.collect(&self.values, &mut Vec::new(), &mut leaves);
        leaves
    }

    /// Returns the leaves as lines: `gc.threshold = 0.05  # preset generic-mlc-512g:7:13`.
    pub fn listing(&self) -> String {
        let mut text = String::new();
        for Leaf { path, value, origin } in self.leaves() {
            text.push_str(&format!("{path} = {value}  # {origin}\n"));
        }
        text
    }

    /// Returns whether no layer set the value at `path`.
    pub fn is_default(&self, path: &str) -> bool {
        self.origin(&steps(path)) == Origin::DEFAULT
    }

    /// Returns whether layer `number` set the value at `path`; the first layer is 1.
    pub fn is_of_layer(&self, path: &str, number: u32) -> bool {
        self.origin(&steps(path)).layer == number
    }

    /// Returns a fault at the origin of `path`, such as `geometry.blocks` or `background[0].clock`.
    /// It states the value found there. Checks that need several values use it.
    pub fn fault_at(&self, path: &str) -> Fault {
        let path = steps(path);
        let fault = self.sources.fault(self.origin(&path), dotted(&path));
        match find(&self.values, &path) {
            Some(value) if !value.is_table() => fault.got(inline(value)),
            _ => fault,
        }
    }

    fn origin(&self, path: &[Step]) -> Origin {
        match self.tree.at(path) {
            // For a choice with settings, use the position of its name.
            Some(Node { value: Value::Table(table), .. }) if self.is_choice(path) => {
                table.values().next().map_or(Origin::DEFAULT, |entry| entry.key)
            }
            Some(node) => node.origin,
            // The value exists, but neither a layer nor the schema set it: it is the type's own
            // default.
            None if find(&self.values, path).is_some() => Origin::DEFAULT,
            None => {
                let known = (0..path.len()).rev().find_map(|n| self.tree.at(&path[..n]));
                known.map_or(Origin::DEFAULT, |node| node.origin)
            }
        }
    }

    fn is_choice(&self, path: &[Step]) -> bool {
        self.schema.view().at(path).is_some_and(|view| !view.variants().is_empty())
    }

    fn leaf(&self, path: &[Step], value: String) -> Leaf {
        Leaf { path: dotted(path), value, origin: self.sources.label(self.origin(path)) }
    }

    fn collect(&self, value: &toml::Value, path: &mut Vec<Step>, leaves: &mut Vec<Leaf>) {
        match value {
            toml::Value::Table(table) if !table.is_empty() => {
                if let Some(name) = table.keys().next().filter(|_| self.is_choice(path)) {
                    leaves.push(self.leaf(path, format!("{name:?}")));
                }
                for (key, value) in table {
                    path.push(Step::Key(key.clone()));
                    self.collect(value, path, leaves);
                    path.pop();
                }
            }
            toml::Value::Array(list) if self.is_listed_by_entry(list, path) => {
                for (index, value) in list.iter().enumerate() {
                    path.push(Step::Index(index));
                    self.collect(value, path, leaves);
                    path.pop();
                }
            }
            _ => leaves.push(self.leaf(path, inline(value))),
        }
    }

    /// Returns whether each element of a list is a separate leaf: choices and tables are.
    fn is_listed_by_entry(&self, list: &[toml::Value], path: &[Step]) -> bool {
        let mut element = path.to_vec();
        element.push(Step::Index(0));
        !list.is_empty() && (list.iter().any(toml::Value::is_table) || self.is_choice(&element))
    }
}

/// Finds the first number that TOML allows and a config does not: infinity or NaN.
fn not_finite(value: &toml::Value, path: &mut Vec<Step>) -> Option<(Vec<Step>, f64)> {
    let below = |value, step, path: &mut Vec<Step>| {
        path.push(step);
        let found = not_finite(value, path);
        path.pop();
        found
    };
    match value {
        toml::Value::Float(number) => (!number.is_finite()).then(|| (path.clone(), *number)),
        toml::Value::Array(list) => {
            let mut elements = list.iter().enumerate();
            elements.find_map(|(index, value)| below(value, Step::Index(index), path))
        }
        toml::Value::Table(table) => {
            let mut entries = table.iter();
            entries.find_map(|(key, value)| below(value, Step::Key(key.clone()), path))
        }
        _ => None,
    }
}

/// Returns `value` as TOML on one line.
pub(crate) fn inline(value: &toml::Value) -> String {
    value.to_string().replace('\n', " ")
}

fn find<'v>(value: &'v toml::Value, path: &[Step]) -> Option<&'v toml::Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key.as_str()),
        Step::Index(index) => match value {
            toml::Value::Table(table) => table.get(&index.to_string()),
            _ => value.get(index),
        },
    })
}

/// Writes `value` so that equal configs give equal text: with sorted keys and without layout.
fn write_canonical(value: &toml::Value, text: &mut String) {
    match value {
        toml::Value::Table(table) => {
            let mut entries: Vec<_> = table.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (key, value) in entries {
                let _ = write!(text, "{key:?}:");
                write_canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        toml::Value::Array(list) => {
            text.push('[');
            for value in list {
                write_canonical(value, text);
                text.push(',');
            }
            text.push(']');
        }
        toml::Value::Float(number) => {
            let _ = write!(text, "{number:?}");
        }
        toml::Value::String(string) => {
            let _ = write!(text, "{string:?}");
        }
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
