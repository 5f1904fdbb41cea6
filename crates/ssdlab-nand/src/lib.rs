//! The truth: what every flash block really is. Pure functions of chip, address, age, wear, reads,
//! temperature and voltage; no time loop.
//!
//! Everybody may know the shape of the flash ([`geometry`], [`page_order`],
//! [`progress`]). What the blocks
//! really are ([`chip`]) is for the drive's `flash` room alone: a policy that could ask would be
//! cheating.
//!
//! A reading order: [`chip`] says what is asked; [`levels`] and `retry` answer, each one formula,
//! and `measured_blocks`, which looks up what was measured; what the formulas are made of
//! ([`variation`], [`wear`], [`retention`], [`disturb`], [`temperature`], [`program_mode`],
//! [`ldpc`]) stands in a module each, with its coefficients.

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
