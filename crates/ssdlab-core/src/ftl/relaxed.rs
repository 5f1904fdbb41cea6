//! The relaxed order: each page type of a block advances by itself, and a plane has an active block
//! for every type. Source: PA-SSD, section 4.3 (pa-BLAlloc).
//!
//! All writers of a plane share its active blocks. The active block of a type is the block opened
//! first among those with free pages of the type. Only the lowest type opens clean blocks, since a
//! block must begin with it.

use std::collections::VecDeque;

use ssdlab_nand::page_order::PageOrder;
use ssdlab_nand::{BlockId, Geometry, PageInBlock, PageType, PlaneId, Ppn, Progress};

use super::pools::Pools;
use super::saved::RelaxedOpen;
use ssdlab_policy::allocation::{BlockClass, Writer};
use ssdlab_policy::blocks::{BlockState, BlockTable};

/// The progress of every block, and the active blocks of every plane.
#[derive(Clone, Debug)]
pub(crate) struct Relaxed {
    progress: Box<[Progress]>,
    /// By plane, class and type: partly programmed blocks with free pages of the type, the one
    /// opened first in front. The list of the highest type holds all partly programmed blocks.
    active: Box<[VecDeque<BlockId>]>,
    /// Free pages of these blocks, by plane and class.
    left: Box<[u32]>,
    /// Free pages of each type on the drive, those of free blocks included.
    free: [u64; PageType::MAX_COUNT],
    classes: usize,
    types: u8,
    wordlines: u16,
}

impl Relaxed {
    /// Creates the state of a drive without partly programmed blocks.
    pub(crate) fn new(geometry: &Geometry, blocks: &BlockTable, classes: usize) -> Relaxed {
        let types = geometry.cell.bits() as u8;
        let wordlines = (geometry.pages / u32::from(types)) as u16;
        let pools = geometry.plane_count() as usize * classes;
        let all = (0..geometry.block_count()).map(BlockId);
        let clean = all.filter(|&block| blocks.state(block) == BlockState::Free).count() as u64;
        let mut free = [0; PageType::MAX_COUNT];
        free[..usize::from(types)].fill(clean * u64::from(wordlines));
        let all = (0..geometry.block_count()).map(BlockId);
        let progress = all.map(|block| match blocks.state(block) {
            BlockState::Closed => Progress::complete(types, wordlines),
            _ => Progress::new(types, wordlines),
        });
        Relaxed {
            progress: progress.collect(),
            active: vec![VecDeque::new(); pools * usize::from(types)].into(),
            left: vec![0; pools].into(),
            free,
            classes,
            types,
            wordlines,
        }
    }

    /// Returns the partly programmed blocks, in the order in which writers continue them, to be
    /// saved.
    pub(crate) fn save(&self) -> Vec<RelaxedOpen> {
        let planes = (self.left.len() / self.classes) as u32;
        let partial = (0..planes).flat_map(|plane| self.partial(PlaneId(plane)));
        let saved = |block: BlockId| RelaxedOpen {
            block,
            programmed: self.progress[block.index()].counts(),
        };
        partial.map(saved).collect()
    }

    /// Restores saved blocks that were checked, in the classes of `blocks`.
    pub(crate) fn restore(
        open: &[RelaxedOpen],
        geometry: &Geometry,
        blocks: &BlockTable,
        classes: usize,
    ) -> Relaxed {
        let mut restored = Relaxed::new(geometry, blocks, classes);
        for of in open {
            let progress = of.progress(geometry).expect("progress that was checked");
            restored.go_on(blocks, blocks.plane_of(of.block), of.block, progress);
        }
        restored
    }

    fn types(&self) -> impl DoubleEndedIterator<Item = PageType> + use<> {
        (0..self.types).map(PageType)
    }

    #[inline]
    fn pool(&self, plane: PlaneId, class: BlockClass) -> usize {
        plane.index() * self.classes + class.index()
    }

