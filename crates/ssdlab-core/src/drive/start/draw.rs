//! Draws every plane of a drive from a model plane that was written.

use std::sync::Mutex;

use rand::Rng;
use rand::seq::SliceRandom;
use ssdlab_base::rng;
use ssdlab_base::threads::in_up_to;
use ssdlab_nand::page_order::PageOrder;
use ssdlab_nand::{BlockId, Geometry, Lpn, PageInBlock, PlaneId, Ppn};

use super::allocator_config;
use super::from_history::{Mixed, Sorted};
use super::owners::{Numbers, Owned, Owners};
use super::pool::{
    Filling, Open, OpenedBy, Pool, Snapshot, blocks_of, context, free_blocks_of_drive,
    free_page_target, min_blocks,
};
use super::shuffled::Shuffled;
use crate::config::{RESERVE_BLOCKS, Resolved, usable_blocks};
use crate::ftl::{Allocator, BlockTable, Ftl, Map, PlaneOrder, Pointers, ReversePart, Writer};
use ssdlab_schemes::AnyBackground;

/// Largest number of snapshots of a steady plane. The planes use them in turn.
const MAX_SNAPSHOTS: u32 = 8;
/// Number of planes that are drawn before the map gets the places of their pages. Consecutive pages
/// lie on consecutive planes, and this number of map entries shares a cache line.
const TOGETHER: usize = 16;
/// Pages of each plane in the part of the map that a thread writes at a time.
const ROWS: u32 = 1 << 14;

/// The model after which planes are drawn.
pub(crate) enum Model<'a> {
    /// A plane that was written without time.
    Written(&'a Owners),
    /// The blocks of a sample after its history.
    History(&'a Sorted<'a>),
}

/// The tables of a drive that was drawn, without its allocator.
pub(crate) struct Drawn {
    map: Map,
    /// The block table.
    pub blocks: BlockTable,
    open: Vec<(PlaneId, OpenedBy, BlockId, u16)>,
    /// The blocks that are drawn like a block of the sample.
    pub taken: Vec<(BlockId, u32)>,
}

impl Drawn {
    /// Returns the tables of the drive.
    pub(crate) fn with_allocator(self, resolved: &Resolved) -> Ftl {
        let Drawn { map, mut blocks, open, .. } = self;
        let geometry = resolved.geometry();
        let mut alloc = Allocator::new(geometry, &mut blocks, allocator_config(resolved));
        let page_order = PageOrder::conventional(geometry.cell, geometry.pages);
        for (plane, (writer, stream), block, written) in open {
            blocks.open(block);
            alloc.open_at(&page_order, &blocks, (plane, writer, stream), (block, written));
        }
        Ftl::new(geometry, map, blocks, alloc)
    }
}

/// Returns the tables of a drive whose first `filled` pages hold data, each in a block of its
/// owner. The result does not depend on the number of threads.
pub(crate) fn filled(
    resolved: &Resolved,
    order: &PlaneOrder,
    (filled, model): (u32, Model),
    (mut map, mut blocks): (Map, BlockTable),
    threads: usize,
) -> Drawn {
    let geometry = resolved.geometry();
    map.prepare_filled(filled);
    let planes = order.planes().len() as u32;
    let snapshots = match model {
        Model::Written(_) => StartModel::of(resolved, filled).snapshots,
        Model::History(_) => Vec::new(),
    };
    let mut random = rng::stream(resolved.seed, "start.draw");
    let (mut open, mut taken) = (Vec::new(), Vec::new());
    let mut places = vec![Vec::new(); TOGETHER.min(planes as usize)];
    for (first, together) in (0u32..).step_by(TOGETHER).zip(order.planes().chunks(TOGETHER)) {
        let mut plans = Vec::new();
        for (position, &plane) in (first..).zip(together) {
            // A plane holds the pages whose number has this remainder.
            let pages = (filled.saturating_sub(position)).div_ceil(planes);
            let place = (plane, position, planes);
            let contents = match model {
                Model::Written(owners) => {
                    let snapshot = &snapshots[position as usize % snapshots.len()];
                    let like = (owners, snapshot);
                    Contents::per_owner(resolved, place, pages, like, &mut blocks, &mut random)
                }
                Model::History(sorted) => {
                    let mixed = Mixed::of(resolved, sorted, place, &mut blocks);
                    taken.extend_from_slice(&mixed.taken);
                    Contents::Mixed(mixed)
                }
            };
            let plan = Plan { plane, position, planes, pages, contents };
            open.extend(plan.open());
            plans.push(plan);
        }
        let mut reverse: Vec<_> =
            map.reverse_parts(geometry.pages * geometry.blocks).map(Some).collect();
        let work = plans.iter().zip(&mut places).map(|(plan, own)| {
            let reverse = reverse[plan.plane.index()].take().expect("each plane once");
            (plan, own, reverse)
        });
        share(work.collect(), threads, |(plan, own, reverse)| plan.draw(geometry, own, reverse));
        let places = &places[..together.len()];
        let parts = map.pointers(filled, ROWS * planes).collect();
        share(parts, threads, |part| point(part, first, planes, places));
    }
    map.add_mapped(filled);
    Drawn { map, blocks, open, taken }
}

