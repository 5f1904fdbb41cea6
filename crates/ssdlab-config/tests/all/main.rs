//! Tests of the public interface, over a config type that uses every feature once.

mod broken;
mod keys;
mod layers;
mod properties;
mod toy;
