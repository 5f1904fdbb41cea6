//! The drive: a deterministic state machine of three verbs.
//!
//! A request's way through the house: [`host`] → [`buffer`] → ⟨scheduler⟩ → [`ftl`] → ⟨placement⟩
//! ⟨program_mode⟩ → [`flash`] → ⟨suspend⟩ ⟨read_start⟩ → the truth in `ssdlab-nand`; and back as values.
//! ⟨background⟩ enters by the same door. The words in brackets are the slots that a [`policy`] fills.

pub mod account;
pub mod audit;
pub mod buffer;
pub mod config;
pub mod drive;
pub mod flash;
pub mod ftl;
pub mod host;
pub mod kept;
pub mod media;
pub mod metadata;
pub mod policy;
pub mod queue;
pub mod schemes;
pub mod slots;
pub mod stats;
pub mod timers;
mod toggle;

pub use config::{DriveConfig, Resolved};
pub use drive::{Drive, Tenant};
pub use host::{Completion, Op, Refused, Request};
pub use toggle::Toggle;

/// A plane of a few blocks, for tests.
#[cfg(test)]
const SMALL: ssdlab_nand::Geometry = ssdlab_nand::Geometry {
    channels: 1,
    chips: 1,
    dies: 1,
    planes: 1,
    blocks: 4,
    pages: 4,
    page_size: ssdlab_base::Bytes::from_kib(4),
    cell: ssdlab_nand::Cell::Slc,
};
