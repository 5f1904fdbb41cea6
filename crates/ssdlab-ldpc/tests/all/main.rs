//! The derivation against closed forms, published figures and simpler methods.

mod channel;
mod decoder;
mod measured;
mod table;
mod tails;
mod thresholds;
