//! Named choices: an enum where each variant has a name and its own config.
//! A config writes a choice as the bare name (`scheduler = "fifo"`), or as a table with that one
//! name (`scheduler = { dlv = { .. } }`).
//!
//! Serde's derive refuses the bare name for a variant that has settings. Its untagged and
//! internally tagged enums lose the position of an error. [`choice!`](crate::choice!) accepts both
//! forms for every variant, reads the settings in place, and adds the names to the schema.

use std::collections::BTreeSet;
use std::fmt;
use std::iter::empty;
use std::marker::PhantomData;

use schemars::{Schema, json_schema};
use serde::de::value::MapDeserializer;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

#[doc(hidden)]
pub use {schemars, serde};

/// Declares an enum of named choices, where each choice has its own config.
///
/// Every config implements `Clone`, `Debug`, `PartialEq`, `Serialize`, `Deserialize` and
/// `JsonSchema`. The config of the default choice also implements `Default`. A config without
/// settings is `struct Nothing {}` (with braces); a file writes its choice as the bare name.
///
/// The enum gets `Clone`, `Debug`, `PartialEq`, `Default`, `Serialize`, `Deserialize`,
/// `JsonSchema`, the constant `NAMES` and the method `name`.
///
/// ```
/// # use ssdlab_base::choice;
/// # use {schemars::JsonSchema, serde::{Deserialize, Serialize}};
/// #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
/// pub struct FifoConfig {}
///
/// #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
/// #[serde(default)]
/// pub struct ReadFirstConfig {
///     /// Writes that may be overtaken before one goes. Assumed.
///     patience: u32,
/// }
/// # impl Default for ReadFirstConfig { fn default() -> Self { ReadFirstConfig { patience: 8 } } }
///
/// choice! {
///     /// Which request goes next.
///     pub enum SchedulerChoice {
///         /// First come, first served.
///         fifo => Fifo(FifoConfig),
///         /// Reads before writes.
///         read_first => ReadFirst(ReadFirstConfig),
///     } default fifo
/// }
/// assert_eq!(SchedulerChoice::NAMES, ["fifo", "read_first"]);
/// assert_eq!(SchedulerChoice::default().name(), "fifo");
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $doc:literal])*
        $vis:vis enum $Enum:ident {
            $($(#[doc = $note:literal])* $name:ident => $Variant:ident($Config:ty)),+ $(,)?
        } default $default:ident
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        $vis enum $Enum {
            $($(#[doc = $note])* $Variant($Config),)+
        }

        impl $Enum {
            /// The names under which these choices are written.
            $vis const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// Returns the name under which a config writes this choice.
            $vis fn name(&self) -> &'static str {
                match self {
                    $($Enum::$Variant(_) => stringify!($name),)+
                }
            }
        }

        impl ::std::default::Default for $Enum {
            #[allow(dead_code)]
            fn default() -> Self {
                // One constructor per name: a default that is not a choice does not compile.
                $(fn $name(config: $Config) -> $Enum {
                    $Enum::$Variant(config)
                })+
                $default(::std::default::Default::default())
            }
        }

        impl $crate::choice::Named for $Enum {
            fn names() -> &'static [&'static str] {
                Self::NAMES
            }

            fn bare<E: $crate::choice::serde::de::Error>(
                name: &'static str,
            ) -> ::std::result::Result<Self, E> {
                match name {
                    $(stringify!($name) => $crate::choice::unset().map($Enum::$Variant),)+
                    other => ::std::result::Result::Err(E::unknown_variant(other, Self::NAMES)),
                }
            }

            fn with<'de, A: $crate::choice::serde::de::MapAccess<'de>>(
                name: &'static str,
                settings: &mut A,
            ) -> ::std::result::Result<Self, A::Error> {
                match name {
                    $(stringify!($name) => settings.next_value().map($Enum::$Variant),)+
                    other => ::std::result::Result::Err(
                        $crate::choice::serde::de::Error::unknown_variant(other, Self::NAMES)
                    ),
                }
            }
        }

        impl<'de> $crate::choice::serde::Deserialize<'de> for $Enum {
            fn deserialize<D: $crate::choice::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                $crate::choice::read(deserializer)
            }
        }

        impl $crate::choice::serde::Serialize for $Enum {
            fn serialize<S: $crate::choice::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                match self {
                    $($Enum::$Variant(config) => $crate::choice::write(
                        serializer, stringify!($Enum), stringify!($name), config,
                    ),)+
                }
            }
        }

        impl $crate::choice::schemars::JsonSchema for $Enum {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($Enum).into()
            }
            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($Enum)).into()
            }
            fn json_schema(
                generator: &mut $crate::choice::schemars::SchemaGenerator,
            ) -> $crate::choice::schemars::Schema {
                let choices = ::std::vec![$((
                    stringify!($name),
                    $crate::choice::doc(&[$($note),*]),
                    generator.subschema_for::<$Config>(),
                )),+];
                $crate::choice::schema($crate::choice::doc(&[$($doc),*]), choices)
            }
        }
    };
}

