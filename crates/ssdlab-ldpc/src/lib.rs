//! Derivation of the raw bit error rates that codes decode. It leads from threshold voltages to
//! sensed ratios, to thresholds of decoders, and to raw bit error rates at a failure of 1e-15. The
//! results stand beside the figures that papers print.
//!
//! This crate is an offline tool: no drive uses it, and `ssdlab_nand::ldpc` holds its table. A
//! reading order:
//!
//! - [`channel`] is the input of a decoder; [`placement`] sets the reference voltages.
//! - [`sum_product`], [`min_sum`] and [`gallager`] find thresholds by density evolution.
//! - [`finite`] converts thresholds to rates at 36,864 bits.
//! - [`code`] and [`decode`] are a real code and its decoder; [`monte_carlo`] measures them.
//! - [`mod@derive`] puts all results side by side in a [`ledger`].

pub mod bch;
pub mod channel;
pub mod code;
pub mod decode;
pub mod derive;
pub mod ensemble;
pub mod finite;
mod fourier;
pub mod gallager;
pub mod ledger;
pub mod min_sum;
pub mod monte_carlo;
pub mod placement;
pub mod sum_product;
pub mod tail;
pub mod waterfall;
