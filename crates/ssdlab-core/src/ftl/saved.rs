//! Open blocks as a state file stores them.

use serde::de::{Error, SeqAccess};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Serialize};
use ssdlab_nand::page_order::PageOrder;
use ssdlab_nand::{BlockId, Geometry, PageInBlock, PageType, Progress};

use crate::saved::{self, Limits, SavedPart};
use ssdlab_policy::allocation::{PageSequence, StreamId, Streams, Writer};

/// The open blocks of an allocator, in the order in which writers continue them.
#[derive(Clone, Debug)]
pub enum SavedOpen {
    /// In the strict order.
    Strict {
        /// Number of streams with blocks of their own.
        streams: u8,
        /// The blocks.
        open: Vec<StrictOpen>,
    },
    /// In the relaxed order.
    Relaxed(Vec<RelaxedOpen>),
}

/// An open block whose first pages are written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct StrictOpen {
    /// The block.
    pub block: BlockId,
    /// The number of its writer.
    pub writer: u8,
    /// The stream of its pages.
    pub stream: StreamId,
    /// The next page to write.
    pub next: u16,
}

/// An open block with each page type written up to a wordline.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RelaxedOpen {
    /// The block.
    pub block: BlockId,
    /// Pages of each type that are written.
    pub programmed: [u16; PageType::MAX_COUNT],
}

impl RelaxedOpen {
    /// Returns the progress of the block; `None` if no legal sequence of programs leads to it.
    pub fn progress(&self, geometry: &Geometry) -> Option<Progress> {
        let types = geometry.cell.bits() as u8;
        let wordlines = (geometry.pages / u32::from(types)) as u16;
        Progress::reached(types, wordlines, self.programmed)
    }
}

/// The pages of an open block that are written.
#[derive(Clone, Copy, Debug)]
pub enum Allocated {
    /// The first pages, this many.
    First(u16),
    /// Pages of each type, as many as the progress says.
    Types(Progress),
}

impl Allocated {
    /// Returns the number of written pages.
    pub fn total(self) -> u32 {
        match self {
            Allocated::First(next) => next.into(),
            Allocated::Types(progress) => progress.total(),
        }
    }

    /// Returns whether a page is written.
    pub fn contains(self, order: &PageOrder, page: PageInBlock) -> bool {
        match self {
            Allocated::First(next) => page.0 < next,
            Allocated::Types(progress) => {
                order.wordline(page).0 < progress.programmed(order.page_type(page))
            }
        }
    }
}

impl SavedOpen {
    /// Returns the written pages of each open block, indexed by block.
    ///
    /// # Errors
    /// The first invalid open block.
    pub fn allocated(&self, geometry: &Geometry) -> Result<Vec<Option<Allocated>>, String> {
        let mut allocated = vec![None; geometry.block_count() as usize];
        let mut note = |block: BlockId, of: Option<Allocated>| {
            let of = of.filter(|of| of.total() < geometry.pages);
            let of = of.ok_or_else(|| {
                format!("open block {} has an invalid writer, stream or number of pages", block.0)
            })?;
            let slot = allocated.get_mut(block.index());
            let slot = slot.ok_or_else(|| format!("open block {} is beyond the drive", block.0))?;
            match slot.replace(of) {
                None => Ok(()),
                Some(_) => Err(format!("block {} is open twice", block.0)),
            }
        };
        match self {
            SavedOpen::Strict { streams, open } => {
                let streams_fit = (1..=Streams::MAX_COUNT).contains(streams);
                for &StrictOpen { block, writer, stream, next } in open {
                    let fits =
                        streams_fit && stream.0 < *streams && usize::from(writer) < Writer::COUNT;
                    note(block, fits.then_some(Allocated::First(next)))?;
                }
            }
            SavedOpen::Relaxed(open) => {
                for of in open {
                    note(of.block, of.progress(geometry).map(Allocated::Types))?;
                }
            }
        }
        Ok(allocated)
    }
}

impl SavedPart for SavedOpen {
    const COLUMNS: usize = 4;

    fn write<S: SerializeTuple>(&self, to: &mut S) -> Result<(), S::Error> {
        let (order, streams, strict, relaxed) = match self {
            SavedOpen::Strict { streams, open } => {
                (PageSequence::Strict, *streams, &open[..], &[][..])
            }
            SavedOpen::Relaxed(open) => (PageSequence::Relaxed, 0, &[][..], &open[..]),
        };
        to.serialize_element(&order)?;
        to.serialize_element(&streams)?;
        saved::write(to, strict)?;
        saved::write(to, relaxed)
    }

    fn read<'de, A: SeqAccess<'de>>(from: &mut A, limits: &Limits<'_>) -> Result<Self, A::Error> {
        let order = saved::single(from)?;
        let streams: u8 = saved::single(from)?;
        let open: Vec<StrictOpen> = limits.column(from, limits.blocks())?;
        let relaxed: Vec<RelaxedOpen> = limits.column(from, limits.blocks())?;
        match order {
            PageSequence::Strict if relaxed.is_empty() => Ok(SavedOpen::Strict { streams, open }),
            PageSequence::Relaxed if open.is_empty() && streams == 0 => {
                Ok(SavedOpen::Relaxed(relaxed))
            }
            _ => Err(A::Error::custom("blocks are open in both orders")),
        }
    }
}
