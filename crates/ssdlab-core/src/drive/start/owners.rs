//! The owners of the data at the start of a drive, and their blocks on each plane.

use std::ops::Range;

use ssdlab_nand::{BlockId, PlaneId};

use super::pool::{Open, Snapshot, free_blocks_of_drive, min_blocks};
use crate::account::Priority;
use crate::config::{RESERVE_BLOCKS, Rate, Resolved, StartOwners};
use crate::ftl::{BlockState, BlockTable};
use crate::policy::allocation::BlockClass;

/// The logical pages of one submission queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tenant {
    /// The first page.
    pub first: u32,
    /// Number of pages.
    pub pages: u32,
    /// The queue.
    pub queue: u8,
    /// How often the pages were accessed in the history of the start, if it has one.
    pub rate: Rate,
    /// Pages of each write in the history.
    pub write_pages: u32,
}

impl Default for Tenant {
    fn default() -> Tenant {
        Tenant { first: 0, pages: 0, queue: 0, rate: Rate::default(), write_pages: 1 }
    }
}

/// A range of logical pages with one owner.
#[derive(Clone, Debug)]
pub(crate) struct Area {
    /// The pages.
    pub pages: Range<u32>,
    /// The class of the owner's blocks, if it has blocks of its own.
    pub class: BlockClass,
    /// The place of the owner in the list of tenants, if it is one.
    pub tenant: Option<usize>,
}

/// Returns the owners of the first `filled` pages. Tenants own their pages. `start.owners` decides
/// the owner of the others.
pub(crate) fn areas(resolved: &Resolved, tenants: &[Tenant], filled: u32) -> Vec<Area> {
    let classes = if resolved.classes.by_priority { resolved.classes.count as u8 } else { 1 };
    let class = |queue: u8| Priority::of_queue(queue.min(classes - 1)).class();
    let mut own = vec![0u64; classes.into()];
    for tenant in tenants {
        own[class(tenant.queue).index()] += u64::from(tenant.pages);
    }
    let owners = resolved.config.start.owners.unwrap_or_default();
    let shares = shares_of_others(owners, own);
    let mut tenants: Vec<_> = tenants.iter().enumerate().collect();
    tenants.sort_by_key(|(_, tenant)| tenant.first);
    let (mut areas, mut next) = (Vec::new(), 0);
    for (at, tenant) in tenants {
        let first = tenant.first.clamp(next, filled);
        share_out(&mut areas, next..first, &shares);
        next = tenant.first.saturating_add(tenant.pages).clamp(first, filled);
        areas.push(Area { pages: first..next, class: class(tenant.queue), tenant: Some(at) });
    }
    share_out(&mut areas, next..filled, &shares);
    areas
}

/// The owners of the data.
#[derive(Clone, Debug)]
pub(crate) enum Owners {
    /// All data shares the blocks.
    One,
    /// Each priority has separate blocks. `ranges` lists its logical pages in consecutive ranges.
    /// `unowned` tells whether a further class holds pages of no priority. `free_blocks` is the
    /// number of free blocks that are kept of the whole drive.
    Each { ranges: Vec<(Range<u32>, BlockClass)>, classes: u8, unowned: bool, free_blocks: u32 },
}

/// The part of a plane that one owner has.
#[derive(Clone, Debug)]
pub(crate) struct Owned {
    /// The class of its blocks.
    pub class: BlockClass,
    /// Its blocks, some of which stay free.
    pub blocks: Vec<BlockId>,
    /// The number of them that should be full.
    pub full: usize,
    /// The numbers of its pages on the plane. The drive's pages go to the planes in turn.
    pub numbers: Numbers,
}

/// A set of numbers, as a few ranges.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers(Vec<Range<u32>>);

impl Numbers {
    /// Returns all numbers below `count`.
    fn all(count: u32) -> Numbers {
        Numbers(std::iter::once(0..count).collect())
    }

    /// Returns the numbers on a plane of the logical pages in these ranges, in ascending order. The
    /// plane holds the pages whose number modulo `planes` is `position`.
    pub(crate) fn of<'a>(
        ranges: impl Iterator<Item = &'a Range<u32>>,
        position: u32,
        planes: u32,
    ) -> Numbers {
        let number = |page: u32| page.saturating_sub(position).div_ceil(planes);
        let own = ranges.map(|range| number(range.start)..number(range.end));
        Numbers(own.filter(|range| !range.is_empty()).collect())
    }

    /// Returns the number of numbers.
    pub(crate) fn count(&self) -> u32 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// Returns the number at this place.
    pub(crate) fn at(&self, mut place: u32) -> u32 {
        for range in &self.0 {
            let count = range.end - range.start;
            if place < count {
                return range.start + place;
            }
            place -= count;
        }
        unreachable!("fewer numbers than that")
    }
}

impl Owners {
    /// Returns the owners of the first `filled` pages.
    pub(crate) fn new(resolved: &Resolved, tenants: &[Tenant], filled: u32) -> Owners {
        if !resolved.classes.by_priority {
            return Owners::One;
        }
        let classes = resolved.classes.count as u8;
        let areas = areas(resolved, tenants, filled).into_iter();
        let ranges = areas.map(|area| (area.pages, area.class)).collect();
        let unowned = resolved.has_unowned();
        Owners::Each { ranges, classes, unowned, free_blocks: free_blocks_of_drive(resolved) }
    }

