//! Streams: writes whose data is expected to live as long share blocks, so that these become invalid together.

pub mod sepbit;
