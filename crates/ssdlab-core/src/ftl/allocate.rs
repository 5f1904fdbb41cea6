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
    /// All of them.
    pub const ALL: [Stream; Stream::COUNT] = [Stream::Host, Stream::Gc, Stream::Cold];
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

/// Free blocks of a plane and class, (key, block), the least key on top.
type FreeBlocks = BinaryHeap<Reverse<(u32, u32)>>;

/// Free and open blocks of every plane, by class.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Allocator {
    /// Free blocks of each plane and class, by wear or by time since they were freed; the least on
    /// top.
    free: Box<[FreeBlocks]>,
    /// Free blocks of each plane.
    count: Box<[u32]>,
    /// By plane, stream and class.
    open: Box<[Open]>,
    /// Blocks that were open in a drive with other classes, and go on before a free one is opened.
    parked: Vec<(PlaneId, Open)>,
    classes: usize,
    pages_per_block: u16,
    /// Free blocks of a plane that only a job may open: it gives one back when it ends.
    reserve: u32,
    level_wear: bool,
    freed: u32,
}

/// How blocks are kept and given out.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Free blocks of a plane that only a job may open.
    pub reserve: u32,
    /// Whether the least worn free block is opened next, rather than the one that has been free
    /// for longest.
    pub level_wear: bool,
    /// Classes of blocks.
    pub classes: usize,
}

impl Allocator {
    /// Every block of `blocks` that is free, none open.
    pub fn new(geometry: &Geometry, blocks: &BlockTable, manner: Manner) -> Allocator {
        let planes = geometry.plane_count() as usize;
        let Manner { reserve, level_wear, classes } = manner;
        let mut allocator = Allocator {
            free: vec![FreeBlocks::new(); planes * classes].into_boxed_slice(),
            count: vec![0; planes].into_boxed_slice(),
            open: vec![Open { block: NO_BLOCK, next: 0 }; planes * Stream::COUNT * classes]
                .into_boxed_slice(),
            parked: Vec::new(),
            classes,
            pages_per_block: geometry.pages as u16,
            reserve,
            level_wear,
            freed: 0,
        };
        for plane in (0..geometry.plane_count()).map(PlaneId) {
            let first = geometry.first_block(plane).0;
            let free = (first..first + geometry.blocks).map(BlockId);
            for block in free.filter(|&block| blocks.state(block) == BlockState::Free) {
                let key = allocator.key(blocks, block);
                allocator.put(blocks, plane, block, key);
            }
        }
        allocator
    }

    /// The same free and open blocks in the classes of `blocks`.
    pub fn adopted(&self, geometry: &Geometry, blocks: &BlockTable, manner: Manner) -> Allocator {
        let mut allocator = Allocator::new(geometry, blocks, manner);
        for (at, open) in self.open.iter().enumerate().filter(|(_, open)| open.block != NO_BLOCK) {
            let stream = Stream::ALL[at / self.classes % Stream::COUNT];
            let plane = PlaneId((at / self.classes / Stream::COUNT) as u32);
            allocator.open_at(blocks, plane, stream, open.block, open.next);
        }
        for &(plane, open) in &self.parked {
            allocator.open_at(blocks, plane, Stream::Host, open.block, open.next);
        }
        allocator
    }

    fn key(&self, blocks: &BlockTable, block: BlockId) -> u32 {
        if self.level_wear { blocks.erases(block) } else { self.freed }
    }

    fn put(&mut self, blocks: &BlockTable, plane: PlaneId, block: BlockId, key: u32) {
        let pool = self.pool(plane, blocks.class(block).into());
        self.free[pool].push(Reverse((key, block.0)));
        self.count[plane.index()] += 1;
    }

    #[inline]
    fn pool(&self, plane: PlaneId, class: usize) -> usize {
        plane.index() * self.classes + class
    }

    #[inline]
    fn slot(&self, plane: PlaneId, stream: Stream, class: usize) -> usize {
        (plane.index() * Stream::COUNT + stream as usize) * self.classes + class
    }

    /// Free blocks of a plane.
    #[inline]
    pub fn free_blocks(&self, plane: PlaneId) -> usize {
        self.count[plane.index()] as usize
    }

    /// Pages that can still be written in the blocks that a stream has open.
    pub fn open_pages(&self, plane: PlaneId, stream: Stream) -> u32 {
        let classes = 0..self.classes;
        classes.map(|class| self.left(&self.open[self.slot(plane, stream, class)])).sum()
    }

