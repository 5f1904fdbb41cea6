//! Compares measurements with formulas that are evaluated here from the same timings.
//!
//! The long sweep of write amplification runs only on request: `cargo test --release -p ssdlab-run
//! --test all theory:: -- --ignored --nocapture`.

mod amplification;
mod bus;
mod formulas;
mod page_types;
mod peak;
mod queueing;
mod rig;
mod saturation;
mod unloaded;
