//! The strict order: each writer of a plane has a block open for every class and every stream, and
//! fills it page after page. What garbage collection moves may share the host's.

use std::ops::Range;

use ssdlab_nand::{BlockId, Geometry, PageInBlock, PlaneId, Ppn};

use super::pools::Pools;
use super::saved::StrictOpen;
use ssdlab_policy::allocation::{AllocatorConfig, BlockClass, GcStream, StreamId, Streams, Writer};
use ssdlab_policy::blocks::BlockTable;

/// The block that a writer is writing, and its next page.
#[derive(Clone, Copy, Debug)]
struct Open {
    block: BlockId,
    next: u16,
}

const NO_BLOCK: BlockId = BlockId(u32::MAX);

/// The open blocks of every plane.
#[derive(Clone, Debug)]
pub struct Strict {
    /// By plane, writer, class and stream.
    open: Box<[Open]>,
    /// Blocks that were open in a drive with other classes, and go on before a free one is opened.
    parked: Vec<(PlaneId, Open)>,
    gc_stream: GcStream,
    classes: usize,
    /// Blocks that a writer has open in a class: one for each stream.
    streams: Streams,
    pages_per_block: u16,
}

impl Strict {
    /// No block is open.
    pub fn new(geometry: &Geometry, allocator_config: AllocatorConfig) -> Strict {
        let AllocatorConfig { classes, gc_stream, streams, .. } = allocator_config;
        let slots =
            geometry.plane_count() as usize * Writer::COUNT * classes * usize::from(streams.count);
        Strict {
            open: vec![Open { block: NO_BLOCK, next: 0 }; slots].into_boxed_slice(),
            parked: Vec::new(),
            gc_stream,
            classes,
            streams,
            pages_per_block: geometry.pages as u16,
        }
    }

    /// What is kept of it: the number of streams, and the open blocks in the order in which they go
    /// on.
    pub fn save(&self) -> (u8, Vec<StrictOpen>) {
        let kept = |open: &Open, writer: usize, stream: StreamId| StrictOpen {
            block: open.block,
            writer: writer as u8,
            stream,
            next: open.next,
        };
        let count = self.count();
        let open = self.open.iter().enumerate().filter(|(_, open)| open.block != NO_BLOCK);
        let open = open.map(|(at, open)| {
            let stream = StreamId((at % count) as u8);
            kept(open, at / count / self.classes % Writer::COUNT, stream)
        });
        let host = Writer::Host as usize;
        let parked = self.parked.iter().map(|(_, open)| kept(open, host, self.streams.default));
        (self.streams.count, open.chain(parked).collect())
    }

    /// The open blocks that were kept, which were checked, in the classes of `blocks`.
    pub fn restore(
        (count, open): (u8, &[StrictOpen]),
        geometry: &Geometry,
        blocks: &BlockTable,
        allocator_config: AllocatorConfig,
    ) -> Strict {
        let mut restored = Strict::new(geometry, allocator_config);
        let same = restored.streams.count == count;
        for &StrictOpen { block, writer, stream, next } in open {
            let stream = if same { stream } else { restored.streams.default };
            let place = (blocks.plane_of(block), Writer::ALL[usize::from(writer)], stream);
            restored.go_on(blocks, place, Open { block, next });
        }
        restored
    }

