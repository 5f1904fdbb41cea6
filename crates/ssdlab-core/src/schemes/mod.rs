//! The policies of published systems, a folder each: policies, and the bundles that name them.

pub mod buffers;
pub mod dlv;
pub mod hire;
pub mod pa_ssd;
pub mod pv_read;
pub mod readguard;
pub mod streams;
