//! Trace readers and workload generators: the sources of requests.
//!
//! A [`Source`] returns [`Record`]s in batches, in the order of their times. There are two basic
//! kinds. A [`Trace`] reads a file in one of the formats of [`Format`]. A [`Generator`] produces a
//! closed-form workload that a [`WorkloadConfig`] describes. Both stream: memory stays bounded for
//! traces of any length.
//!
//! ```
//! use ssdlab_workload::{Generator, Source, WorkloadConfig};
//!
//! let config = WorkloadConfig { requests: 10_000, ..WorkloadConfig::default() };
//! let mut source = Generator::new(&config, 42)?;
//! let mut batch = Vec::with_capacity(4096);
//! let mut requests = 0;
//! while source.fill(&mut batch, 4096)? > 0 {
//!     requests += batch.drain(..).count();
//! }
//! assert_eq!(requests, 10_000);
//! # Ok::<(), ssdlab_base::Fault>(())
//! ```
//!
//! A part of a source ([`Select`]) is a source, and so are several merged sources ([`Merge`]).
//! [`measure`] computes the statistics of any source.
//!
//! A reading order:
//! - `record.rs`: a request,
//! - `formats/msr.rs`: one complete format,
//! - `formats/mod.rs`: the list of formats,
//! - `trace/mod.rs`: from a file to records,
//! - `generate/mod.rs`: the list of generators,
//! - `generate/zipf.rs`: one generator.

mod cascade;
mod draw;
mod formats;
mod generate;
pub mod measure;
mod merge;
mod record;
mod select;
mod trace;
pub mod twins;

pub use draw::Draw;
pub use formats::Format;
pub use formats::device::twin_in;
pub use formats::options::{MAX_UNSORTED, TraceOptions, Unsorted};
pub use generate::config::{
    Arrivals, FixedConfig, PoissonConfig, SelfSimilarConfig, SizeChoice, WorkloadConfig,
};
pub use generate::{
    BurstyConfig, Generator, HotcoldConfig, Kind, RandomConfig, SequentialConfig, ZipfConfig,
};
pub use merge::{App, Merge, Offset, Placing, Reach, lay_out};
pub use record::{Described, MAX_HINT, MAX_REQUEST, MAX_TRIM, Op, Record, Source};
pub use select::{Select, Selection};
pub use trace::recognize::{By, Recognition};
pub use trace::spec::parse_spec;
pub use trace::write::{Packed, Packing, WRITABLE, Written, write_trace};
pub use trace::{Counts, Trace, Unpacked, open, open_with, sha256};
