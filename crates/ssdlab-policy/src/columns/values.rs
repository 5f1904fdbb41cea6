//! The values of a column, one type of number for each column.

use serde::Serialize;
use serde::de::{Error, SeqAccess};

use crate::saved::Limits;

/// A type of value that a column may have.
trait Value: Copy {
    /// Returns whether the value is allowed in a column whose largest value is `most`.
    fn may_be(self, most: u64) -> bool;
}

macro_rules! values {
    ($($number:literal $of:ident $Type:ty: $doc:literal, |$value:ident, $most:ident| $may_be:expr;)+) => {
        /// The values of a column.
        #[derive(Debug)]
        pub enum Values<'a> {
            $(#[doc = $doc] $of(&'a mut [$Type])),+
        }

        /// The values of a column in a state file.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum SavedValues {
            $(#[doc = $doc] $of(Vec<$Type>)),+
        }

        impl Values<'_> {
            /// Returns the number of the values' type in a state file, and the number of values.
            pub(super) fn shape(&self) -> (u8, usize) {
                match self { $(Values::$of(values) => ($number, values.len())),+ }
            }

            /// Returns the bits of a value.
            pub(super) fn bits(&self) -> u64 {
                match self { $(Values::$of(_) => 8 * size_of::<$Type>() as u64),+ }
            }

            pub(super) fn saved(&self) -> SavedValues {
                match self { $(Values::$of(values) => SavedValues::$of(values.to_vec())),+ }
            }

            /// Replaces the values by saved ones of the same shape.
            pub(super) fn restore(&mut self, saved: &SavedValues) {
                match (self, saved) {
                    $((Values::$of(own), SavedValues::$of(values)) => own.copy_from_slice(values),)+
                    _ => unreachable!("values of the same shape"),
                }
            }
        }

        impl SavedValues {
            /// See [`Values`].
            pub(super) fn shape(&self) -> (u8, usize) {
                match self { $(SavedValues::$of(values) => ($number, values.len())),+ }
            }

            pub(super) fn may_be(&self, most: u64) -> bool {
                match self {
                    $(SavedValues::$of(values) => values.iter().all(|value| value.may_be(most))),+
                }
            }

            /// Reads values of the type with this number.
            pub(super) fn read<'de, A: SeqAccess<'de>>(
                kind: u8,
                from: &mut A,
                limits: &Limits<'_>,
            ) -> Result<SavedValues, A::Error> {
                match kind {
                    $($number => limits.policy_column(from).map(SavedValues::$of),)+
                    _ => Err(A::Error::custom("a column has values of no type")),
                }
            }
        }

        $(impl Value for $Type {
            fn may_be(self, $most: u64) -> bool {
                let $value = self;
                $may_be
            }
        }

        impl<'a> From<&'a mut [$Type]> for Values<'a> {
            fn from(values: &'a mut [$Type]) -> Values<'a> {
                Values::$of(values)
            }
        }

        impl<'a> From<&'a mut Vec<$Type>> for Values<'a> {
            fn from(values: &'a mut Vec<$Type>) -> Values<'a> {
                Values::$of(values)
            }
        }

        impl<'a> From<&'a mut Box<[$Type]>> for Values<'a> {
            fn from(values: &'a mut Box<[$Type]>) -> Values<'a> {
                Values::$of(values)
            }
        }

        impl<'a> From<&'a mut $Type> for Values<'a> {
            fn from(value: &'a mut $Type) -> Values<'a> {
                Values::$of(std::slice::from_mut(value))
            }
        })+
    };
}
values! {
    0 U8 u8: "Bytes.", |value, most| u64::from(value) <= most;
    1 U16 u16: "Numbers of 16 bits.", |value, most| u64::from(value) <= most;
    2 U32 u32: "Numbers of 32 bits.", |value, most| u64::from(value) <= most;
    3 U64 u64: "Numbers of 64 bits.", |value, most| value <= most;
    4 F64 f64: "Numbers of floating point.", |value, _most| !value.is_nan();
    5 F32 f32: "Numbers of floating point of 32 bits.", |value, _most| !value.is_nan();
    6 I64 i64: "Numbers of 64 bits, of either sign.", |value, most| u64::try_from(value).is_ok_and(|value| value <= most) || value < 0;
}
