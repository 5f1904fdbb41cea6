//! The drive itself: it wires the rooms together and holds no policy.
//!
//! Three verbs: [`Drive::submit`], [`Drive::next_event`], [`Drive::advance`]. What happens between
//! them is in the files beside this one: `requests` (a request comes in and ends), `serve` (a free
//! array unit gets work), `commit` (an operation ended), `jobs` (what the tenders want done),
//! `buffered` (the way through the page buffer), `watch` (paranoid mode).

mod ahead;
mod buffered;
mod commit;
mod hold;
mod hotness;
mod jobs;
mod life;
mod mapping;
pub mod memory;
mod moves;
mod policies;
mod requests;
mod retry_estimate;
mod serve;
mod start;
mod state;
mod upkeep;
mod watch;

pub use hotness::Rehearsal;
pub use life::{Life, LifeMark};
pub use state::{Media, Unchecked};

use std::sync::Arc;

use ssdlab_base::SimTime;
use ssdlab_nand::{BlockId, Geometry, PlaneId};

use crate::audit::Auditor;
use crate::buffer::Buffer;
use crate::config::{Allocation, Resolved};
use crate::flash::{Event, Flash, TxnId};
use crate::ftl::{BlockState, Ftl, PlaneOrder};
use crate::host::{Completion, Hazards, Host, Refused, Request};
use crate::metadata::Metadata;
use crate::policy::event::{BlockOpened, Event as Happened, EventMask};
use crate::policy::placement::Heat;
use crate::stats::{Ended, Stats, StreamCounts, StreamStats};
use hold::Hold;
use jobs::Jobs;
use mapping::Mapping;
use moves::Moves;
use policies::Policies;
pub use start::{Outline, Start, Tenant};
use upkeep::Upkeep;

/// A block as it is seen from outside.
#[derive(Clone, Copy, Debug)]
pub struct BlockInfo {
    /// P/E cycles.
    pub erases: u32,
    /// Pages that hold valid data.
    pub valid: u16,
    /// True raw bit error rate of its worst page; `None` under flat physics, and of a block that holds
    /// nothing.
    pub rber: Option<f64>,
}

/// A drive.
#[derive(Clone, Debug)]
pub struct Drive {
    resolved: Arc<Resolved>,
    geometry: Geometry,
    sectors_per_page: u32,
    now: u64,
    host: Host,
    hazards: Hazards,
    buffer: Option<Buffer>,
    ftl: Ftl,
    order_of_planes: PlaneOrder,
    /// Where dynamic allocation looks first.
    cursor: usize,
    dynamic: bool,
    flash: Flash,
    jobs: Jobs,
    /// Which part of the page map is held, if not all of it.
    mapping: Option<Box<Mapping>>,
    policies: Policies,
    /// What is done for the drive as a whole.
    upkeep: Upkeep,
    /// How its blocks wear out, where wear runs forward.
    lives: Option<Box<life::Lives>>,
    /// Where pages may move that the host reads, if they do.
    moves: Option<Box<Moves>>,
    /// What an order that holds needs.
    hold: Option<Box<Hold>>,
    /// Whether the placement is asked for each page.
    asks_pages: bool,
    /// What was measured since the statistics began.
    stats: Stats,
    /// The same by stream, where there are several.
    streams: Option<Box<StreamStats>>,
    /// Pages that were read and count as written before the start, a bit each.
    unwritten_reads: Vec<u64>,
    /// Where a first pass lays pages down, once it has begun.
    laying: Option<start::Laying>,
    completions: Vec<Completion>,
    /// Lists that are empty between two events; kept for their memory.
    events: Vec<Event>,
    ready: Vec<TxnId>,
    /// Who watches, in paranoid mode.
    auditor: Option<Box<Auditor>>,
}

impl Drive {
    /// A drive as configured, in its start state.
    pub fn new(resolved: Arc<Resolved>) -> Drive {
        Drive::for_tenants(resolved, &[])
    }

