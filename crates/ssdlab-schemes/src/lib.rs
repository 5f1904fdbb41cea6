//! The policies of published systems, a folder each, and the catalog from which a config chooses.
//!
//! A folder holds the policies of a system, what they keep, and the bundles of settings that name its variants.
//! State that several policies of a drive read is [`metadata`]. [`slots`] lists every policy by its name, and
//! [`catalog`] the schemes and the drives that ship.

pub mod buffers;
pub mod catalog;
pub mod dlv;
pub mod hire;
pub mod metadata;
pub mod pa_ssd;
pub mod pv_read;
pub mod readguard;
pub mod slots;
pub mod streams;
