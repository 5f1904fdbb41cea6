//! The tables of one model plane, written without time: first in order, then at random, while the
//! drive's own background policies collect.
//!
//! Every page is equally likely to be overwritten. So it does not matter which pages a block still
//! holds, only how many. This number is the result.

use rand::RngExt;
use ssdlab_base::{SimTime, rng};
use ssdlab_nand::{BlockId, Geometry, Lpn, PageInBlock, PlaneId, Ppn};

use crate::account::Cause;
use crate::config::{Resolved, spare_blocks, usable_blocks};
use crate::ftl::{
    AllocRequest, Allocator, AllocatorConfig, BlockState, BlockTable, FreeBlockPolicy, Ftl, Map,
    StreamId, Streams, Writer,
};
use crate::policy::Learner;
use crate::policy::background::{DriveView, Job, Trigger};
use crate::policy::component::Components;
use crate::policy::event::{
    Actions, BlockOpened, Event, EventContext, EventMask, Migrated, Programmed,
};
use crate::policy::placement::{PageView, PlacementView};
use crate::policy::{PlacementHint, PolicyContext};
use ssdlab_schemes::{AnyBackground, AnyPlacement};

/// Largest number of blocks of the model plane. More blocks would change nothing.
const MAX_BLOCKS: u32 = 1024;
/// Number of capacities to overwrite before the plane counts as steady.
const STEADY_CAPACITIES: f64 = 5.0;
/// Distance between two snapshots of a steady plane, in capacities.
const SNAPSHOT_DISTANCE: f64 = 0.25;

/// The pages of a block: how many are written, and how many of these hold the newest copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Filling {
    pub written: u16,
    pub valid: u16,
}

/// The writer of an open block, and its stream.
pub(crate) type OpenedBy = (Writer, StreamId);
/// An open block: its writer and stream, and its pages.
pub(crate) type Open = (OpenedBy, Filling);

/// Returns the least number of full blocks for this much data, besides the open blocks.
pub(crate) fn min_blocks(pages: u32, open: &[Open], per_block: u32) -> usize {
    let in_open: u32 = open.iter().map(|(_, filling)| u32::from(filling.written)).sum();
    pages.saturating_sub(in_open).div_ceil(per_block) as usize
}

/// The blocks of a plane that are in use.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Snapshot {
    /// Full blocks, in the order in which they were closed.
    pub closed: Vec<Filling>,
    /// The blocks that writers have open.
    pub open: Vec<Open>,
    /// Number of free blocks.
    pub free: usize,
    /// Whether the background policies keep this number of blocks free, however many blocks the
    /// plane has.
    pub steady: bool,
}

impl Snapshot {
    /// Returns the number of blocks of the plane.
    pub(crate) fn blocks(&self) -> usize {
        self.closed.len() + self.open.len() + self.free
    }

    /// Returns how many of a plane's usable blocks are full, if `opens` blocks are open and `free`
    /// blocks stay free. A steady plane keeps exactly that number free. On other planes, full
    /// blocks have the same share as in the snapshot.
    pub(crate) fn full_of(&self, usable: usize, opens: usize, free: usize) -> usize {
        if self.steady {
            return usable.saturating_sub(opens + free);
        }
        let share = self.closed.len() as f64 / self.blocks() as f64;
        (share * usable as f64).round() as usize
    }

    /// Returns the open blocks, with a random number of written pages in the host's blocks. Planes
    /// and owners write independently, so they must not all need their next block at once. The same
    /// holds for garbage collection for the whole drive. A plane that collects for itself stops
    /// when little is left of its block, as in the snapshot.
    pub(crate) fn open_anywhere(
        &self,
        (pages_per_block, for_drive): (u32, bool),
        random: &mut rng::Stream,
    ) -> Vec<Open> {
        let mut anywhere = |(writer, _): OpenedBy, filling: Filling| {
            if filling.written == 0 || writer == Writer::Gc && !for_drive {
                return filling;
            }
            let written = random.random_range(1..pages_per_block.max(2)) as u16;
            let valid = u32::from(filling.valid) * u32::from(written) / u32::from(filling.written);
            Filling { written, valid: valid as u16 }
        };
        self.open.iter().map(|&(by, own)| (by, anywhere(by, own))).collect()
    }
}

/// A model plane that is written without time.
pub(crate) struct Pool {
    ftl: Ftl,
    policies: Vec<AnyBackground>,
    /// The policies that keep blocks free for the drive as a whole, if none keeps pages free on
    /// each plane.
    whole_drive: Option<WholeDrive>,
    /// The part of the placement chain that decides which blocks are open.
    placement: Vec<AnyPlacement>,
    /// Whether a policy learns by events of pages and blocks.
    learns: bool,
    streams: Streams,
    actions: Actions,
    random: rng::Stream,
    pages: u32,
    geometry: Geometry,
}

