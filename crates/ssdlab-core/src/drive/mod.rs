//! The drive itself: it wires the rooms together and holds no policy.
//!
//! It has three verbs: [`Drive::submit`], [`Drive::next_event`], [`Drive::advance`]. The files beside this one
//! are layers; none calls one above it:
//!
//! 1. `serve` gives work to a free array unit, `admission` takes a request in;
//! 2. `completion` ends an operation and sends on what waited for it;
//! 3. `relocation` and `moves` move pages, `buffered` leads them through the page buffer;
//! 4. `drive_wide` and `jobs` choose and begin background jobs, `translation` and `mapping` look pages up;
//! 5. `routing` finds the plane, `dispatch` queues the operation there, past a scheduler with a window;
//! 6. `hints`, `levels` and `publish` build what policies look at.

mod admission;
mod ahead;
mod buffered;
mod completion;
mod dispatch;
mod drive_wide;
mod hints;
mod history;
mod hotness;
mod inspection;
mod jobs;
mod levels;
mod life;
mod mapping;
pub mod memory;
mod moves;
mod policies;
mod preloaded;
mod publish;
mod relocation;
mod routing;
mod serve;
mod start;
mod state;
mod translation;
mod watch;

pub use hotness::Rehearsal;
pub use inspection::BlockInfo;
pub use life::{Life, LifeMark};
pub use state::{Media, Misfit, Unchecked};

use std::sync::Arc;

use ssdlab_base::SimTime;
use ssdlab_nand::Geometry;

use crate::audit::Auditor;
use crate::buffer::Buffer;
use crate::config::{Allocation, Resolved};
use crate::flash::Flash;
use crate::ftl::{Ftl, PlaneOrder, WritePlanes};
use crate::host::{Completion, Host, Refused, Request};
use crate::policy::event::Action;
use crate::stats::Stats;
use dispatch::Hold;
use drive_wide::DriveWide;
use history::History;
use jobs::Jobs;
use mapping::Mapping;
use moves::Moves;
use policies::Policies;
pub use start::{Laying, Outline, Start, Tenant};

/// A drive.
#[derive(Clone, Debug)]
pub struct Drive {
    resolved: Arc<Resolved>,
    geometry: Geometry,
    now: u64,
    /// Requests under way, and the order among those that share a page.
    host: Host,
    buffer: Option<Buffer>,
    ftl: Ftl,
    /// Where the host's pages are written.
    planes: WritePlanes,
    /// Which part of the page map is held, if not all of it.
    mapping: Option<Box<Mapping>>,
    flash: Flash,
    /// Requests that wait until the scheduler lets them go, if they wait for it.
    hold: Option<Box<Hold>>,
    policies: Policies,
    background: Background,
    /// What was measured since the statistics began.
    stats: Stats,
    history: History,
    /// Who watches, in paranoid mode.
    auditor: Option<Box<Auditor>>,
}

/// What is relocated, and who wants it.
#[derive(Clone, Debug)]
struct Background {
    /// What runs on each plane.
    jobs: Jobs,
    /// What waits for its plane or its time.
    drive_wide: DriveWide,
    /// Where pages may move that the host reads, if they do.
    moves: Option<Box<Moves>>,
}

impl Background {
    /// Nothing runs, waits or moves.
    fn new(resolved: &Resolved, policies: &Policies) -> Background {
        let (planes, policies) = (resolved.geometry().plane_count(), &policies.background);
        let migrates = policies.iter().any(|policy| policy.needs().migrates);
        Background {
            jobs: Jobs::new(planes, policies),
            drive_wide: DriveWide::new(policies, planes, resolved.config.flash.time_scale),
            moves: migrates.then(|| Moves::new(resolved)).flatten().map(Box::new),
        }
    }
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
        let order = PlaneOrder::new(&resolved.config.ftl.allocation_order, &geometry);
        let mut policies = Policies::new(&resolved, metadata);
        let flash = Flash::new(&geometry, resolved.flash.clone(), cells);
        let config = &resolved.config;
        let classes = config.metadata.block_class.classes();
        let planes = geometry.plane_count();
        let hold =
            Hold::new(&policies.scheduler, &mut policies.program_mode, &flash, planes, classes);
        let mut drive = Drive {
            now: 0,
            host: Host::new(config.host.queues, config.host.queue_depth),
            buffer: Buffer::new(&resolved),
            planes: WritePlanes::new(order, config.ftl.allocation == Allocation::Dynamic),
            mapping: resolved.map_cache.map(|shape| Box::new(Mapping::new(shape, planes))),
            flash,
            hold,
            background: Background::new(&resolved, &policies),
            policies,
            stats: Stats::new(config.host.queues as usize, 0),
            history: History::new(&resolved),
            auditor: None,
            ftl,
            geometry,
            resolved,
        };
        drive.publish_open_blocks();
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
        self.background.drive_wide.host_asks();
        self.serve_idle();
        self.check_invariants();
        Ok(())
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
        if completions.is_empty() {
            std::mem::swap(&mut self.host.completions, completions);
        } else {
            completions.append(&mut self.host.completions);
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
        let timer = self.next_timer(flash.min(buffer) == SimTime::NEVER);
        let others = buffer.min(timer);
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
            if buffer == next { self.buffer_fires() } else { self.fire_timers() }
        }
        self.act_and_serve();
        true
    }

    /// Carries out what was asked for, and serves what can be served.
    #[inline(always)]
    fn act_and_serve(&mut self) {
        if self.policies.have_pending() {
            self.carry_out_actions();
        }
        if self.flash.has_idle() || self.flash.has_events() || self.holds_back() {
            self.serve_idle();
        }
        self.check_invariants();
    }

    /// Carries out an action as if a policy had asked for it; for tests. A timer that is set so shows in
    /// [`Drive::take_events`].
    pub fn ask(&mut self, action: Action) {
        self.policies.ask(action);
        self.act_and_serve();
    }
}
