//! Page buffers for flash. A page that was written costs a program when it leaves.
//!
//! A page is *dirty* if the buffer holds a part of it that the flash does not; otherwise it is
//! *clean*. One mark tells how often a page was used: *cold* or *hot*.

mod ccf_lru;
mod cflru;
mod lru_wsr;
mod pt_lru;

pub(crate) use ccf_lru::CcfLru;
pub(crate) use cflru::Cflru;
pub(crate) use lru_wsr::LruWsr;
pub(crate) use pt_lru::PtLru;

#[cfg(test)]
mod trial;
