//! The drive itself: it wires the rooms together and holds no policy.
//!
//! It has three verbs: [`Drive::submit`], [`Drive::next_event`], [`Drive::advance`]. Its parts are
//! types of their own, and none knows one above it:
//!
//! 1. the drive: `admission` takes a request in, `serve` gives work to a free array unit,
//!    `completion` ends an operation and sends on what waited for it;
//! 2. `background` chooses, begins and ends relocations; `buffer_stage` leads pages through the
//!    page buffer;
//! 3. `translation` looks pages up, and loads the part of the map that is not held;
//! 4. `dispatch` lets operations wait for a scheduler with a window;
//! 5. `machine` is the state that all of them share. It asks the policies and enqueues operations
//!    at the flash.

mod admission;
mod ahead;
mod background;
mod buffer_stage;
mod completion;
mod dispatch;
mod inspection;
mod lay;
mod machine;
pub mod memory;
mod rehearsal;
mod serve;
mod start;
mod state;
mod translation;
mod watch;

pub use inspection::BlockInfo;
pub use lay::Laying;
pub use machine::{Life, LifeMark};
pub use rehearsal::Rehearsal;
pub use state::{Media, Misfit, Unchecked};

use std::sync::Arc;

use ssdlab_base::SimTime;

use crate::buffer::Buffer;
use crate::config::Resolved;
use crate::host::{Completion, Refused, Request};
use crate::policy::event::Action;
use background::Background;
use buffer_stage::BufferStage;
use machine::Machine;
pub use start::{Outline, Start, Tenant};
use translation::Translation;

/// A drive.
#[derive(Clone, Debug)]
pub struct Drive {
    /// The state that all parts share.
    machine: Machine,
    /// The page buffer, which a page operation meets first.
    buffer: BufferStage,
    /// The page map and, below it, the queue of a scheduler with a window.
    translation: Translation,
    background: Background,
}

impl Drive {
    /// A drive as configured, in its start state.
    pub fn new(resolved: Arc<Resolved>) -> Drive {
        Drive::for_tenants(resolved, &[])
    }

    /// A drive as configured, in its start state; where blocks are kept apart by priority, the data
    /// that is on it lies in blocks of these tenants.
    pub fn for_tenants(resolved: Arc<Resolved>, tenants: &[Tenant]) -> Drive {
        let start = Start::draw(&resolved, tenants);
        Drive::begin(resolved, start)
    }

    /// A drive as configured that begins with this, which is its own or that of one that
    /// [begins as it does](Resolved::begins_as).
    pub fn begin(resolved: Arc<Resolved>, start: Start) -> Drive {
        let mut machine = Machine::new(resolved, start);
        Drive {
            buffer: BufferStage::new(&machine.resolved),
            translation: Translation::new(&mut machine),
            background: Background::new(&machine),
            machine,
        }
    }

    /// Offers a request at `now`, which is not before the last call's time; everything up to
    /// `now` must have been advanced over.
    ///
    /// # Errors
    /// [`Refused::Full`] when the request's queue is full, [`Refused::OutOfRange`] when it does
    /// not lie on the drive. The drive is then as if it had not been offered.
    pub fn submit(&mut self, now: SimTime, request: Request) -> Result<(), Refused> {
        debug_assert!(now.as_ns() >= self.machine.now && request.arrival <= now);
        self.machine.now = now.as_ns();
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
        self.machine.now = self.machine.now.max(to.as_ns());
        self.machine.flash.all_fired(to);
        self.hand_over(completions);
    }

    /// Adds the requests that ended to a list, which as a rule is empty.
    #[inline]
    fn hand_over(&mut self, completions: &mut Vec<Completion>) {
        if completions.is_empty() {
            std::mem::swap(&mut self.machine.host.completions, completions);
        } else {
            completions.append(&mut self.machine.host.completions);
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
        let flash = self.machine.flash.next_event();
        let buffer = self.buffer.pages.as_ref().map_or(SimTime::NEVER, Buffer::next_event);
        let timer = self.background.next_timer(&self.machine, flash.min(buffer) == SimTime::NEVER);
        let others = buffer.min(timer);
        let next = flash.min(others);
        if next > to || next == SimTime::NEVER {
            return false;
        }
        self.machine.now = next.as_ns();
        if flash == next {
            self.machine.now = self.machine.flash.fire(others.min(to)).as_ns();
            if self.machine.flash.has_events() {
                self.handle_flash_events();
            }
        } else {
            self.machine.flash.all_fired(next);
            if buffer == next {
                self.buffer_fires()
            } else {
                self.background.fire_timers(&mut self.machine)
            }
        }
        self.act_and_serve();
        true
    }

    /// Carries out what was asked for, and serves what can be served.
    #[inline(always)]
    fn act_and_serve(&mut self) {
        if self.machine.policies.have_pending() {
            self.background.carry_out_actions(&mut self.machine);
        }
        if self.machine.flash.has_idle() || self.machine.flash.has_events() || self.holds_back() {
            self.serve_idle();
        }
        self.check_invariants();
    }

    /// Carries out an action as if a policy had asked for it; for tests. A timer that is set so
    /// shows in [`Drive::take_events`].
    pub fn ask(&mut self, action: Action) {
        self.machine.policies.ask(action);
        self.act_and_serve();
    }
}
