//! Saves and loads a drive column by column. A file may claim any length for a column. The loader
//! therefore accepts only lengths that the geometry allows, and only up to a number of bytes. A
//! policy chooses the lengths of its columns, so these are limited in bytes alone.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Serialize};
pub use ssdlab_nand::Geometry;

/// A part of a drive that is saved as columns.
pub trait SavedPart: Sized {
    /// Number of columns.
    const COLUMNS: usize;

    /// Writes the columns in order.
    ///
    /// # Errors
    /// If the serializer fails.
    fn write<S: SerializeTuple>(&self, to: &mut S) -> Result<(), S::Error>;

    /// Reads the columns in order.
    ///
    /// # Errors
    /// If a column is missing, exceeds the limits, or holds an impossible value.
    fn read<'de, A: SeqAccess<'de>>(from: &mut A, limits: &Limits<'_>) -> Result<Self, A::Error>;
}

/// The limits of the columns that a file may hold.
#[derive(Debug)]
pub struct Limits<'a> {
    /// The shape of the drive.
    pub geometry: &'a Geometry,
    /// Bytes of memory that all columns may take.
    most: u64,
    /// Bytes of memory that the columns have taken so far.
    taken: Cell<u64>,
    /// Bytes that would have been needed, including the column for which memory did not suffice.
    lacked: Cell<Option<u64>>,
}

impl<'a> Limits<'a> {
    /// Returns the limits of a drive of this shape whose columns may take `bytes` bytes of memory.
    pub fn new(geometry: &'a Geometry, bytes: u64) -> Limits<'a> {
        Limits { geometry, most: bytes, taken: Cell::new(0), lacked: Cell::new(None) }
    }

    /// Returns the bytes that the columns need at least, if they need more than they may take.
    pub fn lacked(&self) -> Option<u64> {
        self.lacked.get()
    }

    /// Returns the number of physical pages.
    pub fn pages(&self) -> usize {
        self.geometry.page_count() as usize
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.geometry.block_count() as usize
    }

    /// Reads a column of at most `most` entries.
    ///
    /// # Errors
    /// If the column is missing or longer, or if memory does not suffice.
    pub fn column<'de, T, A>(&self, from: &mut A, most: usize) -> Result<Vec<T>, A::Error>
    where
        T: Deserialize<'de>,
        A: SeqAccess<'de>,
    {
        self.read(from, most)
    }

    /// Reads a column of a policy, which may have any number of entries.
    ///
    /// # Errors
    /// If the column is missing, or if memory does not suffice.
    pub fn policy_column<'de, T, A>(&self, from: &mut A) -> Result<Vec<T>, A::Error>
    where
        T: Deserialize<'de>,
        A: SeqAccess<'de>,
    {
        self.read(from, usize::MAX)
    }

    fn read<'de, T, A>(&self, from: &mut A, most: usize) -> Result<Vec<T>, A::Error>
    where
        T: Deserialize<'de>,
        A: SeqAccess<'de>,
    {
        let column = Column { most, limits: self, of: PhantomData };
        from.next_element_seed(column)?.ok_or_else(|| A::Error::custom("a column is missing"))
    }

    /// Reserves room for more entries of a full column that claims to have `entries`. The room
    /// grows with the entries that were read, so a false claim takes little memory.
    fn grow<T, E: Error>(&self, column: &mut Vec<T>, entries: usize) -> Result<(), E> {
        let len = column.len();
        let more = (entries - len).min(len.max(self.pages()));
        let need = (more as u64).saturating_mul(size_of::<T>() as u64);
        let taken = self.taken.get().saturating_add(need);
        if taken > self.most || column.try_reserve_exact(more).is_err() {
            self.lacked.set(Some(taken));
            return Err(E::custom("not enough memory for a column"));
        }
        self.taken.set(taken);
        Ok(())
    }
}

/// Reads a single value.
///
/// # Errors
/// If the value is missing or impossible.
pub fn single<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(from: &mut A) -> Result<T, A::Error> {
    from.next_element()?.ok_or_else(|| A::Error::custom("a value is missing"))
}

struct Column<'a, T> {
    most: usize,
    limits: &'a Limits<'a>,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Column<'_, T> {
    type Value = Vec<T>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Vec<T>, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Column<'_, T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a column of at most {} entries", self.most)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Vec<T>, A::Error> {
        let Some(entries) = from.size_hint().filter(|&entries| entries <= self.most) else {
            return Err(A::Error::custom("a column is too long"));
        };
        let mut column = Vec::new();
        // Reads at most as many entries as there is room for, even if the hint was wrong.
        while column.len() < entries {
            if column.len() == column.capacity() {
                self.limits.grow(&mut column, entries)?;
            }
            let Some(entry) = from.next_element()? else { break };
            column.push(entry);
        }
        Ok(column)
    }
}

/// Writes a column.
///
/// # Errors
/// If the serializer fails.
pub fn write<S: SerializeTuple, T: Serialize>(to: &mut S, column: &[T]) -> Result<(), S::Error> {
    to.serialize_element(column)
}
