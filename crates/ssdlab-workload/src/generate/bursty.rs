//! Every address equally likely, in bursts with pauses between.

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::{Fault, Nanos};

use super::Room;
use super::arrivals::Bursts;
pub(super) use super::random::Places;

/// The addresses of `random`, in bursts with pauses between. `interarrival` is the mean time
/// between the requests of a burst; `arrivals` holds for both times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BurstyConfig {
    /// Requests in a burst. Default: 64. Assumed.
    pub length: NonZeroU64,
    /// Mean time from the last request of a burst to the first of the next. Default: 100 ms.
    /// Assumed.
    pub pause: Nanos,
}

impl Default for BurstyConfig {
    fn default() -> BurstyConfig {
        BurstyConfig {
            length: const { NonZeroU64::new(64).unwrap() },
            pause: Nanos::from_ms(100),
        }
    }
}

impl BurstyConfig {
    pub(super) fn places(&self, room: &Room<'_>) -> Result<Places, Fault> {
        Ok(Places::new(room))
    }

    pub(super) fn bursts(&self) -> Option<Bursts> {
        Some(Bursts { length: self.length.get(), pause: self.pause })
    }
}
