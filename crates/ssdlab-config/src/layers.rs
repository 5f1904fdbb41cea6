//! The layers of a config.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use ssdlab_base::{Fault, reason};

use crate::assign::Assignment;
use crate::check::check;
use crate::contradict::contradiction;
use crate::effective::Effective;
use crate::merge::{complete, from_json, merge};
use crate::parse::document;
use crate::report::{Renamed, Reporter};
use crate::schema::Schema;
use crate::tree::{Node, Origin, Sources, Table, Value, steps};

/// The longest config file, in bytes. A drive's config is far shorter, and refusing a much longer
/// file takes seconds.
const MAX_FILE_BYTES: u64 = 128 << 10;

/// The layers of a config. Each overrides the layers before it, key by key.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    layers: Vec<Layer>,
    renamed: Vec<Renamed>,
}

#[derive(Clone, Debug)]
enum Layer {
    Text { name: String, toml: String },
    Json { name: String, json: serde_json::Value },
    Set(Assignment),
}

impl Layers {
    /// Returns a config without layers: the built-in defaults only.
    pub fn new() -> Layers {
        Layers::default()
    }

    /// Adds a table of old names. An old name is an error that states the new name.
    pub fn renamed(mut self, renamed: Renamed) -> Layers {
        self.renamed.push(renamed);
        self
    }

    /// Adds TOML text; error messages call it `name`. [`resolve`](Layers::resolve) reports faults
    /// in it.
    pub fn text(mut self, name: impl Into<String>, toml: impl Into<String>) -> Layers {
        self.layers.push(Layer::Text { name: name.into(), toml: toml.into() });
        self
    }

    /// Adds values that do not come as text, such as those of a program.
    pub fn json(mut self, name: impl Into<String>, json: serde_json::Value) -> Layers {
        self.layers.push(Layer::Json { name: name.into(), json });
        self
    }

    /// Adds a TOML file.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is too long, or is not UTF-8.
    pub fn file(self, path: impl AsRef<Path>) -> Result<Layers, Fault> {
        let text = read_file(path.as_ref())?;
        Ok(self.text(path.as_ref().display().to_string(), text))
    }

    /// Adds one assignment, such as `gc.threshold=5%`: a dotted key, and a TOML value or a bare
    /// word.
    ///
    /// # Errors
    /// Fails on a missing `=`, an empty key, or a key of more than 32 parts.
    /// [`resolve`](Layers::resolve) reports an assignment that contradicts another one within a
    /// choice.
    pub fn set(mut self, argument: &str) -> Result<Layers, Fault> {
        self.layers.push(Layer::Set(Assignment::new(argument)?));
        Ok(self)
    }

    /// Puts the layers of `upper` on top of these.
    pub fn then(mut self, upper: Layers) -> Layers {
        self.layers.extend(upper.layers);
        self
    }

    /// Returns the text that the layers set at `key`, before defaults apply, and a fault at its
    /// place. This serves a key such as `preset`, whose value names layers to put below these.
    ///
    /// # Errors
    /// Fails if a layer is not TOML.
    pub fn peek(&self, key: &str) -> Result<Option<(String, Fault)>, Fault> {
        let schema = Schema::any();
        let mut sources = Sources::new();
        let tree = self.merged(&mut sources, &schema)?;
        Ok(tree.at(&steps(key)).and_then(|node| match &node.value {
            Value::String(text) => Some((text.clone(), sources.fault(node.origin, key).got(node))),
            _ => None,
        }))
    }

    /// Returns the config and the origin of each value.
    ///
    /// # Errors
    /// Returns the first fault of any layer, at its place in that layer.
    pub fn resolve<T>(&self) -> Result<(T, Effective), Fault>
    where
        T: DeserializeOwned + Serialize + JsonSchema + 'static,
    {
        let schema = Schema::of::<T>();
        let mut sources = Sources::new();
        let mut tree = self.merged(&mut sources, &schema)?;
        complete(&mut tree, schema.view());
        let report =
            Reporter { sources: &sources, schema: &schema, renamed: &self.renamed, tree: &tree };
        check(&tree, schema.view()).map_err(|refused| report.refused(refused))?;
        let config = T::deserialize(&tree).map_err(|error| report.fault(error))?;
        let effective = Effective::new(&config, tree, sources, schema)?;
        Ok((config, effective))
    }

    fn merged(&self, sources: &mut Sources, schema: &Schema) -> Result<Node, Fault> {
        let nothing = Node::new(Value::Table(Table::new()), Origin::DEFAULT);
        let mut arguments = Vec::new();
        self.layers.iter().try_fold(nothing, |lower, layer| {
            let upper = layer.read(sources, schema)?;
            if let Layer::Set(_) = layer {
                let is_argument = |origin: Origin| arguments.contains(&origin.layer);
                if let Some((other, choice)) =
                    contradiction(&lower, &upper, schema.view(), &is_argument)
                {
                    let fault = sources.fault(upper.origin, "contradicts another argument");
                    let expected = format!("only settings of \"{choice}\"");
                    return Err(fault.got(sources.label(other)).expected(expected));
                }
                arguments.push(upper.origin.layer);
            }
            Ok(merge(lower, upper, Some(schema.view())))
        })
    }
}

impl Layer {
    fn read(&self, sources: &mut Sources, schema: &Schema) -> Result<Node, Fault> {
        match self {
            Layer::Text { name, toml } => {
                let layer = sources.add_text(name.clone());
                document(toml, layer, sources)
            }
            Layer::Json { name, json } => {
                let origin = Origin::layer(sources.add(name.clone()));
                from_json(json, origin)
                    .map_err(|got| sources.fault(origin, "a value").got(got).expected(SCALARS))
            }
            Layer::Set(assignment) => {
                let origin = Origin::layer(sources.add(assignment.name.clone()));
                assignment.layer(origin, sources, schema.view())
            }
        }
    }
}

const SCALARS: &str = "what TOML can hold: a text, true or false, a number of 64 bits with sign";

/// Reads the text of a config file, which must be UTF-8.
///
/// # Errors
/// Fails if the file cannot be read, is too long, or is not UTF-8.
pub fn read_file(path: &Path) -> Result<String, Fault> {
    let name = &path.display().to_string();
    let unreadable =
        |error: std::io::Error| Fault::new(name, format!("cannot be read: {}", reason(error)));
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let fault = Fault::new(name, "too long");
        return Err(fault.got("more than 128 KiB").expected("a config file"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let bytes = error.into_bytes();
        let text = String::from_utf8_lossy(&bytes[..good]);
        let column = text.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let line = text.matches('\n').count() + 1;
        let fault = Fault::new(name, "not UTF-8").line(line as u64).column(column as u64);
        fault.got(format!("byte 0x{:02x}", bytes[good]))
    })
}