    #[inline]
    fn left(&self, open: &Open) -> u32 {
        if open.block == NO_BLOCK { 0 } else { u32::from(self.pages_per_block - open.next) }
    }

    /// Pages of a class that the host can still write on a plane before blocks are erased, if it
    /// gets all of them.
    #[inline]
    pub fn pages_of(&self, plane: PlaneId, class: u8) -> u32 {
        let class = usize::from(class);
        let free = self.free[self.pool(plane, class)].len() as u32;
        let may_take = self.count[plane.index()].saturating_sub(self.reserve);
        let open = self.left(&self.open[self.slot(plane, Stream::Host, class)]);
        open + free.min(may_take) * u32::from(self.pages_per_block)
    }

    /// Classes from the wished one to the worst, then from it to the best; without a wish from the
    /// worst up, so that the best are left for whoever asks for them.
    #[inline]
    fn nearest(&self, wish: Option<u8>) -> impl Iterator<Item = usize> + use<> {
        let last = self.classes - 1;
        let first = wish.map_or(last, |class| usize::from(class).min(last));
        (first..=last).chain((0..first).rev())
    }

    /// The place in its block of the next page that a stream would write, if there is one.
    #[inline]
    pub fn next_page(
        &self,
        blocks: &BlockTable,
        plane: PlaneId,
        stream: Stream,
        wish: Option<u8>,
    ) -> Option<PageInBlock> {
        self.nearest(wish).find_map(|class| {
            let open = self.open[self.slot(plane, stream, class)];
            if open.block != NO_BLOCK {
                return Some(PageInBlock(open.next));
            }
            if let Some(at) = self.parked_of(blocks, plane, class) {
                return Some(PageInBlock(self.parked[at].1.next));
            }
            self.may_open(plane, stream, class).then_some(PageInBlock(0))
        })
    }

    /// Whether the host can write nothing on a plane until a block is erased.
    #[inline]
    pub fn is_full(&self, blocks: &BlockTable, plane: PlaneId) -> bool {
        self.next_page(blocks, plane, Stream::Host, None).is_none()
    }

    #[inline]
    fn may_open(&self, plane: PlaneId, stream: Stream, class: usize) -> bool {
        let kept = if stream == Stream::Host { self.reserve } else { 0 };
        self.count[plane.index()] > kept && !self.free[self.pool(plane, class)].is_empty()
    }

    fn parked_of(&self, blocks: &BlockTable, plane: PlaneId, class: usize) -> Option<usize> {
        let fits = |(on, open): &(PlaneId, Open)| {
            *on == plane && usize::from(blocks.class(open.block)) == class
        };
        self.parked.iter().position(fits)
    }

    /// Takes the next page of a stream in the class that comes nearest to the wish; `None` if the
    /// plane has no block to give it.
    #[inline]
    pub fn allocate(
        &mut self,
        geometry: &Geometry,
        blocks: &mut BlockTable,
        plane: PlaneId,
        stream: Stream,
        wish: Option<u8>,
    ) -> Option<Ppn> {
        for class in self.nearest(wish) {
            let at = self.slot(plane, stream, class);
            if self.open[at].block == NO_BLOCK && !self.open(blocks, plane, stream, class) {
                continue;
            }
            let open = &mut self.open[at];
            let ppn = geometry.page(open.block, PageInBlock(open.next));
            open.next += 1;
            if open.next == self.pages_per_block {
                open.block = NO_BLOCK;
            }
            return Some(ppn);
        }
        None
    }

    /// Opens a block of this class for a stream; false if there is none.
    fn open(
        &mut self,
        blocks: &mut BlockTable,
        plane: PlaneId,
        stream: Stream,
        class: usize,
    ) -> bool {
        let at = self.slot(plane, stream, class);
        if let Some(parked) = self.parked_of(blocks, plane, class) {
            self.open[at] = self.parked.swap_remove(parked).1;
            return true;
        }
        if !self.may_open(plane, stream, class) {
            return false;
        }
        let block = self.take_free(blocks, plane, stream, class);
        blocks.set_state(block, BlockState::Open);
        self.open[at] = Open { block, next: 0 };
        true
    }

    fn take_free(
        &mut self,
        blocks: &BlockTable,
        plane: PlaneId,
        stream: Stream,
        class: usize,
    ) -> BlockId {
        self.count[plane.index()] -= 1;
        let pool = self.pool(plane, class);
        let heap = &mut self.free[pool];
        if stream != Stream::Cold {
            let Reverse((_, block)) = heap.pop().expect("a class with a free block");
            return BlockId(block);
        }
        let mut all = std::mem::take(heap).into_vec();
        let worn = (0..all.len()).max_by_key(|&at| {
            let block = all[at].0.1;
            (blocks.erases(BlockId(block)), Reverse(block))
        });
        let taken = all.swap_remove(worn.expect("a class with a free block"));
        *heap = all.into();
        BlockId(taken.0.1)
    }

