//! Columns: the declared state of a policy.
//!
//! The drive counts the memory of a controller from the declaration, and state files carry the
//! values. A policy returns its columns in the same order each time. The drive restores a policy
//! from a state file only if the file has all of its columns, each with the same type and length.

use std::fmt;

use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{SerializeSeq, SerializeTuple, Serializer};

use crate::PolicyContext;
use crate::saved::{self, Limits, SavedPart};

mod values;

pub use values::{SavedValues, Values};

/// A part of a policy's state: a name, its values, and the memory that a controller needs for them.
#[derive(Debug)]
pub struct Column<'a> {
    name: &'static str,
    per: Per,
    bits: Bits,
    most: u64,
    values: Option<Values<'a>>,
}

/// The things that a column describes. It has one value for each, or the same number for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Per {
    /// Each logical page, with or without the translation pages of a map that is cached in part.
    Page,
    /// Each block.
    Block,
    /// Each layer of each block. The policy sets the number of layers.
    Layer,
    /// Each plane.
    Plane,
    /// The drive: a scalar, a random stream, or a table of a size of its own.
    Drive,
}

impl Per {
    /// Returns the numbers of things that a column of a drive may describe.
    fn counts(self, context: &PolicyContext, host_pages: u32) -> [usize; 2] {
        match self {
            Per::Page => [context.logical_pages as usize, host_pages as usize],
            Per::Block | Per::Layer => [context.geometry.block_count() as usize; 2],
            Per::Plane => [context.geometry.plane_count() as usize; 2],
            Per::Drive => [1; 2],
        }
    }
}

/// The bits that a controller needs for a column.
#[derive(Clone, Copy, Debug)]
enum Bits {
    /// For each value, as many as its largest value needs.
    Fitting,
    /// For each value.
    Each(u64),
    /// For the whole column.
    All(u64),
    /// For each block that is reserved.
    Reserved(u64),
}

impl<'a> Column<'a> {
    /// Returns a column. A controller needs as many bits for each value as the largest allowed one,
    /// or as the type if any value is allowed.
    pub fn new(name: &'static str, per: Per, values: impl Into<Values<'a>>) -> Column<'a> {
        let values = Some(values.into());
        Column { name, per, bits: Bits::Fitting, most: u64::MAX, values }
    }

    /// Returns a column that only counts memory, in bits; state files do not carry it.
    pub fn counted(name: &'static str, bits: u64) -> Column<'a> {
        Column { name, per: Per::Drive, bits: Bits::All(bits), most: u64::MAX, values: None }
    }

    /// Counts no memory for the column: only the simulator needs it, or every controller has it.
    #[must_use]
    pub fn uncounted(self) -> Column<'a> {
        Column { bits: Bits::All(0), ..self }
    }

    /// Sets the bits that a controller needs for each value.
    #[must_use]
    pub fn bits(self, each: u64) -> Column<'a> {
        Column { bits: Bits::Each(each), ..self }
    }

    /// Sets the bits that a controller needs for all values together.
    #[must_use]
    pub fn bits_in_all(self, all: u64) -> Column<'a> {
        Column { bits: Bits::All(all), ..self }
    }

    /// Sets the bits that a controller needs for each block that is reserved.
    #[must_use]
    pub fn bits_per_reserved_block(self, each: u64) -> Column<'a> {
        Column { bits: Bits::Reserved(each), ..self }
    }

    /// Sets the largest allowed value. The drive refuses a state file with a larger one.
    #[must_use]
    pub fn up_to(self, most: u64) -> Column<'a> {
        Column { most, ..self }
    }

    /// Returns the bits that a controller needs for the column, with `reserved_blocks` blocks
    /// reserved.
    fn metadata_bits(&self, reserved_blocks: u64) -> u64 {
        let count = self.values.as_ref().map_or(0, |values| values.shape().1 as u64);
        match self.bits {
            Bits::Fitting => count * self.fitting_bits(),
            Bits::Each(each) => each * count,
            Bits::All(all) => all,
            Bits::Reserved(each) => each * reserved_blocks,
        }
    }

    /// Returns the bits of the largest allowed value, or of the type if any value is allowed.
    fn fitting_bits(&self) -> u64 {
        let of_type = self.values.as_ref().map_or(0, Values::bits);
        of_type.min((u64::BITS - self.most.leading_zeros()).into())
    }

    /// Checks that the column has the same number of values for each thing that it describes.
    ///
    /// # Errors
    /// The column's name and its number of values.
    pub fn check(&self, context: &PolicyContext, host_pages: u32) -> Result<(), String> {
        let (name, per) = (self.name, self.per);
        let Some((_, values)) = self.values.as_ref().map(Values::shape) else { return Ok(()) };
        let counts = per.counts(context, host_pages);
        if counts.iter().any(|count| values.is_multiple_of(*count)) {
            return Ok(());
        }
        Err(format!("{name}: {values} values for {} of {per:?}", counts[0]))
    }

    /// Returns whether a state file carries the values.
    pub fn is_saved(&self) -> bool {
        self.values.is_some()
    }

    /// Returns a copy of the values; `None` if a state file does not carry them.
    fn saved(&self) -> Option<SavedValues> {
        self.values.as_ref().map(Values::saved)
    }

    /// Returns whether saved values have the same number and type.
    fn has_shape_of(&self, saved: &SavedValues) -> bool {
        self.values.as_ref().is_some_and(|values| values.shape() == saved.shape())
    }
}

