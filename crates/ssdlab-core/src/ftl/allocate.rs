//! Where the next page is written: free blocks by plane, and the block that each stream of each
//! plane is writing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};
use ssdlab_nand::{BlockId, Geometry, Lpn, PageInBlock, PlaneId, Ppn};

use super::blocks::{BlockState, BlockTable};

/// Who writes: each stream fills blocks of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Stream {
    /// Host data.
    Host,
    /// Pages that garbage collection moves.
    Gc,
    /// Pages that static wear levelling moves: they go to the most worn free block.
    Cold,
}

impl Stream {
    /// How many streams a plane has.
    pub const COUNT: usize = 3;
}

/// The order in which static allocation deals logical pages to channels, chips (ways), dies and
/// planes: the first letter's part changes fastest.
#[derive(Clone, Debug)]
pub struct PlaneOrder {
    /// The plane of each position of the round.
    planes: Box<[PlaneId]>,
}

impl PlaneOrder {
    /// The order spelled by four letters, one each of `CWDP`.
    pub fn new(letters: &str, geometry: &Geometry) -> PlaneOrder {
        let count = |letter| match letter {
            'C' => geometry.channels,
            'W' => geometry.chips,
            'D' => geometry.dies,
            _ => geometry.planes,
        };
        let planes = (0..geometry.plane_count()).map(|position| {
            let mut rest = position;
            let (mut channel, mut chip, mut die, mut plane) = (0, 0, 0, 0);
            for letter in letters.chars() {
                let digit = rest % count(letter);
                rest /= count(letter);
                match letter {
                    'C' => channel = digit,
                    'W' => chip = digit,
                    'D' => die = digit,
                    _ => plane = digit,
                }
            }
            geometry.plane_at(channel, chip, die, plane)
        });
        PlaneOrder { planes: planes.collect() }
    }

    /// The plane of a logical page under static allocation.
    #[inline]
    pub fn plane_of(&self, lpn: Lpn) -> PlaneId {
        self.planes[lpn.index() % self.planes.len()]
    }

    /// The planes in the order of the round.
    pub fn planes(&self) -> &[PlaneId] {
        &self.planes
    }
}

/// The block that a stream is writing, and its next page.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Open {
    block: BlockId,
    next: u16,
}

const NO_BLOCK: BlockId = BlockId(u32::MAX);

/// Free blocks of a plane, (key, block), the least key on top.
type FreeBlocks = BinaryHeap<Reverse<(u32, u32)>>;

/// Free and open blocks of every plane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Allocator {
    /// Free blocks of each plane, by wear or by time since they were freed; the least on top.
    free: Box<[FreeBlocks]>,
    open: Box<[Open]>,
    pages_per_block: u16,
    /// Free blocks that only a job may open: it gives one back when it ends.
    reserve: usize,
    level_wear: bool,
    freed: u32,
}

impl Allocator {
    /// Every block of `blocks` that is free, none open. With `level_wear` the least worn free
    /// block is opened next, without it the one that has been free for longest.
    pub fn new(geometry: &Geometry, blocks: &BlockTable, reserve: usize, level_wear: bool) -> Self {
        let planes = geometry.plane_count();
        let mut allocator = Allocator {
            free: vec![FreeBlocks::new(); planes as usize].into_boxed_slice(),
            open: vec![Open { block: NO_BLOCK, next: 0 }; planes as usize * Stream::COUNT]
                .into_boxed_slice(),
            pages_per_block: geometry.pages as u16,
            reserve,
            level_wear,
            freed: 0,
        };
        for plane in (0..planes).map(PlaneId) {
            let first = geometry.first_block(plane).0;
            let free = (first..first + geometry.blocks).map(BlockId);
            let free = free.filter(|&block| blocks.state(block) == BlockState::Free);
            allocator.free[plane.index()] =
                free.map(|block| Reverse((allocator.key(blocks, block), block.0))).collect();
        }
        allocator
    }

    fn key(&self, blocks: &BlockTable, block: BlockId) -> u32 {
        if self.level_wear { blocks.erases(block) } else { self.freed }
    }

    /// Free blocks of a plane.
    #[inline]
    pub fn free_blocks(&self, plane: PlaneId) -> usize {
        self.free[plane.index()].len()
    }

