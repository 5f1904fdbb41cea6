//! The base of every other crate:
//! - units of time and size with their written form (`"45us"`, `"16KiB"`),
//! - named streams of random numbers,
//! - mathematics that gives the same bits on every machine,
//! - the one-line error message that a user sees.

pub mod choice;
mod fault;
pub mod math;
pub mod memory;
pub mod prefetch;
pub mod quantity;
pub mod rng;
mod stop;
pub mod threads;
pub mod units;

pub use fault::{Fault, ensure, nearest, reason};
pub use stop::Stop;
pub use units::{Bytes, CellTime, Nanos, SimTime};