/// Returns the bits that a controller needs, by column name, with `reserved_blocks` blocks
/// reserved.
pub fn metadata_bits<'a>(
    columns: impl IntoIterator<Item = Column<'a>>,
    reserved_blocks: u64,
) -> Vec<(&'static str, u64)> {
    let mut sums: Vec<(&'static str, u64)> = Vec::new();
    for column in columns {
        let bits = column.metadata_bits(reserved_blocks);
        match sums.iter_mut().find(|(name, _)| *name == column.name) {
            Some((_, sum)) => *sum += bits,
            None => sums.push((column.name, bits)),
        }
    }
    sums
}

/// The columns of a drive's policies in a state file, each with the policy's place and its own
/// name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedColumns(Vec<SavedColumn>);

/// A column in a state file.
#[derive(Clone, Debug, PartialEq)]
struct SavedColumn {
    key: String,
    values: SavedValues,
}

/// The largest number of columns in a state file, and of letters in the key of a column.
const MAX_COLUMNS: usize = 4096;
const MAX_KEY_BYTES: usize = 256;

impl SavedColumns {
    /// Saves the columns of the policy at a place.
    pub fn add(&mut self, place: &str, columns: &[Column]) {
        for (at, column) in columns.iter().enumerate() {
            let key = key(place, at, column);
            self.0.extend(column.saved().map(|values| SavedColumn { key, values }));
        }
    }

    /// Restores the columns of the policy at a place. Returns whether the state file has all of
    /// them.
    ///
    /// # Errors
    /// If a value is above the largest of its column.
    pub fn restore(&self, place: &str, columns: &mut [Column]) -> Result<bool, String> {
        let mut found = Vec::new();
        for (at, column) in columns.iter().enumerate().filter(|(_, column)| column.is_saved()) {
            let key = key(place, at, column);
            let Some(saved) = self.0.iter().find(|saved| saved.key == key) else {
                return Ok(false);
            };
            if !column.has_shape_of(&saved.values) {
                return Ok(false);
            }
            if !saved.values.may_be(column.most) {
                return Err(format!("{key}: a value exceeds the maximum {}", column.most));
            }
            found.push((at, &saved.values));
        }
        for (at, values) in &found {
            columns[*at].values.iter_mut().for_each(|own| own.restore(values));
        }
        Ok(!found.is_empty())
    }
}

fn key(place: &str, at: usize, column: &Column) -> String {
    format!("{place}/{at}/{}", column.name)
}

impl Serialize for SavedColumn {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut to = to.serialize_tuple(3)?;
        saved::write(&mut to, self.key.as_bytes())?;
        to.serialize_element(&self.values.shape().0)?;
        to.serialize_element(&self.values)?;
        to.end()
    }
}

impl SavedPart for SavedColumns {
    const COLUMNS: usize = 1;

    fn write<S: SerializeTuple>(&self, to: &mut S) -> Result<(), S::Error> {
        to.serialize_element(self)
    }

    fn read<'de, A: SeqAccess<'de>>(from: &mut A, limits: &Limits<'_>) -> Result<Self, A::Error> {
        let columns = from.next_element_seed(All(limits))?;
        columns.ok_or_else(|| A::Error::custom("a column is missing"))
    }
}

impl Serialize for SavedColumns {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut to = to.serialize_seq(Some(self.0.len()))?;
        self.0.iter().try_for_each(|column| to.serialize_element(column))?;
        to.end()
    }
}

struct All<'a>(&'a Limits<'a>);

impl<'de> DeserializeSeed<'de> for All<'_> {
    type Value = SavedColumns;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<SavedColumns, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for All<'_> {
    type Value = SavedColumns;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the columns of policies")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<SavedColumns, A::Error> {
        let mut columns = Vec::new();
        while let Some(column) = from.next_element_seed(One(self.0))? {
            if columns.len() == MAX_COLUMNS {
                return Err(A::Error::custom("there are too many columns"));
            }
            columns.push(column);
        }
        Ok(SavedColumns(columns))
    }
}

