//! The blocks of a sample after its history, and how the planes of a larger drive are drawn from
//! them.
//!
//! A block of the drive takes the contents of a block of the sample that ranked equally on its
//! plane at the beginning. Every drawn plane holds as many pages of each group as it must: the last
//! few are added or removed at random.

mod adjust;
mod assignment;

use std::cmp::Reverse;
use std::ops::Range;

use rand::Rng;
use rand::seq::SliceRandom;
use ssdlab_base::rng;
use ssdlab_nand::{BlockId, Geometry, Lpn, PageInBlock, PlaneId, Ppn, ProgramMode};

use super::owners::{Area, Numbers};
use super::pool::OpenedBy;
use super::shuffled::Shuffled;
use crate::config::Resolved;
use crate::flash::BlockHistory;
use crate::ftl::{BlockState, BlockTable, ReversePart};
use crate::media;
use crate::policy::allocation::BlockClass;
use adjust::adjusted;
use assignment::{Slot, slots};

/// The purpose of the hash that gives each plane its random numbers.
const HISTORY: u64 = 0x11fed;

/// A block of the sample at the end of its history.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Its rank among the blocks of its plane at the beginning, from 0 to 1.
    pub rank: f64,
    /// Its class, where classes are owners; otherwise the best.
    pub class: BlockClass,
    /// The writer that has it open, if any.
    pub open: Option<OpenedBy>,
    /// Its written pages.
    pub written: u16,
    /// The number of blocks of its plane that were closed after it.
    pub closed_after: u32,
    /// P/E cycles since the beginning, as the controller counts them.
    pub erases: u32,
    /// P/E cycles that the history has beyond those that were run.
    pub more_erases: f64,
    /// The history of its cells, with the wear since the beginning; none under flat physics.
    pub history: Option<BlockHistory>,
    /// The program mode of each page; empty on a drive with one mode.
    pub modes: Vec<ProgramMode>,
}

/// The blocks of a sample after its history.
#[derive(Clone, Debug, Default)]
pub(crate) struct HistorySample {
    /// Number of groups of pages: the tenants, then the other pages of each class.
    pub groups: usize,
    /// All blocks that are not bad.
    pub records: Vec<Record>,
    /// By record and group: the valid pages.
    pub valid: Vec<u16>,
    /// The records of each plane.
    pub planes: Vec<Range<u32>>,
    /// Free blocks of a plane that background policies keep.
    pub free_blocks: f64,
    /// Usable blocks of a plane.
    pub blocks: f64,
    /// Free blocks of each subpool, if priorities have subpools.
    pub subpools: Option<Vec<u32>>,
}

/// Returns the group of the pages of an area. `tenants` is the number of tenants.
pub(crate) fn group_of(area: &Area, tenants: usize) -> usize {
    area.tenant.unwrap_or(tenants + area.class.index())
}

/// The records of a plane by their contents, each list by rank.
struct SortedPlane {
    /// By class: full blocks.
    full: Vec<Vec<u32>>,
    open: Vec<u32>,
    free: Vec<u32>,
}

/// The records by plane, and the pages that the drive holds.
pub(crate) struct Sorted<'a> {
    sample: &'a HistorySample,
    planes: Vec<SortedPlane>,
    /// By group and class: the share of the group's pages that lie in blocks of the class.
    shares: Vec<Vec<f64>>,
    areas: &'a [Area],
    tenants: usize,
    /// Free blocks of a plane that the background policies of the drive keep.
    free_blocks: f64,
}

