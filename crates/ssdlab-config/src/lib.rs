//! Layered configuration: built-in defaults, a preset, a scheme's bundle, a file, arguments.
//!
//! This crate knows no key of any drive. It is generic over a config type that serde can read and
//! write and schemars can describe. The schema states which keys exist, which values they take, and
//! their defaults. Each value keeps the place where it was written. An error in the merged config
//! therefore names the line and column in the right layer.
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
//! A choice among named variants, each with its own settings, is an enum.
//! [`choice!`](ssdlab_base::choice!) declares it; serde's externally tagged enums also work.
//!
//! Rules for a config type:
//! - The schema shows every default: `#[serde(default)]` on the field or on the struct. Defaults
//!   lie under the layers, so a partial table keeps the remaining defaults.
//! - It has no `flatten`, `alias`, `untagged` or internally tagged enum. A value that serde
//!   buffers, or that has two names, loses its place.
//! - Numbers are finite and fit in signed 64 bits. `#[schemars(range(min = 1))]` states a range,
//!   and the crate enforces it.
//! - The doc comment of an optional key without a default says `Default: ..`: what holds without
//!   the key.
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
pub use keys::{Key, keys, markdown, unsourced, without_default};
pub use layers::{Layers, read_file};
pub use report::Renamed;
pub use tree::BUILT_IN;

/// Returns the JSON Schema of a config type, with defaults, and doc comments as descriptions.
pub fn json_schema<T: schemars::JsonSchema + 'static>() -> serde_json::Value {
    schema::Schema::of::<T>().json().clone()
}