    /// Pages that can still be written in the block that a stream has open.
    pub fn open_pages(&self, plane: PlaneId, stream: Stream) -> u16 {
        let open = self.open[slot(plane, stream)];
        if open.block == NO_BLOCK { 0 } else { self.pages_per_block - open.next }
    }

    /// The place in its block of the next page that a stream would write, if one is open.
    #[inline]
    pub fn next_page(&self, plane: PlaneId, stream: Stream) -> Option<PageInBlock> {
        let open = self.open[slot(plane, stream)];
        match open.block {
            NO_BLOCK => self.may_open(plane, stream).then_some(PageInBlock(0)),
            _ => Some(PageInBlock(open.next)),
        }
    }

    /// Whether the host can write nothing on a plane until a block is erased.
    #[inline]
    pub fn is_full(&self, plane: PlaneId) -> bool {
        self.next_page(plane, Stream::Host).is_none()
    }

    #[inline]
    fn may_open(&self, plane: PlaneId, stream: Stream) -> bool {
        let kept = if stream == Stream::Host { self.reserve } else { 0 };
        self.free[plane.index()].len() > kept
    }

    /// Takes the next page of a stream; `None` if the plane has no block to give it.
    #[inline]
    pub fn allocate(
        &mut self,
        geometry: &Geometry,
        blocks: &mut BlockTable,
        plane: PlaneId,
        stream: Stream,
    ) -> Option<Ppn> {
        let at = slot(plane, stream);
        if self.open[at].block == NO_BLOCK {
            if !self.may_open(plane, stream) {
                return None;
            }
            let block = self.take_free(blocks, plane, stream)?;
            blocks.set_state(block, BlockState::Open);
            self.open[at] = Open { block, next: 0 };
        }
        let open = &mut self.open[at];
        let ppn = geometry.page(open.block, PageInBlock(open.next));
        open.next += 1;
        if open.next == self.pages_per_block {
            open.block = NO_BLOCK;
        }
        Some(ppn)
    }

    fn take_free(
        &mut self,
        blocks: &BlockTable,
        plane: PlaneId,
        stream: Stream,
    ) -> Option<BlockId> {
        let heap = &mut self.free[plane.index()];
        if stream != Stream::Cold {
            return heap.pop().map(|Reverse((_, block))| BlockId(block));
        }
        let mut all = std::mem::take(heap).into_vec();
        let worn = (0..all.len()).max_by_key(|&at| {
            let block = all[at].0.1;
            (blocks.erases(BlockId(block)), Reverse(block))
        });
        let taken = worn.map(|at| BlockId(all.swap_remove(at).0.1));
        *heap = all.into();
        taken
    }

    /// Gives an erased block back.
    pub fn give_back(&mut self, blocks: &BlockTable, plane: PlaneId, block: BlockId) {
        self.freed += 1;
        let key = self.key(blocks, block);
        self.free[plane.index()].push(Reverse((key, block.0)));
    }

    /// Lets a stream go on with a block whose first `written` pages are written.
    pub fn open_at(&mut self, plane: PlaneId, stream: Stream, block: BlockId, written: u16) {
        self.open[slot(plane, stream)] = Open { block, next: written };
    }

    /// The block that a stream has open.
    pub fn open_block(&self, plane: PlaneId, stream: Stream) -> Option<BlockId> {
        let open = self.open[slot(plane, stream)];
        (open.block != NO_BLOCK).then_some(open.block)
    }

    /// The free blocks of a plane, in no order.
    pub fn free_list(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        self.free[plane.index()].iter().map(|Reverse((_, block))| BlockId(*block))
    }

    /// The blocks that a plane's streams have open, each with the pages given out of it.
    pub fn open_list(&self, plane: PlaneId) -> impl Iterator<Item = (BlockId, u16)> + '_ {
        let first = plane.index() * Stream::COUNT;
        let open = self.open[first..first + Stream::COUNT].iter();
        open.filter(|open| open.block != NO_BLOCK).map(|open| (open.block, open.next))
    }
}

#[inline]
fn slot(plane: PlaneId, stream: Stream) -> usize {
    plane.index() * Stream::COUNT + stream as usize
}

#[cfg(test)]
mod tests {
    use ssdlab_base::Bytes;
    use ssdlab_nand::Cell;

