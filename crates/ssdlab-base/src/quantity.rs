//! Quantities in a config: a number with its unit, such as `"45us"`, `"16KiB"` or `"333MB/s"`.
//! A share is a number from 0 to 1 or a percentage: `0.07` or `"7%"`.
//!
//! A number without a unit is an error, so no value is ambiguous.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::units::{Bytes, BytesPerSecond, Nanos};

/// The spelling of a unit, and the number of base units in it.
type Unit = (&'static str, f64);

const TIME_UNITS: &[Unit] = &[
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
    ("h", 3_600e9),
    ("d", 86_400e9),
];
const SIZE_UNITS: &[Unit] = &[
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
];
const RATE_UNITS: &[Unit] = &[
    ("B/s", 1.0),
    ("kB/s", 1e3),
    ("KB/s", 1e3),
    ("MB/s", 1e6),
    ("GB/s", 1e9),
    ("KiB/s", 1024.0),
    ("MiB/s", 1_048_576.0),
    ("GiB/s", 1_073_741_824.0),
];

/// Reads a number that is followed by one of `units`. Returns the value in base units, rounded to
/// the nearest; it must be at least `least`.
fn parse(text: &str, units: &[Unit], least: u64, expected: &'static str) -> Result<u64, String> {
    let text = text.trim();
    let wrong = || format!("invalid value {text:?}, expected {expected}");
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_' || c == '-'))
        .ok_or_else(wrong)?;
    let (digits, unit) = text.split_at(split);
    let number: f64 = digits.replace('_', "").parse().map_err(|_| wrong())?;
    let unit = unit.trim();
    let unknown = || {
        let known: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        format!("{}, in one of {}", wrong(), known.join(", "))
    };
    let (_, factor) = units.iter().find(|(name, _)| *name == unit).ok_or_else(unknown)?;
    let value = number * factor;
    // Beyond 2^53, a double cannot distinguish neighboring integers.
    if (least as f64..=9.2e18).contains(&value.round()) {
        Ok(value.round() as u64)
    } else {
        Err(wrong())
    }
}

/// Formats `value` with the first of the `preferred` units that divides it, else in base units.
fn print(value: u64, units: &[Unit], preferred: &[&str]) -> String {
    let named = |name: &str| units.iter().find(|(spelling, _)| *spelling == name);
    let divides = |factor: f64| value != 0 && value.is_multiple_of(factor as u64);
    let best = preferred.iter().filter_map(|name| named(name)).find(|unit| divides(unit.1));
    let (name, factor) = best.copied().unwrap_or(units[0]);
    format!("{}{name}", value / factor as u64)
}

macro_rules! quantity {
    ($type:ident, $units:ident, $least:literal, $preferred:expr, $expected:literal, $get:ident, $make:path) => {
        impl FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                parse(text, $units, $least, $expected).map($make)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&print(self.$get(), $units, $preferred))
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let units: Vec<&str> = $units.iter().map(|(name, _)| *name).collect();
                let pattern = format!("^[0-9][0-9._]* *({})$", units.join("|"));
                json_schema!({"type": "string", "pattern": pattern, "x-quantity": $expected})
            }
        }
    };
}

quantity!(
    Nanos,
    TIME_UNITS,
    0,
    &["d", "h", "min", "s", "ms", "us"],
    "a time with its unit, such as \"45us\", \"3.5ms\" or \"90d\"",
    as_ns,
    Nanos::from_ns
);
quantity!(
    Bytes,
    SIZE_UNITS,
    0,
    &["TiB", "GiB", "MiB", "KiB", "GB", "MB", "kB"],
    "a size with its unit, such as \"16KiB\", \"128GiB\" or \"50MB\"",
    get,
    Bytes::new
);
quantity!(
    BytesPerSecond,
    RATE_UNITS,
    1,
    &["GB/s", "MB/s", "kB/s"],
    "a rate above 0 with its unit, such as \"333MB/s\" or \"1.6GB/s\"",
    get,
    BytesPerSecond::new
);

/// A part of a whole, from 0 to 1. A config writes `0.07` or `"7%"`.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Share(f64);

const SHARE_EXPECTED: &str = "a share from 0 to 1, or a percentage such as \"7%\"";

impl Share {
    /// Returns the share `value`. Panics if `value` is not between 0 and 1.
    pub const fn new(value: f64) -> Share {
        assert!(value >= 0.0 && value <= 1.0, "a share lies between 0 and 1");
        Share(value)
    }

    /// Returns the share as a number from 0 to 1.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Returns this share of `whole`, rounded to the nearest whole number.
    pub fn of(self, whole: u64) -> u64 {
        (self.0 * whole as f64).round() as u64
    }

    fn checked(value: f64) -> Option<Share> {
        (0.0..=1.0).contains(&value).then_some(Share(value))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl FromStr for Share {
    type Err = String;
    fn from_str(text: &str) -> Result<Share, String> {
        let text = text.trim();
        let (number, scale) = match text.strip_suffix('%') {
            Some(percent) => (percent.trim_end(), 100.0),
            None => (text, 1.0),
        };
        let parsed = number.parse::<f64>().ok().and_then(|value| Share::checked(value / scale));
        parsed.ok_or_else(|| format!("invalid value {text:?}, expected {SHARE_EXPECTED}"))
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Share, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Share;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(SHARE_EXPECTED)
            }
            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Share, E> {
                Share::checked(value).ok_or_else(|| {
                    E::custom(format!("invalid value {value}, expected {SHARE_EXPECTED}"))
                })
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Share, E> {
                self.visit_f64(value as f64)
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Share, E> {
                self.visit_f64(value as f64)
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Share, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Number)
    }
}

impl JsonSchema for Share {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Share".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [
            {"type": "number", "minimum": 0, "maximum": 1},
            {"type": "string", "pattern": "^[0-9][0-9.]* *%?$"}
        ], "x-quantity": SHARE_EXPECTED})
    }
}

/// Reads a finite number and refuses NaN and infinity.
///
/// # Errors
/// Fails if the value is not a number or not finite.
pub fn finite<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let value = f64::deserialize(deserializer)?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(D::Error::custom(format!("invalid value {value}, expected a finite number")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_sizes_rates_and_shares_are_read_with_their_units() {
        assert_eq!("45us".parse(), Ok(Nanos::from_us(45)));
        assert_eq!("3.5 ms".parse(), Ok(Nanos::from_us(3_500)));
        assert_eq!("90d".parse(), Ok(Nanos::from_ns(90 * 86_400 * 1_000_000_000)));
        assert_eq!("16KiB".parse(), Ok(Bytes::new(16_384)));
        assert_eq!("50MB".parse(), Ok(Bytes::new(50_000_000)));
        assert_eq!("1.6GB/s".parse(), Ok(BytesPerSecond::new(1_600_000_000)));
        assert_eq!("7%".parse::<Share>().unwrap().get(), 0.07);
    }

    #[test]
    fn a_number_without_a_unit_or_out_of_range_is_refused() {
        for wrong in ["45", "us", "", "-1us", "1e3us", "4 parsecs", "99999999999d"] {
            assert!(wrong.parse::<Nanos>().is_err(), "{wrong}");
        }
        for wrong in ["107%", "-0.1", "NaN", "inf", "seven"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back_the_same(ns in 0u64..(1 << 53)) {
            let span = Nanos::from_ns(ns);
            prop_assert_eq!(span.to_string().parse(), Ok(span));
            let size = Bytes::new(ns);
            prop_assert_eq!(size.to_string().parse(), Ok(size));
        }
    }
}