    /// A drive as configured, in its start state; where blocks are kept apart by priority, the data that is
    /// on it lies in blocks of these tenants.
    pub fn for_tenants(resolved: Arc<Resolved>, tenants: &[Tenant]) -> Drive {
        let start = Start::draw(&resolved, tenants);
        Drive::begin(resolved, start)
    }

    /// A drive as configured that begins with this, which is its own or that of one that
    /// [begins as it does](Resolved::begins_as).
    pub fn begin(resolved: Arc<Resolved>, start: Start) -> Drive {
        let mut start = start;
        start.cells.are_of(&resolved.chip);
        let metadata = start::metadata(&resolved, &mut start);
        let Start { ftl, cells, .. } = start;
        let geometry = resolved.geometry().clone();
        let order_of_planes = PlaneOrder::new(&resolved.config.ftl.allocation_order, &geometry);
        let time_scale = resolved.config.flash.time_scale;
        let mut policies = Policies::new(&resolved, metadata);
        let flash = Flash::new(&geometry, resolved.flash.clone(), cells);
        let classes = resolved.config.metadata.block_class.classes();
        let planes = geometry.plane_count();
        let hold =
            Hold::new(&policies.scheduler, &mut policies.program_mode, &flash, planes, classes);
        let config = &resolved.config;
        let migrates = policies.background.iter().any(|policy| policy.needs().migrates);
        let mut drive = Drive {
            sectors_per_page: geometry.sectors_per_page(),
            now: 0,
            host: Host::new(config.host.queues, config.host.queue_depth),
            hazards: Hazards::default(),
            buffer: Buffer::new(&resolved),
            order_of_planes,
            cursor: 0,
            dynamic: config.ftl.allocation == Allocation::Dynamic,
            flash,
            hold,
            upkeep: Upkeep::new(&policies.background, geometry.plane_count(), time_scale),
            lives: None,
            asks_pages: policies.placement.iter().any(|link| link.needs().pages),
            moves: migrates.then(|| Moves::new(&resolved)).flatten().map(Box::new),
            jobs: Jobs::new(geometry.plane_count(), &policies.background),
            mapping: resolved
                .map_cache
                .map(|shape| Box::new(Mapping::new(shape, geometry.plane_count()))),
            policies,
            stats: Stats::new(config.host.queues as usize, 0),
            streams: StreamStats::new(config.streams(), geometry.block_count()).map(Box::new),
            unwritten_reads: Vec::new(),
            laying: None,
            completions: Vec::new(),
            events: Vec::new(),
            ready: Vec::new(),
            auditor: None,
            ftl,
            geometry,
            resolved,
        };
        drive.tell_of_open_blocks();
        drive.follow_lives();
        drive
    }

    /// Offers a request at `now`, which is not before the last call's time; everything up to
    /// `now` must have been advanced over.
    ///
    /// # Errors
    /// [`Refused::Full`] when the request's queue is full, [`Refused::OutOfRange`] when it does
    /// not lie on the drive. The drive is then as if it had not been offered.
    pub fn submit(&mut self, now: SimTime, request: Request) -> Result<(), Refused> {
        debug_assert!(now.as_ns() >= self.now && request.arrival <= now);
        self.now = now.as_ns();
        self.accept(request)?;
        self.upkeep.host_asks();
        self.serve_idle();
        self.check_invariants();
        Ok(())
    }

    /// Whether the queue takes a request now.
    pub fn has_room(&self, queue: u8) -> bool {
        self.host.has_room(queue)
    }

    /// The next moment at which the drive does something by itself; `None` when it is idle.
    #[inline]
    pub fn next_event(&self) -> Option<SimTime> {
        if !self.completions.is_empty() {
            return Some(SimTime::from_ns(self.now));
        }
        let buffer = self.buffer.as_ref().map_or(SimTime::NEVER, Buffer::next_event);
        let next = self.flash.next_event().min(buffer);
        (next != SimTime::NEVER).then_some(next)
    }

    /// Lets everything happen up to and including `to`; requests that ended are added to
    /// `completions` in the order in which they ended.
    pub fn advance(&mut self, to: SimTime, completions: &mut Vec<Completion>) {
        while self.step(to) {}
        self.now = self.now.max(to.as_ns());
        self.flash.all_fired(to);
        self.hand_over(completions);
    }

