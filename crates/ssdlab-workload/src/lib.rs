//! Trace readers and workload generators.
