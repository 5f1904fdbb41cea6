//! The config machinery from outside, over a config type with one of everything.

#![allow(clippy::result_large_err, reason = "a fault is made at most once a run")]

mod broken;
mod keys;
mod layers;
mod properties;
mod toy;
