//! Estimates the memory of a drive before the drive is built.
//!
//! Most tables of a drive are zero pages of the operating system: they are reserved as a whole, and
//! become resident when they are touched. The estimate counts as resident only memory that the
//! drive certainly touches. It never exceeds the real need, so ssdlab refuses no drive that it
//! could build.

use ssdlab_base::math;

use crate::buffer::Slot;
use crate::config::{Resolved, SampleSize};
use crate::flash::Txn;
use crate::host::Active;

/// Resident bytes of a plane: its queues, its unit, its share of the timers. Measured.
const PLANE: u64 = 800;
/// Resident bytes of a block: its row of the block table, and its place among the free blocks.
/// Measured.
const BLOCK: u64 = 16;
/// Resident bytes of a block with bit errors: the history of its cells.
const CELLS: u64 = 32;
/// Bytes of a page number.
const NUMBER: u64 = 4;
/// Page numbers in a memory page of the host machine.
const NUMBERS_TOGETHER: f64 = 4096.0 / NUMBER as f64;
/// The share of the expected bytes that is counted. By chance, a drive may touch slightly fewer.
const DRAWN: f64 = 0.97;
/// Bytes of a mask of a page's sectors.
const MASK: u64 = 8;
/// Bytes that a buffer slot takes besides itself: its place in the eviction order and among the
/// free slots.
const IN_ORDER: u64 = 12;
/// Bytes that a page operation takes besides itself: its page's entry in the table of pages with
/// operations under way.
const HAZARD: u64 = 48;

/// A number of bytes of the host machine's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes that are certainly touched.
    pub resident: u64,
    /// Bytes that are reserved, touched or not.
    pub reserved: u64,
    /// Bytes of the largest table among them.
    pub table: u64,
}

impl Memory {
    /// Returns this number of bytes, all of them touched.
    pub fn touched(bytes: u64) -> Memory {
        Memory { resident: bytes, reserved: bytes, table: bytes }
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn and(self, other: Memory) -> Memory {
        Memory {
            resident: self.resident + other.resident,
            reserved: self.reserved + other.reserved,
            table: self.table.max(other.table),
        }
    }
}

/// Bytes of a page operation under way.
pub const OPERATION: u64 = size_of::<Txn>() as u64 + HAZARD;
/// Bytes of a request under way, without its page operations.
pub const REQUEST: u64 = size_of::<Active>() as u64;

impl Resolved {
    /// Returns the memory of the drive when it is built, each part with the config key that decides
    /// it.
    pub fn memory(&self) -> [(&'static str, Memory); 3] {
        let geometry = self.geometry();
        let [planes, blocks, pages, mapped] = [
            geometry.plane_count(),
            geometry.block_count(),
            geometry.page_count(),
            self.mapped_pages(),
        ]
        .map(u64::from);
        let cells = if self.chip.is_flat() { 0 } else { blocks * CELLS };
        // The program mode of each page, on a drive with several.
        let program_modes = if self.chip.program_modes().len() > 1 { pages } else { 0 };
        let known = mapped * self.config.metadata.page_bytes();
        let tables =
            Memory::touched(planes * PLANE + blocks * BLOCK + cells + program_modes + known);
        let masks = if self.tracked_sectors() == 0 { 0 } else { mapped * MASK };
        let map = Memory {
            resident: 0,
            reserved: (pages + mapped) * NUMBER + masks,
            table: masks.max(pages * NUMBER),
        };
        let slots = u64::from(self.buffer_pages);
        let held = Memory::touched(slots * (size_of::<Slot>() as u64 + IN_ORDER));
        let slot_of = if slots > 0 { mapped * NUMBER } else { 0 };
        let found = Memory { resident: 0, reserved: slot_of, table: slot_of };
        // The sample of a history is gone before the map is filled.
        let sample = self.history().and_then(|_| self.sample(SampleSize::default()).ok());
        let filled = self.filled_map().max(sample.map_or(0, |sample| sample.filled_map()));
        let drawn = Memory { resident: filled, reserved: 0, table: 0 };
        [("geometry", tables.and(map)), ("buffer.size", held.and(found)), ("start.fill", drawn)]
    }

    /// Returns the bytes of both map tables that the drive touches when it is filled before the
    /// start.
    fn filled_map(&self) -> u64 {
        let geometry = self.geometry();
        let start = &self.config.start;
        let filled = start.fill.of(u64::from(self.logical_pages));
        let pages = f64::from(geometry.page_count());
        let written = (filled as f64 / (1.0 - start.invalid.get()) / pages).min(1.0);
        // Logical pages are filled from the first on. Their blocks lie anywhere on a plane. A
        // memory page holds entries of several blocks, and is touched if one of these is written.
        let blocks_together = (NUMBERS_TOGETHER / f64::from(geometry.pages)).max(1.0);
        let touched = 1.0 - math::pow(1.0 - written, blocks_together);
        (filled + (pages * touched * DRAWN) as u64) * NUMBER
    }
}
