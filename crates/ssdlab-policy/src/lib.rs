//! The interface between the drive and its policies.
//!
//! Seven decisions make a drive's character: [`scheduler`], [`placement`], [`program_mode`],
//! [`read_start`], [`suspend`], [`eviction`], [`background`]. A policy looks at a view, which is
//! plain data, and returns a choice. It never acts and holds no reference to the machine; the drive
//! carries the choice out, once, for all policies. What it learns comes as events, what it wants
//! done besides goes out as actions ([`event`]).
//!
//! The conventional answer to each decision stands beside its interface.

pub mod account;
mod actions;
pub mod allocation;
pub mod background;
pub mod blocks;
mod blocks_check;
pub mod columns;
pub mod component;
mod context;
pub mod counters;
pub mod event;
pub mod eviction;
pub mod kept;
pub mod placement;
mod pool;
pub mod program_mode;
pub mod queue;
pub mod read_start;
pub mod scheduler;
pub mod suspend;
pub mod testing;
mod toggle;

pub use context::{ClassFacts, Learner, MapFacts, Policy, PolicyContext};
use serde::{Deserialize, Serialize};
use ssdlab_nand::{PageType, ProgramMode};
pub use toggle::Toggle;

use crate::account::Priority;
use crate::allocation::{AllocRequest, BlockClass, StreamId};

/// What a page that is to be written should be like. Each link of the `placement` and
/// `program_mode` chains fills only what is still open; the allocator grants the nearest it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlacementHint {
    /// The page type; heeded where pages have the relaxed order.
    pub page_type: Option<PageType>,
    /// The class of block, 0 for the best.
    pub quality: Option<BlockClass>,
    /// The voltages or the step with which it is programmed.
    pub program_mode: Option<ProgramMode>,
    /// The priority whose blocks it should lie in, where blocks are kept apart by priority.
    pub priority: Option<Priority>,
    /// The stream whose blocks it should lie in.
    pub stream: Option<StreamId>,
    /// What it was mostly used for when this was asked for: no request, but what its voltages are
    /// chosen by.
    pub hotness: Option<Hotness>,
}

impl PlacementHint {
    /// What of it the allocator can grant.
    #[inline]
    pub fn pick(&self) -> AllocRequest {
        AllocRequest {
            class: self.quality.or(self.priority.map(Priority::block_class)),
            page_type: self.page_type,
            stream: self.stream,
        }
    }
}

/// What a page is mostly used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum Hotness {
    /// It is read.
    Read,
    /// Both, or nobody knows.
    #[default]
    Mixed,
    /// It is written.
    Write,
}

impl Hotness {
    /// How many there are.
    pub const COUNT: usize = 3;
    /// All of them.
    pub const ALL: [Hotness; Hotness::COUNT] = [Hotness::Read, Hotness::Mixed, Hotness::Write];
    /// The name of each in results.
    pub const NAMES: [&str; Hotness::COUNT] = ["read_hot", "mixed", "write_hot"];
}
