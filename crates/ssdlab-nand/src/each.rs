//! A config value that is one value for all items, or a list with one value for each.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{
    F64Deserializer, I64Deserializer, SeqAccessDeserializer, StrDeserializer, U64Deserializer,
};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::refusal::Refusal;

/// One value for all items, or a list with one for each: `"50us"` or `["40us", "60us", "90us"]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Each<T>(Vec<T>);

impl<T: Copy> Each<T> {
    /// Returns the same value for all items.
    pub fn same(value: T) -> Each<T> {
        Each(vec![value])
    }

    /// Returns one value for each item, in order. `values` must not be empty.
    pub fn list(values: impl IntoIterator<Item = T>) -> Each<T> {
        Each(values.into_iter().collect())
    }

    /// Returns the values as declared: one, or one for each item.
    pub fn declared(&self) -> &[T] {
        &self.0
    }

    /// Returns the value of item `index`. Beyond the end of the list, the last value holds.
    pub fn of(&self, index: usize) -> T {
        self.0[index.min(self.0.len() - 1)]
    }

    /// Refuses a list whose length is neither 1 nor `count`. `whom` names the items in the error.
    pub(crate) fn check(&self, key: &str, count: usize, whom: &str) -> Result<(), Refusal> {
        if self.0.len() == 1 || self.0.len() == count {
            Ok(())
        } else {
            let expected = match count {
                1 => "one value".into(),
                _ => format!("one value, or {count} values (one for each {whom})"),
            };
            Err(Refusal::new(key, format!("{} values", self.0.len()), expected))
        }
    }
}

impl<T: Serialize> Serialize for Each<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            list => list.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Each<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Each<T>, D::Error> {
        deserializer.deserialize_any(OneOrList(PhantomData))
    }
}

/// Visitor for both forms. An untagged enum would lose the message with the expected values.
struct OneOrList<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrList<T> {
    type Value = Each<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value, or a list with one for each")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Each<T>, E> {
        Ok(Each(vec![T::deserialize(StrDeserializer::new(text))?]))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Each<T>, E> {
        Ok(Each(vec![T::deserialize(F64Deserializer::new(value))?]))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Each<T>, E> {
        Ok(Each(vec![T::deserialize(I64Deserializer::new(value))?]))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Each<T>, E> {
        Ok(Each(vec![T::deserialize(U64Deserializer::new(value))?]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Each<T>, A::Error> {
        let values = Vec::<T>::deserialize(SeqAccessDeserializer::new(list))?;
        if values.is_empty() { Err(A::Error::invalid_length(0, &self)) } else { Ok(Each(values)) }
    }
}

impl<T: JsonSchema> JsonSchema for Each<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Each_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]})
    }
}
