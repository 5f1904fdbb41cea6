//! Free blocks of every plane, by class.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use ssdlab_nand::{BlockId, Geometry, PlaneId};

use super::subpools::{Ranked, Subpools};
use ssdlab_policy::account::Priority;
use ssdlab_policy::allocation::{
    AllocatorConfig, BlockClass, FreeBlockPolicy, GcStream, PageSequence, Writer,
};
use ssdlab_policy::blocks::{BlockState, BlockTable};

/// Free blocks of a plane and class as (key, block), the smallest key first.
type FreeBlocks = BTreeSet<Ranked>;

/// The free blocks.
#[derive(Clone, Debug)]
pub(crate) struct Pools {
    /// Free blocks of each plane and class, sorted by [`FreeBlockPolicy`]: the next to open first.
    free: Box<[FreeBlocks]>,
    /// Number of free blocks of each plane, without those that are reserved.
    count: Box<[u32]>,
    pub classes: usize,
    /// Number of classes that are reserved: the best ones.
    pub reserved_classes: usize,
    /// Free blocks of a plane that only a job may open; the job returns one when it ends.
    pub reserve: u32,
    free_block_policy: FreeBlockPolicy,
    /// Whether moved pages, which are colder than the host's, get the last blocks in the order.
    moves_last: bool,
    freed: u32,
    /// The free blocks of the drive, if each priority has a subpool.
    subpools: Option<Subpools>,
    /// The class of a page without a request.
    last: BlockClass,
    /// Whether wear leveling takes the most worn block of all priorities, not of its own.
    across: bool,
}

impl Pools {
    /// Creates the pools from the free blocks of `blocks`.
    pub(crate) fn new(
        geometry: &Geometry,
        blocks: &mut BlockTable,
        allocator_config: AllocatorConfig,
    ) -> Pools {
        let planes = geometry.plane_count() as usize;
        let AllocatorConfig { reserve, free_block_policy, classes, reserved_classes, .. } =
            allocator_config;
        let own_blocks = allocator_config.order == PageSequence::Strict
            && allocator_config.gc_stream == GcStream::Separate;
        let mut pools = Pools {
            free: vec![FreeBlocks::new(); planes * classes].into_boxed_slice(),
            count: vec![0; planes].into_boxed_slice(),
            classes,
            reserved_classes,
            reserve,
            free_block_policy,
            moves_last: free_block_policy.measures() && own_blocks,
            freed: 0,
            subpools: None,
            last: BlockClass((classes - usize::from(allocator_config.unowned)) as u8 - 1),
            across: false,
        };
        if allocator_config.by_priority {
            let all = (0..geometry.block_count()).map(BlockId);
            let free = all.filter(|&block| blocks.state(block) == BlockState::Free);
            let ranked = free.map(|block| (pools.key(blocks, block), block.0)).collect();
            let subpools = Subpools::cut(ranked, pools.last.index() + 1);
            subpools.all().for_each(|(block, class)| blocks.set_class(block, class));
            pools.subpools = Some(subpools);
        }
        for plane in (0..geometry.plane_count()).map(PlaneId) {
            let first = geometry.first_block(plane).0;
            let free = (first..first + geometry.blocks).map(BlockId);
            for block in free.filter(|&block| blocks.state(block) == BlockState::Free) {
                let key = pools.key(blocks, block);
                pools.put(blocks, plane, block, key);
            }
        }
        pools
    }

    /// Returns for each block the place in the order in which blocks became free, counted from 1; 0
    /// for blocks that are not free. `None` if the drive opens blocks in another order.
    pub(crate) fn free_order(&self, blocks: usize) -> Option<Vec<u32>> {
        if self.free_block_policy != FreeBlockPolicy::LongestFree {
            return None;
        }
        let mut ranked: Vec<Ranked> = self.free.iter().flatten().copied().collect();
        ranked.sort_unstable();
        let mut order = vec![0; blocks];
        (1..).zip(ranked).for_each(|(place, (_, block))| order[block as usize] = place);
        Some(order)
    }

