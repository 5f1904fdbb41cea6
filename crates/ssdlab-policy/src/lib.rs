//! The interface between the drive and its policies.
//!
//! Seven decisions make a drive's character: [`scheduler`], [`placement`], [`program_mode`],
//! [`read_start`], [`suspend`], [`eviction`], [`background`]. For each decision the drive shows the
//! policy a view, and the policy returns a choice. A view is plain data. Some views also answer
//! questions about planes, blocks or components. A policy never acts and holds no reference to the
//! drive. The drive carries out each choice, in one way for all policies.
//! A policy learns from events, and asks for further work by actions ([`event`]).
//!
//! Each module also holds the conventional policies of its decision.

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
mod event_mask;
pub mod eviction;
pub mod placement;
mod pool;
pub mod program_mode;
pub mod queue;
pub mod read_start;
pub mod saved;
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

/// The properties that a policy asks for when a page is written. Each link of the `placement` and
/// `program_mode` chains fills only the fields that are still open. The allocator grants the page
/// that comes nearest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlacementHint {
    /// The page type. The allocator heeds it only where pages have the relaxed order.
    pub page_type: Option<PageType>,
    /// The class of block, 0 the best.
    pub quality: Option<BlockClass>,
    /// The program mode: the voltages or the step size.
    pub program_mode: Option<ProgramMode>,
    /// The priority whose blocks take the page, on a drive that separates blocks by priority.
    pub priority: Option<Priority>,
    /// The stream whose blocks take the page.
    pub stream: Option<StreamId>,
    /// The hotness of the page when the drive asked the chain. The allocator ignores it; the
    /// `program_mode` chain reads it.
    pub hotness: Option<Hotness>,
}

impl PlacementHint {
    /// Returns the part of the hint that the allocator can grant.
    #[inline]
    pub fn request(&self) -> AllocRequest {
        AllocRequest {
            class: self.quality.or(self.priority.map(Priority::class)),
            page_type: self.page_type,
            stream: self.stream,
        }
    }
}

/// The hotness of a page: whether the host mostly reads or mostly writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum Hotness {
    /// Mostly read.
    Read,
    /// Read and written alike, or unknown.
    #[default]
    Mixed,
    /// Mostly written.
    Write,
}

impl Hotness {
    /// Number of values.
    pub const COUNT: usize = 3;
    /// All values.
    pub const ALL: [Hotness; Hotness::COUNT] = [Hotness::Read, Hotness::Mixed, Hotness::Write];
    /// The name of each value in results.
    pub const NAMES: [&str; Hotness::COUNT] = ["read_hot", "mixed", "write_hot"];
}
