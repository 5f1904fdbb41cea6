//! Reads the facts about a position in a config from the JSON Schema of its type.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde_json::Value as Json;

use crate::tree::Step;

/// The JSON Schema of a config type, shared by all configs of that type.
#[derive(Clone, Debug)]
pub(crate) struct Schema(Arc<Json>);

/// A cache of the schemas of all types requested so far, some hundred kilobytes each.
static KNOWN: Mutex<BTreeMap<TypeId, Schema>> = Mutex::new(BTreeMap::new());

/// A position in a schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    root: &'a Json,
    /// The schema that the property declares, with its own doc comment and default.
    declared: &'a Json,
    /// The schema that `declared` refers to.
    here: &'a Json,
}

/// A name that may stand at a position, and its settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant<'a> {
    pub(crate) name: &'a str,
    pub(crate) doc: &'a str,
    /// The settings, if the name may stand as the one key of a table.
    pub(crate) settings: Option<View<'a>>,
}

impl Schema {
    pub(crate) fn of<T: JsonSchema + 'static>() -> Schema {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Schema(Arc::new(schemars::schema_for!(T).to_value()));
        known.entry(TypeId::of::<T>()).or_insert_with(new).clone()
    }

    /// Returns the schema that accepts any value.
    pub(crate) fn any() -> Schema {
        Schema(Arc::new(Json::Bool(true)))
    }

    pub(crate) fn json(&self) -> &Json {
        &self.0
    }

    pub(crate) fn view(&self) -> View<'_> {
        View::new(&self.0, &self.0)
    }
}