    /// Continues the order of [`Pools::free_order`], and cuts the subpools to these numbers of
    /// blocks, which add up to the number of free blocks.
    pub(crate) fn resume(
        &mut self,
        blocks: &mut BlockTable,
        order: Option<&[u32]>,
        sizes: Option<&[usize]>,
    ) {
        let free: Vec<u32> = self.free.iter().flatten().map(|(_, block)| *block).collect();
        if let Some(order) = order {
            self.freed = free.iter().map(|&block| order[block as usize]).max().unwrap_or(0);
        }
        let key = |pools: &Pools, blocks: &BlockTable, block: u32| match order {
            Some(order) => order[block as usize],
            None => pools.key(blocks, BlockId(block)),
        };
        let ranked: Vec<Ranked> =
            free.into_iter().map(|block| (key(self, blocks, block), block)).collect();
        if let Some(subpools) = &mut self.subpools {
            let own: Vec<usize> = subpools.sizes().map(|size| size as usize).collect();
            *subpools = Subpools::cut_to(ranked.clone(), sizes.unwrap_or(&own));
            subpools.all().for_each(|(block, class)| blocks.set_class(block, class));
        }
        self.free.iter_mut().for_each(FreeBlocks::clear);
        self.count.fill(0);
        for (key, block) in ranked {
            self.put(blocks, blocks.plane_of(BlockId(block)), BlockId(block), key);
        }
    }

    fn key(&self, blocks: &BlockTable, block: BlockId) -> u32 {
        match self.free_block_policy {
            FreeBlockPolicy::LongestFree => self.freed,
            FreeBlockPolicy::LeastErased => blocks.erases(block),
            FreeBlockPolicy::FewestErrors
            | FreeBlockPolicy::Healthiest
            | FreeBlockPolicy::FewestRetries
            | FreeBlockPolicy::LowestRank => blocks.free_rank(block),
        }
    }

    fn put(&mut self, blocks: &BlockTable, plane: PlaneId, block: BlockId, key: u32) {
        let class = blocks.class(block);
        let pool = self.pool(plane, class);
        self.free[pool].insert((key, block.0));
        self.count[plane.index()] += u32::from(class.index() >= self.reserved_classes);
    }

    fn pool(&self, plane: PlaneId, class: BlockClass) -> usize {
        plane.index() * self.classes + class.index()
    }

    /// Returns an erased block to the pools. Where classes are subpools, that of `gains` grows by
    /// one block.
    pub(crate) fn give_back(
        &mut self,
        blocks: &mut BlockTable,
        (plane, block): (PlaneId, BlockId),
        gains: Option<Priority>,
    ) {
        self.freed += 1;
        let key = self.key(blocks, block);
        let placed = self.subpools.as_mut().map(|subpools| subpools.give((key, block.0), gains));
        let Some((own, passed)) = placed else { return self.put(blocks, plane, block, key) };
        blocks.set_class(block, own);
        self.put(blocks, plane, block, key);
        for (block, class) in passed {
            let plane = blocks.plane_of(block);
            let ranked = (self.key(blocks, block), block.0);
            let was = self.pool(plane, blocks.class(block));
            self.free[was].remove(&ranked);
            blocks.set_class(block, class);
            let is = self.pool(plane, class);
            self.free[is].insert(ranked);
        }
    }

    /// Sets the rank of a free block at once, if the drive opens blocks by the ranks of actions.
    /// Returns false if the rank must wait until the block is erased.
    pub(crate) fn rerank(
        &mut self,
        blocks: &mut BlockTable,
        block: BlockId,
        free_rank: u32,
    ) -> bool {
        let by_rank = self.free_block_policy == FreeBlockPolicy::LowestRank;
        if !by_rank || self.subpools.is_some() || blocks.state(block) != BlockState::Free {
            return false;
        }
        let pool = self.pool(blocks.plane_of(block), blocks.class(block));
        self.free[pool].remove(&(blocks.free_rank(block), block.0));
        blocks.set_free_rank(block, free_rank);
        self.free[pool].insert((free_rank, block.0));
        true
    }

    /// Returns the subpools, if each priority has one.
    pub(crate) fn subpools(&self) -> Option<&Subpools> {
        self.subpools.as_ref()
    }

    /// Returns the number of free blocks of a plane, without those that are reserved.
    #[inline]
    pub(crate) fn count(&self, plane: PlaneId) -> u32 {
        self.count[plane.index()]
    }

    /// Returns the free blocks of a class that the host may open if it gets all of them.
    #[inline]
    pub(crate) fn for_host(&self, plane: PlaneId, class: BlockClass) -> u32 {
        let free = self.free[self.pool(plane, class)].len() as u32;
        if class.index() < self.reserved_classes {
            return free;
        }
        free.min(self.count(plane).saturating_sub(self.reserve))
    }

