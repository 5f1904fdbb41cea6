//! The actions that a policy asks for besides its choice. The drive decides when it carries them
//! out, and does so in one way for all policies.

use ssdlab_base::Nanos;
use ssdlab_nand::{BlockId, Lpn};

use crate::allocation::BlockClass;
use crate::background::Job;

/// Something that a policy asks the drive to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Empties and erases a block, once its plane has no other job and free blocks to spare. The
    /// drive drops the action if the block is erased or written before, when the policy's next
    /// round is due, and when the drive is saved; the policy learns of it (`Event::JobDropped`).
    Relocate(Job),
    /// Moves a page to blocks of this class. After `Event::HostRead` the data is at hand, and the
    /// first policy that answers decides. At other times the drive reads the page first. The drive
    /// drops the action if the page is not mapped, or if no block of the class has room.
    MigratePage {
        /// The logical page.
        lpn: Lpn,
        /// The class: 0 on a drive that sorts no blocks.
        class: BlockClass,
    },
    /// Sends the policy `Event::Timer` once this much of the cells' time has passed. A policy has
    /// one timer: setting it again moves it. A policy with an interval gets `Event::RoundDue`
    /// instead.
    SetTimer {
        /// The span; at least one nanosecond of the run's time.
        after: Nanos,
    },
    /// Gives a block this class: at once in answer to `Event::BlockFreed`, at other times after its
    /// next erase.
    SetClass {
        /// The block.
        block: BlockId,
        /// The class.
        class: BlockClass,
    },
    /// Sets a block's turn among the free blocks of its class: the allocator opens the least number
    /// first. The turn takes effect when [`Action::SetClass`] does, and only where blocks are
    /// opened by turn.
    SetTurn {
        /// The block.
        block: BlockId,
        /// The number.
        turn: u32,
    },
}

/// The actions that policies ask for, in order.
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

    /// Takes all actions out.
    pub fn drain(&mut self) -> impl Iterator<Item = Action> + '_ {
        self.0.drain(..)
    }
}
