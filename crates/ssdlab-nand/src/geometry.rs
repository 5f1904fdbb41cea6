//! The shape of the flash. Only this module computes addresses.
//!
//! Terms, from the host inwards:
//! - *sector*: 512 bytes, the unit of host addresses ([`ssdlab_base::units::SECTOR_BYTES`]);
//! - *page*: the unit of mapping, reads and programs; a logical page has an [`Lpn`], a physical
//!   page a [`Ppn`];
//! - *wordline*: the pages that share the same cells, one for each bit of the cell;
//! - *block*: the unit of erase;
//! - *plane*: the blocks that share one page register; it executes one operation at a time;
//! - *die*: the planes that share a command decoder;
//! - *chip*: the dies of a package, which share a channel's pins;
//! - *channel*: the bus that moves pages, one at a time.
//!
//! Physical page numbers run plane by plane, and block by block within a plane. The pages of a
//! block therefore have consecutive numbers.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::units::{Bytes, SECTOR_BYTES};

use crate::cell::Cell;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(
            Clone,
            Copy,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            Debug,
            Default,
            Serialize,
            Deserialize,
        )]
        pub struct $name(pub $inner);

        impl $name {
            /// Returns the id as an index into a table.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A logical page: the host's address in pages.
    Lpn(u32)
);
id!(
    /// A physical page of the drive.
    Ppn(u32)
);
id!(
    /// A block of the drive.
    BlockId(u32)
);
id!(
    /// Position of a page in its block, in the order in which a conventional drive programs the
    /// pages.
    PageInBlock(u16)
);
id!(
    /// A plane of the drive.
    PlaneId(u32)
);
id!(
    /// A die of the drive.
    DieId(u32)
);
id!(
    /// A channel.
    ChannelId(u16)
);

/// The number of each part of the drive, and the size of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Geometry {
    /// Channels. Assumed.
    #[schemars(range(min = 1, max = MAX_CHANNELS))]
    pub channels: u32,
    /// Chips on a channel. Assumed.
    #[schemars(range(min = 1, max = MAX_CHIPS))]
    pub chips: u32,
    /// Dies in a chip. Assumed.
    #[schemars(range(min = 1, max = MAX_DIES))]
    pub dies: u32,
    /// Planes in a die. Assumed.
    #[schemars(range(min = 1, max = MAX_PLANES))]
    pub planes: u32,
    /// Blocks in a plane. Some never hold user data: at least three, more with several classes or
    /// streams. All pages of the drive need page numbers of 32 bits. Assumed.
    #[schemars(range(min = 1, max = MAX_BLOCKS))]
    pub blocks: u32,
    /// Pages in a block, a multiple of the bits of a cell. Assumed.
    #[schemars(range(min = 1, max = MAX_PAGES_PER_BLOCK))]
    pub pages: u32,
    /// Size of a page without its spare bytes. Assumed.
    #[schemars(extend("x-quantity" = page_sizes()))]
    pub page_size: Bytes,
    /// Bits a cell stores: `slc`, `mlc`, `tlc` or `qlc`. Assumed.
    pub cell: Cell,
}

/// Largest number of channels.
pub const MAX_CHANNELS: u32 = 1 << 10;
/// Largest number of chips on a channel.
pub const MAX_CHIPS: u32 = 1 << 10;
/// Largest number of dies in a chip.
pub const MAX_DIES: u32 = 1 << 6;
/// Largest number of planes in a die.
pub const MAX_PLANES: u32 = 1 << 6;
/// Largest number of blocks in a plane.
pub const MAX_BLOCKS: u32 = 1 << 24;
/// Largest number of physical pages: page numbers have 32 bits and one value stays free.
pub const MAX_PAGES: u64 = u32::MAX as u64 - 1;
/// Largest number of pages in a block: page offsets have 16 bits and one value stays free.
pub const MAX_PAGES_PER_BLOCK: u32 = u16::MAX as u32 - 1;
/// Largest size of a page in bytes: a 64-bit bitmap holds one bit for each sector.
pub const MAX_PAGE_BYTES: u64 = 64 * SECTOR_BYTES;

/// Returns the accepted sizes of a page, in words.
fn page_sizes() -> String {
    let [sector, most] = [SECTOR_BYTES, MAX_PAGE_BYTES].map(Bytes::new);
    format!("a size in multiples of {sector} up to {most}, such as \"16KiB\"")
}

