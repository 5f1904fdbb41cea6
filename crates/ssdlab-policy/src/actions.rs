//! What a policy wants done beyond its choice. The drive decides when, and carries every action out in one way for
//! all policies.

use ssdlab_base::Nanos;
use ssdlab_nand::{BlockId, Lpn};

use crate::allocation::BlockClass;
use crate::background::Job;

/// What a policy wants done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// A block is emptied and erased, once its plane has no other job and free blocks to spare. Dropped if the
    /// block is erased before, or when the timer of the policy comes due again.
    Relocate(Job),
    /// Moves a page to blocks of this class, if a background policy moves pages. After `Event::HostRead` the
    /// data is at hand, and the first policy that answers decides. At other times the drive reads the page
    /// first. Dropped if the page is not mapped.
    MigratePage {
        /// The logical page.
        lpn: Lpn,
        /// The class, which is set apart or a priority's.
        class: BlockClass,
    },
    /// The policy receives `Event::Timer` once this much of the cells' time has passed. A policy has one timer:
    /// setting it again moves it. A policy with an interval gets its next round then.
    SetTimer {
        /// The span; at least one nanosecond of the run's time.
        after: Nanos,
    },
    /// Gives a block this class: at once in answer to `Event::BlockFreed`, at other times after its next
    /// erase.
    SetClass {
        /// The block.
        block: BlockId,
        /// The class.
        class: BlockClass,
    },
    /// Sets a block's turn among the free blocks of its class: the least number is opened first. It takes effect
    /// when [`Action::SetClass`] does, and only where blocks are opened by turn.
    SetTurn {
        /// The block.
        block: BlockId,
        /// The number.
        turn: u32,
    },
}

/// What policies want done, in the order in which they asked for it.
#[derive(Clone, Debug, Default)]
pub struct Actions(Vec<Action>);

impl Actions {
    /// Asks for one more.
    pub fn push(&mut self, action: Action) {
        self.0.push(action);
    }

    /// Asks for a block to be emptied and erased.
    pub fn relocate(&mut self, job: Job) {
        self.push(Action::Relocate(job));
    }

    /// What was asked for.
    pub fn as_slice(&self) -> &[Action] {
        &self.0
    }

    /// Takes all that was asked for.
    pub fn drain(&mut self) -> impl Iterator<Item = Action> + '_ {
        self.0.drain(..)
    }
}
