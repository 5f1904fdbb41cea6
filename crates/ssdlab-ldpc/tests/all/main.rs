//! What of the derivation can be held against closed forms, published figures, or a plainer way.

mod channel;
mod decoder;
mod measured;
mod table;
mod tails;
mod thresholds;