/// The background policies that keep blocks free for a drive as a whole. The model plane stands
/// for each plane of that drive.
struct WholeDrive {
    policies: Vec<AnyBackground>,
    /// Number of blocks of the drive for each one of the model plane.
    blocks: f64,
    /// Free blocks of each subpool of the drive, which have equal sizes; empty without subpools.
    free: Vec<u32>,
}

impl WholeDrive {
    fn of(resolved: &Resolved) -> Option<WholeDrive> {
        let mut policies = AnyBackground::build(&resolved.config.background, &context(resolved));
        if free_page_target(&policies) > 0 {
            return None;
        }
        policies.retain(|policy| policy.needs().free_blocks_of_drive > 0);
        let planes = f64::from(resolved.geometry().plane_count());
        let plane = f64::from(usable_blocks(&resolved.config)) / f64::from(blocks_of(resolved));
        let subpools = if resolved.classes.by_priority { resolved.classes.count } else { 0 };
        let free = vec![0; subpools];
        (!policies.is_empty()).then_some(WholeDrive { policies, blocks: planes * plane, free })
    }

    /// Returns the job that the model plane should run now.
    fn job(&mut self, ftl: &Ftl) -> Option<Job> {
        let free = ftl.alloc.free_blocks(PLANE) as f64 * self.blocks;
        let subpools = self.free.len().max(1) as f64;
        self.free.fill((free / subpools) as u32);
        let (coming, components) = (&[][..], Components::NONE);
        let view = DriveView {
            now: SimTime::START,
            blocks: &ftl.blocks,
            free: &self.free,
            coming,
            busy: &[false],
            components,
        };
        self.policies.iter_mut().find_map(|policy| policy.drive_job(&view))
    }
}

/// Returns the number of blocks of the plane that stands for all planes of this drive.
pub(crate) fn blocks_of(resolved: &Resolved) -> u32 {
    usable_blocks(&resolved.config).min(MAX_BLOCKS)
}

impl Pool {
    /// Returns a plane with `pages` pages of data, written once in order.
    pub(crate) fn filled(resolved: &Resolved, pages: u32) -> Pool {
        let blocks = blocks_of(resolved);
        let geometry = Geometry {
            channels: 1,
            chips: 1,
            dies: 1,
            planes: 1,
            blocks,
            ..resolved.geometry().clone()
        };
        let mut table = BlockTable::new(&geometry);
        let allocator_config = AllocatorConfig {
            free_block_policy: FreeBlockPolicy::LongestFree,
            classes: 1,
            reserved_classes: 0,
            by_priority: false,
            unowned: false,
            ..super::allocator_config(resolved)
        };
        let alloc = Allocator::new(&geometry, &mut table, allocator_config);
        let map = Map::new(pages, geometry.page_count(), 0);
        let spare = spare_blocks(&resolved.config, resolved.logical_pages);
        let of_drive = usable_blocks(&resolved.config);
        let setup = PolicyContext {
            geometry: geometry.clone(),
            spare_blocks: (u64::from(spare) * u64::from(blocks) / u64::from(of_drive)) as u32,
            ..context(resolved)
        };
        let mut pool = Pool {
            ftl: Ftl::new(&geometry, map, table, alloc),
            policies: AnyBackground::build(&resolved.config.background, &setup),
            whole_drive: WholeDrive::of(resolved),
            placement: (resolved.config.drawn_placement().iter())
                .map(|link| AnyPlacement::build(link, &setup))
                .collect(),
            learns: false,
            streams: resolved.config.streams(),
            actions: Actions::default(),
            random: rng::stream(resolved.seed, "start.overwrite"),
            pages,
            geometry,
        };
        pool.learns = !pool.placement.is_empty()
            || pool.policies.iter().any(|policy| policy.events().has(EventMask::DRAWN_START));
        for page in 0..pages {
            pool.write(Lpn(page));
        }
        pool
    }

    /// Overwrites at random until this share of the written pages is outdated. Stops after a fixed
    /// number of writes if garbage collection keeps the plane below that share.
    pub(crate) fn overwrite_until(&mut self, invalid: f64) {
        let most = u64::from(self.geometry.page_count()) * 2;
        for _ in 0..most {
            if self.invalid_share() >= invalid {
                return;
            }
            self.overwrite();
        }
    }