/// Calls `act` for each element of a list, in `threads` threads.
fn share<T: Send>(list: Vec<T>, threads: usize, act: impl Fn(T) + Sync) {
    if threads <= 1 {
        return list.into_iter().for_each(act);
    }
    let list = Mutex::new(list.into_iter());
    let next = || list.lock().expect("no thread panics while it takes one").next();
    in_up_to(threads, || {
        while let Some(one) = next() {
            act(one)
        }
    });
}

/// Writes into a part of the map the places of the pages of consecutive planes, starting at this
/// position.
fn point(mut part: Pointers, first: u32, planes: u32, places: &[Vec<Ppn>]) {
    // The map is written in its own order, since a plane's pages are scattered over it.
    let numbers = part.pages().start / planes..part.pages().end.div_ceil(planes);
    for number in numbers {
        let lpns = (number * planes + first..).map(Lpn);
        // The first planes may have one page more than the others.
        for (lpn, own) in lpns.zip(places) {
            if let Some(&place) = own.get(number as usize) {
                part.point(lpn, place);
            }
        }
    }
}

/// The future contents of a plane, as far as they depend on earlier planes.
struct Plan {
    plane: PlaneId,
    position: u32,
    planes: u32,
    pages: u32,
    contents: Contents,
}

/// The contents of a plane.
enum Contents {
    /// A part for each owner.
    PerOwner(Vec<Part>),
    /// Blocks with pages of several owners.
    Mixed(Mixed),
}

/// The part of a plane that one owner will have.
struct Part {
    numbers: Numbers,
    layout: Layout,
    /// The key that shuffles its data.
    key: u64,
    /// The random stream from which its valid pages are drawn.
    random: rng::Stream,
}

impl Contents {
    /// Plans a plane with `pages` pages after `snapshot`. Lays its blocks down, and advances the
    /// random stream to where the next plane begins.
    fn per_owner(
        resolved: &Resolved,
        place: (PlaneId, u32, u32),
        pages: u32,
        (owners, snapshot): (&Owners, &Snapshot),
        blocks: &mut BlockTable,
        random: &mut rng::Stream,
    ) -> Contents {
        let plane = place.0;
        let geometry = resolved.geometry();
        let start = &resolved.config.start;
        let overwritten = start.steady_state || start.invalid.get() > 0.0;
        let open = (0..owners.count()).map(|owner| {
            let mut open = if overwritten {
                snapshot.open_anywhere((geometry.pages, owners.share_free()), random)
            } else {
                snapshot.open.clone()
            };
            // Only jobs write blocks without an owner.
            open.retain(|((writer, _), _)| *writer != Writer::Host || owners.writes(owner));
            open
        });
        let open: Vec<_> = open.collect();
        let mut parts = Vec::new();
        let owned = owners.of_plane(blocks, place, pages, (snapshot, &open, geometry.pages));
        for (owned, open) in owned.into_iter().zip(open) {
            let Owned { class, blocks: usable, full, numbers } = owned;
            let like = (&snapshot.closed[..], &open[..], full);
            let layout = Layout::draw(geometry, usable, like, numbers.count(), random);
            for (block, filling) in layout.used() {
                blocks.prefill(block, filling.written, filling.valid);
                if let Owners::Each { .. } = owners {
                    blocks.set_class(block, class);
                }
            }
            let key = rng::hash(resolved.seed, 0xda7a + u64::from(class.0), plane.0.into());
            let start = random.clone();
            layout.used().for_each(|(_, filling)| PageDraw::skip(filling, random));
            parts.push(Part { numbers, layout, key, random: start });
        }
        Contents::PerOwner(parts)
    }
}

