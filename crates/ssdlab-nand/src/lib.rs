//! The truth: what every flash block really is. Pure functions of chip, address, age, wear, reads,
//! temperature and voltage; no time loop.
//!
//! Everybody may know the shape of the flash ([`geometry`], [`page_order`]). What the blocks
//! really are is for the drive's `flash` room alone: a policy that could ask would be cheating.

pub mod geometry;
pub mod page_order;

pub use geometry::{BlockId, ChannelId, DieId, Geometry, Lpn, PageInBlock, PlaneId, Ppn};
pub use page_order::{Cell, PageType};