    /// Returns the number of owners with separate open blocks. Nobody counts as one.
    pub(crate) fn count(&self) -> usize {
        match *self {
            Owners::One => 1,
            Owners::Each { classes, unowned, .. } => usize::from(classes) + usize::from(unowned),
        }
    }

    /// Returns whether the host writes blocks of the owner at this place.
    pub(crate) fn writes(&self, owner: usize) -> bool {
        match *self {
            Owners::One => true,
            Owners::Each { classes, .. } => owner < classes.into(),
        }
    }

    /// Returns whether free blocks are kept of the drive as a whole, so that garbage collection
    /// serves all planes.
    pub(crate) fn share_free(&self) -> bool {
        matches!(*self, Owners::Each { free_blocks, .. } if free_blocks > 0)
    }

    /// Returns the part of a plane that each owner has. The plane has `pages` pages of data: those
    /// whose number modulo `planes` is `position`. The owners' blocks follow one another in the
    /// order of their ranks, and the highest priority has the first. The open blocks come in
    /// addition.
    pub(crate) fn of_plane(
        &self,
        blocks: &BlockTable,
        (plane, position, planes): (PlaneId, u32, u32),
        pages: u32,
        (snapshot, open, per_block): (&Snapshot, &[Vec<Open>], u32),
    ) -> Vec<Owned> {
        let all = blocks.pool(plane);
        let usable = (0..all.len()).map(|at| all.block(at));
        let mut usable: Vec<BlockId> =
            usable.filter(|&block| blocks.state(block) == BlockState::Free).collect();
        let opens: usize = open.iter().map(Vec::len).sum();
        let Owners::Each { ranges, classes, unowned, free_blocks } = self else {
            let full = snapshot.full_of(usable.len(), opens, snapshot.free);
            let numbers = Numbers::all(pages);
            return vec![Owned { class: BlockClass::BEST, blocks: usable, full, numbers }];
        };
        usable.sort_by_key(|&block| (blocks.free_rank(block), block.0));
        // The free blocks that are kept of the drive are spread evenly over the planes.
        let share = |planes_before: u32| {
            (u64::from(*free_blocks) * u64::from(planes_before) / u64::from(planes)) as usize
        };
        let free = snapshot.free.max(share(position + 1) - share(position));
        let full = snapshot.full_of(usable.len(), opens, free);
        // One block of each owner stays free, and the reserve.
        let least = opens + self.count() + RESERVE_BLOCKS;
        let full = full.min(usable.len().saturating_sub(least)) as u64;
        let numbers: Vec<Numbers> = BlockClass::numbered(0..self.count())
            .map(|class| {
                let own = ranges.iter().filter(|(_, whose)| *whose == class);
                Numbers::of(own.map(|(range, _)| range), position, planes)
            })
            .collect();
        let (mut summed, mut taken) = (0, 0);
        let mut in_use = Vec::new();
        for (numbers, open) in numbers.iter().zip(open) {
            summed += u64::from(numbers.count());
            let upto = (full * summed / u64::from(pages.max(1))) as usize;
            in_use.push((upto - taken).max(min_blocks(numbers.count(), open, per_block)));
            taken = upto;
        }
        let rest = usable.len().saturating_sub(in_use.iter().sum::<usize>() + opens);
        let rest = rest.saturating_sub(usize::from(*unowned));
        let mut blocks = usable.into_iter();
        let each =
            BlockClass::numbered(0..self.count()).zip(numbers).zip(in_use.into_iter().zip(open));
        let each = each.map(|((class, numbers), (full, open))| {
            let over = usize::from(class.index() < rest % usize::from(*classes));
            // Nobody needs no free blocks but the one that each owner keeps.
            let own_free = if class.0 < *classes { rest / usize::from(*classes) + over } else { 1 };
            let own = full + open.len() + own_free;
            let blocks = blocks.by_ref().take(own).collect();
            Owned { class, blocks, full, numbers }
        });
        each.collect()
    }
}

/// Returns the shares of each class in the pages beyond the tenants' own. `own` lists the pages
/// that each priority owns.
fn shares_of_others(owners: StartOwners, own: Vec<u64>) -> Vec<u64> {
    let classes = own.len();
    // With one tenant alone, the owners of the other pages are not known.
    let known = own.iter().filter(|&&pages| pages > 0).count() > 1;
    let only = |at: usize| (0..=at).map(|class| u64::from(class == at)).collect();
    match owners {
        StartOwners::Footprint if known => own,
        StartOwners::Footprint | StartOwners::Equal => vec![1; classes],
        StartOwners::Lowest => only(classes - 1),
        StartOwners::Unowned => only(classes),
    }
}

/// Divides a range among the classes, one after another.
fn share_out(areas: &mut Vec<Area>, range: Range<u32>, shares: &[u64]) {
    let whole: u64 = shares.iter().sum();
    let (length, mut summed, mut next) = (u64::from(range.end - range.start), 0, range.start);
    for (class, share) in (0..).map(BlockClass).zip(shares) {
        summed += share;
        let end = range.start + (length * summed / whole) as u32;
        areas.push(Area { pages: next..end, class, tenant: None });
        next = end;
    }
}
