//! The config machinery from outside, over a config type with one of everything.

mod broken;
mod keys;
mod layers;
mod properties;
mod toy;