    /// The writers that have blocks of their own.
    pub fn writers(&self) -> &'static [Writer] {
        match self.gc_stream {
            GcStream::Separate => &Writer::ALL,
            GcStream::Shared => &[Writer::Host, Writer::Cold],
        }
    }

    #[inline]
    fn is_shared(&self) -> bool {
        self.gc_stream == GcStream::Shared
    }

    /// Where the blocks begin that a writer has open in a class.
    #[inline]
    fn first(&self, plane: PlaneId, writer: Writer, class: BlockClass) -> usize {
        let writer = match writer {
            Writer::Gc if self.is_shared() => Writer::Host,
            own => own,
        };
        ((plane.index() * Writer::COUNT + writer as usize) * self.classes + class.index())
            * self.count()
    }

    /// Blocks that a writer has open in a class.
    #[inline]
    fn count(&self) -> usize {
        usize::from(self.streams.count)
    }

    /// The blocks that a writer has open in a class.
    fn of_class(&self, plane: PlaneId, writer: Writer, class: BlockClass) -> &[Open] {
        let first = self.first(plane, writer, class);
        &self.open[first..first + self.count()]
    }

    /// Pages that can still be written in the blocks that a writer has open in a class.
    #[inline]
    pub fn left(&self, plane: PlaneId, writer: Writer, class: BlockClass) -> u32 {
        let left = |open: &Open| {
            let has_block = open.block != NO_BLOCK;
            if has_block { u32::from(self.pages_per_block - open.next) } else { 0 }
        };
        match self.of_class(plane, writer, class) {
            [only] => left(only),
            several => several.iter().map(left).sum(),
        }
    }

    /// Whether a writer must leave alone what it shares.
    #[inline]
    fn holds_back(&self, pools: &Pools, plane: PlaneId, writer: Writer) -> bool {
        self.is_shared() && writer == Writer::Host && !pools.host_may_share(plane)
    }

    /// The place in its block of the next page that a writer would write in a class.
    #[inline]
    pub fn next_page(
        &self,
        pools: &Pools,
        blocks: &BlockTable,
        plane: PlaneId,
        (writer, class, stream): (Writer, BlockClass, Option<StreamId>),
    ) -> Option<PageInBlock> {
        if self.holds_back(pools, plane, writer) {
            return None;
        }
        let all = self.of_class(plane, writer, class);
        let own = all[self.streams.of(stream).index()];
        if own.block != NO_BLOCK {
            return Some(PageInBlock(own.next));
        }
        if let Some(at) = self.parked_of(blocks, plane, class) {
            return Some(PageInBlock(self.parked[at].1.next));
        }
        if pools.may_open(plane, writer, class) {
            return Some(PageInBlock(0));
        }
        all.iter().find(|open| open.block != NO_BLOCK).map(|open| PageInBlock(open.next))
    }

    fn parked_of(&self, blocks: &BlockTable, plane: PlaneId, class: BlockClass) -> Option<usize> {
        let fits = |(on, open): &(PlaneId, Open)| *on == plane && blocks.class(open.block) == class;
        self.parked.iter().position(fits)
    }

    /// Takes the next page of a writer in a class. Where there is no block for a stream, that of
    /// another will do.
    #[inline(always)]
    pub fn allocate(
        &mut self,
        geometry: &Geometry,
        pools: &mut Pools,
        blocks: &mut BlockTable,
        (plane, writer, class): (PlaneId, Writer, BlockClass),
        stream: Option<StreamId>,
    ) -> Option<Ppn> {
        if self.holds_back(pools, plane, writer) {
            return None;
        }
        let first = self.first(plane, writer, class);
        let mut at = first + self.streams.of(stream).index();
        if self.open[at].block == NO_BLOCK {
            match self.opened(pools, blocks, (plane, writer, class)) {
                Some(open) => self.open[at] = open,
                None => {
                    let mut others = first..first + self.count();
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

    /// A block of this class for a writer to go on with, if there is one.
    #[inline(never)]
    fn opened(
        &mut self,
        pools: &mut Pools,
        blocks: &mut BlockTable,
        (plane, writer, class): (PlaneId, Writer, BlockClass),
    ) -> Option<Open> {
        if let Some(parked) = self.parked_of(blocks, plane, class) {
            return Some(self.parked.swap_remove(parked).1);
        }
        if !pools.may_open(plane, writer, class) {
            return None;
        }
        let block = pools.take(blocks, plane, writer, class);
        blocks.open(block);
        Some(Open { block, next: 0 })
    }

    /// Lets a writer go on with a block whose first `written` pages are written; if it has one
    /// open already for this stream, whoever opens a block next.
    pub fn open_at(
        &mut self,
        blocks: &BlockTable,
        (plane, writer, stream): (PlaneId, Writer, StreamId),
        (block, written): (BlockId, u16),
    ) {
        self.go_on(blocks, (plane, writer, stream), Open { block, next: written });
    }

    fn go_on(
        &mut self,
        blocks: &BlockTable,
        (plane, writer, stream): (PlaneId, Writer, StreamId),
        open: Open,
    ) {
        let at = self.first(plane, writer, blocks.class(open.block)) + stream.index();
        match self.open[at].block {
            NO_BLOCK => self.open[at] = open,
            _ => self.parked.push((plane, open)),
        }
    }

    /// The blocks that a writer has open, the best first, each with its stream.
    pub fn open_blocks(&self, plane: PlaneId, writer: Writer) -> Vec<(StreamId, BlockId)> {
        let open = BlockClass::numbered(0..self.classes).flat_map(|class| {
            let streams = (0..self.streams.count).map(StreamId);
            streams.zip(self.of_class(plane, writer, class))
        });
        let open = open.filter(|(_, open)| open.block != NO_BLOCK);
        open.map(|(stream, open)| (stream, open.block)).collect()
    }

    /// Takes no more pages of a block that is to be erased; how many were never programmed.
    pub fn leave(&mut self, plane: PlaneId, block: BlockId) -> u32 {
        let allocated = self.list(plane).find(|(open, _)| *open == block);
        let Some((_, allocated)) = allocated else { return 0 };
        self.parked.retain(|(_, open)| open.block != block);
        let slots = self.slots(plane);
        let open = self.open[slots].iter_mut().find(|open| open.block == block);
        open.into_iter().for_each(|open| open.block = NO_BLOCK);
        u32::from(self.pages_per_block - allocated)
    }

    /// Where a plane's open blocks are.
    fn slots(&self, plane: PlaneId) -> Range<usize> {
        let each = Writer::COUNT * self.classes * self.count();
        plane.index() * each..(plane.index() + 1) * each
    }

    /// The blocks that a plane's writers have open, each with the pages given out of it.
    pub fn list(&self, plane: PlaneId) -> impl Iterator<Item = (BlockId, u16)> + '_ {
        let open = self.open[self.slots(plane)].iter().filter(|open| open.block != NO_BLOCK);
        let parked = self.parked.iter().filter(move |(on, _)| *on == plane);
        open.chain(parked.map(|(_, open)| open)).map(|open| (open.block, open.next))
    }
}
