//! Replay in virtual time: a plan says what to run, a result says what came of it.
//!
//! A reading order: [`plan`] (what is asked), [`replay`] (how requests meet the drive), [`result`]
//! (what is measured), [`run`] (several plans at once).

#[cfg(test)]
mod little;
pub mod plan;
pub mod precondition;
pub mod replay;
pub mod result;
pub mod run;
mod source;
pub mod state;

pub use plan::{Plan, RunConfig, effective, keys_markdown, preset_text, schema, scheme_text};
pub use result::RunResult;
pub use run::{Control, run_all, run_uninterrupted};
pub use ssdlab_core::config::catalogue::{PRESETS, SCHEMES};
pub use state::{load_state, save_state};
