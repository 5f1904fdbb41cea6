//! The drive under test, a question each: see the modules.

mod contents;
mod counts;
mod determinism;
mod dlv;
mod dlv_deadlines;
mod dlv_tables;
mod edges;
mod flushes;
mod held;
mod house;
mod map_cache;
mod metamorphic;
mod model;
mod pa_ssd;
mod probes;
mod pv_read;
mod refusals;
mod regressions;
mod sequences;
mod sights;
mod starts;
mod steps;
mod support;
mod timeline;
mod together;
mod turns;
