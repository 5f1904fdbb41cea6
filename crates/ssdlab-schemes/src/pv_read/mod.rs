//! PV-aware read data placement: what is read often moves to blocks that are read fast.
//!
//! Source: Q. Li et al., "Process Variation Aware Read Performance Improvement for LDPC-Based NAND
//! Flash Memory", IEEE Transactions on Reliability 2019, section IV. Which blocks are read fast is
//! metadata (`metadata/block_groups.rs`); the page is moved by the drive (`drive/moves.rs`).
//!
//! - [`read_hot_migration`]: how often pages are read, which moves where, and which block makes
//!   room (CLOCK);
//! - [`oracle_hotness`]: the ideal, which knows all beforehand;
//! - [`measured_level`]: reads begin at the level at which their block was measured.

pub mod measured_level;
pub mod oracle_hotness;
mod read_counts;
pub mod read_hot_migration;
