//! The strict order: each writer of a plane has an open block for every class and stream, and fills
//! it page after page. Garbage collection may share the host's blocks.

use std::ops::Range;

use ssdlab_nand::{BlockId, Geometry, PageInBlock, PlaneId, Ppn};

use super::pools::Pools;
use super::saved::StrictOpen;
use ssdlab_policy::allocation::{AllocatorConfig, BlockClass, GcStream, StreamId, Streams, Writer};
use ssdlab_policy::blocks::BlockTable;

/// An open block of a writer, and its next page.
#[derive(Clone, Copy, Debug)]
struct Open {
    block: BlockId,
    next: u16,
}

const NO_BLOCK: BlockId = BlockId(u32::MAX);

/// The open blocks of every plane.
#[derive(Clone, Debug)]
pub(crate) struct Strict {
    /// By plane, writer, class and stream.
    open: Box<[Open]>,
    /// Open blocks whose slot was taken, as after a change of classes. Writers continue them before
    /// they open a free block.
    parked: Vec<(PlaneId, Open)>,
    gc_stream: GcStream,
    classes: usize,
    /// Streams; a writer has an open block of a class for each.
    streams: Streams,
    pages_per_block: u16,
}

impl Strict {
    /// Creates the state of a drive without open blocks.
    pub(crate) fn new(geometry: &Geometry, allocator_config: AllocatorConfig) -> Strict {
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

    /// Returns the number of streams, and the open blocks in the order in which writers continue
    /// them, to be saved.
    pub(crate) fn save(&self) -> (u8, Vec<StrictOpen>) {
        let saved = |open: &Open, writer: usize, stream: StreamId| StrictOpen {
            block: open.block,
            writer: writer as u8,
            stream,
            next: open.next,
        };
        let count = self.count();
        let open = self.open.iter().enumerate().filter(|(_, open)| open.block != NO_BLOCK);
        let open = open.map(|(at, open)| {
            let stream = StreamId((at % count) as u8);
            saved(open, at / count / self.classes % Writer::COUNT, stream)
        });
        let host = Writer::Host as usize;
        let parked = self.parked.iter().map(|(_, open)| saved(open, host, self.streams.default));
        (self.streams.count, open.chain(parked).collect())
    }

    /// Restores saved open blocks that were checked, in the classes of `blocks`.
    pub(crate) fn restore(
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

    /// Returns the writers that have blocks of their own.
    pub(crate) fn writers(&self) -> &'static [Writer] {
        match self.gc_stream {
            GcStream::Separate => &Writer::ALL,
            GcStream::Shared => &[Writer::Host, Writer::Cold],
        }
    }

    fn is_shared(&self) -> bool {
        self.gc_stream == GcStream::Shared
    }

    /// Returns the index of a writer's first open block in a class.
    #[inline]
    fn first(&self, plane: PlaneId, writer: Writer, class: BlockClass) -> usize {
        let writer = match writer {
            Writer::Gc if self.is_shared() => Writer::Host,
            own => own,
        };
        ((plane.index() * Writer::COUNT + writer as usize) * self.classes + class.index())
            * self.count()
    }

    /// Returns the number of open blocks that a writer may have in a class.
    fn count(&self) -> usize {
        usize::from(self.streams.count)
    }

    /// Returns a writer's open blocks in a class.
    fn of_class(&self, plane: PlaneId, writer: Writer, class: BlockClass) -> &[Open] {
        let first = self.first(plane, writer, class);
        &self.open[first..first + self.count()]
    }

    /// Returns the pages left in a writer's open blocks of a class.
    #[inline]
    pub(crate) fn left(&self, plane: PlaneId, writer: Writer, class: BlockClass) -> u32 {
        let left = |open: &Open| {
            let has_block = open.block != NO_BLOCK;
            if has_block { u32::from(self.pages_per_block - open.next) } else { 0 }
        };
        match self.of_class(plane, writer, class) {
            [only] => left(only),
            several => several.iter().map(left).sum(),
        }
    }

    /// Returns whether the host must not write in the blocks that it shares with garbage
    /// collection.
    #[inline]
    fn holds_back(&self, pools: &Pools, plane: PlaneId, writer: Writer) -> bool {
        self.is_shared() && writer == Writer::Host && !pools.host_may_share(plane)
    }

    /// Returns the position in its block of the next page for a writer in a class.
    pub(crate) fn next_page(
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

    /// Allocates the next page for a writer in a class. If no block is left for the stream, the
    /// page comes from a block of another stream.
    #[inline(always)]
    pub(crate) fn allocate(
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

    /// Returns a block of this class for a writer, if there is one: a parked block, else a free
    /// one.
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

    /// Opens a block, whose first `written` pages are written, for a writer. If the writer already
    /// has an open block for the stream, the next writer that opens a block gets it.
    pub(crate) fn open_at(
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

    /// Returns a writer's open blocks with their streams, the best class first.
    pub(crate) fn open_blocks(&self, plane: PlaneId, writer: Writer) -> Vec<(StreamId, BlockId)> {
        let open = BlockClass::numbered(0..self.classes).flat_map(|class| {
            let streams = (0..self.streams.count).map(StreamId);
            streams.zip(self.of_class(plane, writer, class))
        });
        let open = open.filter(|(_, open)| open.block != NO_BLOCK);
        open.map(|(stream, open)| (stream, open.block)).collect()
    }

    /// Stops allocation in a block that is to be erased; returns its number of pages never
    /// programmed.
    pub(crate) fn leave(&mut self, plane: PlaneId, block: BlockId) -> u32 {
        let allocated = self.list(plane).find(|(open, _)| *open == block);
        let Some((_, allocated)) = allocated else { return 0 };
        self.parked.retain(|(_, open)| open.block != block);
        let slots = self.slots(plane);
        let open = self.open[slots].iter_mut().find(|open| open.block == block);
        open.into_iter().for_each(|open| open.block = NO_BLOCK);
        u32::from(self.pages_per_block - allocated)
    }

    /// Returns the indices of a plane's open blocks.
    fn slots(&self, plane: PlaneId) -> Range<usize> {
        let each = Writer::COUNT * self.classes * self.count();
        plane.index() * each..(plane.index() + 1) * each
    }

    /// Returns the open blocks of a plane, each with its number of allocated pages.
    pub(crate) fn list(&self, plane: PlaneId) -> impl Iterator<Item = (BlockId, u16)> + '_ {
        let open = self.open[self.slots(plane)].iter().filter(|open| open.block != NO_BLOCK);
        let parked = self.parked.iter().filter(move |(on, _)| *on == plane);
        open.chain(parked.map(|(_, open)| open)).map(|open| (open.block, open.next))
    }
}
