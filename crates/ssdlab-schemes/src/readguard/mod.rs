//! ReadGuard: M. Chun, M. Kim, D. Lee, J. Park and J. Kim, "ReadGuard: Integrated SSD Management
//! for Priority-Aware Read Performance Differentiation", ACM TOS 2024.

pub mod dual_pool;
pub mod esra;
pub mod inversion_repair;
pub mod last_vref;
pub mod monitor;
mod pools;
pub mod priority_placement;
pub mod repair_counts;
pub mod subpool_gc;
