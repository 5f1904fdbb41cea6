//! ReadGuard: M. Chun, M. Kim, D. Lee, J. Park and J. Kim, "ReadGuard: Integrated SSD Management
//! for Priority-Aware Read Performance Differentiation", ACM TOS 2024.

pub(crate) mod dual_pool;
pub(crate) mod esra;
pub(crate) mod inversion_repair;
pub(crate) mod last_vref;
pub(crate) mod monitor;
mod pools;
pub(crate) mod priority_placement;
pub(crate) mod repair_counts;
pub(crate) mod subpool_gc;
