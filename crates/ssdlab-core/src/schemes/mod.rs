//! The published systems: answers to the questions of [`policy`](crate::policy), each after its
//! paper and in a file of its own.

pub mod buffers;