    /// Gives an erased block back.
    pub fn give_back(&mut self, blocks: &BlockTable, plane: PlaneId, block: BlockId) {
        self.freed += 1;
        let key = self.key(blocks, block);
        self.put(blocks, plane, block, key);
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
        let at = self.slot(plane, stream, blocks.class(block).into());
        let open = Open { block, next: written };
        match self.open[at].block {
            NO_BLOCK => self.open[at] = open,
            _ => self.parked.push((plane, open)),
        }
    }

    /// The block that a stream has open, the best of several.
    pub fn open_block(&self, plane: PlaneId, stream: Stream) -> Option<BlockId> {
        let classes = 0..self.classes;
        let mut open = classes.map(|class| self.open[self.slot(plane, stream, class)].block);
        open.find(|&block| block != NO_BLOCK)
    }

    /// The free blocks of a plane, in no order.
    pub fn free_list(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        let first = plane.index() * self.classes;
        let free = self.free[first..first + self.classes].iter().flatten();
        free.map(|Reverse((_, block))| BlockId(*block))
    }

    /// The blocks that a plane's streams have open, each with the pages given out of it.
    pub fn open_list(&self, plane: PlaneId) -> impl Iterator<Item = (BlockId, u16)> + '_ {
        let each = Stream::COUNT * self.classes;
        let first = plane.index() * each;
        let open = self.open[first..first + each].iter().filter(|open| open.block != NO_BLOCK);
        let parked = self.parked.iter().filter(move |(on, _)| *on == plane);
        open.chain(parked.map(|(_, open)| open)).map(|open| (open.block, open.next))
    }
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
        let manner = Manner { reserve: 1, level_wear, classes: 1 };
        let allocator = Allocator::new(&geometry, &blocks, manner);
        (geometry, blocks, allocator)
    }

    const PLANE: PlaneId = PlaneId(0);

    /// The blocks that a stream gets until it gets no more.
    fn drain(level_wear: bool, stream: Stream) -> Vec<u32> {
        let (geometry, mut blocks, mut allocator) = plane(level_wear);
        let pages =
            std::iter::from_fn(|| allocator.allocate(&geometry, &mut blocks, PLANE, stream, None));
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
    fn the_host_may_write_every_free_page_but_those_of_the_reserve() {
        let (geometry, mut blocks, mut allocator) = plane(true);
        for left in (0..=8).rev() {
            assert_eq!(allocator.pages_of(PLANE, 0), left);
            let page = allocator.allocate(&geometry, &mut blocks, PLANE, Stream::Host, None);
            assert_eq!(page.is_some(), left > 0);
        }
    }

    #[test]
    fn without_levelling_the_block_freed_first_is_opened_first() {
        let (geometry, mut blocks, mut allocator) = plane(false);
        let write = |blocks: &mut BlockTable, allocator: &mut Allocator| {
            allocator.allocate(&geometry, blocks, PLANE, Stream::Gc, None).map(|ppn| ppn.0 / 2)
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
            assert_eq!(allocator.next_page(&blocks, PLANE, stream, None), Some(PageInBlock(0)));
            let page = allocator.allocate(&geometry, &mut blocks, PLANE, stream, None).unwrap();
            assert_eq!(page.0, 2 * block);
            assert_eq!(blocks.state(BlockId(block)), BlockState::Open);
            assert_eq!(allocator.open_pages(PLANE, stream), 1);
            assert_eq!(allocator.next_page(&blocks, PLANE, stream, None), Some(PageInBlock(1)));
        }
        assert_eq!(allocator.free_blocks(PLANE), 2);
        assert!(!allocator.is_full(&blocks, PLANE));
        // The open block's last page, then a whole block: then only the reserve is left.
        for _ in 0..3 {
            allocator.allocate(&geometry, &mut blocks, PLANE, Stream::Host, None).unwrap();
        }
        assert!(allocator.is_full(&blocks, PLANE));
        assert_eq!(allocator.next_page(&blocks, PLANE, Stream::Host, None), None);
        assert_eq!(allocator.free_list(PLANE).collect::<Vec<_>>(), [BlockId(4)]);
    }
}
