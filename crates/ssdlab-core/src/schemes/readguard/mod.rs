//! ReadGuard: M. Chun, M. Kim, D. Lee, J. Park and J. Kim, "ReadGuard: Integrated SSD Management for
//! Priority-Aware Read Performance Differentiation", ACM TODAES 2024.

pub mod by_priority;
pub mod dual_pool;
pub mod esra;
pub mod inversions;
pub mod monitor;
pub mod reuse_vref;
pub mod subpool_gc;