impl<'a> Sorted<'a> {
    /// Sorts the records. `tenants` is the number of tenants among the owners, and `free_blocks`
    /// the number of free blocks of a plane that the drive's background policies keep.
    pub(crate) fn new(
        resolved: &Resolved,
        sample: &'a HistorySample,
        (areas, tenants): (&'a [Area], usize),
        free_blocks: f64,
    ) -> Sorted<'a> {
        let by_priority = resolved.classes.by_priority;
        let count = if by_priority { resolved.classes_of_blocks() } else { 1 };
        let pages = resolved.geometry().pages as u16;
        let planes = sample.planes.iter().map(|all| {
            let mut plane =
                SortedPlane { full: vec![Vec::new(); count], open: Vec::new(), free: Vec::new() };
            for at in all.clone() {
                let record = &sample.records[at as usize];
                let list = match record.written {
                    0 => &mut plane.free,
                    written if written == pages => &mut plane.full[record.class.index()],
                    _ => &mut plane.open,
                };
                list.push(at);
            }
            plane
        });
        let mut shares = vec![vec![0.0; count]; sample.groups];
        for (record, valid) in sample.records.iter().zip(sample.valid.chunks(sample.groups.max(1)))
        {
            for (&valid, shares) in valid.iter().zip(&mut shares) {
                shares[record.class.index()] += f64::from(valid);
            }
        }
        for area in areas {
            // A group without pages in the sample lies in its own blocks.
            let shares = &mut shares[group_of(area, tenants)];
            let own = if by_priority { area.class.index() } else { 0 };
            if shares.iter().all(|&share| share == 0.0) {
                shares[own] = 1.0;
            }
            let all: f64 = shares.iter().sum();
            shares.iter_mut().for_each(|share| *share /= all);
        }
        Sorted { sample, planes: planes.collect(), shares, areas, tenants, free_blocks }
    }

    /// Divides the pages of each group among classes. Returns them by class and group.
    fn by_class(&self, need: &[u32]) -> Vec<Vec<u32>> {
        let count = self.shares.first().map_or(1, Vec::len);
        let mut divided = vec![vec![0; need.len()]; count];
        for (group, (&need, shares)) in need.iter().zip(&self.shares).enumerate() {
            let (mut summed, mut handed_out) = (0.0, 0);
            for (share, own) in shares.iter().zip(&mut divided) {
                summed += share;
                let upto = (f64::from(need) * summed).round() as u32;
                own[group] = upto - std::mem::replace(&mut handed_out, upto);
            }
        }
        divided
    }

    fn record(&self, at: u32) -> &'a Record {
        &self.sample.records[at as usize]
    }

    fn valid(&self, at: u32) -> &'a [u16] {
        &self.sample.valid[at as usize * self.sample.groups..][..self.sample.groups]
    }
}

/// The contents of a plane, as they will be.
pub(crate) struct Mixed {
    /// Each group's pages on the plane, and the key that shuffles them.
    groups: Vec<(Numbers, u64)>,
    /// The blocks with data, and their written pages.
    blocks: Vec<(BlockId, u16)>,
    /// By block and group: the valid pages.
    valid: Vec<u16>,
    /// The open blocks.
    pub open: Vec<(OpenedBy, BlockId, u16)>,
    /// Every block that is not bad, with the record that it gets.
    pub taken: Vec<(BlockId, u32)>,
    random: rng::Stream,
}

