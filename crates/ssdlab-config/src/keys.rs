//! Lists every key of a config type, with the facts from its schema and its doc comment.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::Value as Json;

use crate::effective::inline;
use crate::schema::{Schema, View};

/// One key of a config.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// The path as a config writes it: `gc.threshold`. List elements are `background[]`. Values of
    /// a map with free keys are `tenants.<name>`. Settings of a choice are `scheduler.dlv.window`.
    pub path: String,
    /// The doc comment on one line, without the sentences that `source` and the default repeat.
    pub doc: String,
    /// The accepted values, in words: `a whole number from 1`, `one of fifo, read_first`.
    pub expected: String,
    /// The kind of a quantity (`time`, `size`, `rate`, `share`, ..), if the value carries a unit.
    pub quantity: Option<String>,
    /// The default, written as TOML; `None` for required keys and for optional keys.
    pub default: Option<String>,
    /// The behavior without the key, in words, if no value stands for it: the text after
    /// `Default:` in the doc comment.
    pub otherwise: Option<String>,
    /// Whether the key is required in its table.
    pub required: bool,
    /// The source of the value: the text after `Source:` in the doc comment, or `assumed`.
    pub source: Option<String>,
    /// The names and docs of the choices, if this key is a choice or a list of choices.
    pub choices: Vec<(String, String)>,
}

/// Returns every key of `T`, with tables in alphabetical order.
pub fn keys<T: JsonSchema + 'static>() -> Vec<Key> {
    let schema = Schema::of::<T>();
    let mut keys = Vec::new();
    visit(schema.view(), &mut |place| {
        if place.leaf {
            keys.push(place.key());
        }
    });
    keys
}

/// Returns the keys of `T` whose doc comment names no source. Choices need none: a name is no
/// number.
pub fn unsourced<T: JsonSchema + 'static>() -> Vec<String> {
    let figures = keys::<T>().into_iter().filter(|key| key.choices.is_empty());
    figures.filter(|key| key.source.is_none()).map(|key| key.path).collect()
}

/// Returns the optional keys that have no default and whose doc comment does not say what holds
/// without them.
pub fn without_default<T: JsonSchema + 'static>() -> Vec<String> {
    let optional = keys::<T>().into_iter().filter(|key| !key.required && key.default.is_none());
    optional.filter(|key| key.otherwise.is_none()).map(|key| key.path).collect()
}

/// Returns a Markdown section for each table of `T`, with one row per key.
pub fn markdown<T: JsonSchema + 'static>() -> String {
    let keys = keys::<T>();
    let first = |key: &Key| key.path.split(['.', '[']).next().unwrap_or_default().to_owned();
    let mut sections: BTreeMap<String, Vec<&Key>> = BTreeMap::new();
    for key in &keys {
        let alone = keys.iter().filter(|other| first(other) == first(key)).count() == 1;
        let section = if alone && first(key) == key.path { String::new() } else { first(key) };
        sections.entry(section).or_default().push(key);
    }
    let mut text = String::new();
    for (section, keys) in sections {
        let title = match section.as_str() {
            "" => "Keys without a table".to_owned(),
            table => format!("`{table}`"),
        };
        text.push_str(&format!("\n## {title}\n\n"));
        text.push_str("| key | what | value | default | source |\n|---|---|---|---|---|\n");
        keys.iter().for_each(|key| text.push_str(&key.row()));
    }
    text.trim_start().to_owned()
}

impl Key {
    fn row(&self) -> String {
        let mut what = self.doc.clone();
        for (name, doc) in &self.choices {
            what.push_str(&format!("<br>`{name}`: {doc}"));
        }
        let default = match (&self.default, &self.otherwise) {
            (Some(default), _) => format!("`{default}`"),
            (None, Some(value)) if !value.contains([' ', '`']) => format!("`{value}`"),
            (None, Some(words)) => words.clone(),
            (None, None) if self.required => "required".to_owned(),
            (None, None) => "none".to_owned(),
        };
        let source = self.source.as_deref().unwrap_or("");
        let cells = [&format!("`{}`", self.path), &what, &self.expected, &default, source];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        format!("| {} |\n", cells.join(" | "))
    }
}

/// Returns the paths of all keys and tables whose last part is `name`.
pub(crate) fn named(schema: View<'_>, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    visit(schema, &mut |place| {
        if place.path.rsplit('.').next() == Some(name) {
            found.push(place.path.to_owned());
        }
    });
    found
}

/// A key or a table of the schema.
struct Place<'p, 'a> {
    path: &'p str,
    schema: View<'a>,
    required: bool,
    /// Whether this is a key, not a table of keys.
    leaf: bool,
}

