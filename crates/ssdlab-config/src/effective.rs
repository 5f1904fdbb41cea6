//! The config that a run uses, and where each part of it came from.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};
use ssdlab_base::Fault;

use crate::tree::{Node, Origin, Sources, Step, Value, dotted, steps};

/// The config that a run uses: as TOML, as a hash, and with the origin of each value.
#[derive(Clone, Debug)]
pub struct Effective {
    toml: String,
    hash: String,
    /// The config as it is, defaults and all.
    values: toml::Value,
    /// What the layers said.
    tree: Node,
    sources: Sources,
}

/// One value of the effective config.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// Its key, `gc.threshold`.
    pub path: String,
    /// As it is written in TOML.
    pub value: String,
    /// The layer and position that it came from, or `built-in default`.
    pub origin: String,
}

impl Effective {
    /// # Errors
    /// A config that cannot be written as TOML.
    pub(crate) fn new<T: Serialize + JsonSchema>(
        config: &T,
        tree: Node,
        sources: Sources,
    ) -> Result<Effective, Fault> {
        let unwritable =
            |error: toml::ser::Error| Fault::new("effective config", error.to_string());
        let values = toml::Value::try_from(config).map_err(unwritable)?;
        let toml = toml::to_string(config).map_err(unwritable)?;
        let mut canonical = String::new();
        write_canonical(&values, &mut canonical);
        let hash = hex(&Sha256::digest(canonical.as_bytes()));
        Ok(Effective { toml, hash, values, tree, sources })
    }

    /// The whole config as TOML. Read back as the only layer it gives the same config.
    pub fn toml(&self) -> &str {
        &self.toml
    }

    /// The SHA-256 of the config's values in hexadecimal, the same for every way of writing them.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Every value with its origin, in alphabetical order. A list of scalars is one value.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.collect(&self.values, &mut Vec::new(), &mut leaves);
        leaves
    }

    /// The leaves as lines: `gc.threshold = 0.05  # preset generic-mlc-512g:7:13`.
    pub fn listing(&self) -> String {
        let mut text = String::new();
        for Leaf { path, value, origin } in self.leaves() {
            text.push_str(&format!("{path} = {value}  # {origin}\n"));
        }
        text
    }

    /// Whether no layer gave the value at `path`.
    pub fn is_default(&self, path: &str) -> bool {
        self.origin(&steps(path)) == Origin::DEFAULT
    }

    /// A fault at the origin of `path`, such as `geometry.blocks` or `tend[0].clock`, which says
    /// what was found there: for checks that need more than one value.
    pub fn fault_at(&self, path: &str) -> Fault {
        let path = steps(path);
        let fault = self.sources.fault(self.origin(&path), dotted(&path));
        match find(&self.values, &path) {
            Some(value) if !value.is_table() => fault.got(inline(value)),
            _ => fault,
        }
    }

    fn origin(&self, path: &[Step]) -> Origin {
        if let Some(node) = self.tree.at(path) {
            return node.origin;
        }
        // A setting of a choice that is itself written as a bare name, or a key that only the
        // type gives a default.
        match find(&self.values, path) {
            Some(_) => Origin::DEFAULT,
            None => {
                let known = (0..path.len()).rev().find_map(|n| self.tree.at(&path[..n]));
                known.map_or(Origin::DEFAULT, |node| node.origin)
            }
        }
    }

    fn collect(&self, value: &toml::Value, path: &mut Vec<Step>, leaves: &mut Vec<Leaf>) {
        match value {
            toml::Value::Table(table) if !table.is_empty() => {
                for (key, value) in table {
                    path.push(Step::Key(key.clone()));
                    self.collect(value, path, leaves);
                    path.pop();
                }
            }
            toml::Value::Array(list) if list.iter().any(toml::Value::is_table) => {
                for (index, value) in list.iter().enumerate() {
                    path.push(Step::Index(index));
                    self.collect(value, path, leaves);
                    path.pop();
                }
            }
            _ => leaves.push(Leaf {
                path: dotted(path),
                value: inline(value),
                origin: self.sources.label(self.leaf_origin(path)),
            }),
        }
    }

    /// A list's origin is that of its brackets, a bare name's that of the name.
    fn leaf_origin(&self, path: &[Step]) -> Origin {
        match self.tree.at(path) {
            Some(Node { value: Value::Table(table), origin, .. }) => {
                table.values().next().map_or(*origin, |entry| entry.key)
            }
            _ => self.origin(path),
        }
    }
}

/// `value` on one line, as TOML has it.
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

/// Writes `value` so that equal configs give equal text: sorted keys, no layout.
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