    /// Adds the requests that ended to a list, which as a rule is empty.
    #[inline]
    fn hand_over(&mut self, completions: &mut Vec<Completion>) {
        match completions.is_empty() {
            true => std::mem::swap(&mut self.completions, completions),
            false => completions.append(&mut self.completions),
        }
    }

    /// Lets the events of one moment up to `to` happen; false when there is none.
    pub fn advance_once(&mut self, to: SimTime, completions: &mut Vec<Completion>) -> bool {
        let went_on = self.step(to);
        self.hand_over(completions);
        went_on
    }

    #[inline(always)]
    fn step(&mut self, to: SimTime) -> bool {
        let flash = self.flash.next_event();
        let buffer = self.buffer.as_ref().map_or(SimTime::NEVER, Buffer::next_event);
        let round = self.next_round(flash.min(buffer) == SimTime::NEVER);
        let others = buffer.min(round);
        let next = flash.min(others);
        if next > to || next == SimTime::NEVER {
            return false;
        }
        self.now = next.as_ns();
        if flash == next {
            self.now = self.flash.fire(others.min(to)).as_ns();
            if self.flash.has_events() {
                self.handle_flash_events();
            }
        } else {
            self.flash.all_fired(next);
            match buffer == next {
                true => self.buffer_fires(),
                false => self.round(),
            }
        }
        if self.policies.have_asked() {
            self.carry_out_actions();
        }
        if self.flash.has_idle() || self.flash.has_events() || self.holds_back() {
            self.serve_idle();
        }
        self.check_invariants();
        true
    }

    /// The current time of the drive.
    pub fn now(&self) -> SimTime {
        SimTime::from_ns(self.now)
    }

    /// What was measured since the statistics began.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// What was measured of each stream, where there are several.
    pub fn streams(&self) -> Option<&[StreamCounts]> {
        self.streams.as_ref().map(|streams| streams.counts())
    }

    /// Tells those who want to know of the blocks that are open as the drive begins.
    fn tell_of_open_blocks(&mut self) {
        if self.streams.is_none() && !self.policies.wants.has(EventMask::BLOCK_OPENED) {
            return;
        }
        for plane in (0..self.geometry.plane_count()).map(PlaneId) {
            for &writer in self.ftl.alloc.writers() {
                for (stream, block) in self.ftl.alloc.open_blocks(plane, writer) {
                    if let Some(streams) = &mut self.streams {
                        streams.opened(block, stream);
                    }
                    let opened = BlockOpened { block, writer, stream };
                    self.policies.publish(&Happened::BlockOpened(&opened));
                }
            }
        }
    }

    /// The flash back end, to look at.
    pub fn flash(&self) -> &Flash {
        &self.flash
    }

    /// The translation layer's books, to look at.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// Whether the placement wants to know ([`set_page_heat`](Drive::set_page_heat)) before the run how hot pages are.
    pub fn wants_heat(&self) -> bool {
        self.policies.placement.iter().any(|link| link.needs().heat)
    }

    /// Tells the placement how hot pages are; before anything is laid down.
    pub fn set_page_heat(&mut self, heat: &Heat) {
        self.policies.placement.iter_mut().for_each(|link| link.set_page_heat(heat));
    }

    /// Whether pages move by how often they are read.
    pub fn migrates(&self) -> bool {
        self.moves.is_some()
    }

    /// Blocks that are set apart for what is read often.
    pub fn blocks_apart(&self) -> u64 {
        self.policies.metadata.block_groups.as_ref().map_or(0, |groups| groups.all_apart())
    }

    /// Whether its order holds requests back.
    pub fn holds_back(&self) -> bool {
        self.hold.is_some()
    }