impl Plan {
    /// Returns the open blocks of the plane, and their written pages.
    fn open(&self) -> Vec<(PlaneId, OpenedBy, BlockId, u16)> {
        let of = |(by, block, written)| (self.plane, by, block, written);
        match &self.contents {
            Contents::PerOwner(parts) => {
                let open = parts.iter().flat_map(|part| &part.layout.open);
                open.map(|&(by, block, filling)| of((by, block, filling.written))).collect()
            }
            Contents::Mixed(mixed) => mixed.open.iter().copied().map(of).collect(),
        }
    }

    /// Draws which pages hold which data. `own` gets the place of each of the plane's pages.
    fn draw(&self, geometry: &Geometry, own: &mut Vec<Ppn>, mut reverse: ReversePart) {
        own.resize(self.pages as usize, Ppn(0));
        let parts = match &self.contents {
            Contents::PerOwner(parts) => parts,
            Contents::Mixed(mixed) => {
                return mixed.draw(geometry, (self.position, self.planes), own, &mut reverse);
            }
        };
        let mut pages_drawn = PageDraw::new(geometry.pages);
        for Part { numbers, layout, key, random } in parts {
            let mut data = Shuffled::new(numbers.count(), *key);
            let mut random = random.clone();
            for (block, filling) in layout.used() {
                for (page, place) in pages_drawn.draw(filling, &mut random, &mut data) {
                    let number = numbers.at(place);
                    let ppn = geometry.page(block, page);
                    own[number as usize] = ppn;
                    reverse.set(ppn, Lpn(number * self.planes + self.position));
                }
            }
        }
    }
}

/// The part of a drive's start that depends on its background policies. Two drives with equal
/// outlines and otherwise equal start settings are drawn alike.
#[derive(Clone, PartialEq, Debug)]
pub struct StartModel {
    /// The snapshots of the model plane.
    snapshots: Vec<Snapshot>,
    /// Number of free blocks that are kept of the whole drive.
    free_blocks: u32,
}

impl StartModel {
    /// Returns the outline of a drive whose first `filled` pages hold data.
    pub fn of(resolved: &Resolved, filled: u32) -> StartModel {
        let pages = filled.div_ceil(resolved.geometry().plane_count());
        StartModel {
            snapshots: snapshots(resolved, pages),
            free_blocks: free_blocks_of_drive(resolved),
        }
    }
}

/// Returns snapshots of a model plane, for a drive with this many pages of data on a plane.
fn snapshots(resolved: &Resolved, pages: u32) -> Vec<Snapshot> {
    let start = &resolved.config.start;
    let share = f64::from(blocks_of(resolved)) / f64::from(usable_blocks(&resolved.config));
    let mut pool = Pool::filled(resolved, ((f64::from(pages) * share) as u32).max(1));
    if !start.steady_state {
        pool.overwrite_until(start.invalid.get());
        return vec![pool.snapshot()];
    }
    pool.overwrite_until_steady();
    let free_pages =
        free_page_target(&AnyBackground::build(&resolved.config.background, &context(resolved)));
    let count = MAX_SNAPSHOTS.min(resolved.geometry().plane_count());
    let snapshots = (0..count).map(|_| {
        pool.move_on();
        pool.steady_snapshot(free_pages)
    });
    snapshots.collect()
}

/// The planned contents of each block of a plane.
struct Layout {
    closed: Vec<(BlockId, Filling)>,
    open: Vec<(OpenedBy, BlockId, Filling)>,
}

impl Layout {
    /// Draws the contents of these blocks. `full` blocks, or more if the data needs them, are
    /// filled like the blocks in `like`. All blocks together hold exactly `pages` pages of data.
    fn draw(
        geometry: &Geometry,
        mut usable: Vec<BlockId>,
        (like, open, full): (&[Filling], &[Open], usize),
        pages: u32,
        random: &mut rng::Stream,
    ) -> Layout {
        usable.shuffle(random);
        let mut usable = usable.into_iter();
        let least = min_blocks(pages, open, geometry.pages);
        let open: Vec<_> = open
            .iter()
            .filter_map(|&(writer, filling)| Some((writer, usable.next()?, filling)))
            .collect();
        let count = full.max(least).min(usable.len().saturating_sub(RESERVE_BLOCKS));
        let closed: Vec<_> = (0..count)
            .map(|at| {
                // The order of closing is kept; each model block is used as often as the scale
                // requires.
                let like = like.get(at * like.len() / count.max(1));
                let blank = Filling { written: geometry.pages as u16, valid: 0 };
                (usable.next().expect("fewer than the usable"), *like.unwrap_or(&blank))
            })
            .collect();
        let mut layout = Layout { closed, open };
        layout.adjust(pages, random);
        layout
    }