impl Place<'_, '_> {
    fn key(&self) -> Key {
        let (doc, source) = sourced(self.schema.doc());
        let default = self.schema.default().map(inline_json);
        let (doc, otherwise) = defaulted(doc, default.as_deref());
        let of_list = self.schema.items().filter(|_| self.schema.variants().is_empty());
        let element = of_list.unwrap_or(self.schema);
        let expected = element.expected().or_else(|| element.expected_forms());
        let mut expected = expected.unwrap_or_else(|| "any value".to_owned());
        if of_list.is_some() {
            let list = self.schema.expected().unwrap_or_default();
            expected = format!("{list}, each {expected}");
        }
        let choices = element.variants();
        let choices = choices.iter().map(|one| (one.name.to_owned(), sourced(one.doc).0));
        Key {
            path: self.path.to_owned(),
            doc,
            expected,
            quantity: element.quantity().and_then(|q| q.split(' ').nth(1)).map(str::to_owned),
            default,
            otherwise,
            required: self.required,
            source,
            choices: choices.collect(),
        }
    }
}

fn inline_json(json: &Json) -> String {
    toml::Value::try_from(json).map_or_else(|_| json.to_string(), |value| inline(&value))
}

/// Returns a doc comment on one line, and the source that its last sentence names.
fn sourced(doc: &str) -> (String, Option<String>) {
    let doc = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    let starts_sentence = |at: usize| at == 0 || doc[..at].trim_end().ends_with(['.', ')', ':']);
    if let Some(at) = doc.rfind("Source:").filter(|at| starts_sentence(*at)) {
        let source = doc[at + "Source:".len()..].trim().trim_end_matches('.').to_owned();
        return (doc[..at].trim_end().to_owned(), Some(source).filter(|text| !text.is_empty()));
    }
    if let Some(at) = doc.rfind("Assumed").filter(|at| starts_sentence(*at)) {
        let source = doc[at..].trim().trim_end_matches('.').replacen("Assumed", "assumed", 1);
        return (doc[..at].trim_end().to_owned(), Some(source));
    }
    (doc, None)
}

/// Returns a doc comment without its sentence `Default: ..`, and the text of that sentence if the
/// key has no `default`. The sentence stays if it says more than the default of the key.
fn defaulted(doc: String, default: Option<&str>) -> (String, Option<String>) {
    const START: &str = "Default: ";
    let starts_sentence = |at: &usize| *at == 0 || doc[..*at].ends_with(". ");
    let Some(at) = doc.rfind(START).filter(starts_sentence) else { return (doc, None) };
    let rest = &doc[at + START.len()..];
    let (text, after) = rest.split_once(". ").unwrap_or((rest.trim_end_matches('.'), ""));
    let adds = default.is_some_and(|value| !same_value(text, value));
    if adds {
        return (doc, None);
    }
    let otherwise = default.is_none().then(|| text.to_owned());
    (format!("{}{after}", &doc[..at]).trim_end().to_owned(), otherwise)
}

/// Returns whether `text` of a doc comment is the value `toml`, perhaps as a percentage.
fn same_value(text: &str, toml: &str) -> bool {
    let [text, toml] = [text, toml].map(|value| value.replace(['`', '"', ',', ' '], ""));
    let number = |value: &str| match value.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().map(|percent| percent / 100.0),
        None => value.parse::<f64>(),
    };
    match (number(&text), number(&toml)) {
        (Ok(text), Ok(toml)) => text == toml,
        _ => text == toml,
    }
}

fn visit<'a>(root: View<'a>, seen: &mut impl FnMut(&Place<'_, 'a>)) {
    table("", root, &mut Vec::new(), seen);
}

/// Visits the keys of a table. `above` holds the enclosing tables, since a type may contain itself.
fn table<'a>(
    path: &str,
    schema: View<'a>,
    above: &mut Vec<View<'a>>,
    seen: &mut impl FnMut(&Place<'_, 'a>),
) {
    if above.iter().any(|view| view.same(schema)) {
        return;
    }
    above.push(schema);
    for (name, property) in schema.properties() {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        position(&path, property, schema.requires(name), above, seen);
    }
    if let Some(values) = schema.map_values() {
        position(&format!("{path}.<name>"), values, false, above, seen);
    }
    above.pop();
}

fn position<'a>(
    path: &str,
    schema: View<'a>,
    required: bool,
    above: &mut Vec<View<'a>>,
    seen: &mut impl FnMut(&Place<'_, 'a>),
) {
    let (element, below) = match schema.items().filter(|_| schema.variants().is_empty()) {
        Some(items) => (items, format!("{path}[]")),
        None => (schema, path.to_owned()),
    };
    let variants = element.variants();
    let holds_keys = element.properties().next().is_some() || element.map_values().is_some();
    let leaf = below != path || !holds_keys || !variants.is_empty();
    seen(&Place { path, schema, required, leaf });
    for variant in &variants {
        if let Some(settings) = variant.settings {
            table(&format!("{below}.{}", variant.name), settings, above, seen);
        }
    }
    if variants.is_empty() && holds_keys {
        table(&below, element, above, seen);
    }
}
