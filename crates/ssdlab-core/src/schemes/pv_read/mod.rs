//! PV-aware read data placement: what is read often moves to blocks that are read fast.
//!
//! Source: Q. Li et al., "Process Variation Aware Read Performance Improvement for LDPC-Based NAND Flash
//! Memory", IEEE Transactions on Reliability 2019, section IV. Which blocks are read fast is a belief
//! (`belief/groups.rs`), how often a page was read another (`belief/heat.rs`); the page is moved by the
//! drive (`drive/moves.rs`).
//!
//! - [`read_hot`]: which page moves where, and which block makes room (CLOCK);
//! - [`known_heat`]: the ideal, which knows all beforehand;
//! - [`known_level`]: reads begin at the level at which their block was measured.

pub mod known_heat;
pub mod known_level;
pub mod read_hot;