    #[inline]
    fn slot(&self, pool: usize, page_type: PageType) -> usize {
        pool * usize::from(self.types) + page_type.index()
    }

    /// Returns the partly programmed blocks of a plane, class by class, the one opened first in
    /// front.
    fn partial(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        let top = PageType(self.types - 1);
        let pools = BlockClass::numbered(0..self.classes).map(move |class| self.pool(plane, class));
        pools.flat_map(move |pool| self.active[self.slot(pool, top)].iter().copied())
    }

    /// Returns the free pages of a plane's partly programmed blocks of a class.
    #[inline]
    pub(crate) fn left(&self, plane: PlaneId, class: BlockClass) -> u32 {
        self.left[self.pool(plane, class)]
    }

    /// Returns the free pages of each type on the drive.
    pub(crate) fn free(&self) -> [u64; PageType::MAX_COUNT] {
        self.free
    }

    /// Returns the types to try: the requested type, then the types below it, then those above it.
    /// Without a request the highest type comes first, as in the conventional order.
    #[inline]
    fn nearest(&self, hint: Option<PageType>) -> impl Iterator<Item = PageType> + use<> {
        let requested = hint.map_or(self.types - 1, |hint| hint.0.min(self.types - 1));
        (0..=requested).rev().chain(requested + 1..self.types).map(PageType)
    }

    /// Returns block and wordline of the next page of a type, in partly programmed blocks.
    #[inline]
    fn candidate(&self, pool: usize, page_type: PageType) -> Option<(BlockId, PageInWord)> {
        let &block = self.active[self.slot(pool, page_type)].front()?;
        let wordline = self.progress[block.index()].candidate(page_type)?;
        Some((block, PageInWord { wordline: wordline.0, page_type }))
    }

    /// Returns the page that a writer would take in a class; in a new block if the block is `None`.
    #[inline]
    fn next(
        &self,
        pools: &Pools,
        (plane, writer, class): (PlaneId, Writer, BlockClass),
        hint: Option<PageType>,
    ) -> Option<(Option<BlockId>, PageInWord)> {
        let pool = self.pool(plane, class);
        let takes = writer != Writer::Host || pools.host_may_share(plane);
        self.nearest(hint).find_map(|page_type| {
            if let Some((block, page)) = self.candidate(pool, page_type).filter(|_| takes) {
                return Some((Some(block), page));
            }
            let begins = page_type == PageType(0) && pools.may_open(plane, writer, class);
            begins.then_some((None, PageInWord { wordline: 0, page_type }))
        })
    }

    /// Returns the position in its block of the next page for a writer in a class.
    pub(crate) fn next_page(
        &self,
        order: &PageOrder,
        pools: &Pools,
        place: (PlaneId, Writer, BlockClass),
        hint: Option<PageType>,
    ) -> Option<PageInBlock> {
        self.next(pools, place, hint).map(|(_, page)| page.place(order))
    }

    /// Allocates a page for a writer in a class, of the type nearest to the request.
    #[inline(never)]
    pub(crate) fn allocate(
        &mut self,
        (geometry, order): (&Geometry, &PageOrder),
        pools: &mut Pools,
        blocks: &mut BlockTable,
        place: (PlaneId, Writer, BlockClass),
        hint: Option<PageType>,
    ) -> Option<Ppn> {
        let (block, page) = self.next(pools, place, hint)?;
        let (plane, writer, class) = place;
        let pool = self.pool(plane, class);
        let block = block.unwrap_or_else(|| {
            let block = pools.take(blocks, plane, writer, class);
            self.enlist(pool, block);
            block
        });
        blocks.open(block);
        let programmed = self.progress[block.index()].program(page.page_type);
        debug_assert_eq!(programmed.map(|wordline| wordline.0), Some(page.wordline));
        self.left[pool] -= 1;
        self.free[page.page_type.index()] -= 1;
        if page.wordline + 1 == self.wordlines {
            let slot = self.slot(pool, page.page_type);
            self.active[slot].pop_front();
        }
        Some(geometry.page(block, page.place(order)))
    }

