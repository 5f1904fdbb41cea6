//! A config as a tree. Every key and value keeps the place where it was written.

use std::collections::BTreeMap;
use std::fmt;

use ssdlab_base::Fault;

/// The source that a fault names if its value comes from no layer.
pub const BUILT_IN: &str = "built-in default";

/// The deepest nesting of tables and lists: far beyond any config, far below the stack's limit.
pub(crate) const MAX_DEPTH: usize = 32;

/// The place where a key or value was written: a layer, by its index in [`Sources`], and a
/// position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Origin {
    pub(crate) layer: u32,
    /// The line, counted from 1; 0 in a layer without lines, such as an argument.
    pub(crate) line: u32,
    /// The column, counted from 1 in characters.
    pub(crate) column: u32,
}

impl Origin {
    /// The origin of the defaults that the config type declares.
    pub(crate) const DEFAULT: Origin = Origin::layer(0);

    /// Returns the origin that stands for a whole layer.
    pub(crate) const fn layer(layer: u32) -> Origin {
        Origin { layer, line: 0, column: 0 }
    }
}

/// The names of the layers: their files and their arguments.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    names: Vec<String>,
    /// The last layer that is a whole text. A missing top-level key is reported there.
    text: Option<u32>,
}

impl Sources {
    pub(crate) fn new() -> Sources {
        Sources { names: vec![BUILT_IN.to_owned()], text: None }
    }

    /// Adds a layer and returns its number.
    pub(crate) fn add(&mut self, name: String) -> u32 {
        self.names.push(one_line(&name));
        self.names.len() as u32 - 1
    }

    /// Adds a layer that is a whole text, and returns its number.
    pub(crate) fn add_text(&mut self, name: String) -> u32 {
        let layer = self.add(name);
        self.text = Some(layer);
        layer
    }

    /// Returns a fault that has no place in any layer.
    pub(crate) fn fault_of_whole(&self, what: impl Into<String>) -> Fault {
        match self.text {
            Some(layer) => self.fault(Origin::layer(layer), what),
            None => Fault::new("config", what),
        }
    }

    /// Returns a fault at `origin`.
    pub(crate) fn fault(&self, origin: Origin, what: impl Into<String>) -> Fault {
        let fault = Fault::new(self.names[origin.layer as usize].as_str(), what);
        match origin.line {
            0 => fault,
            line => fault.line(line.into()).column(origin.column.into()),
        }
    }

    /// Returns `origin` as a listing shows it.
    pub(crate) fn label(&self, origin: Origin) -> String {
        let name = &self.names[origin.layer as usize];
        match origin.line {
            0 => name.clone(),
            line => format!("{name}:{line}:{}", origin.column),
        }
    }
}

/// A value and the place where it was written.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
    /// Whether this value replaced the values of lower layers and must not merge with them.
    pub(crate) fresh: bool,
}

/// A value of a config.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Boolean(bool),
    Integer(i64),
    /// Always finite.
    Float(f64),
    String(String),
    List(Vec<Node>),
    Table(Table),
}

/// The keys of a table, with their origins and values.
pub(crate) type Table = BTreeMap<String, Entry>;

/// A value under a key.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    /// Where the key was written.
    pub(crate) key: Origin,
    pub(crate) node: Node,
}

impl Node {
    pub(crate) fn new(value: Value, origin: Origin) -> Node {
        Node { value, origin, fresh: false }
    }

    /// Returns the node at `path`, if the tree has one.
    pub(crate) fn at(&self, path: &[Step]) -> Option<&Node> {
        let Some((step, rest)) = path.split_first() else { return Some(self) };
        let below = match (&self.value, step) {
            (Value::Table(table), Step::Key(key)) => &table.get(key)?.node,
            (Value::Table(table), Step::Index(index)) => &table.get(&index.to_string())?.node,
            (Value::List(list), Step::Index(index)) => list.get(*index)?,
            _ => return None,
        };
        below.at(rest)
    }
}

impl fmt::Display for Node {
    /// Writes the value as error messages show it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::String(value) => write!(f, "{value:?}"),
            Value::List(_) => f.write_str("a list"),
            Value::Table(_) => f.write_str("a table"),
        }
    }
}

/// One step down a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// Writes `path` as a config does: `background[0].clock.period`.
pub(crate) fn dotted(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Index(index) => text.push_str(&format!("[{index}]")),
            Step::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(&written(key));
            }
        }
    }
    text
}

/// Writes a key bare if possible, else in quotes, and cuts it to 60 characters.
fn written(key: &str) -> String {
    const LONGEST: usize = 60;
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let short: String = if key.chars().count() > LONGEST {
        key.chars().take(LONGEST).chain("…".chars()).collect()
    } else {
        key.to_owned()
    };
    if !key.is_empty() && key.chars().all(bare) { short } else { format!("{short:?}") }
}

/// Parses a path that [`dotted`] wrote, without quoted keys: `background[0].clock`. Also accepts
/// `background.0.clock`.
pub(crate) fn steps(path: &str) -> Vec<Step> {
    let parts = path.split(['.', '[', ']']).filter(|part| !part.is_empty());
    let step = |part: &str| match part.parse() {
        Ok(index) => Step::Index(index),
        Err(_) => Step::Key(part.to_owned()),
    };
    parts.map(step).collect()
}

/// Returns `text` without line breaks and other control characters, cut to 200 characters.
pub(crate) fn one_line(text: &str) -> String {
    const LONGEST: usize = 200;
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut line: String = text.chars().map(clean).take(LONGEST).collect();
    if text.chars().count() > LONGEST {
        line.push('…');
    }
    line
}
