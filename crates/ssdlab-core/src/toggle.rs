//! A part of a config that can be switched off: `false`, `true`, or a table of settings.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// Settings of a part that may be off.
#[derive(Clone, Debug, PartialEq)]
pub struct Toggle<T>(Option<T>);

impl<T> Toggle<T> {
    /// Switched off.
    pub fn off() -> Toggle<T> {
        Toggle(None)
    }

    /// Switched on with these settings.
    pub fn with(settings: T) -> Toggle<T> {
        Toggle(Some(settings))
    }

    /// The settings, if it is on.
    pub fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

impl<T: Default> Toggle<T> {
    /// Switched on with the default settings.
    pub fn on() -> Toggle<T> {
        Toggle(Some(T::default()))
    }
}

impl<T: Serialize> Serialize for Toggle<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(settings) => settings.serialize(serializer),
            None => serializer.serialize_bool(false),
        }
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Toggle<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Toggle<T>, D::Error> {
        struct Switch<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for Switch<T> {
            type Value = Toggle<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or a table of settings")
            }
            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<Toggle<T>, E> {
                Ok(Toggle(on.then(T::default)))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Toggle<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Toggle::with)
            }
        }
        deserializer.deserialize_any(Switch(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Toggle<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Toggle_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let settings = generator.subschema_for::<T>();
        json_schema!({"anyOf": [{"type": "boolean"}, settings], "x-toggle": true})
    }
}
