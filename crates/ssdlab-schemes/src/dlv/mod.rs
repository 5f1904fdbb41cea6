//! DLV: scheduling that knows how long each page takes to program and to read.
//!
//! Source: J. Cui et al., "DLV: Exploiting Device Level Latency Variations for Performance
//! Improvement on Flash Memory Storage Systems", IEEE TCAD 37(8), 2018.
//!
//! - [`scheduler`]: HWS orders writes and decides which pages get strong blocks, RRS orders reads;
//! - [`per_class`]: programs strong blocks with a larger step;
//! - [`sl_table`]: the sensing level at which a read starts, learned by block class and age;
//! - [`last_level`]: LaLDPC, a comparison that remembers each page's last level;
//! - [`small_to_strong`]: PV+allocation, a comparison that gives strong blocks to small writes.

pub(crate) mod last_level;
pub(crate) mod per_class;
pub(crate) mod scheduler;
pub(crate) mod sl_table;
pub(crate) mod small_to_strong;
