//! A part of a config that `false` switches off and `true` or a table of settings switches on.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// The settings of a part that may be off.
#[derive(Clone, Debug, PartialEq)]
pub struct Toggle<T>(Option<T>);

impl<T> Toggle<T> {
    /// Returns a part that is off.
    pub fn off() -> Toggle<T> {
        Toggle(None)
    }

    /// Returns a part that is on with these settings.
    pub fn with(settings: T) -> Toggle<T> {
        Toggle(Some(settings))
    }

    /// Returns the settings, if the part is on.
    pub fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }

    /// Returns the same part with other settings, if it is on.
    #[must_use]
    pub fn map(&self, settings: impl FnOnce(&T) -> T) -> Toggle<T> {
        Toggle(self.get().map(settings))
    }
}

impl<T> Default for Toggle<T> {
    fn default() -> Toggle<T> {
        Toggle::off()
    }
}

impl<T: Default> Toggle<T> {
    /// Returns a part that is on with the default settings.
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

#[cfg(test)]
mod tests {
    use schemars::schema_for;

    use super::*;

    #[derive(Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, JsonSchema)]
    struct Settings {
        depth: u32,
    }

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, JsonSchema)]
    struct Config {
        part: Toggle<Settings>,
    }

    fn read(text: &str) -> Result<Toggle<Settings>, String> {
        let config: Result<Config, _> = toml::from_str(&format!("part = {text}"));
        config.map(|config| config.part).map_err(|error| error.to_string())
    }

    #[test]
    fn a_part_is_off_on_or_as_it_is_set() {
        assert_eq!(read("false"), Ok(Toggle::off()));
        assert_eq!(read("true"), Ok(Toggle::with(Settings { depth: 0 })));
        assert_eq!(read("true"), Ok(Toggle::on()));
        assert_eq!(read("{ depth = 3 }"), Ok(Toggle::with(Settings { depth: 3 })));
        for part in [Toggle::off(), Toggle::with(Settings { depth: 3 })] {
            let config = Config { part };
            let text = toml::to_string(&config).unwrap();
            assert_eq!(toml::from_str(&text), Ok(config));
        }
    }

    #[test]
    fn an_error_says_what_can_be_written() {
        let error = read("7").unwrap_err();
        assert!(error.contains("true, false or a table of settings"), "{error}");
    }

    #[test]
    fn its_schema_stands_in_place_and_allows_a_switch_or_settings() {
        let schema = schema_for!(Config);
        let part = schema.pointer("/properties/part").unwrap();
        assert_eq!(part.pointer("/anyOf/0/type").unwrap(), "boolean");
        assert!(part.pointer("/anyOf/1").is_some());
        assert_eq!(part.pointer("/x-toggle").unwrap(), true);
        let alone = schema_for!(Toggle<Settings>);
        assert_eq!(alone.get("title").unwrap(), "Toggle_Settings");
    }
}