    /// Adds a block to the partly programmed blocks of its pool.
    fn enlist(&mut self, pool: usize, block: BlockId) {
        let progress = self.progress[block.index()];
        for page_type in self.types() {
            if progress.programmed(page_type) < self.wordlines {
                let slot = self.slot(pool, page_type);
                self.active[slot].push_back(block);
            }
        }
        self.left[pool] += self.unprogrammed(block);
    }

    fn erased_progress(&self) -> Progress {
        Progress::new(self.types, self.wordlines)
    }

    fn unprogrammed(&self, block: BlockId) -> u32 {
        u32::from(self.wordlines) * u32::from(self.types) - self.progress[block.index()].total()
    }

    /// Continues a block that the block table does not hold as free.
    fn go_on(&mut self, blocks: &BlockTable, plane: PlaneId, block: BlockId, progress: Progress) {
        self.progress[block.index()] = progress;
        for page_type in self.types() {
            let free = self.wordlines - progress.programmed(page_type);
            self.free[page_type.index()] += u64::from(free);
        }
        self.enlist(self.pool(plane, blocks.class(block)), block);
    }

    /// Continues a block whose first `written` pages are written in the conventional order, which
    /// is also a relaxed order.
    pub(crate) fn open_at(
        &mut self,
        order: &PageOrder,
        blocks: &BlockTable,
        (plane, block): (PlaneId, BlockId),
        written: u16,
    ) {
        let mut progress = self.erased_progress();
        for page in (0..written).map(PageInBlock) {
            progress.program(order.page_type(page)).expect("a legal order");
        }
        self.go_on(blocks, plane, block, progress);
    }

    /// Stops allocation in a block that is to be erased; returns its number of pages never
    /// programmed.
    pub(crate) fn leave(&mut self, blocks: &BlockTable, plane: PlaneId, block: BlockId) -> u32 {
        let unprogrammed = self.unprogrammed(block);
        if unprogrammed > 0 {
            let pool = self.pool(plane, blocks.class(block));
            for page_type in self.types() {
                let slot = self.slot(pool, page_type);
                self.active[slot].retain(|&other| other != block);
                let free = self.wordlines - self.progress[block.index()].programmed(page_type);
                self.free[page_type.index()] -= u64::from(free);
            }
            self.left[pool] -= unprogrammed;
        }
        unprogrammed
    }

    /// Records the erase of a block.
    pub(crate) fn erased(&mut self, block: BlockId) {
        self.progress[block.index()] = self.erased_progress();
        let wordlines = u64::from(self.wordlines);
        self.types().for_each(|page_type| self.free[page_type.index()] += wordlines);
    }

    /// Returns the number of allocated pages of a block.
    pub(crate) fn allocated(&self, block: BlockId) -> u32 {
        self.progress[block.index()].total()
    }

    /// Returns whether a page of a block is allocated.
    pub(crate) fn is_allocated(
        &self,
        order: &PageOrder,
        block: BlockId,
        page: PageInBlock,
    ) -> bool {
        order.wordline(page).0 < self.progress[block.index()].programmed(order.page_type(page))
    }

    /// Returns the partly programmed blocks of a plane, each with its number of allocated pages.
    pub(crate) fn list(&self, plane: PlaneId) -> impl Iterator<Item = (BlockId, u16)> + '_ {
        self.partial(plane).map(|block| (block, self.allocated(block) as u16))
    }
}

/// A page by wordline and type.
#[derive(Clone, Copy, Debug)]
struct PageInWord {
    wordline: u16,
    page_type: PageType,
}

impl PageInWord {
    fn place(self, order: &PageOrder) -> PageInBlock {
        order.page(ssdlab_nand::page_order::WordLine(self.wordline), self.page_type)
    }
}