impl<'a> View<'a> {
    fn new(root: &'a Json, declared: &'a Json) -> View<'a> {
        let mut here = declared;
        // References and optional values may wrap one another. A schema that only refers to itself
        // has no meaning, so no valid schema reaches the bound.
        for _ in 0..16 {
            let inner = refers_to(root, here).or_else(|| only_alternative(here));
            match inner {
                Some(inner) => here = inner,
                None => break,
            }
        }
        View { root, declared, here }
    }

    fn of(self, declared: &'a Json) -> View<'a> {
        View::new(self.root, declared)
    }

    /// Returns the doc comment of the field, or else of its type.
    pub(crate) fn doc(self) -> &'a str {
        let text = |json: &'a Json| json.get("description").and_then(Json::as_str);
        text(self.declared).or_else(|| text(self.here)).unwrap_or("")
    }

    /// Returns the default, if the key is optional and has one.
    pub(crate) fn default(self) -> Option<&'a Json> {
        self.declared.get("default").filter(|json| !json.is_null())
    }

    /// Returns whether the key `name` is required.
    pub(crate) fn requires(self, name: &str) -> bool {
        let required = self.here.get("required").and_then(Json::as_array);
        required.is_some_and(|names| names.iter().any(|required| required == name))
    }

    /// Returns whether this position accepts any text, and only text.
    pub(crate) fn is_text(self) -> bool {
        let free = self.quantity().is_none() && self.variants().is_empty();
        free && self.kind() == Some("string")
    }

    /// Returns whether both are the same place in the schema.
    pub(crate) fn same(self, other: View<'_>) -> bool {
        std::ptr::eq(self.here, other.here)
    }

    /// Returns the written form of a quantity, such as `"a time with its unit, .."`.
    pub(crate) fn quantity(self) -> Option<&'a str> {
        self.here.get("x-quantity").and_then(Json::as_str)
    }

    /// Returns the JSON type, ignoring `null`.
    pub(crate) fn kind(self) -> Option<&'a str> {
        match self.here.get("type")? {
            Json::String(kind) => Some(kind),
            Json::Array(kinds) => {
                kinds.iter().filter_map(Json::as_str).find(|kind| *kind != "null")
            }
            _ => None,
        }
    }

    /// Returns the keyword `key` of this schema.
    pub(crate) fn keyword(self, key: &str) -> Option<&'a Json> {
        self.here.get(key)
    }

    /// Returns the keys of a table and their schemas.
    pub(crate) fn properties(self) -> impl Iterator<Item = (&'a str, View<'a>)> {
        let properties = self.here.get("properties").and_then(Json::as_object);
        let all = properties.into_iter().flatten();
        all.map(move |(name, schema)| (name.as_str(), self.of(schema)))
    }

    /// Returns the schema of the key `name`: a declared key, or any key if the table is a map.
    pub(crate) fn property(self, name: &str) -> Option<View<'a>> {
        let declared = self.here.get("properties").and_then(|all| all.get(name));
        declared.map(|schema| self.of(schema)).or_else(|| self.map_values())
    }

    /// Returns the schema of the values of a map with free keys.
    pub(crate) fn map_values(self) -> Option<View<'a>> {
        let values = self.here.get("additionalProperties").filter(|json| json.is_object());
        values.map(|schema| self.of(schema))
    }

    /// Returns the schema of the elements of a list.
    pub(crate) fn items(self) -> Option<View<'a>> {
        self.here.get("items").filter(|json| json.is_object()).map(|schema| self.of(schema))
    }

    /// Returns the element schema of the list that may replace a single value here.
    pub(crate) fn items_of_a_list(self) -> Option<View<'a>> {
        alternatives(self.here)?.find_map(|form| self.of(form).items())
    }

    /// Returns the named choices at this position, or none if it is not a choice.
    pub(crate) fn variants(self) -> Vec<Variant<'a>> {
        self.named().unwrap_or_default()
    }

    /// Returns the choice `name`, if this position accepts it.
    pub(crate) fn variant(self, name: &str) -> Option<Variant<'a>> {
        self.variants().into_iter().find(|variant| variant.name == name)
    }

    fn named(self) -> Option<Vec<Variant<'a>>> {
        let mut found: Vec<Variant<'a>> = Vec::new();
        if let Some(names) = self.here.get("enum").and_then(Json::as_array) {
            add_names(&mut found, names, self.here)?;
            return Some(found);
        }
        for form in alternatives(self.here)? {
            if let Some(name) = form.get("const") {
                add_names(&mut found, std::slice::from_ref(name), form)?;
            } else if let Some(names) = form.get("enum").and_then(Json::as_array) {
                add_names(&mut found, names, form)?;
            } else {
                let (name, settings) = one_key(form)?;
                let settings = Some(self.of(settings));
                match found.iter_mut().find(|variant| variant.name == name) {
                    // The same key twice is the tag of another kind of enum, not the name of a
                    // choice.
                    Some(known) if known.settings.is_some() => return None,
                    Some(known) => known.settings = settings,
                    None => found.push(Variant { name, doc: doc(form), settings }),
                }
            }
        }
        Some(found)
    }

    /// Returns the schema at `path`. The name of a choice is a step like any other.
    pub(crate) fn at(self, path: &[Step]) -> Option<View<'a>> {
        path.iter().try_fold(self, |view, step| match step {
            Step::Index(_) => view.items(),
            Step::Key(key) => view.below(key),
        })
    }

    /// Returns the schema under `key`: of a table's key, or of a choice's settings.
    pub(crate) fn below(self, key: &str) -> Option<View<'a>> {
        match self.variant(key) {
            Some(variant) => variant.settings,
            None => self.property(key),
        }
    }

    /// Returns the accepted values in the words of an error message.
    pub(crate) fn expected(self) -> Option<String> {
        if self.declared.get("x-toggle").is_some() {
            return Some("true, false or a table".to_owned());
        }
        if let Some(quantity) = self.quantity() {
            return Some(quantity.to_owned());
        }
        let variants = self.variants();
        if !variants.is_empty() {
            let names: Vec<&str> = variants.iter().map(|variant| variant.name).collect();
            return Some(one_of(&names));
        }
        Some(match self.kind()? {
            "integer" => format!("a whole number{}", self.range()),
            "number" => format!("a number{}", self.range()),
            "boolean" => "true or false".to_owned(),
            "string" => "a string".to_owned(),
            "array" => format!("a list{}", self.length()),
            "object" => "a table".to_owned(),
            other => other.to_owned(),
        })
    }

    /// Returns the accepted values where values of several kinds may stand, such as one or a list.
    pub(crate) fn expected_forms(self) -> Option<String> {
        let mut words: Vec<String> = Vec::new();
        for form in alternatives(self.here)?.map(|form| self.of(form)) {
            let element = form.items().and_then(|items| items.expected());
            words.push(match element {
                Some(element) if words.contains(&element) => "a list of these".to_owned(),
                Some(element) => format!("a list, each {element}"),
                None => form.expected()?,
            });
        }
        Some(words.join(", or "))
    }

    fn range(self) -> String {
        let bound = |key| {
            let declared = self.here.get(key).filter(|json| json.is_number());
            declared.map(Json::to_string).or_else(|| self.type_bound(key).map(str::to_owned))
        };
        let mut words = String::new();
        for (key, word) in [
            ("minimum", "from"),
            ("exclusiveMinimum", "above"),
            ("maximum", "to"),
            ("exclusiveMaximum", "below"),
        ] {
            if let Some(bound) = bound(key) {
                let word = if key == "maximum" && words.is_empty() { "up to" } else { word };
                words.push_str(&format!(" {word} {bound}"));
            }
        }
        words
    }

    /// Returns the bounds of the integer types whose schema does not state them.
    fn type_bound(self, key: &str) -> Option<&'static str> {
        match (self.here.get("format")?.as_str()?, key) {
            ("uint32", "maximum") => Some("4294967295"),
            ("int32", "minimum") => Some("-2147483648"),
            ("int32", "maximum") => Some("2147483647"),
            _ => None,
        }
    }

    fn length(self) -> String {
        let bound = |key| self.here.get(key).and_then(Json::as_u64);
        match (bound("minItems"), bound("maxItems")) {
            (None, None) => String::new(),
            (Some(min), None) => format!(" of at least {min}"),
            (None, Some(max)) => format!(" of at most {max}"),
            (Some(min), Some(max)) if min == max => format!(" of {min}"),
            (Some(min), Some(max)) => format!(" of {min} to {max}"),
        }
    }
}