/// Returns a bitmap of `count` sectors of a page, from sector `first` on. `count` must be 1 to 64.
#[inline]
pub const fn sector_mask(first: u32, count: u32) -> u64 {
    (u64::MAX >> (64 - count)) << first
}

impl Geometry {
    /// Checks the limits on this shape.
    ///
    /// # Errors
    /// Returns `(key, expected)` of the first limit that does not hold. The key is empty if the
    /// product of all counts is too large.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let counts = [
            ("channels", self.channels, MAX_CHANNELS),
            ("chips", self.chips, MAX_CHIPS),
            ("dies", self.dies, MAX_DIES),
            ("planes", self.planes, MAX_PLANES),
            ("blocks", self.blocks, MAX_BLOCKS),
            ("pages", self.pages, MAX_PAGES_PER_BLOCK),
        ];
        for (key, count, most) in counts {
            if count == 0 || count > most {
                return Err((key, format!("1 to {most}")));
            }
        }
        let bytes = self.page_size.get();
        if bytes == 0 || !bytes.is_multiple_of(SECTOR_BYTES) || bytes > MAX_PAGE_BYTES {
            return Err(("page_size", page_sizes()));
        }
        if !self.pages.is_multiple_of(self.cell.bits()) {
            let expected = format!(
                "a multiple of {}, the pages that share a wordline of {}",
                self.cell.bits(),
                self.cell
            );
            return Err(("pages", expected));
        }
        if self.pages_declared() <= u128::from(MAX_PAGES) {
            Ok(())
        } else {
            Err((
                "",
                format!("at most {MAX_PAGES} physical pages in all, since page numbers are 32-bit"),
            ))
        }
    }

    /// Returns the product of all counts, which may exceed [`MAX_PAGES`].
    pub fn pages_declared(&self) -> u128 {
        let counts = [self.channels, self.chips, self.dies, self.planes, self.blocks, self.pages];
        counts.iter().map(|&count| u128::from(count)).product()
    }

    /// Returns the number of planes of the drive.
    pub const fn plane_count(&self) -> u32 {
        self.channels * self.chips * self.dies * self.planes
    }

    /// Returns the number of blocks of the drive.
    pub const fn block_count(&self) -> u32 {
        self.plane_count() * self.blocks
    }

    /// Returns the number of physical pages of the drive.
    pub const fn page_count(&self) -> u32 {
        self.block_count() * self.pages
    }

    /// Returns the number of sectors in a page.
    pub const fn sectors_per_page(&self) -> u32 {
        (self.page_size.get() / SECTOR_BYTES) as u32
    }

    /// Returns a bitmap with one bit for each sector of a page.
    pub const fn page_mask(&self) -> u64 {
        sector_mask(0, self.sectors_per_page())
    }

    /// Returns the logical pages that `sectors` sectors from `lba` on touch, at least in part.
    #[inline]
    pub const fn pages_touched(&self, lba: u64, sectors: u32) -> Range<u64> {
        let per_page = self.sectors_per_page() as u64;
        lba / per_page..(lba + sectors as u64).div_ceil(per_page)
    }

    /// Returns the logical pages that lie completely within `sectors` sectors from `lba` on.
    pub fn pages_covered(&self, lba: u64, sectors: u32) -> Range<u64> {
        let per_page = u64::from(self.sectors_per_page());
        let first = lba.div_ceil(per_page);
        first..first.max((lba + u64::from(sectors)) / per_page)
    }

    /// Returns the bytes of all physical pages, without spare bytes.
    pub const fn raw_bytes(&self) -> u64 {
        self.page_count() as u64 * self.page_size.get()
    }

    /// Returns the block that holds a page.
    #[inline]
    pub const fn block_of(&self, ppn: Ppn) -> BlockId {
        BlockId(ppn.0 / self.pages)
    }

    /// Returns the position of a page in its block.
    #[inline]
    pub const fn page_in_block(&self, ppn: Ppn) -> PageInBlock {
        PageInBlock((ppn.0 % self.pages) as u16)
    }

    /// Returns the page at this position of a block.
    #[inline]
    pub const fn page(&self, block: BlockId, page: PageInBlock) -> Ppn {
        Ppn(block.0 * self.pages + page.0 as u32)
    }

    /// Returns the plane that holds a block.
    #[inline]
    pub const fn plane_of(&self, block: BlockId) -> PlaneId {
        PlaneId(block.0 / self.blocks)
    }

    /// Returns the plane that holds a page.
    #[inline]
    pub const fn plane_of_page(&self, ppn: Ppn) -> PlaneId {
        PlaneId(ppn.0 / (self.pages * self.blocks))
    }

    /// Returns the first block of a plane. The other blocks of the plane follow it.
    #[inline]
    pub const fn first_block(&self, plane: PlaneId) -> BlockId {
        BlockId(plane.0 * self.blocks)
    }

    /// Returns the die that holds a plane.
    #[inline]
    pub const fn die_of(&self, plane: PlaneId) -> DieId {
        DieId(plane.0 / self.planes)
    }

    /// Returns the channel that connects a plane.
    pub const fn channel_of(&self, plane: PlaneId) -> ChannelId {
        ChannelId((plane.0 / (self.planes * self.dies * self.chips)) as u16)
    }

    /// Returns the plane at these coordinates. Each counts from 0 within the part that holds it.
    pub const fn plane_at(&self, channel: u32, chip: u32, die: u32, plane: u32) -> PlaneId {
        PlaneId(((channel * self.chips + chip) * self.dies + die) * self.planes + plane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Geometry {
        Geometry {
            channels: 2,
            chips: 3,
            dies: 2,
            planes: 2,
            blocks: 5,
            pages: 12,
            page_size: Bytes::from_kib(8),
            cell: Cell::Tlc,
        }
    }

    #[test]
    fn every_page_is_found_again_from_its_parts() {
        let g = small();
        for n in 0..g.page_count() {
            let ppn = Ppn(n);
            let block = g.block_of(ppn);
            assert_eq!(g.page(block, g.page_in_block(ppn)), ppn);
            assert_eq!(g.plane_of(block), g.plane_of_page(ppn));
            assert!(g.channel_of(g.plane_of(block)).index() < 2);
        }
    }

    #[test]
    fn planes_are_numbered_channel_first() {
        let g = small();
        let mut next = 0;
        for (channel, chip) in (0..2).flat_map(|c| (0..3).map(move |h| (c, h))) {
            for (die, plane) in (0..2).flat_map(|d| (0..2).map(move |p| (d, p))) {
                let id = g.plane_at(channel, chip, die, plane);
                assert_eq!(id, PlaneId(next));
                assert_eq!(g.channel_of(id), ChannelId(channel as u16));
                next += 1;
            }
        }
    }

    #[test]
    fn the_schema_states_the_limits_that_the_check_has() {
        type Count = fn(&mut Geometry) -> &mut u32;
        let counts: [(&str, Count); 6] = [
            ("channels", |g| &mut g.channels),
            ("chips", |g| &mut g.chips),
            ("dies", |g| &mut g.dies),
            ("planes", |g| &mut g.planes),
            ("blocks", |g| &mut g.blocks),
            ("pages", |g| &mut g.pages),
        ];
        let schema = schemars::schema_for!(Geometry).to_value();
        for (name, count) in counts {
            let range = &schema["properties"][name];
            assert_eq!(range["minimum"], 1, "{name}");
            let most = range["maximum"].as_u64().expect(name) as u32;
            for (value, fits) in [(0, false), (most, true), (most + 1, false)] {
                let mut shape = Geometry { cell: Cell::Mlc, ..small() };
                *count(&mut shape) = value;
                let refused = shape.check().err().is_some_and(|(key, _)| key == name);
                assert_eq!(refused, !fits, "{name} = {value}");
            }
        }
    }

    #[test]
    fn a_shape_that_does_not_fit_is_refused_with_the_limit_named() {
        let huge = Geometry { channels: 1 << 9, blocks: 1 << 20, ..small() };
        assert!(huge.check().unwrap_err().1.contains("32-bit"));
        assert_eq!(Geometry { pages: 13, ..small() }.check().unwrap_err().0, "pages");
        assert_eq!(Geometry { dies: 0, ..small() }.check().unwrap_err().0, "dies");
        let odd = Geometry { page_size: Bytes::new(1000), ..small() };
        assert_eq!(odd.check().unwrap_err().0, "page_size");
        assert_eq!(small().check(), Ok(()));
    }
}