struct One<'a>(&'a Limits<'a>);

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = SavedColumn;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<SavedColumn, D::Error> {
        from.deserialize_tuple(3, self)
    }
}

impl<'de> Visitor<'de> for One<'_> {
    type Value = SavedColumn;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a column of a policy")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<SavedColumn, A::Error> {
        let limits = self.0;
        let key = String::from_utf8(limits.column(&mut from, MAX_KEY_BYTES)?);
        let key = key.map_err(|_| A::Error::custom("a column has no name"))?;
        let kind: u8 = saved::single(&mut from)?;
        let values = SavedValues::read(kind, &mut from, limits)?;
        Ok(SavedColumn { key, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A policy that counts pages and blocks.
    #[derive(Clone, Debug, PartialEq)]
    struct Counts {
        pages: Vec<u8>,
        mean: f64,
    }

    impl Counts {
        fn columns(&mut self) -> Vec<Column<'_>> {
            vec![
                Column::new("pages", Per::Page, &mut self.pages).bits(3).up_to(6),
                Column::counted("table", 50),
                Column::new("mean", Per::Drive, &mut self.mean).bits_per_reserved_block(2),
            ]
        }
    }

    fn saved() -> SavedColumns {
        let mut saved = SavedColumns::default();
        saved.add("read/counts", &Counts { pages: vec![1, 6, 3], mean: 2.5 }.columns());
        saved
    }

    fn restored(place: &str, mut into: Counts, saved: &SavedColumns) -> Result<Counts, String> {
        saved.restore(place, &mut into.columns()).map(|_| into)
    }

    const PLACE: &str = "read/counts";

    #[test]
    fn a_policy_gets_back_all_of_its_columns_or_none() {
        let blank = |pages| Counts { pages: vec![0; pages], mean: 0.0 };
        let full = Counts { pages: vec![1, 6, 3], mean: 2.5 };
        assert_eq!(restored(PLACE, blank(3), &saved()), Ok(full));
        assert_eq!(restored(PLACE, blank(4), &saved()), Ok(blank(4)), "of another drive");
        assert_eq!(restored("read/others", blank(3), &saved()), Ok(blank(3)));
        let mut short = saved();
        short.0.pop();
        assert_eq!(restored(PLACE, blank(3), &short), Ok(blank(3)), "one column is missing");
        let mut other = saved();
        other.0[0].values = SavedValues::U16(vec![1, 6, 3]);
        assert_eq!(restored(PLACE, blank(3), &other), Ok(blank(3)), "of another type");
    }

    #[test]
    fn a_value_that_cannot_be_is_refused() {
        let blank = Counts { pages: vec![0; 3], mean: 0.0 };
        for values in [SavedValues::U8(vec![1, 7, 3]), SavedValues::U8(vec![255; 3])] {
            let mut wrong = saved();
            wrong.0[0].values = values;
            let error = restored(PLACE, blank.clone(), &wrong).unwrap_err();
            assert_eq!(error, "read/counts/0/pages: a value exceeds the maximum 6");
        }
        let mut wrong = saved();
        wrong.0[1].values = SavedValues::F64(vec![f64::NAN]);
        assert!(restored(PLACE, blank, &wrong).is_err());
    }

    #[test]
    fn a_column_of_another_length_than_its_drive_is_found() {
        let context = PolicyContext::plain(crate::testing::SMALL, 1);
        let check =
            |values| Column::new("ages", Per::Block, &mut vec![0u8; values]).check(&context, 16);
        assert_eq!([check(0), check(4), check(8)], [Ok(()), Ok(()), Ok(())]);
        assert_eq!(check(6), Err("ages: 6 values for 4 of Block".to_owned()));
    }

    #[test]
    fn the_memory_follows_from_the_declaration() {
        let mut counts = Counts { pages: vec![0; 5], mean: 0.0 };
        let bits = metadata_bits(counts.columns(), 7);
        assert_eq!(bits, [("pages", 15), ("table", 50), ("mean", 14)]);
        let twice = counts.clone().columns().len();
        let mut other = counts.clone();
        let both = counts.columns().into_iter().chain(other.columns());
        assert_eq!(metadata_bits(both, 0)[..twice], [("pages", 30), ("table", 100), ("mean", 0)]);
    }

    #[test]
    fn a_column_counts_its_memory_unless_it_says_that_it_needs_none() {
        let bits = |column: Column| column.metadata_bits(0);
        let (mut bytes, mut words) = ([0u8; 5], [0u32; 5]);
        assert_eq!(bits(Column::new("any", Per::Block, &mut bytes[..])), 5 * 8);
        assert_eq!(bits(Column::new("few", Per::Block, &mut words[..]).up_to(4)), 5 * 3);
        assert_eq!(bits(Column::new("none", Per::Block, &mut words[..]).uncounted()), 0);
    }
}
