//! The physics of the flash: raw bit errors, sensing levels, retries and times of every block.
//!
//! Every result is a pure function of chip, address, age, wear, reads, temperature and program
//! mode. The crate has no event loop.
//!
//! Every crate may use the shape of the flash ([`geometry`], [`page_order`], [`Progress`]). Only
//! the `flash` module of ssdlab-core may query [`chip`], which knows the true state of every block.
//! A policy that queried it would know more than a real controller.
//!
//! A reading order:
//!
//! - [`chip`] is the interface of the physics.
//! - [`levels`], `retry` and `measured_blocks` are the three models behind it. The first two are
//!   formulas, the third is a table of measurements.
//! - [`variation`], [`wear`], [`retention`], [`disturb`], [`temperature`], [`program_mode`] and
//!   [`ldpc`] are the terms of the formulas, each with its coefficients.

mod capability;
mod cell;
pub mod chip;
mod conditions;
mod curve;
pub mod disturb;
mod each;
mod factors;
pub mod geometry;
pub mod ldpc;
mod level;
pub mod levels;
pub mod measured;
mod measured_blocks;
pub mod page_order;
pub mod pages;
pub mod program_mode;
mod progress;
pub mod refusal;
pub mod retention;
mod retry;
pub mod retry_config;
pub mod temperature;
pub mod timing;
pub mod transfer;
pub mod variation;
pub mod wear;

pub use cell::Cell;
pub use chip::{Chip, PhysicsConfig};
pub use conditions::Conditions;
pub use each::Each;
pub use geometry::{BlockId, ChannelId, DieId, Geometry, Lpn, PageInBlock, PlaneId, Ppn};
pub use level::Level;
pub use levels::LevelsConfig;
pub use measured::MeasuredConfig;
pub use page_order::PageType;
pub use program_mode::ProgramMode;
pub use progress::Progress;
pub use refusal::Refusal;
pub use retry_config::RetriesConfig;
pub use timing::TimingConfig;