    fn used(&self) -> impl Iterator<Item = (BlockId, Filling)> + '_ {
        let open = self.open.iter().map(|&(_, block, filling)| (block, filling));
        self.closed.iter().copied().chain(open)
    }

    /// Adds or removes valid pages at random places until there are `pages` of them.
    fn adjust(&mut self, pages: u32, random: &mut rng::Stream) {
        let mut fillings: Vec<&mut Filling> = self.closed.iter_mut().map(|(_, f)| f).collect();
        fillings.extend(self.open.iter_mut().map(|(_, _, filling)| filling));
        let mut have: u32 = fillings.iter().map(|filling| u32::from(filling.valid)).sum();
        let room: u32 = fillings.iter().map(|filling| u32::from(filling.written)).sum();
        assert!(room >= pages, "a plane has room for its data");
        while have != pages {
            let at = rng::below(random.next_u64(), fillings.len() as u64) as usize;
            let filling = &mut fillings[at];
            if have < pages && filling.valid < filling.written {
                filling.valid += 1;
                have += 1;
            } else if have > pages && filling.valid > 0 {
                filling.valid -= 1;
                have -= 1;
            }
        }
    }
}

/// Lists for the valid pages of a block, kept to reuse their memory.
struct PageDraw {
    pages: Vec<u16>,
    data: Vec<u32>,
}

impl PageDraw {
    fn new(pages_per_block: u32) -> PageDraw {
        let pages = pages_per_block as usize;
        PageDraw { pages: vec![0; pages], data: vec![0; pages] }
    }

    /// Skips the random numbers that [`PageDraw::draw`] uses for a block.
    fn skip(filling: Filling, random: &mut rng::Stream) {
        for _ in 0..filling.written {
            random.next_u64();
        }
    }

    /// Draws the valid pages of a block, each with the next of the data. No branch depends on a
    /// random number.
    fn draw<'a>(
        &'a mut self,
        mut left: Filling,
        random: &mut rng::Stream,
        data: &mut Shuffled,
    ) -> impl Iterator<Item = (PageInBlock, u32)> + use<'a> {
        let mut count = 0;
        for page in 0..left.written {
            // Selection sampling: each page is equally likely to be valid.
            let valid = rng::below(random.next_u64(), u64::from(left.written)) < left.valid.into();
            self.pages[count] = page;
            count += usize::from(valid);
            left.valid -= u16::from(valid);
            left.written -= 1;
        }
        data.next(&mut self.data[..count]);
        self.pages[..count].iter().map(|&page| PageInBlock(page)).zip(self.data.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::StreamId;

    #[test]
    fn full_blocks_hold_the_pages_beyond_the_open_ones() {
        let of = |written| Filling { written, valid: 0 };
        let open = [Writer::Host, Writer::Gc].into_iter().zip([5, 1]);
        let open: Vec<Open> =
            open.map(|(writer, written)| ((writer, StreamId(0)), of(written))).collect();
        let least = |pages| min_blocks(pages, &open, 8);
        assert_eq!([0, 6, 7, 14, 15, 22].map(least), [0, 0, 1, 1, 2, 2]);
        assert_eq!(min_blocks(16, &[], 8), 2);
    }

    #[test]
    fn the_tables_are_the_same_however_many_threads_draw_them() {
        let config = "
            start = { fill = 0.9, steady_state = true }
            ftl.overprovisioning = 0.2
            timing = { read = \"50us\", program = \"200us\", erase = \"2ms\" }
            [geometry]
            channels = 5
            chips = 2
            dies = 2
            planes = 2
            blocks = 30
            pages = 16
            page_size = \"4KiB\"
            cell = \"mlc\"";
        let resolved = Resolved::new(&toml::from_str(config).unwrap(), 3).unwrap();
        let geometry = resolved.geometry();
        let order = PlaneOrder::new(&resolved.config.ftl.allocation_order, geometry);
        let filled = resolved.logical_pages * 9 / 10;
        let draw = |threads| {
            let map = Map::new(
                resolved.mapped_pages(),
                geometry.page_count(),
                resolved.tracked_sectors(),
            );
            let tables = (map, BlockTable::new(geometry));
            let model = Model::Written(&Owners::One);
            let drawn = super::filled(&resolved, &order, (filled, model), tables, threads);
            let ftl = drawn.with_allocator(&resolved);
            assert!(ftl.audit().is_ok() && ftl.map.mapped() == filled);
            format!("{:?} {:?}", ftl.map, ftl.blocks)
        };
        let alone = draw(1);
        for threads in [2, 3] {
            assert!(draw(threads) == alone, "{threads} threads");
        }
    }
}
