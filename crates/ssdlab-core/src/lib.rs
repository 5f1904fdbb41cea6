//! The drive: a deterministic state machine. Its three main methods are `submit`, `next_event` and
//! `advance`.
//!
//! A request passes through these modules in order: [`host`] → ⟨placement⟩ → [`buffer`] → [`ftl`] →
//! ⟨scheduler⟩ → [`flash`] → ⟨suspend⟩. When its unit is free, a read gets its first level
//! (⟨read_start⟩) and a write its page from [`ftl`] (⟨program_mode⟩). The physics in `ssdlab-nand`
//! decide the rest. Results return as values. ⟨background⟩ operations enter the same queues. Each
//! word in brackets is a slot that a [`policy`] fills.

mod audit;
mod buffer;
pub mod config;
pub mod drive;
mod flash;
mod ftl;
mod host;
mod media;
pub mod stats;
mod timers;

pub use audit::Pace;
pub use config::{DriveConfig, Resolved};
pub use drive::{Drive, Tenant};
pub use flash::{
    Act, At, Attempt, Cells, ChipInspector, Flash, NewTxn, Owner, Rank, Read, Span, SuspendCounts,
    UnitId,
};
pub use ftl::{BlockState, PlaneOrder, StreamId, Writer};
pub use host::{Completion, Op, Refused, Request};
pub use ssdlab_nand::{Level, ProgramMode};
pub use ssdlab_policy::{self as policy, Toggle, account, queue, saved};
pub use ssdlab_schemes::metadata;

#[cfg(test)]
use ssdlab_policy::testing::SMALL;
