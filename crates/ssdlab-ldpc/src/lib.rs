//! What codes decode, derived: threshold voltages → sensed ratios → thresholds of decoders → raw
//! bit error rates at a failure of 1e-15, beside the figures that papers print.
//!
//! An offline tool: no drive asks it; `ssdlab_nand::ldpc` holds its table. A reading order:
//! [`channel`] says what a decoder is given, [`placement`] with which references; [`sum_product`],
//! [`min_sum`] and [`gallager`] find thresholds by density evolution; [`finite`] makes them those
//! of 36,864 bits; [`code`] and [`decode`] are a real code and its decoder, [`monte_carlo`]
//! measures them; [`mod@derive`] sets it all side by side in a [`ledger`].

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