/// Lists `names` for an error message.
pub(crate) fn one_of(names: &[&str]) -> String {
    match names {
        [only] => (*only).to_owned(),
        _ => format!("one of {}", names.join(", ")),
    }
}

fn doc(json: &Json) -> &str {
    json.get("description").and_then(Json::as_str).unwrap_or("")
}

fn refers_to<'a>(root: &'a Json, here: &Json) -> Option<&'a Json> {
    let pointer = here.get("$ref")?.as_str()?.strip_prefix('#')?;
    root.pointer(pointer)
}

/// Returns the alternatives of a schema, ignoring `null`. For settings with an on/off switch
/// (`x-toggle`), returns only the settings.
fn alternatives(here: &Json) -> Option<impl Iterator<Item = &Json>> {
    let all = here.get("oneOf").or_else(|| here.get("anyOf"))?.as_array()?;
    let toggle = here.get("x-toggle").is_some();
    Some(all.iter().filter(move |form| match form.get("type").and_then(Json::as_str) {
        Some("null") => false,
        Some("boolean") => !toggle,
        _ => true,
    }))
}

/// Returns the type inside an optional value, or the only part of an `allOf`.
fn only_alternative(here: &Json) -> Option<&Json> {
    let mut all: Vec<&Json> = match here.get("allOf").and_then(Json::as_array) {
        Some(all) => all.iter().collect(),
        None => alternatives(here)?.collect(),
    };
    let only = all.pop().filter(|_| all.is_empty())?;
    // A choice with a single name is still a choice, not a wrapper.
    if only.get("const").is_some() || one_key(only).is_some() { None } else { Some(only) }
}

/// Returns the name and the settings of a table that must have exactly one key.
fn one_key(form: &Json) -> Option<(&str, &Json)> {
    let properties = form.get("properties")?.as_object()?;
    let required = form.get("required")?.as_array()?;
    let (name, settings) = properties.iter().next()?;
    let sole = properties.len() == 1 && required.len() == 1 && required[0] == name.as_str();
    sole.then_some((name.as_str(), settings))
}

fn add_names<'a>(found: &mut Vec<Variant<'a>>, names: &'a [Json], form: &'a Json) -> Option<()> {
    for name in names.iter().filter(|name| !name.is_null()) {
        let name = name.as_str()?;
        if found.iter().all(|known| known.name != name) {
            found.push(Variant { name, doc: doc(form), settings: None });
        }
    }
    Some(())
}
