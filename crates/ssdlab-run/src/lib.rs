//! Replay in virtual time, comparison in parallel, results.
