//! Groups of blocks by the level at which they are read. A part of each group is reserved for
//! pages that are read often. Source: PV-read, sections IV.B and IV.C.
//!
//! The measurement of a block is the worst read of its pages since the last measurement. It holds
//! the level at which the page decoded, and the bit errors that the decoder counted. The block
//! takes its new measurement at an erase, once per interval of P/E cycles. At an erase it may also
//! join or leave the part that is reserved.

use ssdlab_base::math;
use ssdlab_nand::{BlockId, Level, PlaneId};

use super::block_class::BlockClassChoice;
use super::group_config::GROWTH;
pub use super::group_config::{Boundaries, GroupsConfig, Scope};
use super::readings::Readings;
use ssdlab_policy::Learner;
use ssdlab_policy::account::Reading;
use ssdlab_policy::allocation::{BlockClass, FreeBlockPolicy};
use ssdlab_policy::columns::{Column, Per};
use ssdlab_policy::component::{BlockMetadata, Component, PageMetadata, Ranks, StartView};
use ssdlab_policy::event::{Action, Event, EventContext, EventMask, FreedBlock};

/// The blocks of a group on a plane.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    blocks: u32,
    reserved: u32,
}

/// The groups of a drive's blocks.
#[derive(Clone, Debug)]
pub struct Groups {
    config: GroupsConfig,
    /// The last measurement of each block.
    known: Readings,
    /// The worst reading of each block since its last measurement, and its P/E cycles at that
    /// measurement.
    seen: Readings,
    measured: Box<[u32]>,
    /// By plane and group.
    shares: Box<[Part]>,
    /// By plane and group but the last, the group's last block in the order of errors; empty if
    /// levels divide the groups.
    bounds: Box<[(u32, u32)]>,
    /// Number of blocks of each plane that may still be reserved.
    room: Box<[u32]>,
    /// Total number of blocks of a plane that may be reserved.
    max_reserved_blocks: u32,
    blocks_per_plane: u32,
    /// Number of levels at which a block can be read.
    levels: u8,
    /// The most errors in a codeword of a readable block.
    max_errors: u32,
    /// The order in which free blocks are opened.
    free_block_policy: FreeBlockPolicy,
}

/// The first measurement of a drive's blocks.
#[derive(Clone, Debug)]
pub struct First {
    /// Number of blocks of a plane, and of those that can be reserved.
    pub blocks_per_plane: u32,
    /// See `blocks_per_plane`.
    pub max_reserved_blocks: u32,
    /// Number of levels at which a block can be read.
    pub levels: u8,
    /// The most errors in a codeword of a readable block.
    pub max_errors: u32,
    /// The measurement of each block, and its P/E cycles.
    pub known: Vec<Reading>,
    /// See `known`.
    pub erases: Vec<u32>,
    /// The order in which free blocks are opened.
    pub free_block_policy: FreeBlockPolicy,
}

impl Groups {
    /// Returns the first measurement of this view's drive, with these readings and P/E cycles of
    /// its blocks.
    fn first(view: &StartView, known: Vec<Reading>, erases: Vec<u32>) -> First {
        First {
            blocks_per_plane: view.context.geometry.blocks,
            max_reserved_blocks: view.max_reserved_blocks,
            levels: view.context.levels,
            max_errors: view.max_errors,
            known,
            erases,
            free_block_policy: view.free_block_policy,
        }
    }

    /// Returns groups without reserved blocks.
    pub fn new(config: &GroupsConfig, first: First) -> Groups {
        let First {
            blocks_per_plane,
            max_reserved_blocks,
            levels,
            max_errors,
            known,
            erases,
            free_block_policy,
        } = first;
        let planes = known.len() / blocks_per_plane as usize;
        let bounds = match &config.boundaries {
            Boundaries::Levels(_) => 0,
            Boundaries::Shares(shares) => shares.len(),
        };
        let mut groups = Groups {
            config: config.clone(),
            seen: Readings::none(known.len()),
            known: Readings::of(&known),
            measured: erases.into(),
            shares: vec![Part::default(); planes * config.groups()].into(),
            bounds: vec![(0, 0); planes * bounds].into(),
            room: vec![max_reserved_blocks; planes].into(),
            max_reserved_blocks,
            blocks_per_plane,
            levels,
            max_errors,
            free_block_policy,
        };
        groups.count_anew(|_| None);
        groups
    }

    /// Counts the blocks of each group, and those that are reserved. `class` returns the class of
    /// a block that is reserved, and `None` for any other block.
    pub fn count_anew(&mut self, class: impl Fn(BlockId) -> Option<BlockClass>) {
        self.shares.fill(Part::default());
        self.room.fill(self.max_reserved_blocks);
        (0..self.room.len() as u32).for_each(|plane| self.cut(PlaneId(plane)));
        for block in (0..self.measured.len() as u32).map(BlockId) {
            let group = self.group_of(block);
            self.share(block, group).blocks += 1;
            if let Some(class) = class(block) {
                self.share(block, class).reserved += 1;
                let room = self.room(block);
                *room = room.saturating_sub(1);
            }
        }
    }