    /// Overwrites at random until the plane is steady.
    pub(crate) fn overwrite_until_steady(&mut self) {
        self.overwrite_capacities(STEADY_CAPACITIES);
    }

    /// Overwrites a steady plane until it looks like another one.
    pub(crate) fn move_on(&mut self) {
        self.overwrite_capacities(SNAPSHOT_DISTANCE);
    }

    fn overwrite_capacities(&mut self, capacities: f64) {
        for _ in 0..(f64::from(self.pages) * capacities) as u64 {
            self.overwrite();
        }
    }

    fn overwrite(&mut self) {
        let page = self.random.random_range(0..self.pages);
        self.write(Lpn(page));
    }

    fn written_pages(&self) -> u64 {
        let blocks = (0..self.geometry.blocks).map(BlockId);
        blocks.map(|block| u64::from(self.ftl.blocks.written(block))).sum()
    }

    fn invalid_share(&self) -> f64 {
        let written = self.geometry.page_count() - self.ftl.alloc.free_pages(PLANE);
        debug_assert_eq!(u64::from(written), self.written_pages());
        1.0 - f64::from(self.ftl.map.mapped()) / f64::from(written.max(1))
    }

    /// Returns the request of the placement chain for a page, as far as a plane without time can
    /// grant it.
    fn request_for(&mut self, lpn: Lpn, cause: Cause) -> AllocRequest {
        if self.placement.is_empty() {
            return AllocRequest::default();
        }
        let from = self.ftl.map.get(lpn).map(|ppn| self.geometry.block_of(ppn));
        let mut hint = PlacementHint::default();
        let of_a_page = PlacementView::of_a_page(cause, self.geometry.page_size);
        let write = PlacementView { lpn, ..of_a_page };
        let page = PageView { from, ..PageView::of_write(lpn, &write) };
        self.placement.iter_mut().for_each(|link| link.fill(&write, &mut hint));
        self.placement.iter_mut().for_each(|link| link.fill_page(&page, &mut hint));
        AllocRequest { stream: hint.stream, ..AllocRequest::default() }
    }

    /// Passes an event to the placement chain and to the background policies.
    fn publish(&mut self, event: &Event) {
        debug_assert!(event.kind().is_within(EventMask::DRAWN_START));
        // A plane without time runs only the jobs of background policies, so actions are dropped.
        let mut learn = |learner: &mut dyn Learner| {
            learner.on_event(event, &mut EventContext::before_run(&mut self.actions));
            self.actions.drain().for_each(drop);
        };
        for link in self.placement.iter_mut().filter(|link| link.events().has(event.kind())) {
            learn(link);
        }
        let of_drive = self.whole_drive.iter_mut().flat_map(|whole| &mut whole.policies);
        let all = self.policies.iter_mut().chain(of_drive);
        for policy in all.filter(|one| one.events().has(event.kind())) {
            learn(policy);
        }
    }

    /// Publishes that a block was opened, if a writer got its first page.
    fn page_allocated(&mut self, ppn: Ppn, writer: Writer, request: AllocRequest) {
        if self.learns && self.geometry.page_in_block(ppn) == PageInBlock(0) {
            let block = self.geometry.block_of(ppn);
            let stream = self.streams.of(request.stream);
            self.publish(&Event::BlockOpened(&BlockOpened { block, writer, stream }));
        }
    }

    /// Publishes that a page was programmed, and that its block is full if it is.
    fn page_programmed(&mut self, lpn: Lpn, ppn: Ppn, cause: Cause) {
        if !self.learns {
            return;
        }
        let (block, page) = (self.geometry.block_of(ppn), self.geometry.page_in_block(ppn));
        let programmed = Programmed { lpn, block, page, cause };
        self.publish(&Event::PageProgrammed(&programmed));
        if self.ftl.blocks.state(block) == BlockState::Closed {
            self.publish(&Event::BlockClosed(block));
        }
    }

    fn write(&mut self, lpn: Lpn) {
        let request = self.request_for(lpn, Cause::Host);
        let ppn = loop {
            match self.ftl.prepare_write(PLANE, Writer::Host, request) {
                Some(ppn) => break ppn,
                None => {
                    assert!(
                        self.choose_job(Trigger::Changed),
                        "no background policy freed a block of the plane that stands for the drive's start"
                    )
                }
            }
        };
        self.page_allocated(ppn, Writer::Host, request);
        let old = self.ftl.commit_write(lpn, ppn);
        self.page_programmed(lpn, ppn, Cause::Host);
        if let Some(block) = old {
            self.publish(&Event::PageInvalidated { lpn, block });
        }
        if self.choose_job(Trigger::Changed) {
            while self.choose_job(Trigger::JobEnded) {}
        }
    }

