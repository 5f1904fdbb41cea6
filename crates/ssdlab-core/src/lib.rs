//! The drive: a deterministic state machine of three verbs.
//!
//! A request's way through the house: [`host`] → [`buffer`] → ⟨scheduler⟩ → [`ftl`] → ⟨placement⟩
//! ⟨program_mode⟩ → [`flash`] → ⟨suspend⟩ ⟨read_start⟩ → the truth in `ssdlab-nand`; and back as
//! values. ⟨background⟩ enters by the same door. The words in brackets are the slots that a
//! [`policy`] fills.

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
pub use flash::{Act, At, Attempt, Cells, Flash, Rank, Read, SetAside, Span, Survey, UnitId};
pub use ftl::{BlockState, PlaneOrder, StreamId, Writer};
pub use host::{Completion, Op, Refused, Request};
pub use ssdlab_nand::{Level, ProgramMode};
pub use ssdlab_policy::{self as policy, Toggle, account, kept, queue};
pub use ssdlab_schemes::metadata;

#[cfg(test)]
use ssdlab_policy::testing::SMALL;
