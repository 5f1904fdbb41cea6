//! How further attempts of reads follow one another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_base::{Nanos, choice};

/// `serial` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SerialConfig {}

/// Settings of `pipelined`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PipelinedConfig {
    /// Whether the first retry, too, is sensed before the first attempt is known to fail. Default:
    /// false. Assumed: a read that decodes at once would sense in vain.
    pub first: bool,
    /// Share by which the sensing of a retry is shorter, which takes from the margin that the code
    /// has there; the code still decodes what it would have. Default: 0. Source: J. Park et al.,
    /// "Reducing Solid-State Drive Read Latency by Optimizing Read-Retry", ASPLOS 2021.
    pub shorter: Share,
    /// Which retries are: `last`, the one that decodes, which has margin to spare, or `every` one,
    /// as a chip must do that does not know which will be the last. Default: `last`. Source:
    /// ReadGuard, section 7.
    pub shorter_on: ShorterOn,
    /// From the end of a read until its array unit has given up a sensing that it began ahead.
    /// Default: `5us`. Assumed.
    pub reset_time: Nanos,
}

impl Default for PipelinedConfig {
    fn default() -> PipelinedConfig {
        PipelinedConfig {
            first: false,
            shorter: Share::new(0.0),
            shorter_on: ShorterOn::default(),
            reset_time: Nanos::from_us(5),
        }
    }
}

/// Which retries are sensed in less time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShorterOn {
    /// The one that decodes.
    #[default]
    Last,
    /// All.
    Every,
}

choice! {
    /// How further attempts of reads follow one another.
    pub enum RetriesChoice {
        /// The next is sensed once one has failed to decode.
        serial => Serial(SerialConfig),
        /// The next is sensed while one is transferred and decoded.
        pipelined => Pipelined(PipelinedConfig),
    } default serial
}
