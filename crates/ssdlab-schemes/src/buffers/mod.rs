//! Page buffers made for flash, where a page that was written costs a program when it leaves.
//!
//! A page is *dirty* if the buffer holds something of it that the flash does not, else *clean*.
//! How often a page was used is told by one mark: *cold* or *hot*.

mod ccf_lru;
mod cflru;
mod lru_wsr;
mod pt_lru;

pub use ccf_lru::CcfLru;
pub use cflru::Cflru;
pub use lru_wsr::LruWsr;
pub use pt_lru::PtLru;

#[cfg(test)]
mod trial;
