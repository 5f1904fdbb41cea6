//! The actions that a policy requests besides its choice. The drive decides when it carries them
//! out, and does so in one way for all policies.

use ssdlab_base::Nanos;
use ssdlab_nand::{BlockId, Lpn};

use crate::allocation::{BlockClass, StreamId};
use crate::background::Job;

/// An action that a policy requests from the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Empties and erases a block, once its plane has no other job and has free blocks to spare.
    /// The drive drops the action if the block is erased or written first, when the policy's next
    /// round is due, and when the drive is saved. The policy then gets `Event::JobDropped`.
    Relocate(Job),
    /// Moves a page to blocks of this class. The placement chain and the page's hotness decide the
    /// rest, as for any page that is moved. In response to `Event::HostRead` the first policy that
    /// asks decides. The drive reads the page first, unless the host has just read the whole page.
    /// The drive drops the action if the page is not mapped, or if no block of the class has room,
    /// and publishes `Event::MigrationDropped`. A plane whose only free block is kept for jobs has
    /// no room, except in classes that are reserved.
    MigratePage {
        /// The logical page.
        lpn: Lpn,
        /// The class; one that the drive does not have counts as the worst class.
        class: BlockClass,
        /// The stream; `None` leaves it to the placement chain.
        stream: Option<StreamId>,
    },
    /// Sends the policy `Event::Timer` after this span of the cells' time, which is `time_scale`
    /// times as long as simulated time. A policy has one timer: setting it again moves it. A policy
    /// with an interval gets `Event::RoundDue` instead. After `Event::Timer` the drive asks a
    /// scheduler about all planes again. Any other policy's timer fires when time advances, and
    /// waits for the jobs of timers that fired before, unless the host has sent a request since.
    SetTimer {
        /// The span, in the cells' time. It takes at least one nanosecond of simulated time.
        after: Nanos,
    },
    /// Gives a block this class: at once in response to `Event::BlockFreed`, otherwise after its
    /// next erase.
    SetClass {
        /// The block.
        block: BlockId,
        /// The class; one that the drive does not have counts as the worst class.
        class: BlockClass,
    },
    /// Sets the rank of a block among the free blocks of its class. The allocator opens the lowest
    /// rank first. The rank takes effect when [`Action::SetClass`] does; at once if the block is
    /// free on a drive without subpools. Only a drive that opens blocks by rank uses it:
    /// `ftl.free_block_policy` is `lowest_rank`, or a policy that needs a component's ranks.
    SetFreeRank {
        /// The block.
        block: BlockId,
        /// The rank.
        free_rank: u32,
    },
}

/// The actions that policies request, in order.
#[derive(Clone, Debug, Default)]
pub struct Actions(Vec<Action>);

impl Actions {
    /// Adds an action.
    pub fn push(&mut self, action: Action) {
        self.0.push(action);
    }

    /// Adds the action that empties and erases a block.
    pub fn relocate(&mut self, job: Job) {
        self.push(Action::Relocate(job));
    }

    /// Returns the actions.
    pub fn as_slice(&self) -> &[Action] {
        &self.0
    }

    /// Removes all actions and returns them.
    pub fn drain(&mut self) -> impl Iterator<Item = Action> + '_ {
        self.0.drain(..)
    }
}