    use super::*;

    /// A plane of six blocks of two pages, with this wear; the fourth is bad.
    fn plane(level_wear: bool) -> (Geometry, BlockTable, Allocator) {
        let geometry = Geometry {
            channels: 1,
            chips: 1,
            dies: 1,
            planes: 1,
            blocks: 6,
            pages: 2,
            page_size: Bytes::from_kib(4),
            cell: Cell::Slc,
        };
        let mut blocks = BlockTable::new(&geometry);
        for (block, wear) in (0..).map(BlockId).zip([5, 2, 9, 0, 7, 2]) {
            blocks.set_erases(block, wear);
        }
        blocks.set_state(BlockId(3), BlockState::Bad);
        let allocator = Allocator::new(&geometry, &blocks, 1, level_wear);
        (geometry, blocks, allocator)
    }

    const PLANE: PlaneId = PlaneId(0);

    /// The blocks that a stream gets until it gets no more.
    fn drain(level_wear: bool, stream: Stream) -> Vec<u32> {
        let (geometry, mut blocks, mut allocator) = plane(level_wear);
        let pages =
            std::iter::from_fn(|| allocator.allocate(&geometry, &mut blocks, PLANE, stream));
        let pages: Vec<u32> = pages.map(|ppn| ppn.0).collect();
        assert!(pages.chunks(2).all(|pair| pair[0] % 2 == 0 && pair[1] == pair[0] + 1));
        pages.iter().step_by(2).map(|page| page / 2).collect()
    }

    #[test]
    fn the_least_worn_block_is_opened_first_and_the_reserve_is_kept_from_the_host() {
        assert_eq!(drain(true, Stream::Host), [1, 5, 0, 4]);
        assert_eq!(drain(true, Stream::Gc), [1, 5, 0, 4, 2]);
        assert_eq!(drain(true, Stream::Cold), [2, 4, 0, 1, 5]);
        assert_eq!(drain(false, Stream::Host), [0, 1, 2, 4]);
    }

    #[test]
    fn without_levelling_the_block_freed_first_is_opened_first() {
        let (geometry, mut blocks, mut allocator) = plane(false);
        let write = |blocks: &mut BlockTable, allocator: &mut Allocator| {
            allocator.allocate(&geometry, blocks, PLANE, Stream::Gc).map(|ppn| ppn.0 / 2)
        };
        (0..10).for_each(|_| assert!(write(&mut blocks, &mut allocator).is_some()));
        assert_eq!(write(&mut blocks, &mut allocator), None);
        for block in [4, 0, 2] {
            allocator.give_back(&blocks, PLANE, BlockId(block));
        }
        let again = [0, 0, 1, 1, 2, 2].map(|_| write(&mut blocks, &mut allocator));
        assert_eq!(again, [4, 4, 0, 0, 2, 2].map(Some));
    }

    #[test]
    fn each_stream_has_an_open_block_of_its_own() {
        let (geometry, mut blocks, mut allocator) = plane(true);
        for (stream, block) in [(Stream::Host, 1), (Stream::Gc, 5), (Stream::Cold, 2)] {
            assert_eq!(allocator.open_pages(PLANE, stream), 0);
            assert_eq!(allocator.next_page(PLANE, stream), Some(PageInBlock(0)));
            let page = allocator.allocate(&geometry, &mut blocks, PLANE, stream).unwrap();
            assert_eq!(page.0, 2 * block);
            assert_eq!(blocks.state(BlockId(block)), BlockState::Open);
            assert_eq!(allocator.open_pages(PLANE, stream), 1);
            assert_eq!(allocator.next_page(PLANE, stream), Some(PageInBlock(1)));
        }
        assert_eq!(allocator.free_blocks(PLANE), 2);
        assert!(!allocator.is_full(PLANE));
        // The open block's last page, then a whole block: then only the reserve is left.
        for _ in 0..3 {
            allocator.allocate(&geometry, &mut blocks, PLANE, Stream::Host).unwrap();
        }
        assert!(allocator.is_full(PLANE));
        assert_eq!(allocator.next_page(PLANE, Stream::Host), None);
        assert_eq!(allocator.free_list(PLANE).collect::<Vec<_>>(), [BlockId(4)]);
    }
}
