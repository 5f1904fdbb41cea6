//! Configuration in layers.
