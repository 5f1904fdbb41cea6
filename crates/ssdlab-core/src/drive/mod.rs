//! The drive: connects its parts and contains no policy.
//!
//! The drive has three main methods: [`Drive::submit`], [`Drive::next_event`], [`Drive::advance`].
//! Its parts are separate types, listed from top to bottom. No part knows a part above it:
//!
//! 1. the drive: `admission` accepts requests, `serve` gives work to free array units, `completion`
//!    ends operations and releases the operations that waited for them;
//! 2. `background` chooses, begins and ends relocations; `buffer_stage` passes pages through the
//!    page buffer;
//! 3. `translation` looks pages up and loads missing parts of the map;
//! 4. `dispatch` holds operations for a scheduler with a window;
//! 5. `machine` is the state that all of them share. It asks the policies and enqueues operations
//!    at the flash.

mod admission;
mod background;
mod buffer_stage;
mod completion;
mod dispatch;
mod first_pass;
mod history_start;
mod inspection;
mod machine;
pub mod memory;
mod paranoid;
mod prefetch;
mod prefill;
mod serve;
mod start;
mod started;
mod state;
mod translation;

pub use first_pass::FirstPassRun;
pub use inspection::BlockInfo;
pub use machine::{Life, LifeMark};
pub use prefill::Prefill;
pub use state::{Media, Misfit, Unchecked};

use std::sync::Arc;

use ssdlab_base::SimTime;

use crate::buffer::Buffer;
use crate::config::Resolved;
use crate::host::{Completion, Refused, Request};
use crate::policy::event::{Action, EventMask};
use background::Background;
use buffer_stage::BufferStage;
use machine::Machine;
pub use start::{Start, StartModel, Tenant};
use translation::Translation;

/// A simulated drive.
#[derive(Clone, Debug)]
pub struct Drive {
    /// The state that all parts share.
    machine: Machine,
    /// The page buffer: page operations of the host reach it first.
    buffer: BufferStage,
    /// The page map and, below it, the queue of a scheduler with a window.
    translation: Translation,
    background: Background,
}

impl Drive {
    /// Returns a drive with this config, in its start state.
    pub fn new(resolved: Arc<Resolved>) -> Drive {
        Drive::for_tenants(resolved, &[])
    }

    /// Returns a drive with this config, in its start state. If the drive keeps blocks apart by
    /// priority, its data lies in blocks of these tenants.
    pub fn for_tenants(resolved: Arc<Resolved>, tenants: &[Tenant]) -> Drive {
        let start = Start::draw(&resolved, tenants);
        Drive::begin(resolved, start)
    }

    /// Returns a drive with this config that begins in the state `start`. The state is its own, or
    /// that of a drive that [begins alike](Resolved::begins_as).
    pub fn begin(resolved: Arc<Resolved>, start: Start) -> Drive {
        let mut drive = Drive::at_start(resolved, start);
        drive.publish_started(&[]);
        drive
    }

    /// Returns a drive whose policies have not received `Event::DriveStarted`.
    fn at_start(resolved: Arc<Resolved>, start: Start) -> Drive {
        let mut machine = Machine::new(resolved, start);
        Drive {
            buffer: BufferStage::new(&machine.resolved),
            translation: Translation::new(&mut machine),
            background: Background::new(&machine),
            machine,
        }
    }

    /// Submits a request at `now`. `now` is not before the time of the last call, and the drive has
    /// already advanced to it.
    ///
    /// # Errors
    /// [`Refused::Full`] if the request's queue is full, [`Refused::OutOfRange`] if the request
    /// does not lie on the drive. The drive is then unchanged.
    pub fn submit(&mut self, now: SimTime, request: Request) -> Result<(), Refused> {
        debug_assert!(now >= self.machine.now && request.arrival <= now);
        self.machine.now = now;
        self.accept(request)?;
        self.background.drive_wide.host_asks();
        self.serve_idle();
        if self.machine.policies.have_pending() {
            self.act_at_once();
        }
        self.check_invariants();
        Ok(())
    }

    /// Processes all events up to and including `to`. Appends the requests that ended to
    /// `completions`, in the order in which they ended.
    pub fn advance(&mut self, to: SimTime, completions: &mut Vec<Completion>) {
        while self.step(to) {}
        self.machine.now = self.machine.now.max(to);
        self.machine.flash.lookahead.all_fired(to);
        self.append_completions(completions);
    }

    /// Appends the requests that ended to a list, which is usually empty.
    fn append_completions(&mut self, completions: &mut Vec<Completion>) {
        if completions.is_empty() {
            std::mem::swap(&mut self.machine.host.completions, completions);
        } else {
            completions.append(&mut self.machine.host.completions);
        }
    }

    /// Processes the events of the next moment that has any, up to `to`. Returns false if there are
    /// none.
    pub fn advance_once(&mut self, to: SimTime, completions: &mut Vec<Completion>) -> bool {
        let went_on = self.step(to);
        self.append_completions(completions);
        went_on
    }

    #[inline(always)]
    fn step(&mut self, to: SimTime) -> bool {
        let flash = self.machine.flash.next_event();
        let buffer = self.buffer.pages.as_ref().map_or(SimTime::NEVER, Buffer::next_event);
        let is_idle = flash.min(buffer) == SimTime::NEVER;
        let holds = || self.translation.dispatch.holds_groups();
        let timer = self.background.next_timer(&self.machine, is_idle, holds);
        let others = buffer.min(timer);
        let next = flash.min(others);
        if next > to || next == SimTime::NEVER {
            return false;
        }
        self.machine.now = next;
        if flash == next {
            self.machine.now = self.machine.flash.fire(others.min(to));
            if !self.machine.flash.events.is_empty() {
                self.handle_flash_events();
            }
        } else {
            self.machine.flash.lookahead.all_fired(next);
            if buffer == next {
                self.buffer_fires()
            } else if self.background.fire_timers(&mut self.machine, is_idle) {
                self.translation.dispatch.offer_again();
            }
        }
        self.act_and_serve();
        true
    }

    /// Carries out the requested actions and serves the units that can start work.
    #[inline(always)]
    fn act_and_serve(&mut self) {
        if self.machine.policies.have_pending() {
            self.background.carry_out_actions(&mut self.machine);
        }
        if self.machine.flash.units.has_idle()
            || !self.machine.flash.events.is_empty()
            || self.holds_back()
        {
            self.serve_idle();
            // A unit that gets work may open a block, which is an event.
            if self.machine.policies.have_pending() {
                self.act_again();
            }
        }
        self.check_invariants();
    }

    /// Carries out the actions that policies requested while units were served. Actions that are
    /// requested meanwhile wait for the next event: a policy may repeat a request at each
    /// [`Event::JobDropped`](crate::policy::event::Event::JobDropped), without end.
    #[cold]
    fn act_again(&mut self) {
        self.background.carry_out_actions(&mut self.machine);
        self.serve_idle();
    }

    /// Carries out an action as if a policy had requested it; for tests. A timer that is set this
    /// way appears in [`Drive::take_events`].
    pub fn ask(&mut self, action: Action) {
        self.machine.policies.ask(action);
        self.act_at_once();
    }

    /// Requests an action in response to each recorded event of these kinds
    /// ([`Drive::record_events`]), as a policy would; for tests.
    pub fn ask_at(&mut self, kinds: EventMask, action: Action) {
        self.machine.policies.respond(kinds, action);
    }

    /// Carries out actions outside the event loop.
    #[cold]
    fn act_at_once(&mut self) {
        self.act_and_serve();
    }
}
