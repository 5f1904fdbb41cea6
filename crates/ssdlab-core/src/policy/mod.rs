//! The seven questions whose answers make a drive's character.
//!
//! A policy looks at a `View` and returns a choice. It never acts and holds no reference to the
//! machine; the drive carries the choice out, once, for all policies.

mod answer;
pub mod evict;
pub mod order;
pub mod place;
pub mod preempt;
pub mod program;
pub mod read;
pub mod tend;

pub use answer::{Answer, Setup};
use ssdlab_nand::PageType;

use crate::belief::hotness::Hotness;
use crate::ftl::Pick;

/// What a page that is to be written should be like. Each link of the `place` and `program`
/// chains fills only what is still open; the allocator grants the nearest it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wish {
    /// The page type; heeded where pages have the relaxed order.
    pub page_type: Option<PageType>,
    /// The class of block, 0 for the best.
    pub quality: Option<u8>,
    /// The voltages or the step with which it is programmed, 0 for the normal ones.
    pub voltage: Option<u8>,
    /// The priority whose blocks it should lie in, where blocks are kept apart by priority.
    pub priority: Option<u8>,
    /// What it is mostly used for, if it should lie in a block of such pages.
    pub hotness: Option<Hotness>,
    /// What it was mostly used for when this was wished: no wish, but what the voltages are chosen by.
    pub used: Option<Hotness>,
}

impl Wish {
    /// What of it the allocator can grant.
    #[inline]
    pub fn pick(&self) -> Pick {
        Pick {
            class: self.quality.or(self.priority),
            page_type: self.page_type,
            hotness: self.hotness,
        }
    }
}