    fn plane(&self, block: BlockId) -> usize {
        (block.0 / self.blocks_per_plane) as usize
    }

    /// Divides the blocks of a plane by rank, if ranks divide the groups.
    fn cut(&mut self, plane: PlaneId) {
        let Boundaries::Shares(shares) = &self.config.boundaries else { return };
        let first = plane.0 * self.blocks_per_plane;
        let mut ranked: Vec<(u32, u32)> = (first..first + self.blocks_per_plane)
            .map(|block| (self.known.errors[block as usize], block))
            .collect();
        ranked.sort_unstable();
        let mut summed = 0.0;
        for (group, share) in shares.iter().enumerate() {
            summed += share.get();
            let upto = ((summed * ranked.len() as f64).round() as usize).min(ranked.len());
            // No block ranks below the first.
            let last = upto.checked_sub(1).map_or((0, 0), |last| ranked[last]);
            self.bounds[plane.index() * shares.len() + group] = last;
        }
    }

    /// Returns the level at which a block was measured, from 0.
    pub fn level(&self, block: BlockId) -> Level {
        Level(self.known.level[block.index()].saturating_sub(1))
    }

    /// Returns the group of a block by its last measurement, 0 the best, whether the block is
    /// reserved or not.
    pub fn group_of(&self, block: BlockId) -> BlockClass {
        let better = match &self.config.boundaries {
            Boundaries::Levels(upto) => {
                let level = self.level(block).0 + 1;
                upto.iter().filter(|&&upto| level > upto).count()
            }
            Boundaries::Shares(shares) => {
                let rank = (self.errors(block), block.0);
                let first = self.plane(block) * shares.len();
                let bounds = &self.bounds[first..first + shares.len()];
                bounds.iter().filter(|&&bound| rank > bound).count()
            }
        };
        BlockClass(better as u8)
    }

    /// Returns the raw bit errors of a block's codewords at its last measurement.
    pub fn errors(&self, block: BlockId) -> u32 {
        self.known.errors[block.index()]
    }

    /// Returns how long a block with `erases` P/E cycles is predicted to stay readable, in
    /// measuring intervals. Its errors grow with a power of its cycles.
    pub(crate) fn intervals_left(&self, block: BlockId, erases: u32) -> u32 {
        let grows = f64::from(self.max_errors) / f64::from(self.errors(block).max(1));
        let life = math::pow(grows, 1.0 / self.config.growth.unwrap_or(GROWTH));
        let left = f64::from(erases.max(1)) * (life - 1.0) / f64::from(self.config.interval.max(1));
        // A negative result becomes 0: the block is beyond its predicted life.
        left as u32
    }

    /// Returns the number of groups. Each group but the last has a part that is reserved.
    pub fn count(&self) -> u8 {
        self.config.groups() as u8
    }

    fn share(&mut self, block: BlockId, group: BlockClass) -> &mut Part {
        &mut self.shares[self.plane(block) * self.config.groups() + group.index()]
    }

    fn room(&mut self, block: BlockId) -> &mut u32 {
        &mut self.room[self.plane(block)]
    }

    /// Returns the number of blocks of a group on a plane that are reserved.
    fn reserved(&self, plane: PlaneId, group: BlockClass) -> u32 {
        self.shares[plane.index() * self.config.groups() + group.index()].reserved
    }

    /// Returns whether one more block of its group should be reserved.
    fn has_share_left(&mut self, block: BlockId, group: BlockClass) -> bool {
        if group.0 + 1 == self.count() {
            return false;
        }
        let share = self.config.read_hot_share;
        let room = *self.room(block);
        let found = self.share(block, group);
        room > 0 && u64::from(found.reserved) < share.of(u64::from(found.blocks))
    }

    /// Returns whether blocks of this class are reserved.
    pub fn is_reserved(&self, class: BlockClass) -> bool {
        class.0 + 1 < self.count()
    }

    /// Returns the class of a free block. It is the block's group if the block `may` join the part
    /// that is reserved and that part needs it. Otherwise it is the last class.
    fn group_of_free(&mut self, block: BlockId, may: bool) -> BlockClass {
        let group = self.group_of(block);
        if may && self.has_share_left(block, group) {
            self.share(block, group).reserved += 1;
            *self.room(block) -= 1;
            return group;
        }
        BlockClass(self.count() - 1)
    }

    /// Notes a read of a page of a block.
    pub fn read(&mut self, block: BlockId, reading: Reading) {
        self.seen.worsen(block, reading);
    }

