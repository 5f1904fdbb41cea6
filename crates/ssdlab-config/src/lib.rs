//! Configuration in layers: built-in defaults, a preset, a scheme's bundle, a file, arguments.
//!
//! The crate knows no key of any drive. It is generic over a config type that serde can read and
//! write and schemars can describe; where a value may stand, what it may be and what it defaults
//! to are taken from that description. Each value keeps the place where it was written, so that
//! whatever is wrong with the merged whole is reported at its line and column in its own layer.
//!
//! ```
//! use ssdlab_config::Layers;
//! # use {schemars::JsonSchema, serde::{Deserialize, Serialize}, ssdlab_base::quantity::Share};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Config {
//!     /// Collects garbage.
//!     gc: Gc,
//! }
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Gc {
//!     /// Free blocks below which collection starts. Assumed.
//!     threshold: Share,
//! }
//!
//! let layers = Layers::new().text("preset small", "[gc]\nthreshold = 0.02");
//! let (config, effective) = layers.set("gc.threshold=5%")?.resolve::<Config>()?;
//! assert_eq!(config.gc.threshold.get(), 0.05);
//! assert_eq!(effective.listing(), "gc.threshold = 0.05  # --set gc.threshold=5%\n");
//!
//! let fault = Layers::new().text("my.toml", "[gc]\ntreshold = 0.02").resolve::<Config>();
//! let line = fault.err().unwrap().to_string();
//! assert_eq!(line, "my.toml:2:1: gc.treshold: unknown key (did you mean \"threshold\"?)");
//! # Ok::<(), ssdlab_base::Fault>(())
//! ```
//!
//! A choice among named ways of doing something, each with settings of its own, is an enum that
//! [`choice!`](ssdlab_base::choice!) declares; serde's externally tagged enums serve too.
//!
//! What a config type has to keep to:
//! - Every default is one that the schema shows: `#[serde(default)]` on the field or on the
//!   struct. It is laid under the layers, so that a table given in part keeps the rest of it.
//! - No `flatten`, `alias`, `untagged` or internally tagged enum: a value that serde has buffered,
//!   or that goes by two names, has lost its place.
//! - Numbers are finite and fit 64 bits with sign. Ranges are `#[schemars(range(min = 1))]`, and
//!   are enforced.
//! - The last sentence of a key's doc comment is `Source: ..` or `Assumed.`.

mod assign;
mod check;
mod contradict;
mod de;
mod effective;
mod keys;
mod layers;
mod merge;
mod parse;
mod report;
mod schema;
mod tree;

pub use effective::{Effective, Leaf, hash_of};
pub use keys::{Key, keys, markdown, unsourced};
pub use layers::{Layers, read_file};
pub use report::Renamed;

/// The JSON Schema of a config type, with doc comments as descriptions, and defaults.
pub fn json_schema<T: schemars::JsonSchema + 'static>() -> serde_json::Value {
    schema::Schema::of::<T>().json().clone()
}