impl Mixed {
    /// Plans a plane, and lays its blocks down. The plane holds the pages whose number modulo
    /// `planes` is `position`.
    pub(crate) fn of(
        resolved: &Resolved,
        sorted: &Sorted,
        (plane, position, planes): (PlaneId, u32, u32),
        blocks: &mut BlockTable,
    ) -> Mixed {
        let seed = rng::hash(resolved.seed, HISTORY, plane.0.into());
        let mut random = rng::stream(seed, "start.lived");
        let groups: Vec<(Numbers, u64)> = (0..sorted.sample.groups)
            .map(|group| {
                let own = |area: &&Area| group_of(area, sorted.tenants) == group;
                let own = sorted.areas.iter().filter(own).map(|area| &area.pages);
                (Numbers::of(own, position, planes), rng::hash(seed, HISTORY, group as u64))
            })
            .collect();
        let need: Vec<u32> = groups.iter().map(|(numbers, _)| numbers.count()).collect();
        let usable = by_rank(resolved, blocks, plane);
        let need = sorted.by_class(&need);
        let mut slots = slots(resolved, sorted, usable.len(), &need, &mut random);
        slots.sort_by(|a, b| a.rank.total_cmp(&b.rank));
        let mut held: Vec<(BlockId, Slot)> = usable.into_iter().zip(slots).collect();
        let taken = held.iter().map(|(block, slot)| (*block, slot.record)).collect();
        // Blocks are laid down in the order in which they were closed.
        held.retain(|(_, slot)| slot.written > 0);
        let pages = resolved.geometry().pages as u16;
        held.sort_by_key(|(_, slot)| {
            (slot.written < pages, Reverse(sorted.record(slot.record).closed_after))
        });
        let valid = adjusted(sorted, &held, &need, &mut random);
        let count = sorted.sample.groups.max(1);
        let mut open = Vec::new();
        for ((block, slot), own) in held.iter().zip(valid.chunks(count)) {
            blocks.prefill(*block, slot.written, own.iter().sum());
            if resolved.classes.by_priority {
                blocks.set_class(*block, slot.class);
            }
            let by = sorted.record(slot.record).open.filter(|_| slot.written < pages);
            open.extend(by.map(|by| (by, *block, slot.written)));
        }
        let blocks = held.iter().map(|(block, slot)| (*block, slot.written)).collect();
        Mixed { groups, blocks, valid, open, taken, random }
    }

    /// Draws which pages hold which data. `own` gets the place of each of the plane's pages.
    pub(crate) fn draw(
        &self,
        geometry: &Geometry,
        (position, planes): (u32, u32),
        own: &mut [Ppn],
        reverse: &mut ReversePart,
    ) {
        let mut random = self.random.clone();
        let shuffled = self.groups.iter().map(|(own, key)| Shuffled::new(own.count(), *key));
        let mut shuffled: Vec<Shuffled> = shuffled.collect();
        let mut data = vec![0; geometry.pages as usize];
        let count = self.groups.len().max(1);
        for ((block, written), valid) in self.blocks.iter().zip(self.valid.chunks(count)) {
            let mut held = 0;
            for (group, &valid) in valid.iter().enumerate().filter(|(_, valid)| **valid > 0) {
                let own = &mut data[held..held + usize::from(valid)];
                shuffled[group].next(own);
                let numbers = &self.groups[group].0;
                own.iter_mut().for_each(|place| *place = numbers.at(*place));
                held += own.len();
            }
            let data = &mut data[..held];
            if valid.iter().filter(|&&valid| valid > 0).count() > 1 {
                data.shuffle(&mut random);
            }
            let (mut data, mut left) = (data.iter(), held as u64);
            for page in 0..*written {
                // Selection sampling: each page is equally likely to be valid.
                if rng::below(random.next_u64(), u64::from(written - page)) < left {
                    left -= 1;
                    let number = *data.next().expect("as many pages as are valid");
                    let ppn = geometry.page(*block, PageInBlock(page));
                    own[number as usize] = ppn;
                    reverse.set(ppn, Lpn(number * planes + position));
                }
            }
        }
    }
}

/// Returns the usable blocks of a plane as they rank at the beginning of a history, the best first.
pub(crate) fn by_rank(resolved: &Resolved, blocks: &BlockTable, plane: PlaneId) -> Vec<BlockId> {
    let by_priority = resolved.classes.by_priority;
    let pool = blocks.pool(plane);
    let all = (0..pool.len()).map(|at| pool.block(at));
    let mut usable: Vec<BlockId> =
        all.filter(|&block| blocks.state(block) != BlockState::Bad).collect();
    usable.sort_by_cached_key(|&block| {
        let class = if by_priority { BlockClass::BEST } else { blocks.class(block) };
        (
            class,
            blocks.free_rank(block),
            blocks.erases(block),
            media::random_key(resolved.seed, block),
        )
    });
    usable
}