    /// Returns the new class of a block of class `class` that was erased and now has `erases` P/E
    /// cycles. The class is the last if the block may not be reserved.
    pub fn erased(
        &mut self,
        block: BlockId,
        class: BlockClass,
        erases: u32,
        may_join: bool,
    ) -> BlockClass {
        if self.is_reserved(class) {
            self.share(block, class).reserved -= 1;
            *self.room(block) += 1;
        }
        // A state file may hold impossible values.
        if erases.saturating_sub(self.measured[block.index()]) >= self.config.interval {
            let before = self.group_of(block);
            self.measured[block.index()] = erases;
            self.known.take(block, &mut self.seen);
            // With ranks, each group keeps its number of blocks.
            match &self.config.boundaries {
                Boundaries::Levels(_) => {
                    let after = self.group_of(block);
                    self.share(block, before).blocks -= 1;
                    self.share(block, after).blocks += 1;
                }
                Boundaries::Shares(_) => self.cut(PlaneId(self.plane(block) as u32)),
            }
        }
        self.group_of_free(block, may_join)
    }

    /// Returns whether blocks are ranked or opened by the errors of their worst page.
    fn counts_errors(&self) -> bool {
        self.free_block_policy.measures() || matches!(self.config.boundaries, Boundaries::Shares(_))
    }
}

impl Component for Groups {
    type Config = BlockClassChoice;

    const CLASSIFIES: bool = true;
    const RANKS: Ranks = Ranks {
        policies: &[FreeBlockPolicy::FewestErrors, FreeBlockPolicy::Healthiest],
        expected: "blocks that are measured (metadata.block_class = \"measured\")",
    };

    fn build(config: &BlockClassChoice, view: &StartView) -> Groups {
        let BlockClassChoice::Measured(config) = config else {
            unreachable!("only measured blocks have groups")
        };
        Groups::new(config, Groups::first(view, Vec::new(), Vec::new()))
    }

    fn begin(&mut self, view: &StartView) {
        let all = (0..view.context.geometry.block_count()).map(BlockId);
        let known = all.clone().map(|block| view.blocks.worst_reading(block)).collect();
        let erases = all.map(|block| view.blocks.pe_cycles(block)).collect();
        *self = Groups::new(&self.config, Groups::first(view, known, erases));
    }

    fn class_of_free(&mut self, block: BlockId, may_join: bool) -> Option<BlockClass> {
        Some(self.group_of_free(block, may_join))
    }

    fn classes_restored(&mut self, reserved_class: &dyn Fn(BlockId) -> Option<BlockClass>) {
        self.count_anew(reserved_class);
    }
}

impl BlockMetadata for Groups {
    fn free_rank(&self, block: BlockId, pe_cycles: u32) -> Option<u32> {
        if self.measured.is_empty() {
            return None;
        }
        match self.free_block_policy {
            FreeBlockPolicy::FewestErrors => Some(self.errors(block)),
            FreeBlockPolicy::Healthiest => Some(u32::MAX - self.intervals_left(block, pe_cycles)),
            _ => None,
        }
    }

    fn reserved_blocks(&self, plane: PlaneId, class: BlockClass) -> Option<u32> {
        Some(self.reserved(plane, class))
    }
}

impl PageMetadata for Groups {}

impl Learner for Groups {
    fn name(&self) -> &'static str {
        "block_class"
    }

    fn events(&self) -> EventMask {
        let errors = if self.counts_errors() { EventMask::READ_ERRORS } else { EventMask::NONE };
        EventMask::PAGE_READ.and(EventMask::BLOCK_FREED).and(errors)
    }

    fn on_event(&mut self, event: &Event, context: &mut EventContext) {
        match *event {
            Event::PageRead(read) if read.mapped => {
                // Other policies may subscribe to errors that these groups do not use.
                let errors = if self.counts_errors() { read.errors } else { 0 };
                let reading = Reading { level: read.level, errors };
                self.read(read.block, reading);
            }
            Event::BlockFreed(&FreedBlock { block, class, pe_cycles, has_spare, .. }) => {
                let class = self.erased(block, class, pe_cycles, has_spare);
                context.actions.push(Action::SetClass { block, class });
                let free_rank = self.free_rank(block, pe_cycles);
                let set_free_rank = |free_rank| Action::SetFreeRank { block, free_rank };
                free_rank
                    .into_iter()
                    .for_each(|free_rank| context.actions.push(set_free_rank(free_rank)));
            }
            _ => {}
        }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        let of_a_group = u64::from(u8::BITS - (self.count() - 1).leading_zeros());
        let of_errors = u64::from(u32::BITS - self.max_errors.leading_zeros());
        let of_errors = if self.counts_errors() { of_errors } else { 0 };
        let levels = self.levels.into();
        let Groups { known, seen, measured, .. } = self;
        vec![
            Column::new("block_groups", Per::Block, &mut known.level)
                .bits(of_a_group)
                .up_to(levels),
            Column::new("block_errors", Per::Block, &mut known.errors).bits(of_errors),
            Column::new("block_groups_seen", Per::Block, &mut seen.level)
                .bits(of_a_group)
                .up_to(levels),
            Column::new("block_errors_seen", Per::Block, &mut seen.errors).bits(of_errors),
            Column::new("block_measured_at", Per::Block, measured),
        ]
    }
}

#[cfg(test)]
mod tests;
