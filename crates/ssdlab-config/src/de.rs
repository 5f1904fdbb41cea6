//! Reads a config type from a [`Node`]. Every error names its place in the tree.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::tree::{Entry, Node, Origin, Step, Value};

/// An error and the node that caused it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Error {
    pub(crate) kind: Kind,
    /// The path, from the innermost step to the outermost.
    pub(crate) reversed: Vec<Step>,
    /// The origin of the innermost node, known once the error has left it.
    pub(crate) origin: Option<Origin>,
}

/// The ways in which a value can be wrong.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Kind {
    /// A wrong type, or a value out of range. `own` tells whether the type's message names the
    /// expected values.
    Unfit {
        got: String,
        expected: String,
        own: bool,
    },
    UnknownKey(String),
    UnknownVariant {
        name: String,
        names: &'static [&'static str],
    },
    Missing(&'static str),
    Duplicate(&'static str),
    Other(String),
}

impl Error {
    fn new(kind: Kind) -> Error {
        Error { kind, reversed: Vec::new(), origin: None }
    }

    fn unfit(got: String, expected: String) -> Error {
        Error::new(Kind::Unfit { got, expected, own: false })
    }

    fn at(mut self, origin: Origin) -> Error {
        self.origin.get_or_insert(origin);
        self
    }

    fn under(mut self, step: Step, origin: Origin) -> Error {
        self.reversed.push(step);
        self.at(origin)
    }

    /// Returns the path of the node, from the outermost step to the innermost.
    pub(crate) fn path(&self) -> Vec<Step> {
        self.reversed.iter().rev().cloned().collect()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Error {
        let message = message.to_string();
        // Types that parse their own text report errors in this form.
        let parts =
            message.strip_prefix("invalid value ").and_then(|m| m.rsplit_once(", expected "));
        match parts {
            None => Error::new(Kind::Other(message)),
            Some((got, expected)) => Error::new(Kind::Unfit {
                got: got.trim_end_matches(':').to_owned(),
                expected: expected.to_owned(),
                own: true,
            }),
        }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Error {
        Error::unfit(shown(found), expected.to_string())
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Error {
        Error::unfit(shown(found), expected.to_string())
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Error {
        Error::unfit(format!("{length} elements"), expected.to_string())
    }

    fn unknown_variant(name: &str, names: &'static [&'static str]) -> Error {
        Error::new(Kind::UnknownVariant { name: name.to_owned(), names })
    }

    fn unknown_field(name: &str, _: &'static [&'static str]) -> Error {
        Error::new(Kind::UnknownKey(name.to_owned()))
    }

    fn missing_field(name: &'static str) -> Error {
        Error::new(Kind::Missing(name))
    }

    fn duplicate_field(name: &'static str) -> Error {
        Error::new(Kind::Duplicate(name))
    }
}

fn shown(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Float(value) => format!("{value:?}"),
        Unexpected::Str(text) => format!("{text:?}"),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = match &self.value {
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Integer(value) => visitor.visit_i64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::List(list) => {
                let mut elements = Elements { list, next: 0 };
                visitor.visit_seq(&mut elements).and_then(|value| match list.get(elements.next) {
                    None => Ok(value),
                    Some(_) => {
                        let expected = format!("a list of {}", elements.next);
                        Err(Error::unfit(format!("a list of {}", list.len()), expected))
                    }
                })
            }
            Value::Table(table) => {
                visitor.visit_map(Entries { entries: table.iter(), current: None })
            }
        };
        value.map_err(|error| error.at(self.origin))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let access = match &self.value {
            Value::String(name) => Named { name, key: self.origin, settings: None },
            Value::Table(table) if table.len() == 1 => {
                let (name, entry) = table.iter().next().expect("one entry");
                Named { name, key: entry.key, settings: Some(&entry.node) }
            }
            _ => {
                let expected = format!("one of {}", names.join(", "));
                return Err(Error::unfit(self.to_string(), expected).at(self.origin));
            }
        };
        visitor.visit_enum(access).map_err(|error| error.at(self.origin))
    }

    /// Accepts a table only: serde would also take a list of the field values.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match &self.value {
            Value::List(_) => {
                Err(Error::unfit(self.to_string(), "a table".to_owned()).at(self.origin))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    /// Serde ignores a value only if its key is unknown, so this is an unknown key.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::new(Kind::UnknownKey(String::new())))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier
    }
}

struct Elements<'de> {
    list: &'de [Node],
    next: usize,
}

impl<'de> SeqAccess<'de> for &mut Elements<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let index = self.next;
        let Some(node) = self.list.get(index) else { return Ok(None) };
        self.next += 1;
        let value = seed.deserialize(node);
        value.map(Some).map_err(|error| error.under(Step::Index(index), node.origin))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.list.len() - self.next)
    }
}

struct Entries<'de> {
    entries: std::collections::btree_map::Iter<'de, String, Entry>,
    current: Option<(&'de String, &'de Entry)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        self.current = self.entries.next();
        let Some((name, entry)) = self.current else { return Ok(None) };
        seed.deserialize(key(name)).map(Some).map_err(|error| error.at(entry.key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (name, entry) = self.current.expect("a key before its value");
        seed.deserialize(&entry.node).map_err(|error| match error.kind {
            // The ignored value raised the error, so its key is the unknown one.
            Kind::UnknownKey(unnamed) if unnamed.is_empty() && error.reversed.is_empty() => {
                Error::new(Kind::UnknownKey(name.clone())).at(entry.key)
            }
            _ => error.under(Step::Key(name.clone()), entry.node.origin),
        })
    }
}

fn key(name: &str) -> StrDeserializer<'_, Error> {
    name.into_deserializer()
}

/// One variant of a serde enum, as the config names it.
struct Named<'de> {
    name: &'de str,
    key: Origin,
    settings: Option<&'de Node>,
}

impl<'de> EnumAccess<'de> for Named<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        match seed.deserialize(key(self.name)) {
            Ok(variant) => Ok((variant, self)),
            Err(error) => Err(error.at(self.key)),
        }
    }
}

impl<'de> Named<'de> {
    fn settings<T>(&self, read: impl FnOnce(&'de Node) -> Result<T, Error>) -> Result<T, Error> {
        let Some(node) = self.settings else {
            return Err(Error::unfit(format!("{:?}", self.name), "a table".to_owned()));
        };
        read(node).map_err(|error| error.under(Step::Key(self.name.to_owned()), node.origin))
    }
}

impl<'de> VariantAccess<'de> for Named<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.settings {
            None => Ok(()),
            Some(node) => {
                let expected = format!("the bare name {:?}", self.name);
                let kind = Kind::Unfit { got: node.to_string(), expected, own: true };
                Err(Error::new(kind).at(node.origin))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        self.settings(|node| seed.deserialize(node))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.settings(|node| node.deserialize_any(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.settings(|node| node.deserialize_struct("", &[], visitor))
    }
}
