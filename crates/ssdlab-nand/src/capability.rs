//! The two forms of a capability: the name of a table, or a list of rates.

use std::fmt;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use crate::ldpc::{LDPC_CAPABILITY, LDPC_DERIVED};

/// Names of the tables. A config holds the rates themselves, even if it was written with a name.
const NAMES: [&str; 2] = ["paper", "derived"];

/// Deserializes the rates from a table's name or from a list.
pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    deserializer.deserialize_any(NameOrRates)
}

/// Returns the schema of both forms.
pub(crate) fn schema(_: &mut SchemaGenerator) -> Schema {
    let rates = json_schema!({"type": "array", "items": {"type": "number"}});
    json_schema!({"anyOf": [{"type": "string", "enum": NAMES}, rates]})
}

/// Visitor for both forms. An untagged enum would lose the message with the expected values.
struct NameOrRates;

impl<'de> Visitor<'de> for NameOrRates {
    type Value = Vec<f64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`paper`, `derived`, or a list of rates")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Vec<f64>, E> {
        match name {
            "paper" => Ok(LDPC_CAPABILITY.to_vec()),
            "derived" => Ok(LDPC_DERIVED.to_vec()),
            _ => Err(E::unknown_variant(name, &NAMES)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, rates: A) -> Result<Vec<f64>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(rates))
    }
}
