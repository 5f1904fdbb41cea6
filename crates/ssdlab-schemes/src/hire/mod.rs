//! HIRE: what the buffer learns of pages sets the voltages with which they are programmed (J. Cui et al.,
//! "Exploiting Cross-Layer Hotness Identification to Improve Flash Memory System Performance", NPC 2016).

pub mod fixed_mode;
pub mod hotness_placement;
pub mod per_hotness;