    /// Bytes that a controller needs for what the drive's policies keep, by structure.
    pub fn metadata_bytes(&self) -> Vec<(&'static str, u64)> {
        let blocks = u64::from(self.geometry.block_count());
        let mut bits = Vec::new();
        if self.policies.metadata.block_groups.is_none() {
            let classes = self.resolved.config.metadata.block_class.classes() as u64;
            let of_a_block = u64::from(classes.next_power_of_two().trailing_zeros());
            bits.push(("block_classes", blocks * of_a_block));
        }
        bits.push(("page_progress", blocks * self.ftl.progress_bits()));
        let held = self.resolved.map_cache.map_or(0, |shape| u64::from(shape.slots));
        bits.push(("map_cache", held * self.geometry.page_size.get() * 8));
        if self.resolved.flash.reads_pass {
            // The voltages with which a read that was set aside failed last, on each plane: of the host's, and
            // of one of collection.
            let most = u64::from(self.policies.suspend.max_suspended_reads()) + 1;
            let planes = u64::from(self.geometry.plane_count());
            let levels = u64::from(self.flash.cells.levels()).next_power_of_two();
            bits.push(("reads_aside", planes * most * u64::from(levels.trailing_zeros())));
        }
        bits.extend(self.policies.metadata_bits(self.blocks_apart()));
        bits.retain(|(_, bits)| *bits > 0);
        bits.into_iter().map(|(name, bits)| (name, bits.div_ceil(8))).collect()
    }

    /// Whether anything in the drive heeds the host's latency hints.
    pub fn heeds_hints(resolved: &Resolved) -> bool {
        Policies::new(resolved, Metadata::default()).placement.iter().any(|link| link.needs().hints)
    }

    /// The drive's config in flat numbers.
    pub fn resolved(&self) -> &Resolved {
        &self.resolved
    }

    /// Page operations that were under way at most, and those for which memory is reserved.
    #[inline]
    pub fn operations(&self) -> (usize, usize) {
        (self.flash.txns.slots(), self.flash.txns.reserved())
    }

    /// Unfinished requests.
    pub fn unfinished(&self) -> u32 {
        self.host.unfinished()
    }

    /// Forgets what was measured: statistics begin now, with requests that come from now on.
    pub fn reset_stats(&mut self) {
        self.keep_count();
        let log = self.stats.log.take().map(|_| Vec::new());
        self.stats = Stats { log, ..Stats::new(self.host.queues(), self.now) };
        self.flash.reset_counts(self.now);
        self.policies.publish(&Happened::CountsReset);
        if let Some(streams) = &mut self.streams {
            streams.reset();
        }
        self.host.forget_counted();
    }

    /// Compares the pages of the blocks that the host reads from now on, of some of its reads.
    pub fn compare_pages(&mut self) {
        self.flash.cells.compare();
    }

    /// Keeps every request that ends from now on until it is taken.
    pub fn keep_log(&mut self) {
        self.stats.log = Some(Vec::new());
    }

    /// Moves the requests that ended since the last call to `rows`.
    pub fn take_log(&mut self, rows: &mut Vec<Ended>) {
        if let Some(log) = &mut self.stats.log {
            rows.append(log);
        }
    }

    /// Records from now on what every part of the back end does, as long as it begins before
    /// `until`; [`Flash::timeline`] tells.
    pub fn record(&mut self, until: SimTime) {
        debug_assert!(!self.flash.foresees(), "a drive that foresees passes moments over");
        self.flash.record(self.now, until.as_ns());
    }

    /// Works out from now on what follows from a read or a program as soon as that is known, where it can: less
    /// happens by itself, and all of it as it would. Not of a drive that is watched or recorded or that has
    /// something under way.
    pub fn foresee(&mut self) {
        if self.is_idle() && self.auditor.is_none() {
            self.flash.foresee(self.policies.reads.by_one, self.hold.is_some(), self.now);
        }
    }

    /// How a block is at `now`, counted within its plane; `None` if it is bad.
    pub fn block(&self, plane: u32, block: u32, now: SimTime) -> Option<BlockInfo> {
        let id = BlockId(self.geometry.first_block(PlaneId(plane)).0 + block);
        let table = &self.ftl.blocks;
        (table.state(id) != BlockState::Bad).then(|| BlockInfo {
            erases: table.erases(id),
            valid: table.valid(id),
            rber: self.flash.cells.rber_of(id, now.as_ns()),
        })
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.next_event().is_none()
    }
}
