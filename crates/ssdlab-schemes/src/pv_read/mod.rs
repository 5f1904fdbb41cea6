//! PV-aware read data placement: pages that are read often move to blocks that are read fast.
//!
//! Source: Q. Li et al., "Process Variation Aware Read Performance Improvement for LDPC-Based NAND
//! Flash Memory", IEEE Transactions on Reliability 2019, section IV. Metadata tells which blocks
//! are read fast (`metadata/block_groups.rs`). The drive moves the pages
//! (`drive/background/moves.rs`).
//!
//! - [`read_hot_migration`]: counts reads, and decides which page moves where and which block makes
//!   room (CLOCK);
//! - [`oracle_hotness`]: the ideal, which knows all reads and writes beforehand;
//! - [`measured_level`]: reads start at the level at which their block was measured.

pub(crate) mod measured_level;
pub(crate) mod oracle_hotness;
mod read_counts;
pub(crate) mod read_hot_migration;
