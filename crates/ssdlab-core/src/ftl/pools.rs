//! Free blocks of every plane, by class.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};
use ssdlab_nand::{BlockId, Geometry, PlaneId};

use super::blocks::{BlockState, BlockTable};
use super::manner::{Copies, Manner, Opens, PageSequence, Stream};

/// Free blocks of a plane and class, (key, block), the least key on top.
type FreeBlocks = BinaryHeap<Reverse<(u32, u32)>>;

/// The free blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pools {
    /// Free blocks of each plane and class, by [`Opens`]; the first to be opened on top.
    free: Box<[FreeBlocks]>,
    /// Free blocks of each plane, without those that are set apart.
    count: Box<[u32]>,
    pub classes: usize,
    /// Classes that are set apart, the best first.
    pub apart: usize,
    /// Free blocks of a plane that only a job may open: it gives one back when it ends.
    pub reserve: u32,
    opens: Opens,
    /// Whether what is moved, which is colder than what the host writes, goes to the blocks that come
    /// last.
    moves_last: bool,
    freed: u32,
}

impl Pools {
    /// Every block of `blocks` that is free.
    pub fn new(geometry: &Geometry, blocks: &BlockTable, manner: Manner) -> Pools {
        let planes = geometry.plane_count() as usize;
        let Manner { reserve, opens, classes, apart, .. } = manner;
        let own_blocks = manner.order == PageSequence::Strict && manner.copies == Copies::Apart;
        let mut pools = Pools {
            free: vec![FreeBlocks::new(); planes * classes].into_boxed_slice(),
            count: vec![0; planes].into_boxed_slice(),
            classes,
            apart,
            reserve,
            opens,
            moves_last: opens.measures() && own_blocks,
            freed: 0,
        };
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

    fn key(&self, blocks: &BlockTable, block: BlockId) -> u32 {
        match self.opens {
            Opens::LongestFree => self.freed,
            Opens::LeastErased => blocks.erases(block),
            Opens::FewestErrors | Opens::Healthiest => blocks.turn(block),
        }
    }

    fn put(&mut self, blocks: &BlockTable, plane: PlaneId, block: BlockId, key: u32) {
        let class = usize::from(blocks.class(block));
        let pool = self.pool(plane, class);
        self.free[pool].push(Reverse((key, block.0)));
        self.count[plane.index()] += u32::from(class >= self.apart);
    }

    #[inline]
    fn pool(&self, plane: PlaneId, class: usize) -> usize {
        plane.index() * self.classes + class
    }

    /// Gives an erased block back.
    pub fn give_back(&mut self, blocks: &BlockTable, plane: PlaneId, block: BlockId) {
        self.freed += 1;
        let key = self.key(blocks, block);
        self.put(blocks, plane, block, key);
    }

    /// Free blocks of a plane, without those that are set apart.
    #[inline]
    pub fn count(&self, plane: PlaneId) -> u32 {
        self.count[plane.index()]
    }

    /// Free blocks of a class that the host may open if it gets all of them.
    #[inline]
    pub fn for_host(&self, plane: PlaneId, class: usize) -> u32 {
        let free = self.free[self.pool(plane, class)].len() as u32;
        if class < self.apart {
            return free;
        }
        free.min(self.count(plane).saturating_sub(self.reserve))
    }

    /// Whether a stream may open a block of this class.
    #[inline]
    pub fn may_open(&self, plane: PlaneId, stream: Stream, class: usize) -> bool {
        let kept = if stream == Stream::Host { self.reserve } else { 0 };
        let may = class < self.apart || self.count(plane) > kept;
        may && !self.free[self.pool(plane, class)].is_empty()
    }

    /// Whether the host may write in a block that it shares with what is moved: not while the one
    /// that was kept for a job is in use.
    #[inline]
    pub fn host_may_share(&self, plane: PlaneId) -> bool {
        self.count(plane) >= self.reserve
    }

    /// Takes a block for a stream that may open one.
    pub fn take(
        &mut self,
        blocks: &BlockTable,
        plane: PlaneId,
        stream: Stream,
        class: usize,
    ) -> BlockId {
        self.count[plane.index()] -= u32::from(class >= self.apart);
        let pool = self.pool(plane, class);
        let heap = &mut self.free[pool];
        let last = stream == Stream::Cold || (self.moves_last && stream == Stream::Gc);
        if !last {
            let Reverse((_, block)) = heap.pop().expect("a class with a free block");
            return BlockId(block);
        }
        let mut all = std::mem::take(heap).into_vec();
        let worn = (0..all.len()).max_by_key(|&at| {
            let Reverse((key, block)) = all[at];
            let wear = if self.opens.measures() { key } else { blocks.erases(BlockId(block)) };
            (wear, Reverse(block))
        });
        let taken = all.swap_remove(worn.expect("a class with a free block"));
        *heap = all.into();
        BlockId(taken.0.1)
    }

    /// Classes from the wished one to the worst, then from it to the best that is not set apart;
    /// without a wish from the worst up, so that the best are left for whoever asks for them.
    #[inline]
    pub fn nearest(&self, wish: Option<u8>) -> impl Iterator<Item = usize> + use<> {
        let last = self.classes - 1;
        let first = wish.map_or(last, |class| usize::from(class).min(last));
        (first..=last).chain((self.apart.min(first)..first).rev())
    }

    /// The free blocks of a plane, in no order.
    pub fn list(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        let first = plane.index() * self.classes;
        let free = self.free[first..first + self.classes].iter().flatten();
        free.map(|Reverse((_, block))| BlockId(*block))
    }
}
