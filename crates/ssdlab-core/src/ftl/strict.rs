//! The strict order: each stream of a plane has a block open for every class, and for every hotness of
//! pages where these are kept apart, and fills it page after page. What garbage collection moves may share
//! the host's.

use std::ops::Range;

use ssdlab_nand::{BlockId, Geometry, PageInBlock, PlaneId, Ppn};

use super::blocks::BlockTable;
use super::config::{AllocatorConfig, GcStream, Stream};
use super::pools::Pools;
use super::saved::StrictOpen;
use crate::metadata::page_hotness::Hotness;

/// The block that a stream is writing, and its next page.
#[derive(Clone, Copy, Debug)]
struct Open {
    block: BlockId,
    next: u16,
}

const NO_BLOCK: BlockId = BlockId(u32::MAX);

/// The open blocks of every plane.
#[derive(Clone, Debug)]
pub struct Strict {
    /// By plane, stream, class and hotness.
    open: Box<[Open]>,
    /// Blocks that were open in a drive with other classes, and go on before a free one is opened.
    parked: Vec<(PlaneId, Open)>,
    gc_stream: GcStream,
    classes: usize,
    /// Blocks that a stream has open in a class: one, or one for each hotness.
    kinds: usize,
    pages_per_block: u16,
}

impl Strict {
    /// No block is open.
    pub fn new(geometry: &Geometry, allocator_config: AllocatorConfig) -> Strict {
        let AllocatorConfig { classes, gc_stream, kinds, .. } = allocator_config;
        let slots = geometry.plane_count() as usize * Stream::COUNT * classes * kinds;
        Strict {
            open: vec![Open { block: NO_BLOCK, next: 0 }; slots].into_boxed_slice(),
            parked: Vec::new(),
            gc_stream,
            classes,
            kinds,
            pages_per_block: geometry.pages as u16,
        }
    }

    /// What is kept of it: kinds of pages, and the open blocks in the order in which they go on.
    pub fn save(&self) -> (u8, Vec<StrictOpen>) {
        let kept = |open: &Open, stream: usize, kind: usize| StrictOpen {
            block: open.block,
            stream: stream as u8,
            kind: kind as u8,
            next: open.next,
        };
        let open = self.open.iter().enumerate().filter(|(_, open)| open.block != NO_BLOCK);
        let open = open.map(|(at, open)| {
            kept(open, at / self.kinds / self.classes % Stream::COUNT, at % self.kinds)
        });
        let host = Stream::Host as usize;
        let parked = self.parked.iter().map(|(_, open)| kept(open, host, self.kind(None)));
        (self.kinds as u8, open.chain(parked).collect())
    }

    /// The open blocks that were kept, which were checked, in the classes of `blocks`.
    pub fn restore(
        (kinds, open): (u8, &[StrictOpen]),
        geometry: &Geometry,
        blocks: &BlockTable,
        allocator_config: AllocatorConfig,
    ) -> Strict {
        let mut restored = Strict::new(geometry, allocator_config);
        let same = restored.kinds == usize::from(kinds);
        for &StrictOpen { block, stream, kind, next } in open {
            let kind = if same { usize::from(kind) } else { restored.kind(None) };
            let place = (blocks.plane_of(block), Stream::ALL[usize::from(stream)], kind);
            restored.go_on(blocks, place, Open { block, next });
        }
        restored
    }