    /// Runs the job that a background policy returns. Returns false if none returns a job.
    fn choose_job(&mut self, trigger: Trigger) -> bool {
        if let Some(whole_drive) = &mut self.whole_drive {
            let job = whole_drive.job(&self.ftl);
            job.into_iter().for_each(|job| self.carry_out(job));
            return job.is_some();
        }
        let asks = |policy: &AnyBackground| {
            let free = self.ftl.alloc.counted(PLANE, policy.needs().counts_pages);
            trigger == Trigger::JobEnded || free < policy.needs().free_page_target
        };
        // Usually no policy is asked, and no view is needed.
        if !self.policies.iter().any(asks) {
            return false;
        }
        let view = self.ftl.plane_view(PLANE, SimTime::START, Components::NONE);
        let mut eligible = self.policies.iter_mut().filter(|policy| asks(policy));
        let Some(job) = eligible.find_map(|policy| policy.job(trigger, &view)) else {
            return false;
        };
        self.carry_out(job);
        true
    }

    fn carry_out(&mut self, job: Job) {
        self.publish(&Event::BlockCollected(job.block));
        self.ftl.begin_collection(job.block);
        let first = self.geometry.page(job.block, PageInBlock(0)).0;
        self.ftl.map.prefetch_moves(first..first + self.geometry.pages);
        for page in 0..self.geometry.pages as u16 {
            let from = self.geometry.page(job.block, PageInBlock(page));
            if let Some(lpn) = self.ftl.map.valid(from) {
                let request = self.request_for(lpn, job.cause);
                let to = self.ftl.prepare_write(PLANE, job.to, request);
                let to = to.expect("the reserve serves a move");
                self.page_allocated(to, job.to, request);
                self.ftl.commit_copy(lpn, from, to);
                self.page_programmed(lpn, to, job.cause);
                let (from, to) = (job.block, self.geometry.block_of(to));
                let moved = Migrated { lpn, from, to, cause: job.cause, alone: false };
                self.publish(&Event::PageMigrated(&moved));
            }
        }
        self.ftl.commit_erase(job.block, 1, None);
        self.publish(&Event::BlockErased(job.block));
    }

    /// Returns the blocks as they are now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let filling = |block: BlockId| Filling {
            written: self.ftl.blocks.written(block),
            valid: self.ftl.blocks.valid(block),
        };
        let view = self.ftl.blocks.pool(PLANE);
        let mut closed: Vec<usize> =
            (0..view.len()).filter(|&at| view.state[at] == BlockState::Closed).collect();
        closed.sort_by_key(|&at| view.closed[at]);
        let open = self.ftl.alloc.writers().iter().flat_map(|&writer| {
            let open = self.ftl.alloc.open_blocks(PLANE, writer).into_iter();
            open.map(move |(stream, block)| ((writer, stream), filling(block)))
        });
        Snapshot {
            closed: closed.into_iter().map(|at| filling(view.block(at))).collect(),
            open: open.collect(),
            free: self.ftl.alloc.free_blocks(PLANE),
            steady: false,
        }
    }

    /// Returns a snapshot of a steady plane of another size that keeps `free_pages` pages free.
    pub(crate) fn steady_snapshot(&self, free_pages: u32) -> Snapshot {
        let snapshot = self.snapshot();
        let blocks = |pages: u32| pages.div_ceil(self.geometry.pages) as usize;
        // The number of free blocks grows or shrinks as collection there begins earlier or later.
        let free = snapshot.free + blocks(free_pages)
            - blocks(free_page_target(&self.policies)).min(snapshot.free);
        Snapshot { free, steady: true, ..snapshot }
    }
}

/// Returns the facts that the policies of a drawn start know of the drive. There is no buffer yet.
pub(crate) fn context(resolved: &Resolved) -> PolicyContext {
    PolicyContext { buffer_pages: 0, ..resolved.policy_context() }
}

/// Returns the number of free blocks that a drive's background policies keep of the whole drive.
pub(crate) fn free_blocks_of_drive(resolved: &Resolved) -> u32 {
    let policies = AnyBackground::build(&resolved.config.background, &context(resolved));
    policies.iter().map(|policy| policy.needs().free_blocks_of_drive).max().unwrap_or(0)
}

/// Returns the free pages of a plane that satisfy these background policies.
pub(crate) fn free_page_target(policies: &[AnyBackground]) -> u32 {
    policies.iter().map(|policy| policy.needs().free_page_target).max().unwrap_or(0)
}

const PLANE: PlaneId = PlaneId(0);