    /// Returns whether a writer may open a block of this class.
    pub(crate) fn may_open(&self, plane: PlaneId, writer: Writer, class: BlockClass) -> bool {
        let reserve = if writer == Writer::Host { self.reserve } else { 0 };
        let may = class.index() < self.reserved_classes || self.count(plane) > reserve;
        // With subpools, any free block of the plane can serve the class.
        may && (self.subpools.is_some() || !self.free[self.pool(plane, class)].is_empty())
    }

    /// Returns whether the host may write in a block shared with moved pages. It may not while a
    /// job uses the reserve.
    #[inline]
    pub(crate) fn host_may_share(&self, plane: PlaneId) -> bool {
        self.count(plane) >= self.reserve
    }

    /// Takes a free block for a writer that may open one. If a subpool has no block on the plane,
    /// the next worse subpool gives one, else the next better one. That block changes to this
    /// class.
    pub(crate) fn take(
        &mut self,
        blocks: &mut BlockTable,
        plane: PlaneId,
        writer: Writer,
        class: BlockClass,
    ) -> BlockId {
        self.count[plane.index()] -= u32::from(class.index() >= self.reserved_classes);
        if self.subpools.is_none() {
            return BlockId(self.first(blocks, plane, writer, class).1);
        }
        let worse = BlockClass::numbered(class.index()..self.classes);
        let mut others = worse.chain(BlockClass::numbered(0..class.index()).rev());
        let free = |class: &BlockClass| !self.free[self.pool(plane, *class)].is_empty();
        let mut from = others.find(free).expect("a plane with a free block");
        if self.across && writer == Writer::Cold {
            let worn = |class: &BlockClass| {
                let free = self.free[self.pool(plane, *class)].iter();
                free.map(|&(_, block)| blocks.erases(BlockId(block))).max()
            };
            from = BlockClass::numbered(0..self.classes).max_by_key(worn).unwrap_or(from);
        }
        let ranked = self.first(blocks, plane, writer, from);
        let subpools = self.subpools.as_mut().expect("subpools");
        subpools.take(from, ranked);
        blocks.set_class(BlockId(ranked.1), class);
        BlockId(ranked.1)
    }

    /// Sets whether wear leveling takes the most worn block of all priorities.
    pub(crate) fn level_across(&mut self, across: bool) {
        self.across = across;
    }

    /// Takes a writer's next block from a class.
    fn first(
        &mut self,
        blocks: &BlockTable,
        plane: PlaneId,
        writer: Writer,
        class: BlockClass,
    ) -> Ranked {
        let pool = self.pool(plane, class);
        let free = &mut self.free[pool];
        let last = writer == Writer::Cold || (self.moves_last && writer == Writer::Gc);
        if !last {
            return free.pop_first().expect("a class with a free block");
        }
        let worn = free.iter().max_by_key(|&&(key, block)| {
            let wear =
                if self.free_block_policy.measures() { key } else { blocks.erases(BlockId(block)) };
            (wear, Reverse(block))
        });
        let taken = *worn.expect("a class with a free block");
        free.remove(&taken);
        taken
    }

    /// Returns the classes to try: from the requested one to the worst, then to the best that is
    /// not reserved. Without a request the order starts at the worst, which leaves the best
    /// classes for requests. Where classes are subpools, returns only that class.
    #[inline]
    pub(crate) fn nearest(
        &self,
        hint: Option<BlockClass>,
    ) -> impl Iterator<Item = BlockClass> + use<> {
        let last = self.classes - 1;
        let first = hint.unwrap_or(self.last).index().min(last);
        // Each priority writes in blocks of its own class.
        let (last, upto) =
            if self.subpools.is_some() { (first, first) } else { (last, self.reserved_classes) };
        BlockClass::numbered(first..last + 1)
            .chain(BlockClass::numbered(upto.min(first)..first).rev())
    }

    /// Returns the classes that are not reserved.
    #[inline]
    pub(crate) fn unreserved(&self) -> impl Iterator<Item = BlockClass> + use<> {
        BlockClass::numbered(self.reserved_classes..self.classes)
    }

    /// Returns the free blocks of a plane, in no order.
    pub(crate) fn list(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        let first = plane.index() * self.classes;
        let free = self.free[first..first + self.classes].iter().flatten();
        free.map(|(_, block)| BlockId(*block))
    }
}
