//! Checks that memory suffices for a drive.

use std::fmt;

use ssdlab_base::memory::{Lacking, Left, Limit, left};
use ssdlab_core::drive::memory::Memory;

/// Bytes of address space that must remain free besides a drive. Stacks, buffers and lists need
/// them, and the areas that the C library reserves for each of a run's threads.
const SPARE: u64 = (32 << 20) + 3 * (64 << 20);

/// Selects one kind of need: resident, reserved or table bytes.
pub(crate) type PartOf = fn(&Memory) -> u64;

/// A lack of memory for a drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shortage {
    pub(crate) lacking: Lacking,
    /// The kind of need that exceeds the limit.
    pub(crate) of: PartOf,
}

/// Returns the first kind of need that exceeds its limit.
pub(crate) fn lacks(left: &Left, need: &Memory) -> Option<Shortage> {
    let kinds: [(_, PartOf); 3] = [
        (left.resident, |memory| memory.resident),
        (left.reserved, |memory| memory.reserved + SPARE),
        (left.table, |memory| memory.table),
    ];
    kinds.into_iter().find_map(|(left, of)| {
        let (left, need) = (left?, of(need));
        (need > left.bytes).then_some(Shortage { lacking: Lacking { need, left }, of })
    })
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lacking.fmt(f)
    }
}

/// Bytes for measuring a trace, besides those for its pages. Measured.
const MEASURED: u64 = 8 << 20;

/// Checks that memory suffices to count more pages of a trace. The pages take this many resident
/// and reserved bytes.
///
/// # Errors
/// The needed bytes and the bytes left.
pub(crate) fn check_pages((resident, reserved): (u64, u64)) -> Result<(), String> {
    let need = Memory { resident: resident + MEASURED, reserved, table: 0 };
    lacks(&left(), &need).map_or(Ok(()), |shortage| Err(format!("a smaller part: {shortage}")))
}

/// Returns the tightest limit on this process, as far as the system reports limits: the machine's
/// memory, each of its control groups, and `ulimit`.
pub(crate) fn available() -> Option<Limit> {
    left().least()
}

/// Returns the bytes that may still become resident in this process, and the source of the limit;
/// `None` if the system does not report it.
pub fn memory_left() -> Option<(u64, &'static str)> {
    left().resident.map(|limit| (limit.bytes, limit.of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_says_what_is_needed_and_what_is_left() {
        let limit = |bytes, of| Some(Limit { bytes, of });
        let left = Left {
            resident: limit(5_000_000_000, "a"),
            reserved: limit(40_000_000 + SPARE, "b"),
            table: None,
        };
        assert!(
            lacks(&left, &Memory { resident: 9, reserved: 40_000_000, table: 1 << 60 }).is_none()
        );
        let line = |memory: &Memory| lacks(&left, memory).expect("a shortage").to_string();
        let much = line(&Memory::touched(6_020_000_000));
        assert_eq!(much, "at least 6.0 GB are needed, and 5.0 GB are left (a)");
        let reserved = line(&Memory { resident: 1, reserved: 41_000_000, table: 1 });
        assert_eq!(reserved, "at least 276 MB are needed, and 275 MB are left (b)");
    }
}
