//! A config as a tree of which every value and every key knows where it was written.

use std::collections::BTreeMap;
use std::fmt;

use ssdlab_base::Fault;

/// How deep tables and lists may nest: far beyond any config, far below what the stack holds.
pub(crate) const DEPTH_MAX: usize = 32;

/// Where something was written: a layer, by its place in [`Sources`], and a position in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Origin {
    pub(crate) layer: u32,
    /// Counted from 1; 0 in a layer without lines, such as an argument.
    pub(crate) line: u32,
    /// Counted from 1 in characters.
    pub(crate) column: u32,
}

impl Origin {
    /// The defaults that the config type declares.
    pub(crate) const DEFAULT: Origin = Origin::layer(0);

    /// The layer as a whole.
    pub(crate) const fn layer(layer: u32) -> Origin {
        Origin { layer, line: 0, column: 0 }
    }
}

/// What the layers are called: their files, their arguments.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    names: Vec<String>,
    /// The last layer that is a whole text: what is in no layer is missing from that.
    text: Option<u32>,
}

impl Sources {
    pub(crate) fn new() -> Sources {
        Sources { names: vec!["built-in default".to_owned()], text: None }
    }

    /// Adds a layer; its number.
    pub(crate) fn add(&mut self, name: String) -> u32 {
        self.names.push(one_line(&name));
        self.names.len() as u32 - 1
    }

    /// Adds a layer that is a whole text; its number.
    pub(crate) fn add_text(&mut self, name: String) -> u32 {
        let layer = self.add(name);
        self.text = Some(layer);
        layer
    }

    /// A fault that no layer has a place for.
    pub(crate) fn fault_of_whole(&self, what: impl Into<String>) -> Fault {
        match self.text {
            Some(layer) => self.fault(Origin::layer(layer), what),
            None => Fault::new("config", what),
        }
    }

    /// A fault at `origin`.
    pub(crate) fn fault(&self, origin: Origin, what: impl Into<String>) -> Fault {
        let fault = Fault::new(self.names[origin.layer as usize].as_str(), what);
        match origin.line {
            0 => fault,
            line => fault.line(line.into()).column(origin.column.into()),
        }
    }

    /// `origin` as a listing names it.
    pub(crate) fn label(&self, origin: Origin) -> String {
        let name = &self.names[origin.layer as usize];
        match origin.line {
            0 => name.clone(),
            line => format!("{name}:{line}:{}", origin.column),
        }
    }
}

/// A value and where it was written.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
    /// This value replaced what lower layers said and is not to be merged with it.
    pub(crate) fresh: bool,
}

/// What a config is made of.
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

/// Keys, where they were written, and their values.
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

    /// The node at `path`, if the tree has one.
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
    /// As an error message says what was found.
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

/// `path` as it is written: `background[0].clock.period`.
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

/// A key as it is written: bare if it can be, else in quotes; never longer than a line bears.
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

/// The path that [`dotted`] wrote, quoted keys aside: `background[0].clock`, also
/// `background.0.clock`.
pub(crate) fn steps(path: &str) -> Vec<Step> {
    let parts = path.split(['.', '[', ']']).filter(|part| !part.is_empty());
    let step = |part: &str| match part.parse() {
        Ok(index) => Step::Index(index),
        Err(_) => Step::Key(part.to_owned()),
    };
    parts.map(step).collect()
}

/// `text` without what would break a line, and no longer than a line bears.
pub(crate) fn one_line(text: &str) -> String {
    const LONGEST: usize = 200;
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut line: String = text.chars().map(clean).take(LONGEST).collect();
    if text.chars().count() > LONGEST {
        line.push('…');
    }
    line
}
