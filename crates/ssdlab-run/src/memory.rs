//! Whether there is as much memory as a drive needs.

use std::fmt;

use ssdlab_base::memory::{Lacking, Left, Limit, left};
use ssdlab_core::drive::memory::Memory;

/// Bytes that must be left to be reserved besides a drive: for stacks, buffers and lists, and for
/// the addresses that the C library reserves for each of a run's threads.
const SPARE: u64 = (32 << 20) + 3 * (64 << 20);

/// A part of what is needed.
pub(crate) type PartOf = fn(&Memory) -> u64;

/// Less memory than a drive needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shortage {
    pub(crate) lacking: Lacking,
    /// Which part of what is needed there is too little of.
    pub(crate) of: PartOf,
}

/// What is too little for this.
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

/// Bytes that measuring a trace takes apart from its pages. Measured.
const MEASURED: u64 = 8 << 20;

/// Checks that there is memory to count more pages of a trace. They take so many resident and so
/// many reserved bytes.
///
/// # Errors
/// What is needed and what is left.
pub(crate) fn check_pages((resident, reserved): (u64, u64)) -> Result<(), String> {
    let need = Memory { resident: resident + MEASURED, reserved, table: 0 };
    lacks(&left(), &need).map_or(Ok(()), |shortage| Err(format!("a smaller part: {shortage}")))
}

/// What this process may still take, as far as the system tells: of the machine's memory, of each
/// control group that it is in, and of what `ulimit` lets it reserve.
pub(crate) fn available() -> Option<Limit> {
    left().least()
}

/// Bytes that may become resident in this process, and what sets the bound; `None` if the system
/// does not tell.
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
