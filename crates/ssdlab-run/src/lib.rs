//! Replay in virtual time: a plan describes a run, and a result holds its measurements.
//!
//! Suggested reading order:
//! - [`plan`]: the request of the user;
//! - [`prepare`]: the checked plan;
//! - [`setup`]: the drive when the run begins;
//! - [`replay`]: requests and the drive in virtual time;
//! - [`result`]: the measurements;
//! - [`run`]: several plans in parallel.

mod begin;
mod catalog;
pub mod chip_measurements;
pub mod chips;
pub mod control;
mod deadlock;
mod feed;
pub mod files;
pub mod interactive;
#[cfg(test)]
mod little;
mod memory;
mod mix;
mod need;
pub mod observe;
mod open;
pub mod physics;
mod plan;
mod plan_files;
mod precondition;
mod prepare;
mod replay;
mod restore;
pub mod result;
mod run;
mod series_length;
mod settle;
mod setup;
mod shared;
mod sharing;
mod source;
pub mod state;
mod tenants;
pub mod traces;
mod twin;
mod warnings;

pub mod workloads;

pub use catalog::{RunConfig, keys_markdown, preset_text, schema, scheme_text};
pub use control::Control;
pub use interactive::InteractiveDrive;
pub use memory::memory_left;
pub use physics::physics;
pub use plan::{Plan, text_of_pipe};
pub use plan_files::files_of;
pub use prepare::effective;
pub use result::RunResult;
pub use run::{Outcome, at_a_time, run_all, run_uninterrupted};
pub use setup::save_state;
pub use ssdlab_core::config::catalog::{PRESETS, SCHEMES};
pub use state::{load_state, read_state, write_state};
