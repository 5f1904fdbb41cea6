//! The seven decisions whose policies make a drive's character.
//!
//! A policy looks at a `View` and returns a choice. It never acts and holds no reference to the
//! machine; the drive carries the choice out, once, for all policies.

pub mod background;
mod context;
pub mod event;
pub mod eviction;
pub mod placement;
pub mod program_mode;
pub mod read_start;
pub mod scheduler;
pub mod suspend;

pub use context::{Policy, PolicyContext};
use ssdlab_nand::PageType;

use crate::ftl::{AllocRequest, StreamId};
use crate::metadata::page_hotness::Hotness;

/// What a page that is to be written should be like. Each link of the `placement` and `program_mode`
/// chains fills only what is still open; the allocator grants the nearest it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlacementHint {
    /// The page type; heeded where pages have the relaxed order.
    pub page_type: Option<PageType>,
    /// The class of block, 0 for the best.
    pub quality: Option<u8>,
    /// The voltages or the step with which it is programmed, 0 for the normal ones.
    pub program_mode: Option<u8>,
    /// The priority whose blocks it should lie in, where blocks are kept apart by priority.
    pub priority: Option<u8>,
    /// The stream whose blocks it should lie in.
    pub stream: Option<StreamId>,
    /// What it was mostly used for when this was asked for: no request, but what its voltages are chosen by.
    pub hotness: Option<Hotness>,
}

impl PlacementHint {
    /// What of it the allocator can grant.
    #[inline]
    pub fn pick(&self) -> AllocRequest {
        AllocRequest {
            class: self.quality.or(self.priority),
            page_type: self.page_type,
            stream: self.stream,
        }
    }
}
