//! How much of the machine's memory a drive takes: known before it is built.
//!
//! Most tables of a drive are zero pages of the operating system: they are reserved as a whole, and
//! become resident where they are touched. What is counted as resident here is touched for certain.
//! The estimate is never above what the drive really takes, so that no drive is refused that could
//! be built.

use ssdlab_base::math;

use crate::buffer::Slot;
use crate::config::Resolved;
use crate::flash::Txn;
use crate::host::Active;

/// Resident bytes of a plane: its lanes, its unit, its share of the timers. Measured.
const PLANE: u64 = 800;
/// Resident bytes of a block: its row of the block table, and its place among those that are free.
/// Measured.
const BLOCK: u64 = 16;
/// Resident bytes of a block with bit errors: what happened to its cells.
const CELLS: u64 = 32;
/// Bytes of a number of a page.
const NUMBER: u64 = 4;
/// Numbers in a page of the machine's memory.
const NUMBERS_TOGETHER: f64 = 4096.0 / NUMBER as f64;
/// The share of the expected bytes that is counted: chance may touch a few less.
const DRAWN: f64 = 0.97;
/// Bytes of a mask of a page's sectors.
const MASK: u64 = 8;
/// Bytes that a slot of the buffer takes besides itself: its place in the order of eviction, and
/// among those that are free.
const IN_ORDER: u64 = 12;
/// Bytes that a page operation takes besides itself while it is under way: its page among those
/// with operations under way.
const HAZARD: u64 = 48;

/// Bytes that something takes of the machine's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// What is touched for certain.
    pub resident: u64,
    /// What is reserved, touched or not.
    pub reserved: u64,
    /// The largest table among it.
    pub table: u64,
}

impl Memory {
    /// So many bytes that are all touched.
    pub fn touched(bytes: u64) -> Memory {
        Memory { resident: bytes, reserved: bytes, table: bytes }
    }

    /// Both.
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
    /// What the drive takes when it is built, each part with the config key that decides it.
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
        // Each page with the voltages that it was programmed with, where there are several.
        let program_modes = if self.chip.program_modes().len() > 1 { pages } else { 0 };
        let known = mapped * self.config.metadata.page_bytes();
        let books =
            Memory::touched(planes * PLANE + blocks * BLOCK + cells + program_modes + known);
        let masks = if self.kept_sectors() == 0 { 0 } else { mapped * MASK };
        let map = Memory {
            resident: 0,
            reserved: (pages + mapped) * NUMBER + masks,
            table: masks.max(pages * NUMBER),
        };
        let slots = u64::from(self.buffer_pages);
        let held = Memory::touched(slots * (size_of::<Slot>() as u64 + IN_ORDER));
        let slot_of = if slots > 0 { mapped * NUMBER } else { 0 };
        let found = Memory { resident: 0, reserved: slot_of, table: slot_of };
        let drawn = Memory { resident: self.filled_map(), reserved: 0, table: 0 };
        [("geometry", books.and(map)), ("buffer.size", held.and(found)), ("start.fill", drawn)]
    }

    /// Bytes of both tables of the map that filling the drive before the start touches.
    fn filled_map(&self) -> u64 {
        let geometry = self.geometry();
        let start = &self.config.start;
        let filled = start.fill.of(u64::from(self.logical_pages));
        let pages = f64::from(geometry.page_count());
        let written = (filled as f64 / (1.0 - start.invalid.get()) / pages).min(1.0);
        // Logical pages are filled from the first on. Their blocks lie anywhere on a plane, and a
        // page of the machine's memory is touched if one of the blocks is written whose entries it
        // holds.
        let blocks_together = (NUMBERS_TOGETHER / f64::from(geometry.pages)).max(1.0);
        let touched = 1.0 - math::pow(1.0 - written, blocks_together);
        (filled + (pages * touched * DRAWN) as u64) * NUMBER
    }
}