/// Implemented by [`choice!`](crate::choice!): makes a choice from its name.
#[doc(hidden)]
pub trait Named: Sized {
    /// Returns the names of all choices.
    fn names() -> &'static [&'static str];

    /// Returns the choice `name` when no setting is given.
    fn bare<E: Error>(name: &'static str) -> Result<Self, E>;

    /// Returns the choice `name` with the settings that the map holds next.
    fn with<'de, A: MapAccess<'de>>(name: &'static str, settings: &mut A)
    -> Result<Self, A::Error>;
}

/// Returns a config from its defaults alone; fails at the first key that has no default.
#[doc(hidden)]
pub fn unset<'de, T: Deserialize<'de>, E: Error>() -> Result<T, E> {
    T::deserialize(MapDeserializer::new(empty::<(&str, &str)>()))
}

/// Reads a choice in either form.
#[doc(hidden)]
pub fn read<'de, T: Named, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(Forms(PhantomData))
}

struct Forms<T>(PhantomData<T>);

impl<'de, T: Named> Visitor<'de> for Forms<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of {}", T::names().join(", "))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
        T::bare(known(name, T::names())?)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let Some(name) = map.next_key_seed(Name(T::names()))? else {
            return Err(A::Error::invalid_length(0, &self));
        };
        let choice = T::with(name, &mut map)?;
        match map.next_key_seed(Name(T::names()))? {
            None => Ok(choice),
            Some(_) => Err(A::Error::invalid_length(2, &self)),
        }
    }
}

/// Reads one of these names.
struct Name(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of {}", self.0.join(", "))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<&'static str, E> {
        known(name, self.0)
    }
}

fn known<E: Error>(name: &str, names: &'static [&'static str]) -> Result<&'static str, E> {
    let found = names.iter().find(|known| **known == name);
    found.copied().ok_or_else(|| E::unknown_variant(name, names))
}

/// Writes a choice: the bare name if its config has no settings, else the table.
#[doc(hidden)]
pub fn write<T: serde::Serialize, S: serde::Serializer>(
    serializer: S,
    choice: &'static str,
    name: &'static str,
    config: &T,
) -> Result<S::Ok, S::Error> {
    match size_of::<T>() {
        0 => serializer.serialize_unit_variant(choice, 0, name),
        _ => serializer.serialize_newtype_variant(choice, 0, name, config),
    }
}

/// Returns the text of doc comments, with each line trimmed.
#[doc(hidden)]
pub fn doc(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    lines.join("\n").trim().to_owned()
}

/// Returns the schema of a choice: each name bare, and each name as the one key of a table.
#[doc(hidden)]
pub fn schema(doc: String, choices: Vec<(&'static str, String, Schema)>) -> Schema {
    let names: BTreeSet<&str> = choices.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names.len(), choices.len(), "two choices of one name");
    let mut forms: Vec<Schema> = Vec::new();
    for (name, note, settings) in choices {
        let mut bare = json_schema!({"type": "string", "const": name});
        let mut table = json_schema!({
            "type": "object",
            "properties": {name: settings},
            "required": [name],
            "additionalProperties": false,
        });
        if !note.is_empty() {
            bare.insert("description".to_owned(), note.clone().into());
            table.insert("description".to_owned(), note.into());
        }
        forms.extend([bare, table]);
    }
    let mut schema = json_schema!({"oneOf": forms});
    if !doc.is_empty() {
        schema.insert("description".to_owned(), doc.into());
    }
    schema
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    struct Plain {}

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    struct Timed {
        #[serde(default)]
        limit: u32,
        wait: u32,
    }

    choice! {
        /// Which goes first.
        enum Scheduler {
            /// First come,
            /// first served.
            fifo => Fifo(Plain),
            timed => Timed(Timed),
        } default fifo
    }

    fn read(json: &str) -> Result<Scheduler, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn both_forms_are_read_for_every_choice() {
        assert_eq!(read(r#""fifo""#), Ok(Scheduler::default()));
        assert_eq!(read(r#"{"fifo": {}}"#), Ok(Scheduler::default()));
        let timed = Scheduler::Timed(Timed { limit: 0, wait: 3 });
        assert_eq!(read(r#"{"timed": {"wait": 3}}"#), Ok(timed));
    }

    #[test]
    fn the_bare_name_of_a_choice_with_a_required_key_names_the_key() {
        assert_eq!(read(r#""timed""#).unwrap_err(), "missing field `wait` at line 1 column 7");
    }

    #[test]
    fn an_unknown_choice_is_refused_with_the_known_names() {
        let unknown = "unknown variant `fifa`, expected `fifo` or `timed`";
        assert!(read(r#""fifa""#).unwrap_err().starts_with(unknown));
        assert!(read(r#"{"fifa": {}}"#).unwrap_err().starts_with(unknown));
        for wrong in ["{}", "3", "[]", r#"{"fifo": {}, "timed": {"wait": 3}}"#] {
            assert!(read(wrong).unwrap_err().contains("one of fifo, timed"), "{wrong}");
        }
    }

    #[test]
    fn only_a_choice_without_settings_is_written_as_its_name() {
        let json = |choice: &Scheduler| serde_json::to_string(choice).unwrap();
        assert_eq!(json(&Scheduler::default()), r#""fifo""#);
        let timed = Scheduler::Timed(Timed { limit: 0, wait: 3 });
        assert_eq!(json(&timed), r#"{"timed":{"limit":0,"wait":3}}"#);
        assert_eq!(timed.name(), "timed");
    }

    #[test]
    fn the_docs_reach_the_schema() {
        let schema = schemars::schema_for!(Scheduler);
        let schema = schema.as_value();
        assert_eq!(schema["description"], "Which goes first.");
        assert_eq!(schema["oneOf"][0]["const"], "fifo");
        assert_eq!(schema["oneOf"][1]["description"], "First come,\nfirst served.");
    }
}