    /// The streams that have blocks of their own.
    pub fn streams(&self) -> &'static [Stream] {
        match self.gc_stream {
            GcStream::Separate => &Stream::ALL,
            GcStream::Shared => &[Stream::Host, Stream::Cold],
        }
    }

    #[inline]
    fn is_shared(&self) -> bool {
        self.gc_stream == GcStream::Shared
    }

    /// Where the blocks begin that a stream has open in a class.
    #[inline]
    fn first(&self, plane: PlaneId, stream: Stream, class: usize) -> usize {
        let stream = match stream {
            Stream::Gc if self.is_shared() => Stream::Host,
            own => own,
        };
        ((plane.index() * Stream::COUNT + stream as usize) * self.classes + class) * self.kinds
    }

    /// The place among these of the block for such pages.
    #[inline]
    fn kind(&self, hotness: Option<Hotness>) -> usize {
        if self.kinds == 1 { 0 } else { hotness.unwrap_or_default() as usize }
    }

    /// The blocks that a stream has open in a class.
    fn of_class(&self, plane: PlaneId, stream: Stream, class: usize) -> &[Open] {
        let first = self.first(plane, stream, class);
        &self.open[first..first + self.kinds]
    }

    /// Pages that can still be written in the blocks that a stream has open in a class.
    #[inline]
    pub fn left(&self, plane: PlaneId, stream: Stream, class: usize) -> u32 {
        let open = self.of_class(plane, stream, class).iter();
        let open = open.filter(|open| open.block != NO_BLOCK);
        open.map(|open| u32::from(self.pages_per_block - open.next)).sum()
    }

    /// Whether a stream must leave alone what it shares.
    #[inline]
    fn holds_back(&self, pools: &Pools, plane: PlaneId, stream: Stream) -> bool {
        self.is_shared() && stream == Stream::Host && !pools.host_may_share(plane)
    }

    /// The place in its block of the next page that a stream would write in a class.
    #[inline]
    pub fn next_page(
        &self,
        pools: &Pools,
        blocks: &BlockTable,
        plane: PlaneId,
        (stream, class, hotness): (Stream, usize, Option<Hotness>),
    ) -> Option<PageInBlock> {
        if self.holds_back(pools, plane, stream) {
            return None;
        }
        let all = self.of_class(plane, stream, class);
        let own = all[self.kind(hotness)];
        if own.block != NO_BLOCK {
            return Some(PageInBlock(own.next));
        }
        if let Some(at) = self.parked_of(blocks, plane, class) {
            return Some(PageInBlock(self.parked[at].1.next));
        }
        if pools.may_open(plane, stream, class) {
            return Some(PageInBlock(0));
        }
        all.iter().find(|open| open.block != NO_BLOCK).map(|open| PageInBlock(open.next))
    }

    fn parked_of(&self, blocks: &BlockTable, plane: PlaneId, class: usize) -> Option<usize> {
        let fits = |(on, open): &(PlaneId, Open)| {
            *on == plane && usize::from(blocks.class(open.block)) == class
        };
        self.parked.iter().position(fits)
    }

    /// Takes the next page of a stream in a class. Where there is no block for pages that are used alike,
    /// one for others will do.
    #[inline(always)]
    pub fn allocate(
        &mut self,
        geometry: &Geometry,
        pools: &mut Pools,
        blocks: &mut BlockTable,
        (plane, stream, class): (PlaneId, Stream, usize),
        hotness: Option<Hotness>,
    ) -> Option<Ppn> {
        if self.holds_back(pools, plane, stream) {
            return None;
        }
        let first = self.first(plane, stream, class);
        let mut at = first + self.kind(hotness);
        if self.open[at].block == NO_BLOCK {
            match self.opened(pools, blocks, (plane, stream, class)) {
                Some(open) => self.open[at] = open,
                None => {
                    let mut others = first..first + self.kinds;
                    at = others.find(|&other| self.open[other].block != NO_BLOCK)?;
                }
            }
        }
        let open = &mut self.open[at];
        let ppn = geometry.page(open.block, PageInBlock(open.next));
        open.next += 1;
        if open.next == self.pages_per_block {
            open.block = NO_BLOCK;
        }
        Some(ppn)
    }

    /// A block of this class for a stream to go on with, if there is one.
    #[inline(never)]
    fn opened(
        &mut self,
        pools: &mut Pools,
        blocks: &mut BlockTable,
        (plane, stream, class): (PlaneId, Stream, usize),
    ) -> Option<Open> {
        if let Some(parked) = self.parked_of(blocks, plane, class) {
            return Some(self.parked.swap_remove(parked).1);
        }
        if !pools.may_open(plane, stream, class) {
            return None;
        }
        let block = pools.take(blocks, plane, stream, class);
        blocks.open(block);
        Some(Open { block, next: 0 })
    }

    /// Lets a stream go on with a block whose first `written` pages are written; if it has one
    /// open already, whoever opens a block next.
    pub fn open_at(
        &mut self,
        blocks: &BlockTable,
        plane: PlaneId,
        stream: Stream,
        block: BlockId,
        written: u16,
    ) {
        self.go_on(blocks, (plane, stream, self.kind(None)), Open { block, next: written });
    }

    /// The same for pages of this kind.
    fn go_on(
        &mut self,
        blocks: &BlockTable,
        (plane, stream, kind): (PlaneId, Stream, usize),
        open: Open,
    ) {
        let at = self.first(plane, stream, blocks.class(open.block).into()) + kind;
        match self.open[at].block {
            NO_BLOCK => self.open[at] = open,
            _ => self.parked.push((plane, open)),
        }
    }

    /// The block that a stream has open, the best of several.
    pub fn open_block(&self, plane: PlaneId, stream: Stream) -> Option<BlockId> {
        let mut open = (0..self.classes).flat_map(|class| self.of_class(plane, stream, class));
        open.find(|open| open.block != NO_BLOCK).map(|open| open.block)
    }

    /// Takes no more pages of a block that is to be erased; how many were never programmed.
    pub fn leave(&mut self, plane: PlaneId, block: BlockId) -> u32 {
        let given = self.list(plane).find(|(open, _)| *open == block);
        let Some((_, given)) = given else { return 0 };
        self.parked.retain(|(_, open)| open.block != block);
        let slots = self.slots(plane);
        let open = self.open[slots].iter_mut().find(|open| open.block == block);
        open.into_iter().for_each(|open| open.block = NO_BLOCK);
        u32::from(self.pages_per_block - given)
    }

    /// Where a plane's open blocks are.
    fn slots(&self, plane: PlaneId) -> Range<usize> {
        let each = Stream::COUNT * self.classes * self.kinds;
        plane.index() * each..(plane.index() + 1) * each
    }

    /// The blocks that a plane's streams have open, each with the pages given out of it.
    pub fn list(&self, plane: PlaneId) -> impl Iterator<Item = (BlockId, u16)> + '_ {
        let open = self.open[self.slots(plane)].iter().filter(|open| open.block != NO_BLOCK);
        let parked = self.parked.iter().filter(move |(on, _)| *on == plane);
        open.chain(parked.map(|(_, open)| open)).map(|open| (open.block, open.next))
    }
}
